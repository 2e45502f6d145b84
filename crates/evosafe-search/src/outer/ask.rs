//! Conversations with outer models: every turn is journalled before it is used (by the
//! client's cassette), so that a search that is run again has the same conversations.

use std::time::Duration;

use evosafe_llm::{CallTag, ChatReply, ChatRequest, Client, LlmError, Message};
use evosafe_types::{Event, Usage, Usd};
use serde::{Deserialize, Serialize};

use crate::SearchError;
use crate::evaluator::Evaluator;

/// Times a call that was lost to infrastructure, retries and all, is made again before the
/// search stops and says so. An attempt of a Designer must not fail for it: the same search
/// would then end differently on a bad day.
const ATTEMPTS: u32 = 3;

/// Wait before a call is tried at an endpoint whose circuit was open.
const PAUSE: Duration = Duration::from_millis(200);

/// What a conversation cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cost {
    /// Replies.
    pub calls: u32,
    /// Tokens.
    pub usage: Usage,
    /// US dollars, in billionths; absent where a price is unknown.
    #[serde(rename = "nano_usd")]
    pub usd: Option<Usd>,
}

/// A conversation under way.
pub(crate) struct Conversation<'a> {
    client: &'a Client,
    evaluator: &'a Evaluator,
    tag: CallTag,
    /// What is asked next.
    pub request: ChatRequest,
    /// What it has cost.
    pub cost: Cost,
}

impl<'a> Conversation<'a> {
    pub(crate) fn new(
        client: &'a Client,
        evaluator: &'a Evaluator,
        tag: CallTag,
        request: ChatRequest,
    ) -> Self {
        let cost = Cost { usd: Some(Usd::ZERO), ..Cost::default() };
        Self { client, evaluator, tag, request, cost }
    }

    /// The next turn, which joins the conversation.
    ///
    /// # Errors
    /// The outer one ends the search: infrastructure that stays down, a spent budget, the user.
    /// The inner one is what the model did: nothing, too much, or what a filter stopped.
    pub(crate) async fn turn(&mut self) -> Result<Result<ChatReply, LlmError>, SearchError> {
        let reply = self.call().await?;
        self.tag.turn += 1;
        self.cost.calls += 1;
        if let Ok(reply) = &reply {
            self.cost.usage += reply.usage;
            let paid = self.client.cost(reply);
            self.cost.usd = self.cost.usd.zip(paid).map(|(a, b)| a + b);
            self.request.messages.push(reply.to_message());
        }
        Ok(reply)
    }

    /// Says something as the user.
    pub(crate) fn say(&mut self, text: impl Into<String>) {
        self.request.messages.push(Message::User(text.into()));
    }

    async fn call(&self) -> Result<Result<ChatReply, LlmError>, SearchError> {
        let stop = self.evaluator.stop();
        let (mut lost, mut paused) = (0, false);
        loop {
            let answer = tokio::select! {
                biased;
                () = stop.cancelled() => return Err(SearchError::Interrupted),
                answer = self.client.chat(&self.request, &self.tag) => answer,
            };
            let error = match answer {
                Ok(reply) => return Ok(Ok(reply)),
                Err(error) if !error.is_infrastructure() => return Ok(Err(error)),
                Err(error) => error,
            };
            if let LlmError::CircuitOpen { .. } = &error {
                if !paused {
                    self.warn(&error)?;
                }
                paused = true;
                let wait = async {
                    self.client.endpoint().ready().await;
                    // Another call may be trying already: what comes of it takes a while.
                    tokio::time::sleep(PAUSE).await;
                };
                tokio::select! {
                    biased;
                    () = stop.cancelled() => return Err(SearchError::Interrupted),
                    () = wait => continue,
                }
            }
            lost += 1;
            if error.is_permanent() || lost == ATTEMPTS {
                return Err(error.into());
            }
            self.warn(&error)?;
        }
    }

    fn warn(&self, error: &LlmError) -> Result<(), SearchError> {
        let message = format!("{}: {error}", self.tag.role.as_str());
        self.evaluator.emit(&Event::Warning { message }, true)
    }
}
