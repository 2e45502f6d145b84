//! The pool: processes are started as they are needed, lent to one episode at a time,
//! and replaced when they fail.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use evosafe_types::{ContentHash, JsonMap, Task, TaskId, ToolSpec};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::bridge::episode::BridgeEpisode;
use crate::bridge::process::Process;
use crate::bridge::wire::{Description, Opened, PROTOCOL, Tasks};
use crate::{EnvError, EnvironmentSettings, setup};

/// Processes that speak for one benchmark.
#[derive(Debug)]
pub struct BridgePool {
    pub(super) shared: Arc<Shared>,
    id: ContentHash,
    name: String,
    version: String,
    tasks: Vec<Task>,
    suites: BTreeMap<String, Suite>,
}

/// What the tasks of a suite share.
#[derive(Debug)]
pub(super) struct Suite {
    pub system_prompt: Arc<str>,
    pub tools: Arc<[ToolSpec]>,
}

/// What a new process needs, and the idle ones.
#[derive(Debug)]
pub(super) struct Shared {
    name: String,
    python: PathBuf,
    script: PathBuf,
    /// The folder of the script, removed with the pool.
    _scripts: Option<TempDir>,
    options: JsonMap,
    allowed: Value,
    pub(super) call_timeout: Duration,
    open_timeout: Duration,
    /// What the first process said it runs; the others must say the same.
    content: OnceLock<String>,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<Process>>,
    notices: Mutex<Vec<String>>,
}

/// What a pool is made from.
#[derive(Debug)]
pub(super) struct Launch {
    pub name: String,
    pub python: PathBuf,
    pub script: PathBuf,
    pub scripts: Option<TempDir>,
    pub options: JsonMap,
    pub call_timeout: Duration,
    pub open_timeout: Duration,
    pub processes: u32,
}

/// An episode on a process of its own.
#[derive(Debug)]
pub(super) struct OpenedEpisode {
    pub instruction: String,
    pub episode: BridgeEpisode,
}

impl BridgePool {
    /// Starts the first process and asks it what there is.
    ///
    /// # Errors
    /// If the bridge is not installed, does not start, or refuses the options.
    pub async fn start(
        settings: &EnvironmentSettings,
        allowed: Option<&[TaskId]>,
    ) -> Result<Self, EnvError> {
        let EnvironmentSettings::Bridge {
            name,
            root,
            options,
            call_timeout,
            open_timeout,
            processes,
        } = settings
        else {
            return Err(EnvError::Unusable {
                name: "bridge".to_owned(),
                message: "a built-in domain needs none".to_owned(),
            });
        };
        let python = setup::python_of(root, name)?;
        let scripts = setup::unpack_scripts()
            .map_err(|source| EnvError::Start { name: name.clone(), source })?;
        let launch = Launch {
            name: name.clone(),
            python,
            script: scripts.path().join("bridge.py"),
            scripts: Some(scripts),
            options: options.clone(),
            call_timeout: *call_timeout,
            open_timeout: *open_timeout,
            processes: *processes,
        };
        Self::launch(launch, allowed).await
    }

    /// Starts any script that speaks the protocol.
    pub(super) async fn launch(
        launch: Launch,
        allowed: Option<&[TaskId]>,
    ) -> Result<Self, EnvError> {
        let allowed = match allowed {
            Some(ids) => json!({ "ids": ids }),
            None => json!({ "all": true }),
        };
        let shared = Arc::new(Shared {
            name: launch.name,
            python: launch.python,
            script: launch.script,
            _scripts: launch.scripts,
            options: launch.options,
            allowed,
            call_timeout: launch.call_timeout,
            open_timeout: launch.open_timeout,
            content: OnceLock::new(),
            permits: Arc::new(Semaphore::new(launch.processes.max(1) as usize)),
            idle: Mutex::new(Vec::new()),
            notices: Mutex::new(Vec::new()),
        });
        let (mut process, described) = shared.start_process().await?;
        let listed: Tasks = process.request("tasks", &json!({}), shared.open_timeout).await?;
        shared.idle.lock().map(|mut idle| idle.push(process)).ok();
        if let Ok(mut notices) = shared.notices.lock() {
            notices.extend(described.notices.iter().cloned());
        }
        let tasks: Vec<Task> = listed.tasks.into_iter().map(Task::from).collect();
        // Options that do not reach the bridge's own hash (it hashes what it understood)
        // are in here too, so that no two settings share evidence.
        let options = serde_json::to_string(&shared.options).unwrap_or_default();
        let id = ContentHash::of(&[
            b"bridge",
            described.name.as_bytes(),
            described.version.as_bytes(),
            described.content.as_bytes(),
            options.as_bytes(),
        ]);
        let suites = described
            .suites
            .into_iter()
            .map(|s| {
                let suite = Suite { system_prompt: s.system_prompt.into(), tools: s.tools.into() };
                (s.name, suite)
            })
            .collect();
        Ok(Self { shared, id, name: described.name, version: described.version, tasks, suites })
    }

