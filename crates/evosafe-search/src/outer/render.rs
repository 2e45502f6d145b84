//! Candidates and episodes as text for models.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use evosafe_types::{CallDecision, CallRecord, Evidence, Outcome, TextDecision, Transcript};
use similar::TextDiff;

use super::view::cut;
use crate::analyzer::{executed_tools, rule_of};
use crate::designer::Member;

/// Most characters of a result or a text in a trace.
const MOST: usize = 1600;

/// What happened in an episode, without what it was or how it ended: fit for who must not
/// know scores.
pub(super) fn session(transcript: &Transcript) -> String {
    let mut text = format!("Request: {}\n", cut(&transcript.instruction, MOST));
    if !transcript.hidden_tools.is_empty() {
        let _ = writeln!(text, "Hidden tools: {}", transcript.hidden_tools.join(", "));
    }
    for (n, call) in transcript.calls().enumerate() {
        call_lines(&mut text, n + 1, call);
    }
    if let Some(answer) = &transcript.answer {
        let _ = writeln!(text, "\nAnswer: {}", cut(&answer.proposed, MOST));
        match &answer.decision {
            TextDecision::Keep => {}
            TextDecision::Replace { text: other } => {
                let _ = writeln!(text, "  replaced by: {}", cut(other, MOST));
            }
            TextDecision::Block { reason } => {
                let _ = writeln!(text, "  WITHHELD: {}", cut(reason, MOST));
            }
        }
    }
    for fault in &transcript.faults {
        let _ = writeln!(
            text,
            "Harness fault in {}: {}: {}",
            fault.hook.as_str(),
            fault.kind,
            fault.message
        );
    }
    text
}

fn call_lines(text: &mut String, n: usize, record: &CallRecord) {
    let call = &record.proposed;
    let arguments = serde_json::Value::Object(call.arguments.clone()).to_string();
    let _ = writeln!(text, "\nCall {n}: {} {}", call.tool, cut(&arguments, MOST));
    match &record.decision {
        CallDecision::Allow => {}
        CallDecision::Rewrite { arguments } => {
            let arguments = serde_json::Value::Object(arguments.clone()).to_string();
            let _ = writeln!(text, "  rewritten to {}", cut(&arguments, MOST));
        }
        CallDecision::Redirect { call } => {
            let _ = writeln!(text, "  redirected to {}", call.tool);
        }
        CallDecision::Block { reason } => {
            let _ = writeln!(text, "  BLOCKED: {}", cut(reason, MOST));
        }
    }
    if let Some(result) = &record.result {
        let _ = writeln!(text, "  result: {}", cut(&result.content, MOST));
    }
    match &record.post {
        Some(TextDecision::Block { reason }) => {
            let _ = writeln!(text, "  RESULT WITHHELD: {}", cut(reason, MOST));
        }
        Some(TextDecision::Replace { text: other }) => {
            let _ = writeln!(text, "  delivered instead: {}", cut(other, MOST));
        }
        _ => {}
    }
}

/// An episode of a train task, with what it was and how it ended.
pub(super) fn trace(evidence: &Evidence, undefended: Option<&Outcome>) -> String {
    let mut text = format!(
        "Task {} ({}, {}), rollout {}\nOutcome: {}\n",
        evidence.task,
        evidence.family.as_str(),
        evidence.category,
        evidence.seed,
        outcome(&evidence.outcome)
    );
    if let Some(h0) = undefended {
        let _ = writeln!(text, "Undefended: {}", outcome(h0));
    }
    text.push('\n');
    text.push_str(&session(&evidence.transcript));
    text
}

pub(super) fn outcome(outcome: &Outcome) -> String {
    let yes = |word: &str, flag: Option<bool>| {
        flag.map(|flag| format!("{word}: {}", if flag { "yes" } else { "no" }))
    };
    match outcome {
        Outcome::Unassessed { fault, .. } => format!("not assessed ({fault})"),
        Outcome::Assessed { task_success, attack_success } => {
            let goal = yes("user's goal reached", *task_success);
            let attack = yes("attacker's goal reached", *attack_success);
            goal.into_iter().chain(attack).collect::<Vec<_>>().join("; ")
        }
    }
}

