//! Every way in which an endpoint can fail.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::PoisonError;

use serde_json::{Value, json};

use crate::say::Say;
use crate::server::{Answer, Received};

/// One way to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fault {
    /// 429 without a word on how long.
    RateLimited,
    /// 429 with `Retry-After` in seconds (fractions of one).
    RetryAfter,
    /// 429 with `Retry-After` as a date that has passed.
    RetryAfterDate,
    /// 408.
    RequestTimeout,
    /// 409.
    Conflict,
    /// 425.
    TooEarly,
    /// 500.
    Internal,
    /// 502 with a page of HTML.
    BadGateway,
    /// 503.
    Unavailable,
    /// 529, Anthropic's word for too much to do.
    Overloaded,
    /// The connection is closed.
    Close,
    /// The connection breaks inside the body.
    Broken,
    /// No HTTP.
    Garbage,
    /// The body stops coming.
    Stalled,
    /// Nothing comes.
    Hang,
    /// Status 200, and no JSON.
    NotJson,
    /// Status 200, and JSON that is no reply.
    NoReply,
    /// Status 200, and an error in the body, as gateways have it.
    ErrorInBody,
    /// 401.
    Unauthorized,
    /// 403.
    Forbidden,
    /// 404: no such model.
    UnknownModel,
    /// 400: something in the request.
    BadRequest,
    /// No credit left.
    NoCredit,
    /// The conversation is too long.
    ContextOverflow,
    /// A filter refuses the prompt.
    PromptFiltered,
    /// A filter, or the model, withholds the reply.
    ReplyFiltered,
    /// The limit on tokens is hit before anything is said.
    Truncated,
    /// The model says nothing.
    Empty,
    /// A call whose arguments are no JSON.
    BrokenArguments,
    /// A call of a tool that is not on offer.
    UnknownTool,
    /// A call whose arguments do not fit its tool.
    WrongArguments,
    /// Two such calls with one id.
    DuplicateId,
}

impl Fault {
    /// Faults that another attempt may not meet.
    pub const TRANSIENT: [Self; 18] = [
        Self::RateLimited,
        Self::RetryAfter,
        Self::RetryAfterDate,
        Self::RequestTimeout,
        Self::Conflict,
        Self::TooEarly,
        Self::Internal,
        Self::BadGateway,
        Self::Unavailable,
        Self::Overloaded,
        Self::Close,
        Self::Broken,
        Self::Garbage,
        Self::Stalled,
        Self::Hang,
        Self::NotJson,
        Self::NoReply,
        Self::ErrorInBody,
    ];

    /// Faults that every attempt would meet, none of them the model's behaviour.
    pub const PERMANENT: [Self; 5] =
        [Self::Unauthorized, Self::Forbidden, Self::UnknownModel, Self::BadRequest, Self::NoCredit];

    /// Failures that are the model's behaviour, as it is deployed.
    pub const BEHAVIOUR: [Self; 5] = [
        Self::ContextOverflow,
        Self::PromptFiltered,
        Self::ReplyFiltered,
        Self::Truncated,
        Self::Empty,
    ];

    /// Calls that cannot be executed: the model is told, and may do better the next time.
    pub const MISTAKES: [Self; 4] =
        [Self::BrokenArguments, Self::UnknownTool, Self::WrongArguments, Self::DuplicateId];

    /// Whether it can be an answer to the request: calls need tools.
    #[must_use]
    pub fn fits(self, request: &Received) -> bool {
        !Self::MISTAKES.contains(&self) || tool(request).is_some()
    }

