//! GitHub's Markdown.

use super::{kept, one_line, shown, words};
use crate::document::{Document, Table, Value};

pub(super) fn render(document: &Document) -> String {
    let mut out = format!("## {}\n\n", escape(&document.title));
    for (name, value) in &document.facts {
        out += &format!("- {name}: {}\n", escape(value));
    }
    for table in &document.tables {
        out += &format!("\n### {}\n\n{}", escape(&table.title), body(table));
    }
    out.push('\n');
    for note in &document.notes {
        out += &format!("{}\n\n", escape(note));
    }
    for caveat in &document.caveats {
        out += &format!("> {}\n>\n", escape(caveat));
    }
    out.trim_end_matches(['>', '\n']).to_owned()
}

fn body(table: &Table) -> String {
    let kept = kept(table);
    let heads: Vec<String> = kept.iter().map(|&at| escape(&table.columns[at].head)).collect();
    let rule = |at: &usize| if words(table, *at) { "---" } else { "---:" };
    let rules: Vec<&str> = kept.iter().map(rule).collect();
    let mut out = format!("| {} |\n|{}|\n", heads.join(" | "), rules.join("|"));
    for row in &table.rows {
        let cell = |value: &Value| {
            // The bracket of an interval is no link; only words can hold markup.
            let text = match value {
                Value::Text(text) => escape(text),
                Value::Mark(true) => "\\*".to_owned(),
                other => shown(other),
            };
            if row.strong && !text.is_empty() { format!("**{text}**") } else { text }
        };
        let cells: Vec<String> = kept.iter().map(|&at| cell(&row.cells[at])).collect();
        out += &format!("| {} |\n", cells.join(" | "));
    }
    out
}

/// What Markdown, or a table in it, would read as markup.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in one_line(text).chars() {
        if matches!(c, '\\' | '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
