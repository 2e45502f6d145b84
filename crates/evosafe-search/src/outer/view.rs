//! What the Designer may read: text files in memory, made from train material only. There is
//! no disk and no archive behind it, so that a path can lead nowhere else.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use evosafe_types::{CandidateId, TaskId};
use regex::RegexBuilder;

/// Most characters of one answer.
pub(super) const MOST_CHARS: usize = 16_000;
/// Most lines of a listing or a search.
const MOST_LINES: usize = 120;
/// Most characters of a line that a search shows.
const LINE: usize = 240;

/// The files.
#[derive(Debug, Default)]
pub(crate) struct TrainView {
    train: BTreeSet<TaskId>,
    files: BTreeMap<String, String>,
}

/// The folder of a candidate.
pub(super) fn folder(candidate: &CandidateId) -> String {
    format!("candidates/{}", candidate.short())
}

impl TrainView {
    /// A view of the train side with these tasks.
    pub(crate) fn new(train: impl IntoIterator<Item = TaskId>) -> Self {
        Self { train: train.into_iter().collect(), files: BTreeMap::new() }
    }

    /// Whether a task is on the train side.
    pub(crate) fn knows(&self, task: &TaskId) -> bool {
        self.train.contains(task)
    }

    /// Adds tasks to the train side: variants of its own.
    pub(super) fn admit(&mut self, tasks: Vec<TaskId>) {
        self.train.extend(tasks);
    }

    /// Puts a file in, in place of one with its name.
    pub(crate) fn put(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.files.insert(path.into(), text.into());
    }

    /// A whole file.
    pub(crate) fn file(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// All files, by path.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Paths and sizes under a prefix. Folders with many files are folded.
    pub(super) fn list(&self, prefix: &str) -> String {
        let prefix = prefix.trim_start_matches('/');
        let within: Vec<(&String, &String)> =
            self.files.iter().filter(|(path, _)| path.starts_with(prefix)).collect();
        if within.is_empty() {
            return format!(
                "nothing begins with {prefix:?}; list_files without a prefix shows all"
            );
        }
        let mut text = String::new();
        if within.len() <= MOST_LINES {
            for (path, content) in within {
                let _ = writeln!(text, "{path} ({} lines)", content.lines().count());
            }
            return text;
        }
        let mut folders: BTreeMap<String, usize> = BTreeMap::new();
        for (path, _) in within {
            let next =
                path[prefix.len()..].find('/').map_or(path.len(), |at| prefix.len() + at + 1);
            *folders.entry(path[..next].to_owned()).or_default() += 1;
        }
        for (folder, n) in folders.iter().take(MOST_LINES) {
            let _ = match n {
                1 => writeln!(text, "{folder}"),
                n => writeln!(text, "{folder} ({n} files)"),
            };
        }
        if folders.len() > MOST_LINES {
            let _ =
                writeln!(text, "... and {} more: give a longer prefix", folders.len() - MOST_LINES);
        }
        text
    }

    /// A file from a line on (from 1).
    ///
    /// # Errors
    /// In words for the model.
    pub(super) fn read(&self, path: &str, from: usize) -> Result<String, String> {
        let Some(content) = self.file(path.trim_start_matches('/')) else {
            return Err(format!("there is no file {path:?}; list_files shows what there is"));
        };
        let first = from.max(1);
        let mut text = String::new();
        for (at, line) in content.lines().enumerate().skip(first - 1) {
            if text.len() + line.len() > MOST_CHARS && !text.is_empty() {
                let _ = writeln!(text, "... goes on: read_file with from_line {}", at + 1);
                return Ok(text);
            }
            text.push_str(&cut(line, MOST_CHARS));
            text.push('\n');
        }
        if text.is_empty() {
            return Err(format!("{path} has {} lines", content.lines().count()));
        }
        Ok(text)
    }

    /// Lines that match a regular expression, whatever the case.
    ///
    /// # Errors
    /// In words for the model, where the pattern is none.
    pub(super) fn search(&self, pattern: &str, prefix: &str) -> Result<String, String> {
        let prefix = prefix.trim_start_matches('/');
        let regex = RegexBuilder::new(pattern).case_insensitive(true).size_limit(1 << 20).build();
        let regex = regex.map_err(|e| format!("not a pattern: {e}"))?;
        let (mut text, mut hits) = (String::new(), 0);
        let within = self.files.iter().filter(|(path, _)| path.starts_with(prefix));
        for (path, content) in within {
            for (at, line) in content.lines().enumerate().filter(|(_, line)| regex.is_match(line)) {
                hits += 1;
                if hits <= MOST_LINES && text.len() < MOST_CHARS {
                    let _ = writeln!(text, "{path}:{}: {}", at + 1, cut(line.trim(), LINE));
                }
            }
        }
        let shown = text.lines().count();
        match hits {
            0 => Ok("no line matches".to_owned()),
            n if n > shown => Ok(format!("{text}... and {} more: be more specific\n", n - shown)),
            _ => Ok(text),
        }
    }
}

/// A text of at most so many characters; says how much is missing.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((at, _)) => {
            format!("{} [... {} more characters]", &text[..at], text[at..].chars().count())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view() -> TrainView {
        let mut view = TrainView::new([TaskId::new("a/1")]);
        view.put("spec.md", "Pay bills.\nNever leak.\n");
        for n in 0..200 {
            view.put(format!("candidates/abc/traces/{n:03}.md"), format!("task {n}\nLEAK {n}\n"));
        }
        view
    }

    #[test]
    fn paths_lead_nowhere_else() {
        for path in
            ["../spec.md", "/etc/passwd", "candidates/../spec.md", "./spec.md", "", "spec.md\0"]
        {
            assert!(view().read(path, 1).is_err(), "{path:?}");
        }
        assert_eq!(view().read("/spec.md", 2).expect("there"), "Never leak.\n");
        assert!(view().read("spec.md", 9).expect_err("too far").contains("2 lines"));
    }

    #[test]
    fn answers_are_bounded() {
        let listed = view().list("");
        assert!(
            listed.contains("candidates/ (200 files)") && listed.contains("spec.md"),
            "{listed}"
        );
        let found = view().search("leak \\d+", "candidates/").expect("a pattern");
        assert_eq!(found.lines().count(), MOST_LINES + 1);
        assert!(found.ends_with("and 80 more: be more specific\n"), "{found}");
        assert!(view().search("(", "").expect_err("no pattern").contains("not a pattern"));
        let mut long = view();
        long.put("long", "x".repeat(50).as_str().to_owned() + "\n" + &"y\n".repeat(20_000));
        let page = long.read("long", 1).expect("there");
        assert!(page.len() < MOST_CHARS + 100 && page.contains("from_line"), "{}", page.len());
    }
}
