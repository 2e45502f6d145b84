//! What a scripted model says, in either API's words.

use serde_json::{Value, json};

use crate::server::{Answer, Received};

/// A reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Say {
    /// Text.
    pub text: String,
    /// Calls: id, tool, arguments; a text where the model wrote none that can be read.
    pub calls: Vec<(String, String, Value)>,
    /// Tokens of the prompt.
    pub prompt: u64,
    /// Of those, read from a cache.
    pub cached: u64,
    /// Tokens of the reply.
    pub output: u64,
    /// Why it ended, in the API's word; `None` is what fits.
    pub stop: Option<String>,
}

impl Say {
    /// Text and nothing else; 100 tokens of prompt and 20 of reply.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), calls: vec![], prompt: 100, cached: 0, output: 20, stop: None }
    }

    /// One call and nothing else.
    #[must_use]
    pub fn call(id: &str, tool: &str, arguments: Value) -> Self {
        Self::text("").and_call(id, tool, arguments)
    }

    /// The same with one more call.
    #[must_use]
    pub fn and_call(mut self, id: &str, tool: &str, arguments: Value) -> Self {
        self.calls.push((id.to_owned(), tool.to_owned(), arguments));
        self
    }

    /// The same with other numbers of tokens.
    #[must_use]
    pub fn tokens(mut self, prompt: u64, cached: u64, output: u64) -> Self {
        (self.prompt, self.cached, self.output) = (prompt, cached, output);
        self
    }

    /// The same with another reason to end.
    #[must_use]
    pub fn stopped(mut self, stop: &str) -> Self {
        self.stop = Some(stop.to_owned());
        self
    }

    /// As the API of the request has it.
    #[must_use]
    pub fn to(&self, request: &Received) -> Answer {
        let model = request.json()["model"].clone();
        let body =
            if request.is_anthropic() { self.anthropic(&model) } else { self.openai(&model) };
        Answer::json(200, &body)
    }

    fn openai(&self, model: &Value) -> Value {
        let calls = self.calls.iter().map(|(id, tool, arguments)| {
            // This API has arguments as text: a text is one that the model wrote, right or wrong.
            let text = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
            json!({"id": id, "type": "function", "function": {"name": tool, "arguments": text}})
        });
        let mut message = json!({"role": "assistant",
            "content": if self.text.is_empty() { Value::Null } else { json!(self.text) }});
        if !self.calls.is_empty() {
            message["tool_calls"] = calls.collect();
        }
        let fits = if self.calls.is_empty() { "stop" } else { "tool_calls" };
        let stop = self.stop.as_deref().unwrap_or(fits);
        json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": model,
            "choices": [{"index": 0, "message": message, "finish_reason": stop}],
            "usage": {"prompt_tokens": self.prompt, "completion_tokens": self.output,
                "total_tokens": self.prompt + self.output,
                "prompt_tokens_details": {"cached_tokens": self.cached}}})
    }

    fn anthropic(&self, model: &Value) -> Value {
        let text = (!self.text.is_empty()).then(|| json!({"type": "text", "text": self.text}));
        let calls = self.calls.iter().map(|(id, tool, arguments)| {
            json!({"type": "tool_use", "id": id, "name": tool, "input": arguments})
        });
        let content: Vec<Value> = text.into_iter().chain(calls).collect();
        let fits = if self.calls.is_empty() { "end_turn" } else { "tool_use" };
        let stop = self.stop.as_deref().unwrap_or(fits);
        json!({"id": "msg_1", "type": "message", "role": "assistant", "model": model,
            "content": content, "stop_reason": stop, "stop_sequence": null,
            "usage": {"input_tokens": self.prompt - self.cached,
                "cache_read_input_tokens": self.cached, "cache_creation_input_tokens": 0,
                "output_tokens": self.output}})
    }
}
