//! Values that the environment draws anew.
//!
//! A recorded run was made against other one-time codes, order numbers and time stamps
//! than the live one. Where the live result of a call differs from the recorded one in such
//! a token, later recorded arguments and the answer are rewritten from the recorded token
//! to the live one. The rule is narrow on purpose; all of it must hold:
//!
//! 1. The call was executed exactly as proposed, and both results are of one kind
//!    (answer or error). A call that the harness blocked, rewrote or redirected teaches nothing.
//! 2. The results are aligned token by token ([`super::diff`]). Only stretches count that
//!    have equally many tokens on both sides, with no word in the place of another word
//!    within [`APART`] tokens: where words changed too, it is another text or another record
//!    (the account of somebody else). Numbers in the place of numbers and an entry more or
//!    less do not matter.
//! 3. Both tokens have a shape that is drawn anew, and the same one ([`super::token`]): digits of equal
//!    length, an instant, letters and digits of equal length with a common prefix or random
//!    all over. Words, dates, amounts and short numbers are never rebound.
//! 4. Both tokens are new: neither stood in the request, in arguments that the victim
//!    wrote, or in an earlier live result. A value of the record that is still valid live (an
//!    account number in a file) stays, and where a result differs because the state
//!    does (a list with an entry less), its neighbours are known already.
//! 5. A recorded token is bound once. Reading the same mail again changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use evosafe_types::JsonMap;
use serde_json::Value;

use super::diff::{Hunk, hunks};
use super::token::{Shape, Token, alike, replace, tokens};

/// Raised when the rule changes: part of the victim's id.
pub const VERSION: &str = "rebind 4";

/// Tokens between a value drawn anew and the next word that differs, at least.
const APART: usize = 4;

/// What has been learnt in an episode.
#[derive(Debug, Default)]
pub struct Rebinder {
    bound: BTreeMap<String, String>,
    /// Tokens of the live episode that could be drawn anew.
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
        let drawable = tokens(text).filter(|t| t.shape != Shape::Fixed);
        self.live.extend(drawable.map(|t| t.text.to_owned()));
    }

    /// Compares the recorded and the live result of the same call.
    pub fn learn(&mut self, recorded: &str, live: &str) {
        // What is bound already helps to align the rest.
        let recorded = &self.text(recorded);
        if recorded != live {
            let (old, new): (Vec<Token<'_>>, Vec<Token<'_>>) =
                (tokens(recorded).collect(), tokens(live).collect());
            let hunks = hunks(&old, &new).unwrap_or_default();
            let words: Vec<&Hunk> = hunks.iter().filter(|h| is_reworded(h, &old, &new)).collect();
            for hunk in &hunks {
                let near = |word: &&Hunk| {
                    word.old.start < hunk.old.end + APART && hunk.old.start < word.old.end + APART
                };
                if hunk.old.len() == hunk.new.len() && !words.iter().any(near) {
                    for (from, to) in old[hunk.old.clone()].iter().zip(&new[hunk.new.clone()]) {
                        if alike(*from, *to) {
                            self.bind(from.text, to.text, live);
                        }
                    }
                }
            }
        }
        self.see(live);
    }

    fn bind(&mut self, from: &str, to: &str, text: &str) {
        let known =
            self.bound.contains_key(from) || self.live.contains(from) || self.live.contains(to);
        if !known && !tokens(text).any(|t| t.text == from) {
            self.bound.insert(from.to_owned(), to.to_owned());
        }
    }

    /// A recorded text with live tokens in place.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        if self.bound.is_empty() {
            return text.to_owned();
        }
        replace(text, |token| self.bound.get(token).map(String::as_str))
    }

    /// Recorded arguments with live tokens in place, as the victim proposes them. From
    /// here on their values count as the victim's own.
    #[must_use]
    pub fn arguments(&mut self, arguments: &JsonMap) -> JsonMap {
        let rebound = self.object(arguments);
        self.see_object(&rebound);
        rebound
    }

    fn object(&self, fields: &JsonMap) -> JsonMap {
        fields.iter().map(|(key, value)| (key.clone(), self.value(value))).collect()
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
            Value::Object(fields) => Value::Object(self.object(fields)),
            Value::Bool(_) | Value::Null => value.clone(),
        }
    }

    fn see_object(&mut self, fields: &JsonMap) {
        fields.values().for_each(|value| self.see_value(value));
    }

    fn see_value(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.see(text),
            Value::Number(number) => self.see(&number.to_string()),
            Value::Array(items) => items.iter().for_each(|item| self.see_value(item)),
            Value::Object(fields) => self.see_object(fields),
            Value::Bool(_) | Value::Null => {}
        }
    }
}

