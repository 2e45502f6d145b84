//! The two kinds of component that answer hooks: the shared provider with a candidate
//! loaded, and a component of its own.

use tokio::sync::OnceCell;
use wasmtime::Store;

use crate::bindings::own::{Harness, HarnessPre};
use crate::bindings::{Provider, types as wit};
use crate::host::HostState;
use crate::image::Image;

/// What a harness runs.
pub enum Program {
    /// A module for the shared provider.
    Script(Script),
    /// A component that exports the contract.
    Component(HarnessPre<HostState>),
}

/// A module for the shared provider.
pub struct Script {
    /// What the provider's `load` receives.
    pub source: String,
    /// What loading it leaves in memory; `None` if it must be loaded each time. Made by the
    /// first trajectory.
    pub image: OnceCell<Option<Image>>,
}

impl Script {
    /// A module that was not loaded yet.
    pub fn new(source: String) -> Self {
        Self { source, image: OnceCell::new() }
    }
}

/// An instance of either kind.
pub enum Guest {
    Provider(Provider),
    Component(Harness),
}

type Answer<T> = wasmtime::Result<T>;

/// One method for both kinds.
macro_rules! hook {
    ($name:ident, $call:ident, ($($arg:ident: $ty:ty),*) -> $answer:ty) => {
        pub async fn $name(
            &self,
            store: &mut Store<HostState>,
            $($arg: $ty),*
        ) -> Answer<$answer> {
            match self {
                Self::Provider(guest) => guest.$call(store, $($arg),*).await,
                Self::Component(guest) => guest.$call(store, $($arg),*).await,
            }
        }
    };
}

impl Guest {
    hook!(begin, call_begin, (ctx: &wit::RunContext) -> Vec<String>);
    hook!(user_message, call_on_user_message, (text: &str) -> ());
    hook!(system_prompt, call_system_prompt_transform, (prompt: &str) -> String);
    hook!(pre_tool_call, call_on_pre_tool_call, (call: &wit::ToolCall) -> wit::CallDecision);
    hook!(
        post_tool_call,
        call_on_post_tool_call,
        (call: &wit::ToolCall, result: &wit::ToolResult) -> wit::TextDecision
    );
    hook!(final_answer, call_on_final_answer, (text: &str) -> wit::TextDecision);
}
