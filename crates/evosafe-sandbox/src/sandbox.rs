//! The sandbox and the harnesses prepared in it.

use std::path::PathBuf;
use std::sync::Arc;

use evosafe_types::{ABI_VERSION, Bundle, ContentHash, HarnessLimits, Hook, RunContext};
use tokio::sync::Semaphore;
use wasmtime::Engine;
use wasmtime::component::{HasSelf, Linker};

use crate::bindings::{Provider, ProviderPre};
use crate::engine::{LIVE_TRAJECTORIES, MAX_MEMORY_MIB, engine};
use crate::error::{BuildError, Finding, SandboxError};
use crate::host::{Classifier, HostState};
use crate::provider::provider;
use crate::regex::Patterns;
use crate::source::wrap;
use crate::surface::version;
use crate::trajectory::Trajectory;

/// Least memory the provider runs in, MiB.
const MIN_MEMORY_MIB: u32 = 8;

/// How to set up a [`Sandbox`].
#[derive(Debug, Clone, Default)]
pub struct SandboxOptions {
    /// Folder that keeps the compiled provider; `None` builds it each time.
    pub cache_dir: Option<PathBuf>,
}

/// Runs harnesses. Cheap to clone.
#[derive(Clone)]
pub struct Sandbox {
    shared: Arc<Shared>,
}

/// What all harnesses of a sandbox share.
pub struct Shared {
    pub engine: Engine,
    pub provider: ProviderPre<HostState>,
    pub patterns: Arc<Patterns>,
    /// One permit a live trajectory.
    pub live: Arc<Semaphore>,
}

impl Sandbox {
    /// Makes a sandbox. Blocks: milliseconds when the compiled provider is cached, some
    /// seconds when it must be built.
    ///
    /// # Errors
    /// When the engine or the provider cannot be made. A cache that cannot be read or
    /// written is no error.
    pub fn new(options: &SandboxOptions) -> Result<Self, SandboxError> {
        let engine = engine()?;
        let component = provider(&engine, options.cache_dir.as_deref())?;
        let linked = || -> wasmtime::Result<ProviderPre<HostState>> {
            let mut linker = Linker::new(&engine);
            Provider::add_to_linker::<HostState, HasSelf<HostState>>(&mut linker, |state| state)?;
            ProviderPre::new(linker.instantiate_pre(&component)?)
        };
        let provider = linked().map_err(|error| SandboxError::Provider(format!("{error:#}")))?;
        let live = Arc::new(Semaphore::new(LIVE_TRAJECTORIES as usize));
        let patterns = Arc::new(Patterns::default());
        Ok(Self { shared: Arc::new(Shared { engine, provider, patterns, live }) })
    }

    /// Hash of everything, the bundle apart, that decides what a hook call answers: the
    /// contract, provider, prelude and versions of the machinery. Builds nothing.
    #[must_use]
    pub fn version() -> ContentHash {
        version()
    }

    /// Makes a bundle ready to run: parses its code, finds its hooks, checks its limits.
    /// Cheap; runs nothing.
    ///
    /// # Errors
    /// Everything found wrong, with line and column.
    pub fn prepare(&self, bundle: &Bundle) -> Result<Harness, BuildError> {
        let mut findings = manifest_findings(bundle);
        let code = match bundle.code.as_deref().map(wrap) {
            None => None,
            Some(Ok(wrapped)) => Some(Code { source: wrapped.source, hooks: wrapped.hooks }),
            Some(Err(error)) => {
                findings.extend(error.findings);
                None
            }
        };
        if !findings.is_empty() {
            return Err(BuildError { findings });
        }
        Ok(Harness {
            inner: Arc::new(HarnessInner {
                policy: bundle.policy.clone(),
                code,
                limits: bundle.manifest.limits.clone(),
                shared: Arc::clone(&self.shared),
            }),
        })
    }
}

fn manifest_findings(bundle: &Bundle) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut say = |message: String| findings.push(Finding::in_file("bundle.toml", message));
    let manifest = &bundle.manifest;
    if manifest.abi != ABI_VERSION {
        say(format!("abi = {}: this program runs abi {ABI_VERSION}", manifest.abi));
    }
    let limits = &manifest.limits;
    if limits.fuel == 0 {
        say("limits.fuel = 0: no hook could run".to_owned());
    }
    if !(MIN_MEMORY_MIB..=MAX_MEMORY_MIB).contains(&limits.memory_mib) {
        let given = limits.memory_mib;
        say(format!("limits.memory_mib = {given}: from {MIN_MEMORY_MIB} to {MAX_MEMORY_MIB}"));
    }
    findings
}

/// A bundle ready to run. Cheap to clone.
#[derive(Clone)]
pub struct Harness {
    pub(crate) inner: Arc<HarnessInner>,
}

/// What a harness is made of.
pub struct HarnessInner {
    pub policy: Option<String>,
    pub code: Option<Code>,
    pub limits: HarnessLimits,
    pub shared: Arc<Shared>,
}

/// Code ready to load.
pub struct Code {
    pub source: String,
    pub hooks: Vec<Hook>,
}

impl Harness {
    /// Starts a trajectory: a fresh instance, the code loaded, `begin` called. A harness
    /// that fails here is poisoned: it blocks every call.
    pub async fn start(&self, ctx: &RunContext, classifier: Classifier) -> Trajectory {
        Trajectory::start(Arc::clone(&self.inner), ctx, classifier).await
    }

    /// The policy text, if the bundle has one.
    #[must_use]
    pub fn policy(&self) -> Option<&str> {
        self.inner.policy.as_deref()
    }

    /// Hooks the code exports, in the order of the contract.
    #[must_use]
    pub fn hooks(&self) -> &[Hook] {
        self.inner.code.as_ref().map_or(&[], |code| &code.hooks)
    }
}
