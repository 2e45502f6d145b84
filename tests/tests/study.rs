//! Tables in five formats, ablations, grids, and what is said when too much is lost.

use evosafe_e2e::{Workspace, root};
use serde_json::Value;

const CAVEAT: &str = "simulated profile, not the model";

/// No defence and two seed bundles: enough to have tables.
const SEARCH: &[&str] = &["search", "finance", "--candidates", "3", "--json"];

#[test]
fn tables_come_in_five_formats_and_the_caveat_in_each() {
    let work = Workspace::new();
    assert_eq!(work.run(SEARCH).code, Some(0));
    let id = work.run(&["leaderboard", "--json"]).json()["rows"][0]["candidate"].to_string();
    let id = id.trim_matches('"');
    for command in [&["evaluate", id, "--split", "train"][..], &["leaderboard"]] {
        for (format, mark) in [
            ("text", "candidate"),
            ("markdown", "|---"),
            ("csv", "# table "),
            ("latex", "\\begin{tabular}"),
            ("json", "\"caveats\":["),
        ] {
            let out = work.run(&[command, &["--format", format]].concat());
            assert_eq!(out.code, Some(0), "{}", out.stderr);
            assert!(out.stdout.contains(mark) && out.stdout.contains(CAVEAT), "{}", out.stdout);
        }
    }
    let risks =
        work.run(&["evaluate", id, "--split", "train", "--format", "csv", "--table", "risks"]);
    let rows: Vec<&str> = risks.stdout.lines().filter(|l| !l.starts_with('#')).collect();
    assert!(
        rows[1].starts_with("domain,source,category,no_defence_hits,no_defence_n,"),
        "{rows:?}"
    );
    assert!(rows.iter().any(|row| row.contains("the user's request,")), "{rows:?}");
    let both = work.run(&["leaderboard", "--format", "csv", "--json"]);
    assert_eq!(both.code, Some(2), "{}", both.stderr);
    let unknown = work.run(&["leaderboard", "--table", "nothing"]);
    assert_eq!(unknown.code, Some(3));
    assert!(unknown.stderr.contains("there are: candidates"), "{}", unknown.stderr);
}

