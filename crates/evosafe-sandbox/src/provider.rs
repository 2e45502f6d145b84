//! From JavaScript to components, in process: the shared provider, and a component of one
//! candidate (design section 3).

use std::path::Path;

use componentize_qjs::{ComponentizeOpts, Runtime, componentize};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::cache;
use crate::error::SandboxError;
use crate::graft::graft;
use crate::surface::{WIT, candidate_source, provider_source};

/// The compiled provider: from `cache_dir` if a sound copy is there, else built (a few
/// seconds) and kept there. Blocks.
///
/// # Errors
/// When the build fails. A cache that cannot be read or written is not an error.
pub fn provider(engine: &Engine, cache_dir: Option<&Path>) -> Result<Component, SandboxError> {
    cache::provider(engine, cache_dir, || {
        let wasm = build("provider", &provider_source())?;
        graft(&wasm).map_err(SandboxError::Provider)
    })
}

/// A self-contained component of one candidate; `wrapped` is what the provider's `load`
/// would receive. Runs none of it: the module is parsed, and evaluated by each trajectory.
/// Blocks, a second or two. The bytes differ from build to build.
///
/// # Errors
/// When the build fails.
pub fn candidate(cache_dir: Option<&Path>, wrapped: &str) -> Result<Vec<u8>, SandboxError> {
    cache::built(cache_dir, wrapped, || build("harness", &candidate_source(wrapped)))
}

/// Builds a component of a world of the contract. On a thread of its own with a runtime of
/// its own, since the builder is async and the caller may be inside a runtime already.
fn build(world: &str, source: &str) -> Result<Vec<u8>, SandboxError> {
    let work = || -> Result<Vec<u8>, SandboxError> {
        let io = |what| move |source| SandboxError::Io { what, source };
        let dir = tempfile::tempdir().map_err(io("making a temporary folder"))?;
        for (name, text) in WIT {
            std::fs::write(dir.path().join(name), text).map_err(io("writing the WIT files"))?;
        }
        let options = ComponentizeOpts {
            wit_path: dir.path(),
            js_source: source,
            js_path: None,
            module_root: None,
            world_name: Some(world),
            stub_wasi: true,
            disable_gc: false,
            runtime: Runtime::builtin(true, false),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(io("starting a runtime"))?;
        runtime
            .block_on(componentize(&options))
            .map_err(|error| SandboxError::Provider(format!("{error:#}")))
    };
    std::thread::scope(|scope| scope.spawn(work).join())
        .unwrap_or_else(|_| Err(SandboxError::Provider("the builder panicked".to_owned())))
}
