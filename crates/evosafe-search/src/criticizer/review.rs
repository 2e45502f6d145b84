//! The review of a candidate, before any episode is spent on it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use evosafe_env::Environment;
use evosafe_sandbox::{Classifier, Harness};
use evosafe_types::{Bundle, Evidence, TaskId, ToolSpec};
use serde::{Deserialize, Serialize};

use super::probe::{self, Change, Extent, Prepared, ProbeReport, Turned};
use super::static_analysis::{self, Finding};
use super::vocabulary::{CorpusTokens, Material};
use crate::analyzer::rule_of;
use crate::outer::Review;

/// Turned sessions that a verdict lists by name.
const LISTED: usize = 6;

/// What the Criticizer says of a candidate; archived with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Whether it must be repaired or dropped: any finding of the static analysis, or a
    /// change that turns more than [`probe::MAX_SLIPPING`] of the blocked attacks or
    /// [`probe::MAX_OVERBLOCKED`] of the benign sessions (of [`probe::MIN_TRIED`] or more).
    pub flagged: bool,
    /// Decisions keyed to tokens of the corpus.
    pub findings: Vec<Finding>,
    /// Corpus literals that only choose what is looked at.
    pub tolerated: u32,
    /// Literals looked at.
    pub literals: u32,
    /// The probe, its lists shortened.
    pub probe: ProbeReport,
    /// Mechanisms to take out, where the fault lies with some.
    pub mechanisms: Vec<String>,
    /// The review in words.
    pub text: String,
    /// What a model said of it, where one reviews.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<Review>,
}

/// Reviews candidates against the train corpus. Never given anything else.
#[derive(Debug)]
pub struct Criticizer {
    corpus: CorpusTokens,
    sessions: Vec<Arc<Prepared>>,
    /// More sessions, for those that may win.
    trials: Vec<Arc<Prepared>>,
    classifier: Classifier,
}

impl Criticizer {
    /// A Criticizer for the train episodes of H0.
    #[must_use]
    pub fn new(traces: &[Evidence], environment: &Environment, seed: u64) -> Self {
        Self::of(traces, &suites_of(environment), &tools_of(environment), seed)
    }

    /// The same, from the suite of every task and the tools of every suite.
    #[must_use]
    pub fn of(
        traces: &[Evidence],
        suites: &BTreeMap<TaskId, String>,
        tools: &BTreeMap<String, Vec<ToolSpec>>,
        seed: u64,
    ) -> Self {
        let suite = |e: &Evidence| suites.get(&e.task).map_or("", String::as_str);
        let episodes: Vec<(&str, &Evidence)> = traces.iter().map(|e| (suite(e), e)).collect();
        let corpus = CorpusTokens::build(&Material {
            tools: tools.values().flatten().collect(),
            episodes: episodes.clone(),
        });
        let trials = probe::prepare(&episodes, tools, &corpus, probe::AT_PROMOTION, seed);
        let trials: Vec<Arc<Prepared>> = trials.into_iter().map(Arc::new).collect();
        // Sessions come in one order: a review has the first of either kind.
        let first = |attack: bool, most: usize| {
            let of = trials.iter().filter(move |t| t.session.family.is_attack() == attack);
            of.take(most).cloned()
        };
        let Extent { attacks, benign } = probe::AT_REVIEW;
        let sessions = first(true, attacks).chain(first(false, benign)).collect();
        Self { corpus, sessions, trials, classifier: Classifier::Absent }
    }

    /// Lets probed harnesses ask a model.
    #[must_use]
    pub fn with_classifier(mut self, classifier: Classifier) -> Self {
        self.classifier = classifier;
        self
    }

    /// The corpus vocabulary.
    #[must_use]
    pub fn corpus(&self) -> &CorpusTokens {
        &self.corpus
    }

    /// The probe over more sessions, for a candidate that may win.
    pub async fn robustness(&self, harness: &Harness) -> ProbeReport {
        let mut report = probe::probe(harness, &self.trials, &self.classifier).await;
        report.slipped.truncate(LISTED);
        report.overblocked.truncate(LISTED);
        report
    }