/// What failed in an episode, if anything did: the name of its cluster.
pub(super) fn cluster(evidence: &Evidence, undefended: Option<&Outcome>) -> Option<String> {
    let channel = format!("{}/{}", evidence.family.as_str(), evidence.category);
    if evidence.outcome.attack_success() == Some(true) {
        let tools: Vec<&str> = executed_tools(evidence).into_iter().collect();
        return Some(format!("attack got through: {channel}; executed {}", tools.join(", ")));
    }
    let reached = undefended.and_then(Outcome::task_success) == Some(true);
    if !reached || evidence.outcome.task_success() != Some(false) {
        return None;
    }
    let blocked = evidence.transcript.calls().find_map(|c| match (&c.decision, &c.post) {
        (CallDecision::Block { reason }, _) | (_, Some(TextDecision::Block { reason })) => {
            Some((rule_of(reason), c.proposed.tool.as_str()))
        }
        _ => None,
    });
    let cause = match blocked {
        Some((rule, tool)) => format!("{} blocked {tool}", cut(rule, 120)),
        None => "nothing was blocked".to_owned(),
    };
    Some(format!("work lost: {}; {cause}", evidence.family.as_str()))
}

/// Clusters with the paths of their traces, the largest first.
pub(super) fn clusters(clusters: &BTreeMap<String, Vec<String>>) -> String {
    if clusters.is_empty() {
        return "No failures on the tasks that were run.\n".to_owned();
    }
    let mut sorted: Vec<(&String, &Vec<String>)> = clusters.iter().collect();
    sorted.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then(a.0.cmp(b.0)));
    let mut text = String::new();
    for (name, paths) in sorted {
        let shown: Vec<&str> = paths.iter().take(6).map(String::as_str).collect();
        let more = paths.len().saturating_sub(shown.len());
        let _ = writeln!(text, "- {} episodes: {name}\n  {}", paths.len(), shown.join(" "));
        if more > 0 {
            let _ = writeln!(text, "  and {more} more");
        }
    }
    text
}

/// A unified diff of two texts; empty if they are equal.
pub(super) fn diff(name: &str, old: &str, new: &str) -> String {
    if old == new {
        return String::new();
    }
    let diff = TextDiff::from_lines(old, new);
    diff.unified_diff()
        .context_radius(3)
        .header(&format!("a/{name}"), &format!("b/{name}"))
        .to_string()
}

/// Candidates in a table. `ranked` are indices, the best first.
pub(super) fn leaderboard(members: &[Member], ranked: &[usize]) -> String {
    let mut text = String::from(
        "| candidate | name | stage | score | utility | direct ASR | indirect ASR | utility under attack | may win | parents | edit |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for &at in ranked {
        let member = &members[at];
        let score = member.counted();
        let percent = |rate: evosafe_types::Rate| {
            rate.value().map_or("-".to_owned(), |v| format!("{:.1} %", 100.0 * v))
        };
        let stage = match (member.wide.is_some(), member.searched) {
            _ if member.stale => "older corpus",
            (true, _) => "wide",
            (_, true) => "search",
            _ => "stopped",
        };
        let manifest = &member.bundle.manifest;
        let parents: Vec<&str> =
            manifest.parents.iter().map(evosafe_types::CandidateId::short).collect();
        let _ = writeln!(
            text,
            "| {} | {} | {stage} | {} | {} | {} | {} | {} | {} | {} | {} |",
            member.id.short(),
            manifest.name,
            score.points().map_or("-".to_owned(), |p| format!("{p:.1}")),
            percent(score.utility),
            percent(score.direct),
            percent(score.indirect),
            percent(score.utility_under_attack),
            if member.eligible { "yes" } else { "-" },
            parents.join(" "),
            cut(&manifest.edit.replace('|', "/"), 160),
        );
    }
    text
}
