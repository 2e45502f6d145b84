//! What all clients of an endpoint share: how much may be sent at once and a minute, and
//! whether it is worth sending anything at all.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use evosafe_types::{CallLimits, ModelConfig};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep_until};

use crate::error::LlmError;

/// An endpoint. Clients that share one are limited together.
#[derive(Debug)]
pub struct Endpoint {
    name: String,
    limits: CallLimits,
    slots: Semaphore,
    rates: Mutex<Rates>,
    breaker: Mutex<Breaker>,
}

/// Whether calls are let through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Circuit {
    /// They are.
    Closed,
    /// They are refused, because too many in a row failed with all their retries.
    Open {
        /// Failures in a row.
        failures: u32,
        /// The last one.
        last: String,
        /// Time until one call may try again.
        retry_in: Duration,
    },
    /// One call is trying whether the endpoint works again; others are refused.
    HalfOpen,
}

#[derive(Debug)]
struct Rates {
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
    /// The endpoint asked to be left alone until then.
    quiet_until: Option<Instant>,
}

/// A bucket that fills evenly. It may go below zero, where a call was larger than thought.
#[derive(Debug)]
struct Bucket {
    per_second: f64,
    capacity: f64,
    level: f64,
    at: Instant,
}

/// Longest stretch of unused rate that may be made up for at once, in seconds.
const BURST_S: f64 = 10.0;

/// Longest stretch of rate that calls larger than thought may use up ahead, in seconds.
const DEEPEST_S: f64 = 600.0;

impl Bucket {
    fn new(per_minute: u32) -> Self {
        let per_second = f64::from(per_minute) / 60.0;
        let capacity = (per_second * BURST_S).max(1.0);
        Self { per_second, capacity, level: capacity, at: Instant::now() }
    }

    /// When there is room for `amount`: an amount beyond the capacity needs a full bucket.
    fn ready(&mut self, now: Instant, amount: f64) -> Instant {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.level = (self.level + passed * self.per_second).min(self.capacity);
        self.at = now;
        let missing = amount.min(self.capacity) - self.level;
        if missing <= 0.0 {
            return now;
        }
        // A little more, so that rounding does not ask for another round.
        now + Duration::from_secs_f64(missing / self.per_second) + Duration::from_millis(1)
    }
}

#[derive(Debug)]
struct Breaker {
    failures: u32,
    last: String,
    /// Set while open; the time from which one call may try.
    open_until: Option<Instant>,
    trying: bool,
}

/// Room for one call; gives its place free when dropped.
#[derive(Debug)]
pub(crate) struct Pass<'a> {
    endpoint: &'a Endpoint,
    _slot: SemaphorePermit<'a>,
    trial: bool,
}

impl Endpoint {
    /// The endpoint of a configuration, with its limits.
    #[must_use]
    pub fn new(config: &ModelConfig) -> Arc<Self> {
        let limits = config.limits.clone();
        let rates = Rates {
            requests: limits.requests_per_minute.map(Bucket::new),
            tokens: limits.tokens_per_minute.map(Bucket::new),
            quiet_until: None,
        };
        let breaker = Breaker { failures: 0, last: String::new(), open_until: None, trying: false };
        Arc::new(Self {
            name: config.base_url().to_owned(),
            slots: Semaphore::new(limits.concurrency.max(1) as usize),
            limits,
            rates: Mutex::new(rates),
            breaker: Mutex::new(breaker),
        })
    }

    /// Its base URL.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether calls are let through: for a search that pauses and says so.
    #[must_use]
    pub fn circuit(&self) -> Circuit {
        let breaker = self.breaker();
        match breaker.open_until {
            None => Circuit::Closed,
            Some(_) if breaker.trying => Circuit::HalfOpen,
            Some(until) => Circuit::Open {
                failures: breaker.failures,
                last: breaker.last.clone(),
                retry_in: until.saturating_duration_since(Instant::now()),
            },
        }
    }

