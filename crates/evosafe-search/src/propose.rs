//! One slot of a batch: from a Designer's draft to a proposal that may be evaluated.

use evosafe_types::Usd;

use crate::SearchError;
use crate::designer::{Designer, DesignerKind, Proposal};
use crate::search::Search;

impl Search {
    /// The Designer's next proposal, reviewed and repaired, or `None` if the slot stays
    /// empty. No episode is spent here.
    pub(crate) async fn next_candidate(
        &mut self,
        designer: &mut Designer,
        index: u64,
    ) -> Result<Option<Proposal>, SearchError> {
        if self.evaluator.cancelled() {
            return Err(SearchError::Interrupted);
        }
        let by = self.designer_of(index);
        if matches!(by, DesignerKind::Llm | DesignerKind::Command) {
            return self.designed_by_author(by, index).await;
        }
        self.tried(by, true, Usd::ZERO);
        let archive = crate::designer::Archive {
            members: &self.members,
            yardstick: self.yardstick(self.members[0].search_score()),
            traces: &self.h0_traces,
            known: &self.known,
        };
        let drafts = designer.drafts(&archive, index)?;
        let yardstick = self.yardstick(self.h0_wide());
        let best = self.rehearsal.best(drafts, &self.cascade.sandbox, &yardstick);
        let best = self.evaluator.unless_cancelled(best).await?;
        let Some(mut proposal) = best else { return Ok(None) };
        for _ in 0..=self.config.plan.search.repairs {
            let Some(verdict) = self.review(&proposal.bundle).await? else {
                let new = self.known.insert(proposal.bundle.behaviour());
                return Ok(new.then_some(proposal));
            };
            self.rejected += 1;
            let Some(repaired) = designer.repair(&proposal, &verdict)? else { break };
            proposal = repaired;
        }
        Ok(None)
    }

    /// The same where a model or a coding agent is the Designer: what is flagged goes back to it
    /// with the review.
    async fn designed_by_author(
        &mut self,
        by: DesignerKind,
        index: u64,
    ) -> Result<Option<Proposal>, SearchError> {
        let Some(mut proposal) = self.design(by, index).await? else { return Ok(None) };
        for round in 1..=self.config.plan.search.repairs + 1 {
            // Flagged or not, nothing that answers alike is taken again.
            self.known.insert(proposal.bundle.behaviour());
            let Some(verdict) = self.review(&proposal.bundle).await? else {
                return Ok(Some(proposal));
            };
            self.rejected += 1;
            if round > self.config.plan.search.repairs {
                break;
            }
            let repaired = self.redesign(by, &proposal, &verdict, index, round).await?;
            let Some(repaired) = repaired else { break };
            proposal = repaired;
        }
        Ok(None)
    }
}
