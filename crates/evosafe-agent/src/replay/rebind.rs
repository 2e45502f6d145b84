//! Values that the environment draws anew.
//!
//! A recorded run was made against other one-time codes, order numbers and time stamps
//! than the live one. Where the live result of a call that ran exactly as recorded differs
//! from the recorded result in such a token, later recorded arguments and the answer are
//! rewritten from the recorded token to the live one. The rule is narrow on purpose:
//!
//! - Results are compared token by token; only tokens that stand in the same place count.
//! - Both tokens must contain a digit and be alike in shape: digits of equal length,
//!   mixed letters and digits of equal length, or dates with or without a time.
//! - Tokens shorter than [`SHORTEST`] characters are left alone: they are quantities.
//! - A recorded token that also occurs live (in the request or in any live result) is still
//!   valid and is not touched.
//!
//! A result that differs because a harness blocked or rewrote something is not compared at
//! all, or differs in words, which are never rebound.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use evosafe_types::JsonMap;
use regex::Regex;
use serde_json::Value;

/// Raised when the rule changes: part of the victim's id.
pub const VERSION: &str = "rebind 1";
/// Shortest token that is rebound, in characters.
pub const SHORTEST: usize = 4;
/// Tokens that may differ between two results before they count as different texts.
const MOST: usize = 400;

static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?|[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*",
    )
    .expect("a constant pattern")
});
static DATE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?$")
        .expect("a constant pattern")
});

/// What has been learnt in an episode.
#[derive(Debug, Default)]
pub struct Rebinder {
    bound: BTreeMap<String, String>,
    live: BTreeSet<String>,
}

impl Rebinder {
    /// Starts with the request, whose tokens are live.
    #[must_use]
    pub fn new(instruction: &str) -> Self {
        let mut rebinder = Self::default();
        rebinder.see(instruction);
        rebinder
    }

    fn see(&mut self, text: &str) {
        self.live.extend(tokens(text).filter(|t| is_drawable(t)).map(str::to_owned));
    }

    /// Compares the recorded and the live result of the same call.
    pub fn learn(&mut self, recorded: &str, live: &str) {
        self.see(live);
        if recorded == live {
            return;
        }
        let (old, new): (Vec<&str>, Vec<&str>) =
            (tokens(recorded).collect(), tokens(live).collect());
        for (from, to) in aligned(&old, &new) {
            if from != to && alike(from, to) && !self.live.contains(from) {
                self.bound.insert(from.to_owned(), to.to_owned());
            }
        }
    }

    /// A recorded text with live tokens in place.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        if self.bound.is_empty() {
            return text.to_owned();
        }
        TOKEN
            .replace_all(text, |found: &regex::Captures<'_>| {
                let token = &found[0];
                self.bound.get(token).cloned().unwrap_or_else(|| token.to_owned())
            })
            .into_owned()
    }

    /// Recorded arguments with live tokens in place.
    #[must_use]
    pub fn arguments(&self, arguments: &JsonMap) -> JsonMap {
        if self.bound.is_empty() {
            return arguments.clone();
        }
        arguments.iter().map(|(key, value)| (key.clone(), self.value(value))).collect()
    }

    fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Number(number) => {
                let rebound = self.bound.get(&number.to_string());
                rebound
                    .and_then(|to| to.parse::<u64>().ok())
                    .map_or_else(|| value.clone(), Value::from)
            }
            Value::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Value::Object(fields) => Value::Object(self.arguments(fields)),
            Value::Bool(_) | Value::Null => value.clone(),
        }
    }
}

fn tokens(text: &str) -> impl Iterator<Item = &str> {
    TOKEN.find_iter(text).map(|found| found.as_str())
}

fn is_drawable(token: &str) -> bool {
    token.len() >= SHORTEST && token.bytes().any(|b| b.is_ascii_digit())
}

/// Whether one token could have been drawn in the other's place.
fn alike(from: &str, to: &str) -> bool {
    if !is_drawable(from) || !is_drawable(to) {
        return false;
    }
    if DATE.is_match(from) || DATE.is_match(to) {
        return DATE.is_match(from) && DATE.is_match(to) && from.len() == to.len();
    }
    let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
    from.len() == to.len() && digits(from) == digits(to)
}

/// Pairs of tokens that stand in the same place: what lies between two common tokens, where
/// both sides have equally many. Empty if the texts are too different to say.
fn aligned<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(&'a str, &'a str)> {
    let common = |a: &[&str], b: &[&str]| a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let head = common(old, new);
    let (old, new) = (&old[head..], &new[head..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(x, y)| x == y).count();
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    if old.len() > MOST || new.len() > MOST {
        return Vec::new();
    }
    // Longest common subsequence, small enough for a table.
    let width = new.len() + 1;
    let mut longest = vec![0u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            longest[i * width + j] = if old[i] == new[j] {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let mut pairs = Vec::new();
    let (mut i, mut j, mut from, mut to) = (0, 0, 0, 0);
    let mut close = |from: usize, i: usize, to: usize, j: usize| {
        if i - from == j - to {
            pairs.extend(old[from..i].iter().zip(&new[to..j]).map(|(x, y)| (*x, *y)));
        }
    };
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            close(from, i, to, j);
            i += 1;
            j += 1;
            (from, to) = (i, j);
        } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    close(from, old.len(), to, new.len());
    pairs
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn after(recorded: &str, live: &str) -> Rebinder {
        let mut rebinder = Rebinder::new("Please buy the blue one, order 7777.");
        rebinder.learn(recorded, live);
        rebinder
    }

    #[test]
    fn drawn_tokens_are_rebound() {
        for (recorded, live, text, expected) in [
            ("Your code is 227576.", "Your code is 901244.", "verify 227576", "verify 901244"),
            ("order ORD-1F3A ok", "order ORD-9C0B ok", "track ORD-1F3A now", "track ORD-9C0B now"),
            (
                "sent 2026-01-22 07:51:35 by me",
                "sent 2024-05-15 12:00:03 by me",
                "at 2026-01-22 07:51:35",
                "at 2024-05-15 12:00:03",
            ),
        ] {
            assert_eq!(after(recorded, live).text(text), expected);
        }
    }

    #[test]
    fn nothing_else_is() {
        for (recorded, live, text) in [
            // words, quantities, other shapes, texts that differ in more than a token
            ("hello alice", "hello bobby", "write to alice"),
            ("total 250", "total 310", "pay 250"),
            ("code 227576", "code AB7576", "verify 227576"),
            ("code 227576", "code 2275761", "verify 227576"),
            ("see 7777 there", "see 8888 there", "order 7777"),
            ("1234 is gone", "is gone", "use 1234"),
        ] {
            assert_eq!(after(recorded, live).text(text), text, "{recorded} / {live}");
        }
    }

    #[test]
    fn a_token_that_is_live_too_stays() {
        let mut rebinder = after("codes 111111", "codes 222222");
        assert_eq!(rebinder.text("111111"), "222222");
        rebinder = Rebinder::new("");
        rebinder.learn("a 333333 b 444444", "a 444444 b 333333");
        assert_eq!(rebinder.text("333333 444444"), "333333 444444");
    }

    #[test]
    fn arguments_of_any_depth_are_rewritten() {
        let rebinder = after("otp 227576", "otp 901244");
        let arguments = json!({ "a": ["x 227576"], "n": 227576, "k": { "z": "227576" }, "b": true });
        let rebound = rebinder.arguments(arguments.as_object().unwrap());
        assert_eq!(
            Value::Object(rebound),
            json!({ "a": ["x 901244"], "n": 901244, "k": { "z": "901244" }, "b": true })
        );
    }
}
