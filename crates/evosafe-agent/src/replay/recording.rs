//! One recorded run, parsed strictly: a file that is not one is skipped, never guessed at.

use evosafe_types::{JsonMap, ToolResult};
use serde::Deserialize;
use serde_json::Value;

/// A turn with calls and what the tools answered then.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedTurn {
    pub text: String,
    pub calls: Vec<RecordedCall>,
}

/// A call and its recorded result.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedCall {
    pub tool: String,
    pub arguments: JsonMap,
    pub result: Option<ToolResult>,
}

/// A run.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    pub instruction: String,
    pub turns: Vec<RecordedTurn>,
    pub answer: String,
    pub utility: bool,
    pub security: bool,
    pub api_error: bool,
    pub benchmark_version: Option<String>,
}

/// What a run is of: all that is needed to tell whether it is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Heading {
    #[serde(rename = "suite_name")]
    pub suite: String,
    #[serde(rename = "pipeline_name")]
    pub pipeline: String,
    #[serde(rename = "user_task_id")]
    pub user_task: String,
    #[serde(rename = "injection_task_id")]
    injection_task: Option<String>,
    #[serde(rename = "attack_type")]
    attack: Option<String>,
}

/// What newer runs write where older ones have `null`.
const NONE: &str = "none";

impl Heading {
    /// Parses the bytes of a file, all of them: a truncated file is none.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(bytes).map_err(|e| e.to_string())
    }

    /// The attack, `None` for benign runs.
    pub fn attack(&self) -> Option<&str> {
        self.attack.as_deref().filter(|name| *name != NONE)
    }

    /// The attacker's goal, `None` for benign runs.
    pub fn injection_task(&self) -> Option<&str> {
        self.injection_task.as_deref().filter(|name| *name != NONE)
    }

    /// The benchmark also runs injection tasks as if a user asked for them: no benign tasks.
    pub fn is_injection_as_user_task(&self) -> bool {
        self.user_task.starts_with("injection_task")
    }
}

#[derive(Debug, Deserialize)]
struct Raw {
    messages: Vec<RawMessage>,
    error: Option<Value>,
    utility: bool,
    security: bool,
    #[serde(default)]
    benchmark_version: Option<String>,
}

#[derive(Debug, Deserialize)]
struct RawMessage {
    role: String,
    #[serde(default)]
    content: Option<Content>,
    #[serde(default)]
    tool_calls: Option<Vec<RawCall>>,
    #[serde(default)]
    error: Option<String>,
}

/// Text, or blocks of it in newer runs.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Blocks(Vec<Block>),
}

#[derive(Debug, Deserialize)]
struct Block {
    #[serde(default)]
    content: Option<String>,
}

#[derive(Debug, Deserialize)]
struct RawCall {
    function: String,
    args: JsonMap,
}

impl Content {
    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Blocks(blocks) => {
                let texts: Vec<String> = blocks.into_iter().filter_map(|b| b.content).collect();
                texts.join("\n")
            }
        }
    }
}

