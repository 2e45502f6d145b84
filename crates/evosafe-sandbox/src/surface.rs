//! The JavaScript surface: what a candidate may name, and the sources that make it so.

use std::sync::OnceLock;

use evosafe_types::{ContentHash, Hook};

use crate::source::top_level_names;

/// Hooks and their JavaScript names, in the order of the contract.
pub const HOOKS: [(Hook, &str); 6] = [
    (Hook::Begin, "begin"),
    (Hook::UserMessage, "onUserMessage"),
    (Hook::SystemPrompt, "systemPromptTransform"),
    (Hook::PreToolCall, "onPreToolCall"),
    (Hook::PostToolCall, "onPostToolCall"),
    (Hook::FinalAnswer, "onFinalAnswer"),
];

/// The JavaScript name of a hook.
pub fn hook_name(hook: Hook) -> &'static str {
    HOOKS.iter().find(|(h, _)| *h == hook).map_or("", |(_, name)| name)
}

/// Standard globals that candidates may use. Everything else is removed.
pub const GLOBALS: &[&str] = &[
    "AggregateError",
    "Array",
    "ArrayBuffer",
    "BigInt",
    "BigInt64Array",
    "BigUint64Array",
    "Boolean",
    "DataView",
    "Date",
    "Error",
    "EvalError",
    "Float16Array",
    "Float32Array",
    "Float64Array",
    "Infinity",
    "Int16Array",
    "Int32Array",
    "Int8Array",
    "InternalError",
    "Iterator",
    "JSON",
    "Map",
    "Math",
    "NaN",
    "Number",
    "Object",
    "Proxy",
    "RangeError",
    "ReferenceError",
    "Reflect",
    "RegExp",
    "Set",
    "String",
    "Symbol",
    "SyntaxError",
    "TypeError",
    "URIError",
    "Uint16Array",
    "Uint32Array",
    "Uint8Array",
    "Uint8ClampedArray",
    "WeakMap",
    "WeakSet",
    "decodeURI",
    "decodeURIComponent",
    "encodeURI",
    "encodeURIComponent",
    "escape",
    "globalThis",
    "isFinite",
    "isNaN",
    "parseFloat",
    "parseInt",
    "undefined",
    "unescape",
];

/// Functions of `provider.js` that candidates may call.
pub const HOST_FUNCTIONS: [&str; 3] = ["classify", "log", "regexFindAll"];

const PROVIDER: &str =
    concat!(include_str!("../js/provider.js"), "\n", include_str!("../js/provider_hooks.js"));
/// The line of the provider that a component of one candidate has otherwise.
const DIAGNOSTICS: &str = "import diagnostics from \"evosafe:harness/diagnostics@1.0.0\";";
/// Faults as lines of the log: the contract has no other way to tell.
const DIAGNOSTICS_BY_LOG: &str = "const diagnostics = { fault: (kind, message, stack) => \
     host.log(FAULT_LINE + JSON.stringify({ kind, message, stack })) };";
/// Begins a log line that reports a fault: JSON with `kind`, `message` and `stack` follows.
/// A test compares with `provider.js`.
pub const FAULT_LINE: &str = "evosafe:fault ";
const PRELUDE: &str = concat!(
    include_str!("../js/prelude.js"),
    "\n",
    include_str!("../js/prelude_structure.js"),
    "\n",
    include_str!("../js/prelude_effects.js"),
    "\n",
    include_str!("../js/prelude_session.js"),
);
/// TypeScript declarations of all that a JavaScript harness can use. Checked against the
/// contract, the prelude and the globals by tests.
pub const DECLARATIONS: &str = include_str!("../js/evosafe.d.ts");

/// The contract, as files of one WIT package.
pub const WIT: [(&str, &str); 2] = [
    ("harness.wit", include_str!("../wit/harness.wit")),
    ("provider.wit", include_str!("../wit/provider.wit")),
];

