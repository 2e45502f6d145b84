//! Components that are harnesses themselves: compiled, checked against the contract, cached.

use std::path::Path;

use evosafe_types::Hook;
use wasmtime::Engine;
use wasmtime::component::types::{Component as ComponentType, ComponentItem};
use wasmtime::component::{Component, HasSelf, Linker};

use crate::bindings::own::{Harness, HarnessPre};
use crate::cache;
use crate::error::{BuildError, Finding};
use crate::host::HostState;
use crate::surface::HOOKS;

/// File name of a component in a bundle.
pub const WASM_FILE: &str = "harness.wasm";

/// Interfaces of the contract that a component may import.
const IMPORTS: [&str; 2] = ["evosafe:harness/host", "evosafe:harness/types"];
const PACKAGE: &str = "evosafe:harness/";
/// Major version of the contract that this program runs.
const MAJOR: &str = "1";

/// The hooks' names in the contract.
pub fn contract_name(hook: Hook) -> &'static str {
    match hook {
        Hook::Begin => "begin",
        Hook::UserMessage => "on-user-message",
        Hook::SystemPrompt => "system-prompt-transform",
        Hook::PreToolCall => "on-pre-tool-call",
        Hook::PostToolCall => "on-post-tool-call",
        Hook::FinalAnswer => "on-final-answer",
    }
}

/// Compiles `wasm` and checks it against the contract; `reference` is a component that is
/// known to export it. Blocks: some seconds for megabytes, less where a cache has it.
///
/// # Errors
/// If it is no component, imports what the sandbox does not have, does not export the whole
/// contract, or is built for another version of it.
pub fn compile(
    engine: &Engine,
    cache_dir: Option<&Path>,
    reference: &Component,
    wasm: &[u8],
) -> Result<HarnessPre<HostState>, BuildError> {
    let component = match cache::component(engine, cache_dir, wasm) {
        Ok(component) => component,
        Err(error) => {
            let why = format!("is not a WebAssembly component this program can run: {error:#}");
            return Err(refused(vec![why]));
        }
    };
    let problems = problems(engine, &reference.component_type(), &component.component_type());
    if !problems.is_empty() {
        return Err(refused(problems));
    }
    let linked = || -> wasmtime::Result<HarnessPre<HostState>> {
        let mut linker = Linker::new(engine);
        Harness::add_to_linker::<HostState, HasSelf<HostState>>(&mut linker, |state| state)?;
        HarnessPre::new(linker.instantiate_pre(&component)?)
    };
    linked().map_err(|error| refused(vec![format!("does not fit the contract: {error:#}")]))
}

fn refused(messages: Vec<String>) -> BuildError {
    let findings = messages.into_iter().map(|m| Finding::in_file(WASM_FILE, m)).collect();
    BuildError { findings }
}

/// What a component imports or exports otherwise than the contract.
fn problems(engine: &Engine, contract: &ComponentType, given: &ComponentType) -> Vec<String> {
    let mut found = Vec::new();
    for (name, import) in given.imports(engine) {
        let (interface, version) = name.split_once('@').unwrap_or((name, ""));
        let ours = IMPORTS.contains(&interface);
        if interface.starts_with(PACKAGE) && version.split('.').next() != Some(MAJOR) {
            found.push(format!(
                "imports `{name}`: it is built for another version of the contract; this program \
                 runs {PACKAGE}* {MAJOR}.x"
            ));
        } else if !ours && !matches!(import.ty, ComponentItem::Type(_)) {
            found.push(format!(
                "imports `{name}`, which the sandbox does not have: a harness may import {} and \
                 nothing else",
                IMPORTS[0]
            ));
        }
    }
    let mut missing = Vec::new();
    for (hook, _) in HOOKS {
        let name = contract_name(hook);
        let signature = |of: &ComponentType| match of.get_export(engine, name)?.ty {
            ComponentItem::ComponentFunc(function) => Some(function),
            _ => None,
        };
        match (signature(contract), signature(given)) {
            (_, None) => missing.push(format!("`{name}`")),
            (Some(ours), Some(theirs)) => {
                let alike = ours.params().map(|(_, ty)| ty).eq(theirs.params().map(|(_, ty)| ty))
                    && ours.results().eq(theirs.results());
                if !alike {
                    found.push(format!("exports `{name}` with another type than the contract has"));
                }
            }
            (None, Some(_)) => {}
        }
    }
    if !missing.is_empty() {
        let list = missing.join(", ");
        found.push(format!("does not export {list}: a component exports every hook"));
    }
    found
}
