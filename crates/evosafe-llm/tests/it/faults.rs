//! Every fault has one outcome, with both APIs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use evosafe_llm::{CallTag, ChatRequest, LlmError, ParsedArguments};
use evosafe_testing::{Answer, Fault, Faults, Say};
use evosafe_types::{Api, CallLimits};

use crate::bench::{BOTH, Bench, config, hello, pay, quick, server, tag, user};

/// A server that fails `times` times and then answers.
async fn failing(fault: Fault, times: u32) -> (evosafe_testing::Server, Arc<AtomicU32>) {
    let calls = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&calls);
    let server = server(move |request| {
        let n = counter.fetch_add(1, Ordering::SeqCst);
        if n < times { fault.answer(request) } else { Say::text("Here.").to(request) }
    })
    .await;
    (server, calls)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_pass_is_tried_again() {
    for api in BOTH {
        for fault in Fault::TRANSIENT {
            let (server, calls) = failing(fault, 2).await;
            let bench = Bench::new(config(api, &server.url()));
            let reply = bench.ask(&hello()).await;
            let reply = reply.unwrap_or_else(|e| panic!("{api:?} {fault:?}: {e}"));
            assert_eq!(reply.text, "Here.");
            assert_eq!(calls.load(Ordering::SeqCst), 3, "{api:?} {fault:?}");
            assert_eq!(bench.entries().len(), 1, "one reply was paid for");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_pass_is_infrastructure_and_says_which() {
    for api in BOTH {
        for fault in Fault::TRANSIENT {
            let (server, calls) = failing(fault, u32::MAX).await;
            let mut config = config(api, &server.url());
            config.limits.retries = 1;
            let bench = Bench::new(config);
            let error = bench.ask(&hello()).await.expect_err("never an answer");
            let kind = match fault {
                Fault::RateLimited | Fault::RetryAfter | Fault::RetryAfterDate => "rate_limited",
                Fault::Close | Fault::Broken | Fault::Garbage => "connection",
                Fault::Stalled | Fault::Hang => "timeout",
                Fault::NotJson | Fault::NoReply => "malformed",
                _ => "server",
            };
            assert_eq!(error.kind(), kind, "{api:?} {fault:?}: {error}");
            assert!(error.is_infrastructure() && !error.is_permanent(), "{error}");
            assert!(error.to_string().contains(&server.url()), "names the endpoint: {error}");
            assert_eq!(calls.load(Ordering::SeqCst), 2, "{api:?} {fault:?}");
            assert!(bench.entries().is_empty());
        }
    }
}

#[tokio::test]
async fn what_cannot_pass_is_not_tried_again() {
    for api in BOTH {
        for fault in Fault::PERMANENT {
            let (server, calls) = failing(fault, 1).await;
            let bench = Bench::new(config(api, &server.url()));
            let error = bench.ask(&hello()).await.expect_err("refused");
            let (kind, permanent) = match fault {
                Fault::Unauthorized | Fault::Forbidden => ("auth", true),
                Fault::UnknownModel => ("bad_request", true),
                Fault::NoCredit => ("quota", true),
                _ => ("bad_request", false),
            };
            assert_eq!(error.kind(), kind, "{api:?} {fault:?}: {error}");
            assert!(error.is_infrastructure());
            assert_eq!(error.is_permanent(), permanent, "{fault:?}");
            assert_eq!(calls.load(Ordering::SeqCst), 1, "{api:?} {fault:?}");
        }
    }
}

#[tokio::test]
async fn behaviour_is_not_infrastructure_and_is_paid_for() {
    for api in BOTH {
        for fault in Fault::BEHAVIOUR {
            let (server, calls) = failing(fault, 1).await;
            let bench = Bench::new(config(api, &server.url()));
            let error = bench.ask(&hello()).await.expect_err("no reply");
            let (kind, paid) = match fault {
                Fault::ContextOverflow => ("context_overflow", false),
                Fault::PromptFiltered => ("content_filter", false),
                Fault::ReplyFiltered => ("content_filter", true),
                Fault::Truncated => ("truncated", true),
                _ => ("empty", true),
            };
            assert_eq!(error.kind(), kind, "{api:?} {fault:?}: {error}");
            assert!(!error.is_infrastructure());
            assert_eq!(calls.load(Ordering::SeqCst), 1);
            let entry = bench.entries().remove(0);
            assert_eq!(entry.outcome, kind);
            assert_eq!(entry.usage.total() > 0, paid, "{fault:?}");
        }
    }
}

#[tokio::test]
async fn a_mistake_in_a_call_is_said_and_nothing_is_executed() {
    for api in BOTH {
        for fault in Fault::MISTAKES {
            let (server, _) = failing(fault, 1).await;
            let bench = Bench::new(config(api, &server.url()));
            let reply = bench.ask(&ChatRequest { tools: vec![pay()], ..hello() }).await;
            let reply = reply.unwrap_or_else(|e| panic!("{api:?} {fault:?}: {e}"));
            let mistakes: Vec<String> = reply
                .tool_calls
                .iter()
                .map(|call| match &call.arguments {
                    ParsedArguments::Invalid { mistake, .. } => mistake.to_string(),
                    ParsedArguments::Valid(_) => panic!("{api:?} {fault:?}: it would be executed"),
                })
                .collect();
            let says: &[&str] = match fault {
                Fault::BrokenArguments => &["not valid JSON"],
                Fault::UnknownTool => &["there is no tool `no_such_tool`"],
                Fault::WrongArguments => &["must be a JSON object"],
                _ => &["must be a JSON object", "two calls of one turn have the id"],
            };
            assert_eq!(mistakes.len(), says.len(), "{api:?} {fault:?}: {mistakes:?}");
            for (mistake, says) in mistakes.iter().zip(says) {
                assert!(mistake.contains(says), "{api:?} {fault:?}: {mistake}");
            }
            assert_eq!(bench.entries().remove(0).outcome, "ok");
        }
    }
}

#[tokio::test]
async fn words_of_other_servers() {
    for (status, body, kind) in [
        (
            400,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size","type":"exceed_context_size_error"}}"#,
            "context_overflow",
        ),
        (
            400,
            r#"{"object":"error","message":"This model's maximum context length is 4096 tokens","type":"BadRequestError","code":400}"#,
            "context_overflow",
        ),
        (413, "too large", "context_overflow"),
        (
            400,
            r#"{"error":{"code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation"},"message":"x"}}"#,
            "content_filter",
        ),
        (
            403,
            r#"{"error":{"code":403,"message":"Your chosen model requires moderation and your input was flagged"}}"#,
            "content_filter",
        ),
        (402, r#"{"error":{"message":"Insufficient Balance"}}"#, "quota"),
        (200, r#"{"error":{"code":402,"message":"Insufficient credits"}}"#, "quota"),
        (
            429,
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"x","details":{"error_code":"enforced_spend_limit_reached"}}}"#,
            "quota",
        ),
        (
            400,
            r#"[{"error":{"code":400,"message":"input is too long: context window exceeded"}}]"#,
            "context_overflow",
        ),
        (422, r#"{"detail":"temperature: not a number"}"#, "bad_request"),
        (301, "", "bad_request"),
    ] {
        let server = server(move |_| Answer::text(status, body)).await;
        let bench = Bench::new(config(Api::OpenAi, &server.url()));
        let error = bench.ask(&hello()).await.expect_err(body);
        assert_eq!(error.kind(), kind, "{body}: {error}");
        assert_eq!(server.received().len(), 1, "{body}");
    }
}

#[tokio::test]
async fn the_wait_that_the_endpoint_asks_for_is_waited_out() {
    for (name, value) in [("retry-after", "0.3"), ("retry-after-ms", "300")] {
        let calls = AtomicU32::new(0);
        let server = server(move |request| match calls.fetch_add(1, Ordering::SeqCst) {
            0 => Fault::Unavailable.answer(request).with_header(name, value),
            _ => Say::text("x").to(request),
        })
        .await;
        let bench = Bench::new(config(Api::OpenAi, &server.url()));
        let start = Instant::now();
        bench.ask(&hello()).await.expect("a reply");
        assert!(start.elapsed() >= Duration::from_millis(300), "{:?}", start.elapsed());
    }
}

/// Others do not walk into the same wall: the endpoint counts that against us.
#[tokio::test]
async fn a_wait_holds_for_all_calls() {
    let calls = AtomicU32::new(0);
    let server = server(move |request| match calls.fetch_add(1, Ordering::SeqCst) {
        0 => Fault::RateLimited.answer(request).with_header("retry-after", "0.3"),
        _ => Say::text("x").to(request),
    })
    .await;
    let bench = Bench::new(config(Api::OpenAi, &server.url()));
    let client = bench.client.clone();
    let first = tokio::spawn(async move { client.chat(&hello(), &tag()).await });
    while server.received().is_empty() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    tokio::time::sleep(Duration::from_millis(30)).await;
    let start = Instant::now();
    bench.ask(&user("another")).await.expect("a reply");
    assert!(start.elapsed() >= Duration::from_millis(150), "{:?}", start.elapsed());
    first.await.expect("ends").expect("a reply");
}

#[tokio::test]
async fn a_wait_beyond_the_total_time_ends_the_call_at_once() {
    let server =
        server(|request| Fault::RateLimited.answer(request).with_header("retry-after", "3600"))
            .await;
    let bench = Bench::new(config(Api::OpenAi, &server.url()));
    let start = Instant::now();
    let error = bench.ask(&hello()).await.expect_err("no time");
    assert_eq!(error.kind(), "rate_limited");
    assert!(start.elapsed() < Duration::from_secs(5));
}

/// Nor do the calls after it wait for an hour in silence.
#[tokio::test]
async fn a_wait_for_all_calls_is_no_longer_than_a_call_may_take() {
    let server =
        server(|request| Fault::RateLimited.answer(request).with_header("retry-after", "3600"))
            .await;
    let mut config = config(Api::OpenAi, &server.url());
    config.limits.total_timeout_s = 0.3;
    let bench = Bench::new(config);
    let start = Instant::now();
    for _ in 0..2 {
        assert_eq!(bench.ask(&hello()).await.expect_err("no time").kind(), "rate_limited");
    }
    assert!(start.elapsed() >= Duration::from_millis(300), "{:?}", start.elapsed());
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[tokio::test]
async fn the_total_time_bounds_all_attempts() {
    let server = server(|_| Answer::Hang).await;
    let mut config = config(Api::OpenAi, &server.url());
    let limits = CallLimits { total_timeout_s: 0.5, call_timeout_s: 0.2, retries: 20, ..quick() };
    config.limits = limits;
    let bench = Bench::new(config);
    let start = Instant::now();
    let error = bench.ask(&hello()).await.expect_err("no reply");
    assert!(matches!(error, LlmError::Timeout { attempts: 3, .. }), "{error:?}");
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    // Also where one attempt might take longer than all may.
    let mut config = crate::bench::config(Api::OpenAi, &server.url());
    config.limits = CallLimits { total_timeout_s: 0.5, call_timeout_s: 60.0, ..quick() };
    let start = Instant::now();
    let error = Bench::new(config).ask(&hello()).await.expect_err("no reply");
    assert!(matches!(error, LlmError::Timeout { attempts: 1, .. }), "{error:?}");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[tokio::test]
async fn nobody_is_there() {
    let mut config = config(Api::OpenAi, "http://127.0.0.1:9");
    config.limits.retries = 1;
    let error = Bench::new(config).ask(&hello()).await.expect_err("nobody");
    assert!(matches!(error, LlmError::Connection { attempts: 2, .. }), "{error:?}");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let server = server(|request| {
        if request.path == "/elsewhere" {
            return Say::text("stolen").to(request);
        }
        Answer::text(307, "").with_header("location", "/elsewhere")
    })
    .await;
    let error = Bench::new(config(Api::OpenAi, &server.url())).ask(&hello()).await;
    assert_eq!(error.expect_err("refused").kind(), "bad_request");
    assert_eq!(server.received().len(), 1);
}

/// Three calls in ten fail, in every way that can pass: all are answered in the end, as
/// without faults, and each is paid for once.
#[tokio::test(flavor = "multi_thread")]
async fn a_storm_of_faults() {
    for api in BOTH {
        let script = |request: &evosafe_testing::Received| {
            Say::text(format!("re: {}", request.json()["messages"][0]["content"])).to(request)
        };
        let calm = server(script).await;
        let storm = server(Faults::transient(11, 0.3).over(script)).await;
        let mut texts = Vec::new();
        for server in [&calm, &storm] {
            let bench = Bench::new(config(api, &server.url()));
            let mut calls = tokio::task::JoinSet::new();
            for n in 0..60 {
                let client = bench.client.clone();
                calls.spawn(async move {
                    let tag = CallTag { turn: n, ..tag() };
                    (n, client.chat(&user(&format!("question {n}")), &tag).await)
                });
            }
            let mut replies: Vec<(u32, String)> = Vec::new();
            while let Some(done) = calls.join_next().await {
                let (n, reply) = done.expect("no panic");
                replies.push((n, reply.unwrap_or_else(|e| panic!("{n}: {e}")).text));
            }
            replies.sort();
            assert_eq!(bench.entries().len(), 60);
            texts.push(replies);
        }
        assert_eq!(texts[0], texts[1]);
        let (few, many) = (calm.received().len(), storm.received().len());
        assert_eq!(few, 60);
        assert!(many > 75, "{many} requests: there were faults");
    }
}
