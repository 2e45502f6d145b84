//! Tokens of a text: what a rule could be keyed to.

use std::sync::LazyLock;

use regex::Regex;

use super::TokenKind;

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the patterns of this file are tested")
}

static EMAIL: LazyLock<Regex> =
    LazyLock::new(|| regex(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"));
static URL: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?:https?://|www\.)[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*(?::\d+)?(?:/[\w./%#?=&+-]*)?")
});
static DOTTED: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\b[A-Za-z0-9_-]{2,}(?:\.[A-Za-z0-9_-]+)*\.[A-Za-z]{2,6}\b"));
static PATH: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?:^|[\s'\x22(=])((?:~|\.)?(?:/[\w.-]+){2,})"));
static ACCOUNT: LazyLock<Regex> = LazyLock::new(|| regex(r"\b[A-Z]{2}\d{2}[A-Z0-9]{8,30}\b"));
static NUMBER_ID: LazyLock<Regex> = LazyLock::new(|| regex(r"\b\d{6,}\b"));
static MIXED_ID: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\b(?:[A-Za-z]+[-_]?\d+|\d+[-_]?[A-Za-z]+)[A-Za-z0-9_-]*\b"));
static NAMES: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\b[A-Z][a-z]+(?:[ '-][A-Z][a-z]+){1,3}\b"));
static CAPITAL: LazyLock<Regex> =
    LazyLock::new(|| regex(r"[a-z0-9,;:'\x22(-]\s+([A-Z][a-z]{2,})\b"));
static MARKUP: LazyLock<Regex> = LazyLock::new(|| regex(r"</?[A-Za-z][A-Za-z_-]{2,}>"));
static WORD: LazyLock<Regex> = LazyLock::new(|| regex(r"[\p{L}\p{N}]+(?:['_-][\p{L}\p{N}]+)*"));
static KEY: LazyLock<Regex> = LazyLock::new(|| regex(r"(?m)^\s*(?:- )?([A-Za-z_]\w*):(?:\s|$)"));

/// Endings that make a dotted word a file name and not a host name.
const FILE_ENDINGS: [&str; 24] = [
    "txt", "pdf", "doc", "docx", "xls", "xlsx", "csv", "tsv", "md", "json", "yaml", "yml", "xml",
    "html", "png", "jpg", "jpeg", "zip", "tar", "py", "js", "sh", "log", "pptx",
];

/// A text without its addresses and URLs, whose parts are no words of the language.
pub(super) fn prose(text: &str) -> String {
    let text = EMAIL.replace_all(text, " ");
    DOTTED.replace_all(&URL.replace_all(&text, " "), " ").into_owned()
}

/// Lower-case words of a text.
pub(crate) fn words(text: &str) -> Vec<String> {
    WORD.find_iter(text).map(|m| m.as_str().to_lowercase()).collect()
}

/// Words of a text as written.
pub(super) fn raw_words(text: &str) -> impl Iterator<Item = &str> {
    WORD.find_iter(text).map(|m| m.as_str())
}

/// Field names of a YAML-like result.
pub(super) fn keys(text: &str) -> impl Iterator<Item = &str> {
    KEY.captures_iter(text).filter_map(|c| Some(c.get(1)?.as_str()))
}

/// Tags such as `<information>` in a text.
pub(super) fn markup(text: &str) -> impl Iterator<Item = &str> {
    MARKUP.find_iter(text).map(|m| m.as_str())
}

/// A URL without scheme, `www.` and trailing punctuation.
pub(super) fn bare_url(url: &str) -> &str {
    let url = url.split_once("://").map_or(url, |(_, rest)| rest);
    url.trim_start_matches("www.").trim_end_matches(['/', '.', ',', ')'])
}

/// Every token of a text except words and phrases.
pub(super) fn tokens(text: &str) -> Vec<(TokenKind, String)> {
    let mut found = Vec::new();
    let mut add = |kind, token: &str| {
        if token.len() >= 3 {
            found.push((kind, token.to_owned()));
        }
    };
    for m in EMAIL.find_iter(text) {
        let email = m.as_str().trim_end_matches('.');
        add(TokenKind::Email, email);
        if let Some((_, host)) = email.split_once('@') {
            add(TokenKind::Url, host);
        }
    }
    let unaddressed = EMAIL.replace_all(text, " ");
    for m in URL.find_iter(&unaddressed) {
        let url = bare_url(m.as_str());
        add(TokenKind::Url, url);
        add(TokenKind::Url, url.split(['/', ':', '?', '#']).next().unwrap_or(url));
    }
    for m in DOTTED.find_iter(&unaddressed) {
        let ending = m.as_str().rsplit('.').next().unwrap_or("");
        if FILE_ENDINGS.contains(&ending.to_lowercase().as_str()) {
            add(TokenKind::File, m.as_str());
        } else if m.as_str().len() >= 6 && ending.chars().all(|c| c.is_ascii_lowercase()) {
            add(TokenKind::Url, bare_url(m.as_str()));
        }
    }
    for c in PATH.captures_iter(text) {
        add(TokenKind::Path, &c[1]);
    }
    ACCOUNT.find_iter(text).for_each(|m| add(TokenKind::Account, m.as_str()));
    NUMBER_ID.find_iter(text).for_each(|m| add(TokenKind::Account, m.as_str()));
    for m in MIXED_ID.find_iter(text) {
        let token = m.as_str();
        let digits = token.chars().filter(char::is_ascii_digit).count();
        if token.len() >= 5 && digits >= 2 && !is_time(token) {
            add(TokenKind::Id, token);
        }
    }
    NAMES.find_iter(text).for_each(|m| add(TokenKind::Name, m.as_str()));
    CAPITAL.captures_iter(text).for_each(|c| add(TokenKind::Name, &c[1]));
    found
}

/// `10th`, `2024-05-15T10`, `12am`: calendar, not identity.
fn is_time(token: &str) -> bool {
    let lower = token.to_lowercase();
    let tail = lower.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-');
    matches!(
        tail,
        "st" | "nd"
            | "rd"
            | "th"
            | "am"
            | "pm"
            | "px"
            | "kg"
            | "km"
            | "min"
            | "hours"
            | "usd"
            | "eur"
    ) || lower.contains('t') && lower.starts_with("20")
}
