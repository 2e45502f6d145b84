//! One live instance with a candidate in it: accounts, faults, poison.

use std::sync::Arc;

use evosafe_types::{ClassifyRecord, HarnessFault, HarnessLimits, Hook};
use tokio::sync::OwnedSemaphorePermit;
use wasmtime::component::Instance as RawInstance;
use wasmtime::{Store, Trap};

use crate::bindings::Provider;
use crate::bindings::own::Harness;
use crate::engine::YIELD_FUEL;
use crate::error::{fault, kind};
use crate::guest::{Guest, Program, Script};
use crate::host::{Classifier, HostState, Noticed};
use crate::image::{Image, roomy};
use crate::sandbox::Shared;
use crate::source::{CODE_FILE, WRAPPER_LINES};
use crate::surface::hook_name;
use crate::trajectory::TrajectoryLog;

/// A fault and, where known, the line and column of `harness.js` behind it.
#[derive(Debug, Clone)]
pub struct Located {
    pub fault: HarnessFault,
    pub position: Option<(u32, u32)>,
}

/// The parts of a live instance that a hook call needs.
pub struct Live {
    pub store: Store<HostState>,
    pub guest: Guest,
    /// The guest, without names for what it exports.
    raw: RawInstance,
    _permit: OwnedSemaphorePermit,
}

/// An instance through its life: live, or gone after a trap.
pub struct Instance {
    live: Option<Live>,
    limits: HarnessLimits,
    /// A hook that keeps state failed, or the instance is gone: every answer is closed.
    poisoned: bool,
    /// A hook is running. Still set when the next one comes if its future was dropped.
    running: bool,
    /// A component of its own: `begin` makes its module ready too, and what it hands back is
    /// its own making.
    own: bool,
    faults: Vec<Located>,
    classify: Vec<ClassifyRecord>,
    log: Vec<String>,
}

impl Instance {
    /// Makes an instance ready. A failure is a fault of `begin`.
    pub async fn start(
        shared: &Shared,
        program: &Program,
        limits: &HarnessLimits,
        classifier: Classifier,
    ) -> Self {
        // Before the permit: what takes the image needs one itself.
        let image = match program {
            Program::Script(script) => {
                script.image.get_or_init(|| image(shared, script, limits)).await.as_ref()
            }
            Program::Component(_) => None,
        };
        let mut instance = Self::new(shared, program, limits, classifier).await;
        match (program, image) {
            (Program::Script(_), Some(image)) => instance.write(shared, image).await,
            (Program::Script(script), None) => instance.load(&script.source).await,
            (Program::Component(_), _) => {}
        }
        instance
    }

    /// Makes an instance with nothing loaded.
    async fn new(
        shared: &Shared,
        program: &Program,
        limits: &HarnessLimits,
        classifier: Classifier,
    ) -> Self {
        let mut instance = Self {
            live: None,
            limits: limits.clone(),
            poisoned: false,
            running: false,
            own: matches!(program, Program::Component(_)),
            faults: Vec::new(),
            classify: Vec::new(),
            log: Vec::new(),
        };
        let permit = Arc::clone(&shared.live).acquire_owned().await;
        let permit = permit.expect("the semaphore is never closed");
        let state = HostState::new(Arc::clone(&shared.patterns), classifier, limits.clone());
        let mut store = Store::new(&shared.engine, state);
        store.limiter(|state| state);
        let metered = store
            .set_fuel(limits.fuel)
            .and_then(|()| store.fuel_async_yield_interval(Some(YIELD_FUEL)));
        let made = match metered {
            Ok(()) => guest(&mut store, shared, program).await,
            Err(error) => Err(error),
        };
        match made {
            Ok((guest, raw)) => instance.live = Some(Live { store, guest, raw, _permit: permit }),
            Err(error) => {
                let noticed = store.into_data().take_noticed();
                instance.trapped(Hook::Begin, noticed, &error);
            }
        }
        instance
    }