#[test]
fn held_out_tasks_are_run_several_times_if_asked() {
    let work = Workspace::new();
    let compare = ["compare", "finance", "--victim", "sim:glm-5", "--seeds", "camel"];
    let of = |more: &[&str]| work.run(&[&compare[..], more].concat());
    let (once, twice) = (of(&["--json"]).json(), of(&["--rollouts", "2", "--json"]).json());
    let (once, twice) = (&once["rows"][0], &twice["rows"][0]);
    assert!(once.get("rollouts").is_none() && once.get("points_by_rollout").is_none(), "{once}");
    assert_eq!((&twice["rollouts"], twice.get("mcnemar")), (&2.into(), None));
    // The first of the two was there already; each arm's other 100 episodes are new.
    assert_eq!(twice["episodes_run"], 200);
    assert_eq!(twice["points_by_rollout"][0], once["score"]);
    assert_eq!(twice["reference"]["points_by_rollout"][0], once["reference"]["score"]);
    let number = |of: &Value| of.as_f64().expect("a number");
    let points = &twice["points_by_rollout"];
    let (a, b) = (number(&points[0]), number(&points[1]));
    assert!((number(&twice["score"]) - f64::midpoint(a, b)).abs() < 1e-9, "{twice}");
    let deviation = number(&twice["points_deviation"]);
    assert!((deviation - (a - b).abs() / 2.0_f64.sqrt()).abs() < 1e-9, "{twice}");
    assert_eq!((&once["asr"]["n"], &twice["asr"]["n"]), (&70.into(), &140.into()));
    let sums = twice["paired"]["attacks"]["sums"].as_array().expect("a list");
    assert_eq!(sums.iter().filter_map(Value::as_u64).sum::<u64>(), 70, "tasks, not episodes");
    let text = of(&["--rollouts", "2", "--table", "all"]).stdout;
    for part in ["rollouts 2 a task", "s.d.", "Score by rollout", "no defence more often"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let recordings = root().join("crates/evosafe-agent/testdata/plain/pilot");
    let replay = format!("replay:{}", recordings.display());
    let refused = work.run(&["compare", "finance", "--victim", &replay, "--rollouts", "2"]);
    assert_eq!(refused.code, Some(3));
    assert!(refused.stderr.contains("a recorded task was run once"), "{}", refused.stderr);
    assert_eq!(of(&["--rollouts", "0"]).code, Some(2));
}

#[test]
fn every_ablation_is_a_search_of_its_own() {
    let work = Workspace::new();
    let full = work.run(SEARCH).json();
    let mut runs = vec![full["run"].clone()];
    for flag in ["--no-criticizer", "--no-warm-start", "--bare-spec", "--no-cascade"] {
        let found = work.run(&[SEARCH, &[flag]].concat()).json();
        assert!(!runs.contains(&found["run"]), "{flag} resumed another search");
        assert_eq!(found["candidates"], 3, "{flag}: {found}");
        runs.push(found["run"].clone());
        if flag == "--no-cascade" {
            let board = work.run(&["leaderboard"]).stdout;
            assert!(board.contains("left out cascade"), "{board}");
            // Each of the candidates has its search score on the whole train side: six rollouts of
            // 20 tasks a family.
            let rows = work.run(&["leaderboard", "--json"]).json();
            for row in rows["rows"].as_array().expect("rows") {
                let n = |rate: &str| row["search"][rate]["n"].as_u64();
                assert_eq!((n("utility"), n("direct")), (Some(120), Some(120)), "{row}");
            }
        }
    }
    let again = work.run(SEARCH).json();
    assert_eq!(again["run"], full["run"], "without a flag it is the first search again");
    assert_eq!(again["episodes_run"], 0);
    assert_eq!(again["best"], full["best"]);
}

#[test]
fn a_grid_evaluates_winners_and_bundles_and_is_resumed() {
    let work = Workspace::new();
    let grid = ["grid", "--domains", "finance", "--victims", "sim:glm-5", "--candidates", "2"];
    let report = work.run(&[&grid[..], &["--cross", "--json"]].concat()).json();
    let cell = &report["cells"][0];
    let rows = cell["rows"].as_array().expect("rows");
    let of = |name: &str| rows.iter().filter(|row| row["name"] == name).count();
    assert!(rows.len() > 15 && of("camel") == 1, "all bundles of the warm start");
    assert!(rows.iter().any(|row| row["candidate"] == cell["best"]), "and the winner");
    let cross = report["cross"].as_array().expect("a matrix");
    assert_eq!(cross.len(), 1);
    assert_eq!(cross[0]["candidate"], cell["best"]);
    let csv = work.run(&[&grid[..], &["--format", "csv", "--table", "bundles"]].concat());
    assert!(
        csv.stdout.contains(CAVEAT) && csv.stdout.contains("finance,glm-5,camel,"),
        "{}",
        csv.stdout
    );
    let again = work.run(&[&grid[..], &["--json"]].concat()).json();
    for row in again["cells"][0]["rows"].as_array().expect("rows") {
        assert_eq!(row["episodes_run"], 0, "{row}");
    }
    let unknown = work.run(&["grid", "--victims", "nobody"]);
    assert_eq!(unknown.code, Some(3));
}

#[test]
fn ablate_pairs_searches_with_the_full_one() {
    let work = Workspace::new();
    let ablate = ["ablate", "--domains", "finance", "--candidates", "2", "--run-seeds", "1,2"];
    let arms = ["--arms", "no-criticizer,no-cascade"];
    let report = work.run(&[&ablate[..], &arms, &["--json"]].concat()).json();
    let runs = report["runs"].as_array().expect("runs");
    let arm = |i: usize| runs[i]["arm"].as_str().expect("a name");
    assert_eq!([arm(0), arm(1), arm(2)], ["full", "no-criticizer", "no-cascade"]);
    assert_eq!(runs.len(), 6, "two seeds of three arms");
    assert!(runs.iter().all(|run| run["blind"]["keyed_rules"].is_u64()));
    let table = work.run(&[&ablate[..], &arms, &["--table", "differences"]].concat());
    assert!(
        table.stdout.contains("held-out score") && table.stdout.contains(CAVEAT),
        "{}",
        table.stdout
    );
}

/// Recordings of another environment: every episode is lost.
#[test]
fn a_result_below_the_coverage_floor_is_indecisive_everywhere() {
    let work = Workspace::new();
    let (spec, from) = (work.path().join("spec"), root().join("specs/finance"));
    std::fs::create_dir(&spec).expect("a folder can be made");
    let toml = std::fs::read_to_string(from.join("spec.toml")).expect("it is there");
    let once: String =
        toml.lines().filter(|l| !l.starts_with("rollouts")).map(|l| format!("{l}\n")).collect();
    std::fs::write(spec.join("spec.toml"), once).expect("written");
    std::fs::copy(from.join("spec.md"), spec.join("spec.md")).expect("copied");
    let recordings = root().join("crates/evosafe-agent/testdata/plain/pilot");
    let victim = format!("replay:{}", recordings.display());
    let search = ["search", "spec", "--victim", &victim, "--candidates", "3"];
    let text = work.run(&search);
    assert_eq!(text.code, Some(1), "{}", text.stderr);
    assert!(text.stdout.contains("INDECISIVE"), "{}", text.stdout);
    let found = work.run(&[&search[..], &["--json"]].concat());
    assert_eq!(found.code, Some(1), "the document is printed, and the answer is no");
    let found: Value = serde_json::from_str(&found.stdout).expect("one JSON document");
    assert_eq!(found["indecisive"], true);
    let board = work.run(&["leaderboard", "--json"]).json();
    let rows = board["rows"].as_array().expect("rows");
    let h0 = rows.iter().find(|row| row["name"] == "no-defence").expect("no defence");
    assert_eq!(board["best"], h0["candidate"], "nothing is promoted");
    let promoted = |row: &&Value| row["eligible"] == true;
    assert_eq!(rows.iter().filter(promoted).count(), 0, "{board}");
    for row in rows {
        assert_eq!(row["uncovered"], serde_json::json!(["benign", "direct", "indirect"]));
    }
    assert!(work.run(&["lineage"]).stdout.contains("[indecisive]"));
    let shown = work.run(&["show", "best"]).stdout;
    assert!(shown.contains("indecisive") && shown.contains("may not win"), "{shown}");
    let evaluation = work.run(&["evaluate", "best", "--split", "held-out"]);
    assert_eq!(evaluation.code, Some(1));
    assert!(evaluation.stdout.contains("INDECISIVE"), "{}", evaluation.stdout);
}
