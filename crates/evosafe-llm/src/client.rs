//! One call from request to reply: cassette, circuit, budget, limits, attempts, ledger.

use std::sync::Arc;
use std::time::Duration;

use evosafe_types::{ContentHash, ModelConfig, Price, PriceBook, Usd};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::budget::{CostBudget, Reservation};
use crate::cassette::{Cassette, Recorded};
use crate::chat::{ChatReply, ChatRequest};
use crate::endpoint::Endpoint;
use crate::error::LlmError;
use crate::http::{Http, Response};
use crate::ledger::{Ledger, LedgerEntry};
use crate::secret::Secret;
use crate::tag::CallTag;
use crate::wire::{self, Decoded, Fault};

/// What all clients of a run share.
#[derive(Debug, Clone)]
pub struct Services {
    /// Connections.
    pub http: Http,
    /// Where every paid call is written.
    pub ledger: Arc<Ledger>,
    /// What they may cost together.
    pub budget: Arc<CostBudget>,
    /// What they cost.
    pub prices: Arc<PriceBook>,
    /// Where replies come from and go to; `None`: every call is sent, and none is kept.
    pub cassette: Option<Arc<Cassette>>,
}

/// A model that can be asked. Clones share everything.
#[derive(Debug, Clone)]
pub struct Client {
    config: Arc<ModelConfig>,
    key: Option<Secret>,
    endpoint: Arc<Endpoint>,
    services: Services,
}

/// A response and what it means: a reply, or an error that another attempt would only
/// repeat and that is the model's behaviour.
struct Answer {
    response: Response,
    latency: Duration,
    decoded: Decoded,
}

