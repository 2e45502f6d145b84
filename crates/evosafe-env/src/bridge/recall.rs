//! Answers a bridge gave before are not asked for again.
//!
//! A benchmark is a function of task, seed and the calls executed so far: that is what makes
//! evidence evidence. Most candidates let most calls through unchanged, so nearly all
//! of what they would ask has been answered; a real episode is opened at the first call that
//! was not, and what came before is executed there first. Where a repeated call then answers
//! otherwise, the benchmark is not such a function: the episode is lost, nothing about its
//! task is recalled again, and the user is told.

use std::collections::BTreeMap;
use std::collections::hash_map::{Entry, HashMap};
use std::sync::{Arc, Mutex};

use evosafe_types::{TaskId, ToolCall, ToolResult, ToolSpec};

use super::episode::BridgeEpisode;
use super::pool::BridgePool;
use crate::{EnvError, Verdict};

/// Results kept, bytes. Beyond it nothing more is learnt, and episodes run as without.
const MOST_BYTES: usize = 512 << 20;

/// A bridge with what it answered so far.
#[derive(Debug)]
pub struct RecallingBridge {
    pool: Arc<BridgePool>,
    memory: Arc<Memory>,
}

/// An episode that becomes real when it has to.
#[derive(Debug)]
pub(crate) struct RecallingEpisode {
    pool: Arc<BridgePool>,
    memory: Arc<Memory>,
    key: Key,
    /// Where in the memory this episode is, while all of it is known there.
    at: Option<usize>,
    past: Vec<(ToolCall, ToolResult)>,
    live: Option<BridgeEpisode>,
}

/// An episode that has begun, with what its suite shares.
#[derive(Debug)]
pub(crate) struct Begun {
    pub instruction: String,
    pub system_prompt: Arc<str>,
    pub tools: Arc<[ToolSpec]>,
    pub episode: RecallingEpisode,
}

type Key = (TaskId, u64);

#[derive(Debug, Default)]
struct Memory(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    bytes: usize,
    tasks: HashMap<Key, Known>,
}

/// What is known of a task at a seed.
#[derive(Debug)]
enum Known {
    /// A tree of executed calls; the first node is the opening.
    Tree { instruction: String, nodes: Vec<Node> },
    /// It answered the same calls in two ways.
    Erratic,
}

/// The state after some executed calls.
#[derive(Debug, Default)]
struct Node {
    /// By tool and arguments: the result, and the node after it.
    calls: HashMap<(String, String), (ToolResult, usize)>,
    /// By final answer.
    verdicts: BTreeMap<String, Verdict>,
}

impl RecallingBridge {
    pub(crate) fn new(pool: BridgePool) -> Self {
        Self { pool: Arc::new(pool), memory: Arc::default() }
    }

    /// The bridge itself.
    #[must_use]
    pub fn pool(&self) -> &BridgePool {
        &self.pool
    }

    /// Begins an episode; waits for a free process only if nothing is known of it.
    pub(crate) async fn open(&self, task: &TaskId, seed: u64) -> Result<Begun, EnvError> {
        let key = (task.clone(), seed);
        let (instruction, live) = match self.memory.opening(&key) {
            Some(instruction) => (instruction, None),
            None => {
                let opened = self.pool.open(task, seed).await?;
                self.memory.begin(&key, &opened.instruction);
                (opened.instruction, Some(opened.episode))
            }
        };
        let suite = self.pool.suite_of(task)?;
        Ok(Begun {
            instruction,
            system_prompt: Arc::clone(&suite.system_prompt),
            tools: Arc::clone(&suite.tools),
            episode: RecallingEpisode {
                pool: Arc::clone(&self.pool),
                memory: Arc::clone(&self.memory),
                key,
                at: Some(0),
                past: Vec::new(),
                live,
            },
        })
    }

    /// Enters an episode that an earlier process ran.
    pub(crate) fn remember(
        &self,
        (task, seed): (&TaskId, u64),
        instruction: &str,
        executed: &[(&ToolCall, &ToolResult)],
        (answer, verdict): (&str, Verdict),
    ) {
        let key = (task.clone(), seed);
        self.memory.begin(&key, instruction);
        let mut at = Some(0);
        for (call, result) in executed {
            at = at.and_then(|node| self.memory.learn(&key, node, call, result));
        }
        if let Some(node) = at {
            self.memory.judged(&key, node, answer, verdict);
        }
    }
}

impl RecallingEpisode {
    /// Executes a call, or says what it gave last time.
    pub(crate) async fn call(&mut self, call: &ToolCall) -> Result<ToolResult, EnvError> {
        let known = self.at.and_then(|node| self.memory.result(&self.key, node, call));
        let result = match known {
            // A real episode must take part in everything, or its state falls behind.
            Some((result, after)) if self.live.is_none() => {
                self.at = Some(after);
                result
            }
            known => {
                let result = self.live().await?.call(call).await?;
                if known.is_some_and(|(before, _)| before != result) {
                    self.distrust(call);
                }
                let node = self.at;
                self.at = node.and_then(|node| self.memory.learn(&self.key, node, call, &result));
                result
            }
        };
        self.past.push((call.clone(), result.clone()));
        Ok(result)
    }