    /// Static analysis, then the probe. `harness` is the bundle, prepared; without one (it
    /// does not build) only the static analysis is done.
    pub async fn review(&self, bundle: &Bundle, harness: Option<&Harness>) -> Verdict {
        let (policy, code) = (bundle.policy.as_deref(), bundle.code.as_deref());
        let report = static_analysis::analyse(policy, code, &self.corpus);
        let mut probe = match harness {
            Some(harness) if code.is_some() => {
                probe::probe(harness, &self.sessions, &self.classifier).await
            }
            _ => ProbeReport::default(),
        };
        let slips = probe.slips();
        let overblocks = probe.overblocks();
        let mut mechanisms: BTreeSet<String> =
            report.findings.iter().filter_map(|f| f.mechanism.clone()).collect();
        for (change, turned) in [(slips, &probe.slipped), (overblocks, &probe.overblocked)] {
            if let Some(change) = change {
                mechanisms.extend(guilty(bundle, change, turned));
            }
        }
        let text = words(&report, &probe, slips, overblocks);
        probe.slipped.truncate(LISTED);
        probe.overblocked.truncate(LISTED);
        Verdict {
            flagged: !report.findings.is_empty() || slips.is_some() || overblocks.is_some(),
            findings: report.findings,
            tolerated: report.tolerated,
            literals: report.literals,
            probe,
            mechanisms: mechanisms.into_iter().collect(),
            text,
            review: None,
        }
    }
}

/// The suite of every task.
pub(crate) fn suites_of(environment: &Environment) -> BTreeMap<TaskId, String> {
    environment.tasks().iter().map(|t| (t.id.clone(), t.suite.clone())).collect()
}

/// The tools of every suite.
pub(crate) fn tools_of(environment: &Environment) -> BTreeMap<String, Vec<ToolSpec>> {
    let names: BTreeSet<&String> = environment.tasks().iter().map(|t| &t.suite).collect();
    let tools = |suite: &str| environment.toolset(suite).unwrap_or_default().to_vec();
    names.into_iter().map(|suite| (suite.clone(), tools(suite))).collect()
}

/// The mechanism behind most of the turned sessions, if refusals name their rule.
fn guilty(bundle: &Bundle, change: Change, turned: &[Turned]) -> Option<String> {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for turned in turned.iter().filter(|t| t.change == change) {
        *counts.entry(rule_of(&turned.reason)).or_default() += 1;
    }
    let known = |name: &str| bundle.manifest.mechanisms.iter().any(|m| m.name == name);
    let named = counts.into_iter().filter(|(name, _)| known(name));
    named.max_by_key(|(_, n)| *n).map(|(name, _)| name.to_owned())
}

fn words(
    report: &static_analysis::StaticReport,
    probe: &ProbeReport,
    slips: Option<Change>,
    overblocks: Option<Change>,
) -> String {
    let mut text = String::new();
    if let Some(why) = &report.unparsed {
        let _ = writeln!(text, "The code does not parse: {why}");
    }
    let keyed = report.findings.len();
    let _ = writeln!(
        text,
        "{keyed} of {} literals decide by a token of the train tasks; {} only choose what is looked at.",
        report.literals, report.tolerated
    );
    for f in &report.findings {
        let of = f.mechanism.as_ref().map_or(String::new(), |m| format!(" in {m}"));
        let _ = writeln!(
            text,
            "- {}:{}:{}{of}: {} {} the {} {:?}, and decides `{}` (line {}). Would it still fire? {} Repair: {}.",
            f.file,
            f.line,
            f.column,
            f.literal,
            f.how.as_str(),
            f.kind.as_str(),
            f.token,
            f.decision,
            f.decision_line,
            f.litmus,
            f.repair
        );
    }
    let _ = writeln!(
        text,
        "Probe: {} of {} attack sessions blocked as recorded, {} of them slip after some change; {} of {} benign sessions untouched as recorded.",
        probe.blocked_before, probe.attacks, probe.slipping, probe.passed_before, probe.benign
    );
    for (what, tallies, flagged) in [
        ("attacks slip", &probe.attacks_by_change, slips),
        ("benign sessions get blocked", &probe.benign_by_change, overblocks),
    ] {
        for (change, tally) in tallies.iter().filter(|(_, tally)| tally.failed > 0) {
            let mark = if flagged == Some(*change) { " (too many)" } else { "" };
            let _ = writeln!(
                text,
                "- {}: {} of {} {what}{mark}",
                change.as_str(),
                tally.failed,
                tally.tried
            );
        }
    }
    text
}
