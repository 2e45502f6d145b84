use super::*;

fn findings(code: &str) -> Vec<String> {
    match wrap(code) {
        Ok(_) => Vec::new(),
        Err(error) => error.findings.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn every_form_of_export_is_found() {
    let code = "export function begin(ctx) {}\n\
        export const onPreToolCall = call => allow(), onPostToolCall = () => keep();\n\
        function last(text) { return keep(); }\n\
        export { last as onFinalAnswer };\n\
        const hooks = { s: p => p };\n\
        export const { s: systemPromptTransform } = hooks;\n";
    let wrapped = wrap(code).expect("valid");
    assert_eq!(
        wrapped.hooks,
        [Hook::Begin, Hook::SystemPrompt, Hook::PreToolCall, Hook::PostToolCall, Hook::FinalAnswer]
    );
    assert!(wrapped.source.contains("onFinalAnswer: last"));
    assert!(!wrapped.source.contains("export"));
}

#[test]
fn lines_and_columns_stay() {
    let code = "const a = 1\nexport\n  function begin() {\n}\nexport {\n a as\n onUserMessage }\n";
    let wrapped = wrap(code).expect("valid").source;
    let lines: Vec<&str> = wrapped.lines().collect();
    for (number, line) in code.lines().enumerate() {
        assert_eq!(lines[number + WRAPPER_LINES as usize].len(), line.len());
    }
    assert_eq!(lines[3], "  function begin() {");
}

#[test]
fn what_is_refused_says_where() {
    let cases = [
        ("let x = 1;\nimport y from 'y';", "harness.js:2:1: imports are refused"),
        (
            "export function begin() {\n  return import('x'); }",
            "harness.js:2:10: imports are refused",
        ),
        ("export * from 'x';", "harness.js:1:1: imports are refused"),
        ("export { begin } from 'x';", "harness.js:1:1: imports are refused"),
        ("await begin();\nexport function begin() {}", "harness.js:1:1: top-level `await`"),
        (
            "export function begin() {}\nexport const version = 1;",
            "harness.js:2:14: export `version` is no hook",
        ),
        (
            "export function onPreToolcall() {}",
            "harness.js:1:17: export `onPreToolcall` is no hook",
        ),
        ("export default {};", "harness.js:1:1: a default export is no hook"),
        ("const x = 1;", "harness.js:1:1: no hook is exported"),
        ("export function begin() { return import.meta.url; }", "harness.js:1:34: `import.meta`"),
        ("export async function begin() {}", "harness.js:1:1: hooks are synchronous"),
        ("export const begin = async () => [];", "harness.js:1:1: hooks are synchronous"),
        (
            "export function begin() { console.log('é'); }",
            "harness.js:1:27: `console` is not defined",
        ),
        ("export function begin() { count += 1; }", "harness.js:1:27: `count` is not defined"),
        ("/* é😀 */ return;", "harness.js:1:11:"),
        ("export function begin( {", "harness.js:1:25:"),
        ("export { begin };", "harness.js:1:10:"),
        ("let a; let a; export function begin() {}", "harness.js:1:5:"),
        ("return 1;", "harness.js:1:1:"),
    ];
    for (code, expected) in cases {
        let found = findings(code);
        assert!(found.iter().any(|f| f.starts_with(expected)), "{code}: {found:?}");
    }
}

#[test]
fn typeof_may_ask_for_what_is_not_there() {
    assert_eq!(findings("export function begin() { return typeof console; }"), [""; 0]);
}

#[test]
fn top_level_names_of_a_script() {
    let script = "const A = 1, { b, c: [d] } = x;\nfunction e() { const no = 1; }\nclass F {}\nlet g;\n\
        const M = new Map(), R = /x/g;\nconst S = setOf();\nconst O = Object.freeze({});";
    assert_eq!(top_level_names(script), ["A", "b", "d", "e", "F", "g", "O"]);
}

#[test]
fn mechanisms_name_nothing_that_the_sandbox_lacks() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../warmstart/mechanisms");
    for entry in std::fs::read_dir(dir).expect("the mechanisms are there") {
        let file = entry.expect("readable").path();
        if file.extension().is_some_and(|extension| extension == "js") {
            let body = std::fs::read_to_string(&file).expect("readable");
            let code = format!("{body}\nexport const begin = () => typeof mechanism;");
            assert_eq!(findings(&code), [""; 0], "{}", file.display());
        }
    }
}
