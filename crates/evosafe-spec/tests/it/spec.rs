use std::path::Path;
use std::time::Duration;

use evosafe_spec::{EnvironmentPlan, SpecSource, SplitBy, check_prefixes, embedded, load};
use evosafe_types::HarnessLimits;

/// A valid specification, as lines that cases change.
const VALID: &str = r#"
format = 1
name = "demo"
[environment]
kind = "bridge"
bridge = "agentdojo"
options = { version = "v1", suites = ["banking"] }
[split]
by = "pair"
train = 0.7
[cascade]
smoke = 5
gate = 15
search = 30
[budget]
candidates = 60
"#;

fn folder(toml: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("spec.toml"), toml).unwrap();
    std::fs::write(dir.path().join("spec.md"), "# Demo\n").unwrap();
    dir
}

fn message(dir: &Path) -> String {
    load(dir.to_str().unwrap()).expect_err("the specification is wrong").to_string()
}

#[test]
fn defaults_are_filled_in() {
    let dir = folder(VALID);
    let plan = load(dir.path().to_str().unwrap()).unwrap();
    assert_eq!(plan.name, "demo");
    assert_eq!((plan.step_limit, plan.victim.clone()), (16, None));
    assert_eq!((plan.split.by, plan.split.train, plan.split.seed), (SplitBy::Pair, 0.7, 42));
    assert_eq!(
        (plan.cascade.wide, plan.cascade.margin, plan.cascade.confidence),
        (None, 10.0, 0.95)
    );
    assert_eq!((plan.search.batch, plan.search.repairs, plan.search.patience), (4, 2, None));
    assert_eq!((plan.budget.candidates, plan.budget.episodes), (Some(60), None));
    assert_eq!(plan.limits, HarnessLimits::default());
    assert_eq!(plan.source, SpecSource::Folder(dir.path().to_path_buf()));
    let EnvironmentPlan::Bridge { options, call_timeout, open_timeout, .. } = &plan.environment
    else {
        panic!("a bridge was asked for")
    };
    assert_eq!(options["suites"], serde_json::json!(["banking"]));
    assert_eq!((*call_timeout, *open_timeout), (Duration::from_secs(30), Duration::from_secs(60)));
    // The path of the file does as well as that of the folder.
    let same = load(dir.path().join("spec.toml").to_str().unwrap()).unwrap();
    assert_eq!(same.hash, plan.hash);
}

#[test]
fn the_hash_covers_both_files() {
    let dir = folder(VALID);
    let path = dir.path().to_str().unwrap();
    let before = load(path).unwrap().hash;
    std::fs::write(dir.path().join("spec.md"), "# Demo, changed\n").unwrap();
    let after = load(path).unwrap().hash;
    assert_ne!(before, after);
    std::fs::write(dir.path().join("spec.toml"), format!("# note\n{VALID}")).unwrap();
    assert_ne!(load(path).unwrap().hash, after);
}

