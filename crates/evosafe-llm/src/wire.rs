//! Between HTTP and both APIs: what a response means.

use std::time::Duration;

use evosafe_types::{Api, ContentHash, ModelConfig, Usage};
use serde_json::Value;

use crate::calls::{self, RawCall};
use crate::chat::{ChatRequest, StopReason, ToolCall};
use crate::error::LlmError;
use crate::http::Response;
use crate::{anthropic, openai};

/// Longest message of an endpoint that an error shows, in characters.
const LONGEST: usize = 300;

/// A body that is what the API sends.
#[derive(Debug)]
pub(crate) struct Said {
    /// As reported; `None` if nothing was.
    pub usage: Option<Usage>,
    pub model: Option<String>,
    pub parts: Parts,
}

/// What the model said.
#[derive(Debug)]
pub(crate) struct Parts {
    pub text: String,
    pub calls: Vec<RawCall>,
    pub reasoning: Vec<Value>,
    pub stop: StopReason,
    /// Whether the reply ended because the model's window is full.
    pub overflow: bool,
}

/// A reply that was paid for, usable or not.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub usage: Usage,
    pub model: Option<String>,
    pub content: Result<Content, LlmError>,
}

/// A usable reply.
#[derive(Debug)]
pub(crate) struct Content {
    pub text: String,
    pub calls: Vec<ToolCall>,
    pub reasoning: Vec<Value>,
    pub stop: StopReason,
}

/// A response without a reply.
#[derive(Debug)]
pub(crate) struct Fault {
    pub error: LlmError,
    /// Whether another attempt may go better.
    pub retry: bool,
    /// How long the endpoint asks to be left alone.
    pub after: Option<Duration>,
}

/// The text of a request's body.
pub(crate) fn encode(config: &ModelConfig, request: &ChatRequest) -> String {
    match config.api {
        Api::OpenAi => openai::encode(config, request).to_string(),
        Api::Anthropic => anthropic::encode(config, request).to_string(),
    }
}

/// Where requests go.
pub(crate) fn url(config: &ModelConfig) -> String {
    let base = config.base_url();
    match config.api {
        Api::OpenAi => format!("{base}/chat/completions"),
        // Both spellings of the base are in use.
        Api::Anthropic if base.ends_with("/v1") => format!("{base}/messages"),
        Api::Anthropic => format!("{base}/v1/messages"),
    }
}

/// What a reply depends on, as far as we say it: where it is sent, and the body.
pub(crate) fn hash(config: &ModelConfig, body: &str) -> ContentHash {
    ContentHash::of(&[b"chat request", url(config).as_bytes(), body.as_bytes()])
}

/// Tokens of a text, at most: hardly any text has more than one in two bytes.
pub(crate) fn most_tokens(text: &str) -> u64 {
    (text.len() as u64).div_ceil(2)
}

/// Tokens of a text, about.
pub(crate) fn about_tokens(text: &str) -> u64 {
    (text.len() as u64).div_ceil(4)
}

/// A number of tokens; some servers send floats or nothing.
pub(crate) fn tokens(value: &Value) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be in range"
    )]
    let whole = |n: f64| (0.0..1e15).contains(&n).then(|| n.ceil() as u64);
    value.as_u64().or_else(|| value.as_f64().and_then(whole)).unwrap_or(0)
}

/// Text of a content that is a text, nothing, or a list of parts.
pub(crate) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// Reads a response: a reply that was paid for, or a fault.
pub(crate) fn interpret(
    config: &ModelConfig,
    request: &ChatRequest,
    sent: &str,
    response: &Response,
) -> Result<Decoded, Fault> {
    let endpoint = config.base_url();
    let parsed = serde_json::from_str(&response.body).ok().map(|parsed| match parsed {
        // Google wraps its errors into a list.
        Value::Array(mut list) if list.len() == 1 => list.remove(0),
        other => other,
    });
    if !(200..300).contains(&response.status) {
        return Err(fault(endpoint, response.status, response, parsed.as_ref()));
    }
    let malformed = |message: String| Fault {
        error: LlmError::Malformed { endpoint: endpoint.to_owned(), attempts: 1, message },
        retry: true,
        after: None,
    };
    let Some(body) = parsed.filter(Value::is_object) else {
        return Err(malformed(format!("no JSON object: {}", cut(&response.body))));
    };
    // Gateways report errors of those behind them with status 200.
    let replied = !body["choices"][0].is_null() || !body["content"].is_null();
    if let Some(error) = body.get("error").filter(|error| !error.is_null() && !replied) {
        let code = error["code"].as_u64().and_then(|code| u16::try_from(code).ok());
        let status = code.filter(|code| (400..600).contains(code)).unwrap_or(500);
        return Err(fault(endpoint, status, response, Some(&body)));
    }
    let said = match config.api {
        Api::OpenAi => openai::decode(&body),
        Api::Anthropic => anthropic::decode(&body),
    };
    Ok(judge(config, request, sent, said.map_err(malformed)?))
}

