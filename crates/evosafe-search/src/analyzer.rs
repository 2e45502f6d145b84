//! The Analyzer: from failed traces to what the next edit should know. Train
//! evidence only.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use evosafe_types::{CallDecision, CandidateId, Evidence, Family, MechanismUse, TextDecision};
use serde::{Deserialize, Serialize};

use crate::SearchError;
use crate::evaluator::Evaluator;
use crate::verdict::{Verdict, by_episode};

/// Failures of a candidate, by channel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failures {
    /// Attacks that got through, by (family, category): the tools that were executed
    /// in those episodes and in how many.
    pub through: BTreeMap<String, Through>,
    /// Benign tasks (and user goals under attack) that H0 reaches and the candidate
    /// does not, by the rule that blocked.
    pub blocked_by: BTreeMap<String, FalseBlocks>,
    /// Attacks that succeed undefended.
    pub attacks_open_in_h0: u32,
    /// Attacks that succeed under the candidate.
    pub attacks_through: u32,
    /// Benign tasks lost against H0.
    pub benign_lost: u32,
    /// User goals under attack lost against H0.
    pub goals_lost_under_attack: u32,
}

/// Attacks of one category that got through.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Through {
    /// How many.
    pub n: u32,
    /// Executed tools and the number of these episodes in which they occur.
    pub tools: BTreeMap<String, u32>,
    /// One of the tasks, to look at.
    pub example: String,
}

/// Legitimate work that a rule blocked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FalseBlocks {
    /// How many lost tasks it blocked something in.
    pub n: u32,
    /// Blocked tools and counts.
    pub tools: BTreeMap<String, u32>,
    /// One of the tasks, to look at.
    pub example: String,
}

/// The rule named in a refusal. Composed harnesses end a reason with ` [rule-name]`;
/// for hand-written ones the reason itself is the name.
#[must_use]
pub fn rule_of(reason: &str) -> &str {
    match (reason.rfind('['), reason.ends_with(']')) {
        (Some(open), true) => &reason[open + 1..reason.len() - 1],
        _ => reason,
    }
}

/// Looks at every train episode in which the candidate did worse than it should.
///
/// # Errors
/// If the archive cannot be read.
pub fn analyse(
    evaluator: &Evaluator,
    candidate: &CandidateId,
    verdicts: &[Verdict],
    reference: &[Verdict],
) -> Result<Failures, SearchError> {
    let reference = by_episode(reference);
    let mut failures = Failures::default();
    for ours in verdicts {
        let theirs = reference.get(&ours.episode());
        let h0_attack = theirs.and_then(|v| v.outcome.attack_success()) == Some(true);
        let h0_task = theirs.and_then(|v| v.outcome.task_success()) == Some(true);
        failures.attacks_open_in_h0 += u32::from(h0_attack);
        let through = ours.outcome.attack_success() == Some(true);
        let lost = h0_task && ours.outcome.task_success() == Some(false);
        if !through && !lost {
            continue;
        }
        let Some(evidence) = evaluator.evidence(candidate, &ours.task, ours.seed)? else {
            continue;
        };
        if through {
            failures.attacks_through += 1;
            count_through(&mut failures, &evidence);
        }
        if lost {
            if ours.family == Family::Benign {
                failures.benign_lost += 1;
            } else {
                failures.goals_lost_under_attack += 1;
            }
            count_blocks(&mut failures, &evidence);
        }
    }
    Ok(failures)
}

fn count_through(failures: &mut Failures, evidence: &Evidence) {
    let channel = format!("{}/{}", evidence.family.as_str(), evidence.category);
    let entry = failures.through.entry(channel).or_default();
    entry.n += 1;
    if entry.example.is_empty() {
        entry.example = evidence.task.to_string();
    }
    for tool in executed_tools(evidence) {
        *entry.tools.entry(tool.to_owned()).or_default() += 1;
    }
}

/// Rule and tool of every call that was refused, or whose result was withheld.
pub(crate) fn blocks(evidence: &Evidence) -> impl Iterator<Item = (&str, &str)> {
    evidence.transcript.calls().filter_map(|call| match (&call.decision, &call.post) {
        (CallDecision::Block { reason }, _) | (_, Some(TextDecision::Block { reason })) => {
            Some((rule_of(reason), call.proposed.tool.as_str()))
        }
        _ => None,
    })
}

fn count_blocks(failures: &mut Failures, evidence: &Evidence) {
    let mut seen: Vec<(&str, &str)> = blocks(evidence).collect();
    seen.sort_unstable();
    seen.dedup();
    let mut last = None;
    for (rule, tool) in seen {
        let entry = failures.blocked_by.entry(rule.to_owned()).or_default();
        if last != Some(rule) {
            entry.n += 1;
            last = Some(rule);
        }
        if entry.example.is_empty() {
            entry.example = evidence.task.to_string();
        }
        *entry.tools.entry(tool.to_owned()).or_default() += 1;
    }
}

impl Failures {
    /// Lost tasks in which this mechanism blocked something.
    #[must_use]
    pub fn false_blocks_of(&self, mechanism: &MechanismUse) -> u32 {
        self.blocked_by.get(&mechanism.name).map_or(0, |f| f.n)
    }

    /// The note the next edit reads.
    #[must_use]
    pub fn note(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(
            text,
            "{} of {} attacks that succeed undefended still succeed; {} benign tasks and {} user goals under attack were lost.",
            self.attacks_through,
            self.attacks_open_in_h0,
            self.benign_lost,
            self.goals_lost_under_attack
        );
        for (channel, through) in &self.through {
            let tools: Vec<&str> = through.tools.keys().map(String::as_str).collect();
            let _ = writeln!(
                text,
                "- got through: {channel}, {} (e.g. {}); executed: {}",
                through.n,
                through.example,
                tools.join(", ")
            );
        }
        for (rule, blocks) in &self.blocked_by {
            let tools: Vec<&str> = blocks.tools.keys().map(String::as_str).collect();
            let _ = writeln!(
                text,
                "- blocked legitimate work: {rule}, in {} tasks (e.g. {}); calls: {}",
                blocks.n,
                blocks.example,
                tools.join(", ")
            );
        }
        text
    }
}

/// Tools whose calls were executed, each once, in order of their names.
pub(crate) fn executed_tools(evidence: &Evidence) -> BTreeSet<&str> {
    let calls = evidence.transcript.calls();
    calls.filter_map(|c| Some(c.executed.as_ref()?.tool.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_is_read_from_the_end_of_the_reason() {
        for (reason, rule) in [
            ("recipient comes from a tool result [destination-scope]", "destination-scope"),
            ("no", "no"),
            ("odd ] end [", "odd ] end ["),
            ("[a] then [b]", "b"),
        ] {
            assert_eq!(rule_of(reason), rule);
        }
    }
}
