//! The loop of one episode.

use std::borrow::Cow;
use std::sync::Arc;

use evosafe_env::{EnvError, Environment, Episode};
use evosafe_sandbox::{Harness, Trajectory};
use evosafe_types::{
    AnswerRecord, CallDecision, CallRecord, EpisodeCost, EpisodeEnd, FaultKind, Outcome,
    REFUSAL_PREFIX, RunContext, Task, TextDecision, ToolCall, ToolResult, ToolSpec, Transcript,
    Turn,
};

use crate::live::{LostCalls, Purpose};
use crate::simulated::{Opening, VictimMove};
use crate::victim::{Observation, Victim};

/// Raised whenever the loop may run an episode differently: part of every evidence key.
pub const LOOP_VERSION: &str = "2";

/// Runs episodes of one victim in one environment.
#[derive(Debug, Clone)]
pub struct Agent {
    environment: Arc<Environment>,
    victim: Arc<Victim>,
    step_limit: u32,
}

/// What an episode gave.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeResult {
    /// The verdict, or why there is none.
    pub outcome: Outcome,
    /// What happened.
    pub transcript: Transcript,
    /// What it cost.
    pub cost: EpisodeCost,
}

impl Agent {
    /// An agent that gives its victim at most `step_limit` turns, the answer included.
    #[must_use]
    pub fn new(environment: Arc<Environment>, victim: Arc<Victim>, step_limit: u32) -> Self {
        Self { environment, victim, step_limit: step_limit.max(1) }
    }

    /// Where episodes are run.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Version of the loop and its limits, for evidence keys.
    #[must_use]
    pub fn loop_id(&self) -> String {
        format!("loop {LOOP_VERSION}, {} steps", self.step_limit)
    }

    /// Runs one episode to its verdict. Nothing a harness or a victim does is an error;
    /// infrastructure faults make the outcome unassessed.
    pub async fn run(
        &self,
        harness: &Harness,
        task: &Task,
        seed: u64,
        purpose: Purpose<'_>,
    ) -> EpisodeResult {
        if let Some((fault, detail)) = self.victim.unplayable(task) {
            return EpisodeResult::lost(Run::default(), fault, &detail);
        }
        let mut episode = match self.environment.open(&task.id, seed).await {
            Ok(episode) => episode,
            Err(error) => return EpisodeResult::lost(Run::default(), error.fault(), &error),
        };
        let mut run = Run::default();
        let lived = self.live(harness, task, (seed, purpose), &mut episode, &mut run).await;
        let of_host = run.transcript.faults.iter().find(|f| f.is_of_host()).cloned();
        let result = match lived {
            Ok(_) if let Some(fault) = of_host => {
                EpisodeResult::lost(run, FaultKind::Sandbox, &fault.message)
            }
            Ok(verdict) => EpisodeResult {
                outcome: Outcome::Assessed {
                    task_success: verdict.task_success,
                    attack_success: verdict.attack_success,
                },
                transcript: run.transcript,
                cost: run.cost,
            },
            Err(Lost::Environment(error)) => EpisodeResult::lost(run, error.fault(), &error),
            Err(Lost::Victim(fault, detail)) => EpisodeResult::lost(run, fault, &detail),
        };
        episode.close().await;
        result
    }

    async fn live(
        &self,
        harness: &Harness,
        task: &Task,
        (seed, purpose): (u64, Purpose<'_>),
        episode: &mut Episode,
        run: &mut Run,
    ) -> Result<evosafe_env::Verdict, Lost> {
        let context = RunContext {
            trace_id: RunContext::TRACE_ID.to_owned(),
            instruction: episode.instruction().to_owned(),
            tools: episode.tools().to_vec(),
        };
        let lost = LostCalls::default();
        let classifier = self.victim.classifier(purpose, &lost);
        let mut trajectory = harness.start(&context, classifier).await;
        let hidden = trajectory.hidden_tools().to_vec();
        let base_prompt = episode.system_prompt().to_owned();
        // Appends the policy, then asks the hook.
        let system_prompt = trajectory.system_prompt(&base_prompt).await;
        let shown: Cow<'_, [ToolSpec]> = if hidden.is_empty() {
            Cow::Borrowed(&context.tools)
        } else {
            context.tools.iter().filter(|t| !hidden.contains(&t.name)).cloned().collect()
        };
        run.transcript = Transcript {
            instruction: context.instruction.clone(),
            base_prompt: base_prompt.clone(),
            system_prompt: system_prompt.clone(),
            hidden_tools: hidden.clone(),
            turns: Vec::new(),
            answer: None,
            classify: Vec::new(),
            faults: Vec::new(),
            end: EpisodeEnd::StepLimit,
        };
        let opening = Opening {
            domain: self.environment.name(),
            task: &task.id,
            seed,
            base_prompt: &base_prompt,
            system_prompt: &system_prompt,
            instruction: &context.instruction,
            tools: &shown,
        };
        let mut session = self
            .victim
            .session(&self.environment, task, &opening, purpose)
            .map_err(|(fault, detail)| Lost::Victim(fault, detail))?;
        let mut executed: Vec<ToolCall> = Vec::new();
        for step in 1..=self.step_limit {
            run.cost.victim_turns = step;
            let turn = run.transcript.turns.last();
            let observations: Vec<Observation<'_>> =
                turn.into_iter().flat_map(|t| &t.calls).map(observe).collect();
            if let Some((fault, detail)) = lost.first() {
                return Err(Lost::Victim(fault, detail));
            }
            let next = session.next(&observations).await;
            session.add_cost(&mut run.cost);
            match next {
                // Nothing would be shown of the results: as in the benchmark's loop, the
                // last model call is not followed by tools.
                VictimMove::Calls { .. } if step == self.step_limit => {}
                VictimMove::Calls { text, calls } => {
                    let turn =
                        turn_of(&mut trajectory, episode, &hidden, text, calls, &mut executed);
                    let turn = turn.await.map_err(Lost::Environment)?;
                    run.transcript.turns.push(turn);
                }
                VictimMove::Answer(text) => {
                    run.transcript.answer = Some(answer_of(&mut trajectory, text).await);
                    run.transcript.end = EpisodeEnd::Answered;
                    break;
                }
                VictimMove::Stopped(why) => {
                    let text = format!("[no further turn: {why}]");
                    run.transcript.turns.push(Turn { text, calls: Vec::new() });
                    run.transcript.end = EpisodeEnd::Stopped;
                    break;
                }
                VictimMove::Unassessed(fault, detail) => return Err(Lost::Victim(fault, detail)),
            }
        }
        run.cost.tool_calls = u32::try_from(executed.len()).unwrap_or(u32::MAX);
        let log = trajectory.finish();
        run.transcript.classify = log.classify;
        run.transcript.faults = log.faults;
        if let Some((fault, detail)) = lost.first() {
            return Err(Lost::Victim(fault, detail));
        }
        let answer = run.transcript.answer.as_ref().map_or("", |a| a.delivered.as_str());
        let verdict = episode.judge(answer, &executed).await.map_err(Lost::Environment)?;
        session.finish();
        Ok(verdict)
    }
}