    /// Waits until a call may be tried: at once while the circuit is closed, else until
    /// its cool-down is over.
    pub async fn ready(&self) {
        let until = self.breaker().open_until;
        if let Some(until) = until {
            sleep_until(until).await;
        }
    }

    /// Waits for a free place.
    ///
    /// # Errors
    /// If the circuit is open by then.
    pub(crate) async fn enter(&self) -> Result<Pass<'_>, LlmError> {
        let slot = self.slots.acquire().await.map_err(|e| LlmError::Transport(e.to_string()))?;
        let mut breaker = self.breaker();
        let trial = match breaker.open_until {
            None => false,
            Some(until) if !breaker.trying && until <= Instant::now() => {
                breaker.trying = true;
                true
            }
            Some(until) => {
                return Err(LlmError::CircuitOpen {
                    endpoint: self.name.clone(),
                    failures: breaker.failures,
                    last: breaker.last.clone(),
                    retry_in: until.saturating_duration_since(Instant::now()),
                });
            }
        };
        Ok(Pass { endpoint: self, _slot: slot, trial })
    }

    /// Waits until a request of about `tokens` tokens may be sent, and counts it.
    pub(crate) async fn pace(&self, tokens: u64) {
        loop {
            let ready = self.rates().take(Instant::now(), tokens);
            match ready {
                None => return,
                Some(at) => sleep_until(at).await,
            }
        }
    }

    /// Corrects what a request was taken for, once its tokens are known.
    pub(crate) fn correct(&self, assumed: u64, actual: u64) {
        if let Some(bucket) = &mut self.rates().tokens {
            let level = bucket.level + as_f64(assumed) - as_f64(actual);
            // A server that reports nonsense must not stop all calls for good.
            bucket.level = level.clamp(-DEEPEST_S * bucket.per_second, bucket.capacity);
        }
    }

    /// Sends nothing for so long: the endpoint asked for it, and would count further
    /// requests of other calls against us too.
    pub(crate) fn quiet(&self, wait: Duration) {
        let until = Instant::now() + wait;
        let mut rates = self.rates();
        rates.quiet_until = Some(rates.quiet_until.map_or(until, |before| before.max(until)));
    }

    fn rates(&self) -> MutexGuard<'_, Rates> {
        self.rates.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn breaker(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rates {
    /// Counts a request, or says when to ask again.
    fn take(&mut self, now: Instant, tokens: u64) -> Option<Instant> {
        let tokens = as_f64(tokens);
        let quiet = self.quiet_until.filter(|until| *until > now);
        let requests = self.requests.as_mut().map(|b| b.ready(now, 1.0));
        let words = self.tokens.as_mut().map(|b| b.ready(now, tokens));
        let ready = [quiet, requests, words].into_iter().flatten().max().unwrap_or(now);
        if ready > now {
            return Some(ready);
        }
        if let Some(bucket) = &mut self.requests {
            bucket.level -= 1.0;
        }
        if let Some(bucket) = &mut self.tokens {
            bucket.level -= tokens;
        }
        None
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of tokens are far below 2^52")]
fn as_f64(n: u64) -> f64 {
    n as f64
}

impl Pass<'_> {
    /// The endpoint answered, whatever it said: closes the circuit.
    pub fn answered(mut self) {
        self.trial = false;
        let mut breaker = self.endpoint.breaker();
        breaker.failures = 0;
        breaker.open_until = None;
        breaker.trying = false;
    }

    /// The call failed with all its retries; enough of these in a row open the circuit.
    pub fn failed(mut self, error: &LlmError) {
        let mut breaker = self.endpoint.breaker();
        breaker.failures += 1;
        breaker.last = error.to_string();
        let limits = &self.endpoint.limits;
        if self.trial || breaker.failures >= limits.breaker_failures {
            let cooldown = Duration::from_secs_f64(limits.breaker_cooldown_s);
            breaker.open_until = Some(Instant::now() + cooldown);
        }
        if self.trial {
            breaker.trying = false;
            self.trial = false;
        }
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        // A trial that was given up says nothing: the next call tries.
        if self.trial {
            self.endpoint.breaker().trying = false;
        }
    }
}