/// Pinned in the workspace manifest; a test compares with `Cargo.lock`.
pub const WASMTIME_VERSION: &str = "47.0.4";
/// Pinned in the workspace manifest; a test compares with `Cargo.lock`.
pub const COMPONENTIZE_VERSION: &str = "0.4.5";
/// Raised when the Rust side of the sandbox changes what a hook call answers.
const RUNTIME_REVISION: &str = "3";

/// Top-level names of `prelude.js`.
pub fn prelude_names() -> &'static [String] {
    static NAMES: OnceLock<Vec<String>> = OnceLock::new();
    NAMES.get_or_init(|| top_level_names(PRELUDE))
}

/// Whether candidate code may refer to a global of this name.
pub fn is_global(name: &str) -> bool {
    GLOBALS.contains(&name)
        || HOST_FUNCTIONS.contains(&name)
        || prelude_names().iter().any(|n| n == name)
}

/// The module that becomes the provider component.
pub fn provider_source() -> String {
    module_source(PROVIDER, "null")
}

/// The module that becomes the component of one candidate; `wrapped` is what the shared
/// provider's `load` would receive.
pub fn candidate_source(wrapped: &str) -> String {
    let text = serde_json::to_string(wrapped).expect("a string is JSON");
    module_source(&PROVIDER.replacen(DIAGNOSTICS, DIAGNOSTICS_BY_LOG, 1), &text)
}

/// Both kinds have every line in the same place, so that stack traces are alike.
fn module_source(provider: &str, candidate: &str) -> String {
    let globals = serde_json::to_string(GLOBALS).expect("a list of strings is JSON");
    let names = prelude_names().join(", ");
    format!(
        "const GLOBALS = {globals}; const CANDIDATE = {candidate};\nfunction prelude() {{\n{PRELUDE}\nreturn {{ {names} }};\n}}\n{provider}"
    )
}

/// Hash of everything that decides how a hook call is answered, apart from the bundle.
pub fn version() -> ContentHash {
    static VERSION: OnceLock<ContentHash> = OnceLock::new();
    VERSION
        .get_or_init(|| {
            let source = provider_source();
            let mut parts: Vec<&[u8]> = vec![
                RUNTIME_REVISION.as_bytes(),
                WASMTIME_VERSION.as_bytes(),
                COMPONENTIZE_VERSION.as_bytes(),
                source.as_bytes(),
            ];
            for (_, text) in &WIT {
                parts.push(text.as_bytes());
            }
            ContentHash::of(&parts)
        })
        .clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_versions_in_the_key_are_those_in_the_lock_file() {
        let lock = include_str!("../../../Cargo.lock");
        for (name, version) in
            [("wasmtime", WASMTIME_VERSION), ("componentize-qjs", COMPONENTIZE_VERSION)]
        {
            let entry = format!("name = \"{name}\"\nversion = \"{version}\"");
            assert!(lock.contains(&entry), "{name} {version} is not what Cargo.lock holds");
        }
    }

    #[test]
    fn both_kinds_of_component_are_one_source() {
        assert_eq!(PROVIDER.matches(DIAGNOSTICS).count(), 1);
        assert!(PROVIDER.contains(&format!("const FAULT_LINE = {FAULT_LINE:?};")));
        let (shared, own) = (provider_source(), candidate_source("x"));
        let differing: Vec<usize> = shared
            .lines()
            .zip(own.lines())
            .enumerate()
            .filter(|(_, (a, b))| a != b)
            .map(|(line, _)| line)
            .collect();
        assert_eq!(shared.lines().count(), own.lines().count());
        assert_eq!(differing.len(), 2, "the candidate and the diagnostics: {differing:?}");
    }

    #[test]
    fn the_prelude_has_the_decision_builders() {
        for name in ["allow", "rewrite", "redirect", "block", "keep", "replace"] {
            assert!(is_global(name), "{name}");
        }
    }
}

#[cfg(test)]
#[path = "declarations_tests.rs"]
mod declarations;
