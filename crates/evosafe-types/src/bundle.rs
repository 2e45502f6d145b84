//! Bundles: a harness as files (design section 4).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{CandidateId, ContentHash};

/// Version of the hook contract that a bundle is written for.
pub const ABI_VERSION: u32 = 1;

/// A harness *(P, C)* as files.
#[derive(Debug, Clone, PartialEq)]
pub struct Bundle {
    /// `POLICY.md`: *P*, appended to the system prompt by the host.
    pub policy: Option<String>,
    /// `harness.js`: *C*, the hooks, of a JavaScript bundle.
    pub code: Option<String>,
    /// `harness.wasm`: *C* of a bundle in another language. Absent in JavaScript bundles,
    /// where that file is derived and no part of the bundle.
    pub component: Option<Arc<[u8]>>,
    /// `RATIONALE.md`: hypothesis and litmus answers.
    pub rationale: String,
    /// `bundle.toml`.
    pub manifest: Manifest,
    /// `bundle.toml` exactly as written; part of the id.
    pub manifest_text: String,
}

/// `bundle.toml`.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    /// Hook contract version; see [`ABI_VERSION`].
    pub abi: u32,
    /// What the code is written in.
    pub language: Language,
    /// Short name for people, e.g. `no-defence`.
    pub name: String,
    /// Parent candidates; empty for seeds.
    pub parents: Vec<CandidateId>,
    /// Who wrote it.
    pub origin: Origin,
    /// The edit that made it, in one line; empty for seeds.
    pub edit: String,
    /// Sandbox limits.
    pub limits: HarnessLimits,
    /// Mechanisms it was composed from, in order; empty for hand-written code.
    pub mechanisms: Vec<MechanismUse>,
}

/// Language of a bundle's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// One JavaScript module, run in the shared provider.
    Javascript,
    /// A WebAssembly component, `harness.wasm`, made by whatever tool.
    Component,
}

/// Who wrote a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Warm start.
    Seed,
    /// A Designer, by name (`offline`, `random`, ...).
    Designer(String),
}

/// Limits of one hook call and of one trajectory. Exceeding one is a harness fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HarnessLimits {
    /// Instructions (wasmtime fuel) a hook call may use.
    pub fuel: u64,
    /// Linear memory of a trajectory, MiB.
    pub memory_mib: u32,
    /// Bytes a hook may return.
    pub output_bytes: u32,
    /// Classifier questions a trajectory may ask.
    pub classify_calls: u32,
}

impl Default for HarnessLimits {
    fn default() -> Self {
        Self { fuel: 1_000_000_000, memory_mib: 64, output_bytes: 1 << 20, classify_calls: 64 }
    }
}

/// A parameter value of a mechanism.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ParamValue {
    /// Switch.
    Bool(bool),
    /// Whole number.
    Int(i64),
    /// Real number; never NaN.
    Float(f64),
    /// One of a closed set, or free text.
    Text(String),
    /// List of texts.
    List(Vec<String>),
}

/// A mechanism as used in a bundle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MechanismUse {
    /// File name under `warmstart/mechanisms/`, without `.js`.
    pub name: String,
    /// Parameters that differ from the mechanism's defaults.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, ParamValue>,
}

impl Bundle {
    /// The candidate id: a hash of every file but the derived one.
    #[must_use]
    pub fn id(&self) -> CandidateId {
        let absent_or = |text: &Option<String>| match text {
            Some(text) => [b"+", text.as_bytes()].concat(),
            None => b"-".to_vec(),
        };
        let (policy, code) = (absent_or(&self.policy), absent_or(&self.code));
        let mut parts: Vec<&[u8]> =
            vec![&policy, &code, self.rationale.as_bytes(), self.manifest_text.as_bytes()];
        parts.extend(self.component.as_deref());
        CandidateId::of(&parts)
    }

    /// Hash of what decides behaviour alone: policy, code and limits. Two candidates
    /// with equal behaviour hashes answer alike, whatever their lineage says.
    #[must_use]
    pub fn behaviour(&self) -> ContentHash {
        let l = &self.manifest.limits;
        let limits = format!("{}/{}/{}/{}", l.fuel, l.memory_mib, l.output_bytes, l.classify_calls);
        let mut parts: Vec<&[u8]> = vec![
            self.policy.as_deref().unwrap_or("").as_bytes(),
            self.code.as_deref().unwrap_or("").as_bytes(),
            limits.as_bytes(),
        ];
        parts.extend(self.component.as_deref());
        ContentHash::of(&parts)
    }

    /// Bytes of policy and code: the size that breaks ties (design section 6).
    #[must_use]
    pub fn size(&self) -> usize {
        self.policy.as_ref().map_or(0, String::len)
            + self.code.as_ref().map_or(0, String::len)
            + self.component.as_ref().map_or(0, |wasm| wasm.len())
    }

    /// Whether this is the no-defence harness: neither policy nor code.
    #[must_use]
    pub fn is_no_defence(&self) -> bool {
        self.policy.is_none() && self.code.is_none() && self.component.is_none()
    }
}
