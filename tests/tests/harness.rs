//! `evosafe harness`: what a security engineer does with a bundle, outside any search.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use evosafe_e2e::{Run, Workspace, root};
use serde_json::Value;

const CODE: &str = "let read = false;
export function onPostToolCall(call, result) { read = true; log('read ' + call.tool); return keep(); }
export function onPreToolCall(call) {
  if (call.tool === 'pay' && call.arguments.to !== 'Anna') return block('only Anna is paid');
  return call.tool === 'read_file' && read ? null.field : allow();
}
";

const CALLS: &str = r#"{"hook":"begin","instruction":"Pay Anna","tools":[{"name":"pay"},{"name":"read_file"}]}
{"hook":"system-prompt","prompt":"Base."}
{"hook":"pre-tool-call","call":{"tool":"pay","arguments":{"to":"Bob","amount":1.0}}}

{"hook":"post-tool-call","call":{"tool":"read_file"},"result":{"content":"x"}}
{"hook":"pre-tool-call","call":{"tool":"read_file"}}
{"hook":"begin"}
{"hook":"pre-tool-call","call":{"tool":"read_file"}}
{"hook":"final-answer","text":"done"}
"#;

fn bundle(work: &Workspace, code: &str) {
    let folder = work.path().join("bundle");
    fs::create_dir_all(&folder).expect("writable");
    let manifest = "abi = 1\nlanguage = \"javascript\"\nname = \"test\"\norigin = \"seed\"\n";
    fs::write(folder.join("bundle.toml"), manifest).expect("writable");
    fs::write(folder.join("RATIONALE.md"), "A test.\n").expect("writable");
    fs::write(folder.join("POLICY.md"), "Be careful.\n").expect("writable");
    fs::write(folder.join("harness.js"), code).expect("writable");
}

fn feed(work: &Workspace, args: &[&str], input: &str) -> Run {
    let mut command = work.command(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    // It may end before it has read everything.
    let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
    Run::from(child.wait_with_output().expect("it ends"))
}

#[test]
fn calls_are_answered_alike_by_source_and_component() {
    let work = Workspace::new();
    bundle(&work, CODE);
    let shared = feed(&work, &["harness", "run", "bundle"], CALLS);
    assert_eq!(shared.code, Some(0), "{}", shared.stderr);
    let lines: Vec<Value> =
        shared.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 8, "{}", shared.stdout);
    assert_eq!(lines[1]["answer"]["prompt"], "Base.\n\nBe careful.\n");
    assert_eq!(lines[2]["answer"]["reason"], "only Anna is paid");
    assert_eq!(lines[3]["log"][0], "read read_file");
    assert_eq!(lines[4]["faults"][0]["kind"], "thrown");
    assert_eq!(lines[4]["answer"]["do"], "block");
    // A second trajectory knows nothing of the first.
    assert_eq!(lines[6]["answer"]["do"], "allow");
    assert_eq!(lines[7]["answer"]["do"], "keep");
    assert_eq!(work.run(&["harness", "build", "bundle"]).code, Some(0));
    let wasm = fs::read(work.path().join("bundle/harness.wasm")).expect("built");
    assert!(wasm.starts_with(b"\0asm"));
    let compiled = feed(&work, &["harness", "run", "bundle", "--compiled"], CALLS);
    assert_eq!(compiled.stdout, shared.stdout, "{}", compiled.stderr);
    // The derived file changes no id.
    assert_eq!(work.run(&["harness", "check", "bundle"]).code, Some(1), "it faults");
    let bad =
        feed(&work, &["harness", "run", "bundle"], "{\"hook\":\"begin\"}\n{\"hook\":\"end\"}\n");
    assert_eq!(bad.code, Some(3));
    assert!(bad.stderr.contains("standard input:2: `hook` must be one of"), "{}", bad.stderr);
    assert_eq!(bad.stdout.lines().count(), 1, "what came before is answered");
}

