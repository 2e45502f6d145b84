//! The Designer played by a coding agent's command line: a prepared folder, runs of the command
//! in it, and the submission that it leaves there.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use evosafe_llm::{CallTag, LlmError, Role, Services};
use evosafe_sandbox::Sandbox;
use evosafe_types::{ContentHash, Event, Usd};
use serde::{Deserialize, Serialize};

use super::ask::Cost;
use super::design::{Attempt, Slot};
use super::handed::{self, Handed};
use super::process::{Ended, Program};
use super::submit::{self, Submission, Terms};
use super::view::{TrainView, cut};
use crate::SearchError;
use crate::evaluator::Evaluator;

/// Runs of the command in one attempt.
pub(super) const RUNS: u32 = 3;
/// Folder of the submission.
const SUBMISSION: &str = "submission";
/// What the command says that it has cost.
const COST_FILE: &str = "cost.json";
/// Shortest value of a variable that is taken out of what the command leaves: a shorter one is
/// no key, and taking it out would garble texts.
const SECRET: usize = 8;
/// Characters of what the command printed that go into an error.
const SAID: usize = 600;

/// A coding agent's command line as Designer.
#[derive(Clone)]
pub struct CommandDesigner {
    /// Program and arguments. It is run in the prepared folder.
    pub command: Vec<String>,
    /// After which a run is ended, its process group with it.
    pub time_limit: Duration,
    /// What a run may cost, if that is limited; the command is told and has to see to it.
    pub cost_limit: Option<Usd>,
    /// `PATH`, and what else of the environment is handed on. Values are taken out of all that
    /// the command leaves, but for `PATH`.
    pub environment: Vec<(String, OsString)>,
    /// The `evosafe` that `check` calls.
    pub evosafe: PathBuf,
    /// Where folders are prepared.
    pub scratch: PathBuf,
    /// Budget, ledger and journal.
    pub services: Services,
}

/// Values of variables are nobody's business.
impl fmt::Debug for CommandDesigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandDesigner").field("command", &self.command).finish_non_exhaustive()
    }
}

impl CommandDesigner {
    /// What of a command decides a search's result, as a text.
    #[must_use]
    pub fn identity_of(command: &[String]) -> String {
        serde_json::Value::from(command.to_vec()).to_string()
    }

    /// What the ledger calls a command.
    #[must_use]
    pub fn name_of(command: &[String]) -> String {
        let program = command.first().map_or("", String::as_str);
        let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
        format!("command:{name}")
    }

    /// What of it decides a search's result, as a text.
    #[must_use]
    pub fn identity(&self) -> String {
        Self::identity_of(&self.command)
    }

    /// What the ledger calls it.
    fn model(&self) -> String {
        Self::name_of(&self.command)
    }

    fn redact(&self, text: &str) -> String {
        let passed = self.environment.iter().filter(|(name, _)| name != "PATH");
        let secrets = passed.filter_map(|(name, value)| Some((name, value.to_str()?)));
        secrets
            .filter(|(_, value)| value.len() >= SECRET)
            .fold(text.to_owned(), |text, (name, value)| {
                text.replace(value, &format!("[value of {name}]"))
            })
    }
}

/// All that an attempt works with.
pub(super) struct Workshop<'a> {
    pub agent: &'a CommandDesigner,
    pub evaluator: &'a Evaluator,
    pub sandbox: &'a Sandbox,
    pub view: &'a TrainView,
    pub terms: Terms<'a>,
}

/// What a run left, as it is journalled.
#[derive(Debug, Serialize, Deserialize)]
struct Left {
    how: String,
    said: String,
    handed: Result<Handed, String>,
    /// What it has cost, or why that is not known.
    cost: Result<Usd, String>,
}

