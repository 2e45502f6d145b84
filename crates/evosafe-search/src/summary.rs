//! What a search reports at its end.

use std::sync::atomic::Ordering;

use evosafe_types::{BlindPass, CandidateId, Event, RunId, Score};

use crate::SearchError;
use crate::criticizer::{blind_pass, corpus_of};
use crate::search::Search;
use crate::verdict::score;

/// What a search reports.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchSummary {
    /// The search.
    pub run: RunId,
    /// The winner.
    pub best: CandidateId,
    /// Its search score.
    pub search: Score,
    /// Its wide score.
    pub wide: Score,
    /// H0's search score.
    pub h0_search: Score,
    /// H0's wide score.
    pub h0_wide: Score,
    /// Candidates evaluated, seeds included.
    pub candidates: u32,
    /// Proposals the Criticizer kept out.
    pub rejected: u32,
    /// Episodes run by this process.
    pub episodes_run: u64,
    /// Episodes taken from the archive.
    pub episodes_reused: u64,
    /// Episodes of search prefixes that the cascade made unnecessary.
    pub episodes_saved: u64,
    /// Episodes without a verdict.
    pub unassessed: u64,
    /// What became of the corpus, where the specification asks for adaptive probes.
    pub corpus: Option<CorpusSummary>,
    /// The blind pass over the winner.
    pub blind: BlindPass,
    /// Wall-clock seconds of this process.
    pub elapsed_s: f64,
    /// Why it ended.
    pub reason: String,
}

/// How a search's corpus grew, and how the winner and H0 did on what is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CorpusSummary {
    /// The version at the end; 0 is what the specification says.
    pub version: u32,
    /// Variants in it.
    pub variants: u32,
    /// The winner's score on the variants; there are attacks only.
    pub winner: Score,
    /// H0's.
    pub h0: Score,
}

impl SearchSummary {
    /// Whether too much of the winner or of no defence was lost to infrastructure for a verdict.
    #[must_use]
    pub fn indecisive(&self) -> bool {
        !self.wide.uncovered().is_empty() || !self.h0_wide.uncovered().is_empty()
    }
}

impl Search {
    /// Enters the end into the archive.
    pub(crate) fn finish(
        &mut self,
        best: usize,
        reason: String,
    ) -> Result<SearchSummary, SearchError> {
        let winner = &self.members[best];
        let h0 = &self.members[0];
        self.record.best = Some(winner.id.clone());
        self.record.ended = Some(reason.clone());
        self.save_record()?;
        self.evaluator.emit(
            &Event::SearchFinished {
                run: self.run.clone(),
                best: winner.id.clone(),
                reason: reason.clone(),
            },
            true,
        )?;
        let made;
        let corpus = match &self.criticizer {
            Some(criticizer) => criticizer.corpus(),
            None => {
                made = corpus_of(&self.h0_traces, &self.config.environment);
                &made
            }
        };
        let counters = &self.evaluator.counters;
        Ok(SearchSummary {
            run: self.run.clone(),
            best: winner.id.clone(),
            search: winner.score,
            wide: winner.wide.unwrap_or(winner.score),
            h0_search: h0.score,
            h0_wide: h0.wide.unwrap_or(h0.score),
            candidates: u32::try_from(self.members.len()).unwrap_or(u32::MAX),
            rejected: self.rejected,
            episodes_run: counters.run.load(Ordering::Relaxed),
            episodes_reused: counters.reused.load(Ordering::Relaxed),
            episodes_saved: self.saved,
            unassessed: counters.unassessed.load(Ordering::Relaxed),
            corpus: (self.config.plan.search.adaptive_probes > 0).then(|| CorpusSummary {
                version: self.record.corpus.last().map_or(0, |last| last.version),
                variants: u32::try_from(self.adaptive.variants.len()).unwrap_or(u32::MAX),
                winner: score(&winner.probes),
                h0: score(&h0.probes),
            }),
            blind: blind_pass(&winner.bundle, corpus),
            elapsed_s: self.watch.elapsed().as_secs_f64(),
            reason,
        })
    }
}
