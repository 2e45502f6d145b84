//! The client against small scripted bridges that misbehave in one way each.

use std::time::{Duration, Instant};

use evosafe_types::{FaultKind, JsonMap, TaskId, ToolCall, ToolResult};
use tempfile::TempDir;

use super::pool::{BridgePool, Launch, OpenedEpisode};
use super::recall::RecallingBridge;
use crate::{EnvError, Verdict};

/// A bridge with one suite and the tasks `s/a` and `s/b`. The test's snippet is run for
/// each call before the proper answer; `n` counts the processes started so far.
const BRIDGE: &str = r#"
import json, os, sys, threading, time
here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "started"), "a") as f: f.write("x")
n = os.path.getsize(os.path.join(here, "started"))
open(os.path.join(here, f"pid{n}"), "w").write(str(os.getpid()))
def say(m): sys.stdout.write(json.dumps(m) + "\n"); sys.stdout.flush()
def watch():
    while os.getppid() == int(sys.argv[1]): time.sleep(0.1)
    os._exit(3)
threading.Thread(target=watch, daemon=True).start()
task = lambda i: dict(id=f"s/{i}", family="benign", category="s", suite="s", user_task=i, injection_task=None)
allowed = set()
for line in sys.stdin:
    r = json.loads(line); m, p, i = r["method"], r["params"], r["id"]
    def ok(x): say(dict(jsonrpc="2.0", id=i, result=x))
    def no(c, x): say(dict(jsonrpc="2.0", id=i, error=dict(code=c, message=x)))
    if m == "describe":
        content = "c"
        # DESCRIBE
        ok(dict(protocol=1, name="fake", version="1", content=content, notices=[],
                suites=[dict(name="s", system_prompt="be good", tools=[])]))
    elif m == "tasks": ok(dict(tasks=[task("a"), task("b")]))
    elif m == "allow": allowed = {"s/a", "s/b"} if p.get("all") else set(p["ids"]); ok({})
    elif m == "open":
        if p["task"] in allowed: ok(dict(episode="1", instruction="do it", suite="s"))
        else: no(-32001, "no")
    elif m == "call":
        pass
        # CALL
        ok(dict(content="fine", is_error=False))
    elif m == "judge": ok(dict(task_success=True, attack_success=None))
    else: ok({})
"#;

struct Fake {
    folder: TempDir,
    pool: Result<BridgePool, EnvError>,
}

impl Fake {
    async fn start(describe: &str, call: &str, allowed: Option<&[TaskId]>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let script = folder.path().join("fake.py");
        let text = BRIDGE.replace("# DESCRIBE", describe).replace("# CALL", call);
        std::fs::write(&script, text).expect("the folder is writable");
        let python = folder.path().join("python");
        std::fs::write(&python, "#!/bin/sh\nexec python3 \"$@\"\n").expect("writable");
        make_executable(&python);
        let launch = Launch {
            name: "fake".to_owned(),
            python,
            script,
            scripts: None,
            options: JsonMap::new(),
            call_timeout: Duration::from_secs(2),
            open_timeout: Duration::from_secs(20),
            processes: 1,
        };
        let pool = BridgePool::launch(launch, allowed).await;
        Self { folder, pool }
    }

    fn pool(&self) -> &BridgePool {
        self.pool.as_ref().expect("the bridge started")
    }

    async fn open(&self) -> OpenedEpisode {
        self.pool().open(&TaskId::new("s/a"), 0).await.expect("an episode")
    }

    fn pid(&self, n: u32) -> u32 {
        let text = std::fs::read_to_string(self.folder.path().join(format!("pid{n}")));
        text.expect("it started").parse().expect("a number")
    }
}

pub(super) fn make_executable(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("own file");
}

pub(super) fn runs(pid: u32) -> bool {
    // A zombie has ended too.
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|s| !s.trim().starts_with('Z')))
}