impl Client {
    /// A client for a model. `key` is the value of the variable that the configuration
    /// names; a replaying client needs none.
    ///
    /// # Errors
    /// If the configuration is not one that can be used ([`ModelConfig::check`]).
    pub fn new(
        config: ModelConfig,
        key: Option<Secret>,
        endpoint: Arc<Endpoint>,
        services: Services,
    ) -> Result<Self, LlmError> {
        config.check()?;
        Ok(Self { config: Arc::new(config), key, endpoint, services })
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// The endpoint, for its circuit.
    #[must_use]
    pub fn endpoint(&self) -> &Arc<Endpoint> {
        &self.endpoint
    }

    /// Asks the model. When this returns a reply, it is in the ledger and, if there is one,
    /// on the cassette. A call that is dropped before gives its reservation back; what the
    /// endpoint charges for it all the same is not known to us.
    ///
    /// # Errors
    /// See [`LlmError`]; [`LlmError::is_infrastructure`] says what an episode makes of it.
    pub async fn chat(&self, request: &ChatRequest, tag: &CallTag) -> Result<ChatReply, LlmError> {
        let body = wire::encode(&self.config, request);
        let hash = wire::hash(&self.config, &body);
        if let Some(cassette) = &self.services.cassette
            && let Some(recorded) = cassette.next(tag, &hash)?
        {
            return self.replay(request, tag, &body, recorded).await;
        }
        self.services.http.check(&self.config)?;
        let pass = self.endpoint.enter().await?;
        let reservation = self.reserve(request, tag, &body).await?;
        let answer = match self.attempts(request, &body, &hash).await {
            Ok(answer) => {
                pass.answered();
                answer
            }
            Err(error) => {
                match &error {
                    // The endpoint works; it is the request that it does not like.
                    LlmError::BadRequest { .. } => pass.answered(),
                    other => pass.failed(other),
                }
                return Err(error);
            }
        };
        self.book(tag, hash, answer, reservation).await
    }

    /// What a reply cost when it was paid for, by today's prices; `None` without one.
    #[must_use]
    pub fn cost(&self, reply: &ChatReply) -> Option<Usd> {
        Some(self.price(Some(&reply.model))?.cost(&reply.usage))
    }

    fn price(&self, replied: Option<&str>) -> Option<Price> {
        let prices = &self.services.prices;
        prices.price(&self.config.model).or_else(|| prices.price(replied?))
    }

    async fn reserve(
        &self,
        request: &ChatRequest,
        tag: &CallTag,
        body: &str,
    ) -> Result<Reservation, LlmError> {
        let prompt = wire::most_tokens(body);
        let output = u64::from(request.max_tokens.unwrap_or(self.config.max_tokens));
        let most = self.price(None).map(|price| price.upper(prompt, output));
        let budget = &self.services.budget;
        Ok(budget.reserve(tag.role, &self.config.model, most, prompt + output).await?)
    }

    /// Sends the request until there is an answer, or no point or no time left.
    async fn attempts(
        &self,
        request: &ChatRequest,
        body: &str,
        hash: &ContentHash,
    ) -> Result<Answer, LlmError> {
        let limits = &self.config.limits;
        let assumed = wire::about_tokens(body);
        // Waiting for our own limits is nobody's fault: the clock starts after it.
        self.endpoint.pace(assumed).await;
        let start = Instant::now();
        let deadline = start + limits.total_timeout();
        let mut attempt = 0;
        loop {
            attempt += 1;
            let fault = match self.attempt(request, body, deadline).await {
                Ok(answer) => {
                    self.endpoint.correct(assumed, answer.decoded.usage.total());
                    return Ok(answer);
                }
                Err(fault) => fault,
            };
            let wait = self.backoff(hash, attempt, fault.after);
            let error = after_all(fault.error, attempt, start.elapsed());
            if let Some(asked) = fault.after {
                // No longer than a call may take: an endpoint that is not back by then
                // shall be heard saying so, and open the circuit.
                self.endpoint.quiet(asked.min(limits.total_timeout()));
            }
            let over = Instant::now() + wait >= deadline;
            if !fault.retry || attempt > limits.retries || over {
                return Err(error);
            }
            sleep(wait).await;
            if timeout_at(deadline, self.endpoint.pace(assumed)).await.is_err() {
                return Err(error);
            }
        }
    }

    async fn attempt(
        &self,
        request: &ChatRequest,
        body: &str,
        deadline: Instant,
    ) -> Result<Answer, Fault> {
        let endpoint = || self.endpoint.name().to_owned();
        let again = |error| Fault { error, retry: true, after: None };
        let start = Instant::now();
        let limit = self.config.limits.call_timeout().min(deadline - start);
        let sent = self.services.http.send(&self.config, self.key.as_ref(), body);
        let mut response = match timeout(limit, sent).await {
            Err(_) => {
                let (after, attempts) = (limit, 1);
                return Err(again(LlmError::Timeout { endpoint: endpoint(), after, attempts }));
            }
            Ok(Err(message)) => {
                let message = self.redact(&message);
                return Err(again(LlmError::Connection {
                    endpoint: endpoint(),
                    attempts: 1,
                    message,
                }));
            }
            Ok(Ok(response)) => response,
        };
        let latency = start.elapsed();
        // Before anything looks at it: no error, ledger or cassette can hold the key then.
        response.body = self.redact(&response.body);
        match wire::interpret(&self.config, request, body, &response) {
            Ok(decoded) => Ok(Answer { response, latency, decoded }),
            Err(fault) if fault.error.is_infrastructure() => Err(fault),
            Err(fault) => Ok(Answer { response, latency, decoded: unpaid(fault.error) }),
        }
    }

    /// The wait before another attempt: twice as long each time, up to the cap, and between
    /// half and all of that by a draw from the request, so that a run repeats itself. What
    /// the endpoint asks for is waited out in full, and a little more.
    fn backoff(&self, hash: &ContentHash, attempt: u32, asked: Option<Duration>) -> Duration {
        let limits = &self.config.limits;
        let draw = blake3::hash(format!("{hash}/{attempt}").as_bytes());
        let draw = f64::from(draw.as_bytes()[0]) / 255.0;
        let doubled =
            limits.backoff_s * 2f64.powi(i32::try_from(attempt - 1).unwrap_or(30).min(30));
        let own = doubled.min(limits.backoff_cap_s) * (0.5 + draw / 2.0);
        match asked {
            Some(asked) => asked + Duration::from_secs_f64(limits.backoff_s * draw),
            None => Duration::from_secs_f64(own),
        }
    }

    fn redact(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.redact(text))
    }

