//! Requests and replies in no API's words.

use std::fmt;
use std::time::Duration;

use evosafe_types::{JsonMap, Usage};
use serde_json::Value;

/// What a model is asked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChatRequest {
    /// The system prompt; empty is none.
    pub system: String,
    /// The conversation so far. The last is the user's or tool results.
    pub messages: Vec<Message>,
    /// Tools on offer.
    pub tools: Vec<ToolDef>,
    /// Whether the model must or must not call one.
    pub tool_choice: ToolChoice,
    /// The final text must be JSON of this schema. Not every server enforces it:
    /// [`ChatReply::json`] checks.
    pub json_schema: Option<JsonSchema>,
    /// Most tokens of the reply, reasoning included; `None` is the configured number.
    pub max_tokens: Option<u32>,
    /// Sampling seed in place of the configured one, so that rollouts differ. Without
    /// effect where the API has none.
    pub seed: Option<u64>,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// The user's, or ours.
    User(String),
    /// The model's.
    Assistant {
        /// Text beside the calls.
        text: String,
        /// Calls, in emission order.
        tool_calls: Vec<ToolCall>,
        /// [`ChatReply::reasoning`] of the reply this was.
        reasoning: Vec<Value>,
    },
    /// What a tool answered.
    ToolResult {
        /// Id of the call it answers.
        id: String,
        /// Text for the model; for errors, the error text.
        content: String,
        /// Whether it is an error. Chat completions have no place for this: there
        /// the text alone must say so.
        is_error: bool,
    },
}

/// A tool on offer.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDef {
    /// Name the model calls it by. APIs take 64 letters, digits, `-` and `_`: other
    /// characters are sent as `_`, and calls come back with the name as it is here.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
}

/// Whether the model must call a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// It must not.
    None,
    /// It must call one. Models that always think refuse this, and [`Self::Tool`]: ask in
    /// words and check the reply where any model may be configured.
    Required,
    /// It must call this one.
    Tool(String),
}

/// A named schema of a reply.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonSchema {
    /// Letters, digits, `-` and `_`, at most 64; some APIs ask for a name.
    pub name: String,
    /// The JSON Schema. Hosted APIs want every object to have `additionalProperties: false`.
    pub schema: Value,
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatReply {
    /// Its text; may be empty beside calls.
    pub text: String,
    /// Its calls, in emission order, with ids that are unique in the conversation.
    pub tool_calls: Vec<ToolCall>,
    /// What the API wants to be given back with this turn, untouched (signed thinking
    /// blocks, reasoning text). Opaque.
    pub reasoning: Vec<Value>,
    /// Why it ended.
    pub stop: StopReason,
    /// Tokens.
    pub usage: Usage,
    /// The model as the endpoint calls it; may be more exact than what was asked for.
    pub model: String,
    /// Time from sending to the last byte, of the attempt that succeeded; when replayed,
    /// that of the recorded one.
    pub latency: Duration,
    /// Whether it came from a cassette and cost nothing now.
    pub replayed: bool,
}

/// A call that the model proposes.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Id, unique in the conversation: a missing one is filled in, and one that an
    /// earlier turn used is replaced.
    pub id: String,
    /// Name of the tool, as the model wrote it.
    pub name: String,
    /// Its arguments, or what is wrong with the call.
    pub arguments: ParsedArguments,
    /// What the API wants to be given back with this call, untouched.
    pub extra: Option<Value>,
}

/// Arguments that can be used, or a mistake of the model.
#[derive(Debug, Clone, PartialEq)]
pub enum ParsedArguments {
    /// An object that fits the tool's schema.
    Valid(JsonMap),
    /// A mistake. It is the model's behaviour: nothing is executed, and
    /// [`CallMistake`] as text goes back to it as a tool error.
    Invalid {
        /// The mistake.
        mistake: CallMistake,
        /// The arguments as the model wrote them.
        raw: String,
    },
}

