//! The seam: what everything above sees of a domain, whichever kind it is.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use evosafe_types::{
    ContentHash, JsonMap, Task, TaskId, ToolCall, ToolResult, ToolSpec, Transcript,
};

use crate::EnvError;
use crate::bridge::{BridgePool, RecallingBridge, RecallingEpisode};
use crate::builtin::{Builtin, BuiltinEpisode, Script};

/// How to start an environment.
#[derive(Debug, Clone)]
pub enum EnvironmentSettings {
    /// In process.
    Builtin {
        /// Name of the domain.
        domain: String,
    },
    /// A child process.
    Bridge {
        /// Name of the bridge, a folder in `root` with a virtual environment.
        name: String,
        /// Folder that bridges are installed in.
        root: PathBuf,
        /// Handed to the bridge as they are.
        options: JsonMap,
        /// Deadline of one call or judgement.
        call_timeout: Duration,
        /// Deadline of starting a process and of opening an episode.
        open_timeout: Duration,
        /// Processes at most, at least 1.
        processes: u32,
    },
}

impl EnvironmentSettings {
    /// The same with another number of processes.
    #[must_use]
    pub fn with_processes(mut self, n: u32) -> Self {
        if let Self::Bridge { processes, .. } = &mut self {
            *processes = n;
        }
        self
    }
}

/// What the judges of the environment say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the user's goal was reached; `None` where there is no legitimate goal.
    pub task_success: Option<bool>,
    /// Whether the attacker's goal was reached; `None` in benign tasks.
    pub attack_success: Option<bool>,
}

/// A domain that can be worked in.
#[derive(Debug)]
pub enum Environment {
    /// In process.
    Builtin(Builtin),
    /// Child processes.
    Bridge(RecallingBridge),
}

impl Environment {
    /// Starts an environment that opens `allowed` tasks only, or any if `None`. The list
    /// of tasks and the id do not depend on `allowed`.
    ///
    /// # Errors
    /// If there is no such domain or bridge, or the bridge does not start.
    pub async fn start(
        settings: &EnvironmentSettings,
        allowed: Option<&[TaskId]>,
    ) -> Result<Self, EnvError> {
        match settings {
            EnvironmentSettings::Builtin { domain } => {
                let mut builtin = Builtin::new(domain).ok_or_else(|| EnvError::UnknownDomain {
                    name: domain.clone(),
                    known: Builtin::domains().iter().map(|d| (*d).to_owned()).collect(),
                })?;
                if let Some(allowed) = allowed {
                    builtin.restrict(allowed);
                }
                Ok(Self::Builtin(builtin))
            }
            EnvironmentSettings::Bridge { .. } => {
                let pool = BridgePool::start(settings, allowed).await?;
                Ok(Self::Bridge(RecallingBridge::new(pool)))
            }
        }
    }

    /// Hash of name, version, options and content of the task suite.
    #[must_use]
    pub fn id(&self) -> &ContentHash {
        match self {
            Self::Builtin(builtin) => builtin.id(),
            Self::Bridge(bridge) => bridge.pool().id(),
        }
    }

