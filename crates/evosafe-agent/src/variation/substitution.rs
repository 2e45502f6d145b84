//! Consistent substitution of words and passages.

use std::borrow::Cow;
use std::collections::BTreeMap;

use evosafe_types::{ToolCall, ToolResult, ToolSpec};
use regex::{Regex, RegexBuilder};
use serde_json::Value;

/// What is found, and how it is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Whole words and phrases wherever they are, case kept.
    Everywhere,
    /// The same, but words are left alone that are field names or part of an address, path or
    /// compound.
    Prose,
    /// The same as everywhere, also where marks stand in for blanks.
    Read,
    /// Whole passages, also where marks stand in for blanks; put as they are.
    Passages,
}

impl Manner {
    fn reads_marks(self) -> bool {
        matches!(self, Self::Read | Self::Passages)
    }

    fn is_blank(self, c: char) -> bool {
        let mark = matches!(c, '^' | '~' | '|' | '\u{e000}'..='\u{f8ff}');
        c.is_whitespace() || (self.reads_marks() && mark)
    }

    /// A text as it is looked up: white space inside a phrase may be a line break.
    fn key(self, text: &str) -> String {
        let words = text.split(|c| self.is_blank(c)).filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join(" ").to_lowercase()
    }
}

/// Replaces whole words and phrases, longest first.
#[derive(Debug, Clone)]
pub struct Substitution {
    regex: Regex,
    to: BTreeMap<String, String>,
    manner: Manner,
}

impl Substitution {
    /// What is on the left is replaced by what is on the right; `None` if there is nothing to
    /// replace, or more than fits into one pattern (32 MiB compiled).
    #[must_use]
    pub fn new(pairs: BTreeMap<String, String>, manner: Manner) -> Option<Self> {
        let to: BTreeMap<String, String> = pairs
            .into_iter()
            .map(|(from, to)| (manner.key(&from), to))
            .filter(|(from, _)| !from.is_empty())
            .collect();
        if to.is_empty() {
            return None;
        }
        let mut from: Vec<&String> = to.keys().collect();
        from.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        let blank = if manner.reads_marks() { r"[\s^~|\x{e000}-\x{f8ff}]+" } else { r"\s+" };
        let pattern = from.iter().map(|token| bounded(token, blank)).collect::<Vec<_>>().join("|");
        let regex =
            RegexBuilder::new(&pattern).case_insensitive(true).size_limit(1 << 25).build().ok()?;
        Some(Self { regex, to, manner })
    }

