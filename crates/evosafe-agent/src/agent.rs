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
use crate::variation::{Lens, Variant};
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
        self.play(harness, (task, None), seed, purpose).await
    }

    /// The same in the words of a variant. A recording has one wording: replayed victims make it
    /// unassessed.
    pub async fn run_variant(
        &self,
        harness: &Harness,
        variant: &Variant,
        seed: u64,
        purpose: Purpose<'_>,
    ) -> EpisodeResult {
        if self.victim.is_replay() {
            let why = "a recorded run has one wording";
            return EpisodeResult::lost(Run::default(), FaultKind::NoRecording, &why);
        }
        let base = Task { id: variant.base().clone(), ..variant.task().clone() };
        self.play(harness, (&base, Some(variant)), seed, purpose).await
    }

    async fn play(
        &self,
        harness: &Harness,
        (task, variant): (&Task, Option<&Variant>),
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
        let played = (task, variant);
        let lived = self.live(harness, played, (seed, purpose), &mut episode, &mut run).await;
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
        (task, variant): (&Task, Option<&Variant>),
        (seed, purpose): (u64, Purpose<'_>),
        episode: &mut Episode,
        run: &mut Run,
    ) -> Result<evosafe_env::Verdict, Lost> {
        let lens = Lens::new(variant, !self.victim.is_live(), episode.tools());
        let context = RunContext {
            trace_id: RunContext::TRACE_ID.to_owned(),
            instruction: lens.told(episode.instruction()).into_owned(),
            tools: lens.offered(episode.tools()),
        };
        let lost = LostCalls::default();
        let classifier = self.victim.classifier(purpose, &lost);
        let mut trajectory = harness.start(&context, classifier).await;
        let hidden = trajectory.hidden_tools().to_vec();
        let base_prompt = lens.told(episode.system_prompt()).into_owned();
        // Appends the policy, then asks the hook.
        let system_prompt = trajectory.system_prompt(&base_prompt).await;
        // A scripted victim is offered the environment's own tools and told its own request.
        let scripted = lens.is_scripted();
        let offered = if scripted { episode.tools() } else { &context.tools };
        let shown: Cow<'_, [ToolSpec]> = if hidden.is_empty() {
            Cow::Borrowed(offered)
        } else {
            let pairs = context.tools.iter().zip(offered);
            let left = pairs.filter(|(told, _)| !hidden.contains(&told.name));
            left.map(|(_, tool)| tool.clone()).collect()
        };
        let request = if scripted { episode.instruction() } else { &context.instruction };
        // Luck goes with the script; what a live victim is paid for is booked under its own name.
        let id = variant.filter(|_| !scripted).map_or(&task.id, |variant| &variant.task().id);
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
            task: id,
            seed,
            base_prompt: &base_prompt,
            system_prompt: &system_prompt,
            instruction: request,
            tools: &shown,
        };
        let mut session = self
            .victim
            .session(&self.environment, task, &opening, purpose)
            .map_err(|(fault, detail)| Lost::Victim(fault, detail))?;
        let mut truth = Truth::default();
        for step in 1..=self.step_limit {
            run.cost.victim_turns = step;
            let turn = run.transcript.turns.last();
            let mut observations: Vec<Observation<'_>> =
                turn.into_iter().flat_map(|t| &t.calls).map(observe).collect();
            for (observation, seen) in observations.iter_mut().zip(&truth.seen) {
                *observation = Observation { delivered: seen, live: None };
            }
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
                    let between = (&lens, &hidden[..], &mut truth);
                    let turn = turn_of(&mut trajectory, episode, between, text, calls);
                    let turn = turn.await.map_err(Lost::Environment)?;
                    run.transcript.turns.push(turn);
                    // Others cost nothing, and their transcripts are complete.
                    if self.victim.is_live() && episode.is_settled() {
                        run.transcript.end = EpisodeEnd::Settled;
                        break;
                    }
                }
                VictimMove::Answer(text) => {
                    let said = lens.answered(text.clone());
                    let answer = answer_of(&mut trajectory, said).await;
                    let untouched = scripted && matches!(answer.decision, TextDecision::Keep);
                    truth.answer =
                        if untouched { text } else { lens.undone(&answer.delivered).into_owned() };
                    run.transcript.answer = Some(answer);
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
        run.cost.tool_calls = u32::try_from(truth.executed.len()).unwrap_or(u32::MAX);
        let log = trajectory.finish();
        run.transcript.classify = log.classify;
        run.transcript.faults = log.faults;
        if let Some((fault, detail)) = lost.first() {
            return Err(Lost::Victim(fault, detail));
        }
        let verdict = episode.judge(&truth.answer, &truth.executed).await;
        let verdict = verdict.map_err(Lost::Environment)?;
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

/// What happened in the environment's own words.
#[derive(Debug, Default)]
struct Truth {
    executed: Vec<ToolCall>,
    /// What a scripted victim was shown of the last turn, where the harness was told other words.
    seen: Vec<ToolResult>,
    answer: String,
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
    (lens, hidden, truth): (&Lens<'_>, &[String], &mut Truth),
    text: String,
    calls: Vec<ToolCall>,
) -> Result<Turn, EnvError> {
    let mut records = Vec::with_capacity(calls.len());
    // The calls to execute, and what comes of them, in the environment's own words.
    let mut real: Vec<Option<ToolCall>> = Vec::with_capacity(calls.len());
    let mut results: Vec<Option<ToolResult>> = Vec::with_capacity(calls.len());
    for call in calls {
        let proposed = lens.proposed(call.clone());
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
        let as_meant = lens.is_scripted() && matches!(decision, CallDecision::Allow);
        real.push(match &to_execute {
            Some(_) if as_meant => Some(call),
            other => other.as_ref().map(|call| lens.executed(call)),
        });
        records.push(CallRecord {
            proposed,
            decision,
            executed: to_execute,
            result: None,
            post: None,
            delivered,
        });
    }
    for (record, call) in records.iter_mut().zip(real) {
        let mut answered = None;
        if let Some(call) = call {
            let result = episode.call(&call).await?;
            truth.executed.push(call);
            record.result = Some(lens.result(&result));
            answered = Some(result);
        }
        results.push(answered);
    }
    truth.seen.clear();
    for (record, answered) in records.iter_mut().zip(results) {
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
        if lens.is_scripted() {
            let kept = matches!(record.post, Some(TextDecision::Keep));
            let seen = answered.filter(|_| kept).unwrap_or_else(|| lens.read(&record.delivered));
            truth.seen.push(seen);
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
