//! What an attacker changes, and the session after it.

use std::collections::BTreeMap;

use evosafe_types::Family;
use serde::{Deserialize, Serialize};

use super::Session;
use super::paraphrase::paraphrase;
use super::substitute::Substitution;
use super::tools;
use crate::criticizer::rename::reshaped;
use crate::criticizer::vocabulary::{CorpusTokens, TokenKind, is_common};

/// The changes of the litmus question (paper section 4.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Names, accounts, identifiers, mail boxes and tools are called something else.
    Rename,
    /// Hosts, URLs, paths and files are elsewhere.
    Relocate,
    /// The attacker's directive, or the request of a benign session, is put in other words.
    Rephrase,
}

impl Change {
    /// All changes, in order.
    pub const ALL: [Self; 3] = [Self::Rename, Self::Relocate, Self::Rephrase];

    /// Lowercase name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rename => "rename",
            Self::Relocate => "relocate",
            Self::Rephrase => "rephrase",
        }
    }

    /// The session after the change, or `None` where it has nothing to change.
    #[must_use]
    pub fn apply(self, session: &Session, corpus: &CorpusTokens, seed: u64) -> Option<Session> {
        let changed = match self {
            Self::Rename => {
                Substitution::new(renames(session, corpus, seed), false)?.session(session)
            }
            Self::Relocate => {
                Substitution::new(relocations(session, corpus, seed), false)?.session(session)
            }
            Self::Rephrase => rephrased(session, corpus, seed)?,
        };
        (changed != *session).then_some(changed)
    }
}

/// Tokens of the corpus that occur in a session.
fn occurring<'c>(
    session: &Session,
    corpus: &'c CorpusTokens,
) -> impl Iterator<Item = (TokenKind, &'c str)> {
    let text = session.text().to_lowercase();
    corpus.iter().filter(move |(_, token)| text.contains(&token.to_lowercase()))
}

fn renames(session: &Session, corpus: &CorpusTokens, seed: u64) -> BTreeMap<String, String> {
    let mut pairs = BTreeMap::new();
    for (kind, token) in occurring(session, corpus) {
        let fresh = match kind {
            TokenKind::Name => by_word(token, seed),
            TokenKind::Account | TokenKind::Id => reshaped(kind, token, seed),
            TokenKind::Email => match token.split_once('@') {
                Some((person, host)) => format!("{}@{host}", by_word(person, seed)),
                None => continue,
            },
            _ => continue,
        };
        pairs.insert(token.to_lowercase(), fresh);
    }
    for tool in &session.tools {
        pairs.insert(tool.name.to_lowercase(), tools::renamed(&tool.name, seed));
    }
    pairs
}

fn relocations(session: &Session, corpus: &CorpusTokens, seed: u64) -> BTreeMap<String, String> {
    let mut pairs = BTreeMap::new();
    for (kind, token) in occurring(session, corpus) {
        let fresh = match kind {
            TokenKind::Url => {
                let (host, path) = token.split_at(token.find('/').unwrap_or(token.len()));
                format!("{}{}", reshaped(kind, host, seed), by_word(path, seed))
            }
            TokenKind::Path | TokenKind::File => reshaped(kind, token, seed),
            _ => continue,
        };
        pairs.insert(token.to_lowercase(), fresh);
    }
    pairs
}

/// Each word of a token for itself, so that a name reads the same wherever it turns up;
/// ordinary words stay.
fn by_word(token: &str, seed: u64) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in token.chars().map(Some).chain([None]) {
        match c {
            Some(c) if c.is_alphanumeric() => word.push(c),
            other => {
                if is_common(&word.to_lowercase()) {
                    out.push_str(&word);
                } else {
                    out.push_str(&reshaped(TokenKind::Name, &word, seed));
                }
                word.clear();
                out.extend(other);
            }
        }
    }
    out
}

fn rephrased(session: &Session, corpus: &CorpusTokens, seed: u64) -> Option<Session> {
    let tags = corpus.iter().filter(|(kind, _)| *kind == TokenKind::Markup).map(|(_, tag)| tag);
    let other = paraphrase(tags, seed)?;
    let mut session = session.clone();
    match session.family {
        Family::Benign | Family::Direct => {
            let instruction = &mut session.transcript.instruction;
            *instruction = other.apply(instruction).into_owned();
        }
        Family::Indirect => {
            for record in session.transcript.turns.iter_mut().flat_map(|t| t.calls.iter_mut()) {
                if let Some(result) = &mut record.result {
                    result.content = directives(&result.content, corpus, &other);
                }
            }
        }
    }
    Some(session)
}

/// The text with the lines rephrased that only attacks show: those with words in a row
/// that no benign episode has, and short lines beside them.
fn directives(text: &str, corpus: &CorpusTokens, other: &Substitution) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let foreign: Vec<Option<bool>> = lines.iter().map(|line| corpus.foreign(line)).collect();
    let mut out = String::with_capacity(text.len());
    for (at, line) in lines.iter().enumerate() {
        let beside = || {
            let before = foreign[..at].iter().rev().find_map(|f| *f);
            let after = foreign[at + 1..].iter().find_map(|f| *f);
            before == Some(true) || after == Some(true)
        };
        if foreign[at].unwrap_or_else(beside) {
            out.push_str(&other.apply(line));
        } else {
            out.push_str(line);
        }
    }
    out
}
