//! A run of somebody else's program: its own process group, a bounded time, the end of its
//! output, and no way to outlive us.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::SearchError;

/// Bytes kept of what it prints.
const TAIL: usize = 4 << 10;

/// How long what was killed may take to be gone.
const GOODBYE: Duration = Duration::from_secs(2);

/// Exit code of a program that says that it failed for now (EX_TEMPFAIL).
const FOR_NOW: i32 = 75;

/// What is run.
pub(super) struct Program<'a> {
    pub command: &'a [String],
    pub folder: &'a Path,
    /// All of its environment.
    pub environment: &'a [(String, OsString)],
    pub time_limit: Duration,
    pub stop: &'a CancellationToken,
}

/// How it ended.
#[derive(Debug)]
pub(super) struct Ended {
    /// In words.
    pub how: String,
    /// The end of what it printed.
    pub said: String,
    /// Whether it says that trying again later may help.
    pub for_now: bool,
}

impl Program<'_> {
    /// Runs it until it ends or its time is up. Then nothing of its process group is left.
    ///
    /// # Errors
    /// If it cannot be started, or the user interrupts.
    pub(super) async fn run(self) -> Result<Ended, SearchError> {
        let name = self.command.first().map_or("", String::as_str);
        let fail = |e: std::io::Error| {
            SearchError::Unusable(format!("cannot start the Designer's command {name:?}: {e}"))
        };
        let mut child = Command::new(name)
            .args(&self.command[1..])
            .current_dir(self.folder)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .process_group(0)
            .kill_on_drop(true)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(fail)?;
        let guard = Guard::over(&child).map_err(fail)?;
        let tail = Arc::new(Mutex::new(VecDeque::new()));
        let readers = [
            child.stdout.take().map(|out| keep(out, &tail)),
            child.stderr.take().map(|out| keep(out, &tail)),
        ];
        let ended = tokio::select! {
            biased;
            () = self.stop.cancelled() => None,
            ended = timeout(self.time_limit, child.wait()) => Some(ended),
        };
        guard.strike().await;
        let _ = timeout(GOODBYE, child.wait()).await;
        for reader in readers.into_iter().flatten() {
            // Whoever left the group may hold the pipe for ever.
            let abort = reader.abort_handle();
            if timeout(Duration::from_millis(200), reader).await.is_err() {
                abort.abort();
            }
        }
        let Some(ended) = ended else { return Err(SearchError::Interrupted) };
        let said: Vec<u8> = tail.lock().map(|t| t.iter().copied().collect()).unwrap_or_default();
        let said = String::from_utf8_lossy(&said).into_owned();
        let (how, for_now) = match ended {
            Err(_) => (format!("its time of {} s was up", self.time_limit.as_secs()), false),
            Ok(Err(e)) => return Err(SearchError::Internal(format!("a command got lost: {e}"))),
            Ok(Ok(status)) => (words(status), status.code() == Some(FOR_NOW)),
        };
        Ok(Ended { how, said, for_now })
    }
}

fn words(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("it ended with exit code {code}"),
        None => format!("it was ended by a signal ({status})"),
    }
}

/// A shell that waits for its standard input to be closed, and then kills a process group. A
/// program that spends money must not go on when we are gone, whatever ended us.
struct Guard(Child);

impl Guard {
    fn over(child: &Child) -> std::io::Result<Self> {
        let group = child.id().ok_or_else(|| std::io::Error::other("it is gone already"))?;
        Command::new("/bin/sh")
            .args(["-c", "read -r _; kill -s KILL -- \"-$1\"", "sh", &group.to_string()])
            .env_clear()
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map(Self)
    }

    /// Kills the group now. Dropping the guard does so too, without waiting.
    async fn strike(mut self) {
        drop(self.0.stdin.take());
        let _ = timeout(GOODBYE, self.0.wait()).await;
    }
}

