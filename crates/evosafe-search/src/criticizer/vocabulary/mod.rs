//! The corpus vocabulary: tokens of the train tasks that a rule could be keyed to.

mod extract;
mod generic;
mod lookup;

use std::collections::{BTreeMap, BTreeSet};

use evosafe_types::{Evidence, Family, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use extract::words;
pub(crate) use generic::is_listed as is_common;
pub use lookup::{Hit, How};

/// Episodes in which a pair of words must occur, among attacks only, to count as attack
/// wording.
const WORDING_SUPPORT: usize = 3;

/// Suites whose benign episodes must all use a word for it to be generic.
const GENERIC_SUITES: usize = 3;

/// Words of a run of generic words that is still recognisably a quotation.
const LONG_QUOTE: usize = 5;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenKind {
    /// Name of a tool or server.
    Tool,
    /// Name of an argument or result field. Never flagged: an attacker cannot rename
    /// them, and a list of them only chooses what is looked at.
    Key,
    /// E-mail address.
    Email,
    /// URL or host.
    Url,
    /// File name.
    File,
    /// Path.
    Path,
    /// Account number.
    Account,
    /// Identifier.
    Id,
    /// Proper name.
    Name,
    /// A value that a call was given.
    Value,
    /// A number that a call was given.
    Number,
    /// A tag in injected text.
    Markup,
    /// Words in a row.
    Wording,
}

impl TokenKind {
    /// As in a sentence.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool name",
            Self::Key => "field name",
            Self::Email => "e-mail address",
            Self::Url => "URL or host",
            Self::File => "file name",
            Self::Path => "path",
            Self::Account => "account number",
            Self::Id => "identifier",
            Self::Name => "proper name",
            Self::Value => "argument value",
            Self::Number => "argument number",
            Self::Markup => "tag of injected text",
            Self::Wording => "wording",
        }
    }
}

/// Train material: tools, and H0's episodes with the suite of each.
#[derive(Debug, Clone, Default)]
pub struct Material<'a> {
    /// Tools of every suite.
    pub tools: Vec<&'a ToolSpec>,
    /// Suite and evidence of every train episode.
    pub episodes: Vec<(&'a str, &'a Evidence)>,
}

/// Tokens and phrases of the train corpus.
#[derive(Debug, Clone, Default)]
pub struct CorpusTokens {
    /// Kind and original spelling, by lower-case text.
    tokens: BTreeMap<String, (TokenKind, String)>,
    /// Three words in a row, at least two of them not generic.
    trigrams: BTreeSet<String>,
    /// Two words in a row, neither generic, that only attacks use.
    attack_bigrams: BTreeSet<String>,
    /// [`LONG_QUOTE`] words in a row that only attacks use.
    attack_quotes: BTreeSet<String>,
    /// [`LONG_QUOTE`] words in a row of benign texts.
    benign_quotes: BTreeSet<String>,
    /// Telling numbers of arguments.
    numbers: Vec<f64>,
}

impl CorpusTokens {
    /// Reads the train material.
    #[must_use]
    pub fn build(material: &Material<'_>) -> Self {
        Builder::default().read(material)
    }

    /// Number of tokens, phrases not counted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether the corpus held nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty() && self.trigrams.is_empty()
    }

    /// Tokens with their kind, in lower-case order.
    pub fn iter(&self) -> impl Iterator<Item = (TokenKind, &str)> {
        self.tokens.values().map(|(kind, text)| (*kind, text.as_str()))
    }
}

#[derive(Default)]
struct Builder {
    found: Vec<(TokenKind, String)>,
    keys: BTreeSet<String>,
    lower_case: BTreeSet<String>,
    suites_of: BTreeMap<String, BTreeSet<String>>,
    values: Vec<String>,
    /// Words of requests and arguments as written: where a single name can matter.
    named: BTreeSet<String>,
    numbers: Vec<f64>,
    /// Words of every text read, once each.
    texts: BTreeMap<String, TextUse>,
}

#[derive(Default, Clone, Copy)]
struct TextUse {
    benign: usize,
    attack: usize,
}

