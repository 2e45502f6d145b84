//! Searches with live victims, through the binary, against scripted servers of both APIs.

use std::process::Command;
use std::time::Duration;

use evosafe_e2e::small::{self, KEY};
use evosafe_e2e::{Endpoint, Run, Workspace, holds};
use evosafe_testing::{Faults, Received};
use serde_json::Value;

const CONCURRENCY: usize = 4;

/// A small search with a live victim at `url`.
fn spec(work: &Workspace, api: &str, url: &str, more: &str) {
    small::write(work, &(small::model("victim", api, url, CONCURRENCY) + more));
}

fn command(work: &Workspace, more: &[&str]) -> Command {
    small::command(work, &[&["--concurrency", "4"], more].concat())
}

fn search(work: &Workspace, more: &[&str]) -> Run {
    small::search(work, &[&["--concurrency", "4"], more].concat())
}

fn cost(work: &Workspace) -> Value {
    work.run(&["cost", "--json"]).json()
}

#[test]
fn a_search_pays_once_is_accounted_for_and_plays_without_a_key() {
    let (work, endpoint) = (Workspace::new(), Endpoint::sound());
    spec(&work, "openai", &endpoint.url("openai"), "");
    let found = search(&work, &[]).json();
    assert!(found["wide_score"].as_f64() > found["h0_wide_score"].as_f64(), "{found}");
    assert_eq!(found["unassessed"], 0);
    let paid = endpoint.calls();
    let total = &cost(&work)["total"];
    assert_eq!(total["calls"].as_u64(), Some(paid as u64));
    assert!(total["cost_nano_usd"].as_u64() > Some(0));
    assert_eq!(total["unpriced"], 0);
    let header = endpoint.received()[0].header("authorization").map(str::to_owned);
    assert_eq!(header, Some(format!("Bearer {KEY}")));
    assert!(!holds(&work.archive(), KEY), "the key is in the archive");
    // Again, and with evidence lost but the recording there: nothing is sent.
    assert_eq!(search(&work, &[]).json()["best"], found["best"]);
    let calls = work.archive().join("evosafe/calls");
    let other = Workspace::new();
    spec(&other, "openai", &endpoint.url("openai"), "");
    std::fs::create_dir_all(other.archive().join("evosafe/calls")).expect("a folder");
    let replies = "evosafe/calls/replies.jsonl";
    std::fs::copy(work.archive().join(replies), other.archive().join(replies)).expect("copies");
    let mut replay = command(&other, &["--replay-calls"]);
    let played: Run = replay.env_remove("SCRIPTED_KEY").output().expect("it starts").into();
    assert_eq!(played.json()["best"], found["best"]);
    assert_eq!(endpoint.calls(), paid, "calls were paid for twice");
    assert_eq!(cost(&other)["total"]["calls"], 0);
    let estimate = ["estimate", "small", "--prices", "prices.toml", "--json"];
    let estimate = work.run(&estimate).json();
    assert!(estimate["source"]["recorded"]["episodes"].as_u64() > Some(0), "{estimate}");
    let trace = work.run(&["export", "best", "-o", "winner"]);
    assert_eq!(trace.code, Some(0), "{}", trace.stderr);
    assert!(calls.join("ledger.jsonl").exists());
}

#[test]
fn both_apis_and_a_faulty_endpoint_end_with_the_same_winner() {
    let (work, endpoint) = (Workspace::new(), Endpoint::sound());
    spec(&work, "openai", &endpoint.url("openai"), "");
    let expected = search(&work, &[]).json();
    for (api, share) in [("anthropic", 0.0), ("openai", 0.3)] {
        let (work, endpoint) = (
            Workspace::new(),
            Endpoint::new(|model| {
                Box::new(
                    Faults::transient(7, share).over(move |request: &Received| model.say(request)),
                )
            }),
        );
        spec(&work, api, &endpoint.url(api), "");
        let found = search(&work, &[]).json();
        assert_eq!(found["best"], expected["best"], "{api} with faults {share}");
        assert_eq!(found["wide_score"], expected["wide_score"]);
        assert_eq!(found["unassessed"], 0);
    }
}

#[test]
fn killed_and_resumed_pays_for_no_more_than_what_was_in_flight() {
    let (whole, endpoint) = (Workspace::new(), Endpoint::sound());
    let url = endpoint.url("openai");
    spec(&whole, "openai", &url, "");
    let expected = search(&whole, &[]).json();
    let needed = endpoint.calls();
    let cut = Workspace::new();
    spec(&cut, "openai", &url, "");
    let mut kills = 0;
    for millis in [700, 1500, 2500] {
        let mut child = command(&cut, &[])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("the binary starts");
        std::thread::sleep(Duration::from_millis(millis));
        child.kill().expect("it can be killed");
        kills += usize::from(child.wait().expect("it ends").code().is_none());
    }
    let resumed = search(&cut, &[]).json();
    assert_eq!(resumed["best"], expected["best"]);
    let made = endpoint.calls() - needed;
    let most = needed + kills * CONCURRENCY;
    assert!(made >= needed && made <= most, "{made} calls, at most {most} expected");
}

#[test]
fn what_is_wrong_is_said_and_nothing_is_lost() {
    let (work, endpoint) = (Workspace::new(), Endpoint::sound());
    let url = endpoint.url("openai");
    spec(&work, "openai", &url, "");
    let mut keyless = command(&work, &[]);
    let keyless: Run = keyless.env_remove("SCRIPTED_KEY").output().expect("it starts").into();
    assert_eq!(keyless.code, Some(3), "{}", keyless.stderr);
    assert!(keyless.stderr.contains("environment variable SCRIPTED_KEY"), "{}", keyless.stderr);
    // A budget that ends in the middle of the reference, then one that is enough.
    let short = search(&work, &["--budget-usd", "0.03"]);
    assert_eq!(short.code, Some(3), "{}", short.stderr);
    assert!(short.stderr.contains("the budget of $0.03 is spent"), "{}", short.stderr);
    assert!(short.stderr.contains("hint: give it more"), "{}", short.stderr);
    let spent = cost(&work)["total"]["cost_nano_usd"].as_u64().expect("a sum");
    assert!(spent <= 30_000_000, "{spent}");
    let paid = endpoint.calls();
    assert!(paid > 0);
    assert_eq!(search(&work, &[]).code, Some(0));
    let total = cost(&work)["total"].clone();
    assert_eq!(total["calls"].as_u64(), Some(endpoint.calls() as u64));
    // Nobody listens there: the circuit opens, is waited out, and the search stops.
    let dead = Workspace::new();
    let limits = "retries = 0\nbreaker_failures = 1\nbreaker_cooldown_s = 0.05\n";
    spec(&dead, "openai", "http://127.0.0.1:9/v1", limits);
    let stopped = search(&dead, &[]);
    assert_eq!(stopped.code, Some(6), "{}", stopped.stderr);
    assert!(stopped.stderr.contains("127.0.0.1:9"), "{}", stopped.stderr);
    assert!(stopped.stderr.contains("paused"), "{}", stopped.stderr);
}