    /// Hash of what decides an episode.
    #[must_use]
    pub fn id(&self) -> &ContentHash {
        &self.id
    }

    /// Name of the benchmark.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its version.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Its tasks.
    #[must_use]
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// The tools of a suite.
    #[must_use]
    pub fn toolset(&self, suite: &str) -> Option<&[ToolSpec]> {
        self.suites.get(suite).map(|s| &*s.tools)
    }

    /// The suite of a task.
    pub(super) fn suite_of(&self, task: &TaskId) -> Result<&Suite, EnvError> {
        let listed = self.tasks.iter().find(|t| t.id == *task);
        listed
            .and_then(|t| self.suites.get(&t.suite))
            .ok_or_else(|| EnvError::NotAllowed(task.to_string()))
    }

    /// Restarts and what the bridge said of itself.
    #[must_use]
    pub fn notices(&self) -> Vec<String> {
        self.shared.notices.lock().map(|n| n.clone()).unwrap_or_default()
    }

    /// Opens an episode on a free process.
    pub(super) async fn open(&self, task: &TaskId, seed: u64) -> Result<OpenedEpisode, EnvError> {
        let permit = Arc::clone(&self.shared.permits)
            .acquire_owned()
            .await
            .map_err(|_| EnvError::Died { method: "open", stderr: "shut down".to_owned() })?;
        let params = json!({ "task": task, "seed": seed });
        let (process, opened): (Process, Opened) = loop {
            let (mut process, used) = self.shared.take().await?;
            match process.request("open", &params, self.shared.open_timeout).await {
                Ok(opened) => break (process, opened),
                // It died between two episodes, for lack of memory perhaps: nothing is lost.
                Err(EnvError::Died { .. }) if used => self.shared.note_replaced(),
                Err(error) => {
                    self.shared.put_back(process, permit);
                    return Err(match error {
                        EnvError::NotAllowed(_) => EnvError::NotAllowed(task.to_string()),
                        error => error,
                    });
                }
            }
        };
        Ok(OpenedEpisode {
            instruction: opened.instruction,
            episode: BridgeEpisode::new(Arc::clone(&self.shared), process, permit, opened.episode),
        })
    }

    /// Ends the idle processes politely. Those in use end with their episodes.
    pub async fn shutdown(&self) {
        self.shared.permits.close();
        let idle = self.shared.idle.lock().map(|mut i| std::mem::take(&mut *i)).unwrap_or_default();
        let mut ending = tokio::task::JoinSet::new();
        for process in idle {
            ending.spawn(process.end());
        }
        while ending.join_next().await.is_some() {}
    }
}

impl Shared {
    /// A process, and whether it was used before.
    async fn take(&self) -> Result<(Process, bool), EnvError> {
        match self.idle.lock().ok().and_then(|mut idle| idle.pop()) {
            Some(process) => Ok((process, true)),
            None => Ok((self.start_process().await?.0, false)),
        }
    }

    fn note_replaced(&self) {
        self.notice(format!("a process of bridge `{}` failed and was replaced", self.name));
    }

    pub(super) fn notice(&self, text: String) {
        if let Ok(mut notices) = self.notices.lock() {
            notices.push(text);
        }
    }

    /// A process that has been told its options and what it may open.
    async fn start_process(&self) -> Result<(Process, Description), EnvError> {
        let mut process = Process::start(&self.name, &self.python, &self.script)?;
        let params = json!({ "options": self.options });
        let described: Description =
            process.request("describe", &params, self.open_timeout).await?;
        if described.protocol != PROTOCOL {
            return Err(EnvError::Protocol {
                method: "describe",
                detail: format!("protocol {}, expected {PROTOCOL}", described.protocol),
            });
        }
        if self.content.get_or_init(|| described.content.clone()) != &described.content {
            return Err(EnvError::Unusable {
                name: self.name.clone(),
                message: "the installed benchmark changed while it was used".to_owned(),
            });
        }
        let _: Value = process.request("allow", &self.allowed, self.open_timeout).await?;
        Ok((process, described))
    }

    /// Gives a process back for the next episode, or lets go of a broken one.
    pub(super) fn put_back(&self, process: Process, permit: OwnedSemaphorePermit) {
        if process.is_healthy() && !self.permits.is_closed() {
            if let Ok(mut idle) = self.idle.lock() {
                idle.push(process);
            }
        } else if !self.permits.is_closed() {
            self.note_replaced();
        }
        drop(permit);
    }
}
