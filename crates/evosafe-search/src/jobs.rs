//! What episodes run: the tasks of a search and the variants that were made of them.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use evosafe_agent::Variant;
use evosafe_types::{Task, TaskId};

/// What an episode runs.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) task: Task,
    /// The words it is put in, where they are not its own.
    pub(crate) variant: Option<Arc<Variant>>,
}

/// Everything that may be run, by name.
#[derive(Debug)]
pub(crate) struct Jobs {
    tasks: BTreeMap<TaskId, Task>,
    variants: RwLock<BTreeMap<TaskId, Arc<Variant>>>,
}

impl Jobs {
    pub(crate) fn new(tasks: Vec<Task>) -> Self {
        let tasks = tasks.into_iter().map(|t| (t.id.clone(), t)).collect();
        Self { tasks, variants: RwLock::default() }
    }

    /// Adds variants. One of a task that is not among the tasks could not be opened anyway.
    pub(crate) fn admit(&self, variants: impl IntoIterator<Item = Arc<Variant>>) {
        let mut known = self.variants.write().unwrap_or_else(PoisonError::into_inner);
        let ours = variants.into_iter().filter(|v| self.tasks.contains_key(v.base()));
        known.extend(ours.map(|v| (v.task().id.clone(), v)));
    }

    /// The task or variant of this name.
    pub(crate) fn get(&self, id: &TaskId) -> Option<Job> {
        if let Some(task) = self.tasks.get(id) {
            return Some(Job { task: task.clone(), variant: None });
        }
        let known = self.variants.read().unwrap_or_else(PoisonError::into_inner);
        let variant = Arc::clone(known.get(id)?);
        Some(Job { task: variant.task().clone(), variant: Some(variant) })
    }
}