pub(super) async fn ends(pid: u32) -> bool {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(8) {
        if !runs(pid) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    false
}

pub(super) fn call() -> ToolCall {
    ToolCall { id: "1".to_owned(), server: None, tool: "t".to_owned(), arguments: JsonMap::new() }
}

/// Misbehaves once, in the first process, and is fine after the restart.
async fn check(misbehaviour: &str, fault: FaultKind, says: &str) {
    let fake = Fake::start("", &format!("if n == 1: {misbehaviour}"), None).await;
    let mut opened = fake.open().await;
    let error = opened.episode.call(&call()).await.expect_err(misbehaviour);
    assert_eq!(error.fault(), fault, "{misbehaviour}: {error}");
    assert!(error.to_string().contains(says), "{misbehaviour}: {error}");
    opened.episode.close().await;
    assert!(ends(fake.pid(1)).await, "{misbehaviour}: the process lives on");

    let mut again = fake.open().await;
    let result = again.episode.call(&call()).await.expect("the next process is fine");
    assert_eq!(result.content, "fine");
    again.episode.close().await;
    assert_eq!(fake.pool().notices().len(), 1);
}

#[tokio::test]
async fn a_hang_costs_one_episode() {
    check("time.sleep(60)", FaultKind::BridgeTimeout, "within 2 s").await;
}

#[tokio::test]
async fn a_death_costs_one_episode_and_its_last_words_are_heard() {
    let dies = "sys.stderr.write('out of luck\\n'); sys.stderr.flush(); os._exit(1)";
    check(dies, FaultKind::BridgeDied, "out of luck").await;
}

#[tokio::test]
async fn nonsense_costs_one_episode() {
    for (nonsense, says) in [
        ("print('hello', flush=True)", "hello"),
        ("say(dict(jsonrpc='2.0', id=i + 1, result={}))", "expected"),
        ("say(dict(jsonrpc='2.0', id=None, result={}))", "expected"),
        ("say(dict(jsonrpc='2.0', id=i))", "neither"),
        ("say(dict(jsonrpc='2.0', id=i, result=dict(content=3)))", "unexpected result"),
        ("say([1, 2])", "not an answer"),
        ("sys.stdout.write('{\"jsonrpc\"'); sys.stdout.flush(); os._exit(0)", "cut off"),
    ] {
        check(nonsense, FaultKind::BridgeProtocol, says).await;
    }
}

#[tokio::test]
async fn a_flood_on_standard_output_ends_in_bounded_memory() {
    let flood = "[os.write(1, b'y' * (1 << 20)) for _ in range(80)]";
    check(flood, FaultKind::BridgeProtocol, "MiB").await;
}

#[tokio::test]
async fn a_flood_on_standard_error_is_no_fault() {
    let fake = Fake::start("", "os.write(2, b'e' * (1 << 20))", None).await;
    let mut opened = fake.open().await;
    assert_eq!(opened.episode.call(&call()).await.expect("an answer").content, "fine");
    opened.episode.close().await;
}

#[tokio::test]
async fn an_answer_too_late_is_never_taken_for_the_next() {
    let fake = Fake::start("", "time.sleep(60 if n == 1 else 0)", None).await;
    let mut opened = fake.open().await;
    let call = call();
    let asked = opened.episode.call(&call);
    assert!(tokio::time::timeout(Duration::from_millis(300), asked).await.is_err());
    // The caller gave up in the middle of a request: that process cannot be used again.
    opened.episode.close().await;
    let mut again = fake.open().await;
    assert!(again.episode.call(&call).await.is_ok());
    assert!(ends(fake.pid(1)).await);
}

#[tokio::test]
async fn a_process_killed_while_idle_costs_nothing() {
    let fake = Fake::start("", "", None).await;
    fake.open().await.episode.close().await;
    let pid = fake.pid(1).to_string();
    let killed = std::process::Command::new("kill").args(["-9", &pid]).status();
    assert!(killed.expect("there is `kill`").success());
    assert!(ends(fake.pid(1)).await);
    let mut opened = fake.open().await;
    assert!(opened.episode.call(&call()).await.is_ok());
}

#[tokio::test]
async fn only_allowed_tasks_open() {
    let allowed = [TaskId::new("s/a")];
    let fake = Fake::start("", "", Some(&allowed)).await;
    assert_eq!(fake.pool().tasks().len(), 2);
    let error = fake.pool().open(&TaskId::new("s/b"), 0).await.expect_err("not allowed");
    assert!(matches!(&error, EnvError::NotAllowed(task) if task == "s/b"), "{error}");
    // A refusal is an answer like any other: the same process goes on.
    fake.open().await.episode.close().await;
    assert!(fake.pool().notices().is_empty());
    assert!(!fake.folder.path().join("pid2").exists());
}

#[tokio::test]
async fn a_benchmark_that_changes_under_us_is_refused() {
    let fake = Fake::start("content = str(n)", "os._exit(1)", None).await;
    let mut opened = fake.open().await;
    assert!(opened.episode.call(&call()).await.is_err());
    opened.episode.close().await;
    let error = fake.pool().open(&TaskId::new("s/a"), 0).await.expect_err("it changed");
    assert!(error.to_string().contains("changed"), "{error}");
}

#[tokio::test]
async fn options_it_refuses_are_told_in_its_words() {
    let fake = Fake::start("no(-32002, 'unknown suite `x`'); continue", "", None).await;
    let error = fake.pool.expect_err("it refused");
    assert_eq!(error.to_string(), "bridge `fake`: unknown suite `x`");
}

#[tokio::test]
async fn shutdown_and_drop_leave_no_process() {
    let fake = Fake::start("", "", None).await;
    let pid = fake.pid(1);
    fake.pool.expect("it started").shutdown().await;
    assert!(!runs(pid));

    let fake = Fake::start("", "", None).await;
    let opened = fake.open().await;
    let pid = fake.pid(1);
    assert!(runs(pid));
    drop(opened);
    drop(fake.pool);
    assert!(ends(pid).await);
}

#[tokio::test]
async fn no_environment_variable_reaches_a_bridge() {
    let spill = "ok(dict(content=' '.join(sorted(os.environ)), is_error=False)); continue";
    let fake = Fake::start("", spill, None).await;
    let seen = fake.open().await.episode.call(&call()).await.expect("an answer").content;
    assert!(!seen.contains("HOME") && !seen.contains("CARGO"), "{seen}");
    assert!(seen.contains("PYTHONHASHSEED"), "{seen}");
}

/// Writes down every request, and answers `call` with what it was asked.
const SCRIBE: &str = r#"
        open(os.path.join(here, "asked"), "a").write(p["tool"] + " ")
        ok(dict(content="to " + p["tool"], is_error=False)); continue"#;

fn named(tool: &str) -> ToolCall {
    ToolCall { tool: tool.to_owned(), ..call() }
}

/// Results of `tools` in one episode of `s/a`, its verdict, and what the bridge was asked.
async fn lived(fake: &Fake, bridge: &RecallingBridge, tools: &[&str]) -> (Vec<String>, String) {
    let log = fake.folder.path().join("asked");
    std::fs::write(&log, "").expect("writable");
    let mut begun = bridge.open(&TaskId::new("s/a"), 0).await.expect("an episode");
    assert_eq!((begun.instruction.as_str(), &*begun.system_prompt), ("do it", "be good"));
    let mut results = Vec::new();
    let calls: Vec<ToolCall> = tools.iter().map(|t| named(t)).collect();
    for call in &calls {
        results.push(begun.episode.call(call).await.expect("an answer").content);
    }
    let verdict = begun.episode.judge("done", &calls).await.expect("a verdict");
    assert_eq!(verdict.task_success, Some(true));
    begun.episode.close().await;
    (results, std::fs::read_to_string(log).expect("written"))
}

#[tokio::test]
async fn what_was_answered_is_not_asked_again() {
    let mut fake = Fake::start("", SCRIBE, None).await;
    let pool = std::mem::replace(&mut fake.pool, Err(EnvError::NotAllowed(String::new())));
    let bridge = RecallingBridge::new(pool.expect("it started"));
    let (first, asked) = lived(&fake, &bridge, &["x", "y"]).await;
    assert_eq!(asked, "x y ");
    let (again, asked) = lived(&fake, &bridge, &["x", "y"]).await;
    assert_eq!((again, asked.as_str()), (first, ""), "known from the first call to the verdict");
    // Another second call: the first is executed again, so that the state is right.
    let (other, asked) = lived(&fake, &bridge, &["x", "z", "y"]).await;
    assert_eq!(other, ["to x", "to z", "to y"]);
    assert_eq!(asked, "x z y ");
    let (_, asked) = lived(&fake, &bridge, &["x"]).await;
    assert_eq!(asked, "x ", "the calls are known, the verdict after them is not");
}

#[tokio::test]
async fn episodes_of_an_earlier_process_are_recalled() {
    let mut fake = Fake::start("", SCRIBE, None).await;
    let pool = std::mem::replace(&mut fake.pool, Err(EnvError::NotAllowed(String::new())));
    let bridge = RecallingBridge::new(pool.expect("it started"));
    let result = ToolResult { content: "to x".to_owned(), is_error: false };
    let verdict = Verdict { task_success: Some(true), attack_success: None };
    let task = TaskId::new("s/a");
    bridge.remember((&task, 0), "do it", &[(&named("x"), &result)], ("done", verdict));
    let (results, asked) = lived(&fake, &bridge, &["x"]).await;
    assert_eq!((results, asked.as_str()), (vec!["to x".to_owned()], ""));
}

#[tokio::test]
async fn a_benchmark_that_answers_otherwise_is_never_recalled_again() {
    let drifts = SCRIBE.replace("\"to \"", "str(time.time())");
    let mut fake = Fake::start("", &drifts, None).await;
    let pool = std::mem::replace(&mut fake.pool, Err(EnvError::NotAllowed(String::new())));
    let bridge = RecallingBridge::new(pool.expect("it started"));
    let (first, _) = lived(&fake, &bridge, &["x"]).await;
    let mut begun = bridge.open(&TaskId::new("s/a"), 0).await.expect("an episode");
    assert_eq!(begun.episode.call(&named("x")).await.expect("recalled").content, first[0]);
    let error = begun.episode.call(&named("y")).await.expect_err("`x` changed");
    assert_eq!(error.fault(), FaultKind::BridgeProtocol);
    assert!(error.to_string().contains("`x` gave another result when repeated"), "{error}");
    begun.episode.close().await;
    let (_, asked) = lived(&fake, &bridge, &["x", "y"]).await;
    assert_eq!(asked, "x y ");
    let (_, asked) = lived(&fake, &bridge, &["x", "y"]).await;
    assert_eq!(asked, "x y ");
    assert!(bridge.pool().notices()[0].contains("s/a is not deterministic"));
}
