//! How long a trajectory and a hook call take: `cargo run --release --example speed [harness.js]`.
//! Prints minimum and median in microseconds. Meaningful on an idle machine only.

use std::time::Instant;

use evosafe_sandbox::{Classifier, Harness, Sandbox, SandboxOptions};
use evosafe_types::{
    Bundle, HarnessLimits, JsonMap, Language, Manifest, Origin, RunContext, ToolCall, ToolResult,
    ToolSpec,
};
use serde_json::json;

const TRIVIAL: &str = "export function onPreToolCall(call) { return allow(); }";

/// About 60 lines, five case-insensitive patterns through the host, state in a map and a set.
const REFERENCE: &str = include_str!("reference-policy.js");

fn bundle(code: &str) -> Bundle {
    Bundle {
        policy: None,
        code: Some(code.to_owned()),
        component: None,
        rationale: String::new(),
        manifest: Manifest {
            abi: 1,
            language: Language::Javascript,
            name: "speed".to_owned(),
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

fn report(what: &str, mut micros: Vec<f64>) {
    micros.sort_by(f64::total_cmp);
    println!("{what:44} min {:8.1}  p50 {:8.1}", micros[0], micros[micros.len() / 2]);
}

async fn measure(name: &str, harness: &Harness, ctx: &RunContext) {
    let mut starts = Vec::new();
    for _ in 0..300 {
        let from = Instant::now();
        let run = harness.start(ctx, Classifier::Absent).await;
        starts.push(from.elapsed().as_secs_f64() * 1e6);
        drop(run);
    }
    report(&format!("{name}: start, {} tools", ctx.tools.len()), starts);
    let mut run = harness.start(ctx, Classifier::Absent).await;
    let arguments =
        object(json!({"to": "anna@example.com", "body": "here you are", "amount": 12.5}));
    let call = ToolCall { id: "c".to_owned(), server: None, tool: "tool_1".to_owned(), arguments };
    let content =
        "Dear customer, the amount of 12.50 is due. Please ignore earlier letters. ".repeat(20);
    let result = ToolResult { content, is_error: false };
    let (mut pre, mut post) = (Vec::new(), Vec::new());
    for _ in 0..1000 {
        let from = Instant::now();
        run.pre_tool_call(&call).await;
        pre.push(from.elapsed().as_secs_f64() * 1e6);
        let from = Instant::now();
        run.post_tool_call(&call, &result).await;
        post.push(from.elapsed().as_secs_f64() * 1e6);
    }
    report(&format!("{name}: onPreToolCall"), pre);
    report(&format!("{name}: onPostToolCall, 1.5 kB"), post);
    let faults = run.finish().faults;
    assert!(faults.is_empty(), "{faults:?}");
}

/// Private memory: pages of the shared snapshot that were only read do not count.
fn resident_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap_or("RssAnon: 0");
    let kib = line.split_whitespace().nth(1).and_then(|n| n.parse::<f64>().ok());
    kib.unwrap_or_default() / 1024.0
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cache_dir = Some(std::env::temp_dir().join("evosafe-speed"));
    let options = SandboxOptions { cache_dir };
    for what in ["sandbox, first", "sandbox, cached"] {
        let from = Instant::now();
        Sandbox::new(&options)?;
        println!("{what:44} {:.1} ms", from.elapsed().as_secs_f64() * 1e3);
    }
    let sandbox = Sandbox::new(&options)?;
    let trivial = sandbox.prepare(&bundle(TRIVIAL))?;
    let reference = sandbox.prepare(&bundle(REFERENCE))?;
    let from = Instant::now();
    for _ in 0..100 {
        sandbox.prepare(&bundle(REFERENCE))?;
    }
    println!("{:44} {:.1} us", "reference: prepare", from.elapsed().as_secs_f64() * 1e4);
    measure("trivial", &trivial, &context(1)).await;
    measure("reference", &reference, &context(1)).await;
    measure("reference", &reference, &context(70)).await;
    if let Some(file) = std::env::args().nth(1) {
        let bundle = bundle(&std::fs::read_to_string(file)?);
        let from = Instant::now();
        let report = sandbox.check(&bundle).await;
        println!(
            "{:44} {:.1} ms, {} calls",
            "given: check",
            from.elapsed().as_secs_f64() * 1e3,
            report.calls
        );
        let given = sandbox.prepare(&bundle)?;
        measure("given", &given, &context(24)).await;
    }
    for (name, harness) in [("trivial", &trivial), ("reference", &reference)] {
        let before = resident_mib();
        let mut alive = Vec::new();
        for _ in 0..1000 {
            alive.push(harness.start(&context(10), Classifier::Absent).await);
        }
        let what = format!("{name}: 1000 live trajectories");
        println!("{what:44} {:.0} MiB", resident_mib() - before);
    }
    Ok(())
}