/// Decides whether what was said can be used.
fn judge(config: &ModelConfig, request: &ChatRequest, sent: &str, said: Said) -> Decoded {
    let Said { usage, model, parts } = said;
    let Parts { text, calls, reasoning, stop, overflow } = parts;
    // A report without numbers is none.
    let usage = usage.filter(|usage| usage.total() > 0).unwrap_or_else(|| {
        let arguments: u64 = calls.iter().map(|c| about_tokens(&c.arguments.to_string())).sum();
        let output = about_tokens(&text) + arguments;
        Usage { input: about_tokens(sent), output, estimated: true, ..Usage::default() }
    });
    let nothing = text.trim().is_empty() && calls.is_empty();
    let content = match &stop {
        StopReason::Length if nothing && overflow => Err(LlmError::ContextOverflow {
            message: "the model's window was full before it said anything".to_owned(),
        }),
        StopReason::Length if nothing => {
            Err(LlmError::Truncated { max_tokens: request.max_tokens.unwrap_or(config.max_tokens) })
        }
        StopReason::Refusal if nothing => {
            Err(LlmError::ContentFilter { message: "the reply was withheld".to_owned() })
        }
        StopReason::Paused => Ok(()),
        _ if nothing => Err(LlmError::Empty),
        _ => Ok(()),
    };
    let content = content.map(|()| {
        let calls = calls::finish(calls, request, stop == StopReason::Length);
        Content { text, calls, reasoning, stop }
    });
    Decoded { usage, model, content }
}

/// What a response that is an error means.
fn fault(endpoint: &str, status: u16, response: &Response, body: Option<&Value>) -> Fault {
    let error = body.map_or(&Value::Null, |body| body.get("error").unwrap_or(body));
    let message = [&error["message"], &error["detail"], error]
        .into_iter()
        .find_map(Value::as_str)
        .map_or_else(|| cut(&response.body), cut);
    let words = Words::of(error, &message);
    let endpoint = endpoint.to_owned();
    let (error, retry) = if words.are_quota(status) {
        (LlmError::Quota { endpoint, message }, false)
    } else if words.are_filter(status) {
        (LlmError::ContentFilter { message }, false)
    } else if words.are_overflow(status) {
        (LlmError::ContextOverflow { message }, false)
    } else {
        match status {
            401 | 403 => (LlmError::Auth { endpoint, status, message }, false),
            429 => (LlmError::RateLimited { endpoint, attempts: 1, message }, true),
            408 | 409 | 425 | 500.. => {
                (LlmError::Server { endpoint, status, attempts: 1, message }, true)
            }
            _ => (LlmError::BadRequest { endpoint, status, message }, false),
        }
    };
    Fault { error, retry, after: response.retry_after.filter(|_| retry) }
}

/// The words by which endpoints tell errors of one status apart.
struct Words {
    /// Codes and types, in lower case.
    codes: Vec<String>,
    /// The message, in lower case.
    message: String,
}

impl Words {
    fn of(error: &Value, message: &str) -> Self {
        let codes = [
            &error["code"],
            &error["type"],
            &error["innererror"]["code"],
            &error["details"]["error_code"],
        ];
        let codes = codes.into_iter().filter_map(Value::as_str).map(str::to_lowercase).collect();
        Self { codes, message: message.to_lowercase() }
    }

    fn code(&self, any: &[&str]) -> bool {
        self.codes.iter().any(|code| any.contains(&code.as_str()))
    }

    fn says(&self, any: &[&str]) -> bool {
        any.iter().any(|part| self.message.contains(part))
    }

    fn are_quota(&self, status: u16) -> bool {
        status == 402
            || self.code(&[
                "insufficient_quota",
                "billing_hard_limit_reached",
                "billing_error",
                "enforced_spend_limit_reached",
            ])
            || (status == 400
                && self.says(&["credit balance is too low", "specified api usage limits"]))
    }

    fn are_filter(&self, status: u16) -> bool {
        (400..500).contains(&status)
            && (self.code(&[
                "content_filter",
                "content_policy_violation",
                "responsibleaipolicyviolation",
                "invalid_prompt",
            ]) || (matches!(status, 400 | 403)
                && self.says(&["content management policy", "content filter", "was flagged"])))
    }

    fn are_overflow(&self, status: u16) -> bool {
        status == 413
            || self.code(&["context_length_exceeded", "exceed_context_size_error"])
            || (matches!(status, 400 | 422)
                && self.says(&[
                    "context length",
                    "context window",
                    "context size",
                    "context limit",
                    "prompt is too long",
                    "input is too long",
                    "maximum prompt length",
                ]))
    }
}

fn cut(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None if text.is_empty() => "(empty body)".to_owned(),
        None => text.to_owned(),
    }
}
