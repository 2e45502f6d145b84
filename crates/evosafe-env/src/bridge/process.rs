//! One bridge process: requests with deadlines, a bounded tail of standard error, and
//! no way to outlive us (it ends with its standard input, and watches its parent).

use std::collections::VecDeque;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::EnvError;
use crate::bridge::wire::Answer;
use crate::error::code;

/// Longest answer, in bytes.
const MAX_LINE: u64 = 64 << 20;
/// Bytes kept of standard error.
const TAIL: usize = 8 << 10;
/// How long a process may take to end once its standard input is closed.
const GOODBYE: Duration = Duration::from_millis(1500);

/// A running bridge process.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    stderr: Arc<Mutex<VecDeque<u8>>>,
    reader: JoinHandle<()>,
    next_id: u64,
    /// Cleared while a request is under way: a request that was abandoned leaves the
    /// stream in the middle of an answer.
    healthy: bool,
}

impl Process {
    /// Starts `python script`, without the caller's environment: no key of an API and no
    /// setting of another Python reaches a benchmark, and hashes and time zone are fixed.
    pub fn start(name: &str, python: &Path, script: &Path) -> Result<Self, EnvError> {
        let fail = |source| EnvError::Start { name: name.to_owned(), source };
        let mut child = Command::new(python)
            .arg(script)
            .arg(std::process::id().to_string())
            .env_clear()
            .envs([
                ("PATH", "/usr/local/bin:/usr/bin:/bin"),
                ("LANG", "C.UTF-8"),
                ("TZ", "UTC"),
                ("PYTHONHASHSEED", "0"),
                ("PYTHONNOUSERSITE", "1"),
                ("PYTHONUTF8", "1"),
            ])
            // Its own group: Ctrl-C in a terminal goes to us, and we end it.
            .process_group(0)
            .kill_on_drop(true)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(fail)?;
        let missing = || fail(std::io::Error::other("a standard stream is missing"));
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr = child.stderr.take().ok_or_else(missing)?;
        let tail = Arc::new(Mutex::new(VecDeque::new()));
        let reader = tokio::spawn(keep_tail(stderr, Arc::clone(&tail)));
        Ok(Self {
            name: name.to_owned(),
            child,
            stdin,
            stdout: BufReader::new(stdout),
            stderr: tail,
            reader,
            next_id: 0,
            healthy: true,
        })
    }

    /// Whether it can take another request.
    pub fn is_healthy(&self) -> bool {
        self.healthy
    }

    /// Sends a request and waits for its answer. After anything but a proper answer the
    /// process is killed.
    pub async fn request<T: DeserializeOwned>(
        &mut self,
        method: &'static str,
        params: &Value,
        deadline: Duration,
    ) -> Result<T, EnvError> {
        self.healthy = false;
        let answered = match timeout(deadline, self.exchange(method, params)).await {
            Ok(answered) => answered,
            Err(_) => Err(EnvError::Timeout { method, after: deadline }),
        };
        let answer = match answered {
            Ok(answer) => answer,
            Err(error) => {
                // Not waited for: a process that hangs may take its time to die.
                let _ = self.child.start_kill();
                return Err(error);
            }
        };
        self.healthy = true;
        if let Some(error) = answer.error {
            return Err(self.refusal(method, error.code, error.message));
        }
        serde_json::from_value(answer.result.unwrap_or(Value::Null)).map_err(|e| {
            self.healthy = false;
            let _ = self.child.start_kill();
            EnvError::Protocol { method, detail: format!("unexpected result: {e}") }
        })
    }

    fn refusal(&self, method: &'static str, code: i64, message: String) -> EnvError {
        match code {
            code::BAD_OPTIONS | code::UNSUPPORTED => {
                EnvError::Unusable { name: self.name.clone(), message }
            }
            code::NOT_ALLOWED => EnvError::NotAllowed(message),
            code::ENVIRONMENT => EnvError::Failed { method, message },
            _ => EnvError::Failed { method, message: format!("{message} (code {code})") },
        }
    }

    async fn exchange(&mut self, method: &'static str, params: &Value) -> Result<Answer, EnvError> {
        self.next_id += 1;
        let id = self.next_id;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let line = format!("{request}\n");
        let written = async {
            self.stdin.write_all(line.as_bytes()).await?;
            self.stdin.flush().await
        };
        if written.await.is_err() {
            return Err(self.died(method).await);
        }
        let mut answer = Vec::new();
        let mut limited = (&mut self.stdout).take(MAX_LINE);
        let read = limited.read_until(b'\n', &mut answer).await;
        if !matches!(read, Ok(n) if n > 0) {
            return Err(self.died(method).await);
        }
        let nonsense = |detail: String| EnvError::Protocol { method, detail };
        if answer.last() != Some(&b'\n') {
            let detail = if answer.len() as u64 >= MAX_LINE {
                format!("an answer of more than {} MiB", MAX_LINE >> 20)
            } else {
                "an answer that was cut off".to_owned()
            };
            return Err(nonsense(detail));
        }
        let parsed: Answer = serde_json::from_slice(&answer).map_err(|e| {
            let text = String::from_utf8_lossy(&answer);
            let start: String = text.chars().take(80).collect();
            nonsense(format!("not an answer ({e}): {}", start.trim_end().escape_debug()))
        })?;
        if parsed.jsonrpc != "2.0" || parsed.id != Some(id) {
            return Err(nonsense(format!("an answer to request {:?}, expected {id}", parsed.id)));
        }
        if parsed.error.is_none() && parsed.result.is_none() {
            return Err(nonsense("an answer with neither result nor error".to_owned()));
        }
        Ok(parsed)
    }

    async fn died(&mut self, method: &'static str) -> EnvError {
        // Give the tail of standard error a moment to arrive.
        let _ = timeout(Duration::from_millis(200), &mut self.reader).await;
        let bytes: Vec<u8> =
            self.stderr.lock().map_or_else(|_| Vec::new(), |tail| tail.iter().copied().collect());
        EnvError::Died { method, stderr: String::from_utf8_lossy(&bytes).into_owned() }
    }

    /// Closes standard input and waits a little; then kills.
    pub async fn end(self) {
        let Self { mut child, stdin, reader, .. } = self;
        drop(stdin);
        if timeout(GOODBYE, child.wait()).await.is_err() {
            let _ = child.kill().await;
        }
        reader.abort();
    }
}

async fn keep_tail(mut stderr: ChildStderr, tail: Arc<Mutex<VecDeque<u8>>>) {
    let mut chunk = [0u8; 4096];
    while let Ok(n) = stderr.read(&mut chunk).await {
        if n == 0 {
            break;
        }
        let Ok(mut tail) = tail.lock() else { break };
        tail.extend(&chunk[..n]);
        let excess = tail.len().saturating_sub(TAIL);
        tail.drain(..excess);
    }
}
