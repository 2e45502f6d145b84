//! What the reviewer is shown of a change: the delta packet, addressed by its content.

use std::fmt::Write as _;
use std::sync::Arc;

use evosafe_sandbox::{Classifier, Harness};
use evosafe_types::{Bundle, ContentHash, MechanismUse};

use super::render;
use super::view::cut;
use crate::criticizer::probe::{self, Point, Session};

/// Characters of a diff, of a whole file, and of all sessions together.
pub(super) const DIFF: usize = 24_000;
pub(super) const FILE: usize = 40_000;
pub(super) const SESSIONS: usize = 16_000;
/// Sessions that are shown.
const MOST_SESSIONS: usize = 4;

/// Text and its hash.
#[derive(Debug, Clone)]
pub(crate) struct Packet {
    pub text: String,
    pub hash: ContentHash,
}

/// How far a review looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// What changed against the parent.
    Change,
    /// The whole candidate: the audit before it may win.
    Whole,
}

/// Puts a packet together. Sessions are the train sessions of no defence; those are shown in which
/// the candidate steps in and its parent does not (the whole: in which it steps in).
pub(crate) async fn packet(
    bundle: &Bundle,
    harness: Option<&Harness>,
    parent: Option<(&Bundle, Option<&Harness>)>,
    sessions: &[Arc<Session>],
    scope: Scope,
    classifier: &Classifier,
) -> Packet {
    let mut text = String::from("# The candidate\n\n");
    files(&mut text, bundle);
    if scope == Scope::Change
        && let Some((parent, _)) = parent
    {
        text.push_str("\n# What changed against its parent\n\n");
        changes(&mut text, parent, bundle);
    }
    text.push_str("\n# Sessions in which ");
    text.push_str(match scope {
        Scope::Change => "the candidate steps in and its parent does not\n",
        Scope::Whole => "the candidate steps in\n",
    });
    let before = parent.and_then(|(_, harness)| harness).filter(|_| scope == Scope::Change);
    let (mut shown, mut room) = (0, SESSIONS);
    if let Some(harness) = harness {
        for session in sessions {
            if shown == MOST_SESSIONS || room == 0 {
                break;
            }
            let stops = probe::stops(harness, session, classifier).await;
            let stepped_in = match before {
                _ if stops.is_empty() => false,
                Some(parent) => probe::stops(parent, session, classifier).await != stops,
                None => true,
            };
            if stepped_in {
                shown += 1;
                let rendered = cut(&render::session(&session.transcript), room);
                room -= rendered.chars().count().min(room);
                let places: Vec<String> = stops.iter().map(place).collect();
                let _ = writeln!(
                    text,
                    "\n## Session {shown}, stopped at {}\n\n{rendered}",
                    places.join(", ")
                );
            }
        }
    }
    if shown == 0 {
        text.push_str("\nnone of those tried\n");
    }
    let hash = ContentHash::of(&[text.as_bytes()]);
    Packet { text, hash }
}

fn place(point: &Point) -> String {
    match point {
        Point::Call(n) => format!("call {}", n + 1),
        Point::Result(n) => format!("the result of call {}", n + 1),
        Point::Answer => "the answer".to_owned(),
    }
}

fn files(text: &mut String, bundle: &Bundle) {
    if let Some(policy) = &bundle.policy {
        let _ = writeln!(text, "## POLICY.md\n\n{}", cut(policy, FILE));
    }
    if let Some(code) = &bundle.code {
        let _ = writeln!(text, "## harness.js\n\n```js\n{}\n```", cut(code, FILE));
    }
    let _ = writeln!(text, "## RATIONALE.md\n\n{}", cut(&bundle.rationale, DIFF));
}

fn changes(text: &mut String, parent: &Bundle, bundle: &Bundle) {
    for line in rules(&parent.manifest.mechanisms, &bundle.manifest.mechanisms) {
        let _ = writeln!(text, "- {line}");
    }
    let of = |bundle: &Bundle| {
        let or = |text: &Option<String>| text.clone().unwrap_or_default();
        [("POLICY.md", or(&bundle.policy)), ("harness.js", or(&bundle.code))]
    };
    for ((name, old), (_, new)) in of(parent).iter().zip(&of(bundle)) {
        let diff = render::diff(name, old, new);
        if !diff.is_empty() {
            let _ = writeln!(text, "\n```diff\n{}```", cut(&diff, DIFF));
        }
    }
}

/// Rules that came, went or changed, where both are composed.
fn rules(old: &[MechanismUse], new: &[MechanismUse]) -> Vec<String> {
    let find = |of: &[MechanismUse], name: &str| of.iter().find(|m| m.name == name).cloned();
    let mut lines: Vec<String> = new
        .iter()
        .filter_map(|used| match find(old, &used.name) {
            None => Some(format!("rule added: {}", used.name)),
            Some(before) if before.params != used.params => {
                let params =
                    |m: &MechanismUse| serde_json::to_string(&m.params).unwrap_or_default();
                Some(format!(
                    "rule changed: {} from {} to {}",
                    used.name,
                    params(&before),
                    params(used)
                ))
            }
            Some(_) => None,
        })
        .collect();
    let gone = old.iter().filter(|used| find(new, &used.name).is_none());
    lines.extend(gone.map(|used| format!("rule removed: {}", used.name)));
    lines
}
