//! The main job on the built-in domain: search, resume, read, prove, export.

use std::os::unix::process::ExitStatusExt as _;
use std::time::{Duration, Instant};

use evosafe_e2e::Workspace;
use serde_json::Value;

/// All seeds and a handful of candidates that the Designer writes.
const SEARCH: &[&str] = &["search", "finance", "--seed", "3", "--candidates", "28", "--json"];

fn search(work: &Workspace, extra: &[&str]) -> Value {
    work.run(&[SEARCH, extra].concat()).json()
}

#[test]
fn concurrency_changes_nothing() {
    let (one, eight) = (Workspace::new(), Workspace::new());
    let a = search(&one, &["--concurrency", "1"]);
    let b = search(&eight, &["--concurrency", "8"]);
    assert_eq!(a["best"], b["best"]);
    assert_eq!(one.state(), eight.state());
    assert_eq!(one.refs(), eight.refs());
    assert!(a["episodes_run"].as_u64() > Some(0));
}

#[test]
fn killed_and_resumed_ends_like_uninterrupted() {
    let (whole, cut) = (Workspace::new(), Workspace::new());
    let expected = search(&whole, &[]);
    // Killed at several moments, each later than the last.
    let mut kills = 0;
    for millis in [150, 400, 700, 1100, 1600] {
        let mut child = cut.spawn(SEARCH);
        std::thread::sleep(Duration::from_millis(millis));
        child.kill().expect("it can be killed");
        let status = child.wait().expect("it ends");
        kills += u32::from(status.signal() == Some(9));
    }
    assert!(kills > 0, "the search is too fast for this test to interrupt it");
    let resumed = search(&cut, &[]);
    assert_eq!(resumed["best"], expected["best"]);
    assert_eq!(cut.state(), whole.state());
    assert_eq!(cut.refs(), whole.refs());
    // And once more: everything is there, nothing is run.
    let again = search(&cut, &[]);
    assert_eq!(again["episodes_run"], 0);
    assert_eq!(again["best"], expected["best"]);
}

#[test]
fn compare_puts_the_winner_beside_warm_start_bundles() {
    let work = Workspace::new();
    let found = search(&work, &[]);
    let compare = ["compare", "--side", "train", "--seeds"];
    let table = work.run(&[&compare[..], &["spotlighting,tool-scope", "--json"]].concat()).json();
    let rows = table["rows"].as_array().expect("rows");
    let names: Vec<&str> = rows.iter().filter_map(|row| row["name"].as_str()).collect();
    assert_eq!(names[1..], ["spotlighting", "tool-scope"]);
    assert_eq!(rows[0]["candidate"], found["best"]);
    // One of the search's rollouts.
    let evaluated = work.run(&["evaluate", "best", "--split", "train", "--json"]).json();
    assert_eq!(rows[0]["score"], evaluated["score"], "the same tasks, the same score");
    assert_eq!(rows[2]["reference"]["score"], evaluated["reference"]["score"]);
    assert_eq!(rows[1]["origin"], "seed");
    let text = work.run(&[&compare[..], &["all"]].concat());
    assert!(text.stdout.contains("provenance-ledger"), "{}", text.stdout);
    assert!(text.stdout.contains("simulated profile, not the model"), "{}", text.stdout);
    // Without a search, in an archive that has seen nothing.
    let fresh = Workspace::new();
    let table = fresh.run(&["compare", "finance", "--seeds", "tool-scope", "--json"]).json();
    assert_eq!(table["rows"][0]["name"], "tool-scope");
    assert_eq!(table["rows"][0]["reference"]["asr"]["n"], 70, "held-out tasks");
    let unknown = work.run(&[&compare[..], &["nothing"]].concat());
    assert_eq!(unknown.code, Some(3));
    assert!(unknown.stderr.contains("no bundle `nothing`; there are: "), "{}", unknown.stderr);
}

#[test]
fn ctrl_c_ends_cleanly_within_five_seconds() {
    let work = Workspace::new();
    // While episodes run, and while mechanisms and drafts are rehearsed. The second goes on
    // where the first ended.
    for pause in [1500, 8000] {
        let child = work.spawn(&["search", "finance", "--seed", "9", "--candidates", "400"]);
        std::thread::sleep(Duration::from_millis(pause));
        let at = Instant::now();
        let pid = child.id().to_string();
        let sent = std::process::Command::new("kill").args(["-INT", &pid]).status();
        assert!(sent.expect("kill runs").success());
        let output = child.wait_with_output().expect("it ends");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(at.elapsed() < Duration::from_secs(5), "took {:?}", at.elapsed());
        assert_eq!(output.status.code(), Some(130), "{stderr}");
        assert!(stderr.contains("run the same command"), "{stderr}");
        assert_eq!(work.run(&["archive", "fsck"]).code, Some(0));
    }
}

