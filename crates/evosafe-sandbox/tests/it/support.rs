//! One sandbox for all tests, and short ways to make bundles and calls.

use std::path::PathBuf;
use std::sync::OnceLock;

use evosafe_sandbox::{Classifier, Harness, Sandbox, SandboxOptions, Trajectory};
use evosafe_types::{
    Bundle, HarnessLimits, JsonMap, Language, Manifest, Origin, RunContext, ToolCall, ToolResult,
    ToolSpec,
};
use serde_json::{Value, json};

pub fn sandbox() -> &'static Sandbox {
    static SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    SANDBOX.get_or_init(|| {
        let cache_dir = Some(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("provider"));
        Sandbox::new(&SandboxOptions { cache_dir }).expect("the sandbox starts")
    })
}

pub fn bundle(code: Option<&str>) -> Bundle {
    Bundle {
        policy: None,
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
    sandbox().prepare(&bundle(Some(code))).unwrap_or_else(|error| panic!("{code}: {error}"))
}

pub fn object(value: Value) -> JsonMap {
    match value {
        Value::Object(map) => map,
        other => panic!("{other} is not an object"),
    }
}

pub fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        server: None,
        description: format!("Does {name}."),
        input_schema: json!({"type": "object", "properties": {"to": {"type": "string"}}}),
        annotations: object(json!({"readOnlyHint": false})),
    }
}

pub fn context() -> RunContext {
    RunContext {
        trace_id: "t1".to_owned(),
        instruction: "Pay the bill of Anna.".to_owned(),
        tools: vec![tool("pay"), tool("read"), tool("delete")],
    }
}

pub fn call(arguments: Value) -> ToolCall {
    ToolCall {
        id: "c1".to_owned(),
        server: None,
        tool: "pay".to_owned(),
        arguments: object(arguments),
    }
}

pub fn result(content: &str) -> ToolResult {
    ToolResult { content: content.to_owned(), is_error: false }
}

pub async fn start(code: &str) -> Trajectory {
    harness(code).start(&context(), Classifier::Absent).await
}
