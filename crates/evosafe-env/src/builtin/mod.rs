//! Built-in domains: Rust, in process, deterministic. A domain is a world with tools,
//! a table of seeded task templates and judges on the state of the world.

#[cfg(test)]
mod battery_tests;
mod carry;
mod case;
mod draw;
mod finance;
mod os_filesystem;
mod script;
#[cfg(test)]
mod settled_tests;
mod telecom;
mod templates;
mod tooling;

use std::collections::BTreeMap;
use std::sync::Arc;

use evosafe_types::{ContentHash, Task, TaskId, ToolCall, ToolResult, ToolSpec};
use serde::Serialize;

use crate::Verdict;

pub use script::{Expr, Injection, Knowledge, Script, Step};

/// A task with all that belongs to it.
#[derive(Debug, Serialize)]
pub(crate) struct Definition {
    task: Task,
    instruction: String,
    script: Script,
    stage: Stage,
}

/// The world of a task, by domain.
#[derive(Debug, Clone, Serialize)]
pub(crate) enum Stage {
    /// See [`finance`].
    Finance(Box<finance::Stage>),
    /// See [`os_filesystem`].
    OsFilesystem(Box<os_filesystem::Stage>),
    /// See [`telecom`].
    Telecom(Box<telecom::Stage>),
}

/// What a domain brings.
struct Source {
    name: &'static str,
    version: &'static str,
    system_prompt: &'static str,
    tools: fn() -> Vec<ToolSpec>,
    definitions: fn() -> Vec<Definition>,
}

/// The domains there are.
const SOURCES: &[Source] = &[
    Source {
        name: "finance",
        version: finance::VERSION,
        system_prompt: finance::SYSTEM_PROMPT,
        tools: finance::tool_specs,
        definitions: finance::definitions,
    },
    Source {
        name: "os-filesystem",
        version: os_filesystem::VERSION,
        system_prompt: os_filesystem::SYSTEM_PROMPT,
        tools: os_filesystem::tool_specs,
        definitions: os_filesystem::definitions,
    },
    Source {
        name: "telecom",
        version: telecom::VERSION,
        system_prompt: telecom::SYSTEM_PROMPT,
        tools: telecom::tool_specs,
        definitions: telecom::definitions,
    },
];

/// A built-in domain with its task suite.
#[derive(Debug)]
pub struct Builtin {
    name: &'static str,
    version: &'static str,
    system_prompt: Arc<str>,
    tools: Arc<[ToolSpec]>,
    tasks: Vec<Task>,
    open: BTreeMap<TaskId, Arc<Definition>>,
    id: ContentHash,
}

impl Builtin {
    /// Names of the domains there are.
    #[must_use]
    pub fn domains() -> Vec<&'static str> {
        SOURCES.iter().map(|source| source.name).collect()
    }

    /// The domain of that name, or `None`. The task suite is generated afresh; it is
    /// the same every time.
    #[must_use]
    pub fn new(domain: &str) -> Option<Self> {
        let source = SOURCES.iter().find(|source| source.name == domain)?;
        let definitions = (source.definitions)();
        let tools = (source.tools)();
        // Serialization of plain data cannot fail; an empty text would only weaken the id.
        let suite = serde_json::to_vec(&definitions).unwrap_or_default();
        let tool_text = serde_json::to_vec(&tools).unwrap_or_default();
        let id = ContentHash::of(&[
            b"builtin",
            domain.as_bytes(),
            source.version.as_bytes(),
            source.system_prompt.as_bytes(),
            &tool_text,
            &suite,
        ]);
        Some(Self {
            name: source.name,
            version: source.version,
            system_prompt: source.system_prompt.into(),
            tools: tools.into(),
            tasks: definitions.iter().map(|d| d.task.clone()).collect(),
            open: definitions.into_iter().map(|d| (d.task.id.clone(), Arc::new(d))).collect(),
            id,
        })
    }

    /// Forgets every task that is not listed: what a search is given holds no held-out
    /// task that it could open. The list of [`Self::tasks`] and the id stay as they are.
    pub fn restrict(&mut self, allowed: &[TaskId]) {
        self.open.retain(|id, _| allowed.contains(id));
    }

    /// Name of the domain.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name
    }

    /// Version of the domain.
    #[must_use]
    pub fn version(&self) -> &str {
        self.version
    }

    /// Hash of name, version, tools and task suite, the same whatever is allowed.
    #[must_use]
    pub fn id(&self) -> &ContentHash {
        &self.id
    }

    /// All tasks of both sides, in a fixed order.
    #[must_use]
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// The tools.
    #[must_use]
    pub fn tools(&self) -> &Arc<[ToolSpec]> {
        &self.tools
    }

    /// What every victim is told before the request.
    #[must_use]
    pub fn system_prompt(&self) -> &Arc<str> {
        &self.system_prompt
    }

    /// The script of a task that may be opened: for simulated victims and tests only.
    #[must_use]
    pub fn script(&self, task: &TaskId) -> Option<&Script> {
        self.open.get(task).map(|definition| &definition.script)
    }

    /// Opens an episode; `None` if there is no such task, or it is not allowed.
    #[must_use]
    pub fn episode(&self, task: &TaskId) -> Option<BuiltinEpisode> {
        let definition = Arc::clone(self.open.get(task)?);
        let stage = definition.stage.clone();
        Some(BuiltinEpisode { definition, stage })
    }
}

/// A running episode: a copy of the task's world.
#[derive(Debug, Clone)]
pub struct BuiltinEpisode {
    definition: Arc<Definition>,
    stage: Stage,
}

impl BuiltinEpisode {
    /// The user's request.
    #[must_use]
    pub fn instruction(&self) -> &str {
        &self.definition.instruction
    }

    /// Executes a call. Bad arguments are an error result, never a failure.
    pub fn call(&mut self, call: &ToolCall) -> ToolResult {
        match &mut self.stage {
            Stage::Finance(stage) => stage.call(call),
            Stage::OsFilesystem(stage) => stage.call(call),
            Stage::Telecom(stage) => stage.call(call),
        }
    }

    /// Whether the verdict is known already, whatever follows.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        match &self.stage {
            Stage::Finance(stage) => stage.is_settled(),
            Stage::OsFilesystem(stage) => stage.is_settled(),
            Stage::Telecom(stage) => stage.is_settled(),
        }
    }

    /// The verdict on the world as it is now, and on the values in the answer.
    #[must_use]
    pub fn judge(&self, answer: &str) -> Verdict {
        match &self.stage {
            Stage::Finance(stage) => Verdict {
                task_success: stage.task_success(answer),
                attack_success: stage.attack_success(answer),
            },
            Stage::OsFilesystem(stage) => Verdict {
                task_success: stage.task_success(answer),
                attack_success: stage.attack_success(answer),
            },
            Stage::Telecom(stage) => Verdict {
                task_success: stage.task_success(answer),
                attack_success: stage.attack_success(answer),
            },
        }
    }
}
