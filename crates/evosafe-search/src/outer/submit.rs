//! From what a model handed in to a bundle, or to words that say what is wrong with it.

use std::collections::{BTreeMap, BTreeSet};

use evosafe_sandbox::Sandbox;
use evosafe_spec::{Lineage, Mechanism};
use evosafe_types::{
    ABI_VERSION, Bundle, CandidateId, ContentHash, HarnessLimits, JsonMap, Language, Manifest,
    MechanismUse, Origin, TaskId,
};
use serde::Deserialize;
use serde_json::Value;

use super::predict::Flip;
use super::view::cut;
use crate::designer::{MAX_MECHANISMS, Member};

/// Predictions of one submission.
const MOST_FLIPS: usize = 60;
/// Characters of the edit line and of the hypothesis.
const EDIT: usize = 160;
const HYPOTHESIS: usize = 2000;
/// Characters of what stage 0 has to say.
const FINDINGS: usize = 8000;

/// What a submission is checked against.
pub(crate) struct Terms<'a> {
    pub members: &'a [Member],
    pub known: &'a BTreeSet<ContentHash>,
    pub library: &'a [Mechanism],
    pub limits: &'a HarnessLimits,
    /// A replayed victim: what acts through text alone is not measured.
    pub action_level_only: bool,
    pub is_train: &'a dyn Fn(&TaskId) -> bool,
    /// Name of the candidate, for people.
    pub name: String,
    /// The Designer's name.
    pub author: &'static str,
}

/// A bundle that may be evaluated.
#[derive(Debug, Clone)]
pub(crate) struct Submission {
    pub bundle: Bundle,
    pub hypothesis: String,
    pub predicted: Vec<Flip>,
}

/// Files, or mechanisms to compose them from.
#[derive(Debug, Deserialize)]
struct RawFiles {
    policy: Option<String>,
    code: Option<String>,
    rationale: Option<String>,
    mechanisms: Option<Vec<MechanismUse>>,
}

#[derive(Debug, Deserialize)]
struct RawSubmission {
    parent: String,
    edit: String,
    hypothesis: String,
    predicted_flips: Vec<Flip>,
    #[serde(flatten)]
    files: RawFiles,
}

/// A bundle to try, without lineage.
pub(super) fn draft(arguments: &JsonMap, terms: &Terms<'_>) -> Result<Bundle, String> {
    let files: RawFiles = parse(arguments)?;
    let lineage = lineage(terms, Vec::new(), "draft".to_owned(), String::new());
    bundle(files, lineage, terms)
}

/// A bundle to try, from what must be a whole submission.
pub(super) fn whole_draft(arguments: &JsonMap, terms: &Terms<'_>) -> Result<Bundle, String> {
    let raw: RawSubmission = parse(arguments)?;
    let lineage = lineage(terms, Vec::new(), raw.edit, raw.hypothesis);
    bundle(raw.files, lineage, terms)
}

/// A submission that may be evaluated: checked, stage 0 included.
pub(super) async fn accepted(
    arguments: &JsonMap,
    terms: &Terms<'_>,
    sandbox: &Sandbox,
) -> Result<Submission, String> {
    let submission = submission(arguments, terms)?;
    let check = sandbox.check(&submission.bundle).await;
    if !check.passed() {
        let findings: Vec<String> = check.findings.iter().map(ToString::to_string).collect();
        let text = format!("it does not pass stage 0:\n{}", findings.join("\n"));
        return Err(cut(&text, FINDINGS));
    }
    Ok(submission)
}

/// A submission, checked but for what only running it can tell.
fn submission(arguments: &JsonMap, terms: &Terms<'_>) -> Result<Submission, String> {
    let raw: RawSubmission = parse(arguments)?;
    let parent = parent(&raw.parent, terms.members)?;
    let hypothesis = cut(raw.hypothesis.trim(), HYPOTHESIS);
    let line: Vec<&str> = raw.edit.split_whitespace().collect();
    if line.is_empty() || hypothesis.is_empty() {
        return Err("`edit` and `hypothesis` must say something".to_owned());
    }
    if raw.predicted_flips.len() > MOST_FLIPS {
        return Err(format!("at most {MOST_FLIPS} predicted flips"));
    }
    if let Some(flip) = raw.predicted_flips.iter().find(|flip| !(terms.is_train)(&flip.task)) {
        return Err(format!(
            "`predicted_flips` names {:?}, which is no train task",
            flip.task.as_str()
        ));
    }
    let edit = cut(&line.join(" "), EDIT);
    let lineage =
        lineage(terms, vec![parent], format!("{}: {edit}", terms.author), hypothesis.clone());
    let bundle = bundle(raw.files, lineage, terms)?;
    if terms.known.contains(&bundle.behaviour()) {
        return Err(
            "this bundle answers like one that is archived already: change what it does".to_owned()
        );
    }
    Ok(Submission { bundle, hypothesis, predicted: raw.predicted_flips })
}