fn keep(
    mut out: impl AsyncRead + Unpin + Send + 'static,
    tail: &Arc<Mutex<VecDeque<u8>>>,
) -> JoinHandle<()> {
    let tail = Arc::clone(tail);
    tokio::spawn(async move {
        let mut chunk = [0u8; 4096];
        while let Ok(n @ 1..) = out.read(&mut chunk).await {
            let Ok(mut tail) = tail.lock() else { break };
            tail.extend(&chunk[..n]);
            let excess = tail.len().saturating_sub(TAIL);
            tail.drain(..excess);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn run(script: &str, seconds: u64) -> (Result<Ended, SearchError>, tempfile::TempDir) {
        let folder = tempfile::tempdir().expect("a folder");
        let command = ["/bin/sh", "-c", script].map(str::to_owned);
        let environment = [("GIVEN".to_owned(), OsString::from("yes"))];
        let stop = CancellationToken::new();
        let program = Program {
            command: &command,
            folder: folder.path(),
            environment: &environment,
            time_limit: Duration::from_secs(seconds),
            stop: &stop,
        };
        (program.run().await, folder)
    }

    /// Whether a process is gone, or will be within two seconds: what was killed takes a moment.
    async fn gone(pid: &str) -> bool {
        for _ in 0..400 {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
            // A zombie that nobody reaps is dead.
            if stat.map_or(true, |stat| stat.contains(") Z ")) {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        false
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn it_has_the_environment_it_is_given_and_no_other() {
        let (ended, folder) = run("env > env; echo out; echo err >&2; exit 3", 60).await;
        let ended = ended.expect("it runs");
        assert_eq!(ended.how, "it ended with exit code 3");
        assert!(ended.said.contains("out") && ended.said.contains("err"), "{}", ended.said);
        let env = std::fs::read_to_string(folder.path().join("env")).expect("written");
        // A shell sets some of its own.
        let names = env.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name);
        let foreign: Vec<&str> =
            names.filter(|name| !["GIVEN", "PWD", "OLDPWD", "SHLVL", "_"].contains(name)).collect();
        assert_eq!(foreign, Vec::<&str>::new());
        assert!(env.contains("GIVEN=yes\n"));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn when_its_time_is_up_its_whole_group_goes() {
        let (ended, folder) = run("sleep 600 & echo $! > pid; sleep 600", 1).await;
        assert_eq!(ended.expect("it ran").how, "its time of 1 s was up");
        let pid = std::fs::read_to_string(folder.path().join("pid")).expect("written");
        assert!(gone(&pid).await, "the child of the command lives");
        // What it leaves behind when it ends by itself goes too.
        let (ended, folder) = run("sleep 600 & echo $! > pid", 60).await;
        assert_eq!(ended.expect("it ran").how, "it ended with exit code 0");
        let pid = std::fs::read_to_string(folder.path().join("pid")).expect("written");
        assert!(gone(&pid).await, "the child of the command lives");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn it_ends_when_the_user_stops_and_when_nobody_waits_any_more() {
        let folder = tempfile::tempdir().expect("a folder");
        let command = ["/bin/sh", "-c", "echo $$ > pid; sleep 600; :"].map(str::to_owned);
        let stop = CancellationToken::new();
        let program = || Program {
            command: &command,
            folder: folder.path(),
            environment: &[],
            time_limit: Duration::from_secs(600),
            stop: &stop,
        };
        let pid = || async {
            loop {
                let pid = std::fs::read_to_string(folder.path().join("pid")).unwrap_or_default();
                if pid.ends_with('\n') {
                    std::fs::remove_file(folder.path().join("pid")).expect("it is there");
                    return pid;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        // Abandoned: the future is dropped.
        let abandoned = tokio::select! {
            _ = program().run() => panic!("it does not end by itself"),
            pid = pid() => pid,
        };
        assert!(gone(&abandoned).await);
        let (ended, stopped) = tokio::join!(program().run(), async {
            let pid = pid().await;
            stop.cancel();
            pid
        });
        assert!(matches!(ended, Err(SearchError::Interrupted)));
        assert!(gone(&stopped).await);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_cannot_be_started_is_the_users_business() {
        let stop = CancellationToken::new();
        let program = Program {
            command: &["no-such-agent".to_owned()],
            folder: Path::new("/"),
            environment: &[],
            time_limit: Duration::from_secs(1),
            stop: &stop,
        };
        let error = program.run().await.expect_err("there is none").to_string();
        assert!(error.contains("cannot start the Designer's command \"no-such-agent\""), "{error}");
    }
}
