//! Where a replayed episode went another way than its recording.

use evosafe_types::Transcript;

use super::recording::Recording;

/// Characters of context in an excerpt.
const CONTEXT: usize = 60;

/// A call whose live result is not the recorded one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Turn, from 0.
    pub turn: usize,
    /// Call in the turn, from 0.
    pub call: usize,
    /// The tool.
    pub tool: String,
    /// Around the first difference, as recorded.
    pub recorded: String,
    /// The same place, live.
    pub live: String,
}

/// The calls of `transcript` whose results differ from the recorded ones, in order. Values
/// drawn anew count as differences too.
pub(super) fn differences(run: &Recording, transcript: &Transcript) -> Vec<Difference> {
    let mut found = Vec::new();
    for (turn, (recorded, live)) in run.turns.iter().zip(&transcript.turns).enumerate() {
        for (call, (recorded, live_call)) in recorded.calls.iter().zip(&live.calls).enumerate() {
            let (Some(old), Some(new)) = (&recorded.result, &live_call.result) else { continue };
            if old == new {
                continue;
            }
            let (recorded, live) = excerpts(&old.content, &new.content);
            let tool = live_call.proposed.tool.clone();
            found.push(Difference { turn, call, tool, recorded, live });
        }
    }
    found
}

fn excerpts(old: &str, new: &str) -> (String, String) {
    let same = old.chars().zip(new.chars()).take_while(|(x, y)| x == y).count();
    let cut = |text: &str| -> String {
        text.chars().skip(same.saturating_sub(CONTEXT)).take(2 * CONTEXT).collect()
    };
    (cut(old), cut(new))
}
