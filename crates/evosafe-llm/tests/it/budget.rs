//! The cap holds to within one call.

use std::sync::Arc;
use std::time::Duration;

use evosafe_llm::{BudgetExceeded, CallTag, Caps, CostBudget, LlmError, Role, Spending};
use evosafe_testing::{Answer, Fault, Say};
use evosafe_types::{Api, Usd};

use crate::bench::{Bench, config, hello, server, tag, usd, user};

fn usd_cap(dollars: f64) -> Caps {
    Caps { usd: Some(usd(dollars)), victim_tokens: None }
}

/// Sixteen at a time, until the budget says no; returns what they cost and how many there were.
async fn spend(bench: &Bench, calls: u32) -> (Usd, usize, usize) {
    let mut running = tokio::task::JoinSet::new();
    let (mut paid, mut refused, mut next) = (0, 0, 0);
    loop {
        while next < calls && running.len() < 16 {
            let client = bench.client.clone();
            let tag = CallTag { turn: next, ..tag() };
            running.spawn(async move { client.chat(&user(&format!("{next}")), &tag).await });
            next += 1;
        }
        let Some(done) = running.join_next().await else { break };
        match done.expect("no panic") {
            Ok(_) => paid += 1,
            Err(LlmError::Budget(BudgetExceeded::Usd { .. })) => refused += 1,
            Err(other) => panic!("{other}"),
        }
    }
    let cost: Usd = bench.entries().iter().filter_map(|entry| entry.cost).sum();
    assert_eq!(cost, bench.budget.spent().usd, "ledger and budget agree");
    (cost, paid, refused)
}

/// Replies far below the estimate: the money is used up to the last estimate that fits.
#[tokio::test(flavor = "multi_thread")]
async fn cheap_replies() {
    let wait = Duration::from_millis(5);
    let server = server(move |r| Say::text("x").tokens(50, 0, 95).to(r).after(wait)).await;
    // Each costs $0.001; the estimate is a little over $0.01 (1000 tokens of reply).
    let bench = Bench::with(config(Api::OpenAi, &server.url()), usd_cap(0.1), None);
    let (cost, paid, refused) = spend(&bench, 150).await;
    assert!(cost <= usd(0.1), "{cost}");
    assert!(cost >= usd(0.085), "{cost}: not given up before the money is gone");
    assert_eq!(paid + refused, 150);
    assert!(refused > 0);
}

