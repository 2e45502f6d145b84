//! The real `bridge.py` over a stand-in for the benchmark: what it does as a process and
//! what it refuses, whatever is behind it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use evosafe_types::{JsonMap, TaskId};
use serde_json::{Value, json};

use super::pool::{BridgePool, Launch};
use super::tests::{call, ends, make_executable, runs};

/// Prints and reads where a library might, and hangs in `call` if the tool is `t`.
const STAND_IN: &str = r#"
import os, sys, time
print("noise on import")
class Benchmark:
    def __init__(self, options): self.open_ = False
    def describe(self):
        print("noise"); os.write(1, b"raw noise\n")
        return dict(name="fake", version="1", content="c", notices=[],
                    suites=[dict(name="s", system_prompt="", tools=[])])
    def tasks(self):
        return [dict(id=f"s/{i}", family="benign", category="s", suite="s", user_task=i,
                     injection_task=None) for i in ("a", "b")]
    def task_ids(self): return {"s/a", "s/b"}
    def open(self, task, seed): return dict(episode="1", instruction=sys.stdin.read(), suite="s")
    def episode(self, name): return self
    def call(self, tool, arguments):
        open(os.path.join(os.path.dirname(__file__), "pid"), "w").write(str(os.getpid()))
        while tool == "t": sum(range(1000))
        if tool == "boom": raise TypeError("inside")
        return dict(content="half a pair: \ud800", is_error=False)
    def judge(self, answer, calls): return dict(task_success=True, attack_success=None)
    def close(self, name): pass
"#;

const FOLDER: &str = "EVOSAFE_TEST_FOLDER";

fn unpack(folder: &Path) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("bridges/agentdojo");
    for name in ["bridge.py", "errors.py"] {
        std::fs::copy(here.join(name), folder.join(name)).expect("a script of this crate");
    }
    std::fs::write(folder.join("dojo.py"), STAND_IN).expect("writable");
    std::fs::write(folder.join("python"), "#!/bin/sh\nexec python3 \"$@\"\n").expect("writable");
    make_executable(&folder.join("python"));
}

async fn pool(folder: &Path) -> BridgePool {
    let launch = Launch {
        name: "fake".to_owned(),
        python: folder.join("python"),
        script: folder.join("bridge.py"),
        scripts: None,
        options: JsonMap::new(),
        call_timeout: Duration::from_secs(60),
        open_timeout: Duration::from_secs(20),
        processes: 1,
    };
    BridgePool::launch(launch, None).await.expect("the bridge starts")
}

#[tokio::test]
async fn what_libraries_print_and_read_is_not_protocol() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    unpack(folder.path());
    let pool = pool(folder.path()).await;
    let mut opened = pool.open(&TaskId::new("s/a"), 0).await.expect("an episode");
    assert_eq!(opened.instruction, "", "standard input is empty for everybody else");
    let mut call = call();
    call.tool = "other".to_owned();
    let result = opened.episode.call(&call).await.expect("text that is not UTF-8 is mended");
    assert_eq!(result.content, "half a pair: ?");
    call.tool = "boom".to_owned();
    let error = opened.episode.call(&call).await.expect_err("it failed");
    assert!(error.to_string().contains("TypeError: inside"), "{error}");
    opened.episode.close().await;
    pool.shutdown().await;
}

#[test]
fn the_script_refuses_what_it_must() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    unpack(folder.path());
    let mut child = Command::new(folder.path().join("python"))
        .arg(folder.path().join("bridge.py"))
        .arg(std::process::id().to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("python3 is there");
    let mut stdin = child.stdin.take().expect("piped");
    let mut answers = BufReader::new(child.stdout.take().expect("piped")).lines();
    let mut ask = |line: &str| -> Value {
        writeln!(stdin, "{line}").expect("it reads");
        let answer = answers.next().expect("an answer").expect("text");
        serde_json::from_str(&answer).expect("JSON")
    };
    let mut request = |method: &str, params: Value| -> Value {
        ask(&json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }).to_string())
    };
    let open = |task: &str| json!({ "task": task, "seed": 0 });
    for (method, params, code) in [
        ("tasks", json!({}), Some(-32600)), // describe comes first
        ("describe", json!({ "options": {} }), None),
        ("describe", json!({ "options": {} }), Some(-32600)),
        ("open", open("s/a"), Some(-32001)), // allow comes first
        ("allow", json!({}), Some(-32602)),
        ("allow", json!({ "ids": ["s/c"] }), Some(-32602)),
        ("allow", json!({ "ids": ["s/a"] }), None),
        ("open", open("s/b"), Some(-32001)),
        ("open", open("s/c"), Some(-32001)),
        ("allow", json!({ "all": true }), Some(-32001)), // only ever narrower
        ("open", open("s/a"), None),
        ("open", json!({ "task": "s/a" }), Some(-32602)),
        ("peek", json!({}), Some(-32601)),
        ("__init__", json!({}), Some(-32601)),
    ] {
        let answer = request(method, params.clone());
        assert_eq!(answer["error"]["code"].as_i64(), code, "{method} {params}: {answer}");
        assert_eq!(answer["id"], 7);
    }
    for (line, code) in [("{", -32700), ("[]", -32600), (r#"{"id":1}"#, -32600)] {
        assert_eq!(ask(line)["error"]["code"], code, "{line}");
    }
    drop(stdin);
    assert!(child.wait().expect("it ends with its input").success());
}

/// The victim of the next test: holds a bridge that never answers.
#[test]
#[ignore = "started by a_bridge_does_not_outlive_a_killed_parent"]
fn holds_a_bridge() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let pool = pool(Path::new(&folder)).await;
        let mut opened = pool.open(&TaskId::new("s/a"), 0).await.expect("an episode");
        let _ = opened.episode.call(&call()).await;
    });
}

#[tokio::test]
async fn a_bridge_does_not_outlive_a_killed_parent() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    unpack(folder.path());
    let mut parent = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "bridge::script_tests::holds_a_bridge", "--ignored"])
        .env(FOLDER, folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("this test runs");
    let start = Instant::now();
    let pid = loop {
        let text = std::fs::read_to_string(folder.path().join("pid")).unwrap_or_default();
        if let Ok(pid) = text.parse::<u32>() {
            break pid;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "the bridge never hung");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert!(runs(pid));
    parent.kill().expect("own child"); // SIGKILL: nothing of ours runs any more
    parent.wait().expect("own child");
    assert!(ends(pid).await, "bridge {pid} is an orphan");
}