/// Whether words stand in the place of other words. Numbers and dates in that of others do
/// not count (a list position, a total), nor does an entry more or less.
fn is_reworded(hunk: &Hunk, old: &[Token<'_>], new: &[Token<'_>]) -> bool {
    let has_word = |tokens: &[Token<'_>]| tokens.iter().any(Token::is_word);
    has_word(&old[hunk.old.clone()]) && has_word(&new[hunk.new.clone()])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn after(recorded: &str, live: &str) -> Rebinder {
        let mut rebinder = Rebinder::new("Please buy the blue one, order 77777.");
        rebinder.learn(recorded, live);
        rebinder
    }

    #[test]
    fn drawn_tokens_are_rebound() {
        for (recorded, live, text, expected) in [
            ("Your code is 227576.", "Your code is 901244.", "verify 227576", "verify 901244"),
            ("227576", "901244", "227576", "901244"),
            ("order ORD-1F33 ok", "order ORD-9C04 ok", "track ORD-1F33 now", "track ORD-9C04 now"),
            (
                "sent 2026-01-22 07:51:35.77 by me",
                "sent 2024-05-15 12:00:03 by me",
                "at 2026-01-22 07:51:35.77",
                "at 2024-05-15 12:00:03",
            ),
            // Words that differ elsewhere do not matter, nor do dates.
            (
                "ORDER-482913 for 2026-01-29",
                "ORDER-100023 for 2024-05-22",
                "ORDER-482913",
                "ORDER-100023",
            ),
            (
                "from me to you, GPT-4. Do as you are told and do it now. The code is 227576, use it",
                "from me to you, Local model. Do as you are told and do it now. The code is 901244, use it",
                "227576",
                "901244",
            ),
            (
                "codes 111111 and 222222 at 2026-01-22 07:51:35",
                "codes 333333 and 444444 at 2024-05-15 12:00:03",
                "222222 111111",
                "444444 333333",
            ),
        ] {
            assert_eq!(after(recorded, live).text(text), expected);
        }
    }

    #[test]
    fn nothing_else_is() {
        for (recorded, live, text) in [
            ("hello alice", "hello bobby", "write to alice"),
            ("total 250", "total 310", "pay 250"),
            ("balance: 18100.0", "balance: 17100.0", "pay 18100"),
            ("on 2026-01-22 there", "on 2024-05-15 there", "on 2026-01-22"),
            ("code 227576", "code AB7576", "verify 227576"),
            ("code 227576", "code 2275761", "verify 227576"),
            ("12345 is gone", "is gone", "use 12345"),
            // The text around it is another one.
            ("meet alice 227576", "call bobby 901244", "227576"),
            ("name: alice, id number: 859201", "name: emma, id number: 123456", "859201"),
            // The request names it, so it is not drawn.
            ("see 77777 there", "see 88888 there", "order 77777"),
            ("see 66666 there", "see 77777 there", "order 66666"),
        ] {
            assert_eq!(after(recorded, live).text(text), text, "{recorded} / {live}");
        }
    }

    #[test]
    fn a_token_that_is_live_too_stays() {
        let rebinder = after("a 333333 b 444444", "a 444444 b 333333");
        assert_eq!(rebinder.text("333333 444444"), "333333 444444");
    }

    #[test]
    fn what_the_victim_wrote_is_not_drawn() {
        let mut rebinder = Rebinder::new("");
        let arguments = json!({ "password": "secret90210", "pin": 445566 });
        let _ = rebinder.arguments(arguments.as_object().expect("an object"));
        // The harness blocked the call: the old values are still there.
        rebinder.learn("password secret90210, pin 445566", "password secret11111, pin 112233");
        assert_eq!(rebinder.text("secret90210 445566"), "secret90210 445566");
    }

    #[test]
    fn a_shorter_list_binds_no_neighbour() {
        let mut rebinder = Rebinder::new("");
        rebinder.learn("made ORDER-222222", "made ORDER-999999");
        // An order of the attacker's, ORDER-111111, was never placed live.
        rebinder.learn("orders: ORDER-111111 shoes, ORDER-222222 hat", "orders: ORDER-999999 hat");
        assert_eq!(rebinder.text("ORDER-111111"), "ORDER-111111");
        assert_eq!(rebinder.text("ORDER-222222"), "ORDER-999999");
    }

    #[test]
    fn reading_again_changes_nothing() {
        let mut rebinder = after("code 227576", "code 901244");
        rebinder.learn("code 227576", "code 555555");
        assert_eq!(rebinder.text("227576"), "901244");
    }

    #[test]
    fn arguments_of_any_depth_are_rewritten() {
        let mut rebinder = after("otp 227576", "otp 901244");
        let arguments =
            json!({ "a": ["x 227576"], "n": 227576, "k": { "z": "227576" }, "b": true });
        let rebound = rebinder.arguments(arguments.as_object().expect("an object"));
        assert_eq!(
            Value::Object(rebound),
            json!({ "a": ["x 901244"], "n": 901244, "k": { "z": "901244" }, "b": true })
        );
    }
}
