//! Train-only adaptive probes (docs/decisions/0014-adaptive-probes.md): what a survivor adds is
//! attacked in other words, and the attacks become part of the train corpus of all that come
//! later. The corpus is versioned, and scores are compared within a version only.

mod aimed;
mod counted;
mod record;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use evosafe_agent::Variant;
use evosafe_archive::ResultKind;
use evosafe_types::{Event, Outcome, Stage, TaskId};
use serde_json::json;

use self::aimed::Made;
use crate::SearchError;
use crate::cascade::Corpus;
use crate::criticizer::probe::Change;
use crate::criticizer::vocabulary::CorpusTokens;
use crate::designer::pareto_front;
use crate::search::Search;
use crate::verdict::{Verdict, score};

pub use record::{CorpusVersion, VariantRecord, find_variant};

/// Raised whenever a search with adaptive probes may come to other variants or compare otherwise:
/// such a search is begun anew. Part of the run's identity where they are on.
pub(crate) const ADAPTIVE_VERSION: u32 = 1;

/// What a search knows of its variants.
#[derive(Debug, Default)]
pub(crate) struct Adaptive {
    /// All variants, in the order of the corpus.
    pub(crate) variants: Vec<Arc<Variant>>,
    /// What there are variants against.
    answered: BTreeSet<String>,
    /// What was made of which task.
    made: BTreeSet<(TaskId, Change)>,
    /// Tokens of the corpus, where no Criticizer has them.
    tokens: OnceLock<CorpusTokens>,
}

impl Search {
    /// After a candidate was run wide: if it may win, the mechanisms that it adds are attacked in
    /// other words. Either the corpus has a new version afterwards, on which H0 and all that may
    /// still win were run, or nothing has changed.
    pub(crate) async fn adapt(
        &mut self,
        survivor: usize,
        verdicts: &[Verdict],
    ) -> Result<(), SearchError> {
        let most = self.config.plan.search.adaptive_probes as usize;
        let left = most.saturating_sub(self.adaptive.variants.len());
        if left == 0 || !self.members[survivor].eligible {
            return Ok(());
        }
        let made = self.variants_against(survivor, verdicts, left)?;
        if made.is_empty() {
            return Ok(());
        }
        let tasks: Vec<TaskId> = made.iter().map(|m| m.variant.task().id.clone()).collect();
        let live = self.live();
        self.reserve_variants(&live, &tasks)?;
        self.evaluator.admit(made.iter().map(|m| Arc::clone(&m.variant)));
        let mut ran = Vec::new();
        for at in live {
            let member = &self.members[at];
            let harness = self.cascade.harness(&member.bundle)?;
            let run = self.evaluator.verdicts(&member.id, &harness, &tasks, Some(Stage::Search));
            ran.push((at, run.await?));
        }
        self.begin_version(survivor, made, ran)
    }

    /// Whose scores move on to the next version: H0, the parents that the Designer draws from, those
    /// that may win, and the best of those that wait for the wide stage.
    fn live(&self) -> BTreeSet<usize> {
        let may_win = |&i: &usize| {
            let member = &self.members[i];
            member.wide.is_some() && member.eligible && !member.stale
        };
        let mut waiting: Vec<usize> = (0..self.members.len())
            .filter(|&i| self.members[i].is_current() && self.members[i].wide.is_none())
            .collect();
        waiting.sort_by(|&a, &b| {
            let size = |i: usize| self.members[i].bundle.size();
            let merit = self.search_merit(b).total_cmp(&self.search_merit(a));
            merit.then(size(a).cmp(&size(b))).then(a.cmp(&b))
        });
        waiting.truncate(self.config.plan.cascade.finalists as usize);
        let all = (0..self.members.len()).filter(may_win).chain(pareto_front(&self.members));
        all.chain(waiting).chain([0]).collect()
    }

    /// Enters a version: from here on nobody is compared who was not run on all of it.
    fn begin_version(
        &mut self,
        survivor: usize,
        made: Vec<Made>,
        ran: Vec<(usize, Vec<Verdict>)>,
    ) -> Result<(), SearchError> {
        let tasks: Vec<TaskId> = made.iter().map(|m| m.variant.task().id.clone()).collect();
        let mut corpus = Corpus::clone(&self.cascade.corpus);
        corpus.variants.extend(tasks.iter().cloned());
        let version = CorpusVersion {
            version: u32::try_from(self.record.corpus.len() + 1).unwrap_or(u32::MAX),
            corpus: corpus.id(),
            variants: tasks.clone(),
        };
        self.cascade.corpus = Arc::new(corpus);
        for (at, member) in self.members.iter_mut().enumerate() {
            match ran.iter().find(|(ran, _)| *ran == at) {
                Some((_, verdicts)) => member.probes.extend(verdicts.iter().cloned()),
                None => member.stale = true,
            }
        }
        let records: Vec<VariantRecord> = made.iter().map(Made::record).collect();
        for made in made {
            let Made { variant, change, against } = made;
            self.adaptive.made.insert((variant.base().clone(), change));
            self.adaptive.answered.insert(against);
            self.adaptive.variants.push(variant);
        }
        let body = json!({
            "version": version.version, "corpus": version.corpus,
            "from": self.members[survivor].id, "variants": records,
        });
        let h0 = self.members[0].id.clone();
        let fresh = self.result(&h0, ResultKind::Corpus, body)?;
        let whole = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let event = Event::CorpusGrew {
            run: self.run.clone(),
            version: version.version,
            corpus: version.corpus.clone(),
            added: whole(tasks.len()),
            variants: whole(self.adaptive.variants.len()),
        };
        self.record.corpus.push(version);
        self.evaluator.emit(&event, fresh)?;
        if let Some(outer) = &mut self.outer {
            outer.admit(tasks);
        }
        for (at, _) in ran {
            self.enter_probes(at)?;
            let verdicts = self.verdicts_of(at)?;
            let id = self.members[at].id.clone();
            self.members[at].failures = self.note(&id, &verdicts)?;
            self.show(at, &verdicts)?;
        }
        self.save_record()
    }

    /// Archives how a member did on the variants of the corpus as it is.
    pub(crate) fn enter_probes(&self, index: usize) -> Result<(), SearchError> {
        let Some(version) = self.record.corpus.last() else { return Ok(()) };
        let member = &self.members[index];
        if !member.is_current() {
            return Ok(());
        }
        let body = json!({
            "version": version.version, "corpus": version.corpus,
            "score": score(&member.probes),
        });
        self.result(&member.id, ResultKind::Corpus, body).map(drop)
    }

    /// What a member was run on, variants included, from the archive.
    fn verdicts_of(&self, index: usize) -> Result<Vec<Verdict>, SearchError> {
        let member = &self.members[index];
        let stage = if member.wide.is_some() { Stage::Wide } else { Stage::Search };
        let mut verdicts = Vec::new();
        for id in self.cascade.corpus.prefix(stage) {
            let Some(task) = self.config.tasks.iter().find(|task| task.id == *id) else { continue };
            for seed in 0..self.evaluator.rollouts() {
                let key = self.evaluator.key(&member.id, id, seed);
                let outcome: Option<(Outcome, _)> = self.config.archive.outcome(&key)?;
                let verdict =
                    |(outcome, _)| Verdict { task: id.clone(), seed, family: task.family, outcome };
                verdicts.extend(outcome.map(verdict));
            }
        }
        verdicts.extend(member.probes.iter().cloned());
        Ok(verdicts)
    }
}
