//! A `harness.wasm` that answers otherwise than its candidate was scored is found, and the call
//! is named.

use std::fs;

use evosafe_e2e::{Run, Workspace};
use serde_json::Value;

/// A bundle that lets everything pass: what a wrong build of every candidate becomes here.
const OPEN: [(&str, &str); 3] = [
    ("bundle.toml", "abi = 1\nlanguage = \"javascript\"\nname = \"open\"\norigin = \"seed\"\n"),
    ("RATIONALE.md", "Lets everything pass.\n"),
    ("harness.js", "export function onPreToolCall(call) { return allow(); }\n"),
];

#[test]
fn a_difference_of_the_compiled_harness_names_the_call() {
    let work = Workspace::new();
    let cache = work.path().join("cache");
    let run = |args: &[&str]| -> Run {
        let output = work.command(args).env("EVOSAFE_CACHE", &cache).output();
        Run::from(output.expect("the binary starts"))
    };
    let search =
        ["search", "finance", "--seed", "3", "--candidates", "21", "--episodes", "7500", "--json"];
    let best = run(&search).json()["best"].clone();
    let best = best.as_str().expect("a winner");
    let differences = |of: &Run| -> Vec<Value> {
        let results = of.json()["results"].as_array().cloned().unwrap_or_default();
        let build = results.into_iter().find(|r| r["kind"] == "build").expect("it was checked");
        build["body"]["differences"].as_array().cloned().unwrap_or_default()
    };
    assert_eq!(differences(&run(&["show", best, "--json"])), [] as [Value; 0]);

    // The builder goes wrong: every candidate becomes the open bundle.
    let open = work.path().join("open");
    fs::create_dir(&open).expect("writable");
    for (name, text) in OPEN {
        fs::write(open.join(name), text).expect("writable");
    }
    let built = || -> Vec<_> {
        let entries = fs::read_dir(cache.join("sandbox")).expect("there");
        let files = entries.map(|entry| entry.expect("readable").path());
        let name = |p: &std::path::Path| p.file_name().map(|n| n.to_string_lossy().into_owned());
        files.filter(|file| name(file).is_some_and(|name| name.starts_with("built-"))).collect()
    };
    let before = built();
    let open = open.display().to_string();
    assert_eq!(run(&["harness", "build", &open]).code, Some(0));
    let all = built();
    let wrong = all.iter().find(|file| !before.contains(file)).expect("it was built");
    let wrong = fs::read(wrong).expect("readable");
    for file in &before {
        fs::write(file, &wrong).expect("writable");
    }
    fs::remove_dir_all(work.archive()).expect("there");

    let again = run(&search);
    assert_eq!(again.json()["best"], best, "the search itself is the same");
    assert_eq!(again.code, Some(0), "a difference stops no search: {}", again.stderr);
    let found = differences(&run(&["show", best, "--json"]));
    // The winner blocks or rewrites something, in words of its own; the open bundle does not.
    let call = found.iter().filter_map(Value::as_str).find(|d| d.contains("recorded {"));
    let call = call.expect("an answer differs");
    for part in
        [&best[..12], " on task finance/", ": hook call ", "-tool-call): recorded {", "now "]
    {
        assert!(call.contains(part), "{part:?} is not in {call}");
    }
    assert!(call.ends_with("now allow") || call.ends_with("now keep"), "{call}");
    assert!(again.stderr.contains("differs on task"), "{}", again.stderr);
    let exported = run(&["export", best, "-o", "winner"]);
    assert_eq!(exported.code, Some(1), "{}", exported.stdout);
    assert!(exported.stdout.contains("Do not deploy harness.wasm"), "{}", exported.stdout);
}
