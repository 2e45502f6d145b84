//! LaTeX: a floating table each, with the rules of `booktabs`.

use super::{kept, one_line, shown, words};
use crate::document::{Document, Table, Value};

pub(super) fn render(document: &Document) -> String {
    let mut out = format!("% {}\n", one_line(&document.title));
    for (name, value) in &document.facts {
        out += &format!("% {name}: {}\n", one_line(value));
    }
    for note in &document.notes {
        out += &format!("% {}\n", one_line(note));
    }
    for caveat in &document.caveats {
        out += &format!("% note: {}\n", one_line(caveat));
    }
    out += "% needs \\usepackage{booktabs}\n";
    for table in &document.tables {
        out.push('\n');
        out += &body(table, &document.caveats);
    }
    out
}

fn body(table: &Table, caveats: &[String]) -> String {
    let kept = kept(table);
    let layout: String = kept.iter().map(|&at| if words(table, at) { 'l' } else { 'r' }).collect();
    // A comment does not survive typesetting; what must be said stands in the caption too.
    let mut caption = escape(&table.title);
    for caveat in caveats {
        caption += &format!(" ({})", escape(caveat));
    }
    let heads: Vec<String> = kept.iter().map(|&at| escape(&table.columns[at].head)).collect();
    let mut out = format!(
        "\\begin{{table}}[ht]\n\\centering\n\\caption{{{caption}}}\n\\label{{tab:{}}}\n\
         \\begin{{tabular}}{{{layout}}}\n\\toprule\n{} \\\\\n\\midrule\n",
        table.name,
        heads.join(" & ")
    );
    for row in &table.rows {
        let cell = |value: &Value| {
            let text = typeset(value);
            if row.strong && !text.is_empty() { format!("\\textbf{{{text}}}") } else { text }
        };
        let cells: Vec<String> = kept.iter().map(|&at| cell(&row.cells[at])).collect();
        // A row that begins with a bracket would be read as an argument of the row before.
        let guard = if cells[0].starts_with('[') { "{}" } else { "" };
        out += &format!("{guard}{} \\\\\n", cells.join(" & "));
    }
    out + "\\bottomrule\n\\end{tabular}\n\\end{table}\n"
}

/// Numbers with a sign or an exponent in mathematics, where a minus is a minus.
fn typeset(value: &Value) -> String {
    match value {
        Value::Points(_) | Value::PointRange(..) => format!("${}$", shown(value)),
        Value::P(p) if *p < 0.001 => {
            let text = format!("{p:.1e}");
            let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
            format!("${digits}\\times 10^{{{power}}}$")
        }
        Value::Mark(true) => "$\\ast$".to_owned(),
        other => escape(&shown(other)),
    }
}

fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in one_line(text).chars() {
        match c {
            '\\' => out += "\\textbackslash{}",
            '~' => out += "\\textasciitilde{}",
            '^' => out += "\\textasciicircum{}",
            '<' => out += "\\textless{}",
            '>' => out += "\\textgreater{}",
            '|' => out += "\\textbar{}",
            '"' => out += "''",
            '{' | '}' | '$' | '&' | '#' | '%' | '_' => {
                out.push('\\');
                out.push(c);
            }
            other => out.push(other),
        }
    }
    out
}
