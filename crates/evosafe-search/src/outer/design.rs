//! The Designer played by a model: it reads, tries, and hands in a bundle (paper section 4.2).

use std::fmt::Write as _;

use evosafe_agent::run_case;
use evosafe_llm::{CallTag, ChatReply, ChatRequest, Client, Message, ParsedArguments, Role};
use evosafe_sandbox::{Classifier, Sandbox};
use evosafe_types::{CallDecision, JsonMap};
use serde_json::Value;

use super::ask::{Conversation, Cost};
use super::prompts;
use super::submit::{self, Submission, Terms};
use super::tools;
use super::view::{TrainView, cut};
use crate::SearchError;
use crate::evaluator::Evaluator;

/// Turns of one attempt.
pub(super) const TURNS: u32 = 40;
/// Outputs that cannot be used, before an attempt is given up.
const BAD_OUTPUTS: u32 = 4;
/// Turns before the end at which it is told to come to one.
const HURRY: u32 = 5;
/// Gate cases of one check.
const MOST_CASES: usize = 40;
/// Characters of one answer of a check.
const MOST_CHARS: usize = 8000;

/// All that an attempt works with.
pub(crate) struct Desk<'a> {
    pub client: &'a Client,
    pub evaluator: &'a Evaluator,
    pub sandbox: &'a Sandbox,
    pub classifier: &'a Classifier,
    pub view: &'a TrainView,
    pub terms: Terms<'a>,
}

/// What came of an attempt.
pub(crate) struct Attempt {
    /// The bundle, or why there is none.
    pub result: Result<Submission, String>,
    pub cost: Cost,
}

/// Which attempt it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    /// Slot of the search.
    pub index: u64,
    /// 0 for the proposal, then the number of the repair.
    pub round: u32,
}

/// What a turn comes to.
enum Step {
    GoOn,
    Bad(String),
    Done(Box<Submission>),
}