    /// Settles, and writes ledger and cassette, in this order: a kill in between costs a
    /// reply that nobody has seen, never an entry of the ledger.
    async fn book(
        &self,
        tag: &CallTag,
        hash: ContentHash,
        answer: Answer,
        reservation: Reservation,
    ) -> Result<ChatReply, LlmError> {
        let Answer { response, latency, decoded } = answer;
        let price = self.price(decoded.model.as_deref());
        let cost = match decoded.usage.total() {
            0 => Some(Usd::ZERO),
            _ => price.map(|price| price.cost(&decoded.usage)),
        };
        reservation.settle(cost, decoded.usage.total());
        let mut recorded = Recorded::new(tag, &hash, response.status, response.body);
        recorded.latency_ms = millis(latency);
        let entry = self.entry(tag, hash, &decoded, latency, cost);
        let cassette = self.services.cassette.clone();
        self.write(move |ledger| {
            ledger.append(&entry)?;
            cassette.map_or(Ok(()), |cassette| cassette.record(&recorded))
        })
        .await?;
        self.reply(decoded, latency, false)
    }

    async fn replay(
        &self,
        request: &ChatRequest,
        tag: &CallTag,
        sent: &str,
        recorded: Recorded,
    ) -> Result<ChatReply, LlmError> {
        let Recorded { request: hash, status, body, latency_ms, .. } = recorded;
        let response = Response { status, retry_after: None, body };
        let decoded = match wire::interpret(&self.config, request, sent, &response) {
            Ok(decoded) => decoded,
            Err(fault) if fault.error.is_infrastructure() => return Err(fault.error),
            Err(fault) => unpaid(fault.error),
        };
        let latency = Duration::from_millis(latency_ms);
        let mut entry = self.entry(tag, hash, &decoded, latency, None);
        entry.cached = true;
        self.write(move |ledger| ledger.append(&entry)).await?;
        self.reply(decoded, latency, true)
    }

    fn entry(
        &self,
        tag: &CallTag,
        hash: ContentHash,
        decoded: &Decoded,
        latency: Duration,
        cost: Option<Usd>,
    ) -> LedgerEntry {
        let outcome = decoded.content.as_ref().map_or_else(LlmError::kind, |_| "ok").to_owned();
        let (usage, latency_ms) = (decoded.usage, millis(latency));
        let prices_as_of = cost.map(|_| self.services.prices.as_of.clone());
        let entry = LedgerEntry::new(tag, &self.config.model, hash);
        LedgerEntry { usage, cost, prices_as_of, latency_ms, outcome, ..entry }
    }

    /// Runs what waits for the disk where it holds nobody up, and to its end even if the
    /// caller goes away.
    async fn write(
        &self,
        work: impl FnOnce(&Ledger) -> Result<(), LlmError> + Send + 'static,
    ) -> Result<(), LlmError> {
        let ledger = Arc::clone(&self.services.ledger);
        let done = tokio::task::spawn_blocking(move || work(&ledger)).await;
        done.map_err(|e| LlmError::Transport(format!("a write did not end: {e}")))?
    }

    fn reply(
        &self,
        decoded: Decoded,
        latency: Duration,
        replayed: bool,
    ) -> Result<ChatReply, LlmError> {
        let content = decoded.content?;
        Ok(ChatReply {
            text: content.text,
            tool_calls: content.calls,
            reasoning: content.reasoning,
            stop: content.stop,
            usage: decoded.usage,
            model: decoded.model.unwrap_or_else(|| self.config.model.clone()),
            latency,
            replayed,
        })
    }
}

/// An error that is an answer: nothing was generated.
fn unpaid(error: LlmError) -> Decoded {
    Decoded { usage: evosafe_types::Usage::default(), model: None, content: Err(error) }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// An error of one attempt as that of the whole call.
fn after_all(mut error: LlmError, made: u32, elapsed: Duration) -> LlmError {
    match &mut error {
        LlmError::RateLimited { attempts, .. }
        | LlmError::Server { attempts, .. }
        | LlmError::Connection { attempts, .. }
        | LlmError::Malformed { attempts, .. } => *attempts = made,
        LlmError::Timeout { attempts, after, .. } => {
            *attempts = made;
            *after = elapsed;
        }
        _ => {}
    }
    error
}
