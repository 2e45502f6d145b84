//! The edits themselves.

use std::collections::BTreeSet;

use evosafe_spec::{Channel, Lineage, Mechanism, Part};
use evosafe_types::{CandidateId, MechanismUse, Origin};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{Archive, Designer, DesignerKind, Member, Operator, Proposal, front, params};
use crate::SearchError;
use crate::mining;

/// Mechanisms a harness may be composed of.
pub(crate) const MAX_MECHANISMS: usize = 12;
/// Weight of the mining operator beside the others: a temptation, not a habit.
const MINE_WEIGHT: f64 = 0.25;

/// A genome before it is composed.
pub struct Draft {
    pub genome: Vec<MechanismUse>,
    pub parents: Vec<CandidateId>,
    pub operator: Operator,
    pub touched: Vec<String>,
    pub edit: String,
    pub hypothesis: String,
}

impl Designer {
    pub(super) fn draft(&mut self, archive: &Archive<'_>, rng: &mut ChaCha8Rng) -> Option<Draft> {
        let parent = self.parent(archive, rng)?;
        let weights = self.weights(archive, parent);
        let operator = match self.kind {
            DesignerKind::Offline => self.bandit.operator(&weights, rng)?,
            _ => {
                let open: Vec<Operator> =
                    weights.iter().filter(|(_, w)| *w > 0.0).map(|(op, _)| *op).collect();
                *open.get(rng.random_range(0..open.len().max(1)))?
            }
        };
        let (genome, touched, mate, what) = self.apply(operator, archive, parent, rng)?;
        let mut parents = vec![parent.id.clone()];
        parents.extend(mate.filter(|id| *id != parent.id));
        let edit = format!("{}: {what}", operator.as_str());
        let hypothesis = hypothesis(operator, parent);
        Some(Draft { genome, parents, operator, touched, edit, hypothesis })
    }

    pub(super) fn compose(&self, draft: Draft) -> Result<Proposal, SearchError> {
        let mut parts: Vec<Part<'_>> = Vec::new();
        for used in &draft.genome {
            let mechanism = self.library.get(&used.name).ok_or_else(|| {
                SearchError::Unusable(format!("mechanism {} is not in the library", used.name))
            })?;
            parts.push((mechanism, used.params.clone()));
        }
        let lineage = Lineage {
            name: name_of(&draft.genome),
            parents: draft.parents,
            origin: Origin::Designer(self.kind.as_str().to_owned()),
            edit: draft.edit,
            hypothesis: draft.hypothesis,
            limits: self.limits.clone(),
        };
        let bundle = evosafe_spec::compose(&parts, &lineage)?;
        Ok(Proposal { bundle, operator: draft.operator, touched: draft.touched })
    }

