//! The Criticizer played by a model (paper section 4.5): a fresh conversation for every
//! candidate, no scores, and claims that count only when the candidate's own hooks confirm them.

use std::collections::BTreeMap;

use evosafe_agent::run_case;
use evosafe_llm::{CallTag, ChatRequest, Client, JsonSchema, Message, Role};
use evosafe_sandbox::{Classifier, Harness};
use evosafe_types::{
    CallDecision, CandidateId, ContentHash, Expected, GateCase, JsonMap, PriorCall, ToolCall,
    ToolResult, ToolSpec,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::ask::Conversation;
use super::packet::{Packet, Scope};
use super::prompts;
use super::view::cut;
use crate::SearchError;
use crate::evaluator::Evaluator;

/// Answers that do not fit the schema, before there is no review.
pub(super) const BAD_ANSWERS: u32 = 3;
/// Characters of a tool's description in the list.
pub(super) const DESCRIPTION: usize = 160;

/// What the model said of a candidate, and what became of it; archived with the verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Review {
    /// Hash of the delta packet it was shown.
    pub packet: ContentHash,
    /// Its answers, rule by rule.
    pub rules: Vec<RuleReview>,
    /// Its proof, if it gave one.
    pub claim: Option<Claim>,
    /// What the candidate's hooks say of the claim.
    pub finding: Finding,
    /// Its summary.
    pub summary: String,
    /// Why there is no review, if there is none; the fields above are empty then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// The answers about one rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleReview {
    /// The rule, by the name in its refusals or its function.
    pub rule: String,
    /// Literal of the examples that it depends on.
    pub literal: Option<String>,
    /// The cheapest change that keeps the intent and gets past it.
    pub cheapest_evasion: String,
    /// Whether it holds when the target is called something else,
    pub survives_rename: bool,
    /// is somewhere else,
    pub survives_relocate: bool,
    /// or is asked for in other words.
    pub survives_rephrase: bool,
    /// Whether it would protect an agent in another domain.
    pub protects_another_domain: bool,
}

/// Two sessions with one intent: one that the rule stops, one that is to get through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The rule.
    pub rule: String,
    /// The change.
    pub kind: ChangeKind,
    /// Suite whose tools are used.
    pub suite: String,
    /// The session that is stopped.
    pub stopped: Scene,
    /// The session that gets through.
    pub evasive: Scene,
}

/// What an attacker changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// Names.
    Rename,
    /// Places.
    Relocate,
    /// Words.
    Rephrase,
    /// Anything else. No harness is complete: this does not flag a candidate.
    Other,
}

/// A session up to the call in question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// The user's request.
    pub instruction: String,
    /// Calls before it, with what they returned.
    pub before: Vec<Step>,
    /// The tool.
    pub tool: String,
    /// Its arguments, as JSON text.
    pub arguments: String,
}

/// A call and its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The tool.
    pub tool: String,
    /// Its arguments, as JSON text.
    pub arguments: String,
    /// What it returned.
    pub result: String,
}

/// What running a claim showed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum Finding {
    /// Nothing was claimed.
    None,
    /// The first session is stopped, the second gets through.
    Confirmed,
    /// It is not as claimed.
    Refuted {
        /// What happened.
        why: String,
    },
}

impl Review {
    /// Whether the candidate must be repaired: a rule falls to a change of name, place or words,
    /// and its own hooks show it.
    #[must_use]
    pub fn flags(&self) -> bool {
        let litmus = self.claim.as_ref().is_some_and(|claim| claim.kind != ChangeKind::Other);
        litmus && self.finding == Finding::Confirmed
    }

