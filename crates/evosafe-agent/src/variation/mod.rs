//! A task in other words: what the environment says is changed on its way to harness and victim,
//! and calls and answers are changed back on their way to the environment, so that its own judges
//! still judge (docs/decisions/0014-adaptive-probes.md).

mod lens;
mod substitution;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use evosafe_types::{ContentHash, Task, TaskId, ToolSpec};
use serde::{Deserialize, Serialize};

pub(crate) use lens::Lens;
pub use substitution::{Manner, Substitution};

/// Raised whenever the same variation may give an episode other words: part of every variant's id.
const VERSION: &str = "variation 1";

/// What is put otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Variation {
    /// What something is called, by its lower-case name: the same everywhere.
    Names(BTreeMap<String, String>),
    /// Whole passages, by their text.
    Passages(BTreeMap<String, String>),
}

impl Variation {
    /// Other names. Two things that would be called alike, or like something that one of `texts`
    /// holds, keep their names; `None` if nothing is left, or if one of `texts` could not be told
    /// from its changed version.
    #[must_use]
    pub fn names(mut names: BTreeMap<String, String>, texts: &[&str]) -> Option<Self> {
        let said = texts.join("\n").to_lowercase();
        let mut taken = BTreeSet::new();
        names.retain(|from, to| {
            let to = to.to_lowercase();
            to != *from && !said.contains(&to) && taken.insert(to)
        });
        Self::Names(names).undone_in(texts)
    }

    /// Other passages; `None` if nothing is changed, or if one of `texts` could not be told from its
    /// changed version.
    #[must_use]
    pub fn passages(mut passages: BTreeMap<String, String>, texts: &[&str]) -> Option<Self> {
        passages.retain(|from, to| from != to);
        Self::Passages(passages).undone_in(texts)
    }

    /// The variation, if what it does to each of the texts can be undone.
    fn undone_in(self, texts: &[&str]) -> Option<Self> {
        let plain =
            |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let glass = Glass::new(&self)?;
        let undone = |text: &&str| plain(&glass.back(&glass.there(text))) == plain(text);
        texts.iter().all(undone).then_some(self)
    }

    /// Hash of its content and of how it is applied.
    #[must_use]
    pub fn id(&self) -> ContentHash {
        // Maps of texts in order always serialise.
        let text = serde_json::to_vec(self).unwrap_or_default();
        ContentHash::of(&[VERSION.as_bytes(), &text])
    }
}

/// Both directions of a variation.
#[derive(Debug, Clone)]
struct Glass {
    there: Substitution,
    back: Substitution,
}

impl Glass {
    fn new(variation: &Variation) -> Option<Self> {
        let (pairs, there, back) = match variation {
            Variation::Names(pairs) => (pairs, Manner::Everywhere, Manner::Read),
            Variation::Passages(pairs) => (pairs, Manner::Passages, Manner::Passages),
        };
        let undo = pairs.iter().map(|(from, to)| (to.clone(), from.clone())).collect();
        Some(Self {
            there: Substitution::new(pairs.clone(), there)?,
            back: Substitution::new(undo, back)?,
        })
    }

    fn there<'t>(&self, text: &'t str) -> Cow<'t, str> {
        by_line(&self.there, text)
    }

    fn back<'t>(&self, text: &'t str) -> Cow<'t, str> {
        by_line(&self.back, text)
    }
}

/// Results are JSON more often than not: a word after an escaped line break begins there.
fn by_line<'t>(other: &Substitution, text: &'t str) -> Cow<'t, str> {
    const BREAK: &str = "\\n";
    if !text.contains(BREAK) {
        return other.apply(text);
    }
    let lines: Vec<Cow<'_, str>> = text.split(BREAK).map(|line| other.apply(line)).collect();
    Cow::Owned(lines.join(BREAK))
}

/// A task of the environment with a variation: a task of its own, with evidence of its own.
#[derive(Debug, Clone)]
pub struct Variant {
    task: Task,
    base: TaskId,
    variation: Variation,
    glass: Glass,
}

impl Variant {
    /// `base` in other words. Its id is that of the task, the kind of change, and a hash of the
    /// content, so that evidence of other words is other evidence. `None` for a variation that
    /// changes nothing.
    #[must_use]
    pub fn new(base: &Task, kind: &str, variation: Variation) -> Option<Self> {
        let glass = Glass::new(&variation)?;
        let id = TaskId::new(format!("{}~{kind}-{}", base.id, variation.id().short()));
        let task = Task { id, ..base.clone() };
        Some(Self { task, base: base.id.clone(), variation, glass })
    }

    /// The variant as a task: own id, everything else as in the task it was made from.
    #[must_use]
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// The task it was made from.
    #[must_use]
    pub fn base(&self) -> &TaskId {
        &self.base
    }

    /// What is put otherwise.
    #[must_use]
    pub fn variation(&self) -> &Variation {
        &self.variation
    }

    /// The tools of the task as they are called in it.
    #[must_use]
    pub fn tools(&self, tools: &[ToolSpec]) -> Vec<ToolSpec> {
        let mut tools = tools.to_vec();
        tools.iter_mut().for_each(|tool| self.glass.there.tool(tool));
        tools
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(of: &[(&str, &str)]) -> BTreeMap<String, String> {
        of.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    }

    #[test]
    fn what_could_not_be_undone_keeps_its_name() {
        let names = pairs(&[
            ("emma", "urdo"),
            ("send_money", "dispatch_funds"),
            ("send_funds", "dispatch_funds"),
            ("get_mail", "fetch_post"),
        ]);
        let kept = Variation::names(names, &["Emma asks; see also fetch_post"]);
        let expected = pairs(&[("emma", "urdo"), ("send_funds", "dispatch_funds")]);
        assert_eq!(kept, Some(Variation::Names(expected)));
        assert_eq!(Variation::names(pairs(&[("emma", "Emma")]), &["Emma"]), None);
    }

    #[test]
    fn escaped_line_breaks_part_words() {
        let names = Variation::names(pairs(&[("emma", "urdo")]), &[]).expect("a name");
        let glass = Glass::new(&names).expect("it compiles");
        let there = glass.there(r#"{"text":"Hi\nEmma"}"#);
        assert_eq!(there, r#"{"text":"Hi\nUrdo"}"#);
        assert_eq!(glass.back(&there), r#"{"text":"Hi\nEmma"}"#);
    }

    #[test]
    fn the_id_follows_the_content() {
        let one = Variation::Names(pairs(&[("emma", "urdo")]));
        let other = Variation::Names(pairs(&[("emma", "arda")]));
        assert_ne!(one.id(), other.id());
        assert_ne!(one.id(), Variation::Passages(pairs(&[("emma", "urdo")])).id());
    }
}