    /// Half of the time the front's best by merit, else any of the front.
    fn parent<'a>(&self, archive: &Archive<'a>, rng: &mut ChaCha8Rng) -> Option<&'a Member> {
        let editable =
            |m: &Member| m.bundle.is_no_defence() || !m.bundle.manifest.mechanisms.is_empty();
        let pool: Vec<usize> = match self.kind {
            DesignerKind::Offline => front::pareto_front(archive.members),
            _ => (0..archive.members.len()).filter(|&i| archive.members[i].is_current()).collect(),
        };
        let pool: Vec<&Member> =
            pool.into_iter().map(|i| &archive.members[i]).filter(|m| editable(m)).collect();
        if self.kind == DesignerKind::Offline && rng.random_bool(0.5) {
            let merit = |m: &Member| {
                archive.yardstick.merit(&m.counted(), m.standing).unwrap_or(f64::NEG_INFINITY)
            };
            return pool.into_iter().reduce(|a, b| if merit(b) > merit(a) { b } else { a });
        }
        pool.get(rng.random_range(0..pool.len().max(1))).copied()
    }

    /// What can be done to this parent, weighted by where it fails: attacks that get
    /// through ask for more, lost work asks for less or for other thresholds.
    fn weights(&self, archive: &Archive<'_>, parent: &Member) -> Vec<(Operator, f64)> {
        let size = parent.bundle.manifest.mechanisms.len();
        let failures = &parent.failures;
        let through = f64::from(failures.attacks_through);
        let lost = f64::from(failures.benign_lost + failures.goals_lost_under_attack);
        let all = (through + lost).max(1.0);
        let (more, less) = (0.5 + through / all, 0.5 + lost / all);
        let when = |possible: bool, weight: f64| if possible { weight } else { 0.0 };
        let mates = archive.members.iter().filter(|m| m.is_current() && m.id != parent.id);
        let can_cross = mates.filter(|m| !m.bundle.manifest.mechanisms.is_empty()).count() > 0;
        let known = !self.palette.steps_in.is_empty();
        vec![
            (Operator::Assemble, when(known && size < MAX_MECHANISMS, 1.5 * more)),
            (Operator::Add, when(size < MAX_MECHANISMS, more)),
            (Operator::Drop, when(size > 1, less)),
            (Operator::Tune, when(size > 0, f64::midpoint(more, less))),
            (Operator::Replace, when(size > 0, 0.5)),
            (Operator::Cross, when(size > 0 && can_cross, 0.7 * more)),
            (Operator::Mine, when(size < MAX_MECHANISMS, MINE_WEIGHT * more)),
        ]
    }

    #[expect(clippy::type_complexity, reason = "one private call site reads it right away")]
    fn apply(
        &mut self,
        operator: Operator,
        archive: &Archive<'_>,
        parent: &Member,
        rng: &mut ChaCha8Rng,
    ) -> Option<(Vec<MechanismUse>, Vec<String>, Option<CandidateId>, String)> {
        let mut genome = parent.bundle.manifest.mechanisms.clone();
        match operator {
            Operator::Assemble => {
                if rng.random_bool(0.5) {
                    genome.clear();
                }
                let palette = &self.palette;
                let added = palette.assemble(&mut genome, &archive.yardstick, MAX_MECHANISMS, rng);
                let what = added.join(", ");
                (!added.is_empty()).then_some((genome, added, None, what))
            }
            Operator::Add => {
                let name = self.pick_new(&genome, parent, rng)?;
                let used = params::fresh(self.library.get(&name)?, rng);
                genome.push(used);
                Some((genome, vec![name.clone()], None, name))
            }
            Operator::Drop => {
                let at = self.pick_guilty(&genome, parent, rng)?;
                let gone = genome.remove(at);
                Some((genome, vec![], None, gone.name))
            }
            Operator::Tune => {
                let at = self.pick_guilty(&genome, parent, rng)?;
                let mechanism = self.library.get(&genome[at].name)?;
                let next = params::tuned(mechanism, &genome[at], rng)?;
                let what = describe_change(mechanism, &genome[at], &next);
                let name = next.name.clone();
                genome[at] = next;
                Some((genome, vec![name], None, what))
            }
            Operator::Replace => {
                let at = self.pick_guilty(&genome, parent, rng)?;
                let name = self.pick_new(&genome, parent, rng)?;
                let used = params::fresh(self.library.get(&name)?, rng);
                let gone = std::mem::replace(&mut genome[at], used);
                Some((genome, vec![name.clone()], None, format!("{} by {name}", gone.name)))
            }
            Operator::Cross => {
                let mates: Vec<&Member> = front::pareto_front(archive.members)
                    .into_iter()
                    .map(|i| &archive.members[i])
                    .filter(|m| m.id != parent.id && !m.bundle.manifest.mechanisms.is_empty())
                    .collect();
                let mate = mates.get(rng.random_range(0..mates.len().max(1)))?;
                let have: BTreeSet<String> = genome.iter().map(|m| m.name.clone()).collect();
                let gained: Vec<MechanismUse> = mate
                    .bundle
                    .manifest
                    .mechanisms
                    .iter()
                    .filter(|m| !have.contains(&m.name))
                    .take(MAX_MECHANISMS - genome.len().min(MAX_MECHANISMS))
                    .cloned()
                    .collect();
                if gained.is_empty() {
                    return None;
                }
                let touched: Vec<String> = gained.iter().map(|m| m.name.clone()).collect();
                let what = format!("with {}, gaining {}", mate.id.short(), touched.join(", "));
                genome.extend(gained);
                Some((genome, touched, Some(mate.id.clone()), what))
            }
            Operator::Write => None,
            Operator::Mine => {
                let mined = mining::propose(archive.traces, rng)?;
                let name = mined.name.clone();
                if genome.iter().any(|m| m.name == name) {
                    return None;
                }
                let what = format!("{name} ({})", mined.description);
                self.library.insert(name.clone(), mined.into_mechanism());
                genome.push(MechanismUse { name: name.clone(), params: Default::default() });
                Some((genome, vec![name], None, what))
            }
        }
    }

    /// A library mechanism that the genome lacks, likelier if it addresses the channel
    /// in which the parent fails.
    fn pick_new(
        &self,
        genome: &[MechanismUse],
        parent: &Member,
        rng: &mut ChaCha8Rng,
    ) -> Option<String> {
        let open: Vec<&Mechanism> = self
            .usable
            .iter()
            .filter_map(|name| self.library.get(name))
            .filter(|m| genome.iter().all(|used| used.name != m.name))
            .collect();
        if self.kind == DesignerKind::Random {
            return open.get(rng.random_range(0..open.len().max(1))).map(|m| m.name.clone());
        }
        let through = |family: &str| -> u32 {
            let of = parent.failures.through.iter().filter(|(c, _)| c.starts_with(family));
            of.map(|(_, t)| t.n).sum()
        };
        let (direct, indirect) = (through("direct"), through("indirect"));
        let lost = parent.failures.benign_lost + parent.failures.goals_lost_under_attack;
        let all = f64::from((direct + indirect + lost).max(1));
        let weights: Vec<(String, f64)> = open
            .into_iter()
            .map(|m| {
                let of = |channel: Channel, n: u32| {
                    if m.channels.contains(&channel) { f64::from(n) / all } else { 0.0 }
                };
                let weight = 0.4
                    + of(Channel::Direct, direct)
                    + of(Channel::Indirect, indirect)
                    + of(Channel::Utility, lost);
                (m.name.clone(), weight)
            })
            .collect();
        self.bandit.mechanism(&weights, rng)
    }

    /// A mechanism of the genome, likelier the more legitimate work it blocked.
    fn pick_guilty(
        &self,
        genome: &[MechanismUse],
        parent: &Member,
        rng: &mut ChaCha8Rng,
    ) -> Option<usize> {
        if genome.is_empty() {
            return None;
        }
        if self.kind == DesignerKind::Random {
            return Some(rng.random_range(0..genome.len()));
        }
        let weights: Vec<u32> =
            genome.iter().map(|m| 1 + parent.failures.false_blocks_of(m)).collect();
        let mut at = rng.random_range(0..weights.iter().sum::<u32>());
        weights.iter().position(|&w| {
            let hit = at < w;
            at = at.saturating_sub(w);
            hit
        })
    }
}

