//! First repair of a flagged candidate: out with the keyed rules, in with an invariant that
//! covers the same gap, where the library has one.

use std::collections::BTreeSet;

use evosafe_types::MechanismUse;

use super::Verdict;
use super::vocabulary::TokenKind;

/// Mechanisms of the library that ask the question a literal of this kind stood in for, the
/// nearest first.
#[must_use]
pub fn invariants_for(kind: TokenKind) -> &'static [&'static str] {
    match kind {
        TokenKind::Tool | TokenKind::Key => &["request-scope", "tool-filter", "armed-gate"],
        TokenKind::Wording | TokenKind::Markup => &["directive-quarantine", "argument-provenance"],
        TokenKind::Number => &["payment-consistency", "effect-volume"],
        TokenKind::Email | TokenKind::Url | TokenKind::Account => {
            &["destination-scope", "argument-provenance"]
        }
        TokenKind::File | TokenKind::Path | TokenKind::Id | TokenKind::Name | TokenKind::Value => {
            &["argument-provenance", "destination-scope"]
        }
    }
}

/// The mechanisms of a candidate without the flagged ones; for every flagged one the first
/// invariant mechanism on offer that the candidate lacks takes its place, with its
/// default parameters. `None` if the fault cannot be laid on mechanisms, or nothing is left.
#[must_use]
pub fn repair(
    uses: &[MechanismUse],
    verdict: &Verdict,
    on_offer: &[String],
) -> Option<Vec<MechanismUse>> {
    let flagged: BTreeSet<&str> = verdict.mechanisms.iter().map(String::as_str).collect();
    let mut have: BTreeSet<String> =
        uses.iter().map(|u| u.name.clone()).filter(|n| !flagged.contains(n.as_str())).collect();
    let mut repaired = Vec::new();
    for used in uses {
        if !flagged.contains(used.name.as_str()) {
            repaired.push(used.clone());
            continue;
        }
        let kinds = verdict
            .findings
            .iter()
            .filter(|f| f.mechanism.as_deref() == Some(used.name.as_str()))
            .flat_map(|f| invariants_for(f.kind));
        let fresh = kinds.copied().find(|name| {
            !flagged.contains(name)
                && !have.contains(*name)
                && on_offer.iter().any(|offered| offered == name)
        });
        if let Some(name) = fresh {
            have.insert(name.to_owned());
            repaired.push(MechanismUse { name: name.to_owned(), params: Default::default() });
        }
    }
    (repaired.as_slice() != uses && !repaired.is_empty()).then_some(repaired)
}
