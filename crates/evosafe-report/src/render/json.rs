//! One JSON document. Intervals are `[low, high]`, counts among others `{"hits", "n"}`.

use serde_json::{Map, Value as Json, json};

use super::exact;
use crate::document::{Document, Table, Value};

pub(super) fn render(document: &Document) -> String {
    let facts: Map<String, Json> =
        document.facts.iter().map(|(k, v)| ((*k).to_owned(), json!(v))).collect();
    let tables: Vec<Json> = document.tables.iter().map(table).collect();
    json!({
        "title": document.title,
        "facts": facts,
        "tables": tables,
        "notes": document.notes,
        "caveats": document.caveats,
    })
    .to_string()
}

fn table(table: &Table) -> Json {
    let columns: Vec<Json> =
        table.columns.iter().map(|c| json!({ "key": c.key, "head": c.head })).collect();
    let rows: Vec<Json> = table
        .rows
        .iter()
        .map(|row| {
            let cells = table.columns.iter().zip(&row.cells);
            Json::Object(cells.map(|(c, v)| (c.key.clone(), value(v))).collect())
        })
        .collect();
    json!({ "name": table.name, "title": table.title, "columns": columns, "rows": rows })
}

fn value(value: &Value) -> Json {
    match value {
        Value::Empty | Value::Unknown => Json::Null,
        Value::Text(text) => json!(text),
        Value::Count(n) => json!(n),
        Value::Percent(x) | Value::Points(x) | Value::Number(x) | Value::P(x) => json!(exact(*x)),
        Value::Range(low, high) | Value::PointRange(low, high) => {
            json!([exact(*low), exact(*high)])
        }
        Value::Of(hits, n) => json!({ "hits": hits, "n": n }),
        Value::Mark(mark) => json!(mark),
    }
}
