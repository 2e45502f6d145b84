//! The sandbox and the harnesses prepared in it.

use std::path::PathBuf;
use std::sync::Arc;

use evosafe_types::{ABI_VERSION, Bundle, ContentHash, HarnessLimits, Hook, Language, RunContext};
use tokio::sync::{OnceCell, Semaphore};
use wasmtime::Engine;
use wasmtime::component::{Component, HasSelf, Linker};

use crate::bindings::{Provider, ProviderPre};
use crate::component::{WASM_FILE, compile};
use crate::engine::{LIVE_TRAJECTORIES, MAX_MEMORY_MIB, engine};
use crate::error::{BuildError, CompileError, Finding, SandboxError};
use crate::guest::{Program, Script};
use crate::host::{Classifier, HostState};
use crate::image::Door;
use crate::provider::{candidate, provider};
use crate::regex::Patterns;
use crate::source::{EMPTY, wrap};
use crate::surface::{HOOKS, version};
use crate::trajectory::Trajectory;

/// Least memory the provider runs in, MiB.
const MIN_MEMORY_MIB: u32 = 8;

/// How to set up a [`Sandbox`].
#[derive(Debug, Clone, Default)]
pub struct SandboxOptions {
    /// Folder that keeps what was compiled; `None` compiles each time.
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
    /// To the memory of the provider's instances.
    pub door: Door,
    /// Memory of a fresh instance, read when it is first needed; `None` if it cannot be.
    pub fresh: OnceCell<Option<Vec<u8>>>,
    /// The provider again, as an example of what exports the contract.
    pub reference: Component,
    pub cache_dir: Option<PathBuf>,
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
        let door = Door::of(&component)?;
        let live = Arc::new(Semaphore::new(LIVE_TRAJECTORIES as usize));
        let patterns = Arc::new(Patterns::default());
        let cache_dir = options.cache_dir.clone();
        let reference = component;
        let fresh = OnceCell::new();
        let shared = Shared { engine, provider, door, fresh, reference, cache_dir, patterns, live };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Hash of everything, the bundle apart, that decides what a hook call answers: the
    /// contract, provider, prelude and versions of the machinery. Builds nothing.
    #[must_use]
    pub fn version() -> ContentHash {
        version()
    }

    /// Makes a bundle ready to run: parses its code, finds its hooks, checks its limits.
    /// Runs nothing. Cheap for JavaScript; a component is compiled first, which blocks for up
    /// to some seconds where the cache does not have it.
    ///
    /// # Errors
    /// Everything found wrong, with line and column of JavaScript.
    pub fn prepare(&self, bundle: &Bundle) -> Result<Harness, BuildError> {
        let mut findings = manifest_findings(bundle);
        let code = match (bundle.manifest.language, &bundle.code, &bundle.component) {
            (Language::Javascript, None, _) => Ok(None),
            (Language::Javascript, Some(code), _) => wrap(code).map(|wrapped| {
                Some(Code {
                    hooks: wrapped.hooks,
                    program: Program::Script(Script::new(wrapped.source)),
                })
            }),
            (Language::Component, _, Some(wasm)) => self.component(wasm).map(Some),
            (Language::Component, _, None) => {
                let missing = Finding::in_file(WASM_FILE, "missing: it is the code");
                Err(BuildError { findings: vec![missing] })
            }
        };
        let code = code.unwrap_or_else(|error| {
            findings.extend(error.findings);
            None
        });
        self.harness(bundle, code, findings)
    }

    /// Makes a bundle ready to run by a component in place of its own code: the
    /// `harness.wasm` that [`Self::build`] made of it, perhaps on another machine. Blocks for
    /// some seconds where the cache does not have it compiled.
    ///
    /// # Errors
    /// Everything found wrong with the component or the manifest.
    pub fn prepare_component(&self, bundle: &Bundle, wasm: &[u8]) -> Result<Harness, BuildError> {
        let mut findings = manifest_findings(bundle);
        let code = self.component(wasm).map(Some).unwrap_or_else(|error| {
            findings.extend(error.findings);
            None
        });
        self.harness(bundle, code, findings)
    }

    /// The bundle's `harness.wasm`: a self-contained component that exports the contract,
    /// imports the contract's host functions alone, and answers as the bundle does in this
    /// sandbox. The policy stays the host's to add. Of a component bundle, its own component.
    /// Runs nothing of the candidate. Blocks for a second or two where the cache does not have
    /// it. The bytes differ from build to build.
    ///
    /// # Errors
    /// If the bundle cannot be run, or the machinery fails.
    pub fn build(&self, bundle: &Bundle) -> Result<Vec<u8>, CompileError> {
        self.prepare(bundle)?;
        if let Some(wasm) = &bundle.component {
            return Ok(wasm.to_vec());
        }
        let wrapped = match bundle.code.as_deref() {
            Some(code) => wrap(code)?.source,
            None => EMPTY.to_owned(),
        };
        Ok(candidate(self.shared.cache_dir.as_deref(), &wrapped)?)
    }

    fn component(&self, wasm: &[u8]) -> Result<Code, BuildError> {
        let Shared { engine, reference, cache_dir, .. } = &*self.shared;
        let component = compile(engine, cache_dir.as_deref(), reference, wasm)?;
        // What it does with each hook is its own affair.
        let hooks = HOOKS.map(|(hook, _)| hook).to_vec();
        Ok(Code { hooks, program: Program::Component(component) })
    }

    fn harness(
        &self,
        bundle: &Bundle,
        code: Option<Code>,
        findings: Vec<Finding>,
    ) -> Result<Harness, BuildError> {
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

/// Code ready to run.
pub struct Code {
    /// Hooks to call; the others are the identity.
    pub hooks: Vec<Hook>,
    pub program: Program,
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