    async fn load(&mut self, source: &str) {
        let Some(live) = self.enter(Hook::Begin) else { return };
        let Guest::Provider(provider) = &live.guest else { return };
        let loaded = provider.call_load(&mut live.store, source).await;
        if self.leave(Hook::Begin, loaded) == Some(false) {
            self.refuse(Hook::Begin, kind::TRAP, "the candidate was not loaded");
        }
    }

    /// Does what loading would, by an image of what it left elsewhere.
    async fn write(&mut self, shared: &Shared, image: &Image) {
        let Some(live) = self.enter(Hook::Begin) else { return };
        let written = shared.door.write(&mut live.store, &live.raw, image).await;
        self.leave(Hook::Begin, written);
    }

    /// Ends the instance and hands over its memory; `None` if that is not all that it has to show.
    async fn into_memory(mut self, shared: &Shared) -> Option<Vec<u8>> {
        let live = self.live.as_mut()?;
        let data = live.store.data();
        let silent = self.faults.is_empty() && data.classify.is_empty() && data.log.is_empty();
        match silent {
            true => shared.door.read(&mut live.store, &live.raw).await.ok(),
            false => None,
        }
    }

    /// Whether every answer is closed from here on.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }

    /// Bytes a hook may return.
    pub fn output_limit(&self) -> u32 {
        self.limits.output_bytes
    }

    /// Opens the accounts of a hook call; `None`, with a fault, if the instance is poisoned.
    pub fn enter(&mut self, hook: Hook) -> Option<&mut Live> {
        if std::mem::replace(&mut self.running, true) {
            self.poisoned = true;
        }
        // In the provider, evaluating the module has an account of its own.
        let accounts = if self.own && hook == Hook::Begin { 2 } else { 1 };
        let fuel = self.limits.fuel.saturating_mul(accounts);
        let ready = !self.poisoned
            && self.live.as_mut().is_some_and(|live| live.store.set_fuel(fuel).is_ok());
        if !ready {
            self.running = false;
            self.poisoned = true;
            let message = format!("{} was not run: an earlier fault", hook_name(hook));
            self.record(hook, kind::POISONED, message, None);
            return None;
        }
        let live = self.live.as_mut()?;
        live.store.data_mut().enter(fuel);
        Some(live)
    }

    /// Closes the accounts: the answer, unless anything went wrong.
    pub fn leave<T>(&mut self, hook: Hook, answer: wasmtime::Result<T>) -> Option<T> {
        self.running = false;
        let noticed = self.live.as_mut().and_then(|live| live.store.data_mut().take_noticed());
        match (answer, noticed) {
            (Ok(answer), None) => Some(answer),
            (Ok(_), Some(noticed)) => {
                self.noticed(hook, noticed);
                self.poison_if_stateful(hook);
                None
            }
            (Err(error), noticed) => {
                self.trapped(hook, noticed, &error);
                None
            }
        }
    }

    /// Records that the answer of `hook` does not count.
    pub fn refuse(&mut self, hook: Hook, kind: &str, message: impl Into<String>) {
        self.record(hook, kind, message.into(), None);
        self.poison_if_stateful(hook);
    }

    /// Its records until now.
    pub fn so_far(&self) -> TrajectoryLog {
        let (classify, log) = match &self.live {
            Some(live) => (&live.store.data().classify, &live.store.data().log),
            None => (&self.classify, &self.log),
        };
        let faults = self.faults.iter().map(|located| located.fault.clone()).collect();
        TrajectoryLog { classify: classify.clone(), faults, log: log.clone() }
    }

    /// Ends the instance and hands over its records.
    pub fn finish(mut self) -> (Vec<ClassifyRecord>, Vec<Located>, Vec<String>) {
        self.bury();
        (self.classify, self.faults, self.log)
    }

    fn record(&mut self, hook: Hook, kind: &str, message: String, position: Option<(u32, u32)>) {
        self.faults.push(Located { fault: fault(hook, kind, message), position });
    }

    /// These hooks tell the harness what it needs to judge calls by; having failed in
    /// one, nothing it says later can be trusted.
    fn poison_if_stateful(&mut self, hook: Hook) {
        if matches!(hook, Hook::Begin | Hook::SystemPrompt | Hook::UserMessage) {
            self.poisoned = true;
        }
    }

