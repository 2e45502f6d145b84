//! Searches in which live models play every role: an OpenAI-compatible endpoint is victim and
//! reviewer, an Anthropic one writes the harnesses and takes the notes.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::time::Duration;

use evosafe_e2e::small::{self, KEY};
use evosafe_e2e::{Endpoint, Workspace, holds};
use evosafe_testing::{Fault, Faults, Received};
use serde_json::Value;

/// Both endpoints.
struct Models {
    openai: Endpoint,
    anthropic: Endpoint,
}

impl Models {
    fn sound() -> Self {
        Self { openai: Endpoint::sound(), anthropic: Endpoint::sound() }
    }

    /// Three requests in ten meet a fault of these kinds first, most of them more than one.
    fn failing(kinds: &'static [Fault]) -> Self {
        let endpoint = |seed| {
            let faults = Faults::new(seed, 0.3, kinds, 3);
            Endpoint::new(move |model| {
                Box::new(faults.over(move |request: &Received| model.say(request)))
            })
        };
        Self { openai: endpoint(7), anthropic: endpoint(8) }
    }

    /// A search with them, of 4 candidates, `concurrency` calls at a time.
    fn write(&self, work: &Workspace, concurrency: usize) {
        let (openai, anthropic) = (self.openai.url("openai"), self.anthropic.url("anthropic"));
        let tables = small::model("victim", "openai", &openai, concurrency)
            + &small::model("writer", "anthropic", &anthropic, concurrency)
            + "[designer]\nkind = \"llm\"\nmodel = \"writer\"\n\
               [criticizer]\nkind = \"llm\"\nmodel = \"victim\"\n\
               [analyzer]\nkind = \"llm\"\nmodel = \"writer\"\n";
        small::write(work, &tables);
    }

    fn calls(&self) -> usize {
        self.openai.calls() + self.anthropic.calls()
    }
}

/// A search to its end.
fn search(work: &Workspace) -> Value {
    small::search(work, &["--candidates", "4", "--concurrency", "4"]).json()
}

fn cost(work: &Workspace) -> Value {
    work.run(&["cost", "--json"]).json()
}

fn estimate(work: &Workspace) -> Value {
    let args = ["estimate", "small", "--no-warm-start", "--prices", "prices.toml", "--json"];
    work.run(&[&args[..], &["--candidates", "4"]].concat()).json()
}

fn estimates_are_assumed_before_and_measured_after(before: &Value, after: &Value) {
    let role = |of: &Value, name: &str| -> Value {
        let roles = of["roles"].as_array().expect("a list");
        roles.iter().find(|role| role["role"] == name).expect(name).clone()
    };
    let usd = |of: &Value, i: usize| of[i].as_u64().expect("the price is known");
    for (name, conversations) in
        [("designer", [3, 9]), ("criticizer", [3 + 1, 9 + 2]), ("analyzer", [4, 4])]
    {
        let (guess, seen) = (role(before, name), role(after, name));
        assert_eq!(guess["source"], "assumed", "{guess}");
        assert_eq!(guess["conversations"], serde_json::json!(conversations), "{guess}");
        assert!(0 < usd(&guess["usd"], 0) && usd(&guess["usd"], 0) <= usd(&guess["usd"], 1));
        assert!(seen["source"]["measured"]["conversations"].as_u64() > Some(0), "{seen}");
        assert!(usd(&seen["usd"], 0) > 0, "{seen}");
    }
    // The victim's share and theirs.
    let sum: u64 =
        before["roles"].as_array().into_iter().flatten().map(|r| usd(&r["usd"], 1)).sum();
    assert_eq!(usd(&before["together"], 1), sum + usd(&before["usd"], 1));
    assert!(before["not_estimated"].to_string().contains("up to 64 an episode"), "{before}");
}

#[test]
fn a_killed_search_goes_on_and_pays_again_for_no_more_than_was_in_flight() {
    const CONCURRENCY: usize = 4;
    let (models, whole) = (Models::sound(), Workspace::new());
    models.write(&whole, CONCURRENCY);
    let before = estimate(&whole);
    assert_eq!(models.calls(), 0, "an estimate asks nobody");
    let expected = search(&whole);
    estimates_are_assumed_before_and_measured_after(&before, &estimate(&whole));
    assert_eq!(expected["candidates"], 4);
    assert_eq!(expected["unassessed"], 0);
    assert!(expected["wide_score"].as_f64() > expected["h0_wide_score"].as_f64(), "{expected}");
    let needed = models.calls();
    // Everybody's calls are in the ledger, on the side where they belong.
    let ledger = cost(&whole);
    assert_eq!(ledger["total"]["calls"].as_u64(), Some(needed as u64));
    assert_eq!(ledger["total"]["unpriced"], 0);
    let groups: Vec<String> = ledger["roles"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| format!("{} {} {}", row["group"][0], row["group"][1], row["group"][2]))
        .map(|row| row.replace('"', ""))
        .collect();
    assert_eq!(
        groups,
        [
            "inner victim scripted-openai",
            "outer analyzer scripted-anthropic",
            "outer criticizer scripted-openai",
            "outer designer scripted-anthropic",
        ]
    );
    assert!(!holds(&whole.archive(), KEY), "the key is in the archive");
    assert_eq!(search(&whole)["best"], expected["best"]);
    assert_eq!(models.calls(), needed, "run again, nothing is paid for");

    // Killed while the reference is run, and at the work of each role after it.
    let cut = Workspace::new();
    models.write(&cut, CONCURRENCY);
    let mut kills = 0;
    for share in [0.1, 0.35, 0.5, 0.65, 0.8, 0.95] {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "some hundred calls"
        )]
        let at = needed + (needed as f64 * share) as usize;
        let args = ["--candidates", "4", "--concurrency", "4"];
        let mut child = small::command(&cut, &args)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        while models.calls() < at && child.try_wait().expect("it runs").is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().expect("it can be killed");
        kills += usize::from(child.wait().expect("it ends").signal() == Some(9));
    }
    assert!(kills >= 4, "{kills} kills");
    let resumed = search(&cut);
    assert_eq!(resumed["best"], expected["best"]);
    assert_eq!(cut.state(), whole.state());
    let made = models.calls() - needed;
    let most = needed + kills * CONCURRENCY;
    assert!((needed..=most).contains(&made), "{made} calls, {needed} to {most} expected");
}

