//! The bare specification: what is left of `spec.md` when curated knowledge is taken out (the
//! ablation of the paper's section 7.5).

use evosafe_types::ContentHash;

use crate::plan::Plan;

/// Words in the heading of a section that is kept: what the agent does and with which tools,
/// how a harness is attached, how it is scored, what a search may spend, what the victims are.
/// Every other section is dropped: what calls mean, who is trusted, threats, ordinary work,
/// the mandate with its anti-patterns, the palette.
const KEPT: [&str; 10] = [
    "situation",
    "tools",
    "adapter",
    "scor",
    "measur",
    "effort",
    "budget",
    "replay",
    "simulat",
    "schema",
];

impl Plan {
    /// The same with a bare `spec.md`: another specification, with a hash of its own.
    #[must_use]
    pub fn bare(&self) -> Self {
        let spec_md = bare(&self.spec_md);
        let hash = ContentHash::of(&[self.spec_toml.as_bytes(), spec_md.as_bytes()]);
        Self { spec_md, hash, ..self.clone() }
    }
}

/// The title, what stands before the first section, and the sections that are kept.
fn bare(md: &str) -> String {
    let (mut out, mut keep, mut fenced) = (String::new(), true, false);
    for line in md.lines() {
        fenced ^= line.trim_start().starts_with("```");
        if let Some(heading) = line.strip_prefix("## ").filter(|_| !fenced) {
            let heading = heading.to_lowercase();
            keep = KEPT.iter().any(|word| heading.contains(word));
        }
        if keep {
            out.push_str(line);
            out.push('\n');
        }
    }
    // A specification that holds nothing is refused when the record of the search is read.
    if out.trim().is_empty() { "# A bare specification\n".to_owned() } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curated_sections_go_and_schemas_stay() {
        let md = "# T\nintro\n## 1. The situation\na\n### Tools\nb\n## 4. Threats\nc\n```\n## adapter\n```\n\
                  ## 9. The adapter\nd\n## 10. The palette\ne\n";
        let kept = "# T\nintro\n## 1. The situation\na\n### Tools\nb\n## 9. The adapter\nd\n";
        assert_eq!(bare(md), kept);
        assert!(!bare("## Threats\nx").trim().is_empty());
    }

    #[test]
    fn the_built_in_specifications_have_something_to_strip() {
        for name in crate::embedded() {
            let plan = crate::load(name).expect("it is valid");
            let bare = plan.bare();
            assert_ne!(bare.hash, plan.hash, "{name}");
            let headings = |md: &str| md.lines().filter(|l| l.starts_with("## ")).count();
            assert!(
                headings(&bare.spec_md) > 0 && headings(&bare.spec_md) < headings(&plan.spec_md)
            );
            assert!(!bare.spec_md.contains("Threats"), "{name}");
            let read = crate::parse(name, &bare.spec_toml, &bare.spec_md).expect("still valid");
            assert_eq!(read.hash, bare.hash, "{name}");
        }
    }
}
