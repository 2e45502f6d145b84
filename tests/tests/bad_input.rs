//! Whatever a user gets wrong: a clear message, an exit code that is not a crash, nothing lost.

use std::fs;

use evosafe_e2e::{Run, Workspace, root};

fn refused(run: &Run, code: i32, says: &[&str]) {
    assert_eq!(run.code, Some(code), "stderr: {}", run.stderr);
    for text in says {
        assert!(run.stderr.contains(text), "`{text}` is not in: {}", run.stderr);
    }
    assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
}

/// A copy of the finance specification with one edit.
fn spec(work: &Workspace, from: &str, to: &str) -> String {
    let source = root().join("specs/finance");
    let folder = work.path().join("spec");
    fs::create_dir_all(&folder).expect("writable");
    let toml = fs::read_to_string(source.join("spec.toml")).expect("shipped");
    assert!(toml.contains(from), "the shipped specification has no `{from}`");
    fs::write(folder.join("spec.toml"), toml.replacen(from, to, 1)).expect("writable");
    fs::copy(source.join("spec.md"), folder.join("spec.md")).expect("shipped");
    folder.display().to_string()
}

fn bundle(work: &Workspace, code: &str) -> String {
    let folder = work.path().join("bundle");
    fs::create_dir_all(&folder).expect("writable");
    let manifest = "abi = 1\nlanguage = \"javascript\"\nname = \"test\"\norigin = \"seed\"\n";
    fs::write(folder.join("bundle.toml"), manifest).expect("writable");
    fs::write(folder.join("RATIONALE.md"), "A test.\n").expect("writable");
    fs::write(folder.join("harness.js"), code).expect("writable");
    folder.display().to_string()
}

#[test]
fn specifications() {
    let work = Workspace::new();
    refused(&work.run(&["search", "no-such"]), 3, &["no-such", "finance"]);
    let typo = spec(&work, "[cascade]", "[cascade]\nsmokes = 3");
    refused(&work.run(&["search", &typo]), 3, &["spec.toml", "smokes", "smoke"]);
    let large = spec(&work, "search = ", "search = 9");
    refused(&work.run(&["search", &large]), 3, &["search"]);
    let domain = spec(&work, "domain = \"finance\"", "domain = \"astrology\"");
    refused(&work.run(&["search", &domain]), 4, &["astrology", "finance"]);
    fs::remove_file(work.path().join("spec/spec.md")).expect("there");
    refused(&work.run(&["search", &domain]), 3, &["spec.md"]);
}

#[test]
fn victims() {
    let work = Workspace::new();
    refused(&work.run(&["search", "finance", "--victim", "sim:nobody"]), 3, &["nobody"]);
    refused(&work.run(&["search", "finance", "--victim", "oracle:x"]), 3, &["oracle"]);
    fs::create_dir(work.path().join("empty")).expect("writable");
    let run = work.run(&["search", "agentdojo", "--victim", "replay:empty"]);
    refused(&run, 3, &["empty"]);
    let run = work.run(&["search", "agentdojo", "--victim", "replay:missing"]);
    refused(&run, 3, &["missing"]);
}

#[test]
fn bundles() {
    let work = Workspace::new();
    let check = |code: &str| {
        let folder = bundle(&work, code);
        work.run(&["harness", "check", &folder])
    };
    let good = check("export function onPreToolCall(call) { return allow(); }\n");
    assert_eq!(good.code, Some(0), "{}{}", good.stdout, good.stderr);
    for (code, says) in [
        ("export function onPreToolCall(call) {\n  return allow(;\n}\n", "harness.js:2:"),
        ("import x from 'fs';\n", "harness.js:1:"),
        ("export function onPreToolCall(call) { for (;;) {} }\n", "onPreToolCall"),
        ("export function onPreToolCall(c) { return new Uint8Array(512 * 1024 * 1024); }\n", ""),
        ("export function onPreToolCall(call) { return { do: 'maybe' }; }\n", "unknown decision"),
        ("export function onPreToolCall(call) {\n\n  nonsense();\n}\n", "harness.js:3"),
    ] {
        let run = check(code);
        assert_eq!(run.code, Some(1), "{code}: {}{}", run.stdout, run.stderr);
        assert!(run.stdout.contains(says), "{code}: {}", run.stdout);
    }
    refused(&work.run(&["harness", "check", "nowhere"]), 3, &["nowhere"]);
}

#[test]
fn archives() {
    let work = Workspace::new();
    refused(&work.run(&["leaderboard"]), 5, &["archive"]);
    let done = work.run(&["search", "finance", "--candidates", "6", "--json"]).json();
    // A damaged index is moved aside and rebuilt, and the user is told.
    let index = work.archive().join("evosafe/index");
    for file in ["conf", "db"] {
        assert!(index.join(file).is_file(), "the index is not where this test damages it");
        fs::write(index.join(file), b"\0\0damaged").expect("writable");
    }
    let again = work.run(&["search", "finance", "--candidates", "6", "--json"]);
    assert_eq!(again.json()["episodes_run"], 0, "{}", again.stderr);
    assert_eq!(again.json()["best"], done["best"]);
    assert!(again.stderr.contains("index"), "{}", again.stderr);
    // Names.
    refused(&work.run(&["show", "zzzz"]), 3, &["zzzz"]);
    refused(&work.run(&["trace", "best", "no/such/task"]), 3, &["no/such/task"]);
    fs::create_dir(work.path().join("full")).expect("writable");
    fs::write(work.path().join("full/file"), b"x").expect("writable");
    refused(&work.run(&["export", "best", "-o", "full"]), 3, &["full"]);
}

#[test]
fn two_searches_on_one_archive() {
    let work = Workspace::new();
    let mut first = work.spawn(&["search", "finance", "--seed", "5", "--candidates", "300"]);
    std::thread::sleep(std::time::Duration::from_millis(1200));
    let second = work.run(&["search", "finance", "--seed", "6"]);
    // Reading works meanwhile.
    let reading = work.run(&["leaderboard"]);
    first.kill().expect("it can be killed");
    first.wait().expect("it ends");
    refused(&second, 5, &["--archive"]);
    assert_eq!(reading.code, Some(0), "{}", reading.stderr);
}
