//! The example in `examples/rust-harness`: builds where the target is installed, and is a
//! harness like any other.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use evosafe_e2e::{Workspace, root};

const TARGET: &str = "wasm32-wasip2";

/// Whether the compiler that builds the example has the target's core library.
fn installed() -> bool {
    let asked =
        Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output();
    let Ok(output) = asked else { return false };
    output.status.success() && Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir()
}

#[test]
fn the_rust_example_is_a_harness() {
    let example = root().join("examples/rust-harness");
    let work = Workspace::new();
    // Without the component the bundle says what is missing, whatever is installed.
    let bundle = work.path().join("bundle");
    fs::create_dir(&bundle).expect("writable");
    for file in ["bundle.toml", "RATIONALE.md"] {
        fs::copy(example.join("bundle").join(file), bundle.join(file)).expect("shipped");
    }
    let run = work.run(&["harness", "check", "bundle"]);
    assert_eq!(run.code, Some(3), "{}", run.stdout);
    assert!(run.stderr.contains("harness.wasm: missing"), "{}", run.stderr);
    if !installed() {
        eprintln!(
            "SKIPPED: the Rust example was not built: `rustup target add {TARGET}` is what it needs"
        );
        return;
    }
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("rust-harness");
    let built = Command::new("cargo")
        .current_dir(&example)
        .args(["build", "--release", "--locked", "--target", TARGET, "--target-dir"])
        .arg(&target)
        .status();
    assert!(built.expect("cargo runs").success(), "the example does not build");
    let wasm = target.join(TARGET).join("release/rust_harness.wasm");
    fs::copy(wasm, bundle.join("harness.wasm")).expect("built");
    let run = work.run(&["harness", "check", "bundle"]);
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    let cases = example.join("cases.json").display().to_string();
    let run = work.run(&["harness", "test", "bundle", "--cases", &cases]);
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
}
