//! Concurrency, rates and the circuit breaker.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use evosafe_llm::{CallTag, Circuit, LlmError};
use evosafe_testing::{Fault, Say};
use evosafe_types::{Api, CallLimits};

use crate::bench::{Bench, config, hello, quick, server, tag, user};

#[tokio::test(flavor = "multi_thread")]
async fn no_more_at_once_than_allowed() {
    let wait = Duration::from_millis(30);
    let server = server(move |request| Say::text("x").to(request).after(wait)).await;
    let mut config = config(Api::OpenAi, &server.url());
    config.limits.concurrency = 3;
    let bench = Bench::new(config);
    let start = Instant::now();
    let mut calls = tokio::task::JoinSet::new();
    for n in 0..12 {
        let client = bench.client.clone();
        let tag = CallTag { turn: n, ..tag() };
        calls.spawn(async move { client.chat(&hello(), &tag).await });
    }
    while let Some(done) = calls.join_next().await {
        done.expect("no panic").expect("a reply");
    }
    assert!(start.elapsed() >= wait * 4, "twelve calls, three at a time: {:?}", start.elapsed());
}

#[tokio::test]
async fn requests_a_minute() {
    let server = server(|request| Say::text("x").to(request)).await;
    let mut config = config(Api::OpenAi, &server.url());
    // Ten a second, a hundred at once.
    config.limits.requests_per_minute = Some(600);
    let bench = Bench::new(config);
    let start = Instant::now();
    for n in 0..103 {
        bench.client.chat(&hello(), &CallTag { turn: n, ..tag() }).await.expect("a reply");
    }
    assert!(start.elapsed() >= Duration::from_millis(200), "{:?}", start.elapsed());
}

/// What a call really used is held against the calls after it.
#[tokio::test]
async fn tokens_a_minute() {
    let server = server(|request| Say::text("x").tokens(1000, 0, 1000).to(request)).await;
    let mut config = config(Api::OpenAi, &server.url());
    // A thousand a second, ten thousand at once: five replies, and then two seconds each.
    config.limits.tokens_per_minute = Some(60_000);
    let bench = Bench::new(config);
    let start = Instant::now();
    for n in 0..6 {
        bench.client.chat(&hello(), &CallTag { turn: n, ..tag() }).await.expect("a reply");
    }
    let elapsed = start.elapsed();
    assert!(elapsed < Duration::from_secs(1), "{elapsed:?}");
    bench.ask(&user("one more")).await.expect("a reply");
    let elapsed = start.elapsed();
    assert!(elapsed >= Duration::from_millis(1500), "{elapsed:?}");
}

#[tokio::test]
async fn the_circuit_opens_says_so_and_closes_again() {
    let (broken, calls) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicU32::new(0)));
    let (switch, counter) = (Arc::clone(&broken), Arc::clone(&calls));
    let server = server(move |request| {
        counter.fetch_add(1, Ordering::SeqCst);
        if switch.load(Ordering::SeqCst) {
            Fault::Internal.answer(request)
        } else {
            Say::text("x").to(request)
        }
    })
    .await;
    let mut config = config(Api::OpenAi, &server.url());
    config.limits =
        CallLimits { retries: 0, breaker_failures: 3, breaker_cooldown_s: 0.2, ..quick() };
    let bench = Bench::new(config);
    let endpoint = Arc::clone(bench.client.endpoint());
    for _ in 0..3 {
        assert_eq!(endpoint.circuit(), Circuit::Closed);
        assert_eq!(bench.ask(&hello()).await.expect_err("broken").kind(), "server");
    }
    let Circuit::Open { failures: 3, last, retry_in } = endpoint.circuit() else {
        panic!("{:?}", endpoint.circuit())
    };
    assert!(last.contains("Internal server error"), "{last}");
    assert!(retry_in <= Duration::from_millis(200));
    let error = bench.ask(&hello()).await.expect_err("refused");
    assert!(matches!(error, LlmError::CircuitOpen { failures: 3, .. }), "{error:?}");
    assert!(error.is_infrastructure() && !error.is_permanent());
    assert!(error.to_string().contains("paused"), "{error}");
    assert_eq!(calls.load(Ordering::SeqCst), 3, "nothing was sent");

    // Still broken: one call tries, and the circuit stays open.
    endpoint.ready().await;
    assert_eq!(bench.ask(&hello()).await.expect_err("broken").kind(), "server");
    assert_eq!(bench.ask(&hello()).await.expect_err("refused").kind(), "circuit_open");
    assert_eq!(calls.load(Ordering::SeqCst), 4);

    broken.store(false, Ordering::SeqCst);
    endpoint.ready().await;
    assert_eq!(bench.ask(&hello()).await.expect("works again").text, "x");
    assert_eq!(endpoint.circuit(), Circuit::Closed);
}

#[tokio::test]
async fn one_call_tries_and_one_that_is_given_up_does_not_block_the_next() {
    let hang = Arc::new(AtomicBool::new(false));
    let switch = Arc::clone(&hang);
    let server = server(move |request| {
        if switch.load(Ordering::SeqCst) {
            evosafe_testing::Answer::Hang
        } else {
            Fault::Internal.answer(request)
        }
    })
    .await;
    let mut config = config(Api::OpenAi, &server.url());
    config.limits = CallLimits {
        retries: 0,
        breaker_failures: 1,
        breaker_cooldown_s: 0.01,
        call_timeout_s: 30.0,
        ..quick()
    };
    let bench = Bench::new(config);
    bench.ask(&hello()).await.expect_err("broken");
    hang.store(true, Ordering::SeqCst);
    let endpoint = Arc::clone(bench.client.endpoint());
    endpoint.ready().await;
    let client = bench.client.clone();
    let trial = tokio::spawn(async move { client.chat(&hello(), &tag()).await });
    while endpoint.circuit() != Circuit::HalfOpen {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(bench.ask(&hello()).await.expect_err("one at a time").kind(), "circuit_open");
    trial.abort();
    assert!(trial.await.expect_err("aborted").is_cancelled());
    hang.store(false, Ordering::SeqCst);
    assert_eq!(bench.ask(&hello()).await.expect_err("tries").kind(), "server");
}

/// Requests that the endpoint does not like say nothing about its health.
#[tokio::test]
async fn bad_requests_do_not_open_the_circuit() {
    let server = server(|request| Fault::BadRequest.answer(request)).await;
    let mut config = config(Api::OpenAi, &server.url());
    config.limits.breaker_failures = 1;
    let bench = Bench::new(config);
    for _ in 0..3 {
        assert_eq!(bench.ask(&hello()).await.expect_err("refused").kind(), "bad_request");
    }
    assert_eq!(bench.client.endpoint().circuit(), Circuit::Closed);
}
