//! Mechanisms to a bundle. The text is a function of its inputs alone: the same
//! composition gives the same bytes, hence the same candidate.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use evosafe_types::{
    ABI_VERSION, Bundle, CandidateId, HarnessLimits, Language, Manifest, MechanismUse, Origin,
    ParamValue,
};

use crate::bundle::build_bundle;
use crate::error::BundleError;
use crate::mechanism::Mechanism;
use crate::strict::closest;

/// Hooks of the contract, as JavaScript names them.
const HOOKS: [&str; 6] = [
    "begin",
    "onUserMessage",
    "systemPromptTransform",
    "onPreToolCall",
    "onPostToolCall",
    "onFinalAnswer",
];

/// What a composed bundle says of itself besides its mechanisms.
#[derive(Debug, Clone, PartialEq)]
pub struct Lineage {
    /// Short name for people.
    pub name: String,
    /// Parent candidates.
    pub parents: Vec<CandidateId>,
    /// Who composed it.
    pub origin: Origin,
    /// The edit that made it, in one line.
    pub edit: String,
    /// Why this should do better than its parents; a paragraph.
    pub hypothesis: String,
    /// Sandbox limits.
    pub limits: HarnessLimits,
}

/// A mechanism and the parameters given to it.
pub type Part<'a> = (&'a Mechanism, BTreeMap<String, ParamValue>);

/// Composes mechanisms, in order: pre-hooks are asked in this order and the first block
/// wins. No mechanism at all gives the no-defence harness.
///
/// # Errors
/// If a mechanism occurs twice, or a parameter does not exist or is out of range.
pub fn compose(parts: &[Part<'_>], lineage: &Lineage) -> Result<Bundle, BundleError> {
    let mut names = BTreeSet::new();
    if let Some((twice, _)) = parts.iter().find(|(m, _)| !names.insert(m.name.as_str())) {
        return Err(BundleError::DuplicateMechanism(twice.name.clone()));
    }
    let mechanisms = parts
        .iter()
        .map(|(mechanism, given)| {
            let params = mechanism.overrides(given)?;
            Ok(MechanismUse { name: mechanism.name.clone(), params })
        })
        .collect::<Result<Vec<_>, BundleError>>()?;
    let rationale = rationale(parts, &mechanisms, lineage);
    let manifest = Manifest {
        abi: ABI_VERSION,
        language: Language::Javascript,
        name: lineage.name.clone(),
        parents: lineage.parents.clone(),
        origin: lineage.origin.clone(),
        edit: lineage.edit.clone(),
        limits: lineage.limits.clone(),
        mechanisms,
    };
    Ok(build_bundle(policy(parts), code(parts)?, rationale, manifest))
}

/// Composes by name from a library, as a manifest lists its mechanisms.
///
/// # Errors
/// As [`compose`], and if the library has no mechanism of a name.
pub fn compose_uses(
    library: &[Mechanism],
    uses: &[MechanismUse],
    lineage: &Lineage,
) -> Result<Bundle, BundleError> {
    let parts = uses
        .iter()
        .map(|used| {
            let found = library.iter().find(|mechanism| mechanism.name == used.name);
            let mechanism = found.ok_or_else(|| BundleError::UnknownMechanism {
                name: used.name.clone(),
                suggestion: closest(&used.name, library.iter().map(|m| m.name.as_str()))
                    .map(str::to_owned),
            })?;
            Ok((mechanism, used.params.clone()))
        })
        .collect::<Result<Vec<Part<'_>>, BundleError>>()?;
    compose(&parts, lineage)
}

fn policy(parts: &[Part<'_>]) -> Option<String> {
    let texts: Vec<&str> = parts.iter().filter_map(|(m, _)| m.policy.as_deref()).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n") + "\n")
}

fn code(parts: &[Part<'_>]) -> Result<Option<String>, BundleError> {
    let mut text = String::from(
        "// Composed by evosafe from mechanisms; plain code, edit freely.\nconst hooks = compose([\n",
    );
    let mut any = false;
    for (mechanism, given) in parts.iter().filter(|(m, _)| !m.body.is_empty()) {
        any = true;
        let params = serde_json::to_string(&mechanism.resolve(given)?)
            .expect("checked parameters are finite, and keys are texts");
        write!(
            text,
            "  // mechanism: {0}\n  [(() => {{\n{1}\nreturn mechanism; }})(), {params}, \"{0}\"],\n",
            mechanism.name, mechanism.body
        )
        .expect("a String takes any text");
    }
    text.push_str("]);\n");
    for hook in HOOKS {
        writeln!(text, "export const {hook} = hooks.{hook};").expect("a String takes any text");
    }
    Ok(any.then_some(text))
}

fn rationale(parts: &[Part<'_>], uses: &[MechanismUse], lineage: &Lineage) -> String {
    let mut text = format!("# {}\n\n{}\n", lineage.name, lineage.hypothesis.trim());
    if !lineage.edit.is_empty() {
        text.push_str(&format!("\nEdit: {}\n", lineage.edit));
    }
    for ((mechanism, _), used) in parts.iter().zip(uses) {
        text.push_str(&format!(
            "\n## {}\n\n{}\n\nLitmus: {}\n",
            mechanism.name, mechanism.summary, mechanism.litmus
        ));
        if !used.params.is_empty() {
            let tuned = serde_json::to_string(&used.params)
                .expect("checked parameters are finite, and keys are texts");
            text.push_str(&format!("\nTuned: `{tuned}`\n"));
        }
    }
    text
}
