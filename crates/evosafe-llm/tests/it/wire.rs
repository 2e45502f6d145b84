//! What goes over the wire, exactly.

use evosafe_llm::{
    CallMistake, ChatRequest, JsonSchema, Message, ParsedArguments, ToolCall, ToolChoice,
};
use evosafe_testing::Say;
use evosafe_types::{Api, ModelConfig};
use serde_json::{Value, json};

use crate::bench::{BOTH, Bench, KEY, config, hello, pay, server};

fn call(id: &str, to: &str) -> ToolCall {
    let arguments = json!({"to": to}).as_object().cloned().expect("an object");
    ToolCall {
        id: id.to_owned(),
        name: "pay".to_owned(),
        arguments: ParsedArguments::Valid(arguments),
        extra: None,
    }
}

fn result(id: &str, content: &str, is_error: bool) -> Message {
    Message::ToolResult { id: id.to_owned(), content: content.to_owned(), is_error }
}

/// A conversation with everything in it.
fn rich() -> ChatRequest {
    let mut broken = call("call_2", "");
    broken.arguments = ParsedArguments::Invalid {
        mistake: CallMistake::NotJson("EOF".to_owned()),
        raw: "{\"to\":".to_owned(),
    };
    let turn = |text: &str, tool_calls| Message::Assistant {
        text: text.to_owned(),
        tool_calls,
        reasoning: vec![],
    };
    ChatRequest {
        system: "You pay people.".to_owned(),
        messages: vec![
            Message::User("Pay Ann and Bob".to_owned()),
            turn("I will.", vec![call("call_0", "Ann"), call("call_1", "Bob"), broken]),
            result("call_0", "paid", false),
            result("call_1", "Refused by security policy: no", true),
            result("call_2", "Error: the arguments are not valid JSON: EOF", true),
            turn("", vec![call("call_3", "Bob")]),
            result("call_3", "", false),
            result("call_4", "", true),
            result("call_5", "", false),
        ],
        tools: vec![pay()],
        ..ChatRequest::default()
    }
}

async fn sent(config: impl Fn(&str) -> ModelConfig, request: &ChatRequest) -> Value {
    let server = server(|request| Say::text("Done.").to(request)).await;
    let bench = Bench::new(config(&server.url()));
    bench.ask(request).await.expect("a reply");
    server.received()[0].json()
}

#[tokio::test]
async fn a_conversation_with_openai() {
    let body = sent(|url| config(Api::OpenAi, url), &rich()).await;
    insta::assert_json_snapshot!("openai_conversation", body);
}

#[tokio::test]
async fn a_conversation_with_anthropic() {
    let body = sent(|url| config(Api::Anthropic, url), &rich()).await;
    insta::assert_json_snapshot!("anthropic_conversation", body);
}

#[tokio::test]
async fn every_option() {
    let request = ChatRequest {
        system: "s".to_owned(),
        tools: vec![pay()],
        tool_choice: ToolChoice::Tool("pay".to_owned()),
        json_schema: Some(JsonSchema {
            name: "verdict".to_owned(),
            schema: json!({"type": "object", "additionalProperties": false}),
        }),
        max_tokens: Some(77),
        ..hello()
    };
    let options = |api, seed| {
        move |url: &str| ModelConfig {
            temperature: Some(0.0),
            seed,
            reasoning_effort: Some("high".to_owned()),
            prompt_cache: false,
            ..config(api, url)
        }
    };
    insta::assert_json_snapshot!(
        "openai_options",
        sent(options(Api::OpenAi, Some(5)), &request).await
    );
    insta::assert_json_snapshot!(
        "anthropic_options",
        sent(options(Api::Anthropic, None), &request).await
    );
    // A request's own seed comes first.
    let request = ChatRequest { seed: Some(6), ..request };
    assert_eq!(sent(options(Api::OpenAi, Some(5)), &request).await["seed"], 6);
    assert_eq!(sent(options(Api::Anthropic, None), &request).await["seed"], Value::Null);
}

#[tokio::test]
async fn tool_choices() {
    let mut request = ChatRequest { tools: vec![pay()], ..hello() };
    for (choice, openai, anthropic) in [
        (ToolChoice::Auto, json!(null), json!(null)),
        (ToolChoice::None, json!("none"), json!({"type": "none"})),
        (ToolChoice::Required, json!("required"), json!({"type": "any"})),
    ] {
        request.tool_choice = choice;
        let body = sent(|url| config(Api::OpenAi, url), &request).await;
        assert_eq!(body["tool_choice"], openai);
        let body = sent(|url| config(Api::Anthropic, url), &request).await;
        assert_eq!(body["tool_choice"], anthropic);
    }
    request.tools.clear();
    for api in BOTH {
        let body = sent(|url| config(api, url), &request).await;
        assert_eq!(body.get("tool_choice"), None, "a choice without tools is refused by APIs");
        assert_eq!(body.get("tools"), None);
    }
}

#[tokio::test]
async fn keys_and_paths() {
    let server = server(|request| Say::text("Hi").to(request)).await;
    let v1 = format!("{}/v1/", server.url());
    for (api, url) in
        [(Api::OpenAi, v1.clone()), (Api::Anthropic, server.url()), (Api::Anthropic, v1)]
    {
        Bench::new(config(api, &url)).ask(&hello()).await.expect("a reply");
    }
    let received = server.received();
    assert_eq!(received[0].path, "/v1/chat/completions");
    assert_eq!(received[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    for anthropic in &received[1..] {
        assert_eq!(anthropic.path, "/v1/messages");
        assert_eq!(anthropic.header("x-api-key"), Some(KEY));
        assert_eq!(anthropic.header("anthropic-version"), Some("2023-06-01"));
        assert_eq!(anthropic.header("authorization"), None);
    }
    assert_eq!(received[0].header("content-type"), Some("application/json"));
}

/// Thinking must come back as it was, before the calls it led to.
#[tokio::test]
async fn reasoning_goes_back_untouched() {
    let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "EqQB+/="});
    let script = move |request: &evosafe_testing::Received| {
        let body = if request.is_anthropic() {
            json!({"model": "m", "stop_reason": "tool_use", "content": [thinking.clone(),
                {"type": "tool_use", "id": "a", "name": "pay", "input": {"to": "Ann"}}],
                "usage": {"input_tokens": 1, "output_tokens": 1}})
        } else {
            json!({"choices": [{"finish_reason": "tool_calls", "message": {"content": null,
                "reasoning_content": "hm",
                "tool_calls": [{"id": "a", "type": "function",
                    "extra_content": {"google": {"thought_signature": "x"}},
                    "function": {"name": "pay", "arguments": "{\"to\":\"Ann\"}"}}]}}]})
        };
        evosafe_testing::Answer::json(200, &body)
    };
    let server = server(script).await;
    for api in BOTH {
        let bench = Bench::new(config(api, &server.url()));
        let mut request = ChatRequest { tools: vec![pay()], ..hello() };
        let reply = bench.ask(&request).await.expect("a reply");
        request.messages.push(reply.to_message());
        request.messages.push(result("a", "paid", false));
        bench.ask(&request).await.expect("a reply");
        let body = server.received().last().expect("sent").json();
        let turn = &body["messages"][1];
        if api == Api::Anthropic {
            assert_eq!(turn["content"][0]["signature"], "EqQB+/=");
            assert_eq!(turn["content"][1]["type"], "tool_use");
        } else {
            assert_eq!(turn["reasoning_content"], "hm");
            let extra = &turn["tool_calls"][0]["extra_content"];
            assert_eq!(extra["google"]["thought_signature"], "x");
        }
    }
}
