//! What real servers send, beside what their documentation says.

use std::time::Duration;

use evosafe_llm::{CallMistake, ChatReply, ChatRequest, LlmError, ParsedArguments, StopReason};
use evosafe_testing::{Answer, Say};
use evosafe_types::{Api, Usage};
use serde_json::{Value, json};

use crate::bench::{BOTH, Bench, config, hello, pay, server};

async fn reply(api: Api, body: Value) -> Result<ChatReply, LlmError> {
    let server = server(move |_| Answer::json(200, &body)).await;
    let bench = Bench::new(config(api, &server.url()));
    bench.ask(&ChatRequest { tools: vec![pay()], ..hello() }).await
}

fn openai(message: Value, finish: Value) -> Value {
    json!({"choices": [{"index": 0, "message": message, "finish_reason": finish}]})
}

fn anthropic(content: Value, stop: &str) -> Value {
    json!({"type": "message", "role": "assistant", "content": content, "stop_reason": stop,
        "usage": {"input_tokens": 3, "output_tokens": 2}})
}

/// llama.cpp and Ollama: arguments as an object, no usage, no model, no id, no content,
/// `stop` where there are calls.
#[tokio::test]
async fn local_servers() {
    let message = json!({"role": "assistant", "tool_calls": [
        {"function": {"name": "pay", "arguments": {"to": "Ann"}}},
        {"id": null, "type": "function", "function": {"name": "pay", "arguments": "{\"to\":\"Bob\"}"}},
    ]});
    let reply = reply(Api::OpenAi, openai(message, json!("stop"))).await.expect("a reply");
    assert_eq!(reply.stop, StopReason::ToolCalls);
    assert_eq!(reply.text, "");
    assert_eq!(reply.model, "test-model");
    assert_eq!(reply.tool_calls.len(), 2);
    assert_ne!(reply.tool_calls[0].id, reply.tool_calls[1].id);
    assert!(reply.tool_calls.iter().all(|call| call.arguments.valid().is_some()));
    assert!(reply.usage.estimated && reply.usage.input > 0 && reply.usage.output > 0);
}

#[tokio::test]
async fn contents_in_parts_and_refusals() {
    let parts = json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]});
    assert_eq!(reply(Api::OpenAi, openai(parts, json!(null))).await.expect("a reply").text, "ab");
    let refusal = json!({"content": null, "refusal": "I can't help with that."});
    let refused = reply(Api::OpenAi, openai(refusal, json!("stop"))).await.expect("a reply");
    assert_eq!(refused.stop, StopReason::Refusal);
    assert_eq!(refused.text, "I can't help with that.");
    let partial = anthropic(json!([{"type": "text", "text": "I"}]), "refusal");
    let refused = reply(Api::Anthropic, partial).await.expect("a reply");
    assert_eq!((refused.stop, refused.text.as_str()), (StopReason::Refusal, "I"));
}

#[tokio::test]
async fn usage_means_the_same_for_both() {
    let server = server(|request| Say::text("x").tokens(1000, 800, 50).to(request)).await;
    let expected = Usage { input: 200, cached_input: 800, output: 50, ..Usage::default() };
    for api in BOTH {
        let bench = Bench::new(config(api, &server.url()));
        let reply = bench.ask(&hello()).await.expect("a reply");
        assert_eq!(reply.usage, expected, "{api:?}");
        // 200 at $1, 800 at $0.10, 50 at $10 a million.
        let entry = bench.entries().remove(0);
        assert_eq!(entry.cost.expect("priced").nanos(), 200_000 + 80_000 + 500_000);
    }
}