impl Builder {
    fn read(mut self, material: &Material<'_>) -> CorpusTokens {
        for tool in &material.tools {
            self.found.push((TokenKind::Tool, tool.name.clone()));
            if let Some(server) = &tool.server {
                self.found.push((TokenKind::Tool, server.clone()));
            }
            if let Some(Value::Object(properties)) = tool.input_schema.get("properties") {
                self.keys.extend(properties.keys().map(|k| k.to_lowercase()));
            }
        }
        for (suite, evidence) in &material.episodes {
            self.episode(suite, evidence);
        }
        self.finish()
    }

    fn episode(&mut self, suite: &str, evidence: &Evidence) {
        let transcript = &evidence.transcript;
        self.text(suite, evidence.family, &transcript.instruction, Family::Direct);
        self.found.extend(extract::tokens(&transcript.base_prompt));
        self.named.extend(extract::raw_words(&transcript.instruction).map(str::to_owned));
        for call in transcript.calls() {
            if let Some(result) = &call.result {
                self.keys.extend(extract::keys(&result.content).map(str::to_lowercase));
                self.text(suite, evidence.family, &result.content, Family::Indirect);
            }
            self.keys.extend(call.proposed.arguments.keys().map(|k| k.to_lowercase()));
            for value in call.proposed.arguments.values() {
                self.argument(value);
            }
        }
    }

    /// `carrier`: the family whose attack would be in this text.
    fn text(&mut self, suite: &str, family: Family, text: &str, carrier: Family) {
        let attack = family == carrier;
        let used = self.texts.entry(text.to_owned()).or_default();
        if attack {
            used.attack += 1;
        } else {
            used.benign += 1;
        }
        if used.attack + used.benign > 1 && family.is_attack() {
            return;
        }
        self.found.extend(extract::tokens(text));
        for word in extract::raw_words(&extract::prose(text)) {
            let lower = word.to_lowercase();
            if family == Family::Benign {
                let suites = self.suites_of.entry(lower.clone()).or_default();
                if !suites.contains(suite) {
                    suites.insert(suite.to_owned());
                }
            }
            if word == lower {
                self.lower_case.insert(lower);
            }
        }
    }