/// What is wrong with a call. Its text is for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallMistake {
    /// The arguments are no JSON.
    #[error("Error: the arguments are not valid JSON: {0}")]
    NotJson(String),
    /// They are JSON, but no object.
    #[error("Error: the arguments must be a JSON object, not {0}")]
    NotAnObject(&'static str),
    /// No tool has this name.
    #[error("Error: there is no tool `{name}`. The tools are: {}", known.join(", "))]
    UnknownTool {
        /// The name it used.
        name: String,
        /// Names it may use.
        known: Vec<String>,
    },
    /// They do not fit the tool's schema.
    #[error("Error: the arguments do not fit the tool's schema: {0}")]
    Schema(String),
    /// A call before it in the same turn has its id.
    #[error("Error: two calls of one turn have the id `{0}`; the second was not executed")]
    DuplicateId(String),
    /// The reply ended in the middle of this call.
    #[error("Error: the reply was cut off inside this call; it was not executed")]
    Truncated,
}

/// Why a reply ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// The model was done.
    End,
    /// It wants tools to be called.
    ToolCalls,
    /// It hit the limit on tokens: the text is cut off.
    Length,
    /// It, or a filter of the endpoint, stopped its text.
    Refusal,
    /// The endpoint paused a long turn, which goes on if the turn is sent back.
    Paused,
    /// Something else, in the API's word.
    Other(String),
}

impl ParsedArguments {
    /// The arguments, if they can be used.
    #[must_use]
    pub fn valid(&self) -> Option<&JsonMap> {
        match self {
            Self::Valid(arguments) => Some(arguments),
            Self::Invalid { .. } => None,
        }
    }
}

impl ChatReply {
    /// The turn as a message, to go on with.
    #[must_use]
    pub fn to_message(&self) -> Message {
        Message::Assistant {
            text: self.text.clone(),
            tool_calls: self.tool_calls.clone(),
            reasoning: self.reasoning.clone(),
        }
    }

    /// The text as JSON of a schema. A Markdown fence around it is taken off: servers
    /// that do not enforce schemas often return one.
    ///
    /// # Errors
    /// Says what is wrong, in words that can go back to the model.
    pub fn json(&self, schema: &Value) -> Result<Value, String> {
        let text = self.text.trim();
        let bare = text
            .strip_prefix("```")
            .and_then(|rest| rest.strip_suffix("```"))
            .map_or(text, |rest| rest.strip_prefix("json").unwrap_or(rest).trim());
        if self.stop == StopReason::Length {
            return Err("the reply was cut off before its end".to_owned());
        }
        let value = serde_json::from_str(bare).map_err(|e| format!("the reply is no JSON: {e}"))?;
        crate::schema::check(schema, &value)?;
        Ok(value)
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::End => "end",
            Self::ToolCalls => "tool_calls",
            Self::Length => "length",
            Self::Refusal => "refusal",
            Self::Paused => "paused",
            Self::Other(word) => word,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reply(text: &str, stop: StopReason) -> ChatReply {
        ChatReply {
            text: text.to_owned(),
            tool_calls: vec![],
            reasoning: vec![],
            stop,
            usage: Usage::default(),
            model: "m".to_owned(),
            latency: Duration::ZERO,
            replayed: false,
        }
    }

    #[test]
    fn structured_text_is_parsed_strictly() {
        let schema = json!({"type": "object", "required": ["ok"],
            "properties": {"ok": {"type": "boolean"}}});
        for good in ["{\"ok\":true}", "```json\n{\"ok\":true}\n```", "```\n{\"ok\":true}```"] {
            assert_eq!(reply(good, StopReason::End).json(&schema), Ok(json!({"ok": true})));
        }
        for (bad, why) in [
            ("yes", "no JSON"),
            ("{\"ok\":1}", "`ok`"),
            ("{}", "`ok`"),
            ("```json\n{\"ok\":true}", "no JSON"),
        ] {
            let error = reply(bad, StopReason::End).json(&schema).expect_err(bad);
            assert!(error.contains(why), "{error}");
        }
        let cut = reply("{\"ok\":true}", StopReason::Length).json(&schema);
        assert!(cut.expect_err("cut off").contains("cut off"));
    }
}
