//! From a [`Document`] to characters: five small exporters.

mod csv;
mod json;
mod latex;
mod markdown;
mod text;

#[cfg(test)]
mod tests;

use crate::document::{Document, Table, Value};
use crate::table::{p_value, point_range, points, tidy};

/// How to print tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// For people, in a terminal.
    #[default]
    Text,
    /// GitHub's Markdown.
    Markdown,
    /// Comma-separated values; what is no table is in lines that begin with `#`.
    Csv,
    /// LaTeX with `booktabs`.
    Latex,
    /// One JSON document.
    Json,
}

/// The document in a format, with a line break at its end.
#[must_use]
pub fn render(document: &Document, format: Format) -> String {
    let mut out = match format {
        Format::Text => text::render(document),
        Format::Markdown => markdown::render(document),
        Format::Csv => csv::render(document),
        Format::Latex => latex::render(document),
        Format::Json => json::render(document),
    };
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// The columns that people are shown, by place: optional ones only where they are filled.
fn kept(table: &Table) -> Vec<usize> {
    let filled = |at: &usize| {
        let empty = |v: &Value| matches!(v, Value::Empty | Value::Mark(false));
        !table.columns[*at].optional || table.rows.iter().any(|row| !empty(&row.cells[*at]))
    };
    (0..table.columns.len()).filter(filled).collect()
}

/// Whether a column holds words, and stands left.
fn words(table: &Table, at: usize) -> bool {
    table.rows.iter().any(|row| matches!(row.cells[at], Value::Text(_)))
}

/// A value for people, without any markup.
fn shown(value: &Value) -> String {
    match value {
        Value::Empty | Value::Mark(false) => String::new(),
        Value::Unknown => "-".to_owned(),
        Value::Text(text) => text.clone(),
        Value::Count(n) => n.to_string(),
        Value::Percent(x) | Value::Number(x) => tidy(format!("{x:.1}")),
        Value::Points(x) => points(Some(*x)),
        Value::Range(low, high) => {
            format!("[{}, {}]", tidy(format!("{low:.1}")), tidy(format!("{high:.1}")))
        }
        Value::PointRange(low, high) => point_range(*low, *high),
        Value::Of(hits, n) => format!("{hits}/{n}"),
        Value::P(p) => p_value(*p),
        Value::Mark(true) => "*".to_owned(),
    }
}

/// Twelve digits: without those that come from the binary form only.
fn exact(x: f64) -> f64 {
    format!("{x:.11e}").parse().unwrap_or(x)
}

/// Text on one line, without control characters.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|w| !w.is_empty())
        .collect();
    words.join(" ")
}