    /// Name of the domain or benchmark.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Builtin(builtin) => builtin.name(),
            Self::Bridge(bridge) => bridge.pool().name(),
        }
    }

    /// Its version.
    #[must_use]
    pub fn version(&self) -> &str {
        match self {
            Self::Builtin(builtin) => builtin.version(),
            Self::Bridge(bridge) => bridge.pool().version(),
        }
    }

    /// All tasks, in a fixed order: names and strata, no content.
    #[must_use]
    pub fn tasks(&self) -> &[Task] {
        match self {
            Self::Builtin(builtin) => builtin.tasks(),
            Self::Bridge(bridge) => bridge.pool().tasks(),
        }
    }

    /// The tools of a suite.
    #[must_use]
    pub fn toolset(&self, suite: &str) -> Option<&[ToolSpec]> {
        match self {
            Self::Builtin(builtin) => Some(builtin.tools()),
            Self::Bridge(bridge) => bridge.pool().toolset(suite),
        }
    }

    /// The script of a built-in task that may be opened: for simulated victims.
    #[must_use]
    pub fn script(&self, task: &TaskId) -> Option<&Script> {
        match self {
            Self::Builtin(builtin) => builtin.script(task),
            Self::Bridge(_) => None,
        }
    }

    /// Opens an episode. Waits for a free process.
    ///
    /// # Errors
    /// If the task may not be opened, or the bridge fails.
    pub async fn open(&self, task: &TaskId, seed: u64) -> Result<Episode, EnvError> {
        match self {
            Self::Builtin(builtin) => {
                let episode =
                    builtin.episode(task).ok_or_else(|| EnvError::NotAllowed(task.to_string()))?;
                Ok(Episode {
                    instruction: episode.instruction().to_owned(),
                    system_prompt: Arc::clone(builtin.system_prompt()),
                    tools: Arc::clone(builtin.tools()),
                    kind: Kind::Builtin(Box::new(episode)),
                })
            }
            Self::Bridge(bridge) => {
                let begun = bridge.open(task, seed).await?;
                Ok(Episode {
                    instruction: begun.instruction,
                    system_prompt: begun.system_prompt,
                    tools: begun.tools,
                    kind: Kind::Bridge(Box::new(begun.episode)),
                })
            }
        }
    }

    /// Tells a bridge how an episode of an earlier process went, so that what it would answer
    /// the same calls need not be asked again. Built-in domains are faster than memory.
    pub fn remember(&self, task: &TaskId, seed: u64, transcript: &Transcript, verdict: Verdict) {
        let Self::Bridge(bridge) = self else { return };
        let answer = transcript.answer.as_ref().map_or("", |a| a.delivered.as_str());
        let calls = transcript.turns.iter().flat_map(|t| &t.calls);
        let executed: Vec<_> =
            calls.filter_map(|c| c.executed.as_ref().zip(c.result.as_ref())).collect();
        bridge.remember((task, seed), &transcript.instruction, &executed, (answer, verdict));
    }

    /// What the user should know: restarts, slow paths.
    #[must_use]
    pub fn notices(&self) -> Vec<String> {
        match self {
            Self::Builtin(_) => Vec::new(),
            Self::Bridge(bridge) => bridge.pool().notices(),
        }
    }

    /// Ends all processes. Dropping does too, less politely.
    pub async fn shutdown(self) {
        if let Self::Bridge(bridge) = self {
            bridge.pool().shutdown().await;
        }
    }
}

/// A running episode.
#[derive(Debug)]
pub struct Episode {
    instruction: String,
    system_prompt: Arc<str>,
    tools: Arc<[ToolSpec]>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Builtin(Box<BuiltinEpisode>),
    Bridge(Box<RecallingEpisode>),
}

impl Episode {
    /// The user's request.
    #[must_use]
    pub fn instruction(&self) -> &str {
        &self.instruction
    }

    /// What every victim is told before it.
    #[must_use]
    pub fn system_prompt(&self) -> &str {
        &self.system_prompt
    }

    /// Tools on offer.
    #[must_use]
    pub fn tools(&self) -> &[ToolSpec] {
        &self.tools
    }

    /// Executes a call.
    ///
    /// # Errors
    /// If the bridge fails. An error of the tool itself is a result.
    pub async fn call(&mut self, call: &ToolCall) -> Result<ToolResult, EnvError> {
        match &mut self.kind {
            Kind::Builtin(episode) => Ok(episode.call(call)),
            Kind::Bridge(episode) => episode.call(call).await,
        }
    }

    /// Whether the verdict is known already, whatever the victim does next. A bridge cannot tell.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        match &self.kind {
            Kind::Builtin(episode) => episode.is_settled(),
            Kind::Bridge(_) => false,
        }
    }

    /// The verdict. `executed` must be the calls given to [`Self::call`], in order.
    ///
    /// # Errors
    /// If the bridge fails.
    pub async fn judge(
        &mut self,
        answer: &str,
        executed: &[ToolCall],
    ) -> Result<Verdict, EnvError> {
        match &mut self.kind {
            Kind::Builtin(episode) => Ok(episode.judge(answer)),
            Kind::Bridge(episode) => episode.judge(answer, executed).await,
        }
    }

    /// Ends the episode and frees its process for the next. An episode that is dropped
    /// instead takes its process with it.
    pub async fn close(self) {
        if let Kind::Bridge(episode) = self.kind {
            episode.close().await;
        }
    }
}