    /// The text with everything replaced.
    #[must_use]
    pub fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut out = String::new();
        let mut copied = 0;
        for found in self.regex.find_iter(text) {
            if self.manner == Manner::Prose && in_compound(text, found.start(), found.end()) {
                continue;
            }
            let Some(to) = self.to.get(&self.manner.key(found.as_str())) else { continue };
            out.push_str(&text[copied..found.start()]);
            match self.manner {
                Manner::Passages => out.push_str(to),
                _ => out.push_str(&cased(found.as_str(), to)),
            }
            copied = found.end();
        }
        if copied == 0 {
            return Cow::Borrowed(text);
        }
        out.push_str(&text[copied..]);
        Cow::Owned(out)
    }

    fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.apply(text).into_owned(),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(map) => map.values_mut().for_each(|item| self.value(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Replaces in place.
    pub fn text(&self, text: &mut String) {
        if let Cow::Owned(changed) = self.apply(text) {
            *text = changed;
        }
    }

    /// Replaces in the name of the tool and in the values of arguments; field names stay.
    pub fn call(&self, call: &mut ToolCall) {
        self.text(&mut call.tool);
        call.arguments.values_mut().for_each(|value| self.value(value));
    }

    /// Replaces in the text of a result.
    pub fn result(&self, result: &mut ToolResult) {
        self.text(&mut result.content);
    }

    /// Replaces in name, description and the texts of the schema; field names stay.
    pub fn tool(&self, tool: &mut ToolSpec) {
        self.text(&mut tool.name);
        self.text(&mut tool.description);
        self.value(&mut tool.input_schema);
    }
}

/// The token as a pattern: word boundaries where it ends in word characters, `blank` where it
/// has a space.
fn bounded(token: &str, blank: &str) -> String {
    let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let words: Vec<String> = token.split(' ').map(regex::escape).collect();
    let left = if word(token.chars().next()) { r"\b" } else { "" };
    let right = if word(token.chars().next_back()) { r"\b" } else { "" };
    format!("{left}{}{right}", words.join(blank))
}

fn in_compound(text: &str, start: usize, end: usize) -> bool {
    let joins = |c: char| matches!(c, '@' | '/' | '_' | '-' | '\\');
    let before = text[..start].chars().next_back();
    let mut after = text[end..].chars();
    let (next, then) = (after.next(), after.next());
    let quote = |c: Option<char>| matches!(c, Some('\'' | '"'));
    let line = text[..start].rsplit('\n').next().unwrap_or("");
    let leads = line.chars().all(|c| c == ' ' || c == '-') && !text[start..end].contains(' ');
    let field = (leads && next == Some(':')) || (quote(before) && quote(next) && then == Some(':'));
    field
        || before.is_some_and(|c| joins(c) || c == '.')
        || next.is_some_and(joins)
        || (next == Some('.') && then.is_some_and(char::is_alphanumeric))
}

/// `to` in the case of `from`: letter by letter if both are as long, else by the first.
fn cased(from: &str, to: &str) -> String {
    let upper = |c: char| c.is_uppercase();
    if from.chars().count() == to.chars().count() {
        return from
            .chars()
            .zip(to.chars())
            .map(|(f, t)| if upper(f) { t.to_ascii_uppercase() } else { t.to_ascii_lowercase() })
            .collect();
    }
    let shouting = from.chars().any(upper) && !from.chars().any(char::is_lowercase);
    if shouting && from.len() > 3 {
        return to.to_uppercase();
    }
    let mut letters = to.chars();
    match (from.chars().next().is_some_and(upper), letters.next()) {
        (true, Some(first)) => first.to_uppercase().chain(letters).collect(),
        _ => to.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn substitution(pairs: &[(&str, &str)], manner: Manner) -> Substitution {
        let pairs = pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        Substitution::new(pairs, manner).expect("there are pairs")
    }

    #[test]
    fn whole_words_longest_first_case_kept() {
        let names = substitution(
            &[("emma johnson", "urdo palnist"), ("emma", "urdo"), ("send_money", "deliver_funds")],
            Manner::Everywhere,
        );
        for (text, wanted) in [
            ("Emma Johnson and EMMA", "Urdo Palnist and URDO"),
            ("Emma\n  Johnson", "Urdo palnist"),
            ("emma.smith@x.org", "urdo.smith@x.org"),
            ("Emmanuel", "Emmanuel"),
            (
                "call send_money now, not send_money_back",
                "call deliver_funds now, not send_money_back",
            ),
        ] {
            // Line breaks inside a phrase change its length, so only its first letter is cased.
            assert_eq!(names.apply(text), wanted);
        }
    }

    #[test]
    fn prose_leaves_addresses_alone() {
        let words = substitution(&[("task", "job"), ("important", "crucial")], Manner::Prose);
        for (text, wanted) in [
            ("Solve the task. IMPORTANT!", "Solve the job. CRUCIAL!"),
            (
                "see www.task-list.com and /home/task and my_task",
                "see www.task-list.com and /home/task and my_task",
            ),
            ("Task.", "Job."),
            ("{'task': 'a task'}", "{'task': 'a job'}"),
            ("- task: a task", "- task: a job"),
            ("This is the task: go", "This is the job: go"),
        ] {
            assert_eq!(words.apply(text), wanted);
        }
        assert!(Substitution::new(BTreeMap::new(), Manner::Prose).is_none());
    }

    #[test]
    fn marks_between_words_are_read_through() {
        let names = substitution(&[("urdo palnist", "emma johnson")], Manner::Read);
        assert_eq!(names.apply("to^Urdo^Palnist^now"), "to^Emma Johnson^now");
        let words =
            substitution(&[("Kindly settle it now.", "Please pay it NOW.")], Manner::Passages);
        assert_eq!(words.apply("a kindly~settle it\nnow. b"), "a Please pay it NOW. b");
    }
}
