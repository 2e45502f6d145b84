//! Whatever a server sends, and whatever calls cost.

use evosafe_llm::{BudgetExceeded, Caps, ChatRequest, CostBudget, Role, Spending};
use evosafe_testing::Answer;
use evosafe_types::{Api, Usd};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::bench::{BOTH, Bench, config, hello, pay, server};

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z{}\":]{0,8}".prop_map(Value::from),
        Just(json!("length")),
        Just(json!("tool_use")),
        Just(json!("text")),
        Just(json!("pay")),
        Just(json!({"to": 1})),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key(), inner), 0..6)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// Keys that the decoders look for.
fn key() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "content",
        "text",
        "type",
        "id",
        "name",
        "input",
        "function",
        "arguments",
        "tool_calls",
        "message",
        "error",
        "code",
        "usage",
        "prompt_tokens",
        "output_tokens",
        "stop_reason",
        "finish_reason",
        "choices",
        "model",
        "refusal",
        "reasoning",
    ])
    .prop_map(ToOwned::to_owned)
}

/// Put where the decoders look, so that not all of it is refused at the door.
fn body(api: Api, value: &Value, usage: &Value, reason: &Value) -> Value {
    match api {
        Api::OpenAi => json!({"usage": usage,
            "choices": [{"message": {"content": value["content"], "tool_calls": [value, value]},
                "finish_reason": reason}]}),
        Api::Anthropic => json!({"usage": usage, "stop_reason": reason,
            "content": [value, {"type": "tool_use", "name": "pay", "id": value, "input": value}]}),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// A reply or an error, never a panic; a call that is valid fits its schema.
    #[test]
    fn nonsense_from_a_server(
        value in json_value(),
        usage in json_value(),
        reason in json_value(),
        status in prop::sample::select(vec![200u16, 200, 200, 400, 404, 429, 500]),
        raw in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(async {
            for api in BOTH {
                let body = if raw { value.clone() } else { body(api, &value, &usage, &reason) };
                let server = server(move |_| Answer::json(status, &body)).await;
                let mut config = config(api, &server.url());
                config.limits.retries = 0;
                let bench = Bench::new(config);
                let request = ChatRequest { tools: vec![pay()], ..hello() };
                let Ok(reply) = bench.ask(&request).await else { continue };
                let mut ids: Vec<&str> = reply.tool_calls.iter().map(|c| c.id.as_str()).collect();
                ids.sort_unstable();
                ids.dedup();
                assert_eq!(ids.len(), reply.tool_calls.len());
                for call in &reply.tool_calls {
                    if let Some(arguments) = call.arguments.valid() {
                        assert!(call.name == "pay" && arguments["to"].is_string());
                    }
                }
                // The turn can be sent back.
                let mut next = request.clone();
                next.messages.push(reply.to_message());
                let _ = bench.ask(&next).await;
            }
        });
    }

    /// Calls that cost a fixed multiple of their estimate, started and settled in any order:
    /// what is spent is never beyond the cap by more than one call.
    #[test]
    fn the_cap_holds(
        cap in 1u64..2000,
        estimate in 1u64..100,
        multiple in 0u64..20,
        order in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>()), 1..200),
    ) {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.expect("a runtime").block_on(async {
            let caps = Caps { usd: Some(Usd::from_nanos(cap)), victim_tokens: None };
            let budget = CostBudget::new(caps, Spending::default());
            let (mut flying, cost) = (Vec::new(), estimate * multiple);
            for (start, which) in order {
                if start {
                    let room = budget.reserve(Role::Victim, "m", Some(Usd::from_nanos(estimate)), 1);
                    let soon = std::time::Duration::from_millis(1);
                    match tokio::time::timeout(soon, room).await {
                        Ok(Ok(reservation)) => flying.push(reservation),
                        Ok(Err(BudgetExceeded::Usd { spent, .. })) => {
                            assert!(spent.nanos() + estimate > cap);
                        }
                        Ok(Err(other)) => panic!("{other}"),
                        Err(_) => assert!(!flying.is_empty(), "waits for nobody"),
                    }
                } else if !flying.is_empty() {
                    let reservation = flying.swap_remove(which.index(flying.len()));
                    reservation.settle(Some(Usd::from_nanos(cost)), 1);
                }
            }
            flying.into_iter().for_each(|r| r.settle(Some(Usd::from_nanos(cost)), 1));
            assert!(budget.spent().usd.nanos() <= cap + cost);
        });
    }
}
