//! For people, in a terminal.

use super::shown;
use crate::document::{Document, Table, Value};
use crate::table::plain;

pub(super) fn render(document: &Document) -> String {
    let mut out = format!("{}\n", document.title);
    for (name, value) in &document.facts {
        out += &format!("{name} {value}\n");
    }
    let shown = |table: &&Table| !table.detail && !table.rows.is_empty();
    let tables: Vec<&Table> = document.tables.iter().filter(shown).collect();
    for table in &tables {
        out.push('\n');
        if tables.len() > 1 {
            out += &format!("{}\n", table.title);
        }
        out += &body(table);
        out.push('\n');
    }
    out.push('\n');
    for note in &document.notes {
        out += &format!("{note}\n");
    }
    let more: Vec<&str> = document.tables.iter().filter(|t| t.detail).map(|t| t.name).collect();
    if !more.is_empty() {
        out += &format!("more tables: --table {} (or all)\n", more.join(", "));
    }
    for caveat in &document.caveats {
        out += &format!("note: {caveat}\n");
    }
    out
}

/// Optional columns are left out while they are empty: in a terminal every character counts.
fn body(table: &Table) -> String {
    let filled = |at: &usize| {
        let empty = |v: &Value| matches!(v, Value::Empty | Value::Mark(false));
        !table.columns[*at].optional || table.rows.iter().any(|row| !empty(&row.cells[*at]))
    };
    let kept: Vec<usize> = (0..table.columns.len()).filter(filled).collect();
    let header: Vec<&str> = kept.iter().map(|&at| table.columns[at].head.as_str()).collect();
    let words = |at: &usize| {
        let mut values = table.rows.iter().map(|row| &row.cells[*at]);
        values.any(|v| matches!(v, Value::Text(_)))
    };
    let left: Vec<usize> = (0..kept.len()).filter(|&i| words(&kept[i])).collect();
    let cell = |value: &Value| super::one_line(&shown(value));
    let rows = table.rows.iter().map(|row| kept.iter().map(|&at| cell(&row.cells[at])).collect());
    plain(&header, &left, rows.collect())
}
