//! Anthropic messages.

use evosafe_types::{ModelConfig, Usage};
use serde_json::{Map, Value, json};

use crate::calls::{self, RawCall};
use crate::chat::{ChatRequest, Message, StopReason, ToolChoice};
use crate::wire::{Parts, Said, tokens};

/// The body of a request.
pub(crate) fn encode(config: &ModelConfig, request: &ChatRequest) -> Value {
    let cache = config.prompt_cache;
    let mut body = Map::new();
    let mut insert = |key: &str, value: Value| body.insert(key.to_owned(), value);
    insert("model", json!(config.model));
    insert("max_tokens", json!(request.max_tokens.unwrap_or(config.max_tokens)));
    if !request.system.is_empty() {
        let mut block = json!({"type": "text", "text": request.system});
        mark(cache, &mut block);
        insert("system", json!([block]));
    }
    let mut messages = messages(&request.messages);
    if cache {
        mark_conversation(&mut messages);
    }
    insert("messages", Value::Array(messages));
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({"name": calls::to_name(&tool.name), "description": tool.description,
                "input_schema": tool.input_schema})
        });
        let mut tools: Vec<Value> = tools.collect();
        // A marked system prompt covers the tools, which come before it.
        if let Some(last) = tools.last_mut().filter(|_| request.system.is_empty()) {
            mark(cache, last);
        }
        insert("tools", Value::Array(tools));
        match &request.tool_choice {
            ToolChoice::Auto => {}
            ToolChoice::None => drop(insert("tool_choice", json!({"type": "none"}))),
            ToolChoice::Required => drop(insert("tool_choice", json!({"type": "any"}))),
            ToolChoice::Tool(name) => {
                insert("tool_choice", json!({"type": "tool", "name": calls::to_name(name)}));
            }
        }
    }
    let mut output = Map::new();
    if let Some(effort) = &config.reasoning_effort {
        output.insert("effort".into(), json!(effort));
    }
    if let Some(format) = &request.json_schema {
        output.insert("format".into(), json!({"type": "json_schema", "schema": format.schema}));
    }
    if !output.is_empty() {
        insert("output_config", Value::Object(output));
    }
    if let Some(temperature) = config.temperature {
        insert("temperature", json!(temperature));
    }
    Value::Object(body)
}

fn mark(cache: bool, block: &mut Value) {
    if cache {
        block["cache_control"] = json!({"type": "ephemeral"});
    }
}

/// Marks the ends of the last two messages of the user: the first is where the turn before
/// left the cache, the second where the next will find it. With the system prompt three of
/// the four marks that the API allows.
fn mark_conversation(messages: &mut [Value]) {
    let users = messages.iter_mut().rev().filter(|message| message["role"] == "user").take(2);
    for message in users {
        let blocks = message["content"].as_array_mut().into_iter().flatten().rev();
        // The API refuses marks on what is empty.
        if let Some(block) = blocks.into_iter().find(|block| block["content"] != "") {
            mark(true, block);
        }
    }
}

/// Roles must alternate: what several of our messages say in one role becomes one message
/// with several blocks, so all results of a turn stand together.
fn messages(messages: &[Message]) -> Vec<Value> {
    let mut merged: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let (role, blocks) = blocks(message);
        if blocks.is_empty() {
            continue;
        }
        match merged.last_mut() {
            Some((before, all)) if *before == role => all.extend(blocks),
            _ => merged.push((role, blocks)),
        }
    }
    merged.into_iter().map(|(role, blocks)| json!({"role": role, "content": blocks})).collect()
}

fn blocks(message: &Message) -> (&'static str, Vec<Value>) {
    // The API refuses empty texts.
    let text =
        |text: &str| (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}));
    match message {
        Message::User(said) => ("user", text(said).into_iter().collect()),
        Message::ToolResult { id, content, is_error } => {
            // The API refuses an error that says nothing.
            let content = if *is_error && content.is_empty() { "error" } else { content };
            let mut block = json!({"type": "tool_result", "tool_use_id": id, "content": content});
            if *is_error {
                block["is_error"] = json!(true);
            }
            ("user", vec![block])
        }
        Message::Assistant { text: said, tool_calls, reasoning } => {
            let calls = tool_calls.iter().map(|call| {
                json!({"type": "tool_use", "id": call.id, "name": calls::to_name(&call.name),
                    "input": calls::to_object(&call.arguments)})
            });
            let said: Vec<Value> = text(said).into_iter().chain(calls).collect();
            // Thinking alone is no turn.
            if said.is_empty() {
                return ("assistant", said);
            }
            ("assistant", reasoning.iter().cloned().chain(said).collect())
        }
    }
}

/// What a body says.
///
/// # Errors
/// What in it is not as the API has it.
pub(crate) fn decode(body: &Value) -> Result<Said, String> {
    let content = body["content"].as_array().ok_or("there is no list `content`")?;
    let (mut text, mut calls, mut reasoning) = (String::new(), Vec::new(), Vec::new());
    for block in content {
        match block["type"].as_str() {
            Some("text") => text.push_str(block["text"].as_str().unwrap_or_default()),
            Some("tool_use") => {
                let name = block["name"].as_str().ok_or("a tool_use block has no name")?;
                calls.push(RawCall {
                    id: block["id"].as_str().map(ToOwned::to_owned),
                    name: name.to_owned(),
                    arguments: block["input"].clone(),
                    extra: None,
                });
            }
            Some("thinking" | "redacted_thinking") => reasoning.push(block.clone()),
            _ => {}
        }
    }
    let reason = body["stop_reason"].as_str();
    let stop = match reason {
        Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
        Some("refusal") => StopReason::Refusal,
        Some("pause_turn") => StopReason::Paused,
        _ if !calls.is_empty() => StopReason::ToolCalls,
        Some("end_turn" | "stop_sequence" | "tool_use") | None => StopReason::End,
        Some(other) => StopReason::Other(other.to_owned()),
    };
    let overflow = reason == Some("model_context_window_exceeded");
    let model = body["model"].as_str().map(ToOwned::to_owned);
    let usage = body.get("usage").filter(|usage| usage.is_object()).map(usage);
    Ok(Said { usage, model, parts: Parts { text, calls, reasoning, stop, overflow } })
}

/// The API counts cached tokens apart from the input, as we do.
fn usage(usage: &Value) -> Usage {
    Usage {
        input: tokens(&usage["input_tokens"]),
        cached_input: tokens(&usage["cache_read_input_tokens"]),
        cache_creation: tokens(&usage["cache_creation_input_tokens"]),
        output: tokens(&usage["output_tokens"]),
        reasoning: tokens(&usage["output_tokens_details"]["thinking_tokens"]),
        estimated: false,
    }
}
