//! Chat completions, as OpenAI and everybody compatible with it speaks them.

use evosafe_types::{ModelConfig, Usage};
use serde_json::{Map, Value, json};

use crate::calls::{self, RawCall};
use crate::chat::{ChatRequest, Message, StopReason, ToolCall, ToolChoice};
use crate::wire::{Parts, Said, text_of, tokens};

/// What servers call the reasoning they want back beside tool calls.
const REASONING: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_details"];

/// The body of a request.
pub(crate) fn encode(config: &ModelConfig, request: &ChatRequest) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), json!(config.model));
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!({"role": "system", "content": request.system}));
    }
    messages.extend(request.messages.iter().filter_map(message));
    body.insert("messages".into(), Value::Array(messages));
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({"type": "function", "function": {
                "name": calls::to_name(&tool.name),
                "description": tool.description,
                "parameters": tool.input_schema,
            }})
        });
        body.insert("tools".into(), tools.collect());
        match &request.tool_choice {
            ToolChoice::Auto => {}
            ToolChoice::None => insert(&mut body, "tool_choice", json!("none")),
            ToolChoice::Required => insert(&mut body, "tool_choice", json!("required")),
            ToolChoice::Tool(name) => insert(
                &mut body,
                "tool_choice",
                json!({"type": "function", "function": {"name": calls::to_name(name)}}),
            ),
        }
    }
    if let Some(format) = &request.json_schema {
        let schema = json!({"name": format.name, "schema": format.schema, "strict": true});
        insert(&mut body, "response_format", json!({"type": "json_schema", "json_schema": schema}));
    }
    let max_tokens = request.max_tokens.unwrap_or(config.max_tokens);
    insert(&mut body, limit_key(config), json!(max_tokens));
    if let Some(temperature) = config.temperature {
        insert(&mut body, "temperature", json!(temperature));
    }
    if let Some(seed) = request.seed.or(config.seed) {
        insert(&mut body, "seed", json!(seed));
    }
    if let Some(effort) = &config.reasoning_effort {
        insert(&mut body, "reasoning_effort", json!(effort));
    }
    Value::Object(body)
}

fn insert(body: &mut Map<String, Value>, key: &str, value: Value) {
    body.insert(key.to_owned(), value);
}

/// OpenAI's own models refuse `max_tokens`; older compatible servers know nothing else.
fn limit_key(config: &ModelConfig) -> &'static str {
    let host = config.base_url().split("://").nth(1).unwrap_or_default();
    let host = host.split(['/', ':']).next().unwrap_or_default();
    let own = host == "api.openai.com" || host.ends_with(".openai.azure.com");
    if own { "max_completion_tokens" } else { "max_tokens" }
}

fn message(message: &Message) -> Option<Value> {
    match message {
        Message::User(text) => Some(json!({"role": "user", "content": text})),
        Message::ToolResult { id, content, .. } => {
            Some(json!({"role": "tool", "tool_call_id": id, "content": content}))
        }
        // Nothing said and nothing called is no message.
        Message::Assistant { text, tool_calls, .. } if text.is_empty() && tool_calls.is_empty() => {
            None
        }
        Message::Assistant { text, tool_calls, reasoning } => {
            let mut body = Map::new();
            insert(&mut body, "role", json!("assistant"));
            let content = if text.is_empty() { Value::Null } else { json!(text) };
            insert(&mut body, "content", content);
            if !tool_calls.is_empty() {
                insert(&mut body, "tool_calls", tool_calls.iter().map(call).collect());
                // Only beside calls: some servers refuse it after a finished answer.
                for part in reasoning.iter().filter_map(Value::as_object) {
                    body.extend(part.clone());
                }
            }
            Some(Value::Object(body))
        }
    }
}

fn call(call: &ToolCall) -> Value {
    let arguments = calls::to_object(&call.arguments).to_string();
    let mut body = json!({"id": call.id, "type": "function",
        "function": {"name": calls::to_name(&call.name), "arguments": arguments}});
    if let Some(extra) = &call.extra {
        body["extra_content"] = extra.clone();
    }
    body
}

/// What a body says.
///
/// # Errors
/// What in it is not as the API has it.
pub(crate) fn decode(body: &Value) -> Result<Said, String> {
    let usage = body.get("usage").filter(|usage| usage.is_object()).map(usage);
    let model = body["model"].as_str().map(ToOwned::to_owned);
    let choice = &body["choices"][0];
    let message = choice.get("message").filter(|m| m.is_object());
    let message = message.ok_or("there is no choices[0].message")?;
    let reason = choice["finish_reason"].as_str();
    if reason == Some("error") {
        let what = choice["error"]["message"].as_str().unwrap_or("finish_reason is `error`");
        return Err(format!("the server broke the reply off: {what}"));
    }
    let mut text = text_of(&message["content"]);
    let refusal = message["refusal"].as_str().filter(|refusal| !refusal.is_empty());
    if let (Some(refusal), true) = (refusal, text.is_empty()) {
        refusal.clone_into(&mut text);
    }
    let calls = match &message["tool_calls"] {
        Value::Null => Vec::new(),
        Value::Array(calls) => calls.iter().map(raw_call).collect::<Result<_, _>>()?,
        _ => return Err("tool_calls is no list".to_owned()),
    };
    let stop = match reason {
        _ if refusal.is_some() => StopReason::Refusal,
        Some("length") => StopReason::Length,
        Some("content_filter") => StopReason::Refusal,
        // Servers disagree on the word where there are calls; the calls decide.
        _ if !calls.is_empty() => StopReason::ToolCalls,
        Some("stop" | "tool_calls" | "function_call") | None => StopReason::End,
        Some(other) => StopReason::Other(other.to_owned()),
    };
    let kept = REASONING.iter().filter_map(|key| {
        let value = message.get(*key).filter(|v| !v.is_null() && **v != json!(""))?;
        Some((*key).to_owned()).zip(Some(value.clone()))
    });
    let kept: Map<String, Value> = kept.collect();
    let reasoning = if kept.is_empty() { vec![] } else { vec![Value::Object(kept)] };
    Ok(Said { usage, model, parts: Parts { text, calls, reasoning, stop, overflow: false } })
}

fn raw_call(call: &Value) -> Result<RawCall, String> {
    let function = call.get("function").ok_or("a tool call has no function")?;
    let name = function["name"].as_str().ok_or("a tool call has no name")?;
    Ok(RawCall {
        id: call["id"].as_str().map(ToOwned::to_owned),
        name: name.to_owned(),
        arguments: function.get("arguments").cloned().unwrap_or_default(),
        extra: call.get("extra_content").filter(|extra| !extra.is_null()).cloned(),
    })
}

/// The API counts cached tokens into the prompt; we keep them apart.
fn usage(usage: &Value) -> Usage {
    let prompt = tokens(&usage["prompt_tokens"]);
    let details = &usage["prompt_tokens_details"];
    let cached = match tokens(&details["cached_tokens"]) {
        0 => tokens(&usage["prompt_cache_hit_tokens"]),
        cached => cached,
    };
    let cached = cached.min(prompt);
    let written = tokens(&details["cache_write_tokens"]).min(prompt - cached);
    Usage {
        input: prompt - cached - written,
        cached_input: cached,
        cache_creation: written,
        output: tokens(&usage["completion_tokens"]),
        reasoning: tokens(&usage["completion_tokens_details"]["reasoning_tokens"]),
        estimated: false,
    }
}
