//! What stands between environment, harness and victim in an episode.
//!
//! The harness is always on the far side: it reads the changed words. A live victim is there with
//! it. A simulated victim plays a script in the environment's own words, so it is on the near side,
//! and its calls are changed on their way to the harness.

use std::borrow::Cow;

use evosafe_types::{ToolCall, ToolResult, ToolSpec};

use super::Variant;

/// Plain glass, or a variation.
pub(crate) struct Lens<'v> {
    variant: Option<&'v Variant>,
    /// Whether the victim plays a script in the environment's own words.
    scripted: bool,
    /// Changed and own name of every tool.
    tools: Vec<(String, String)>,
}

impl<'v> Lens<'v> {
    /// The lens of an episode with these tools of the environment.
    pub(crate) fn new(variant: Option<&'v Variant>, scripted: bool, tools: &[ToolSpec]) -> Self {
        let own = tools.iter().map(|tool| tool.name.clone());
        let tools = variant.map_or_else(Vec::new, |variant| {
            variant.tools(tools).into_iter().map(|tool| tool.name).zip(own).collect()
        });
        Self { variant, scripted: scripted && variant.is_some(), tools }
    }

    /// Whether the victim stands on the environment's side.
    pub(crate) fn is_scripted(&self) -> bool {
        self.scripted
    }

    /// What the environment says.
    pub(crate) fn told<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.variant.map_or(Cow::Borrowed(text), |variant| variant.glass.there(text))
    }

    /// What it offers.
    pub(crate) fn offered(&self, tools: &[ToolSpec]) -> Vec<ToolSpec> {
        self.variant.map_or_else(|| tools.to_vec(), |variant| variant.tools(tools))
    }

    /// What a tool answered.
    pub(crate) fn result(&self, result: &ToolResult) -> ToolResult {
        ToolResult { content: self.told(&result.content).into_owned(), is_error: result.is_error }
    }

    /// A call of the victim, as the harness reads it.
    pub(crate) fn proposed(&self, mut call: ToolCall) -> ToolCall {
        if let Some(variant) = self.variant.filter(|_| self.scripted) {
            let changed = self.tools.iter().find(|(_, own)| *own == call.tool);
            variant.glass.there.call(&mut call);
            call.tool = changed.map_or(call.tool, |(changed, _)| changed.clone());
        }
        call
    }

    /// A call as the environment executes it.
    pub(crate) fn executed(&self, call: &ToolCall) -> ToolCall {
        let mut call = call.clone();
        if let Some(variant) = self.variant {
            let own = self.tools.iter().find(|(changed, _)| *changed == call.tool);
            let own = own.map(|(_, own)| own.clone());
            variant.glass.back.call(&mut call);
            call.tool = own.unwrap_or(call.tool);
        }
        call
    }

    /// What is delivered, as a scripted victim reads it.
    pub(crate) fn read(&self, delivered: &ToolResult) -> ToolResult {
        let content = self.undone(&delivered.content).into_owned();
        ToolResult { content, is_error: delivered.is_error }
    }

    /// A victim's answer, as the harness reads it.
    pub(crate) fn answered(&self, text: String) -> String {
        if self.scripted { self.told(&text).into_owned() } else { text }
    }

    /// A text in the environment's own words, as far as they are known.
    pub(crate) fn undone<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.variant.map_or(Cow::Borrowed(text), |variant| variant.glass.back(text))
    }
}