fn describe_change(mechanism: &Mechanism, old: &MechanismUse, new: &MechanismUse) -> String {
    for param in &mechanism.params {
        let from = old.params.get(&param.name).unwrap_or(&param.default);
        let to = new.params.get(&param.name).unwrap_or(&param.default);
        if from != to {
            return format!("{}.{} from {from:?} to {to:?}", mechanism.name, param.name);
        }
    }
    format!("{} unchanged", mechanism.name)
}

/// Why the edit should help: where the parent fails, from the Analyzer.
fn hypothesis(operator: Operator, parent: &Member) -> String {
    let f = &parent.failures;
    format!(
        "Parent {} lets {} of {} attacks through and costs {} benign tasks and {} user goals under attack. {} should {}.",
        parent.id.short(),
        f.attacks_through,
        f.attacks_open_in_h0,
        f.benign_lost,
        f.goals_lost_under_attack,
        match operator {
            Operator::Assemble => "A set of checks chosen for what they do alone",
            Operator::Add | Operator::Cross | Operator::Mine | Operator::Write => "Adding a check",
            Operator::Drop => "Removing a check",
            Operator::Tune => "Another threshold",
            Operator::Replace => "Another check in its place",
        },
        match operator {
            Operator::Assemble
            | Operator::Add
            | Operator::Cross
            | Operator::Mine
            | Operator::Write => "close what is left open",
            Operator::Drop => "give back lost work without opening attacks",
            Operator::Tune | Operator::Replace => "move the trade-off between the two",
        }
    )
}

/// A short name for people: the first mechanism and how many more.
fn name_of(genome: &[MechanismUse]) -> String {
    match genome {
        [] => "no-mechanism".to_owned(),
        [only] => only.name.clone(),
        [first, rest @ ..] => format!("{}-and-{}-more", first.name, rest.len()),
    }
}