/// Replies ten times as dear as the estimate, from the first on.
#[tokio::test(flavor = "multi_thread")]
async fn replies_dearer_than_the_estimate() {
    let wait = Duration::from_millis(5);
    // $0.1 each; the estimate is a little over $0.01.
    let server = server(move |r| Say::text("x").tokens(0, 0, 10_000).to(r).after(wait)).await;
    for cap in [0.05, 0.31, 1.0] {
        let bench = Bench::with(config(Api::OpenAi, &server.url()), usd_cap(cap), None);
        let (cost, paid, _) = spend(&bench, 40).await;
        assert!(paid > 0);
        assert!(cost <= usd(cap) + usd(0.1), "cap {cap}: {cost}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn victim_tokens_are_capped_and_those_of_others_are_not() {
    let server = server(|r| Say::text("x").tokens(100, 0, 100).to(r)).await;
    let caps = Caps { usd: None, victim_tokens: Some(5000) };
    let bench = Bench::with(config(Api::OpenAi, &server.url()), caps, None);
    let designer = CallTag::new(Role::Designer, "search");
    let mut victim = 0;
    for _ in 0..40 {
        bench.client.chat(&hello(), &designer).await.expect("not capped");
        match bench.ask(&hello()).await {
            Ok(_) => victim += 1,
            Err(LlmError::Budget(BudgetExceeded::VictimTokens { cap: 5000, spent, .. })) => {
                assert_eq!(spent, victim * 200);
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert!((15..=25).contains(&victim), "{victim}");
    assert_eq!(bench.budget.spent().victim_tokens, victim * 200);
}

#[tokio::test]
async fn a_cap_in_money_needs_a_price() {
    let server = server(|r| Say::text("x").to(r)).await;
    let mut config = config(Api::OpenAi, &server.url());
    config.model = "unknown".to_owned();
    let bench = Bench::with(config.clone(), usd_cap(1.0), None);
    let error = bench.ask(&hello()).await.expect_err("no price");
    assert!(error.is_permanent());
    assert!(error.to_string().contains("no price for the model `unknown`"), "{error}");
    assert!(server.received().is_empty());
    // Without a cap the cost is unknown, and not nothing.
    let bench = Bench::new(config);
    bench.ask(&hello()).await.expect("a reply");
    assert_eq!(bench.entries()[0].cost, None);
}

#[tokio::test]
async fn what_was_not_spent_is_given_back() {
    let server = server(|request| match request.body.contains("fails") {
        true => Fault::BadRequest.answer(request),
        false => Answer::Hang,
    })
    .await;
    let mut config = config(Api::OpenAi, &server.url());
    config.limits.call_timeout_s = 60.0;
    // Room for one estimate and a half.
    let bench = Bench::with(config, usd_cap(0.015), None);
    for _ in 0..3 {
        assert_eq!(bench.ask(&user("fails")).await.expect_err("fails").kind(), "bad_request");
    }
    for _ in 0..2 {
        let client = bench.client.clone();
        let call = tokio::spawn(async move { client.chat(&user("hangs"), &tag()).await });
        let before = server.received().len();
        while server.received().len() == before {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        call.abort();
        assert!(call.await.expect_err("aborted").is_cancelled());
    }
    assert_eq!(bench.budget.spent(), Spending::default());
}

#[tokio::test]
async fn what_was_spent_before_counts() {
    let spent = Spending { usd: usd(0.9), victim_tokens: 10 };
    let budget = CostBudget::new(usd_cap(1.0), spent);
    let tight = budget.reserve(Role::Victim, "m", Some(usd(0.2)), 1).await;
    assert_eq!(
        tight.expect_err("too much"),
        BudgetExceeded::Usd { cap: usd(1.0), spent: usd(0.9), estimate: usd(0.2) }
    );
    let fits = budget.reserve(Role::Victim, "m", Some(usd(0.1)), 1).await.expect("fits");
    fits.settle(Some(usd(0.1)), 7);
    assert_eq!(budget.spent(), Spending { usd: usd(1.0), victim_tokens: 17 });
}

/// A model that nobody has seen a reply of is not trusted to keep to its estimate, however
/// well others do.
#[tokio::test]
async fn new_models_go_one_by_one() {
    let budget = CostBudget::new(usd_cap(1.0), Spending::default());
    let estimate = || Some(usd(0.01));
    let known = budget.reserve(Role::Victim, "known", estimate(), 1).await.expect("fits");
    let waits = Duration::from_millis(20);
    let second = budget.reserve(Role::Victim, "new", estimate(), 1);
    assert!(tokio::time::timeout(waits, second).await.is_err(), "two at once");
    known.settle(Some(usd(0.01)), 1);
    let new = budget.reserve(Role::Victim, "new", estimate(), 1).await.expect("alone");
    let other = budget.reserve(Role::Victim, "known", estimate(), 1).await.expect("is known");
    // The new one costs thirty times its estimate: from now on it counts as that.
    new.settle(Some(usd(0.3)), 1);
    let first = budget.reserve(Role::Victim, "new", estimate(), 1).await.expect("0.6 in all");
    let second = budget.reserve(Role::Victim, "new", estimate(), 1).await.expect("0.9 in all");
    let third = Arc::clone(&budget);
    let third = tokio::spawn(async move {
        third.reserve(Role::Victim, "new", Some(usd(0.01)), 1).await.map(|r| r.settle(None, 0))
    });
    tokio::time::sleep(waits).await;
    assert!(!third.is_finished(), "1.2 might be spent");
    drop((first, second, other));
    third.await.expect("no panic").expect("there is room again");
}
