//! The shared JavaScript provider: built in process, compiled, kept on disk.

use std::path::Path;

use componentize_qjs::{ComponentizeOpts, Runtime, componentize};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::cache;
use crate::error::SandboxError;
use crate::surface::{WIT, provider_source};

/// The compiled provider: from `cache_dir` if a sound copy is there, else built (a few
/// seconds) and kept there. Blocks.
///
/// # Errors
/// When the build fails. A cache that cannot be read or written is not an error.
pub fn provider(engine: &Engine, cache_dir: Option<&Path>) -> Result<Component, SandboxError> {
    let file = cache_dir.map(|dir| dir.join(cache::file_name(engine)));
    if let Some(component) = file.as_deref().and_then(|file| cache::read(engine, file)) {
        return Ok(component);
    }
    let wasm = build()?;
    let component = Component::new(engine, wasm)
        .map_err(|error| SandboxError::Provider(format!("compiling: {error:#}")))?;
    if let Some(file) = file {
        match component.serialize() {
            Ok(artifact) => cache::write(&file, &artifact),
            Err(error) => tracing::warn!(%error, "the compiled provider cannot be serialised"),
        }
    }
    Ok(component)
}

/// Builds the component. On a thread of its own with a runtime of its own, since the
/// builder is async and the caller may be inside a runtime already.
fn build() -> Result<Vec<u8>, SandboxError> {
    let work = || -> Result<Vec<u8>, SandboxError> {
        let io = |what| move |source| SandboxError::Io { what, source };
        let dir = tempfile::tempdir().map_err(io("making a temporary folder"))?;
        for (name, text) in WIT {
            std::fs::write(dir.path().join(name), text).map_err(io("writing the WIT files"))?;
        }
        let source = provider_source();
        let options = ComponentizeOpts {
            wit_path: dir.path(),
            js_source: &source,
            js_path: None,
            module_root: None,
            world_name: Some("provider"),
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
