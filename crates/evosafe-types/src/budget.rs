//! What a search may spend.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Usd;

/// Caps; `None` is no cap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Budget {
    /// Candidates evaluated, seeds included.
    pub candidates: Option<u32>,
    /// Episodes paid for by this search.
    pub episodes: Option<u64>,
    /// Wall-clock time. Stopping by it is outside the determinism promise.
    pub wall_clock: Option<Duration>,
    /// Money for calls of live models, all roles together. A stop by it is outside the promise too.
    pub usd: Option<Usd>,
    /// Tokens of a live victim, prompt and reply.
    pub victim_tokens: Option<u64>,
}

/// What an episode of a live victim may use, beside its number of model calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EpisodeLimits {
    /// Tokens of the victim, prompt and reply. Hitting it ends the episode as the limit on
    /// model calls does: behaviour, assessed.
    pub tokens: Option<u64>,
    /// Tokens of a prompt, estimated, from which on older results of tools are shortened.
    pub compact_over: Option<u64>,
    /// Time. How long an endpoint takes is infrastructure: the episode is unassessed.
    pub time: Option<Duration>,
}

/// What has been spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Candidates evaluated.
    pub candidates: u32,
    /// Episodes paid for by this search, reserved ones included.
    pub episodes: u64,
    /// Wall-clock time since the process started searching.
    pub wall_clock: Duration,
}

/// A cap was hit. The run ends cleanly with what it has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BudgetError {
    /// No candidate left.
    #[error("the budget of {0} candidates is spent")]
    Candidates(u32),
    /// No episode left.
    #[error("the budget of {0} episodes is spent")]
    Episodes(u64),
    /// No time left.
    #[error("the time budget of {} s is spent", .0.as_secs())]
    WallClock(Duration),
    /// No money or tokens left for calls of live models; says so.
    #[error("{0}")]
    Calls(String),
}

impl Budget {
    /// Reserves one candidate.
    ///
    /// # Errors
    /// If the cap on candidates or time is hit; then nothing is reserved.
    pub fn reserve_candidate(&self, spent: &mut Spent) -> Result<(), BudgetError> {
        self.check_time(spent)?;
        if let Some(cap) = self.candidates
            && spent.candidates >= cap
        {
            return Err(BudgetError::Candidates(cap));
        }
        spent.candidates += 1;
        Ok(())
    }

    /// Reserves `n` episodes before they start.
    ///
    /// # Errors
    /// If the cap on episodes or time is hit; then nothing is reserved.
    pub fn reserve_episodes(&self, spent: &mut Spent, n: u64) -> Result<(), BudgetError> {
        self.check_time(spent)?;
        if let Some(cap) = self.episodes
            && spent.episodes + n > cap
        {
            return Err(BudgetError::Episodes(cap));
        }
        spent.episodes += n;
        Ok(())
    }

    fn check_time(&self, spent: &Spent) -> Result<(), BudgetError> {
        match self.wall_clock {
            Some(cap) if spent.wall_clock >= cap => Err(BudgetError::WallClock(cap)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_reservation_reserves_nothing() {
        let budget = Budget { episodes: Some(10), ..Budget::default() };
        let mut spent = Spent::default();
        assert_eq!(budget.reserve_episodes(&mut spent, 8), Ok(()));
        assert_eq!(budget.reserve_episodes(&mut spent, 3), Err(BudgetError::Episodes(10)));
        assert_eq!(spent.episodes, 8);
        assert_eq!(budget.reserve_episodes(&mut spent, 2), Ok(()));
    }

    #[test]
    fn candidates_and_time_are_capped() {
        let budget = Budget {
            candidates: Some(1),
            wall_clock: Some(Duration::from_secs(5)),
            ..Budget::default()
        };
        let mut spent = Spent::default();
        assert_eq!(budget.reserve_candidate(&mut spent), Ok(()));
        assert_eq!(budget.reserve_candidate(&mut spent), Err(BudgetError::Candidates(1)));
        spent.wall_clock = Duration::from_secs(5);
        assert_eq!(
            budget.reserve_episodes(&mut spent, 1),
            Err(BudgetError::WallClock(Duration::from_secs(5)))
        );
    }
}