#[test]
fn the_whole_tour() {
    let work = Workspace::new();
    let found = search(&work, &[]);
    for key in [
        "best",
        "search_score",
        "h0_score",
        "candidates",
        "episodes_run",
        "episodes_reused",
        "episodes_saved_by_gate",
        "unassessed",
        "elapsed_s",
    ] {
        assert!(!found[key].is_null(), "search --json lacks {key}");
    }
    let evaluation = work.run(&["evaluate", "best", "--split", "held-out", "--json"]).json();
    for key in [
        "candidate",
        "split",
        "victim",
        "utility",
        "asr",
        "utility_under_attack",
        "score",
        "reference",
        "mcnemar",
        "unassessed",
        "indecisive",
        "caveats",
    ] {
        assert!(evaluation.get(key).is_some(), "evaluate --json lacks {key}");
    }
    assert_eq!(evaluation["split"], "held-out");
    let gain = |e: &Value| e["score"].as_f64().expect("a score");
    assert!(
        gain(&evaluation) > gain(&evaluation["reference"]),
        "the winner is no better than no defence: {evaluation}"
    );
    let caveats = evaluation["caveats"].to_string();
    assert!(caveats.contains("simulated profile, not the model"), "{caveats}");
    // The opening of held-out is on record.
    let shown = work.run(&["show", "best", "--json"]).json();
    let kinds = shown["results"].to_string();
    assert!(kinds.contains("held-out"), "{kinds}");

    let best = found["best"].as_str().expect("an id");
    let short = work.run(&["show", &best[..8], "--json"]).json();
    assert_eq!(short["row"]["candidate"], best);
    assert!(work.run(&["lineage"]).stdout.contains(&best[..12]));
    assert!(work.run(&["diff", "h0", "best"]).stdout.contains("harness.js"));
    let exported = work.run(&["export", "best", "-o", "winner"]);
    assert_eq!(exported.code, Some(0), "{}", exported.stderr);
    let checked = work.run(&["harness", "check", "winner", "--json"]).json();
    assert_eq!(checked["candidate"], best, "what is exported is what was scored");
    // Its compiled form went through the same hook calls, and answered alike.
    let wasm = std::fs::read(work.path().join("winner/harness.wasm")).expect("exported");
    assert!(wasm.starts_with(b"\0asm"));
    let results = short["results"].as_array().expect("a list");
    let builds: Vec<&Value> = results.iter().filter(|r| r["kind"] == "build").collect();
    assert_eq!(builds.len(), 1, "{results:?}");
    let body = &builds[0]["body"];
    assert!(body["hook_calls"].as_u64() > body["episodes"].as_u64(), "{body}");
    assert_eq!(body["differences"].as_array().map(Vec::len), Some(0), "{body}");
    assert_eq!(work.run(&["archive", "fsck"]).code, Some(0));
    assert_eq!(work.run(&["archive", "reindex"]).code, Some(0));
    assert_eq!(work.state()["best"], best);

    // A trace of a train task, by its id from the archive's own order.
    let log = std::process::Command::new("git")
        .arg("--git-dir")
        .arg(work.archive())
        .args(["log", "--graph", "--oneline", "--glob=refs/evosafe/candidates"])
        .output()
        .expect("git runs");
    assert!(String::from_utf8_lossy(&log.stdout).contains(&best[..12]), "lineage in plain git");
}

#[test]
fn a_larger_budget_continues_the_same_search() {
    let (grown, whole) = (Workspace::new(), Workspace::new());
    let all = search(&whole, &[]);
    let small =
        grown.run(&["search", "finance", "--seed", "3", "--candidates", "22", "--json"]).json();
    assert_eq!(small["candidates"], 22);
    // Every episode is charged once, whichever stages and commands ask for it.
    let count = |key: &str| all[key].as_u64().expect("a number");
    let cap = (count("episodes_run") + count("episodes_saved_by_gate")).to_string();
    let more = search(&grown, &["--episodes", &cap]);
    assert_eq!((&more["best"], &more["ended"]), (&all["best"], &all["ended"]));
    assert!(more["episodes_run"].as_u64() < all["episodes_run"].as_u64());
}
