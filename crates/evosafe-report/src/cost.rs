//! What calls of live models have cost.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use evosafe_llm::{CostTable, Costs};
use serde::Serialize;

use crate::table::plain;

/// One row of a cost table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CostRow {
    /// What the calls have in common, outermost first.
    pub group: Vec<String>,
    /// Their sums.
    #[serde(flatten)]
    pub costs: Costs,
}

/// The ledger of an archive, added up (paper section 7.6 and Table A6: outer and inner calls
/// are kept apart).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CostReport {
    /// By level: outer, inner.
    pub levels: Vec<CostRow>,
    /// By level, role and model.
    pub roles: Vec<CostRow>,
    /// By level, phase and stage.
    pub stages: Vec<CostRow>,
    /// By level and candidate, dearest first.
    pub candidates: Vec<CostRow>,
    /// All together.
    pub total: Costs,
}

impl CostReport {
    /// From tables by (level, role, model), (level, phase, stage) and (level, candidate);
    /// keeps the `top` dearest candidates.
    #[must_use]
    pub fn new(roles: CostTable, stages: CostTable, candidates: CostTable, top: usize) -> Self {
        let rows = |table: BTreeMap<Vec<String>, Costs>| -> Vec<CostRow> {
            table.into_iter().map(|(group, costs)| CostRow { group, costs }).collect()
        };
        let mut levels: BTreeMap<Vec<String>, Costs> = BTreeMap::new();
        for (group, costs) in &roles.rows {
            add(levels.entry(group[..1].to_vec()).or_default(), costs);
        }
        let mut candidates = rows(candidates.rows);
        candidates.sort_by_key(|row| std::cmp::Reverse((row.costs.cost, row.costs.usage.total())));
        candidates.truncate(top);
        let total = roles.total;
        let (levels, roles, stages) = (rows(levels), rows(roles.rows), rows(stages.rows));
        Self { levels, roles, stages, candidates, total }
    }
}

fn add(sum: &mut Costs, more: &Costs) {
    sum.calls += more.calls;
    sum.replayed += more.replayed;
    sum.usage += more.usage;
    sum.cost += more.cost;
    sum.unpriced += more.unpriced;
    sum.estimated += more.estimated;
    sum.latency_ms += more.latency_ms;
}

/// The report for people.
#[must_use]
pub fn cost_text(report: &CostReport) -> String {
    let total = [CostRow { group: vec!["total".to_owned()], costs: report.total.clone() }];
    let ledgers: Vec<CostRow> = report.levels.iter().cloned().chain(total).collect();
    let tables = [
        ("ledger", &ledgers),
        ("role, model", &report.roles),
        ("phase, stage", &report.stages),
        ("candidate", &report.candidates),
    ];
    let mut text = String::new();
    for (title, rows) in tables {
        let header = [title, "calls", "replayed", "uncached", "written", "cached", "output", "USD"];
        let cells = rows.iter().map(|row| cells(row, title == "candidate")).collect();
        let _ = writeln!(text, "{}\n", plain(&header, &[], cells));
    }
    let total = &report.total;
    if total.unpriced > 0 {
        let _ = writeln!(text, "{} calls have no price: USD is too low by theirs", total.unpriced);
    }
    if total.estimated > 0 {
        let _ = writeln!(text, "{} calls without reported tokens were guessed", total.estimated);
    }
    text
}

fn cells(row: &CostRow, short: bool) -> Vec<String> {
    let name = |part: &String| match part.get(..12) {
        Some(id) if short && part.len() > 32 => id.to_owned(),
        _ => part.clone(),
    };
    let group: Vec<String> = row.group.iter().map(name).collect();
    let usage = &row.costs.usage;
    vec![
        group.join("  "),
        row.costs.calls.to_string(),
        row.costs.replayed.to_string(),
        usage.input.to_string(),
        usage.cache_creation.to_string(),
        usage.cached_input.to_string(),
        usage.output.to_string(),
        row.costs.cost.to_string(),
    ]
}

#[cfg(test)]
mod tests {
    use evosafe_llm::{CallTag, GroupBy, LedgerEntry, Role};
    use evosafe_types::{CandidateId, ContentHash, Usage, Usd};

    use super::*;

    fn entries() -> Vec<LedgerEntry> {
        let entry = |role: Role, candidate: Option<u8>, output: u64, cost: Option<u64>| {
            let tag = CallTag {
                candidate: candidate.map(|n| CandidateId::of(&[&[n]])),
                ..CallTag::new(role, "search")
            };
            let usage = Usage { input: 1000, cached_input: 20, output, ..Usage::default() };
            let entry = LedgerEntry::new(&tag, "m", ContentHash::of(&[b"request"]));
            LedgerEntry { usage, cost: cost.map(Usd::from_nanos), ..entry }
        };
        let mut replayed = entry(Role::Victim, Some(1), 7, None);
        replayed.cached = true;
        vec![
            entry(Role::Victim, Some(1), 10, Some(1_000)),
            entry(Role::Victim, Some(2), 30, Some(3_000)),
            entry(Role::Classify, None, 1, None),
            entry(Role::Designer, None, 500, Some(900_000_000)),
            replayed,
        ]
    }

    fn table(by: &[GroupBy]) -> CostTable {
        let mut table = CostTable::default();
        entries().iter().for_each(|entry| table.add(by, entry));
        table
    }

    #[test]
    fn ledgers_are_kept_apart_and_add_up() {
        let report = CostReport::new(
            table(&[GroupBy::Level, GroupBy::Role, GroupBy::Model]),
            table(&[GroupBy::Level, GroupBy::Phase, GroupBy::Stage]),
            table(&[GroupBy::Level, GroupBy::Candidate]),
            2,
        );
        let [inner, outer] = report.levels.as_slice() else { panic!("two ledgers") };
        assert_eq!((inner.costs.calls, inner.costs.replayed, inner.costs.usage.output), (3, 1, 41));
        assert_eq!((outer.costs.calls, outer.costs.cost), (1, Usd::from_nanos(900_000_000)));
        assert_eq!(report.total.calls, 4);
        // The dearest first: what is of no candidate, then the second.
        let dearest = &report.candidates[1].group[1];
        assert_eq!(*dearest, CandidateId::of(&[&[2]]).to_string());
        let text = cost_text(&report);
        assert!(text.contains("outer  designer  m"), "{text}");
        assert!(text.contains("$0.90"), "{text}");
        assert!(text.contains("1 calls have no price"), "{text}");
    }
}
