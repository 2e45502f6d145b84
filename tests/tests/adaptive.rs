//! Adaptive probes through the binary: one state whatever the speed and the interruptions, and no
//! trace of them in evaluations.

use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use evosafe_e2e::Workspace;
use serde_json::Value;

const SPEC: &str = r#"
format = 1
name = "adaptive"
victim = "sim:default"
[environment]
kind = "builtin"
domain = "finance"
[split]
by = "environment"
[cascade]
smoke = 3
gate = 6
search = 15
wide = 24
finalists = 2
under_attack_margin = 30.0
[search]
batch = 3
rollouts = 2
adaptive_probes = 12
"#;

const SEARCH: &[&str] =
    &["search", "adaptive", "--no-warm-start", "--seed", "4", "--candidates", "7", "--json"];

fn workspace() -> Workspace {
    let work = Workspace::new();
    let folder = work.path().join("adaptive");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("spec.toml"), SPEC).expect("it can be written");
    std::fs::write(folder.join("spec.md"), "# A desk\n").expect("it can be written");
    work
}

fn search(work: &Workspace, extra: &[&str]) -> Value {
    work.run(&[SEARCH, extra].concat()).json()
}

#[test]
fn speed_and_interruptions_change_nothing() {
    let (one, eight, cut) = (workspace(), workspace(), workspace());
    let a = search(&one, &["--concurrency", "1"]);
    let b = search(&eight, &["--concurrency", "8"]);
    assert_eq!((&a["best"], &a["adaptive_probes"]), (&b["best"], &b["adaptive_probes"]));
    assert!(a["adaptive_probes"]["variants"].as_u64() > Some(0), "{a}");
    assert_eq!(one.state(), eight.state());
    assert_eq!(one.refs(), eight.refs());
    let mut kills = 0;
    for millis in [700, 1500, 3000, 5000] {
        let mut child = cut.spawn(SEARCH);
        std::thread::sleep(Duration::from_millis(millis));
        child.kill().expect("it can be killed");
        kills += u32::from(child.wait().expect("it ends").signal() == Some(9));
    }
    assert!(kills > 0, "the search is too fast for this test to interrupt it");
    search(&cut, &[]);
    assert_eq!(cut.state(), one.state());
    assert_eq!(cut.refs(), one.refs());
    assert_eq!(search(&cut, &[])["episodes_run"], 0, "nothing is run twice");
    assert_eq!(cut.run(&["archive", "fsck"]).code, Some(0));
}

#[test]
fn later_candidates_meet_the_variants_and_evaluations_do_not() {
    let work = workspace();
    let found = search(&work, &[]);
    let board = work.state();
    let corpus = board["corpus"].as_array().expect("versions");
    let variants: Vec<&str> = corpus
        .iter()
        .flat_map(|version| version["variants"].as_array().expect("a list"))
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(found["adaptive_probes"]["variants"], variants.len());
    assert_eq!(found["adaptive_probes"]["corpus_version"], corpus.len());
    assert!(variants.len() <= 12 && variants.iter().all(|id| id.contains("/train/")));
    let rows = board["rows"].as_array().expect("rows");
    let of = |id: &Value| rows.iter().find(|row| row["candidate"] == *id).expect("a row");
    let edges = work.run(&["lineage", "--json"]).json();
    let last = edges["lineage"].as_array().expect("edges").last().expect("a candidate").clone();
    assert!(!of(&last["candidate"])["variants"].is_null(), "{last}");
    assert!(!of(&found["best"])["variants"].is_null());
    // Printed scores are those of the specification: 24 tasks, twice.
    let wide = &of(&found["best"])["wide"];
    let n = |family: &str| wide[family]["n"].as_u64().expect("a number");
    assert_eq!(n("utility") + n("direct") + n("indirect"), 48);
    let text = work.run(&["leaderboard"]).stdout;
    assert!(text.contains("variants %") && text.contains("chosen with the variants"), "{text}");
    assert!(work.run(&["lineage"]).stdout.contains("corpus version 1: "));
    let shown = work.run(&["show", "h0"]).stdout;
    assert!(shown.contains(variants[0]) && shown.contains("(against "), "{shown}");

    let renamed = variants.iter().find(|id| id.contains("~rename-")).expect("one is renamed");
    let trace = work.run(&["trace", "best", renamed, "--json"]).json();
    assert_eq!(trace["task"], **renamed);
    let calls = work.run(&["trace", "best", renamed, "--hook-calls"]);
    assert_eq!(calls.code, Some(0), "{}", calls.stderr);
    let base = renamed.split('~').next().expect("a task");
    let plain = work.run(&["trace", "best", base, "--hook-calls"]).stdout;
    let tools = |lines: &str| lines.lines().next().unwrap_or_default().contains("place_order");
    assert!(tools(&plain) && !tools(&calls.stdout), "tools are called otherwise");

    for split in ["train", "held-out"] {
        let evaluation = work.run(&["evaluate", "best", "--split", split, "--json"]).json();
        let n = |of: &str| evaluation[of]["n"].as_u64().expect("a number");
        let tasks = if split == "train" { 60 } else { 100 };
        assert_eq!(n("utility") + n("asr"), tasks, "the environment's tasks and no others");
    }
}

#[test]
fn without_probes_nothing_says_so() {
    let work = workspace();
    let spec = SPEC.replace("adaptive_probes = 12\n", "");
    std::fs::write(work.path().join("adaptive/spec.toml"), spec).expect("it can be written");
    let few = ["search", "adaptive", "--no-warm-start", "--candidates", "5", "--json"];
    let found = work.run(&few).json();
    assert!(found.get("adaptive_probes").is_none(), "{found}");
    let board = work.state();
    assert!(board.get("corpus").is_none());
    assert!(
        board["rows"].as_array().expect("rows").iter().all(|row| row.get("variants").is_none())
    );
    let bad = SPEC.replace("adaptive_probes = 12", "adaptive_probes = 201");
    std::fs::write(work.path().join("adaptive/spec.toml"), bad).expect("it can be written");
    let refused = work.run(SEARCH);
    assert!(
        refused.stderr.contains("`search.adaptive_probes` must be from 0 to 200"),
        "{}",
        refused.stderr
    );
}