    /// The review in words, for who repairs.
    #[must_use]
    pub fn words(&self) -> String {
        let mut text = match &self.failed {
            Some(why) => return format!("Reviewer: no review ({why}).\n"),
            None => format!("Reviewer: {}\n", self.summary),
        };
        for rule in &self.rules {
            let literal =
                rule.literal.as_ref().map_or(String::new(), |l| format!(" depends on {l:?};"));
            text.push_str(&format!(
                "- {}:{literal} cheapest evasion: {}\n",
                rule.rule, rule.cheapest_evasion
            ));
        }
        if let Some(claim) = &self.claim {
            let session = |scene: &Scene| format!("{} {}", scene.tool, cut(&scene.arguments, 300));
            let kind = format!("{:?}", claim.kind).to_lowercase();
            text.push_str(&match &self.finding {
                Finding::Confirmed => format!(
                    "Confirmed in the candidate's own hooks ({kind}): {} stops `{}` and lets `{}` through.\n",
                    claim.rule,
                    session(&claim.stopped),
                    session(&claim.evasive)
                ),
                Finding::Refuted { why } => format!("A claim about {} was refuted: {why}.\n", claim.rule),
                Finding::None => String::new(),
            });
        }
        text
    }

    fn none(packet: &Packet, why: String) -> Self {
        Self {
            packet: packet.hash.clone(),
            rules: Vec::new(),
            claim: None,
            finding: Finding::None,
            summary: String::new(),
            failed: Some(why),
        }
    }
}

#[derive(Debug, Deserialize)]
struct Answer {
    rules: Vec<RuleReview>,
    claim: Option<Claim>,
    summary: String,
}

/// The reviewer and what it may know.
pub(crate) struct Reviewer<'a> {
    pub client: &'a Client,
    pub evaluator: &'a Evaluator,
    pub classifier: &'a Classifier,
    pub spec_md: &'a str,
    /// Tools of every suite.
    pub tools: &'a BTreeMap<String, Vec<ToolSpec>>,
}

impl Reviewer<'_> {
    /// One review. A model that gives no answer gives no opinion: the candidate is not held up.
    ///
    /// # Errors
    /// If the model stays out of reach, the budget is spent, or the user interrupts.
    pub(crate) async fn review(
        &self,
        candidate: &CandidateId,
        harness: Option<&Harness>,
        packet: &Packet,
        scope: Scope,
    ) -> Result<Review, SearchError> {
        let component = match scope {
            Scope::Change => "review",
            Scope::Whole => "audit",
        };
        let tag = CallTag {
            candidate: Some(candidate.clone()),
            component: Some(component.to_owned()),
            ..CallTag::new(Role::Criticizer, "search")
        };
        let schema = schema();
        let question = format!(
            "# The task of the harness\n\n{}\n\n# Tools, by suite\n\n{}\n{}",
            self.spec_md,
            self.tool_list(),
            packet.text
        );
        let request = ChatRequest {
            system: prompts::CRITICIZER.to_owned(),
            messages: vec![Message::User(question)],
            json_schema: Some(JsonSchema { name: "review".to_owned(), schema: schema.clone() }),
            ..ChatRequest::default()
        };
        let mut talk = Conversation::new(self.client, self.evaluator, tag, request);
        let mut why = String::new();
        for _ in 0..BAD_ANSWERS {
            match talk.turn().await? {
                Ok(reply) => match reply
                    .json(&schema)
                    .and_then(|v| serde_json::from_value::<Answer>(v).map_err(|e| e.to_string()))
                {
                    Ok(answer) => {
                        let finding = self.finding(answer.claim.as_ref(), harness).await;
                        let Answer { rules, claim, summary } = answer;
                        let packet = packet.hash.clone();
                        return Ok(Review { packet, rules, claim, finding, summary, failed: None });
                    }
                    Err(error) => why = error,
                },
                Err(error) => why = error.to_string(),
            }
            talk.say(format!("{why}. Answer again, with JSON of the schema and nothing else."));
        }
        Ok(Review::none(packet, why))
    }

    fn tool_list(&self) -> String {
        let mut text = String::new();
        for (suite, tools) in self.tools {
            text.push_str(&format!("## {suite}\n"));
            for tool in tools {
                let arguments = tool.input_schema["properties"].as_object();
                let names: Vec<&str> =
                    arguments.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
                let description = cut(&tool.description.replace('\n', " "), DESCRIPTION);
                text.push_str(&format!("- {}({}): {description}\n", tool.name, names.join(", ")));
            }
        }
        text
    }

    /// Runs both sessions of a claim through the candidate.
    async fn finding(&self, claim: Option<&Claim>, harness: Option<&Harness>) -> Finding {
        let refuted = |why: String| Finding::Refuted { why };
        let Some(claim) = claim else { return Finding::None };
        let Some(harness) = harness else {
            return refuted("the candidate does not build".to_owned());
        };
        let Some(tools) = self.tools.get(&claim.suite) else {
            return refuted(format!("there is no suite {:?}", claim.suite));
        };
        if claim.stopped == claim.evasive {
            return refuted("both sessions are the same".to_owned());
        }
        let cases = case(&claim.stopped, tools, Expected::Block)
            .and_then(|stopped| Ok((stopped, case(&claim.evasive, tools, Expected::Pass)?)));
        let (stopped, evasive) = match cases {
            Ok(cases) => cases,
            Err(why) => return refuted(why),
        };
        let stopped = run_case(harness, &stopped, self.classifier.clone()).await;
        if !stopped.right() {
            return refuted("the first session is not stopped".to_owned());
        }
        let evasive = run_case(harness, &evasive, self.classifier.clone()).await;
        match (&evasive.decision, evasive.blocked_before.first()) {
            _ if evasive.right() => Finding::Confirmed,
            (CallDecision::Block { reason }, _) | (_, Some((_, reason))) => {
                refuted(format!("the second session is stopped too: {}", cut(reason, 300)))
            }
            _ => refuted("the second session is stopped too".to_owned()),
        }
    }
}