impl Workshop<'_> {
    /// One attempt: the command is run until what it hands in can be evaluated, or often enough.
    ///
    /// # Errors
    /// If the command cannot be started or says that it failed for now, the budget is spent, or
    /// the user interrupts: nothing that says something about the attempt.
    pub(super) async fn attempt(&self, slot: Slot, task: &str) -> Result<Attempt, SearchError> {
        let mut cost = Cost { usd: Some(Usd::ZERO), ..Cost::default() };
        let mut before = None;
        loop {
            let files = self.files(task, before.as_ref());
            let left = self.run(slot, cost.calls, files).await?;
            cost.calls += 1;
            cost.usd = cost.usd.zip(left.cost.as_ref().ok().copied()).map(|(a, b)| a + b);
            let why = match self.judged(&left).await {
                Ok(submission) => return Ok(Attempt { result: Ok(submission), cost }),
                Err(why) => why,
            };
            if cost.calls == RUNS {
                let why = format!("{RUNS} runs without a bundle that can be used; the last: {why}");
                return Ok(Attempt { result: Err(why), cost });
            }
            before = Some((left.handed.unwrap_or_default(), why));
        }
    }

    /// The texts of a prepared folder, by path. With the command they decide what is run, and so
    /// under what a finished run is found again.
    fn files(&self, task: &str, before: Option<&(Handed, String)>) -> BTreeMap<String, String> {
        let named = |path: &str| match path {
            "spec.md" => "SPEC.md".to_owned(),
            other => other.to_owned(),
        };
        let mut files: BTreeMap<String, String> =
            self.view.files().map(|(path, text)| (named(path), text.to_owned())).collect();
        files.insert("TASK.md".to_owned(), task.to_owned());
        if let Some((handed, why)) = before {
            let told = format!("What is in `{SUBMISSION}/` cannot be used:\n\n{why}\n");
            files.insert("FEEDBACK.md".to_owned(), told);
            for (name, text) in handed {
                files.insert(format!("{SUBMISSION}/{name}"), text.clone());
            }
        }
        files
    }

    /// What a run leaves: from the journal if it was finished before, else run now.
    async fn run(
        &self,
        slot: Slot,
        nth: u32,
        files: BTreeMap<String, String>,
    ) -> Result<Left, SearchError> {
        let tag = CallTag {
            component: Some(if slot.round == 0 { "propose" } else { "repair" }.to_owned()),
            rollout: u32::try_from(slot.index).unwrap_or(u32::MAX),
            turn: nth,
            ..CallTag::new(Role::Designer, "search")
        };
        let command = self.agent.identity();
        let texts = files.iter().flat_map(|(path, text)| [path.as_bytes(), text.as_bytes()]);
        let parts: Vec<&[u8]> = std::iter::once(command.as_bytes()).chain(texts).collect();
        let request = ContentHash::of(&parts);
        // Where nobody knows what it costs, the cap holds to within one run.
        let most = self.agent.cost_limit.unwrap_or(Usd::from_nanos(1));
        let work = async {
            let left = self.work(files).await?;
            let body = serde_json::to_string(&left)
                .map_err(|e| SearchError::Internal(format!("a run does not serialise: {e}")))?;
            Ok::<_, SearchError>((body, left.cost.ok()))
        };
        let services = &self.agent.services;
        let reply = services.job(&tag, &self.agent.model(), &request, most, work).await?;
        let left: Left = serde_json::from_str(&reply.body).map_err(|e| {
            SearchError::from(LlmError::Transport(format!("a journalled run is unreadable: {e}")))
        })?;
        if let Err(why) = &left.cost {
            let message = format!("what the Designer's command cost counts as nothing: {why}");
            self.evaluator.emit(&Event::Warning { message }, reply.fresh)?;
        }
        Ok(left)
    }

    /// Prepares a folder, runs the command in it, and reads what it left.
    async fn work(&self, files: BTreeMap<String, String>) -> Result<Left, SearchError> {
        let (scratch, check) = (self.agent.scratch.clone(), check(&self.agent.evosafe));
        let prepared = tokio::task::spawn_blocking(move || prepare(&scratch, &files, &check));
        let prepared = prepared.await.map_err(|e| SearchError::Internal(e.to_string()))?;
        let folder = prepared.map_err(|e| {
            SearchError::Unusable(format!("cannot prepare a folder for the Designer: {e}"))
        })?;
        let own = |name: &str| folder.path().join(name).into_os_string();
        let mut environment = self.agent.environment.clone();
        environment.push(("HOME".to_owned(), own("home")));
        environment.push(("TMPDIR".to_owned(), own("tmp")));
        let seconds = self.agent.time_limit.as_secs().to_string();
        environment.push(("EVOSAFE_TIME_LIMIT_S".to_owned(), seconds.into()));
        if let Some(usd) = self.agent.cost_limit {
            let dollars = usd.dollars().to_string();
            environment.push(("EVOSAFE_COST_LIMIT_USD".to_owned(), dollars.into()));
        }
        let program = Program {
            command: &self.agent.command,
            folder: folder.path(),
            environment: &environment,
            time_limit: self.agent.time_limit,
            stop: self.evaluator.stop(),
        };
        let Ended { how, said, for_now } = program.run().await?;
        let said = self.agent.redact(&said);
        if for_now {
            let said = cut(said.trim(), SAID);
            let error = format!("the Designer's command says that it failed for now: {said}");
            return Err(SearchError::Model(error));
        }
        let clean = |handed: Handed| -> Handed {
            handed.into_iter().map(|(name, text)| (name, self.agent.redact(&text))).collect()
        };
        let handed = handed::collect(&folder.path().join(SUBMISSION)).map(clean);
        Ok(Left { how, said, handed, cost: cost(&folder.path().join(COST_FILE)) })
    }

    async fn judged(&self, left: &Left) -> Result<Submission, String> {
        let handed = left.handed.as_ref().map_err(Clone::clone)?;
        let arguments = handed::arguments(handed).map_err(|why| {
            // Nothing usable is there: how it ended is what there is to know.
            format!("{why} ({}; it printed last: {})", left.how, cut(left.said.trim(), SAID))
        })?;
        submit::accepted(&arguments, &self.terms, self.sandbox).await
    }
}

