//! Whether a literal matches the corpus, and how.

use serde::{Deserialize, Serialize};

use super::{CorpusTokens, LONG_QUOTE, TokenKind, extract, generic};

/// How a literal matches a token of the corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// The literal is the token.
    Equal,
    /// The literal contains the token.
    Contains,
    /// The literal is a telling part of the token.
    PartOf,
    /// The literal quotes words that stand in a row in the corpus.
    Quotes,
    /// The regular expression matches the token and none of its renamed versions.
    Matches,
}

impl How {
    /// As in "the literal ... the token".
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "is",
            Self::Contains => "contains",
            Self::PartOf => "is part of",
            Self::Quotes => "quotes",
            Self::Matches => "matches only",
        }
    }
}

/// A match with the corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The token or phrase.
    pub token: String,
    /// What it is.
    pub kind: TokenKind,
    /// How the literal matches it.
    pub how: How,
}

impl CorpusTokens {
    /// The token of the corpus that a text gives away, the most exact match first.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<Hit> {
        let lower = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let bare = extract::bare_url(&lower);
        if lower.len() < 3 || generic::is_listed(&lower) {
            return None;
        }
        for form in [lower.as_str(), bare] {
            if let Some((kind, token)) = self.tokens.get(form) {
                return Some(Hit { token: token.clone(), kind: *kind, how: How::Equal });
            }
        }
        self.contained(&lower).or_else(|| self.part(bare)).or_else(|| self.wording(&lower))
    }

    /// The corpus number that a numeric literal is.
    #[must_use]
    pub fn find_number(&self, n: f64) -> Option<Hit> {
        let found = self.numbers.iter().find(|&&known| known == n)?;
        Some(Hit { token: found.to_string(), kind: TokenKind::Number, how: How::Equal })
    }

    /// Tokens in a policy: everything but field names, and quotations only if long.
    #[must_use]
    pub fn find_in_policy(&self, line: &str) -> Option<Hit> {
        let lower = line.to_lowercase();
        self.contained(&lower).or_else(|| {
            let words = extract::words(&lower);
            let quote = words.windows(LONG_QUOTE).map(|w| w.join(" "));
            quote.filter(|q| self.attack_quotes.contains(q)).map(Hit::quote).next()
        })
    }

    /// Whether a line of a tool result is foreign to the benign episodes: it has
    /// [`LONG_QUOTE`] words in a row that none of them shows. `None` for shorter lines.
    #[must_use]
    pub fn foreign(&self, line: &str) -> Option<bool> {
        let words = extract::words(line);
        (words.len() >= LONG_QUOTE)
            .then(|| words.windows(LONG_QUOTE).any(|w| !self.benign_quotes.contains(&w.join(" "))))
    }

    fn contained(&self, lower: &str) -> Option<Hit> {
        let hits = self.tokens.iter().filter(|(token, (kind, _))| {
            *kind != TokenKind::Key && token.len() >= 4 && has_word(lower, token)
        });
        // The longest token says most.
        let (_, (kind, token)) = hits.max_by_key(|(token, _)| token.len())?;
        Some(Hit { token: token.clone(), kind: *kind, how: How::Contains })
    }

    fn part(&self, lower: &str) -> Option<Hit> {
        let digits = lower.chars().filter(char::is_ascii_digit).count();
        let structured = lower.trim_matches(['.', '/', '@']).contains(['.', '@', '/', '_']);
        if lower.len() < 5 || (digits < 3 && !structured) {
            return None;
        }
        let (_, (kind, token)) = self.tokens.iter().find(|(token, (kind, _))| {
            let fits = match kind {
                TokenKind::Key | TokenKind::Wording | TokenKind::Number | TokenKind::Name => false,
                // A prefix such as `send_` is a verb; two words of the name are a name.
                TokenKind::Tool => lower.trim_matches('_').contains('_') && lower.len() >= 8,
                _ => true,
            };
            fits && token.contains(lower)
        })?;
        Some(Hit { token: token.clone(), kind: *kind, how: How::PartOf })
    }

    fn wording(&self, lower: &str) -> Option<Hit> {
        let words = extract::words(lower);
        let of = |n: usize, set: &std::collections::BTreeSet<String>| {
            words.windows(n).map(|w| w.join(" ")).find(|phrase| set.contains(phrase))
        };
        of(3, &self.trigrams)
            .or_else(|| of(2, &self.attack_bigrams))
            .or_else(|| of(LONG_QUOTE, &self.attack_quotes))
            .map(Hit::quote)
    }
}

impl Hit {
    fn quote(phrase: String) -> Self {
        Self { token: phrase, kind: TokenKind::Wording, how: How::Quotes }
    }
}

/// Whether `needle` stands in `text` with no word character beside it.
fn has_word(text: &str, needle: &str) -> bool {
    let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(needle).any(|(at, _)| {
        !word(text[..at].chars().next_back()) && !word(text[at + needle.len()..].chars().next())
    })
}
