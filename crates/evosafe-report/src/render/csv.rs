//! Comma-separated values (RFC 4180, with plain line feeds). Tables are apart by an empty line and
//! named in a comment; one of them alone (`--table`) is read by anything that skips `#` lines.

use super::{exact, one_line};
use crate::document::{Column, Document, Parts, Value};

pub(super) fn render(document: &Document) -> String {
    let mut out = format!("# {}\n", one_line(&document.title));
    for (name, value) in &document.facts {
        out += &format!("# {name}: {}\n", one_line(value));
    }
    for caveat in &document.caveats {
        out += &format!("# note: {}\n", one_line(caveat));
    }
    for note in &document.notes {
        out += &format!("# {}\n", one_line(note));
    }
    for table in &document.tables {
        out += &format!("\n# table {}: {}\n", table.name, one_line(&table.title));
        let names: Vec<String> = table.columns.iter().flat_map(fields).collect();
        out += &format!("{}\n", names.join(","));
        for row in &table.rows {
            let cells = row.cells.iter().zip(&table.columns);
            let cells: Vec<String> = cells.flat_map(|(v, c)| values(v, c.parts)).collect();
            out += &format!("{}\n", cells.join(","));
        }
    }
    out
}

fn fields(column: &Column) -> Vec<String> {
    let key = &column.key;
    match column.parts {
        Parts::One => vec![quoted(key)],
        Parts::Ends => vec![format!("{key}_low"), format!("{key}_high")],
        Parts::Share => vec![format!("{key}_hits"), format!("{key}_n")],
    }
}

fn values(value: &Value, parts: Parts) -> Vec<String> {
    let number = |x: f64| {
        if x != 0.0 && x.abs() < 1e-4 { format!("{x:e}") } else { exact(x).to_string() }
    };
    match value {
        Value::Empty | Value::Unknown => {
            vec![String::new(); if parts == Parts::One { 1 } else { 2 }]
        }
        Value::Text(text) => vec![quoted(text)],
        Value::Count(n) => vec![n.to_string()],
        Value::Percent(x) | Value::Points(x) | Value::Number(x) | Value::P(x) => vec![number(*x)],
        Value::Range(low, high) | Value::PointRange(low, high) => {
            vec![number(*low), number(*high)]
        }
        Value::Of(hits, n) => vec![hits.to_string(), n.to_string()],
        Value::Mark(mark) => vec![mark.to_string()],
    }
}

/// A field; in quotes where it would not be read back as it is, or as a comment.
fn quoted(text: &str) -> String {
    let special = text.contains([',', '"', '\n', '\r']) || text.starts_with('#');
    if special || text.trim() != text {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