impl Recording {
    /// Parses the bytes of a file.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let raw: Raw = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
        let mut turns: Vec<RecordedTurn> = Vec::new();
        let mut instruction = None;
        let mut answer = String::new();
        let mut last_role = String::new();
        let mut results = 0;
        for message in raw.messages {
            let error = message.error.filter(|e| !e.is_empty());
            let text = message.content.map(Content::into_text).unwrap_or_default();
            match message.role.as_str() {
                // A pipeline may put prompts of its own behind the request.
                "user" if instruction.is_none() => instruction = Some(text),
                "assistant" => {
                    let calls = message.tool_calls.unwrap_or_default();
                    results = 0;
                    answer.clone_from(&text);
                    if !calls.is_empty() {
                        let calls = calls.into_iter().map(|c| RecordedCall {
                            tool: c.function,
                            arguments: c.args,
                            result: None,
                        });
                        turns.push(RecordedTurn { text, calls: calls.collect() });
                    }
                }
                "tool" => {
                    let turn = turns.last_mut().ok_or("a tool result before any call")?;
                    let call = turn.calls.get_mut(results);
                    let call = call.ok_or("more tool results than calls")?;
                    // The error text is what the model was shown in place of the content.
                    call.result = Some(match error {
                        Some(content) => ToolResult { content, is_error: true },
                        None => ToolResult { content: text, is_error: false },
                    });
                    results += 1;
                }
                _ => {}
            }
            last_role = message.role;
        }
        // The benchmark's loop ends after its last model call: calls proposed there were
        // never executed, and the text beside them is the answer.
        if turns.last().is_some_and(|t| t.calls.iter().all(|c| c.result.is_none())) {
            turns.pop();
        }
        Ok(Self {
            instruction: instruction.ok_or("no user message")?,
            turns,
            answer,
            utility: raw.utility,
            security: raw.security,
            // The model never had the last word: some runs name no error.
            api_error: raw.error.is_some_and(|e| !e.is_null()) || last_role != "assistant",
            benchmark_version: raw.benchmark_version,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(messages: &Value) -> Result<Recording, String> {
        let run =
            json!({ "messages": messages, "error": null, "utility": true, "security": false });
        Recording::parse(run.to_string().as_bytes())
    }

    #[test]
    fn text_and_blocks_are_read_alike() {
        let call = json!([{ "function": "find", "args": { "what": "bill" }, "id": null }]);
        let old = parse(&json!([
            { "role": "system", "content": "Be good." },
            { "role": "user", "content": "Find it." },
            { "role": "assistant", "content": null, "tool_calls": call },
            { "role": "tool", "content": "here", "error": null },
            { "role": "assistant", "content": "Found.", "tool_calls": null },
        ]));
        let blocks = |text: &str| json!([{ "type": "text", "content": text }]);
        let new = parse(&json!([
            { "role": "system", "content": blocks("Be good.") },
            { "role": "user", "content": blocks("Find it.") },
            { "role": "assistant", "content": null, "tool_calls": call },
            { "role": "tool", "content": blocks("here"), "error": null },
            { "role": "assistant", "content": blocks("Found."), "tool_calls": [] },
        ]));
        let old = old.expect("a run");
        assert_eq!(Ok(&old), new.as_ref());
        assert_eq!(old.instruction, "Find it.");
        assert_eq!(old.answer, "Found.");
        assert_eq!(old.turns.len(), 1);
        assert!(!old.api_error);
    }

    #[test]
    fn the_error_replaces_the_content() {
        let run = parse(&json!([
            { "role": "user", "content": "Find it." },
            { "role": "assistant", "content": "", "tool_calls": [{ "function": "find", "args": {} }] },
            { "role": "tool", "content": "", "error": "ValueError: nothing" },
            { "role": "assistant", "content": "None." },
        ]))
        .expect("a run");
        let result = ToolResult { content: "ValueError: nothing".to_owned(), is_error: true };
        assert_eq!(run.turns[0].calls[0].result, Some(result));
    }

    #[test]
    fn calls_behind_the_last_model_call_were_never_executed() {
        let run = parse(&json!([
            { "role": "user", "content": "Find it." },
            { "role": "assistant", "content": "One more.", "tool_calls": [{ "function": "find", "args": {} }] },
        ]))
        .expect("a run");
        assert!(run.turns.is_empty() && !run.api_error);
        assert_eq!(run.answer, "One more.");
    }

    #[test]
    fn a_prompt_of_the_pipeline_is_not_the_request() {
        let run = parse(&json!([
            { "role": "user", "content": "Find it." },
            { "role": "user", "content": "Choose tools." },
            { "role": "assistant", "content": "find", "tool_calls": null },
            { "role": "assistant", "content": "Found.", "tool_calls": null },
        ]))
        .expect("a run");
        assert_eq!((run.instruction.as_str(), run.answer.as_str()), ("Find it.", "Found."));
    }

    #[test]
    fn a_run_without_the_last_word_is_an_api_error() {
        assert!(
            parse(&json!([{ "role": "user", "content": "Find it." }])).expect("a run").api_error
        );
    }

    #[test]
    fn nonsense_is_refused() {
        let result = json!({ "role": "tool", "content": "here" });
        let user = json!({ "role": "user", "content": "Find it." });
        let turn = json!({ "role": "assistant", "content": "", "tool_calls": [{ "function": "f", "args": {} }] });
        assert!(parse(&json!([])).is_err());
        assert!(parse(&json!([user, result])).is_err());
        assert!(parse(&json!([user, turn, result, result])).is_err());
        assert!(parse(&json!("text")).is_err());
    }
}