    /// The verdict on what was executed and answered.
    pub(crate) async fn judge(
        &mut self,
        answer: &str,
        executed: &[ToolCall],
    ) -> Result<Verdict, EnvError> {
        let known = self.at.and_then(|node| self.memory.verdict(&self.key, node, answer));
        if let Some(verdict) = known {
            return Ok(verdict);
        }
        let verdict = self.live().await?.judge(answer, executed).await?;
        if let Some(node) = self.at {
            self.memory.judged(&self.key, node, answer, verdict);
        }
        Ok(verdict)
    }

    /// Gives the process back, if it has one.
    pub(crate) async fn close(self) {
        if let Some(live) = self.live {
            live.close().await;
        }
    }

    /// The real episode, with everything executed that was recalled so far.
    async fn live(&mut self) -> Result<&mut BridgeEpisode, EnvError> {
        let episode = match self.live.take() {
            Some(episode) => episode,
            None => self.caught_up().await?,
        };
        Ok(self.live.insert(episode))
    }

    async fn caught_up(&self) -> Result<BridgeEpisode, EnvError> {
        let mut episode = self.pool.open(&self.key.0, self.key.1).await?.episode;
        for (call, before) in &self.past {
            if episode.call(call).await? != *before {
                self.distrust(call);
                episode.close().await;
                return Err(EnvError::Protocol {
                    method: "call",
                    detail: format!("`{}` gave another result when repeated", call.tool),
                });
            }
        }
        Ok(episode)
    }

    fn distrust(&self, call: &ToolCall) {
        self.memory.distrust(&self.key);
        let (task, tool) = (&self.key.0, &call.tool);
        self.pool.shared.notice(format!(
            "task {task} is not deterministic: `{tool}` gave another result when repeated"
        ));
    }
}

impl Memory {
    fn with<T>(&self, key: &Key, f: impl FnOnce(&mut Vec<Node>, &mut usize) -> T) -> Option<T> {
        let mut inner = self.0.lock().ok()?;
        let Inner { bytes, tasks } = &mut *inner;
        match tasks.get_mut(key)? {
            Known::Tree { nodes, .. } => Some(f(nodes, bytes)),
            Known::Erratic => None,
        }
    }

    fn opening(&self, key: &Key) -> Option<String> {
        match self.0.lock().ok()?.tasks.get(key)? {
            Known::Tree { instruction, .. } => Some(instruction.clone()),
            Known::Erratic => None,
        }
    }

    fn begin(&self, key: &Key, instruction: &str) {
        if let Ok(mut inner) = self.0.lock()
            && let Entry::Vacant(entry) = inner.tasks.entry(key.clone())
        {
            let nodes = vec![Node::default()];
            entry.insert(Known::Tree { instruction: instruction.to_owned(), nodes });
        }
    }

    fn result(&self, key: &Key, node: usize, call: &ToolCall) -> Option<(ToolResult, usize)> {
        self.with(key, |nodes, _| nodes.get(node)?.calls.get(&named(call)).cloned())?
    }

    /// The node after a call, unless there is no room for it.
    fn learn(&self, key: &Key, node: usize, call: &ToolCall, result: &ToolResult) -> Option<usize> {
        self.with(key, |nodes, bytes| {
            let next = nodes.len();
            let entry = match nodes.get_mut(node)?.calls.entry(named(call)) {
                Entry::Occupied(known) => return Some(known.get().1),
                Entry::Vacant(entry) => entry,
            };
            *bytes += result.content.len() + entry.key().1.len() + size_of::<Node>();
            if *bytes > MOST_BYTES {
                return None;
            }
            entry.insert((result.clone(), next));
            nodes.push(Node::default());
            Some(next)
        })?
    }

    fn verdict(&self, key: &Key, node: usize, answer: &str) -> Option<Verdict> {
        self.with(key, |nodes, _| nodes.get(node)?.verdicts.get(answer).copied())?
    }

    fn judged(&self, key: &Key, node: usize, answer: &str, verdict: Verdict) {
        self.with(key, |nodes, bytes| {
            if let Some(node) = nodes.get_mut(node) {
                *bytes += answer.len();
                node.verdicts.insert(answer.to_owned(), verdict);
            }
        });
    }

    fn distrust(&self, key: &Key) {
        if let Ok(mut inner) = self.0.lock() {
            inner.tasks.insert(key.clone(), Known::Erratic);
        }
    }
}

/// What the bridge is told of a call.
fn named(call: &ToolCall) -> (String, String) {
    (call.tool.clone(), serde_json::to_string(&call.arguments).unwrap_or_default())
}
