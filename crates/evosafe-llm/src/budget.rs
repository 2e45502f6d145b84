//! One budget over all roles: money, and the victim's tokens. A call reserves an upper
//! estimate before it is sent and settles what it really cost.
//!
//! The cap holds to within one call even where replies cost more than was estimated:
//! - until a model has settled a call, only one call of such models is in flight;
//! - after that its reservations count with the largest excess seen (actual / estimate);
//! - a call that does not fit beside those in flight waits for them, and is refused only
//!   when what is *spent* leaves no room for its estimate.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use evosafe_types::Usd;
use tokio::sync::Notify;

use crate::tag::Role;

/// What all calls together may cost; `None` is no cap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Caps {
    /// Money, over all roles.
    pub usd: Option<Usd>,
    /// Tokens of the victim, prompt and reply; those of other roles do not count.
    pub victim_tokens: Option<u64>,
}

/// What calls have cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spending {
    /// Money, where the price is known.
    pub usd: Usd,
    /// Tokens of the victim.
    pub victim_tokens: u64,
}

/// The budget does not cover a call; nothing was reserved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BudgetExceeded {
    /// No money left.
    #[error("the budget of {cap} is spent: {spent} so far, and the next call may cost {estimate}")]
    Usd {
        /// The cap.
        cap: Usd,
        /// Spent so far.
        spent: Usd,
        /// Upper estimate of the call.
        estimate: Usd,
    },
    /// No victim tokens left.
    #[error(
        "the budget of {cap} victim tokens is spent: {spent} so far, and the next call may need {estimate}"
    )]
    VictimTokens {
        /// The cap.
        cap: u64,
        /// Spent so far.
        spent: u64,
        /// Upper estimate of the call.
        estimate: u64,
    },
    /// A cap on money cannot hold for a model without a price.
    #[error(
        "there is no price for the model `{model}`, so the budget in USD cannot hold: add the model to a price file (0 where it is free), or drop the USD budget"
    )]
    Unpriced {
        /// The model.
        model: String,
    },
}

/// The budget. Shared by all clients of a run.
#[derive(Debug)]
pub struct CostBudget {
    caps: Caps,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    usd: Meter,
    tokens: Meter,
}

/// One quantity: what is spent, and what is reserved by model.
#[derive(Debug, Default)]
struct Meter {
    spent: u64,
    models: BTreeMap<String, Model>,
}

#[derive(Debug, Default)]
struct Model {
    reserved: u64,
    in_flight: u32,
    /// Largest actual / estimate seen, in thousandths, at least 1000; `None` before the
    /// first settled call.
    excess: Option<u64>,
}

enum Fit {
    Yes,
    /// Not beside the calls in flight.
    Wait,
    Never,
}

impl Meter {
    fn fit(&self, cap: Option<u64>, model: &str, estimate: u64) -> Fit {
        let Some(cap) = cap else { return Fit::Yes };
        if self.spent.saturating_add(estimate) > cap {
            return Fit::Never;
        }
        let flying = || self.models.values().filter(|m| m.in_flight > 0);
        if flying().next().is_none() {
            return Fit::Yes;
        }
        let excess = self.models.get(model).and_then(|m| m.excess);
        if excess.is_none() && flying().any(|m| m.excess.is_none()) {
            return Fit::Wait;
        }
        let at_worst = |amount: u64, excess: Option<u64>| {
            (u128::from(amount) * u128::from(excess.unwrap_or(1000))).div_ceil(1000)
        };
        let exposed: u128 = flying().map(|m| at_worst(m.reserved, m.excess)).sum();
        let all = u128::from(self.spent) + exposed + at_worst(estimate, excess);
        if all <= u128::from(cap) { Fit::Yes } else { Fit::Wait }
    }

    fn reserve(&mut self, model: &str, estimate: u64) {
        let model = self.models.entry(model.to_owned()).or_default();
        model.reserved += estimate;
        model.in_flight += 1;
    }

    fn release(&mut self, model: &str, estimate: u64, actual: Option<u64>) {
        let model = self.models.entry(model.to_owned()).or_default();
        model.reserved -= estimate;
        model.in_flight -= 1;
        if let Some(actual) = actual {
            self.spent = self.spent.saturating_add(actual);
            let seen = (u128::from(actual) * 1000).div_ceil(u128::from(estimate.max(1)));
            let seen = u64::try_from(seen).unwrap_or(u64::MAX);
            model.excess = Some(model.excess.unwrap_or(1000).max(seen));
        }
    }
}