fn parse<T: serde::de::DeserializeOwned>(arguments: &JsonMap) -> Result<T, String> {
    serde_json::from_value(Value::Object(arguments.clone())).map_err(|e| format!("arguments: {e}"))
}

fn parent(prefix: &str, members: &[Member]) -> Result<CandidateId, String> {
    let prefix = prefix.trim();
    let mut found = members.iter().filter(|m| m.id.as_str().starts_with(prefix));
    match (prefix.is_empty(), found.next(), found.next()) {
        (false, Some(member), None) => Ok(member.id.clone()),
        (false, Some(_), Some(_)) => Err(format!("`parent` {prefix:?} fits several candidates")),
        _ => Err(format!("`parent` {prefix:?} is no candidate of leaderboard.md")),
    }
}

fn lineage(
    terms: &Terms<'_>,
    parents: Vec<CandidateId>,
    edit: String,
    hypothesis: String,
) -> Lineage {
    Lineage {
        name: terms.name.clone(),
        parents,
        origin: Origin::Designer(terms.author.to_owned()),
        edit,
        hypothesis,
        limits: terms.limits.clone(),
    }
}

fn bundle(files: RawFiles, lineage: Lineage, terms: &Terms<'_>) -> Result<Bundle, String> {
    let said = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let (policy, code) = (said(files.policy), said(files.code));
    let uses = files.mechanisms.unwrap_or_default();
    let bundle = match (uses.is_empty(), policy.is_none() && code.is_none()) {
        (true, true) => {
            return Err("there is neither policy nor code nor a list of mechanisms".to_owned());
        }
        (false, false) => {
            return Err("give either `mechanisms` or `policy` and `code`, not both".to_owned());
        }
        (false, true) => composed(&uses, &lineage, terms)?,
        (true, false) => {
            if terms.action_level_only && code.is_none() {
                return Err(
                    "the victim is replayed: a policy without code changes nothing".to_owned()
                );
            }
            written(policy, code, files.rationale, lineage)
        }
    };
    // What cannot be read back must not be archived.
    evosafe_spec::bundle_from_files(&evosafe_spec::bundle_to_files(&bundle))
        .map_err(|e| e.to_string())
}

fn composed(uses: &[MechanismUse], lineage: &Lineage, terms: &Terms<'_>) -> Result<Bundle, String> {
    if uses.len() > MAX_MECHANISMS {
        return Err(format!("at most {MAX_MECHANISMS} mechanisms"));
    }
    let unmeasured = |used: &&MechanismUse| {
        let of = terms.library.iter().find(|m| m.name == used.name);
        terms.action_level_only && of.is_some_and(|m| !m.acts.measured_by_replay())
    };
    if let Some(used) = uses.iter().find(unmeasured) {
        return Err(format!(
            "the victim is replayed: {} acts through text alone and would never be measured",
            used.name
        ));
    }
    evosafe_spec::compose_uses(terms.library, uses, lineage).map_err(|e| e.to_string())
}

fn written(
    policy: Option<String>,
    code: Option<String>,
    rationale: Option<String>,
    lineage: Lineage,
) -> Bundle {
    let Lineage { name, parents, origin, edit, hypothesis, limits } = lineage;
    let body = rationale.filter(|text| !text.trim().is_empty()).unwrap_or_default();
    let rationale = format!("# {name}\n\n{hypothesis}\n\nEdit: {edit}\n\n{body}");
    let manifest = Manifest {
        abi: ABI_VERSION,
        language: Language::Javascript,
        name,
        parents,
        origin,
        edit,
        limits,
        mechanisms: Vec::new(),
    };
    evosafe_spec::build_bundle(policy, code, rationale.trim_end().to_owned() + "\n", manifest)
}

/// Mechanisms of the library in a table.
pub(super) fn index(library: &[Mechanism], action_level_only: bool) -> String {
    let mut text = String::from(
        "Mechanisms that can be composed. The source of each is beside this file.\n\n",
    );
    for m in library.iter().filter(|m| !action_level_only || m.acts.measured_by_replay()) {
        let params: BTreeMap<&str, &evosafe_types::ParamValue> =
            m.params.iter().map(|p| (p.name.as_str(), &p.default)).collect();
        let params = serde_json::to_string(&params).unwrap_or_default();
        text.push_str(&format!("- `{}`: {} Defaults: {params}\n", m.name, m.summary));
    }
    text
}
