//! For people, in a terminal.

use super::{kept, shown, words};
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

fn body(table: &Table) -> String {
    let kept = kept(table);
    let header: Vec<&str> = kept.iter().map(|&at| table.columns[at].head.as_str()).collect();
    let left: Vec<usize> = (0..kept.len()).filter(|&i| words(table, kept[i])).collect();
    let cell = |value: &Value| super::one_line(&shown(value));
    let rows = table.rows.iter().map(|row| kept.iter().map(|&at| cell(&row.cells[at])).collect());
    plain(&header, &left, rows.collect())
}