#[tokio::test]
async fn usage_in_all_its_fields() {
    let mut body = openai(json!({"content": "x"}), json!("stop"));
    body["usage"] = json!({"prompt_tokens": 100, "completion_tokens": 30,
        "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 10},
        "completion_tokens_details": {"reasoning_tokens": 20}});
    let usage = reply(Api::OpenAi, body.clone()).await.expect("a reply").usage;
    let expected = Usage {
        input: 30,
        cached_input: 60,
        cache_creation: 10,
        output: 30,
        reasoning: 20,
        estimated: false,
    };
    assert_eq!(usage, expected);
    body["usage"] =
        json!({"prompt_tokens": 100, "completion_tokens": 1, "prompt_cache_hit_tokens": 40});
    let usage = reply(Api::OpenAi, body.clone()).await.expect("a reply").usage;
    assert_eq!((usage.input, usage.cached_input), (60, 40), "DeepSeek's field");
    body["usage"] = json!({"prompt_tokens": 10, "completion_tokens": 1,
        "prompt_tokens_details": {"cached_tokens": 40}});
    let usage = reply(Api::OpenAi, body).await.expect("a reply").usage;
    assert_eq!((usage.input, usage.cached_input), (0, 10), "never more than there were");
    let mut body = anthropic(json!([{"type": "text", "text": "x"}]), "end_turn");
    body["usage"] = json!({"input_tokens": 5, "cache_read_input_tokens": 7,
        "cache_creation_input_tokens": 11, "output_tokens": 13});
    let usage = reply(Api::Anthropic, body).await.expect("a reply").usage;
    assert_eq!((usage.input, usage.cached_input, usage.cache_creation), (5, 7, 11));
    assert_eq!(usage.total(), 36);
}

/// A cut reply is a reply, but its last call is not to be trusted, even if it looks whole.
#[tokio::test]
async fn cut_replies() {
    for api in BOTH {
        let stop = if api == Api::Anthropic { "max_tokens" } else { "length" };
        let server = server(move |request| {
            Say::call("a", "pay", json!({"to": "Ann"}))
                .and_call("b", "pay", json!({"to": "Bob"}))
                .stopped(stop)
                .to(request)
        })
        .await;
        let bench = Bench::new(config(api, &server.url()));
        let request = ChatRequest { tools: vec![pay()], ..hello() };
        let reply = bench.ask(&request).await.expect("a reply");
        assert_eq!(reply.stop, StopReason::Length);
        assert!(reply.tool_calls[0].arguments.valid().is_some());
        assert!(matches!(
            &reply.tool_calls[1].arguments,
            ParsedArguments::Invalid { mistake: CallMistake::Truncated, .. }
        ));
    }
}

#[tokio::test]
async fn pauses_and_words_nobody_knows() {
    let paused = reply(Api::Anthropic, anthropic(json!([]), "pause_turn")).await.expect("a reply");
    assert_eq!(paused.stop, StopReason::Paused);
    let text = json!([{"type": "text", "text": "x"}, {"type": "new_kind_of_block"}]);
    let other = reply(Api::Anthropic, anthropic(text, "tired")).await.expect("a reply");
    assert_eq!((other.stop, other.text.as_str()), (StopReason::Other("tired".into()), "x"));
    let window = anthropic(json!([]), "model_context_window_exceeded");
    let error = reply(Api::Anthropic, window).await.expect_err("nothing was said");
    assert_eq!(error.kind(), "context_overflow");
}

/// Model mistakes arrive as such, whatever the API.
#[tokio::test]
async fn mistakes_are_part_of_the_reply() {
    let server = server(|request| {
        Say::call("a", "steal", json!({}))
            .and_call("b", "pay", json!({"to": 5}))
            .and_call("b", "pay", json!({"to": "Ann"}))
            .and_call("c", "pay", json!({"to": "Ann"}))
            .to(request)
    })
    .await;
    for api in BOTH {
        let bench = Bench::new(config(api, &server.url()));
        let request = ChatRequest { tools: vec![pay()], ..hello() };
        let reply = bench.ask(&request).await.expect("a reply");
        let texts: Vec<Option<String>> = reply
            .tool_calls
            .iter()
            .map(|call| match &call.arguments {
                ParsedArguments::Valid(_) => None,
                ParsedArguments::Invalid { mistake, .. } => Some(mistake.to_string()),
            })
            .collect();
        assert!(texts[0].as_deref().expect("a mistake").contains("no tool `steal`"));
        assert!(texts[1].as_deref().expect("a mistake").contains("`to` must be of type string"));
        assert!(texts[2].as_deref().expect("a mistake").contains("two calls"));
        assert_eq!(texts[3], None);
        assert_eq!(bench.entries()[0].outcome, "ok");
    }
}

#[tokio::test]
async fn the_latency_is_that_of_the_attempt() {
    let wait = Duration::from_millis(60);
    let server = server(move |request| Say::text("x").to(request).after(wait)).await;
    let bench = Bench::new(config(Api::OpenAi, &server.url()));
    let reply = bench.ask(&hello()).await.expect("a reply");
    assert!(reply.latency >= wait);
    assert!(bench.entries()[0].latency_ms >= 60);
}
