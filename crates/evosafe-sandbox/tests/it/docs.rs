//! `docs/harness-abi.md` says what is true: its patterns pass stage 0, its helpers exist.

use crate::support::{bundle, sandbox};

const ABI: &str = include_str!("../../../../docs/harness-abi.md");

fn blocks() -> Vec<&'static str> {
    let mut rest = ABI;
    let mut found = Vec::new();
    while let Some((_, from)) = rest.split_once("```js\n") {
        let (block, behind) = from.split_once("```").expect("a block ends");
        found.push(block);
        rest = behind;
    }
    found
}

#[tokio::test]
async fn the_patterns_pass_stage_0() {
    let blocks = blocks();
    assert_eq!(blocks.len(), 11, "the opening example and ten patterns");
    for code in blocks {
        let report = sandbox().check(&bundle(Some(code))).await;
        assert!(report.passed(), "{code}\n{:#?}", report.findings);
        assert!(report.calls > 0);
    }
}

#[tokio::test]
async fn the_helpers_it_names_exist() {
    let (_, table) = ABI.split_once("### From the prelude").expect("the section");
    let (table, _) = table.split_once("\n## ").expect("the next section");
    let mut checks = String::new();
    for row in table.lines().filter(|line| line.starts_with("| ")) {
        for code in row.split('`').skip(1).step_by(2) {
            let name: String = code.chars().take_while(char::is_ascii_alphanumeric).collect();
            if name.is_empty() {
                continue;
            }
            checks.push_str(&format!("if (typeof {name} !== 'function') throw '{name}';\n"));
        }
    }
    assert!(checks.lines().count() > 25, "{checks}");
    let code = format!("export function onFinalAnswer() {{\n{checks}return keep(); }}");
    let report = sandbox().check(&bundle(Some(&code))).await;
    assert!(report.passed(), "{:#?}", report.findings);
}
