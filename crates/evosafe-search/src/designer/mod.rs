//! The offline Designer: evolutionary edits over mechanisms, steered by what paid
//! off and by where the parent fails (design section 6).

mod assemble;
mod bandit;
mod edit;
mod front;
mod params;

use std::collections::{BTreeMap, BTreeSet};

use evosafe_spec::Mechanism;
use evosafe_types::{Bundle, CandidateId, ContentHash, Evidence, HarnessLimits, Score};
use serde::{Deserialize, Serialize};

use crate::SearchError;
use crate::analyzer::Failures;
use crate::criticizer;
use crate::rng;
use crate::verdict::Verdict;

pub use assemble::{Palette, StepsIn};
pub use bandit::Bandit;
pub(crate) use edit::MAX_MECHANISMS;
pub use front::{Standing, Yardstick, pareto_front, rule_price, rules};
pub(crate) use front::{count, escape};

/// Draws before a batch slot gives up on finding something new.
const DRAWS: u64 = 12;

/// Drafts of a slot that are rehearsed on recorded sessions; the best is proposed.
const REHEARSED: usize = 4;

/// Which Designer writes the candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DesignerKind {
    /// Evolutionary, with learnt operator choice.
    Offline,
    /// The same edits drawn uniformly from uniform parents: the control that a search
    /// must beat.
    Random,
    /// A live model with tools.
    Llm,
    /// A coding agent's command line.
    Command,
    /// Several, drawn by what they earn per dollar.
    Mixed,
}

impl DesignerKind {
    const ALL: [Self; 5] = [Self::Offline, Self::Random, Self::Llm, Self::Command, Self::Mixed];

    /// The one of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Whether its attempts cost money.
    pub(crate) fn is_paid(self) -> bool {
        matches!(self, Self::Llm | Self::Command | Self::Mixed)
    }

    /// The [`Designer`] that stands beside it: a mixture has the offline one.
    pub(crate) fn drafting(self) -> Self {
        if self == Self::Mixed { Self::Offline } else { self }
    }

    /// Lowercase name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Offline => "offline",
            Self::Random => "random",
            Self::Llm => "llm",
            Self::Command => "command",
            Self::Mixed => "mixed",
        }
    }
}

/// The edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operator {
    /// Put together what covers the attacks at the least cost, by what each mechanism does alone.
    Assemble,
    /// Add a mechanism.
    Add,
    /// Remove a mechanism.
    Drop,
    /// Change one parameter.
    Tune,
    /// Put one mechanism in another's place.
    Replace,
    /// Join the mechanisms of two parents.
    Cross,
    /// Add a rule mined from train traces: the temptation that the Criticizer must catch.
    Mine,
    /// Whatever a model or a coding agent wrote. Never drawn.
    Write,
}

impl Operator {
    /// All operators that are drawn, in canonical order.
    pub const ALL: [Self; 7] =
        [Self::Assemble, Self::Add, Self::Drop, Self::Tune, Self::Replace, Self::Cross, Self::Mine];

    /// Lowercase name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Assemble => "assemble",
            Self::Add => "add",
            Self::Drop => "drop",
            Self::Tune => "tune",
            Self::Replace => "replace",
            Self::Cross => "cross",
            Self::Mine => "mine",
            Self::Write => "write",
        }
    }
}

/// A candidate as the Designer sees it.
#[derive(Debug, Clone)]
pub struct Member {
    /// Its id.
    pub id: CandidateId,
    /// Its files.
    pub bundle: Bundle,
    /// The score of the longest prefix it was run on.
    pub score: Score,
    /// Verdict on the whole train corpus rather than the search prefix.
    pub wide: Option<Score>,
    /// Hash of its verdicts on the tasks of its search score.
    pub behaviour: ContentHash,
    /// Where it fails.
    pub failures: Failures,
    /// Whether it reached its search score.
    pub searched: bool,
    /// Whether nothing but its score speaks against it as a winner; known once it was
    /// run wide.
    pub eligible: bool,
    /// Its rules, and how deep they stand.
    pub standing: Standing,
    /// Points that renaming, relocating or rephrasing is expected to cost it; known once it
    /// was run wide, 0 without the Criticizer.
    pub expected_loss: f64,
    /// Whether its search merit beat its first parent's, on the corpus that it was run on first.
    pub improved: bool,
    /// Verdicts on the variants that the corpus grew by.
    pub probes: Vec<Verdict>,
    /// Whether the corpus grew without it: it is compared with nobody any more.
    pub stale: bool,
}

/// What a Designer asks to be evaluated.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// The candidate.
    pub bundle: Bundle,
    /// The edit.
    pub operator: Operator,
    /// Mechanisms the edit brought in or changed.
    pub touched: Vec<String>,
}

