//! The blind pass: after a search, how many rules of its winner are keyed to tokens of the train
//! tasks (paper section 7.5). It is told the code and the train tasks, and neither scores nor
//! whether a Criticizer was there.

use std::collections::BTreeSet;

use evosafe_env::Environment;
use evosafe_types::{BlindPass, Bundle, Evidence};

use super::review::{suites_of, tools_of};
use super::static_analysis::{self, StaticReport};
use super::vocabulary::{CorpusTokens, Material};

/// The tokens of a search without a Criticizer.
pub(crate) fn corpus_of(traces: &[Evidence], environment: &Environment) -> CorpusTokens {
    let (suites, tools) = (suites_of(environment), tools_of(environment));
    let suite = |e: &Evidence| suites.get(&e.task).map_or("", String::as_str);
    CorpusTokens::build(&Material {
        tools: tools.values().flatten().collect(),
        episodes: traces.iter().map(|e| (suite(e), e)).collect(),
    })
}

/// Counts what the static analysis finds. A component has no source and counts nothing.
pub(crate) fn blind_pass(bundle: &Bundle, corpus: &CorpusTokens) -> BlindPass {
    let (policy, code) = (bundle.policy.as_deref(), bundle.code.as_deref());
    count(&static_analysis::analyse(policy, code, corpus))
}

/// Several tokens of one decision are one rule.
fn count(report: &StaticReport) -> BlindPass {
    let rules: BTreeSet<(&str, Option<&str>, u32)> = report
        .findings
        .iter()
        .map(|f| (f.file.as_str(), f.mechanism.as_deref(), f.decision_line))
        .collect();
    let whole = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    BlindPass {
        keyed_rules: whole(rules.len()),
        keyed_literals: whole(report.findings.len()),
        tolerated: report.tolerated,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::criticizer::samples;

    #[test]
    fn tokens_of_one_decision_are_one_rule() {
        let corpus = samples::corpus();
        let code = "export function onPreToolCall(call) {
  if (call.arguments.amount === 4321 || call.arguments.amount === 4321) return block('a');
  if (call.tool === 'x') return block('b');
  return allow();
}";
        let found = count(&static_analysis::analyse(None, Some(code), &corpus));
        assert_eq!((found.keyed_rules, found.keyed_literals), (1, 2), "{found:?}");
        let none = count(&static_analysis::analyse(None, Some("export const a = 1;"), &corpus));
        assert_eq!(none.keyed_rules, 0);
    }
}
