//! One trajectory: hooks in, decisions out, closed whenever something fails.

use std::sync::Arc;

use evosafe_types::{
    CallDecision, ClassifyRecord, HarnessFault, Hook, RunContext, TextDecision, ToolCall,
    ToolResult,
};

use crate::convert;
use crate::decide;
use crate::host::Classifier;
use crate::instance::{Instance, Located};
use crate::sandbox::HarnessInner;

// A component says the same of itself (`provider.js`), for hosts that are not this one.
/// What the victim is told when the harness failed on its call.
const CALL_CLOSED: &str = "the safety harness failed while checking this call";
/// What the victim is told when the harness failed on a result.
const RESULT_CLOSED: &str = "the result is withheld: the safety harness failed while checking it";
/// What the user is told when the harness failed on the answer.
const ANSWER_CLOSED: &str = "the answer is withheld: the safety harness failed while checking it";

/// A harness at work on one trajectory. Its hooks run one at a time.
pub struct Trajectory {
    harness: Arc<HarnessInner>,
    /// `None` for a harness without code: everything passes.
    instance: Option<Instance>,
    hidden: Vec<String>,
    offered: Vec<String>,
}

/// What a trajectory leaves behind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrajectoryLog {
    /// Classifier questions, in order.
    pub classify: Vec<ClassifyRecord>,
    /// Faults, in order.
    pub faults: Vec<HarnessFault>,
    /// What the harness logged, in order.
    pub log: Vec<String>,
}

impl Trajectory {
    pub(crate) async fn start(
        harness: Arc<HarnessInner>,
        ctx: &RunContext,
        classifier: Classifier,
    ) -> Self {
        let instance = match &harness.code {
            None => None,
            Some(code) => {
                let limits = &harness.limits;
                Some(Instance::start(&harness.shared, &code.program, limits, classifier).await)
            }
        };
        let offered = ctx.tools.iter().map(|tool| tool.name.clone()).collect();
        let mut trajectory = Self { harness, instance, hidden: Vec::new(), offered };
        trajectory.begin(ctx).await;
        trajectory
    }

    async fn begin(&mut self, ctx: &RunContext) {
        let Some(instance) = hooked(&self.harness, &mut self.instance, Hook::Begin) else { return };
        if instance.is_poisoned() {
            // Starting it failed, and that is on record as a fault of `begin`.
            return;
        }
        let Some(live) = instance.enter(Hook::Begin) else { return };
        let answer = live.guest.begin(&mut live.store, &convert::context(ctx)).await;
        let Some(names) = instance.leave(Hook::Begin, answer) else { return };
        let bytes = names.iter().map(String::len).sum();
        if let Err((kind, message)) = decide::within(instance.output_limit(), bytes) {
            instance.refuse(Hook::Begin, kind, message);
            return;
        }
        // A harness may name tools of other domains; only those on offer can be hidden.
        self.hidden = self.offered.iter().filter(|tool| names.contains(tool)).cloned().collect();
    }

    /// Tools that the victim must not be offered, in the order of the tool list.
    #[must_use]
    pub fn hidden_tools(&self) -> &[String] {
        &self.hidden
    }

    /// The system prompt to use in place of `prompt`: the policy appended, then the hook.
    pub async fn system_prompt(&mut self, prompt: &str) -> String {
        let prompt = match &self.harness.policy {
            Some(policy) if prompt.is_empty() => policy.clone(),
            Some(policy) => format!("{prompt}\n\n{policy}"),
            None => prompt.to_owned(),
        };
        let hook = Hook::SystemPrompt;
        let Some(instance) = hooked(&self.harness, &mut self.instance, hook) else { return prompt };
        let Some(live) = instance.enter(hook) else { return prompt };
        let answer = live.guest.system_prompt(&mut live.store, &prompt).await;
        let Some(changed) = instance.leave(hook, answer) else { return prompt };
        match decide::within(instance.output_limit(), changed.len()) {
            Ok(()) => changed,
            Err((kind, message)) => {
                instance.refuse(hook, kind, message);
                prompt
            }
        }
    }

