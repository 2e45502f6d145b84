//! A replayed victim in an episode.

use evosafe_types::ToolCall;

use super::rebind::Rebinder;
use super::recording::Recording;
use crate::simulated::VictimMove;
use crate::victim::Observation;

/// Emits the recorded turns one after the other, whatever it is shown: they succeed or
/// fail in the live environment.
#[derive(Debug)]
pub struct ReplaySession<'a> {
    run: &'a Recording,
    next: usize,
    calls: usize,
    rebinder: Rebinder,
}

impl<'a> ReplaySession<'a> {
    pub(super) fn new(run: &'a Recording, instruction: &str) -> Self {
        Self { run, next: 0, calls: 0, rebinder: Rebinder::new(instruction) }
    }

    /// The next recorded turn, with values rebound to what the last one produced live.
    pub fn next(&mut self, observations: &[Observation<'_>]) -> VictimMove {
        if let Some(last) = self.next.checked_sub(1).and_then(|i| self.run.turns.get(i)) {
            for (call, observed) in last.calls.iter().zip(observations) {
                if let (Some(recorded), Some(live)) = (&call.result, observed.live)
                    && recorded.is_error == live.is_error
                {
                    self.rebinder.learn(&recorded.content, &live.content);
                }
            }
        }
        let Some(turn) = self.run.turns.get(self.next) else {
            return VictimMove::Answer(self.rebinder.text(&self.run.answer));
        };
        self.next += 1;
        let calls = turn
            .calls
            .iter()
            .map(|call| {
                self.calls += 1;
                ToolCall {
                    id: format!("call-{}", self.calls),
                    server: None,
                    tool: call.tool.clone(),
                    arguments: self.rebinder.arguments(&call.arguments),
                }
            })
            .collect();
        VictimMove::Calls { text: turn.text.clone(), calls }
    }
}