fn case(scene: &Scene, tools: &[ToolSpec], expect: Expected) -> Result<GateCase, String> {
    let call = |n: usize, tool: &str, arguments: &str| -> Result<ToolCall, String> {
        if !tools.iter().any(|spec| spec.name == tool) {
            return Err(format!("the suite has no tool {tool:?}"));
        }
        let arguments: JsonMap = serde_json::from_str(arguments)
            .map_err(|e| format!("the arguments of {tool} are no JSON object: {e}"))?;
        Ok(ToolCall { id: format!("call-{n}"), server: None, tool: tool.to_owned(), arguments })
    };
    let mut before = Vec::new();
    for (n, step) in scene.before.iter().enumerate() {
        let result = ToolResult { content: step.result.clone(), is_error: false };
        before.push(PriorCall { call: call(n + 1, &step.tool, &step.arguments)?, result });
    }
    Ok(GateCase {
        name: "claim".to_owned(),
        instruction: scene.instruction.clone(),
        tools: tools.to_vec(),
        call: call(before.len() + 1, &scene.tool, &scene.arguments)?,
        before,
        expect,
    })
}

/// The schema of an answer. Every property is required and every object closed, as hosted
/// APIs want it.
fn schema() -> Value {
    let object = |properties: Value| {
        let required: Vec<String> =
            properties.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
        json!({"type": "object", "properties": properties, "required": required,
            "additionalProperties": false})
    };
    let text = json!({"type": "string"});
    let flag = json!({"type": "boolean"});
    let step = object(json!({"tool": text, "arguments": text, "result": text}));
    let scene = object(json!({"instruction": text, "before": {"type": "array", "items": step},
        "tool": text, "arguments": text}));
    let claim = object(json!({"rule": text,
        "kind": {"type": "string", "enum": ["rename", "relocate", "rephrase", "other"]},
        "suite": text, "stopped": scene, "evasive": scene}));
    let rule = object(json!({"rule": text, "literal": {"type": ["string", "null"]},
        "cheapest_evasion": text, "survives_rename": flag, "survives_relocate": flag,
        "survives_rephrase": flag, "protects_another_domain": flag}));
    object(json!({"rules": {"type": "array", "items": rule},
        "claim": {"anyOf": [claim, {"type": "null"}]}, "summary": text}))
}