impl Desk<'_> {
    /// One attempt, from the first question to a submission or to its failure.
    ///
    /// # Errors
    /// If a model stays out of reach, the budget is spent, or the user interrupts: nothing that
    /// says something about the attempt.
    pub(crate) async fn attempt(&self, slot: Slot, task: String) -> Result<Attempt, SearchError> {
        let tag = CallTag {
            component: Some(if slot.round == 0 { "propose" } else { "repair" }.to_owned()),
            rollout: u32::try_from(slot.index).unwrap_or(u32::MAX),
            ..CallTag::new(Role::Designer, "search")
        };
        let request = ChatRequest {
            system: prompts::DESIGNER.to_owned(),
            messages: vec![Message::User(task)],
            tools: tools::definitions(),
            ..ChatRequest::default()
        };
        let mut talk = Conversation::new(self.client, self.evaluator, tag, request);
        let mut bad = 0;
        for turn in 1..=TURNS {
            let step = match talk.turn().await? {
                Ok(reply) => self.step(&mut talk, &reply).await?,
                // The conversation itself is what does not get through: more of it will not either.
                Err(error @ evosafe_llm::LlmError::ContextOverflow { .. })
                | Err(error @ evosafe_llm::LlmError::ContentFilter { .. }) => {
                    return Ok(Attempt { result: Err(error.to_string()), cost: talk.cost });
                }
                Err(error) => {
                    talk.say(format!("{error}. Say less before you call a tool."));
                    Step::Bad(error.to_string())
                }
            };
            match step {
                Step::Done(submission) => {
                    return Ok(Attempt { result: Ok(*submission), cost: talk.cost });
                }
                Step::Bad(why) => {
                    bad += 1;
                    if bad == BAD_OUTPUTS {
                        let why = format!("{bad} outputs that cannot be used; the last: {why}");
                        return Ok(Attempt { result: Err(why), cost: talk.cost });
                    }
                }
                Step::GoOn => {}
            }
            if turn + HURRY == TURNS {
                talk.say(format!("{HURRY} turns are left: hand in a bundle with submit_bundle."));
            }
        }
        let result = Err(format!("no bundle was handed in within {TURNS} turns"));
        Ok(Attempt { result, cost: talk.cost })
    }

    async fn step(
        &self,
        talk: &mut Conversation<'_>,
        reply: &ChatReply,
    ) -> Result<Step, SearchError> {
        if reply.tool_calls.is_empty() {
            let why = "nothing was called: read with the tools, and end with submit_bundle";
            talk.say(why);
            return Ok(Step::Bad(why.to_owned()));
        }
        let mut step = Step::GoOn;
        for call in &reply.tool_calls {
            let over = matches!(step, Step::Done(_));
            let answer = match &call.arguments {
                _ if over => Ok("the attempt is over".to_owned()),
                ParsedArguments::Invalid { mistake, .. } => {
                    step = Step::Bad(mistake.to_string());
                    Err(mistake.to_string())
                }
                ParsedArguments::Valid(arguments) if call.name == tools::SUBMIT => {
                    match submit::accepted(arguments, &self.terms, self.sandbox).await {
                        Ok(submission) => {
                            step = Step::Done(Box::new(submission));
                            Ok("handed in".to_owned())
                        }
                        Err(why) => {
                            step = Step::Bad(why.clone());
                            Err(why)
                        }
                    }
                }
                ParsedArguments::Valid(arguments) => self.answer(&call.name, arguments).await,
            };
            let is_error = answer.is_err();
            let content = match answer {
                Ok(text) => text,
                Err(text) if text.starts_with("Error: ") => text,
                Err(text) => format!("Error: {text}"),
            };
            talk.request.messages.push(Message::ToolResult {
                id: call.id.clone(),
                content,
                is_error,
            });
        }
        Ok(step)
    }

    /// Answers of the tools that only look.
    async fn answer(&self, tool: &str, arguments: &JsonMap) -> Result<String, String> {
        let text = |key: &str| arguments.get(key).and_then(Value::as_str).unwrap_or_default();
        match tool {
            tools::LIST => Ok(self.view.list(text("prefix"))),
            tools::READ => {
                let from = arguments.get("from_line").and_then(Value::as_u64).unwrap_or(1);
                self.view.read(text("path"), usize::try_from(from).unwrap_or(usize::MAX))
            }
            tools::SEARCH => self.view.search(text("pattern"), text("prefix")),
            tools::FAILURES => {
                let id = text("candidate").trim();
                self.view.read(&format!("candidates/{id}/failures.md"), 1)
            }
            tools::CHECK => self.checked(arguments).await,
            other => Err(format!("there is no tool {other:?}")),
        }
    }

    /// Stage 0, and gate cases if given.
    async fn checked(&self, arguments: &JsonMap) -> Result<String, String> {
        let bundle = submit::draft(arguments, &self.terms)?;
        let check = self.sandbox.check(&bundle).await;
        let mut text = String::new();
        for finding in &check.findings {
            let _ = writeln!(text, "{finding}");
        }
        if check.passed() {
            let _ = writeln!(text, "It builds and answers; hooks: {}.", check.hooks.join(", "));
        }
        if self.terms.known.contains(&bundle.behaviour()) {
            text.push_str("It answers like a candidate that is archived already.\n");
        }
        let cases = arguments.get("cases").and_then(Value::as_str).unwrap_or_default();
        if !cases.trim().is_empty() {
            let cases = evosafe_spec::parse_cases("cases", cases).map_err(|e| e.to_string())?;
            if cases.len() > MOST_CASES {
                return Err(format!("at most {MOST_CASES} cases"));
            }
            let harness = self.sandbox.prepare(&bundle).map_err(|e| e.to_string())?;
            for case in &cases {
                let result = run_case(&harness, case, self.classifier.clone()).await;
                let word = if result.right() { "right" } else { "WRONG" };
                let what = match &result.decision {
                    CallDecision::Block { reason } => format!("blocked: {reason}"),
                    CallDecision::Allow => "allowed".to_owned(),
                    CallDecision::Rewrite { .. } => "rewritten".to_owned(),
                    CallDecision::Redirect { .. } => "redirected".to_owned(),
                };
                let _ = writeln!(text, "{word}: {}: {what}", result.name);
                for (n, reason) in &result.blocked_before {
                    let _ = writeln!(text, "  call {n} before it was blocked: {reason}");
                }
                for fault in &result.faults {
                    let _ = writeln!(text, "  fault: {}: {}", fault.kind, fault.message);
                }
            }
        }
        Ok(cut(&text, MOST_CHARS))
    }
}
