//! One sandbox and one environment for all tests, and short ways to write recordings.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use evosafe_agent::{Agent, EpisodeResult, Purpose, Victim};
use evosafe_env::{Environment, EnvironmentSettings};
use evosafe_sandbox::{Harness, Sandbox, SandboxOptions};
use evosafe_types::{
    Bundle, Family, HarnessLimits, JsonMap, Language, Manifest, Origin, Task, TaskId,
};
use serde_json::{Value, json};
use tempfile::TempDir;

pub fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

pub fn sandbox() -> &'static Sandbox {
    static SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    SANDBOX.get_or_init(|| {
        let cache_dir = Some(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("provider"));
        Sandbox::new(&SandboxOptions { cache_dir }).expect("the sandbox starts")
    })
}

pub fn bundle(policy: Option<&str>, code: Option<&str>) -> Bundle {
    Bundle {
        policy: policy.map(str::to_owned),
        code: code.map(str::to_owned),
        component: None,
        rationale: String::new(),
        manifest: Manifest {
            abi: 1,
            language: Language::Javascript,
            name: "test".to_owned(),
            parents: Vec::new(),
            origin: Origin::Seed,
            edit: String::new(),
            limits: HarnessLimits::default(),
            mechanisms: Vec::new(),
        },
        manifest_text: String::new(),
    }
}

pub fn harness(code: &str) -> Harness {
    prepared(&bundle(None, Some(code)))
}

pub fn no_defence() -> Harness {
    prepared(&bundle(None, None))
}

pub fn prepared(bundle: &Bundle) -> Harness {
    sandbox().prepare(bundle).unwrap_or_else(|error| panic!("{error}"))
}

pub async fn finance() -> Arc<Environment> {
    let settings = EnvironmentSettings::Builtin { domain: "finance".to_owned() };
    Arc::new(Environment::start(&settings, None).await.expect("the domain is built in"))
}

pub fn first(environment: &Environment, family: Family) -> Task {
    let found = environment.tasks().iter().find(|task| task.family == family);
    found.expect("every family has tasks").clone()
}

/// A task that no environment lists.
pub fn task(suite: &str, user_task: &str, injection_task: Option<&str>) -> Task {
    Task {
        id: TaskId::new(format!("{suite}/{user_task}")),
        family: if injection_task.is_some() { Family::Indirect } else { Family::Benign },
        category: suite.to_owned(),
        suite: suite.to_owned(),
        user_task: user_task.to_owned(),
        injection_task: injection_task.map(str::to_owned),
        side: None,
    }
}

/// A call as recorded.
pub fn call(tool: &str, args: Value) -> Value {
    json!({ "function": tool, "args": args, "id": null })
}

/// A recorded turn and an (uninteresting) result for each of its calls.
pub fn turn(calls: &[Value]) -> Vec<Value> {
    let mut messages = vec![json!({ "role": "assistant", "content": "", "tool_calls": calls })];
    messages.extend(calls.iter().map(|_| json!({ "role": "tool", "content": "recorded" })));
    messages
}

/// A victim that makes these turns in `task` and answers `answer`.
pub fn replayed(task: &Task, turns: &[Vec<Value>], answer: &str) -> (TempDir, Victim) {
    let mut messages = vec![json!({ "role": "user", "content": "Please." })];
    messages.extend(turns.iter().flatten().cloned());
    messages.push(json!({ "role": "assistant", "content": answer }));
    let attacked = task.injection_task.is_some();
    let run = json!({
        "suite_name": task.suite,
        "pipeline_name": "written",
        "user_task_id": task.user_task,
        "injection_task_id": task.injection_task,
        "attack_type": attacked.then_some("written"),
        "messages": messages,
        "error": null,
        "utility": true,
        "security": false,
    });
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("run.json"), run.to_string()).expect("it can be written");
    let options: JsonMap = if attacked {
        [("attack".to_owned(), "written".into())].into_iter().collect()
    } else {
        JsonMap::new()
    };
    let locator = format!("replay:{}", folder.path().display());
    let victim = Victim::open(&locator, &options).expect("the recording is valid");
    (folder, victim)
}

/// Runs `turns` under `harness` in a benign task of the built-in domain.
pub async fn run(
    harness: &Harness,
    turns: &[Vec<Value>],
    answer: &str,
    steps: u32,
) -> EpisodeResult {
    let environment = finance().await;
    let task = first(&environment, Family::Benign);
    let (_folder, victim) = replayed(&task, turns, answer);
    Agent::new(environment, Arc::new(victim), steps)
        .run(harness, &task, 0, Purpose::default())
        .await
}
