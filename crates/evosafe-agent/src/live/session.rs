//! One episode of a live victim.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use evosafe_llm::{
    CallTag, ChatReply, ChatRequest, LlmError, Message, ParsedArguments, Role, StopReason, ToolDef,
};
use evosafe_types::{ContentHash, EpisodeCost, FaultKind, ToolCall};

use super::line::Failed;
use super::{Exchange, LiveVictim, Place, Purpose, compact};
use crate::simulated::{Opening, VictimMove};
use crate::victim::Observation;

/// A call of the last turn, in emission order.
#[derive(Debug)]
enum Pending {
    /// The agent was given it.
    Proposed { id: String },
    /// It cannot be executed, and the model is told why.
    Mistake { id: String, message: String },
}

/// A live victim in an episode.
#[derive(Debug)]
pub struct LiveSession<'a> {
    victim: &'a LiveVictim,
    request: ChatRequest,
    /// Server of each tool on offer.
    servers: HashMap<String, Option<String>>,
    tag: CallTag,
    place: Place,
    /// Replies of an earlier, lost run of this episode.
    known: VecDeque<Exchange>,
    done: Vec<Exchange>,
    pending: Vec<Pending>,
    cost: EpisodeCost,
    /// Time the endpoint took for its replies.
    waited: Duration,
    /// Whether the episode came to its verdict.
    finished: bool,
}

impl Drop for LiveSession<'_> {
    /// What an episode without a verdict paid for is there when it is run again.
    fn drop(&mut self) {
        if !self.finished && !self.done.is_empty() {
            let done = std::mem::take(&mut self.done);
            self.victim.keep_unfinished(self.place.clone(), done);
        }
    }
}

impl<'a> LiveSession<'a> {
    pub(super) fn new(victim: &'a LiveVictim, opening: &Opening<'_>, purpose: Purpose<'_>) -> Self {
        let tools = opening.tools.iter().map(|tool| ToolDef {
            name: tool.name.clone(),
            description: tool.description.clone(),
            input_schema: tool.input_schema.clone(),
        });
        let servers = opening.tools.iter().map(|t| (t.name.clone(), t.server.clone()));
        let seed = victim.line.client.config().seed;
        let place = (purpose.candidate.cloned(), opening.task.to_string(), opening.seed);
        Self {
            request: ChatRequest {
                system: opening.system_prompt.to_owned(),
                messages: vec![Message::User(opening.instruction.to_owned())],
                tools: tools.collect(),
                // Rollouts differ by their luck alone.
                seed: seed.map(|seed| seed.wrapping_add(opening.seed)),
                ..ChatRequest::default()
            },
            servers: servers.collect(),
            tag: CallTag {
                candidate: purpose.candidate.cloned(),
                stage: purpose.stage,
                task: Some(opening.task.clone()),
                rollout: u32::try_from(opening.seed).unwrap_or(u32::MAX),
                ..victim.line.tag(Role::Victim)
            },
            known: victim.take_unfinished(&place).into(),
            place,
            done: Vec::new(),
            pending: Vec::new(),
            cost: EpisodeCost::default(),
            waited: Duration::ZERO,
            finished: false,
            victim,
        }
    }

    /// What its calls cost so far; turns and tool calls are the agent's to count.
    #[must_use]
    pub fn cost(&self) -> EpisodeCost {
        self.cost
    }

    /// Says that the episode came to its verdict.
    pub fn finish(&mut self) {
        self.finished = true;
    }

    /// The next move, given what became of the calls of the last one, in order.
    pub async fn next(&mut self, observations: &[Observation<'_>]) -> VictimMove {
        self.hear(observations);
        let limits = self.victim.limits;
        if let Some(most) = limits.tokens
            && self.cost.tokens.total() >= most
        {
            return VictimMove::Stopped(format!(
                "the limit of {most} tokens an episode is used up"
            ));
        }
        if let Some(most) = limits.time
            && self.waited > most
        {
            let message = format!("the endpoint took over {} s for an episode", most.as_secs());
            return VictimMove::Unassessed(FaultKind::Endpoint, message);
        }
        if let Some(most) = limits.compact_over {
            compact::compact(&mut self.request, most);
        }
        let reply = match self.reply().await {
            Ok(reply) => reply,
            Err(Failed::Behaviour(LlmError::Empty)) => return VictimMove::Answer(String::new()),
            Err(Failed::Behaviour(error)) => return VictimMove::Stopped(error.to_string()),
            Err(Failed::Lost(fault, detail)) => return VictimMove::Unassessed(fault, detail),
        };
        self.tag.turn += 1;
        self.waited += reply.latency;
        self.cost.tokens += reply.usage;
        if let Some(usd) = self.victim.line.client.cost(&reply) {
            *self.cost.usd.get_or_insert_default() += usd;
        }
        self.request.messages.push(reply.to_message());
        self.take(reply)
    }

    /// Hands the results of the last turn to the model.
    fn hear(&mut self, observations: &[Observation<'_>]) {
        let mut results = observations.iter().map(|o| o.delivered);
        for pending in std::mem::take(&mut self.pending) {
            let (id, content, is_error) = match pending {
                Pending::Mistake { id, message } => (id, message, true),
                Pending::Proposed { id } => match results.next() {
                    Some(result) => (id, result.content.clone(), result.is_error),
                    None => (id, "Error: the call was not executed".to_owned(), true),
                },
            };
            self.request.messages.push(Message::ToolResult { id, content, is_error });
        }
    }

    /// The reply to the conversation so far, from a lost run of this episode if it is there.
    async fn reply(&mut self) -> Result<ChatReply, Failed> {
        let request = ContentHash::of(&[format!("{:?}", self.request).as_bytes()]);
        let known = self.known.pop_front().filter(|exchange| exchange.request == request);
        let reply = match known {
            Some(exchange) => exchange.reply,
            None => {
                self.known.clear();
                self.victim.line.ask(&self.request, &self.tag).await?
            }
        };
        self.done.push(Exchange { request, reply: reply.clone() });
        Ok(reply)
    }

    fn take(&mut self, reply: ChatReply) -> VictimMove {
        if reply.tool_calls.is_empty() && reply.stop != StopReason::Paused {
            return VictimMove::Answer(reply.text);
        }
        let (mut text, mut calls) = (reply.text, Vec::new());
        for call in reply.tool_calls {
            match call.arguments {
                ParsedArguments::Valid(arguments) => {
                    let server = self.servers.get(&call.name).cloned().flatten();
                    let id = call.id.clone();
                    calls.push(ToolCall { id, server, tool: call.name, arguments });
                    self.pending.push(Pending::Proposed { id: call.id });
                }
                ParsedArguments::Invalid { mistake, raw } => {
                    let message = mistake.to_string();
                    let note = format!("[not executed: {} {raw}: {message}]", call.name);
                    text = if text.is_empty() { note } else { format!("{text}\n{note}") };
                    self.pending.push(Pending::Mistake { id: call.id, message });
                }
            }
        }
        VictimMove::Calls { text, calls }
    }
}
