//! What calls of live models cost, and what a search would.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use evosafe_llm::{CostTable, Costs};
use evosafe_types::{Usage, Usd};
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

/// Episodes of a search: fewest and most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Episodes {
    /// No defence on the wide prefix.
    pub reference: u64,
    /// Stages 1 to 3 of the candidates.
    pub cascade: [u64; 2],
    /// Stage 4 of challengers and finalists.
    pub wide: [u64; 2],
}

impl Episodes {
    /// All together.
    #[must_use]
    pub fn total(&self) -> [u64; 2] {
        let sum = |i: usize| self.reference + self.cascade[i] + self.wide[i];
        [sum(0), sum(1)]
    }
}

/// Where the tokens of an episode are from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenSource {
    /// The mean of episodes without a defence in the archive.
    Recorded {
        /// How many.
        episodes: u64,
    },
    /// 3 to 8 turns, 150 tokens a reply, 350 a result.
    Assumed {
        /// Tokens of tools, system prompt and instruction.
        prompt: u64,
    },
}

/// What a search would cost: the victim's turns; what harnesses ask of the classifier, and
/// outer models, come on top.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EstimateReport {
    /// The specification.
    pub spec: String,
    /// The model.
    pub model: String,
    /// Candidates, seeds included.
    pub candidates: u32,
    /// Episodes.
    pub episodes: Episodes,
    /// Where the tokens are from.
    pub source: TokenSource,
    /// Tokens of an episode, low and high.
    pub tokens_an_episode: [Usage; 2],
    /// USD, low and high, in billionths; `None` without a price.
    pub usd: [Option<Usd>; 2],
    /// Day of the prices.
    pub prices_as_of: Option<String>,
}

/// The estimate for people.
#[must_use]
pub fn estimate_text(report: &EstimateReport) -> String {
    let Episodes { reference, cascade, wide } = &report.episodes;
    let total = report.episodes.total();
    let row = |what: &str, range: [u64; 2]| {
        vec![what.to_owned(), range[0].to_string(), range[1].to_string()]
    };
    let rows = vec![
        row("no defence", [*reference; 2]),
        row("candidates, stages 1 to 3", *cascade),
        row("challengers and finalists, stage 4", *wide),
        row("together", total),
    ];
    let mut text = format!(
        "{} with {}, {} candidates\n\n{}\n\n",
        report.spec,
        report.model,
        report.candidates,
        plain(&["episodes", "fewest", "most"], &[], rows)
    );
    let from = match &report.source {
        TokenSource::Recorded { episodes } => {
            format!("mean of {episodes} episodes without a defence in this archive")
        }
        TokenSource::Assumed { prompt } => format!(
            "assumed: a prompt of {prompt} tokens, 3 to 8 turns, 150 tokens a reply, 350 a result"
        ),
    };
    let [low, high] = &report.tokens_an_episode;
    let _ = writeln!(
        text,
        "tokens an episode  {} to {} in, {} to {} out\n                   ({from})",
        low.prompt(),
        high.prompt(),
        low.output,
        high.output
    );
    match (&report.usd, &report.prices_as_of) {
        ([Some(low), Some(high)], Some(day)) => {
            let _ = writeln!(text, "USD                {low} to {high} (prices of {day})");
        }
        _ => {
            let _ = writeln!(
                text,
                "USD                unknown: no price for this model; add one with --prices"
            );
        }
    }
    text + "The victim's turns only: questions of harnesses to the classifier, prompt caching and \
            retries are not in it."
}

#[cfg(test)]
mod tests {
    use evosafe_llm::{CallTag, GroupBy, LedgerEntry, Role};
    use evosafe_types::{CandidateId, ContentHash};

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

    #[test]
    fn an_estimate_without_a_price_says_so() {
        let episodes = Episodes { reference: 60, cascade: [60, 150], wide: [0, 90] };
        let mut report = EstimateReport {
            spec: "finance".to_owned(),
            model: "m".to_owned(),
            candidates: 6,
            episodes,
            source: TokenSource::Assumed { prompt: 1000 },
            tokens_an_episode: [Usage::default(); 2],
            usd: [None, None],
            prices_as_of: None,
        };
        assert_eq!(report.episodes.total(), [120, 300]);
        assert!(estimate_text(&report).contains("no price for this model"));
        report.usd = [Usd::from_dollars(1.0), Usd::from_dollars(2.5)];
        report.prices_as_of = Some("2026-11-30".to_owned());
        assert!(estimate_text(&report).contains("$1.00 to $2.50 (prices of 2026-11-30)"));
    }
}
