//! What an attacker changes, and the session after it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use evosafe_agent::{Manner, Substitution, Variation};
use evosafe_types::Family;
use serde::{Deserialize, Serialize};

use super::paraphrase::paraphrase;
use super::pieces::pieces;
use super::substitute;
use super::{Session, tools};
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
        let everywhere = |pairs| Substitution::new(pairs, Manner::Everywhere);
        let changed = match self {
            Self::Rename => {
                substitute::session(&everywhere(renames(session, corpus, seed))?, session)
            }
            Self::Relocate => {
                substitute::session(&everywhere(relocations(session, corpus, seed))?, session)
            }
            Self::Rephrase => rephrased(session, corpus, seed)?,
        };
        (changed != *session).then_some(changed)
    }

    /// The change as something that an episode of the session's task can be run with, or `None`
    /// where it has nothing to change or could not be undone.
    #[must_use]
    pub fn variation(
        self,
        session: &Session,
        corpus: &CorpusTokens,
        seed: u64,
    ) -> Option<Variation> {
        let texts = texts(session);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        match self {
            Self::Rename => Variation::names(renames(session, corpus, seed), &texts),
            Self::Relocate => Variation::names(relocations(session, corpus, seed), &texts),
            Self::Rephrase => Variation::passages(rewordings(session, corpus, seed)?, &texts),
        }
    }
}

/// Everything said in a session, piece by piece.
fn texts(session: &Session) -> Vec<String> {
    let t = &session.transcript;
    let mut texts = vec![t.instruction.clone(), t.base_prompt.clone()];
    for call in t.calls() {
        texts.push(serde_json::Value::Object(call.proposed.arguments.clone()).to_string());
        texts.extend(call.result.as_ref().map(|result| result.content.clone()));
    }
    texts.extend(t.answer.as_ref().map(|answer| answer.proposed.clone()));
    texts
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

fn other_words(corpus: &CorpusTokens, seed: u64) -> Option<Substitution> {
    let tags = corpus.iter().filter(|(kind, _)| *kind == TokenKind::Markup).map(|(_, tag)| tag);
    paraphrase(tags, seed)
}

fn rephrased(session: &Session, corpus: &CorpusTokens, seed: u64) -> Option<Session> {
    let other = other_words(corpus, seed)?;
    let mut session = session.clone();
    match session.family {
        Family::Benign | Family::Direct => {
            let instruction = &mut session.transcript.instruction;
            *instruction = other.apply(instruction).into_owned();
        }
        Family::Indirect => {
            for record in session.transcript.turns.iter_mut().flat_map(|t| t.calls.iter_mut()) {
                if let Some(result) = &mut record.result {
                    let lines: Vec<&str> = result.content.split_inclusive('\n').collect();
                    let changed = directives(&lines, corpus, &other).concat();
                    result.content = changed;
                }
            }
        }
    }
    Some(session)
}

/// The passages that rephrasing changes, with what stands in their place: the request, or the
/// sentences of results that only attacks show.
fn rewordings(
    session: &Session,
    corpus: &CorpusTokens,
    seed: u64,
) -> Option<BTreeMap<String, String>> {
    let other = other_words(corpus, seed)?;
    let transcript = &session.transcript;
    let mut passages = BTreeMap::new();
    if session.family != Family::Indirect {
        let changed = other.apply(&transcript.instruction).into_owned();
        passages.insert(transcript.instruction.clone(), changed);
        return Some(passages);
    }
    for result in transcript.calls().filter_map(|record| record.result.as_ref()) {
        let old = pieces(&result.content);
        for (old, new) in old.iter().zip(directives(&old, corpus, &other)) {
            let (old, new) = (old.trim(), new.trim());
            // A word or two may stand anywhere; a tag is one word, and means something.
            if old != new && (old.split_whitespace().count() > 2 || old.starts_with('<')) {
                passages.insert(old.to_owned(), new.to_owned());
            }
        }
    }
    Some(passages)
}

/// Pieces of a text, in order, of which those are rephrased that only attacks show: those with
/// words in a row that no benign episode has, and short pieces beside them.
fn directives<'t>(
    pieces: &[&'t str],
    corpus: &CorpusTokens,
    other: &Substitution,
) -> Vec<Cow<'t, str>> {
    let foreign: Vec<Option<bool>> = pieces.iter().map(|piece| corpus.foreign(piece)).collect();
    let change = |(at, piece): (usize, &&'t str)| {
        let beside = || {
            let before = foreign[..at].iter().rev().find_map(|f| *f);
            let after = foreign[at + 1..].iter().find_map(|f| *f);
            before == Some(true) || after == Some(true)
        };
        if foreign[at].unwrap_or_else(beside) { other.apply(piece) } else { Cow::Borrowed(*piece) }
    };
    pieces.iter().enumerate().map(change).collect()
}
