//! Stage 0.

use evosafe_sandbox::Sandbox;
use evosafe_types::HarnessLimits;

use crate::support::{bundle, sandbox};

async fn findings(code: &str) -> Vec<String> {
    let report = sandbox().check(&bundle(Some(code))).await;
    report.findings.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn sound_bundles_pass() {
    let report = sandbox().check(&bundle(None)).await;
    assert!(report.passed() && report.hooks.is_empty());
    let code = "export function begin(ctx) { log('hi'); return []; }\n\
        export function onPreToolCall(call) { return JSON.stringify(call.arguments).length > 9000 ? block('long') : allow(); }\n\
        export function onPostToolCall(call, result) { return replace(result.content.slice(0, 10)); }";
    let report = sandbox().check(&bundle(Some(code))).await;
    assert_eq!(report.findings, []);
    assert_eq!(report.hooks, ["begin", "onPreToolCall", "onPostToolCall"]);
    assert!(report.calls > 50 && report.log.contains(&"hi".to_owned()));
}

#[tokio::test]
async fn what_fails_is_named_with_its_place() {
    let cases = [
        ("export function onPreToolCall(", "harness.js:1:31: "),
        (
            "\nexport function onPreToolCall(call) {\n  return call.missing.field;\n}",
            "harness.js:3:10: onPreToolCall (thrown): TypeError: ",
        ),
        (
            "export function onPostToolCall(call, result) {\n  if (result.content === '') return 1;\n  return keep();\n}",
            "harness.js: onPostToolCall (malformed): onPostToolCall returned number",
        ),
        (
            "export function onFinalAnswer(text) { for (;;) {} }",
            "harness.js: onFinalAnswer (fuel): ",
        ),
        (
            "export function onFinalAnswer(text) { return Math.random() < 2 ? keep() : keep(); }",
            "harness.js:1:",
        ),
        ("export const begin = 5;", "harness.js: begin (malformed): export `begin` is number"),
        ("const a = JSON.parse('{');\nexport function begin() {}", "harness.js:1:"),
    ];
    for (code, expected) in cases {
        let found = findings(code).await;
        assert!(found.iter().any(|f| f.starts_with(expected)), "{code}: {found:#?}");
        assert!(found.len() < 10, "{found:#?}");
    }
}

#[tokio::test]
async fn limits_and_versions_are_checked() {
    let mut odd = bundle(None);
    odd.manifest.abi = 2;
    odd.manifest.limits = HarnessLimits { fuel: 0, memory_mib: 4096, ..HarnessLimits::default() };
    let report = sandbox().check(&odd).await;
    assert_eq!(report.findings.len(), 3, "{:?}", report.findings);
    assert!(report.findings.iter().all(|finding| finding.file == "bundle.toml"));
}

#[test]
fn the_version_needs_no_build() {
    assert_eq!(Sandbox::version(), Sandbox::version());
}
