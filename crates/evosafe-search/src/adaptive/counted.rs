//! Scores that selection goes by: those of the corpus as it is.

use evosafe_types::Score;

use crate::designer::Member;
use crate::verdict::score;

impl Member {
    /// Whether it may be compared: it has a search score of the corpus as it is.
    pub(crate) fn is_current(&self) -> bool {
        self.searched && !self.stale
    }

    /// Its search score, variants included.
    pub(crate) fn search_score(&self) -> Score {
        self.score.merged(&score(&self.probes))
    }

    /// Its wide score, variants included, if it was run wide.
    pub(crate) fn wide_score(&self) -> Option<Score> {
        self.wide.map(|wide| wide.merged(&score(&self.probes)))
    }

    /// The score of the most that it was run on.
    pub(crate) fn counted(&self) -> Score {
        self.wide_score().unwrap_or_else(|| self.search_score())
    }
}
