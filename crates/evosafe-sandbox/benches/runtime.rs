//! Speed and memory of the harness runtime: `cargo bench -p evosafe-sandbox`. Meaningful on an
//! idle machine only. Prints the memory of 1,000 live trajectories first, each kind in a
//! process of its own: slots of the pool stay warm.

use std::hint::black_box;

use criterion::{Criterion, criterion_group};
use evosafe_sandbox::{Classifier, Harness, Sandbox, SandboxOptions};
use evosafe_types::{
    Bundle, HarnessLimits, JsonMap, Language, Manifest, Origin, RunContext, ToolCall, ToolResult,
    ToolSpec,
};
use serde_json::json;
use tokio::runtime::Runtime;

const TRIVIAL: &str = "export function onPreToolCall(call) { return allow(); }";
/// 60 lines, five case-insensitive patterns through the host, state in a map and a set.
const REFERENCE: &str = include_str!("../examples/reference-policy.js");

fn bundle(code: &str) -> Bundle {
    Bundle {
        policy: None,
        code: Some(code.to_owned()),
        component: None,
        rationale: String::new(),
        manifest: Manifest {
            abi: 1,
            language: Language::Javascript,
            name: "bench".to_owned(),
            parents: Vec::new(),
            origin: Origin::Seed,
            edit: String::new(),
            limits: HarnessLimits::default(),
            mechanisms: Vec::new(),
        },
        manifest_text: String::new(),
    }
}

fn object(value: serde_json::Value) -> JsonMap {
    value.as_object().cloned().unwrap_or_default()
}

fn context(tools: usize) -> RunContext {
    let tool = |i: usize| ToolSpec {
        name: format!("tool_{i}"),
        server: None,
        description: "Sends a message to somebody who is named in the arguments.".repeat(3),
        input_schema: json!({"type": "object", "required": ["to", "body"], "properties": {
            "to": {"type": "string", "description": "Who gets it."},
            "body": {"type": "string", "description": "What it says."},
            "amount": {"type": "number", "description": "How much."}}}),
        annotations: JsonMap::new(),
    };
    RunContext {
        trace_id: "t".to_owned(),
        instruction: "Please pay the bill in bill.txt to Anna.".to_owned(),
        tools: (0..tools).map(tool).collect(),
    }
}

fn call() -> ToolCall {
    let arguments =
        object(json!({"to": "anna@example.com", "body": "here you are", "amount": 12.5}));
    ToolCall { id: "c".to_owned(), server: None, tool: "tool_1".to_owned(), arguments }
}

fn result() -> ToolResult {
    let text = "Dear customer, the amount of 12.50 is due. Please ignore earlier letters. ";
    ToolResult { content: text.repeat(20), is_error: false }
}

/// Private memory: pages of the shared snapshot that were only read do not count.
fn resident_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap_or("RssAnon: 0");
    let kib = line.split_whitespace().nth(1).and_then(|n| n.parse::<f64>().ok());
    kib.unwrap_or_default() / 1024.0
}

/// Names the kind whose memory a process is to measure.
const MEMORY_OF: &str = "EVOSAFE_BENCH_MEMORY_OF";

fn memory(runtime: &Runtime, name: &str, harness: &Harness) {
    let before = resident_mib();
    let ctx = context(10);
    let mut alive = Vec::new();
    for _ in 0..1000 {
        alive.push(runtime.block_on(async {
            let mut run = harness.start(&ctx, Classifier::Absent).await;
            run.pre_tool_call(&call()).await;
            run
        }));
    }
    println!("memory/{name}: {:.0} MiB for 1000 live trajectories", resident_mib() - before);
}

/// Every kind of harness that is measured, by name.
fn harnesses() -> Vec<(String, Harness)> {
    let cache_dir = Some(std::env::temp_dir().join("evosafe-bench"));
    let sandbox = Sandbox::new(&SandboxOptions { cache_dir }).expect("the sandbox starts");
    let mut harnesses = Vec::new();
    for (name, code) in [("trivial", TRIVIAL), ("reference", REFERENCE)] {
        let bundle = bundle(code);
        let shared = sandbox.prepare(&bundle).expect("valid");
        let wasm = sandbox.build(&bundle).expect("it builds");
        let compiled = sandbox.prepare_component(&bundle, &wasm).expect("valid");
        harnesses.push((format!("{name}/shared"), shared));
        harnesses.push((format!("{name}/compiled"), compiled));
    }
    harnesses
}

fn tokio() -> Runtime {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime")
}

fn runtime(c: &mut Criterion) {
    let runtime = tokio();
    let harnesses = harnesses();
    for (name, harness) in &harnesses {
        for tools in [1, 24] {
            let ctx = context(tools);
            c.bench_function(&format!("new trajectory, {tools} tools/{name}"), |b| {
                b.iter(|| runtime.block_on(harness.start(black_box(&ctx), Classifier::Absent)));
            });
        }
        let mut run = runtime.block_on(harness.start(&context(1), Classifier::Absent));
        let (call, result) = (call(), result());
        c.bench_function(&format!("pre-hook/{name}"), |b| {
            b.iter(|| runtime.block_on(run.pre_tool_call(black_box(&call))));
        });
        c.bench_function(&format!("post-hook, 1.5 kB/{name}"), |b| {
            b.iter(|| runtime.block_on(run.post_tool_call(black_box(&call), black_box(&result))));
        });
        assert!(run.finish().faults.is_empty());
    }
}

criterion_group!(benches, runtime);

fn main() {
    if let Ok(name) = std::env::var(MEMORY_OF) {
        let harnesses = harnesses();
        let (_, harness) = harnesses.iter().find(|(known, _)| *known == name).expect("known");
        memory(&tokio(), &name, harness);
        return;
    }
    let this = std::env::current_exe().expect("a program knows its path");
    for (name, _) in harnesses() {
        let status = std::process::Command::new(&this).env(MEMORY_OF, name).status();
        assert!(status.expect("it starts").success());
    }
    benches();
    Criterion::default().configure_from_args().final_summary();
}
