//! An instance that was given an image answers as one that loaded the candidate.

use std::path::Path;
use std::sync::LazyLock;

use evosafe_types::{Bundle, HarnessLimits, Language, Manifest, Origin};
use tokio::sync::OnceCell;

use crate::check::trial;
use crate::guest::Program;
use crate::host::Classifier;
use crate::sample;
use crate::sandbox::{Harness, Sandbox, SandboxOptions};

static SANDBOX: LazyLock<Sandbox> =
    LazyLock::new(|| Sandbox::new(&SandboxOptions::default()).expect("the sandbox starts"));

fn bundle(code: &str) -> Bundle {
    let limits = HarnessLimits { fuel: 300_000_000, memory_mib: 16, ..HarnessLimits::default() };
    Bundle {
        policy: None,
        code: Some(code.to_owned()),
        component: None,
        rationale: String::new(),
        manifest: Manifest {
            abi: 1,
            language: Language::Javascript,
            name: "test".to_owned(),
            parents: Vec::new(),
            origin: Origin::Seed,
            edit: String::new(),
            limits,
            mechanisms: Vec::new(),
        },
        manifest_text: String::new(),
    }
}

fn image(harness: &Harness) -> &OnceCell<Option<crate::image::Image>> {
    match &harness.inner.code.as_ref().expect("it has code").program {
        Program::Script(script) => &script.image,
        Program::Component(_) => panic!("it is JavaScript"),
    }
}

/// Everything that three trajectories of it show, and whether they had an image.
async fn shown(harness: &Harness) -> (Vec<String>, bool) {
    let mut shown = Vec::new();
    for ctx in sample::contexts().iter().chain(&sample::contexts()[..1]) {
        let trial = trial(harness, ctx, &Classifier::Absent).await;
        shown.push(format!("{:?} {:?} {:?}", trial.answers, trial.log, trial.faults));
    }
    (shown, image(harness).get().is_some_and(Option::is_some))
}

/// Compares with a harness that loads its code in each trajectory. Whether there was an image.
async fn agrees(name: &str, code: &str) -> Option<bool> {
    let imaged = SANDBOX.prepare(&bundle(code)).ok()?;
    let loading = SANDBOX.prepare(&bundle(code)).ok()?;
    assert!(image(&loading).set(None).is_ok(), "not started yet");
    let (answers, had) = shown(&imaged).await;
    assert_eq!(answers, shown(&loading).await.0, "{name}");
    Some(had)
}

/// State of every kind made at load, used later, grown beyond the memory of a fresh instance.
const STATEFUL: &str = "
const table = new Map(Array.from({ length: 20000 }, (_, i) => [`key-${i}`, { i, text: 'x'.repeat(i % 50) }]));
const pattern = /(\\w+)@example\\.(org|com)/giu;
const weak = new WeakMap([[table, 'kept']]);
let calls = 0;
const found = regexFindAll('a+', 'baab').length;
export function begin(ctx) { calls = table.size; return []; }
export function onPreToolCall(call) {
  calls += 1;
  table.delete(`key-${calls % 20000}`);
  const hit = pattern.exec(JSON.stringify(call.arguments));
  return block(`${calls} ${table.size} ${weak.get(table)} ${found} ${hit} ${pattern.lastIndex} ${table.get('key-777').text}`);
}
export function onPostToolCall(call, result) { return replace(`${calls}:${result.content.length}`); }
";

#[tokio::test]
async fn an_image_answers_as_what_it_is_the_image_of() {
    let imaged = [
        ("stateful", STATEFUL),
        ("reference", include_str!("../examples/reference-policy.js")),
        ("tiny", "export function onFinalAnswer(text) { return keep(); }"),
    ];
    for (name, code) in imaged {
        assert_eq!(agrees(name, code).await, Some(true), "{name} has an image");
    }
}

#[tokio::test]
async fn what_leaves_more_than_memory_is_loaded_each_time() {
    let loaded = [
        ("logs", "log('hello'); export function onFinalAnswer(text) { return keep(); }"),
        (
            "asks",
            "const a = (() => { try { return classify('q', 't'); } catch (e) { return String(e); } })(); export function onFinalAnswer(text) { return replace(a); }",
        ),
        ("throws", "throw new Error('no'); export function onFinalAnswer(text) { return keep(); }"),
        ("loops", "for (;;) {} export function onFinalAnswer(text) { return keep(); }"),
        (
            "hoards",
            "const all = []; for (;;) all.push(new Array(10000).fill(0)); export function onFinalAnswer(text) { return keep(); }",
        ),
    ];
    for (name, code) in loaded {
        assert_eq!(agrees(name, code).await, Some(false), "{name} has no image");
    }
}

#[tokio::test]
async fn hostile_code_gains_nothing_by_an_image() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile");
    let mut compared = 0;
    for entry in std::fs::read_dir(folder).expect("the corpus is there") {
        let path = entry.expect("readable").path();
        let code = std::fs::read_to_string(&path).expect("text");
        compared += u32::from(agrees(&path.display().to_string(), &code).await.is_some());
    }
    assert!(compared >= 50, "{compared} were run");
}
