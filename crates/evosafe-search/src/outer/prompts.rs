//! Prompts: files of this crate, embedded. Their hash is part of a run's identity, so that a
//! search is never continued with other words than it began with.

use evosafe_types::ContentHash;

/// System prompt of the Designer.
pub(super) const DESIGNER: &str = include_str!("../../prompts/designer.md");
/// What it is asked to begin with.
pub(super) const PROPOSE: &str = include_str!("../../prompts/propose.md");
/// What it is asked when a candidate was flagged.
pub(super) const REPAIR: &str = include_str!("../../prompts/repair.md");
/// `TASK.md` of a coding agent.
pub(super) const COMMAND: &str = include_str!("../../prompts/command.md");
/// What it is asked when a candidate was flagged.
pub(super) const COMMAND_REPAIR: &str = include_str!("../../prompts/command_repair.md");
/// System prompt of the Criticizer.
pub(super) const CRITICIZER: &str = include_str!("../../prompts/criticizer.md");
/// System prompt of the Analyzer.
pub(super) const ANALYZER: &str = include_str!("../../prompts/analyzer.md");
/// The contract of the hooks, for who writes them.
pub(super) const ABI: &str = include_str!("../../../../docs/harness-abi.md");

/// Hash of all of them, and of what the tools say of themselves.
pub(super) fn hash() -> ContentHash {
    let tools: String = super::tools::definitions()
        .iter()
        .map(|t| format!("{}\n{}\n{}\n", t.name, t.description, t.input_schema))
        .collect();
    let texts =
        [DESIGNER, PROPOSE, REPAIR, COMMAND, COMMAND_REPAIR, CRITICIZER, ANALYZER, ABI, &tools];
    ContentHash::of(&texts.map(str::as_bytes))
}

/// A template with its `{names}` replaced, in one pass: what is put in is never searched.
pub(super) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        text.push_str(&rest[..open]);
        rest = &rest[open..];
        let known = values.iter().find(|(name, _)| {
            rest[1..].strip_prefix(name).is_some_and(|after| after.starts_with('}'))
        });
        match known {
            Some((name, value)) => {
                text.push_str(value);
                rest = &rest[name.len() + 2..];
            }
            None => {
                text.push('{');
                rest = &rest[1..];
            }
        }
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_placeholder_of_a_folder_is_known() {
        let names = ["name", "slot", "round", "replay", "assignment", "seconds", "cost"];
        let placeholder = regex::Regex::new(r"\{([a-z]+)\}").expect("a pattern");
        let found: Vec<&str> =
            placeholder.captures_iter(COMMAND).filter_map(|c| Some(c.get(1)?.as_str())).collect();
        assert!(found.iter().all(|name| names.contains(name)), "{found:?}");
        assert!(names.iter().all(|name| found.contains(name)), "{found:?}");
    }

    #[test]
    fn what_is_put_in_is_not_a_template() {
        let filled = fill("{a} and {b}; {c}", &[("a", "{b}"), ("b", "x")]);
        assert_eq!(filled, "{b} and x; {c}");
    }

    #[test]
    fn every_placeholder_of_the_templates_is_known() {
        for (template, names) in [
            (PROPOSE, &["name", "slot", "replay", "leaderboard", "notes"][..]),
            (REPAIR, &["name", "slot", "round", "replay", "parent", "verdict", "policy", "code"]),
            (COMMAND_REPAIR, &["parent", "verdict", "policy", "code"]),
        ] {
            let values: Vec<(&str, &str)> = names.iter().map(|n| (*n, "-")).collect();
            assert!(!fill(template, &values).contains('{'), "{template}");
        }
    }
}