    /// Tells the harness of a later user turn.
    pub async fn user_message(&mut self, text: &str) {
        let hook = Hook::UserMessage;
        let Some(instance) = hooked(&self.harness, &mut self.instance, hook) else { return };
        let Some(live) = instance.enter(hook) else { return };
        let answer = live.guest.user_message(&mut live.store, text).await;
        instance.leave(hook, answer);
    }

    /// Decides about a call that the victim proposes. A fault blocks it.
    pub async fn pre_tool_call(&mut self, call: &ToolCall) -> CallDecision {
        let hook = Hook::PreToolCall;
        let closed = || CallDecision::Block { reason: CALL_CLOSED.to_owned() };
        let Some(instance) = hooked(&self.harness, &mut self.instance, hook) else {
            return CallDecision::Allow;
        };
        let Some(live) = instance.enter(hook) else { return closed() };
        let given = convert::call(call);
        let answer = live.guest.pre_tool_call(&mut live.store, &given).await;
        let Some(decision) = instance.leave(hook, answer) else { return closed() };
        let limit = instance.output_limit();
        match decide::call_decision(decision, call, &self.offered, limit) {
            Ok(decision) => decision,
            Err((kind, message)) => {
                instance.refuse(hook, kind, message);
                closed()
            }
        }
    }

    /// Decides about the result of a call. A fault withholds it.
    pub async fn post_tool_call(&mut self, call: &ToolCall, result: &ToolResult) -> TextDecision {
        let hook = Hook::PostToolCall;
        let closed = || TextDecision::Block { reason: RESULT_CLOSED.to_owned() };
        let Some(instance) = hooked(&self.harness, &mut self.instance, hook) else {
            return TextDecision::Keep;
        };
        let Some(live) = instance.enter(hook) else { return closed() };
        let (call, result) = (convert::call(call), convert::result(result));
        let answer = live.guest.post_tool_call(&mut live.store, &call, &result).await;
        let Some(decision) = instance.leave(hook, answer) else { return closed() };
        text_answer(instance, hook, decide::text_decision(decision, instance.output_limit()))
            .unwrap_or_else(closed)
    }

    /// Decides about the final answer. A fault withholds it.
    pub async fn final_answer(&mut self, text: &str) -> TextDecision {
        let hook = Hook::FinalAnswer;
        let closed = || TextDecision::Block { reason: ANSWER_CLOSED.to_owned() };
        let Some(instance) = hooked(&self.harness, &mut self.instance, hook) else {
            return TextDecision::Keep;
        };
        let Some(live) = instance.enter(hook) else { return closed() };
        let answer = live.guest.final_answer(&mut live.store, text).await;
        let Some(decision) = instance.leave(hook, answer) else { return closed() };
        text_answer(instance, hook, decide::text_decision(decision, instance.output_limit()))
            .unwrap_or_else(closed)
    }

    /// What it has recorded until now.
    #[must_use]
    pub fn so_far(&self) -> TrajectoryLog {
        self.instance.as_ref().map(Instance::so_far).unwrap_or_default()
    }

    /// Ends the trajectory.
    #[must_use]
    pub fn finish(self) -> TrajectoryLog {
        let (log, _) = self.finish_located();
        log
    }

    /// Ends the trajectory; faults with their positions as well.
    pub(crate) fn finish_located(self) -> (TrajectoryLog, Vec<Located>) {
        let Some(instance) = self.instance else { return Default::default() };
        let (classify, located, log) = instance.finish();
        let faults = located.iter().map(|located| located.fault.clone()).collect();
        (TrajectoryLog { classify, faults, log }, located)
    }
}

/// The instance, if it has to be asked: an absent hook is the identity, unless the
/// instance is poisoned.
fn hooked<'i>(
    harness: &HarnessInner,
    instance: &'i mut Option<Instance>,
    hook: Hook,
) -> Option<&'i mut Instance> {
    let code = harness.code.as_ref()?;
    let instance = instance.as_mut()?;
    (instance.is_poisoned() || code.hooks.contains(&hook)).then_some(instance)
}

fn text_answer(
    instance: &mut Instance,
    hook: Hook,
    decision: Result<TextDecision, decide::Refused>,
) -> Option<TextDecision> {
    match decision {
        Ok(decision) => Some(decision),
        Err((kind, message)) => {
            instance.refuse(hook, kind, message);
            None
        }
    }
}
