//! Parts of a search that can be left out, to see what they are worth.

use crate::search::SearchConfig;

/// What is left out; nothing by default. All of it is part of a search's identity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ablations {
    /// Candidates are evaluated without review, and may win without the probe at promotion.
    pub no_criticizer: bool,
    /// The search starts from no defence alone.
    pub no_warm_start: bool,
    /// What is written down about the domain's risks is withheld from the Designer: see
    /// [`evosafe_spec::Plan::bare`]. Of the offline Designer, which reads no prose, it takes what
    /// steers it by that knowledge: which failures a mechanism is for.
    pub bare_spec: bool,
    /// Every candidate is run on the whole train side: no smoke stage, no gate, no prefix.
    pub no_cascade: bool,
}

impl Ablations {
    /// Takes out of a search's material what the Designer must not see.
    pub(crate) fn apply(self, config: &mut SearchConfig) {
        if self.no_warm_start {
            config.seeds.truncate(1);
        }
        if self.bare_spec {
            config.plan = config.plan.bare();
            for mechanism in &mut config.library {
                mechanism.channels.clear();
            }
        }
    }
}