/// What a run says that it has cost, in `{"usd": x}`.
fn cost(file: &Path) -> Result<Usd, String> {
    #[derive(Deserialize)]
    struct Reported {
        usd: f64,
    }
    let text = handed::text(file, 4096)?.ok_or("there is no cost.json")?;
    let reported: Reported =
        serde_json::from_str(&text).map_err(|e| format!("{COST_FILE} is not understood: {e}"))?;
    Usd::from_dollars(reported.usd)
        .ok_or_else(|| format!("{COST_FILE} names {}, which is no amount", reported.usd))
}

/// Writes a prepared folder that only its owner can enter; it goes when it is dropped.
fn prepare(
    scratch: &Path,
    files: &BTreeMap<String, String>,
    check: &str,
) -> io::Result<tempfile::TempDir> {
    let folder = tempfile::Builder::new()
        .prefix("evosafe-designer-")
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir_in(scratch)?;
    let root = folder.path();
    for name in [SUBMISSION, "home", "tmp"] {
        fs::create_dir(root.join(name))?;
    }
    for (path, text) in files {
        let path = root.join(within(path));
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, text)?;
    }
    let script = root.join("check");
    fs::write(&script, check)?;
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
    Ok(folder)
}

/// A path that stays within a folder, whatever a task is called.
fn within(path: &str) -> PathBuf {
    let plain = |component: Component<'_>| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("_".into()),
        _ => None,
    };
    Path::new(&path.replace('\0', "_")).components().filter_map(plain).collect()
}

/// The script that tries what is in the submission.
fn check(evosafe: &Path) -> String {
    let program = evosafe.to_string_lossy().replace('\'', "'\\''");
    format!(
        "#!/bin/sh\n\
         # Tries what is in {SUBMISSION}/: ./check, or ./check CASES.json to run gate cases too.\n\
         cd \"$(dirname \"$0\")\" || exit 70\n\
         evosafe() {{ '{program}' --cache home/cache harness \"$@\"; }}\n\
         evosafe check {SUBMISSION} || exit $?\n\
         [ $# -eq 0 ] || evosafe test {SUBMISSION} --cases \"$1\"\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_holds_its_files_and_nothing_leaves_it() {
        let scratch = tempfile::tempdir().expect("a folder");
        let files = [("a/b.md", "text"), ("../../evil", "x"), ("/etc/evil", "y"), ("a/../c", "z")];
        let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
        let folder =
            prepare(scratch.path(), &BTreeMap::from(files), "#!/bin/sh\n").expect("writable");
        let read = |path: &str| fs::read_to_string(folder.path().join(path)).unwrap_or_default();
        assert_eq!(read("a/b.md"), "text");
        assert_eq!(read("_/_/evil") + &read("etc/evil") + &read("a/_/c"), "xyz");
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode(folder.path()), 0o700);
        assert_eq!(mode(&folder.path().join("check")), 0o755);
        assert_eq!(fs::read_dir(scratch.path()).expect("readable").count(), 1);
        drop(folder);
        assert_eq!(fs::read_dir(scratch.path()).expect("readable").count(), 0);
    }

    #[test]
    fn what_it_cost_is_read_or_not_known() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(COST_FILE);
        assert_eq!(cost(&file), Err("there is no cost.json".to_owned()));
        for (text, expected) in [
            ("{\"usd\": 0.25, \"turns\": 7}", Ok(Usd::from_dollars(0.25).expect("an amount"))),
            ("{\"usd\": -1}", Err("cost.json names -1, which is no amount".to_owned())),
        ] {
            fs::write(&file, text).expect("written");
            assert_eq!(cost(&file), expected);
        }
        fs::write(&file, "free").expect("written");
        assert!(cost(&file).expect_err("no JSON").contains("not understood"));
    }
}