/// Room for one call. Dropped without [`Self::settle`] it is given back: the call did
/// not happen.
#[derive(Debug)]
#[must_use = "dropping it gives the reservation back"]
pub struct Reservation {
    budget: Arc<CostBudget>,
    model: String,
    usd: u64,
    tokens: Option<u64>,
    settled: bool,
}

impl CostBudget {
    /// A budget of which `spent` is gone already (by the same run before it was resumed).
    #[must_use]
    pub fn new(caps: Caps, spent: Spending) -> Arc<Self> {
        let mut state = State::default();
        state.usd.spent = spent.usd.nanos();
        state.tokens.spent = spent.victim_tokens;
        Arc::new(Self { caps, state: Mutex::new(state), changed: Notify::new() })
    }

    /// The caps.
    #[must_use]
    pub fn caps(&self) -> Caps {
        self.caps
    }

    /// Spent so far, reservations apart.
    #[must_use]
    pub fn spent(&self) -> Spending {
        let state = self.lock();
        Spending { usd: Usd::from_nanos(state.usd.spent), victim_tokens: state.tokens.spent }
    }

    /// Reserves room for a call that costs at most about `usd` (`None`: the price is
    /// unknown) and `tokens`, waiting for calls in flight where it may not fit beside them.
    ///
    /// # Errors
    /// If what is spent leaves no room, or a price is needed and unknown.
    pub async fn reserve(
        self: &Arc<Self>,
        role: Role,
        model: &str,
        usd: Option<Usd>,
        tokens: u64,
    ) -> Result<Reservation, BudgetExceeded> {
        if usd.is_none() && self.caps.usd.is_some() {
            return Err(BudgetExceeded::Unpriced { model: model.to_owned() });
        }
        let usd = usd.unwrap_or(Usd::ZERO).nanos();
        let tokens = (role == Role::Victim).then_some(tokens);
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Before looking, so that a settlement in between is not missed.
            changed.as_mut().enable();
            if let Some(reservation) = self.try_reserve(model, usd, tokens)? {
                return Ok(reservation);
            }
            changed.await;
        }
    }

    fn try_reserve(
        self: &Arc<Self>,
        model: &str,
        usd: u64,
        tokens: Option<u64>,
    ) -> Result<Option<Reservation>, BudgetExceeded> {
        let mut state = self.lock();
        let usd_cap = self.caps.usd.map(Usd::nanos);
        let money = state.usd.fit(usd_cap, model, usd);
        if let (Fit::Never, Some(cap)) = (&money, self.caps.usd) {
            let (spent, estimate) = (Usd::from_nanos(state.usd.spent), Usd::from_nanos(usd));
            return Err(BudgetExceeded::Usd { cap, spent, estimate });
        }
        let words = match tokens {
            Some(n) => state.tokens.fit(self.caps.victim_tokens, model, n),
            None => Fit::Yes,
        };
        if let (Fit::Never, Some(cap), Some(estimate)) = (&words, self.caps.victim_tokens, tokens) {
            let spent = state.tokens.spent;
            return Err(BudgetExceeded::VictimTokens { cap, spent, estimate });
        }
        if !matches!((money, words), (Fit::Yes, Fit::Yes)) {
            return Ok(None);
        }
        state.usd.reserve(model, usd);
        if let Some(n) = tokens {
            state.tokens.reserve(model, n);
        }
        let (budget, model) = (Arc::clone(self), model.to_owned());
        Ok(Some(Reservation { budget, model, usd, tokens, settled: false }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reservation {
    /// Replaces the estimate by what the call cost. Without a price no money is counted.
    pub fn settle(mut self, usd: Option<Usd>, tokens: u64) {
        self.settled = true;
        self.release(usd.map_or(Some(0), |usd| Some(usd.nanos())), Some(tokens));
    }

    fn release(&self, usd: Option<u64>, tokens: Option<u64>) {
        let mut state = self.budget.lock();
        state.usd.release(&self.model, self.usd, usd);
        if let Some(estimate) = self.tokens {
            state.tokens.release(&self.model, estimate, tokens);
        }
        drop(state);
        self.budget.changed.notify_waiters();
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if !self.settled {
            self.release(None, None);
        }
    }
}
