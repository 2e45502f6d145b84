//! The rules of docs/architecture.md that a machine can check.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Longest source file, in lines.
const LONGEST: usize = 400;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ lies in the workspace").into()
}

/// Crate -> crates of this workspace it may use.
fn allowed() -> BTreeMap<&'static str, Vec<&'static str>> {
    let l1 = [
        "evosafe-stats",
        "evosafe-spec",
        "evosafe-archive",
        "evosafe-sandbox",
        "evosafe-llm",
        "evosafe-env",
    ];
    let with = |more: &[&'static str]| {
        let mut all = vec!["evosafe-types"];
        all.extend(more);
        all
    };
    let mut map = BTreeMap::from([("evosafe-types", vec![])]);
    for name in l1 {
        map.insert(name, with(&[]));
    }
    map.insert(
        "evosafe-agent",
        with(&["evosafe-env", "evosafe-sandbox", "evosafe-spec", "evosafe-llm"]),
    );
    map.insert("evosafe-search", with(&[&l1[..], &["evosafe-agent"]].concat()));
    map.insert(
        "evosafe-report",
        with(&["evosafe-stats", "evosafe-archive", "evosafe-spec", "evosafe-llm"]),
    );
    map.insert(
        "evosafe-cli",
        with(&[&l1[..], &["evosafe-agent", "evosafe-search", "evosafe-report"]].concat()),
    );
    // For tests only: nothing may name it outside `[dev-dependencies]`.
    map.insert("evosafe-testing", vec![]);
    map
}

fn dependencies(manifest: &str) -> Vec<String> {
    let mut section = "";
    let mut found = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line.trim();
        } else if section == "[dependencies]"
            && let Some((name, _)) = line.split_once(['.', ' ', '='])
            && !name.is_empty()
        {
            found.push(name.to_owned());
        }
    }
    found
}

#[test]
fn edges_only_point_down() {
    let allowed = allowed();
    for entry in fs::read_dir(root().join("crates")).expect("crates/ is there") {
        let dir = entry.expect("readable").path();
        let name = dir.file_name().and_then(|n| n.to_str()).expect("UTF-8 name").to_owned();
        let manifest = fs::read_to_string(dir.join("Cargo.toml")).expect("every crate has one");
        let may = allowed.get(name.as_str()).unwrap_or_else(|| panic!("{name} has no layer"));
        for dependency in dependencies(&manifest) {
            if dependency.starts_with("evosafe-") {
                assert!(may.contains(&dependency.as_str()), "{name} must not use {dependency}");
            }
        }
    }
}

#[test]
fn some_libraries_are_named_in_one_crate_only() {
    let owners = [
        ("toml", vec!["evosafe-spec"]),
        ("git2", vec!["evosafe-archive"]),
        ("sled", vec!["evosafe-archive"]),
        ("wasmtime", vec!["evosafe-sandbox"]),
        ("reqwest", vec!["evosafe-llm"]),
        ("rustls", vec!["evosafe-llm"]),
        ("anyhow", vec!["evosafe-cli"]),
        ("clap", vec!["evosafe-cli"]),
    ];
    for entry in fs::read_dir(root().join("crates")).expect("crates/ is there") {
        let dir = entry.expect("readable").path();
        let name = dir.file_name().and_then(|n| n.to_str()).expect("UTF-8 name").to_owned();
        let manifest = fs::read_to_string(dir.join("Cargo.toml")).expect("every crate has one");
        for dependency in dependencies(&manifest) {
            for (library, crates) in &owners {
                assert!(
                    dependency != *library || crates.contains(&name.as_str()),
                    "{name} must not use {library}"
                );
            }
        }
    }
}

#[test]
fn no_source_file_is_too_long() {
    let mut long = Vec::new();
    for file in sources(&root().join("crates")).into_iter().chain(sources(&root().join("tests"))) {
        let lines = fs::read_to_string(&file).expect("UTF-8 source").lines().count();
        if lines > LONGEST {
            long.push(format!("{} has {lines} lines", file.display()));
        }
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

/// Library crates never print, never read the environment, never exit.
#[test]
fn libraries_do_not_touch_the_process() {
    let forbidden =
        ["println!(", "print!(", "eprintln!(", "eprint!(", "env::var", "process::exit", "dbg!("];
    let mut found = Vec::new();
    for file in sources(&root().join("crates")) {
        let path = file.to_string_lossy().into_owned();
        let exempt = ["/evosafe-cli/", "/tests/", "/examples/", "/benches/"];
        if exempt.iter().any(|part| path.contains(part))
            || path.ends_with("tests.rs")
            || path.ends_with("build.rs")
            || path.ends_with("samples.rs")
        {
            continue;
        }
        let text = fs::read_to_string(&file).expect("UTF-8 source");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (n, line) in code.lines().enumerate() {
            let line = line.trim_start();
            if !line.starts_with("//") && forbidden.iter().any(|f| line.contains(f)) {
                found.push(format!("{path}:{}: {line}", n + 1));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

fn sources(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).expect("readable folder") {
            let path = entry.expect("readable entry").path();
            if path.is_dir() {
                if path.file_name().is_some_and(|n| n != "target") {
                    open.push(path);
                }
            } else if path.extension().is_some_and(|e| e == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}
