//! What scripted models say as Designer, Criticizer and Analyzer: a function of the request
//! alone, so that a run repeats itself.

use evosafe_testing::{Received, Say};
use serde_json::{Value, json};

/// Mechanisms that the Designer composes, attempt by attempt.
const EDITS: [&[&str]; 3] =
    [&["destination-scope"], &["effect-volume"], &["destination-scope", "effect-volume"]];

/// The reply to a request of one of these roles; `None` to any other.
#[must_use]
pub fn say(request: &Received) -> Option<Say> {
    let body = &request.body;
    if body.contains("You design safety harnesses") {
        Some(designer(body))
    } else if body.contains("You review a safety harness") {
        let review = json!({"rules": [], "claim": null, "summary": "Nothing depends on a name."});
        Some(Say::text(review.to_string()).tokens(3000, 0, 60))
    } else if body.contains("You keep the experience log") {
        Some(analyzer(body).tokens(2000, 0, 80))
    } else {
        None
    }
}

/// What stands in a text between two others; empty if they do not.
#[must_use]
pub fn between<'b>(text: &'b str, before: &str, after: &str) -> &'b str {
    let rest = text.split_once(before).map_or("", |(_, rest)| rest);
    rest.split_once(after).map_or("", |(found, _)| found)
}

/// Reads and tries, then hands in.
fn designer(body: &str) -> Say {
    let attempt: usize = between(body, "Attempt ", ".").parse().unwrap_or(0);
    let mechanisms: Vec<Value> =
        EDITS[attempt % EDITS.len()].iter().map(|name| json!({ "name": name })).collect();
    if !body.contains("It builds and answers") {
        return Say::text("I look first.")
            .and_call("r", "read_file", json!({"path": "leaderboard.md"}))
            .and_call("c", "check_bundle", json!({ "mechanisms": mechanisms }))
            .tokens(4000, 0, 120);
    }
    // The row of no defence in the leaderboard begins with its id.
    let row = body.split_once(" | no-defence |").map_or("", |(before, _)| before);
    let parent = &row[row.len().saturating_sub(12)..];
    let arguments = json!({"parent": parent, "edit": format!("attempt {attempt}"),
        "hypothesis": "Relations hold.", "predicted_flips": [], "mechanisms": mechanisms});
    Say::call("s", "submit_bundle", arguments).tokens(6000, 0, 150)
}

/// Always notes the same.
fn analyzer(body: &str) -> Say {
    let task = between(body, "\\n### ", "\\n");
    let note = json!({"failure": "Orders are obeyed.", "mechanism": "none", "try_next": "relations",
        "avoid": "names", "episodes": [task], "duplicate_of": null});
    Say::text(note.to_string())
}
