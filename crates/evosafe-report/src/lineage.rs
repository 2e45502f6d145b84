//! Who descends from whom, as a tree.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use evosafe_types::CandidateId;

use crate::leaderboard::Row;
use crate::table::points;

/// The rows as a forest by first parent, in the order given. A candidate with a second
/// parent names it.
#[must_use]
pub fn lineage_text(rows: &[Row], best: Option<&CandidateId>) -> String {
    let known: BTreeSet<&CandidateId> = rows.iter().map(|r| &r.candidate).collect();
    let mut children: BTreeMap<Option<&CandidateId>, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let parent = row.parents.first().filter(|p| known.contains(p));
        children.entry(parent).or_default().push(row);
    }
    let mut text = String::new();
    // An explicit stack: lineages are as deep as a search is long.
    let mut stack: Vec<(&Row, usize)> =
        children.get(&None).into_iter().flatten().rev().map(|r| (*r, 0)).collect();
    while let Some((row, depth)) = stack.pop() {
        let mark = if best == Some(&row.candidate) { " *" } else { "" };
        let what = if row.edit.is_empty() { &row.name } else { &row.edit };
        let score = row.wide_score.or(row.search_score);
        let _ = write!(
            text,
            "{}{}{mark}  {}  {what}",
            "  ".repeat(depth),
            row.candidate.short(),
            points(score)
        );
        for other in row.parents.iter().skip(1) {
            let _ = write!(text, "  (and {})", other.short());
        }
        if let Some(why) = &row.stopped {
            let _ = write!(text, "  [stopped at {}]", why.split(':').next().unwrap_or_default());
        }
        if !row.uncovered.is_empty() {
            text.push_str("  [indecisive]");
        }
        text.push('\n');
        let below = children.get(&Some(&row.candidate)).into_iter().flatten().rev();
        stack.extend(below.map(|child| (*child, depth + 1)));
    }
    text
}