#[test]
fn the_cap_holds_to_within_one_call_when_sixteen_are_made_at_a_time() {
    const CONCURRENCY: usize = 16;
    // Replies cost some eight times what was estimated: more than `max_tokens` allows.
    let endpoint = || {
        Endpoint::new(|model| {
            Box::new(move |request: &Received| {
                let dear = |body: &str| {
                    let (from, to) = match request.is_anthropic() {
                        true => ("\"output_tokens\":", "\"output_tokens\":40"),
                        false => ("\"completion_tokens\":", "\"completion_tokens\":40"),
                    };
                    body.replace(from, to)
                };
                match model.say(request) {
                    evosafe_testing::Answer::Reply { status, headers, body, delay } => {
                        let body = dear(&body);
                        evosafe_testing::Answer::Reply { status, headers, body, delay }
                    }
                    other => other,
                }
            })
        })
    };
    let models = Models { openai: endpoint(), anthropic: endpoint() };
    let nano = |value: &Value| value["total"]["cost_nano_usd"].as_u64().expect("a sum");
    // In the middle of the reference, and in the middle of the search.
    for cap in ["0.7", "3.0"] {
        let work = Workspace::new();
        models.write(&work, CONCURRENCY);
        let args = ["--candidates", "4", "--concurrency", "16", "--budget-usd", cap];
        let ended = small::search(&work, &args);
        let told = format!("{}{}", ended.stdout, ended.stderr);
        assert!(told.contains("is spent"), "{:?} {told}", ended.code);
        let spent = nano(&cost(&work));
        let ledger = std::fs::read_to_string(work.archive().join("evosafe/calls/ledger.jsonl"));
        let ledger = ledger.expect("it was paid for");
        let costs = ledger.lines().filter_map(|line| {
            serde_json::from_str::<Value>(line).ok()?["entry"]["cost_nano_usd"].as_u64()
        });
        let dearest = costs.max().expect("calls");
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
        let cap = (cap.parse::<f64>().expect("a number") * 1e9) as u64;
        assert!(spent <= cap + dearest, "{spent} of {cap}, the dearest call {dearest}");
        assert!(spent + 2 * dearest > cap, "{spent} of {cap}: it gave up too early");
    }
}

#[test]
fn an_endpoint_that_fails_in_every_passing_way_changes_nothing() {
    let (models, calm) = (Models::sound(), Workspace::new());
    models.write(&calm, 4);
    let expected = search(&calm);
    let asked = models.calls();
    drop(models);
    static PASSING: [Fault; 22] = {
        let mut all = [Fault::RateLimited; 22];
        let mut n = 0;
        while n < 22 {
            all[n] = if n < 18 { Fault::TRANSIENT[n] } else { Fault::MISTAKES[n - 18] };
            n += 1;
        }
        all
    };
    let (models, rough) = (Models::failing(&PASSING), Workspace::new());
    models.write(&rough, 4);
    let found = search(&rough);
    // Candidates ask the same as each other; what got an answer once is answered from then on.
    assert!(models.calls() > asked + asked / 10, "{} calls for {asked}", models.calls());
    assert_eq!(found["best"], expected["best"]);
    assert_eq!(found["wide_score"], expected["wide_score"]);
    assert_eq!(found["unassessed"], 0);
}

#[test]
fn behaviour_that_does_not_pass_is_lived_with() {
    static ALL: [Fault; 9] = {
        let mut all = [Fault::Empty; 9];
        let mut n = 0;
        while n < 9 {
            all[n] = if n < 5 { Fault::BEHAVIOUR[n] } else { Fault::MISTAKES[n - 5] };
            n += 1;
        }
        all
    };
    let (models, work) = (Models::failing(&ALL), Workspace::new());
    models.write(&work, 4);
    let found = search(&work);
    assert_eq!(found["unassessed"], 0, "the victim is as it is deployed");
    assert!(found["candidates"].as_u64() > Some(1), "{found}");
    assert!(found["h0_wide_score"].as_f64().is_some());
}