/// What an episode has so far.
#[derive(Debug)]
struct Run {
    transcript: Transcript,
    cost: EpisodeCost,
}

impl Default for Run {
    fn default() -> Self {
        let transcript = Transcript {
            instruction: String::new(),
            base_prompt: String::new(),
            system_prompt: String::new(),
            hidden_tools: Vec::new(),
            turns: Vec::new(),
            answer: None,
            classify: Vec::new(),
            faults: Vec::new(),
            end: EpisodeEnd::Infrastructure,
        };
        Self { transcript, cost: EpisodeCost::default() }
    }
}

enum Lost {
    Environment(EnvError),
    Victim(FaultKind, String),
}

impl EpisodeResult {
    fn lost(mut run: Run, fault: FaultKind, detail: &impl ToString) -> Self {
        run.transcript.end = EpisodeEnd::Infrastructure;
        Self {
            outcome: Outcome::Unassessed { fault, detail: detail.to_string() },
            transcript: run.transcript,
            cost: run.cost,
        }
    }
}

fn observe(record: &CallRecord) -> Observation<'_> {
    let as_proposed = matches!(record.decision, CallDecision::Allow);
    Observation {
        delivered: &record.delivered,
        live: record.result.as_ref().filter(|_| as_proposed),
    }
}

/// One turn: all pre-hooks in emission order, then the calls, then all post-hooks. A
/// burst of parallel calls cannot slip past a counter in a pre-hook.
async fn turn_of(
    trajectory: &mut Trajectory,
    episode: &mut Episode,
    hidden: &[String],
    text: String,
    calls: Vec<ToolCall>,
    executed: &mut Vec<ToolCall>,
) -> Result<Turn, EnvError> {
    let mut records = Vec::with_capacity(calls.len());
    for proposed in calls {
        let decision = if hidden.contains(&proposed.tool) {
            let reason = format!("the tool {} is not available for this task", proposed.tool);
            CallDecision::Block { reason }
        } else {
            trajectory.pre_tool_call(&proposed).await
        };
        let to_execute = match &decision {
            CallDecision::Allow => Some(proposed.clone()),
            CallDecision::Rewrite { arguments } => {
                Some(ToolCall { arguments: arguments.clone(), ..proposed.clone() })
            }
            CallDecision::Redirect { call } => Some(call.clone()),
            CallDecision::Block { .. } => None,
        };
        let delivered = match &decision {
            CallDecision::Block { reason } => refusal(reason),
            _ => ToolResult { content: String::new(), is_error: false },
        };
        records.push(CallRecord {
            proposed,
            decision,
            executed: to_execute,
            result: None,
            post: None,
            delivered,
        });
    }
    for record in &mut records {
        if let Some(call) = &record.executed {
            let result = episode.call(call).await?;
            executed.push(call.clone());
            record.result = Some(result);
        }
    }
    for record in &mut records {
        if let (Some(call), Some(result)) = (&record.executed, &record.result) {
            let decision = trajectory.post_tool_call(call, result).await;
            record.delivered = match &decision {
                TextDecision::Keep => result.clone(),
                TextDecision::Replace { text } => {
                    ToolResult { content: text.clone(), is_error: result.is_error }
                }
                TextDecision::Block { reason } => refusal(reason),
            };
            record.post = Some(decision);
        }
    }
    Ok(Turn { text, calls: records })
}

async fn answer_of(trajectory: &mut Trajectory, proposed: String) -> AnswerRecord {
    let decision = trajectory.final_answer(&proposed).await;
    let delivered = match &decision {
        TextDecision::Keep => proposed.clone(),
        TextDecision::Replace { text } => text.clone(),
        TextDecision::Block { reason } => refusal(reason).content,
    };
    AnswerRecord { proposed, decision, delivered }
}

fn refusal(reason: &str) -> ToolResult {
    ToolResult { content: format!("{REFUSAL_PREFIX}{reason}"), is_error: true }
}