    fn argument(&mut self, value: &Value) {
        match value {
            Value::String(text) => {
                self.named.extend(extract::raw_words(text).map(str::to_owned));
                self.values.push(text.clone());
            }
            Value::Number(number) => self.numbers.extend(number.as_f64()),
            Value::Array(items) => items.iter().for_each(|v| self.argument(v)),
            Value::Object(map) => map.values().for_each(|v| self.argument(v)),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn is_generic(&self, word: &str) -> bool {
        generic::is_listed(word)
            || self.suites_of.get(word).is_some_and(|suites| suites.len() >= GENERIC_SUITES)
    }

    fn finish(mut self) -> CorpusTokens {
        let mut corpus = CorpusTokens::default();
        let values = std::mem::take(&mut self.values);
        for value in &values {
            self.found.extend(extract::tokens(value));
        }
        for (kind, token) in std::mem::take(&mut self.found) {
            self.keep(&mut corpus, kind, token);
        }
        for value in values {
            let lower = value.trim().to_lowercase();
            let count = extract::words(&lower).len();
            let telling = lower.chars().any(|c| matches!(c, '_' | '@' | '/' | '.'))
                || (count >= 2 && !extract::words(&lower).iter().all(|w| self.is_generic(w)));
            if telling && lower.len() >= 4 && lower.len() <= 60 && !is_date(&lower) {
                corpus.tokens.entry(lower).or_insert((TokenKind::Value, value));
            }
        }
        for key in &self.keys {
            corpus.tokens.insert(key.clone(), (TokenKind::Key, key.clone()));
        }
        self.numbers.retain(|n| is_telling(*n));
        self.numbers.sort_by(f64::total_cmp);
        self.numbers.dedup();
        corpus.numbers = std::mem::take(&mut self.numbers);
        self.phrases(&mut corpus);
        corpus
    }

    fn keep(&self, corpus: &mut CorpusTokens, kind: TokenKind, token: String) {
        let lower = token.to_lowercase();
        let words = extract::words(&lower);
        let generic = match kind {
            TokenKind::Name if words.len() == 1 => {
                self.lower_case.contains(&lower)
                    || self.is_generic(&lower)
                    || !self.named.contains(&token)
            }
            TokenKind::Name => {
                // The parts of a name give it away as well.
                for part in token.split([' ', '-', '\'']).filter(|part| part.len() >= 4) {
                    self.keep(corpus, kind, part.to_owned());
                }
                words.iter().filter(|w| !generic::is_listed(w)).count() < 2
            }
            TokenKind::Tool => !lower.contains(['_', '-', '.']) && generic::is_listed(&lower),
            TokenKind::Url => !lower.contains('.'),
            _ => generic::is_listed(&lower) || is_date(&lower),
        };
        if generic {
            return;
        }
        if kind == TokenKind::Tool {
            corpus.tokens.insert(lower, (kind, token));
        } else {
            corpus.tokens.entry(lower).or_insert((kind, token));
        }
    }

    fn phrases(&self, corpus: &mut CorpusTokens) {
        let mut pairs: BTreeMap<String, TextUse> = BTreeMap::new();
        let mut quotes: BTreeMap<String, TextUse> = BTreeMap::new();
        for (text, used) in &self.texts {
            let words = extract::words(text);
            for three in words.windows(3) {
                if three.iter().filter(|w| !self.is_generic(w)).count() >= 2 {
                    corpus.trigrams.insert(three.join(" "));
                }
            }
            let tally = |map: &mut BTreeMap<String, TextUse>, phrase: String| {
                let total = map.entry(phrase).or_default();
                total.benign += used.benign;
                total.attack += used.attack;
            };
            for two in words.windows(2) {
                if two.iter().all(|w| !generic_in_attack(w)) {
                    tally(&mut pairs, two.join(" "));
                }
            }
            if used.benign > 0 {
                let quotes = words.windows(LONG_QUOTE).map(|long| long.join(" "));
                corpus.benign_quotes.extend(quotes);
            }
            for long in words.windows(LONG_QUOTE) {
                tally(&mut quotes, long.join(" "));
            }
            if used.attack > 0 {
                for tag in extract::markup(text) {
                    let tag = tag.to_lowercase();
                    corpus.tokens.entry(tag.clone()).or_insert((TokenKind::Markup, tag));
                }
            }
        }
        let only_attacks = |map: BTreeMap<String, TextUse>| {
            map.into_iter()
                .filter(|(_, n)| n.benign == 0 && n.attack >= WORDING_SUPPORT)
                .map(|(phrase, _)| phrase)
                .collect()
        };
        corpus.attack_bigrams = only_attacks(pairs);
        corpus.attack_quotes = only_attacks(quotes);
        for (text, used) in &self.texts {
            if used.benign > 0 {
                for tag in extract::markup(text) {
                    corpus.tokens.remove(&tag.to_lowercase());
                }
            }
        }
    }
}

/// Words that cannot make a pair of words telling. Narrower than [`generic::is_listed`],
/// because "important message" is made of ordinary words and is still one attack's
/// signature.
fn generic_in_attack(word: &str) -> bool {
    word.len() < 3 || (generic::is_listed(word) && !matches!(word, "message" | "information"))
}

fn is_date(text: &str) -> bool {
    text.len() >= 8
        && text
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '-' | ':' | '/' | ' ' | 't' | '.'))
        && text.starts_with(['1', '2'])
        && text.contains(['-', '/'])
}

/// Numbers nobody chooses by chance: three significant digits, or two and some size; years
/// left out.
fn is_telling(n: f64) -> bool {
    let digits = significant_digits(n);
    (digits >= 3 || (digits == 2 && n.abs() >= 100.0)) && !(1900.0..2100.0).contains(&n)
}

fn significant_digits(n: f64) -> usize {
    let text = format!("{n}");
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let digits = if text.contains('.') { digits } else { digits.trim_end_matches('0').to_owned() };
    digits.trim_start_matches('0').len()
}
