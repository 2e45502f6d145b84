//! Compaction: what a conversation that has grown long keeps of older results. The newest turn is
//! always whole. What was shortened stays so: a prefix that changes with each turn would be
//! paid for anew by endpoints that cache prompts.

use std::fmt::Write as _;

use evosafe_llm::{ChatRequest, Message};

/// Version of the rule, part of the identity of victims that use it.
pub(super) const VERSION: &str = "1";

/// Characters that are taken for a token.
const CHARS_PER_TOKEN: u64 = 4;

/// Characters kept of an older result at its start, and as many at its end.
const KEPT: usize = 200;

/// Shortens results of tools, the oldest first, until the conversation is estimated at `most`
/// tokens or nothing older than the newest turn is left to shorten. The instruction, the
/// model's own turns and errors stay.
pub(super) fn compact(request: &mut ChatRequest, most: u64) {
    let mut tokens = estimate(request);
    let newest = request.messages.iter().rposition(|m| !matches!(m, Message::ToolResult { .. }));
    for message in &mut request.messages[..newest.unwrap_or(0)] {
        if tokens <= most {
            return;
        }
        if let Message::ToolResult { content, is_error: false, .. } = message
            && let Some(short) = clipped(content)
        {
            tokens = tokens.saturating_sub((content.len() - short.len()) as u64 / CHARS_PER_TOKEN);
            *content = short;
        }
    }
}

/// Tokens of a conversation, by its length.
fn estimate(request: &ChatRequest) -> u64 {
    let chars: usize = request.messages.iter().map(length).sum();
    (request.system.len() + chars) as u64 / CHARS_PER_TOKEN
}

fn length(message: &Message) -> usize {
    match message {
        Message::User(text) => text.len(),
        Message::ToolResult { content, .. } => content.len(),
        other => format!("{other:?}").len(),
    }
}

/// Least bytes that shortening must save: what was shortened is not shortened again.
const WORTH: usize = 100;

/// Head and tail of a text; `None` if that would save little.
fn clipped(text: &str) -> Option<String> {
    let left_out = text.chars().count().checked_sub(2 * KEPT)?;
    let head = text.char_indices().nth(KEPT)?.0;
    let tail = text.char_indices().nth_back(KEPT - 1)?.0;
    let mut short = text[..head].to_owned();
    let _ = write!(short, " [... {left_out} characters of this older result are left out ...] ");
    short.push_str(&text[tail..]);
    (short.len() + WORTH <= text.len()).then_some(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(content: String, is_error: bool) -> Message {
        Message::ToolResult { id: "c".to_owned(), content, is_error }
    }

    fn contents(request: &ChatRequest) -> Vec<usize> {
        let of = |m: &Message| match m {
            Message::ToolResult { content, .. } => Some(content.len()),
            _ => None,
        };
        request.messages.iter().filter_map(of).collect()
    }

    #[test]
    fn the_oldest_results_go_first_and_the_newest_turn_stays() {
        let said = || Message::User("go on".to_owned());
        let mut request = ChatRequest {
            messages: vec![
                said(),
                result("a".repeat(4000), false),
                result("e".repeat(4000), true),
                said(),
                result("\u{e9}".repeat(2000), false),
                said(),
                result("c".repeat(4000), false),
                result("d".repeat(4000), false),
            ],
            ..ChatRequest::default()
        };
        // Five results of 1000 tokens each.
        compact(&mut request, 10_000);
        assert_eq!(contents(&request), [4000; 5], "short enough");
        compact(&mut request, 4500);
        let lengths = contents(&request);
        assert!(lengths[0] < 500 && lengths[1..] == [4000; 4], "{lengths:?}");
        compact(&mut request, 10);
        let again = contents(&request);
        assert_eq!(again[0], lengths[0], "shortened once");
        assert!(again[2] < 900 && again[1] == 4000 && again[3..] == [4000; 2], "{again:?}");
        let Message::ToolResult { content, .. } = &request.messages[4] else { panic!("a result") };
        assert!(content.contains("1600 characters of this older result"), "{content}");
    }

    #[test]
    fn short_results_stay_as_they_are() {
        assert_eq!(clipped("short"), None);
        assert_eq!(clipped(&"x".repeat(2 * KEPT + WORTH)), None);
    }
}