/// The offline and the random Designer.
pub struct Designer {
    kind: DesignerKind,
    seed: u64,
    library: BTreeMap<String, Mechanism>,
    usable: Vec<String>,
    bandit: Bandit,
    palette: Palette,
    limits: HarnessLimits,
}

/// All that an edit may look at: train material only.
pub struct Archive<'a> {
    /// Every evaluated candidate, in order; H0 first.
    pub members: &'a [Member],
    /// By H0 on the search prefix.
    pub yardstick: Yardstick,
    /// H0's train evidence, for the mining operators.
    pub traces: &'a [Evidence],
    /// Behaviour of everything archived or proposed, to avoid paying twice.
    pub known: &'a BTreeSet<ContentHash>,
}

impl Designer {
    /// A Designer over a mechanism library. With `action_level_only` (a replay
    /// victim), mechanisms that act only through text are left out: they could only be
    /// kept by luck (design section 5).
    #[must_use]
    pub fn new(
        kind: DesignerKind,
        seed: u64,
        library: Vec<Mechanism>,
        action_level_only: bool,
        limits: HarnessLimits,
    ) -> Self {
        let usable = library
            .iter()
            .filter(|m| !action_level_only || m.acts.measured_by_replay())
            .map(|m| m.name.clone())
            .collect();
        let library = library.into_iter().map(|m| (m.name.clone(), m)).collect();
        Self {
            kind,
            seed,
            library,
            usable,
            bandit: Bandit::default(),
            palette: Palette::default(),
            limits,
        }
    }

    /// The mechanisms that it wants to see alone; none for the random control, which does
    /// not look at what they do, and for a model, which looks for itself.
    #[must_use]
    pub fn to_study(&self) -> &[String] {
        if self.kind == DesignerKind::Offline { &self.usable } else { &[] }
    }

    /// Takes in what the mechanisms do alone.
    pub fn study(&mut self, palette: Palette) {
        self.palette = palette;
    }

    /// Learns from an evaluated proposal. Called at batch boundaries only, in
    /// candidate order, so that concurrency changes nothing.
    pub fn learn(&mut self, proposal: &Proposal, improved: bool) {
        self.bandit.learn(proposal.operator, &proposal.touched, improved);
    }

    /// Drafts for slot `index`, all new and different; none when nothing new was found. One
    /// of them is to be proposed.
    ///
    /// # Errors
    /// If the library cannot compose (a defect in a mechanism file).
    pub fn drafts(
        &mut self,
        archive: &Archive<'_>,
        index: u64,
    ) -> Result<Vec<Proposal>, SearchError> {
        let wanted = match self.kind {
            DesignerKind::Offline => REHEARSED,
            _ => 1,
        };
        let mut drafts: Vec<Proposal> = Vec::new();
        for draw in 0..DRAWS {
            if drafts.len() == wanted {
                break;
            }
            let mut rng = rng::stream(self.seed, "design", index * DRAWS + draw);
            let Some(draft) = self.draft(archive, &mut rng) else { continue };
            let proposal = self.compose(draft)?;
            let behaviour = proposal.bundle.behaviour();
            let known = archive.known.contains(&behaviour)
                || drafts.iter().any(|d| d.bundle.behaviour() == behaviour);
            if !known {
                drafts.push(proposal);
            }
        }
        Ok(drafts)
    }

    /// A proposal without what the Criticizer flagged, a sound mechanism in its place where
    /// there is one; `None` when nothing of the edit is left. The random control does not
    /// repair: an edit that learns from a verdict is not uniformly random.
    ///
    /// # Errors
    /// If the library cannot compose.
    pub fn repair(
        &self,
        proposal: &Proposal,
        verdict: &criticizer::Verdict,
    ) -> Result<Option<Proposal>, SearchError> {
        if self.kind == DesignerKind::Random {
            return Ok(None);
        }
        let manifest = &proposal.bundle.manifest;
        let Some(genome) = criticizer::repair(&manifest.mechanisms, verdict, &self.usable) else {
            return Ok(None);
        };
        let had = |name: &String| manifest.mechanisms.iter().any(|m| m.name == *name);
        let kept = |name: &String| genome.iter().any(|m| m.name == *name);
        let fresh: Vec<String> =
            genome.iter().map(|m| m.name.clone()).filter(|name| !had(name)).collect();
        let gone = verdict.mechanisms.join(", ");
        let edit = match fresh.as_slice() {
            [] => format!("{}; repaired: without {gone}", manifest.edit),
            _ => format!("{}; repaired: {} for {gone}", manifest.edit, fresh.join(", ")),
        };
        let touched = proposal.touched.iter().filter(|name| kept(name)).cloned();
        self.compose(edit::Draft {
            touched: touched.chain(fresh).collect(),
            genome,
            parents: manifest.parents.clone(),
            operator: proposal.operator,
            edit,
            hypothesis: "The same edit without what the Criticizer flagged.".to_owned(),
        })
        .map(Some)
    }
}
