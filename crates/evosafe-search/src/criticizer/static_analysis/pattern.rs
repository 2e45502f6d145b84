//! Whether a regular expression is keyed to the corpus.

use regex::{Regex, RegexBuilder};

use crate::criticizer::rename;
use crate::criticizer::vocabulary::{CorpusTokens, Hit, How, TokenKind, is_common, words};

/// Renamed versions of a token that a pattern must all miss to count as keyed to it.
const RENAMED: u64 = 8;

/// Looks at the literal runs of a pattern first; then at what it matches: a token of the
/// corpus, but none of the token's renamed versions. Generic patterns match both.
pub(super) fn find(
    source: &str,
    flags: &str,
    runs: &[String],
    corpus: &CorpusTokens,
) -> Option<Hit> {
    if let Some(hit) = runs.iter().find_map(|run| corpus.find(run)) {
        return Some(hit);
    }
    // Without four literal characters in a row nothing specific can be meant.
    if !runs.iter().any(|run| run.chars().filter(|c| c.is_alphanumeric()).count() >= 4) {
        return None;
    }
    let regex = compile(source, flags)?;
    corpus
        .iter()
        .filter(|(kind, _)| is_specific(*kind))
        .find(|(kind, token)| {
            let hit = regex.find(token).is_some_and(|m| tells(*kind, m.as_str(), token));
            hit && (0..RENAMED).all(|n| !regex.is_match(&rename::reshaped(*kind, token, n)))
        })
        .map(|(kind, token)| Hit { token: token.to_owned(), kind, how: How::Matches })
}

/// Kinds whose tokens are made of no ordinary words.
fn is_specific(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Email | TokenKind::Account | TokenKind::Name | TokenKind::Url | TokenKind::Path
    )
}

/// Whether the matched part gives the token away: half of it, not only ordinary words; a
/// name as a whole, because parts of names are ordinary words more often than not.
fn tells(kind: TokenKind, part: &str, token: &str) -> bool {
    if kind == TokenKind::Name {
        return part.len() == token.len();
    }
    let special = words(part).iter().any(|word| !is_common(word));
    special && part.len() >= 4 && part.len() * 2 >= token.len()
}

/// The pattern in the syntax of the `regex` crate; `None` where it has no equal
/// (look-around, back references).
fn compile(source: &str, flags: &str) -> Option<Regex> {
    RegexBuilder::new(source)
        .case_insensitive(flags.contains('i'))
        .multi_line(flags.contains('m'))
        .dot_matches_new_line(flags.contains('s'))
        .size_limit(1 << 20)
        .build()
        .ok()
}
