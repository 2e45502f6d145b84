//! One recorded run, parsed strictly: a file that is not one is skipped, never guessed at.

use evosafe_types::JsonMap;
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
    pub result: Option<String>,
}

/// A run.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    pub turns: Vec<RecordedTurn>,
    pub answer: String,
    pub utility: bool,
    pub security: bool,
    pub api_error: bool,
    pub benchmark_version: Option<String>,
    pub pipeline: String,
    pub suite: String,
    pub user_task: String,
    pub injection_task: Option<String>,
    pub attack: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Raw {
    suite_name: String,
    pipeline_name: String,
    user_task_id: String,
    injection_task_id: Option<String>,
    attack_type: Option<String>,
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
        let mut answer = String::new();
        let mut awaiting = 0;
        for message in raw.messages {
            let error = message.error;
            let text = message.content.map(Content::into_text).unwrap_or_default();
            match message.role.as_str() {
                "assistant" => {
                    let calls = message.tool_calls.unwrap_or_default();
                    awaiting = 0;
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
                    let call = turn.calls.get_mut(awaiting);
                    let call = call.ok_or("more tool results than calls")?;
                    // The error text is what the model was shown in place of the content.
                    call.result = Some(error.filter(|e| !e.is_empty()).unwrap_or(text));
                    awaiting += 1;
                }
                _ => {}
            }
        }
        // The benchmark's loop ends after its last model call: calls proposed there were
        // never executed, and the text beside them is the answer.
        if turns.last().is_some_and(|t| t.calls.iter().all(|c| c.result.is_none())) {
            turns.pop();
        }
        Ok(Self {
            turns,
            answer,
            utility: raw.utility,
            security: raw.security,
            api_error: raw.error.is_some_and(|e| !e.is_null()),
            benchmark_version: raw.benchmark_version,
            pipeline: raw.pipeline_name,
            suite: raw.suite_name,
            user_task: raw.user_task_id,
            injection_task: raw.injection_task_id,
            attack: raw.attack_type,
        })
    }
}