    fn noticed(&mut self, hook: Hook, noticed: Noticed) {
        let position = position_in_stack(&noticed.stack);
        let mut message = noticed.message;
        if let Some((line, column)) = position {
            message = format!("{message} ({CODE_FILE}:{line}:{column})");
        }
        self.record(hook, noticed.kind, message, position);
    }

    /// After a trap the instance cannot be entered again.
    fn trapped(&mut self, hook: Hook, noticed: Option<Noticed>, error: &wasmtime::Error) {
        match (noticed, error.downcast_ref::<Trap>()) {
            (Some(noticed), _) => self.noticed(hook, noticed),
            (None, Some(Trap::OutOfFuel)) => {
                let message = format!("used more than {} units of fuel", self.limits.fuel);
                self.record(hook, kind::FUEL, message, None);
            }
            // Which of the two comes first depends on the machine; what it means does not.
            (None, Some(Trap::StackOverflow | Trap::MemoryOutOfBounds)) => {
                let message = "the stack overflowed: recursion is too deep".to_owned();
                self.record(hook, kind::TRAP, message, None);
            }
            (None, Some(trap)) => self.record(hook, kind::TRAP, trap.to_string(), None),
            // It returned a text, list or case that is none.
            (None, None) if self.own => {
                let message = format!("the component broke the contract: {error:#}");
                self.record(hook, kind::MALFORMED, message, None);
            }
            // Only the host's own machinery fails without a trap.
            (None, None) => self.record(hook, kind::SANDBOX, error.to_string(), None),
        }
        self.poisoned = true;
        self.bury();
    }

    fn bury(&mut self) {
        if let Some(live) = self.live.take() {
            let data = live.store.into_data();
            self.classify = data.classify;
            self.log = data.log;
        }
    }
}

/// Instantiates a program.
async fn guest(
    store: &mut Store<HostState>,
    shared: &Shared,
    program: &Program,
) -> wasmtime::Result<(Guest, RawInstance)> {
    match program {
        Program::Script(_) => {
            let raw = shared.provider.instance_pre().instantiate_async(&mut *store).await?;
            Ok((Guest::Provider(Provider::new(store, &raw)?), raw))
        }
        Program::Component(own) => {
            let raw = own.instance_pre().instantiate_async(&mut *store).await?;
            Ok((Guest::Component(Harness::new(store, &raw)?), raw))
        }
    }
}

/// What loading a candidate leaves in memory; `None` if it fails, leaves something else too, or
/// leaves no room to look.
async fn image(shared: &Shared, script: &Script, limits: &HarnessLimits) -> Option<Image> {
    let program = Program::Script(Script::new(String::new()));
    let most = roomy();
    let new = |limits| Instance::new(shared, &program, limits, Classifier::Absent);
    let fresh = || async { new(&most).await.into_memory(shared).await };
    let fresh = shared.fresh.get_or_init(fresh).await.as_ref()?;
    let mut instance = new(limits).await;
    instance.load(&script.source).await;
    Some(Image::new(fresh, &instance.into_memory(shared).await?))
}

/// Line and column of `harness.js` in the innermost frame that is the candidate's.
fn position_in_stack(stack: &str) -> Option<(u32, u32)> {
    stack.lines().find_map(|frame| {
        let (_, at) = frame.split_once("<input>:")?;
        let mut numbers = at.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
        let line = numbers.next()?.ok()?.checked_sub(WRAPPER_LINES)?;
        let column = numbers.next()?.ok()?;
        (line > 0).then_some((line, column))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_frame_of_the_candidate_counts() {
        let stack = "    at normalise (componentize-qjs:user.js:9:1)\n    at check (<input>:4:7)\n    at <anonymous> (<input>:9:3)";
        assert_eq!(position_in_stack(stack), Some((3, 7)));
        assert_eq!(position_in_stack("    at <input>:1:3"), None);
        assert_eq!(position_in_stack(""), None);
    }
}
