//! Consistent substitution over a whole session.

use std::borrow::Cow;
use std::collections::BTreeMap;

use evosafe_types::{ToolCall, ToolResult, ToolSpec};
use regex::{Regex, RegexBuilder};
use serde_json::Value;

use super::Session;

/// Replaces whole words and phrases, longest first, case kept.
#[derive(Debug)]
pub(super) struct Substitution {
    regex: Regex,
    to: BTreeMap<String, String>,
    /// Leaves words alone that are field names or part of an address, path or compound.
    prose_only: bool,
}

impl Substitution {
    /// `None` if there is nothing to replace.
    pub(super) fn new(pairs: BTreeMap<String, String>, prose_only: bool) -> Option<Self> {
        let mut from: Vec<&String> = pairs.keys().filter(|from| !from.is_empty()).collect();
        if from.is_empty() {
            return None;
        }
        from.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        let pattern = from.iter().map(|token| bounded(token)).collect::<Vec<_>>().join("|");
        let regex = RegexBuilder::new(&pattern)
            .case_insensitive(true)
            .size_limit(1 << 25)
            .build()
            .expect("escaped literals, bounded in number, make a pattern");
        let to = pairs.into_iter().map(|(from, to)| (from.to_lowercase(), to)).collect();
        Some(Self { regex, to, prose_only })
    }

    /// The text with everything replaced.
    pub(super) fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut out = String::new();
        let mut copied = 0;
        for found in self.regex.find_iter(text) {
            if self.prose_only && in_compound(text, found.start(), found.end()) {
                continue;
            }
            // White space inside a phrase may be a line break.
            let key = found.as_str().split_whitespace().collect::<Vec<_>>().join(" ");
            let Some(to) = self.to.get(&key.to_lowercase()) else { continue };
            out.push_str(&text[copied..found.start()]);
            out.push_str(&cased(found.as_str(), to));
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

    fn text(&self, text: &mut String) {
        if let Cow::Owned(changed) = self.apply(text) {
            *text = changed;
        }
    }

    fn call(&self, call: &mut ToolCall) {
        self.text(&mut call.tool);
        call.arguments.values_mut().for_each(|value| self.value(value));
    }

    fn result(&self, result: &mut ToolResult) {
        self.text(&mut result.content);
    }

    fn tool(&self, tool: &mut ToolSpec) {
        self.text(&mut tool.name);
        self.text(&mut tool.description);
        self.value(&mut tool.input_schema);
    }

    /// The session with everything replaced: request, prompt, tools, calls, results,
    /// answer. Field names stay.
    pub(super) fn session(&self, session: &Session) -> Session {
        let mut session = session.clone();
        let transcript = &mut session.transcript;
        self.text(&mut transcript.instruction);
        self.text(&mut transcript.base_prompt);
        for record in transcript.turns.iter_mut().flat_map(|turn| turn.calls.iter_mut()) {
            self.call(&mut record.proposed);
            if let Some(executed) = &mut record.executed {
                self.call(executed);
            }
            if let Some(result) = &mut record.result {
                self.result(result);
            }
        }
        if let Some(answer) = &mut transcript.answer {
            self.text(&mut answer.proposed);
        }
        session.tools.iter_mut().for_each(|tool| self.tool(tool));
        session
    }
}

/// The token as a pattern: word boundaries where it ends in word characters, any white
/// space where it has a space.
fn bounded(token: &str) -> String {
    let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let words: Vec<String> = token.split(' ').map(regex::escape).collect();
    let left = if word(token.chars().next()) { r"\b" } else { "" };
    let right = if word(token.chars().next_back()) { r"\b" } else { "" };
    format!("{left}{}{right}", words.join(r"\s+"))
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

    fn substitution(pairs: &[(&str, &str)], prose_only: bool) -> Substitution {
        let pairs = pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        Substitution::new(pairs, prose_only).expect("there are pairs")
    }

    #[test]
    fn whole_words_longest_first_case_kept() {
        let names = substitution(
            &[("emma johnson", "urdo palnist"), ("emma", "urdo"), ("send_money", "deliver_funds")],
            false,
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
        let words = substitution(&[("task", "job"), ("important", "crucial")], true);
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
        assert!(Substitution::new(BTreeMap::new(), true).is_none());
    }
}
