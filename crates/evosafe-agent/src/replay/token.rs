//! Tokens of a tool result, and which of them an environment may draw anew.

use std::sync::LazyLock;

use regex::Regex;

/// Fewest characters that vary in a token drawn anew. What is shorter are quantities,
/// years and list positions.
const SHORTEST: usize = 5;
/// Fewest characters behind the common prefix of an order number or the like.
const SHORTEST_TAIL: usize = 4;

static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?|[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*",
    )
    .expect("a constant pattern")
});

/// What a token could be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Digits alone, not part of a decimal or an amount: a one-time code.
    Digits,
    /// A date with a time of day.
    Instant,
    /// Letters and digits: an order number, a UUID, a random key.
    Mixed,
    /// Never drawn anew: words, dates, amounts, short numbers.
    Fixed,
}

/// A token of a text.
#[derive(Debug, Clone, Copy)]
pub struct Token<'a> {
    pub text: &'a str,
    pub shape: Shape,
}

impl Token<'_> {
    /// Neither a number, nor a date, nor anything else that could be drawn anew.
    pub fn is_word(&self) -> bool {
        self.shape == Shape::Fixed
            && !is_date(self.text.as_bytes())
            && self.text.bytes().any(|b| b.is_ascii_alphabetic())
    }
}

/// Two tokens are the same token if their text is.
impl PartialEq for Token<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// The tokens of a text: words with inner `-` and `_`, dates, instants. All else only
/// separates them.
pub fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    TOKEN.find_iter(text).map(move |found| {
        let shape = shape(found.as_str(), &text[..found.start()], &text[found.end()..]);
        Token { text: found.as_str(), shape }
    })
}

/// `text` with each token replaced by what `with` gives for it, if anything.
pub fn replace<'m>(text: &str, with: impl Fn(&str) -> Option<&'m str>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for found in TOKEN.find_iter(text) {
        out.push_str(&text[at..found.start()]);
        out.push_str(with(found.as_str()).unwrap_or(found.as_str()));
        at = found.end();
    }
    out.push_str(&text[at..]);
    out
}

fn shape(token: &str, before: &str, after: &str) -> Shape {
    let bytes = token.as_bytes();
    let digits = bytes.iter().filter(|b| b.is_ascii_digit()).count();
    if is_date(bytes) {
        return if bytes.len() > 10 { Shape::Instant } else { Shape::Fixed };
    }
    if bytes.len() < SHORTEST || digits == 0 {
        return Shape::Fixed;
    }
    if digits == bytes.len() {
        return if is_amount(before, after) { Shape::Fixed } else { Shape::Digits };
    }
    if bytes.iter().any(u8::is_ascii_alphabetic) { Shape::Mixed } else { Shape::Fixed }
}

fn is_date(bytes: &[u8]) -> bool {
    let is = |i: usize, dash: bool| {
        bytes.get(i).is_some_and(|b| if dash { *b == b'-' } else { b.is_ascii_digit() })
    };
    bytes.len() >= 10
        && (0..10).all(|i| is(i, i == 4 || i == 7))
        && bytes.get(10).is_none_or(|b| matches!(b, b' ' | b'T'))
}

/// Whether digits are part of a number with a fraction or groups, or have a currency sign.
fn is_amount(before: &str, after: &str) -> bool {
    let mut back = before.chars().rev();
    let continues_back = match back.next() {
        Some('.' | ',') => back.next().is_some_and(|c| c.is_ascii_digit()),
        Some('$' | '€' | '£' | '¥') => true,
        _ => false,
    };
    let mut ahead = after.chars();
    let continues_ahead = match ahead.next() {
        Some('.' | ',') => ahead.next().is_some_and(|c| c.is_ascii_digit()),
        Some('€' | '%') => true,
        _ => false,
    };
    continues_back || continues_ahead
}

