//! What a candidate may need is reserved before it runs, and given back where it did not.

use std::collections::BTreeSet;

use evosafe_types::{Bundle, Stage, TaskId};

use crate::SearchError;
use crate::cascade::CascadeReport;
use crate::search::Search;

impl Search {
    /// Whether another candidate can be evaluated beside those proposed: nobody is paid for
    /// one that cannot.
    pub(crate) fn room_for(&self, proposed: usize) -> Result<(), SearchError> {
        if !self.config.designer.is_paid() {
            return Ok(());
        }
        let mut trial = self.spent;
        trial.candidates += u32::try_from(proposed).unwrap_or(u32::MAX);
        trial.wall_clock = self.watch.elapsed();
        Ok(self.config.budget.reserve_candidate(&mut trial)?)
    }

    /// Reserves what a stage of a candidate may need.
    pub(crate) fn reserve(&mut self, bundle: &Bundle, stage: Stage) -> Result<(), SearchError> {
        self.spent.wall_clock = self.watch.elapsed();
        let mut tasks = self.cascade.corpus.prefix(stage);
        if stage == Stage::Wide && !bundle.is_no_defence() {
            // Its search prefix was reserved when it was proposed.
            tasks = &tasks[self.cascade.corpus.prefix(Stage::Search).len().min(tasks.len())..];
        }
        let mut charge = self.evaluator.charge(&bundle.id(), tasks)?;
        if stage == Stage::Search {
            charge += self.evaluator.charge(&bundle.id(), &self.cascade.corpus.variants)?;
        }
        let mut trial = self.spent;
        if stage == Stage::Search || bundle.is_no_defence() {
            self.config.budget.reserve_candidate(&mut trial)?;
        }
        self.config.budget.reserve_episodes(&mut trial, charge)?;
        self.spent = trial;
        Ok(())
    }

    /// Reserves what these members need on new variants.
    pub(crate) fn reserve_variants(
        &mut self,
        members: &BTreeSet<usize>,
        variants: &[TaskId],
    ) -> Result<(), SearchError> {
        self.spent.wall_clock = self.watch.elapsed();
        let mut charge = 0;
        for &at in members {
            charge += self.evaluator.charge(&self.members[at].id, variants)?;
        }
        Ok(self.config.budget.reserve_episodes(&mut self.spent, charge)?)
    }

    /// Gives back what was reserved for stages that never ran.
    pub(crate) fn settle(&mut self, report: &CascadeReport) {
        self.spent.episodes = self.spent.episodes.saturating_sub(report.saved);
        self.saved += report.saved;
    }
}
