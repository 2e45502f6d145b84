//! Work that is paid for and is no call of an endpoint, such as a run of a coding agent. It
//! shares budget, ledger and cassette with calls: what came of it is written before it is used.

use std::future::Future;

use evosafe_types::{ContentHash, Usd};
use tokio::time::Instant;

use crate::cassette::Recorded;
use crate::client::Services;
use crate::error::LlmError;
use crate::ledger::LedgerEntry;
use crate::tag::CallTag;

/// What came of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobReply {
    /// What it returned.
    pub body: String,
    /// Whether it was run now, and not taken from the cassette.
    pub fresh: bool,
}

impl Services {
    /// Takes what came of a job from the cassette, or runs it: `run` returns a text and what it
    /// has cost, if that is known. `model` is what the ledger calls it, `request` stands for all
    /// that it depends on, and `most` is what it may cost, or the least amount where nobody knows.
    ///
    /// # Errors
    /// If the budget is spent, the cassette only replays and does not have it, or something
    /// cannot be written; and those of `run`, which leave nothing in ledger and cassette.
    pub async fn job<E: From<LlmError>>(
        &self,
        tag: &CallTag,
        model: &str,
        request: &ContentHash,
        most: Usd,
        run: impl Future<Output = Result<(String, Option<Usd>), E>>,
    ) -> Result<JobReply, E> {
        let mut entry = LedgerEntry::new(tag, model, request.clone());
        if let Some(cassette) = &self.cassette
            && let Some(recorded) = cassette.next(tag, request)?
        {
            entry.latency_ms = recorded.latency_ms;
            entry.cached = true;
            self.write(entry, None).await?;
            return Ok(JobReply { body: recorded.body, fresh: false });
        }
        let reserved = self.budget.reserve(tag.role, model, Some(most), 0).await;
        let reservation = reserved.map_err(LlmError::from)?;
        let start = Instant::now();
        let (body, cost) = run.await?;
        reservation.settle(cost, 0);
        entry.latency_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        entry.cost = cost;
        let mut recorded = Recorded::new(tag, request, 200, body.clone());
        recorded.latency_ms = entry.latency_ms;
        self.write(entry, Some(recorded)).await?;
        Ok(JobReply { body, fresh: true })
    }

    /// Ledger first: a kill in between costs a result that nobody has seen, never an entry.
    async fn write(&self, entry: LedgerEntry, reply: Option<Recorded>) -> Result<(), LlmError> {
        let (ledger, cassette) = (self.ledger.clone(), self.cassette.clone());
        let written = tokio::task::spawn_blocking(move || {
            ledger.append(&entry)?;
            match (cassette, reply) {
                (Some(cassette), Some(reply)) => cassette.record(&reply),
                _ => Ok(()),
            }
        });
        written.await.map_err(|e| LlmError::Transport(format!("a write did not end: {e}")))?
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use evosafe_types::PriceBook;

    use super::*;
    use crate::budget::{BudgetExceeded, Caps, CostBudget};
    use crate::cassette::{Cassette, CassetteMode};
    use crate::http::Http;
    use crate::ledger::{CostTable, Ledger};
    use crate::tag::Role;

    fn services(folder: &Path, mode: CassetteMode, cap: f64) -> Services {
        let ledger = folder.join("ledger.jsonl");
        let spent = CostTable::read(&ledger, &[]).expect("readable").0.spending;
        let caps = Caps { usd: Usd::from_dollars(cap), victim_tokens: None };
        let cassette = Cassette::open(&folder.join("replies.jsonl"), mode).expect("it opens").0;
        Services {
            http: Http::new(None).expect("no proxy"),
            ledger: Arc::new(Ledger::open(&ledger).expect("it opens").0),
            budget: CostBudget::new(caps, spent),
            prices: Arc::new(PriceBook::default()),
            cassette: Some(Arc::new(cassette)),
        }
    }

    async fn run(services: &Services, request: &str, usd: f64) -> Result<JobReply, LlmError> {
        let tag = CallTag::new(Role::Designer, "search");
        let least = Usd::from_nanos(1);
        let request = ContentHash::of(&[request.as_bytes()]);
        let work = async { Ok(("done".to_owned(), Usd::from_dollars(usd))) };
        services.job(&tag, "command:x", &request, least, work).await
    }

    #[tokio::test]
    async fn a_job_is_paid_for_once_and_counts_against_the_cap() {
        let folder = tempfile::tempdir().expect("a folder");
        let done = |fresh| Ok(JobReply { body: "done".to_owned(), fresh });
        {
            let services = services(folder.path(), CassetteMode::ReplayOrRecord, 2.0);
            let (tag, request) = (CallTag::new(Role::Designer, "search"), ContentHash::of(&[b"d"]));
            let lost = async { Err(LlmError::Transport("lost".to_owned())) };
            let failed = services.job(&tag, "command:x", &request, Usd::ZERO, lost);
            assert!(failed.await.is_err());
            assert_eq!(run(&services, "a", 1.5).await, done(true));
            // Nobody knows what it will cost, so the cap holds to within one job.
            assert_eq!(run(&services, "b", 1.5).await, done(true));
            let refused = run(&services, "c", 0.0).await;
            assert!(matches!(refused, Err(LlmError::Budget(BudgetExceeded::Usd { .. }))));
        }
        let services = services(folder.path(), CassetteMode::Replay, 2.0);
        assert_eq!(run(&services, "a", 9.0).await, done(false));
        assert!(matches!(run(&services, "c", 0.0).await, Err(LlmError::NotRecorded { .. })));
        let ledger = CostTable::read(&folder.path().join("ledger.jsonl"), &[]).expect("readable").0;
        assert_eq!((ledger.total.calls, ledger.total.replayed), (2, 1));
        assert_eq!(Some(ledger.total.cost), Usd::from_dollars(3.0));
    }
}