/// Whether one token could have been drawn in the other's place.
pub fn alike(from: Token<'_>, to: Token<'_>) -> bool {
    if from.shape != to.shape {
        return false;
    }
    match from.shape {
        Shape::Fixed => false,
        // The fraction of a second is printed or not.
        Shape::Instant => true,
        Shape::Digits => from.text.len() == to.text.len(),
        Shape::Mixed => mixed_alike(from.text, to.text),
    }
}

/// Same length, and either a common prefix with a varying tail, or random all over.
fn mixed_alike(from: &str, to: &str) -> bool {
    if from.len() != to.len() {
        return false;
    }
    let same = from.bytes().zip(to.bytes()).take_while(|(x, y)| x == y).count();
    // A digit that both happen to share belongs to the tail: `A1234` and `A1999`.
    let head = from[..same].trim_end_matches(|c: char| c.is_ascii_digit());
    let tail = |text: &str| {
        let tail = &text[head.len()..];
        tail.len() >= SHORTEST_TAIL
            && tail.bytes().filter(u8::is_ascii_digit).count() * 2 >= tail.len()
    };
    if !head.is_empty() && tail(from) && tail(to) {
        return true;
    }
    is_random(from) && is_random(to)
}

/// Letters and digits in turn, as in a key or a UUID, not a word with a number behind it.
fn is_random(text: &str) -> bool {
    let kinds: Vec<bool> =
        text.bytes().filter(u8::is_ascii_alphanumeric).map(|b| b.is_ascii_digit()).collect();
    text.len() >= 8 && kinds.windows(2).filter(|pair| pair[0] != pair[1]).count() >= 3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes(text: &str) -> Vec<(&str, Shape)> {
        tokens(text).map(|t| (t.text, t.shape)).collect()
    }

    #[test]
    fn shapes_of_tokens() {
        for (text, token, shape) in [
            ("code: 227576.", "227576", Shape::Digits),
            ("{'id': 227576}", "227576", Shape::Digits),
            ("id ORDER-482913 (new)", "ORDER-482913", Shape::Mixed),
            ("at 2026-01-22 07:51:35.123456Z", "2026-01-22 07:51:35.123456", Shape::Instant),
            ("on 2026-01-22, then", "2026-01-22", Shape::Fixed),
            ("balance: 18100.0", "18100", Shape::Fixed),
            ("for $18100 now", "18100", Shape::Fixed),
            ("worth 1,250,300", "1", Shape::Fixed),
            ("year 2024", "2024", Shape::Fixed),
            ("product P007", "P007", Shape::Fixed),
            ("GPT-4 said", "GPT-4", Shape::Mixed),
            ("hello", "hello", Shape::Fixed),
        ] {
            let found = shapes(text).into_iter().find(|(t, _)| *t == token);
            assert_eq!(found, Some((token, shape)), "{text}");
        }
    }

    fn like(from: &str, to: &str) -> bool {
        let one = |text| tokens(text).next().expect("a token");
        alike(one(from), one(to))
    }

    #[test]
    fn like_shaped_tokens() {
        for (from, to) in [
            ("227576", "901244"),
            ("ORDER-482913", "ORDER-100023"),
            ("ORD-1F3A", "ORD-9C03"),
            ("2026-01-22 07:51:35.123456", "2024-05-15 12:00:03"),
            ("3f2b8c1e-1d2c-4a5b-9e8f-001122334455", "a81b0c2d-7e6f-4b3a-8c9d-665544332211"),
            ("x8Fq0Zt41", "k3Lw9Ab72"),
        ] {
            assert!(like(from, to), "{from} {to}");
        }
    }

    #[test]
    fn unlike_tokens() {
        for (from, to) in [
            ("227576", "9012441"),
            ("227576", "AB7576"),
            ("P0071", "Q0071"),
            ("GPT-4", "GPT-5"),
            ("ORDER-482913", "PARCEL-48291"),
            ("2026-01-22", "2024-05-15"),
            ("report1", "report2"),
            ("1810", "1710"),
        ] {
            assert!(!like(from, to), "{from} {to}");
        }
    }
}