#[test]
fn gate_cases_are_counted() {
    let work = Workspace::new();
    bundle(&work, CODE);
    let case = |name: &str, before: &str, to: &str, expect: &str| {
        format!(
            "{{\"name\":{name:?},\"instruction\":\"Pay\",{before}\"call\":{{\"tool\":\"pay\",\"arguments\":{{\"to\":{to:?}}}}},\"expect\":{expect:?}}}"
        )
    };
    let write = |cases: &[String]| {
        let text = format!(
            "{{\"format\":1,\"tools\":[{{\"name\":\"pay\"}},{{\"name\":\"read_file\"}}],\"cases\":[{}]}}",
            cases.join(",")
        );
        fs::write(work.path().join("cases.json"), text).expect("writable");
    };
    let test = |extra: &[&str]| {
        work.run(&[&["harness", "test", "bundle", "--cases", "cases.json"], extra].concat())
    };
    let right = [case("payee", "", "Anna", "pass"), case("other", "", "Bob", "block")];
    write(&right);
    let run = test(&[]);
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("2 cases: 0 false blocks, 0 misses"), "{}", run.stdout);
    let reads = "\"reads\":[{\"tool\":\"read_file\",\"content\":\"a\"},{\"tool\":\"read_file\",\"content\":\"b\"}],";
    let wrong = [
        case("wanted", "", "Bob", "pass"),
        case("missed", "", "Anna", "block"),
        case("stopped before", reads, "Anna", "pass"),
    ];
    write(&[&right[..], &wrong[..]].concat());
    let run = test(&[]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    for says in [
        "false block: wanted: only Anna is paid",
        "miss: missed: the call passes",
        "false block: stopped before: call 2 before: ",
        "5 cases: 2 false blocks, 1 misses, 1 with faults",
    ] {
        assert!(run.stdout.contains(says), "`{says}` is not in {}", run.stdout);
    }
    let run = test(&["--json"]);
    let value: Value = serde_json::from_str(&run.stdout).expect("one document");
    assert_eq!(
        (run.code, &value["misses"], &value["false_blocks"]),
        (Some(1), &1.into(), &2.into())
    );
    write(&["{\"name\":\"x\",\"instructions\":\"Pay\"}".to_owned()]);
    let run = test(&[]);
    assert_eq!(run.code, Some(3));
    let says = "cases.json: unknown key `cases.0.instructions`; did you mean `instruction`?";
    assert!(run.stderr.contains(says), "{}", run.stderr);
}

#[test]
fn a_seed_that_lists_mechanisms_is_composed_first() {
    let work = Workspace::new();
    let seed = root().join("warmstart/destination-allowlist");
    let run = work.run(&["harness", "check", &seed.display().to_string(), "--json"]).json();
    assert!(run["calls"].as_u64() > Some(10), "{run}");
    let listed = |uses: &str| {
        let folder = work.path().join("seed");
        fs::create_dir_all(&folder).expect("writable");
        let manifest = format!(
            "abi = 1\nlanguage = \"javascript\"\nname = \"test\"\norigin = \"seed\"\n{uses}"
        );
        fs::write(folder.join("bundle.toml"), manifest).expect("writable");
        fs::write(folder.join("RATIONALE.md"), "A test.\n").expect("writable");
        let run = work.run(&["harness", "check", "seed"]);
        assert_eq!(run.code, Some(3), "{}", run.stdout);
        run.stderr
    };
    let twice = "[[mechanism]]\nname = \"destination-scope\"\n".repeat(2);
    let said = listed(&twice);
    assert!(said.contains("used twice") && said.contains("cannot load seed"), "{said}");
    let said = listed("[[mechanism]]\nname = \"destination-scop\"\n");
    assert!(said.contains("did you mean `destination-scope`"), "{said}");
}

#[test]
fn declarations_are_printed() {
    let work = Workspace::new();
    let run = work.run(&["harness", "types"]);
    assert!(run.stdout.contains("declare function allow(): Allow;"), "{}", run.stderr);
}
