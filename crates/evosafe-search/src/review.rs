//! Review of a proposal before any episode is spent on it.

use evosafe_archive::ResultKind;
use evosafe_types::{Bundle, DropReason, Event};

use crate::SearchError;
use crate::criticizer::Verdict;
use crate::search::Search;

impl Search {
    /// The Criticizer's verdict if it flags the bundle, or `None` if it lets it pass.
    /// Candidate and verdict are archived either way: what was refused, and why, is part of
    /// the search.
    pub(crate) async fn review(&mut self, bundle: &Bundle) -> Result<Option<Verdict>, SearchError> {
        let Some(criticizer) = &self.criticizer else { return Ok(None) };
        let harness = self.cascade.sandbox.prepare(bundle).ok();
        let first = criticizer.review(bundle, harness.as_ref());
        let mut verdict = self.evaluator.unless_cancelled(first).await?;
        // The first filter runs without a model; what it flags is not paid for.
        if !verdict.flagged {
            self.second_opinion(bundle, harness.as_ref(), &mut verdict).await?;
        }
        let id = bundle.id();
        let edit = bundle.manifest.edit.clone();
        self.enter(bundle, &edit)?;
        self.show_verdict(&id, &verdict.text);
        let body = serde_json::to_value(&verdict)
            .map_err(|e| SearchError::Internal(format!("a verdict does not serialise: {e}")))?;
        let fresh = self.result(&id, ResultKind::Verdict, body)?;
        if !verdict.flagged {
            return Ok(None);
        }
        let dropped = Event::Dropped { candidate: id, edit, reason: DropReason::Criticizer };
        self.evaluator.emit(&dropped, fresh)?;
        Ok(Some(verdict))
    }
}
