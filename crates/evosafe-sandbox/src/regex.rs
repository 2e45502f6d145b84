//! Regular expressions on the host: linear time, limited in size, compiled once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use regex_automata::meta::Regex;

/// Bytes of a pattern's source.
const MAX_PATTERN: usize = 8 << 10;
/// Bytes of a compiled pattern.
const MAX_COMPILED: usize = 1 << 20;
/// Matches one call may return.
const MAX_MATCHES: usize = 50_000;
/// Patterns kept compiled; when full the cache starts over.
const MAX_CACHED: usize = 512;

/// Compiled patterns, shared by all trajectories of a sandbox.
#[derive(Default)]
pub struct Patterns {
    compiled: Mutex<HashMap<String, Compiled>>,
}

/// A pattern or what is wrong with it. Shared, since a copy of a `Regex` has to fill its caches
/// anew.
type Compiled = Result<Arc<Regex>, String>;

/// Matches and what finding them may have cost at worst, in units of fuel.
pub struct Found {
    /// UTF-16 ranges, ends exclusive; or what is wrong with the pattern.
    pub matches: Result<Vec<(u32, u32)>, String>,
    /// Work, the same on every machine.
    pub work: u64,
}

impl Patterns {
    /// All matches of `pattern` in `text`, if the work stays within `allowance`.
    pub fn find_all(&self, pattern: &str, text: &str, allowance: u64) -> Found {
        let regex = match self.compile(pattern) {
            Ok(regex) => regex,
            Err(message) => return Found { matches: Err(message), work: 10_000 },
        };
        // At worst every byte of text visits every state: memory stands for states. Usual
        // patterns run far below that, hence the divisor.
        let per_byte = 1 + regex.memory_usage() as u64 / 1024;
        let work = 500 + per_byte.saturating_mul(text.len() as u64);
        if work > allowance {
            return Found { matches: Ok(Vec::new()), work };
        }
        Found { matches: matches(&regex, text), work }
    }

    fn compile(&self, pattern: &str) -> Compiled {
        if pattern.len() > MAX_PATTERN {
            return Err(format!("the pattern is longer than {MAX_PATTERN} bytes"));
        }
        let cached = |cache: &HashMap<String, Compiled>| cache.get(pattern).cloned();
        if let Some(known) = cached(&self.compiled.lock().unwrap_or_else(PoisonError::into_inner)) {
            return known;
        }
        let config = Regex::config().nfa_size_limit(Some(MAX_COMPILED)).onepass(false);
        let compiled = Regex::builder().configure(config).build(pattern);
        let compiled = compiled.map(Arc::new).map_err(|error| describe(&error));
        let mut cache = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.len() >= MAX_CACHED {
            cache.clear();
        }
        cache.insert(pattern.to_owned(), compiled.clone());
        compiled
    }
}

fn describe(error: &regex_automata::meta::BuildError) -> String {
    match (error.syntax_error(), error.size_limit()) {
        (Some(syntax), _) => format!("invalid pattern: {syntax}"),
        (None, Some(_)) => format!("the compiled pattern is larger than {MAX_COMPILED} bytes"),
        (None, None) => format!("invalid pattern: {error}"),
    }
}

fn matches(regex: &Regex, text: &str) -> Result<Vec<(u32, u32)>, String> {
    let mut found = Vec::new();
    let mut cursor = Utf16 { text, byte: 0, unit: 0 };
    for one in regex.find_iter(text) {
        if found.len() == MAX_MATCHES {
            return Err(format!("more than {MAX_MATCHES} matches"));
        }
        found.push((cursor.advance(one.start()), cursor.advance(one.end())));
    }
    Ok(found)
}

/// Turns growing byte offsets into UTF-16 offsets.
struct Utf16<'t> {
    text: &'t str,
    byte: usize,
    unit: u32,
}

impl Utf16<'_> {
    fn advance(&mut self, to: usize) -> u32 {
        // A code point has one unit, and one more from U+10000 on (four bytes of UTF-8).
        let passed = &self.text.as_bytes()[self.byte..to];
        for byte in passed {
            self.unit += u32::from(byte & 0xc0 != 0x80) + u32::from(*byte >= 0xf0);
        }
        self.byte = to;
        self.unit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(pattern: &str, text: &str) -> Result<Vec<(u32, u32)>, String> {
        Patterns::default().find_all(pattern, text, u64::MAX).matches
    }

    #[test]
    fn offsets_are_utf16() {
        type Case = (&'static str, &'static str, &'static [(u32, u32)]);
        let cases: [Case; 5] = [
            ("b", "abcb", &[(1, 2), (3, 4)]),
            ("b", "éb", &[(1, 2)]),
            ("b+", "😀bb😀b", &[(2, 4), (6, 7)]),
            ("(?i)BCC", "bcc Bcc", &[(0, 3), (4, 7)]),
            ("", "a😀", &[(0, 0), (1, 1), (3, 3)]),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(find(pattern, text).as_deref(), Ok(expected), "{pattern} in {text}");
        }
    }

    #[test]
    fn bad_patterns_say_why() {
        for (pattern, expected) in [
            ("(", "unclosed group"),
            ("(?=a)", "look-around"),
            (r"(a)\1", "backreferences"),
            (r"(\w{500}){500}", "larger than"),
        ] {
            let message = find(pattern, "a").expect_err(pattern);
            assert!(message.contains(expected), "{pattern}: {message}");
        }
        assert!(find(&"a".repeat(MAX_PATTERN + 1), "a").is_err());
        assert!(find("", &"a".repeat(MAX_MATCHES + 1)).is_err());
    }

    #[test]
    fn work_beyond_the_allowance_is_not_done() {
        let patterns = Patterns::default();
        let found = patterns.find_all("(a?){200}a{200}", &"a".repeat(1 << 20), 1_000_000);
        assert!(found.work > 1_000_000);
    }
}