    /// The answer, in the words of the request's API.
    #[must_use]
    pub fn answer(self, request: &Received) -> Answer {
        let anthropic = request.is_anthropic();
        let error = |status: u16, kind: &str, code: &str, message: &str| {
            Answer::json(status, &error(anthropic, kind, code, message))
        };
        let whole = || match Say::text("What follows is cut off").to(request) {
            Answer::Reply { body, .. } => body,
            _ => String::new(),
        };
        match self {
            Self::RateLimited => error(429, "rate_limit_error", "rate_limit_exceeded", "Slow down"),
            Self::RetryAfter => {
                Self::RateLimited.answer(request).with_header("retry-after", "0.05")
            }
            Self::RetryAfterDate => Self::RateLimited
                .answer(request)
                .with_header("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"),
            Self::RequestTimeout => error(408, "timeout_error", "timeout", "Request timeout"),
            Self::Conflict => error(409, "conflict_error", "conflict", "Conflict"),
            Self::TooEarly => error(425, "too_early", "too_early", "Too early"),
            Self::Internal => error(500, "api_error", "server_error", "Internal server error"),
            Self::BadGateway => Answer::text(502, "<html><h1>502 Bad Gateway</h1></html>"),
            Self::Unavailable => error(503, "api_error", "unavailable", "Try again later"),
            Self::Overloaded => error(529, "overloaded_error", "overloaded", "Overloaded"),
            Self::Close => Answer::Close,
            Self::Broken => Answer::Broken(whole()),
            Self::Garbage => Answer::Garbage,
            Self::Stalled => Answer::Stalled(whole()),
            Self::Hang => Answer::Hang,
            Self::NotJson => Answer::text(200, "upstream connect error"),
            Self::NoReply => Answer::json(200, &json!({"object": "nothing", "choices": []})),
            Self::ErrorInBody => Answer::json(
                200,
                &json!({"error": {"code": 503, "message": "Provider returned error"}}),
            ),
            Self::Unauthorized => {
                error(401, "authentication_error", "invalid_api_key", "Incorrect API key provided")
            }
            Self::Forbidden => {
                error(403, "permission_error", "forbidden", "No access to the model")
            }
            Self::UnknownModel => {
                error(404, "not_found_error", "model_not_found", "The model does not exist")
            }
            Self::BadRequest => {
                error(400, "invalid_request_error", "invalid_value", "temperature is not supported")
            }
            Self::NoCredit if anthropic => error(
                400,
                "invalid_request_error",
                "",
                "Your credit balance is too low to access the Anthropic API",
            ),
            Self::NoCredit => error(
                429,
                "insufficient_quota",
                "insufficient_quota",
                "You exceeded your current quota",
            ),
            Self::ContextOverflow if anthropic => error(
                400,
                "invalid_request_error",
                "",
                "prompt is too long: 210000 tokens > 200000 maximum",
            ),
            Self::ContextOverflow => error(
                400,
                "invalid_request_error",
                "context_length_exceeded",
                "This model's maximum context length is 8192 tokens",
            ),
            Self::PromptFiltered => error(
                400,
                "invalid_request_error",
                "content_filter",
                "The prompt triggered the content management policy",
            ),
            Self::ReplyFiltered => {
                let stop = if anthropic { "refusal" } else { "content_filter" };
                Say::text("").stopped(stop).to(request)
            }
            Self::Truncated => {
                let stop = if anthropic { "max_tokens" } else { "length" };
                Say::text("").stopped(stop).to(request)
            }
            Self::Empty => Say::text("").to(request),
            Self::UnknownTool => Say::call("m", "no_such_tool", json!({})).to(request),
            Self::BrokenArguments | Self::WrongArguments | Self::DuplicateId => {
                let tool = tool(request).unwrap_or_default();
                let arguments = match self {
                    Self::BrokenArguments => json!("{\"cut\": "),
                    _ => json!([]),
                };
                let once = Say::call("m", &tool, arguments.clone());
                let say = match self {
                    Self::DuplicateId => once.and_call("m", &tool, arguments),
                    _ => once,
                };
                say.to(request)
            }
        }
    }
}

/// Name of the first tool on offer.
fn tool(request: &Received) -> Option<String> {
    let body = request.json();
    let tool = body["tools"].as_array()?.first()?;
    let name = if request.is_anthropic() { &tool["name"] } else { &tool["function"]["name"] };
    name.as_str().map(ToOwned::to_owned)
}

fn error(anthropic: bool, kind: &str, code: &str, message: &str) -> Value {
    if anthropic {
        // This API has types only; what is left of a code is put where details stand.
        json!({"type": "error", "error": {"type": kind, "message": message,
            "details": {"error_code": code}}})
    } else {
        json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
    }
}

/// Faults at random, the same each time: a draw depends on the seed, the request and how
/// often it came, never on the order in which requests of others come.
#[derive(Debug)]
pub struct Faults {
    seed: u64,
    share: f64,
    kinds: Vec<Fault>,
    most: u32,
    seen: Mutex<HashMap<blake3::Hash, u32>>,
}

impl Faults {
    /// Of these kinds, for that share of requests, 0 to 1; one request fails at most `most`
    /// times altogether.
    #[must_use]
    pub fn new(seed: u64, share: f64, kinds: &[Fault], most: u32) -> Self {
        Self { seed, share, kinds: kinds.to_vec(), most, seen: Mutex::default() }
    }

    /// All that pass, at most three for one request.
    #[must_use]
    pub fn transient(seed: u64, share: f64) -> Self {
        Self::new(seed, share, &Fault::TRANSIENT, 3)
    }

    /// A script that fails first.
    pub fn over(
        self,
        script: impl Fn(&Received) -> Answer + Send + Sync + 'static,
    ) -> impl Fn(&Received) -> Answer + Send + Sync + 'static {
        move |request| match self.draw(request).filter(|fault| fault.fits(request)) {
            Some(fault) => fault.answer(request),
            None => script(request),
        }
    }

    fn draw(&self, request: &Received) -> Option<Fault> {
        let body = blake3::hash(request.body.as_bytes());
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let times = seen.entry(body).or_default();
        if *times >= self.most || self.kinds.is_empty() {
            return None;
        }
        let draw = blake3::hash(format!("{}/{body}/{times}", self.seed).as_bytes());
        let word = |n: usize| u16::from_le_bytes([draw.as_bytes()[n], draw.as_bytes()[n + 1]]);
        if f64::from(word(0)) / 65536.0 >= self.share {
            // Once it was let through it stays so.
            *times = self.most;
            return None;
        }
        *times += 1;
        Some(self.kinds[usize::from(word(2)) % self.kinds.len()])
    }
}