#[test]
fn wrong_values_name_file_key_and_remedy() {
    // (line of VALID, what to put there, what the message says)
    let cases = [
        ("train = 0.7", "trian = 0.7", "unknown key `split.trian`; did you mean `train`?"),
        ("train = 0.7", "ratio = 0.7", "unknown key `split.ratio`; known here: by, train, seed"),
        ("[split]", "[splits]", "unknown key `splits`; did you mean `split`?"),
        (
            "format = 1",
            "format = 1\nvictim_step = 3",
            "`victim_step`; did you mean `victim_steps`?",
        ),
        (
            "smoke = 5",
            "smoke = 5\nfinalist = 2\nmargins = 1.0",
            "finalists`?\n  unknown key `cascade.margins`",
        ),
        (
            "candidates = 60",
            "candidates = 60\n[harness]\nfule = 3",
            "`harness.fule`; did you mean `fuel`?",
        ),
        ("format = 1", "", "`format` is missing"),
        (
            "format = 1",
            "format = 2",
            "`format` is 2, but this program knows format 1; update evosafe",
        ),
        ("format = 1", "format = 0", "`format` must be from 1 to 1, but is 0"),
        ("name = \"demo\"", "name = \"De mo\"", "`name` must be lowercase letters"),
        ("name = \"demo\"", "", "`name` is missing"),
        (
            "format = 1",
            "format = 1\nvictim_steps = 0",
            "`victim_steps` must be from 1 to 1000, but is 0",
        ),
        ("format = 1", "format = 1\nvictim = \"gpt\"", "`victim` must be KIND:NAME"),
        ("kind = \"bridge\"", "kind = \"brige\"", "but is \"brige\"; did you mean \"bridge\"?"),
        (
            "kind = \"bridge\"",
            "kind = \"builtin\"",
            "`environment.bridge` belongs to kind \"bridge\"",
        ),
        (
            "kind = \"bridge\"",
            "kind = \"bridge\"\ndomain = \"x\"",
            "`environment.domain` belongs to kind",
        ),
        ("bridge = \"agentdojo\"", "", "`environment.bridge` is missing"),
        ("bridge = \"agentdojo\"", "bridge = \"a/b\"", "`environment.bridge` must be lowercase"),
        (
            "bridge = \"agentdojo\"",
            "bridge = \"a\"\ncall_timeout_s = 0",
            "`environment.call_timeout_s` must be from 0.1",
        ),
        (
            "bridge = \"agentdojo\"",
            "bridge = \"a\"\nprocesses = 0",
            "`environment.processes` must be from 1",
        ),
        ("options = {", "options = { when = 2024-05-01,", "`environment.options.when` is a date"),
        (
            "options = {",
            "options = { x = { y = [nan] },",
            "`environment.options.x.y.0` must be a finite",
        ),
        ("by = \"pair\"", "by = \"pairs\"", "did you mean \"pair\"?"),
        ("by = \"pair\"", "", "`split.by` is missing"),
        ("by = \"pair\"", "by = \"environment\"", "`split.train` has no effect when `split.by` is"),
        (
            "train = 0.7",
            "train = 1.0",
            "`split.train` must lie between 0 and 1, both excluded, but is 1",
        ),
        ("train = 0.7", "train = nan", "`split.train` must lie between"),
        ("train = 0.7", "seed = -1", "`split.seed` is malformed"),
        ("smoke = 5", "smoke = 0", "`cascade.smoke` must be at least 1"),
        (
            "smoke = 5",
            "smoke = 15",
            "`cascade.gate` must be larger than `cascade.smoke` (15), but is 15",
        ),
        (
            "search = 30",
            "search = 14",
            "`cascade.search` must be larger than `cascade.gate` (15), but is 14",
        ),
        (
            "search = 30",
            "search = 30\nwide = 29",
            "`cascade.wide` must be at least `cascade.search` (30)",
        ),
        (
            "search = 30",
            "search = 30\nwide = \"al\"",
            "must be a number of tasks or \"all\", but is \"al\"",
        ),
        ("search = 30", "search = 30\nwide = true", "`cascade.wide` is malformed"),
        (
            "search = 30",
            "search = 30\nconfidence = 1.0",
            "`cascade.confidence` must lie between 0.5 and 1",
        ),
        (
            "search = 30",
            "search = 30\nmargin = -1.0",
            "`cascade.margin` must be from 0 to 200, but is -1",
        ),
        ("search = 30", "search = 30\nfinalists = 0", "`cascade.finalists` must be from 1"),
        ("candidates = 60", "candidates = 0", "`budget.candidates` must be from 1"),
        ("candidates = 60", "wall_clock_s = 0", "`budget.wall_clock_s` must be from 1"),
        ("candidates = 60", "[search]\nbatch = 0", "`search.batch` must be from 1"),
        ("candidates = 60", "[search]\npatience = 0", "`search.patience` must be from 1"),
        (
            "candidates = 60",
            "[harness]\nmemory_mib = 100000",
            "`harness.memory_mib` must be from 4 to 1024",
        ),
        ("[split]\n", "split = 3\n[other]\n", "unknown key"),
        (
            "smoke = 5",
            "smoke = \"five\"",
            "spec.toml:12: `cascade.smoke` is malformed: invalid type: string",
        ),
        ("smoke = 5", "smoke = ", "spec.toml:12:"),
        ("smoke = 5", "smoke = 5\nsmoke = 6", "duplicate key"),
    ];
    for (line, change, expected) in cases {
        assert!(VALID.contains(line), "{line}");
        let dir = folder(&VALID.replacen(line, change, 1));
        let message = message(dir.path());
        assert!(message.contains(expected), "{line} -> {change}:\n{message}");
        let file = dir.path().join("spec.toml").display().to_string();
        assert!(message.starts_with(&file), "{message}");
    }
}

#[test]
fn files_must_be_there_and_be_text() {
    let dir = folder(VALID);
    std::fs::write(dir.path().join("spec.md"), " \n").unwrap();
    assert!(message(dir.path()).contains("spec.md: holds nothing"));
    std::fs::write(dir.path().join("spec.md"), [0xff, 0xfe]).unwrap();
    assert!(message(dir.path()).contains("spec.md: is not UTF-8 text"));
    std::fs::remove_file(dir.path().join("spec.md")).unwrap();
    assert!(message(dir.path()).contains("spec.md: missing"));
    std::fs::remove_file(dir.path().join("spec.toml")).unwrap();
    assert!(message(dir.path()).contains("spec.toml: missing"));
    let nowhere = load("no/such/place").unwrap_err().to_string();
    assert!(nowhere.contains("no specification `no/such/place`"), "{nowhere}");
    assert!(nowhere.contains("agentdojo"), "{nowhere}");
}

#[test]
fn embedded_specifications_are_valid() {
    assert!(embedded().contains(&"agentdojo"));
    for name in embedded() {
        let plan = load(name).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(plan.name, name);
        assert_eq!(plan.source, SpecSource::Embedded(name.to_owned()));
    }
    let agentdojo = load("agentdojo").unwrap();
    let cascade = agentdojo.cascade;
    let sizes = (cascade.smoke, cascade.gate, cascade.search);
    assert_eq!(sizes, (5, 15, 200), "paper, appendix A; search: docs/decisions/0003");
    assert_eq!((agentdojo.split.train, agentdojo.split.seed), (0.7, 42), "paper, appendix B");
}

#[test]
fn prefixes_must_fit_into_the_train_side() {
    let dir = folder(VALID);
    let mut cascade = load(dir.path().to_str().unwrap()).unwrap().cascade;
    assert!(check_prefixes(&cascade, 30).is_ok());
    let cases = [
        (None, 29, "`cascade.search` is 30, but the train side of the split has 29 tasks"),
        (None, 4, "`cascade.smoke` is 5"),
        (Some(60), 59, "`cascade.wide` is 60"),
        (Some(20), 100, "`cascade.wide` must be at least"),
    ];
    for (wide, train, expected) in cases {
        cascade.wide = wide;
        let message = check_prefixes(&cascade, train).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}
