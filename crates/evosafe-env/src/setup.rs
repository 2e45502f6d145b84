//! Installing bridges: a virtual environment each, with pinned packages.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde::Serialize;
use tempfile::TempDir;
use tokio::process::Command;

use crate::{EnvError, Environment, EnvironmentSettings};

/// The scripts of the AgentDojo bridge; forks of the package are driven by the same ones.
const SCRIPTS: [(&str, &str); 7] = [
    ("bridge.py", include_str!("../bridges/agentdojo/bridge.py")),
    ("clock.py", include_str!("../bridges/agentdojo/clock.py")),
    ("dojo.py", include_str!("../bridges/agentdojo/dojo.py")),
    ("errors.py", include_str!("../bridges/agentdojo/errors.py")),
    ("judges.py", include_str!("../bridges/agentdojo/judges.py")),
    ("payload.py", include_str!("../bridges/agentdojo/payload.py")),
    ("speed.py", include_str!("../bridges/agentdojo/speed.py")),
];

/// The packages of the AgentDojo bridge, pinned.
const REQUIREMENTS: &str = include_str!("../bridges/agentdojo/requirements.txt");

/// Bridges that can be set up: name, whether a checkout is needed, options that any
/// version of it must accept.
const KNOWN: [(&str, bool, &str); 2] = [
    ("agentdojo", false, r#"{"version":"v1","suites":["banking"]}"#),
    ("agentdyn", true, r#"{"version":"v1.2.2","suites":["shopping"]}"#),
];

/// Oldest Python that AgentDojo runs on.
const OLDEST_PYTHON: (u32, u32) = (3, 10);

/// Why a bridge could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// No such bridge.
    #[error("there is no bridge `{name}`; there are: agentdojo, agentdyn")]
    Unknown {
        /// As asked.
        name: String,
    },
    /// A checkout is needed and was not given.
    #[error("bridge `{name}` is installed from a checkout: pass --from FOLDER")]
    NeedsCheckout {
        /// The bridge.
        name: String,
    },
    /// The checkout is not one.
    #[error("{} is not a checkout of a Python package: there is no pyproject.toml", .0.display())]
    NoCheckout(PathBuf),
    /// There is no usable Python.
    #[error("no Python {}.{} or newer was found as `python3`{}; install it and its venv module (Debian: apt-get install python3 python3-venv)", OLDEST_PYTHON.0, OLDEST_PYTHON.1, .0)]
    NoPython(String),
    /// A command failed.
    #[error("`{command}` failed: {detail}")]
    Command {
        /// The command.
        command: String,
        /// The end of its output.
        detail: String,
    },
    /// A folder could not be read or written.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It was installed but does not work.
    #[error("bridge `{name}` was installed but does not answer: {source}")]
    Broken {
        /// The bridge.
        name: String,
        /// Why.
        source: EnvError,
    },
}

/// An installed bridge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Installed {
    /// Name.
    pub name: String,
    /// Version of the benchmark package.
    pub version: String,
    /// Its virtual environment.
    pub folder: PathBuf,
}

/// Installs a bridge into `root/name` and checks that it answers. `say` hears one line
/// a step.
///
/// # Errors
/// Names the step that failed and what to do.
pub async fn setup_bridge(
    name: &str,
    from: Option<&Path>,
    root: &Path,
    say: &(dyn Fn(&str) + Sync),
) -> Result<Installed, SetupError> {
    setup_with(Path::new("python3"), name, from, root, say).await
}

async fn setup_with(
    interpreter: &Path,
    name: &str,
    from: Option<&Path>,
    root: &Path,
    say: &(dyn Fn(&str) + Sync),
) -> Result<Installed, SetupError> {
    let Some((_, needs_checkout, options)) = KNOWN.into_iter().find(|(n, ..)| *n == name) else {
        return Err(SetupError::Unknown { name: name.to_owned() });
    };
    if needs_checkout && from.is_none() {
        return Err(SetupError::NeedsCheckout { name: name.to_owned() });
    }
    if let Some(folder) = from
        && !folder.join("pyproject.toml").is_file()
    {
        return Err(SetupError::NoCheckout(folder.to_owned()));
    }
    let folder = root.join(name);
    let python = folder.join("bin/python");
    if !python.is_file() {
        check_python(interpreter).await?;
        std::fs::create_dir_all(root)
            .map_err(|source| SetupError::Io { path: root.to_owned(), source })?;
        say(&format!("creating a virtual environment in {}", folder.display()));
        run(Command::new(interpreter).args(["-m", "venv"]).arg(&folder)).await?;
    }
    let pip = |args: &[&str]| {
        let mut command = Command::new(&python);
        command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(args);
        command
    };
    // A fork is resolved by its own metadata, with our pins as constraints.
    let pins: String = match from {
        None => REQUIREMENTS.to_owned(),
        Some(_) => {
            let others = REQUIREMENTS.lines().filter(|l| !l.starts_with("agentdojo=="));
            others.map(|line| format!("{line}\n")).collect()
        }
    };
    let list = folder.join("requirements.txt");
    std::fs::write(&list, pins).map_err(|source| SetupError::Io { path: list.clone(), source })?;
    match from {
        None => {
            say("installing pinned packages (about 300 MB the first time)");
            run(pip(&["-r"]).arg(&list)).await?;
        }
        Some(checkout) => {
            say(&format!("installing {} with pinned packages", checkout.display()));
            run(pip(&["-c"]).arg(&list).arg(checkout)).await?;
        }
    }
    say("checking that it answers");
    let options = serde_json::from_str(options).unwrap_or_default();
    let settings = EnvironmentSettings::Bridge {
        name: name.to_owned(),
        root: root.to_owned(),
        options,
        call_timeout: Duration::from_secs(60),
        open_timeout: Duration::from_secs(180),
        processes: 1,
    };
    let environment = Environment::start(&settings, None)
        .await
        .map_err(|source| SetupError::Broken { name: name.to_owned(), source })?;
    let version = environment.version().split('/').next().unwrap_or_default().to_owned();
    environment.shutdown().await;
    let done = folder.join("evosafe-version");
    std::fs::write(&done, &version).map_err(|source| SetupError::Io { path: done, source })?;
    Ok(Installed { name: name.to_owned(), version, folder })
}

/// Bridges that were set up to the end.
///
/// # Errors
/// If the folder cannot be read.
pub fn list(root: &Path) -> Result<Vec<Installed>, SetupError> {
    let mut found = Vec::new();
    for (name, ..) in KNOWN {
        let folder = root.join(name);
        match std::fs::read_to_string(folder.join("evosafe-version")) {
            Ok(version) => found.push(Installed {
                name: name.to_owned(),
                version: version.trim().to_owned(),
                folder,
            }),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(source) => return Err(SetupError::Io { path: folder, source }),
        }
    }
    Ok(found)
}

/// The interpreter of an installed bridge.
pub(crate) fn python_of(root: &Path, name: &str) -> Result<PathBuf, EnvError> {
    let folder = root.join(name);
    let python = folder.join("bin/python");
    if python.is_file() {
        Ok(python)
    } else {
        Err(EnvError::NotInstalled { name: name.to_owned(), folder })
    }
}

/// Writes the scripts of this version where a process can read them.
pub(crate) fn unpack_scripts() -> std::io::Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("evosafe-bridge-").tempdir()?;
    for (name, text) in SCRIPTS {
        std::fs::write(folder.path().join(name), text)?;
    }
    Ok(folder)
}

async fn check_python(interpreter: &Path) -> Result<(), SetupError> {
    let code = "import sys, venv, ensurepip; print(*sys.version_info[:2])";
    let output = Command::new(interpreter)
        .args(["-c", code])
        .stdin(Stdio::null())
        .output()
        .await
        .map_err(|e| SetupError::NoPython(format!(" ({e})")))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut numbers = text.split_whitespace().map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) if (major, minor) >= OLDEST_PYTHON => Ok(()),
        (Some(Ok(major)), Some(Ok(minor))) => {
            Err(SetupError::NoPython(format!(" (it is {major}.{minor})")))
        }
        _ => Err(SetupError::NoPython(" with the venv module".to_owned())),
    }
}

async fn run(command: &mut Command) -> Result<(), SetupError> {
    let shown = {
        let c = command.as_std();
        let args: Vec<_> = c.get_args().map(|a| a.to_string_lossy().into_owned()).collect();
        format!("{} {}", c.get_program().to_string_lossy(), args.join(" "))
    };
    let fail = |detail: String| SetupError::Command { command: shown.clone(), detail };
    let output = command
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .map_err(|e| fail(e.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let last: Vec<&str> = text.lines().rev().take(5).collect();
    Err(fail(last.into_iter().rev().collect::<Vec<_>>().join(" / ")))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    async fn refusal(python: &str, name: &str, from: Option<&Path>) -> String {
        let root = tempfile::tempdir().expect("a temporary folder");
        let interpreter = root.path().join("interpreter");
        if !python.is_empty() {
            std::fs::write(&interpreter, format!("#!/bin/sh\n{python}\n")).expect("writable");
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(&interpreter, mode).expect("own file");
        }
        let done = setup_with(&interpreter, name, from, root.path(), &|_| {}).await;
        done.expect_err("it cannot work").to_string()
    }

    #[tokio::test]
    async fn what_is_missing_is_named() {
        let elsewhere = Path::new("/nonexistent");
        for (python, name, from, says) in [
            ("", "zoo", None, "there is no bridge `zoo`; there are: agentdojo, agentdyn"),
            ("", "agentdyn", None, "--from FOLDER"),
            ("", "agentdyn", Some(elsewhere), "no pyproject.toml"),
            ("", "agentdojo", None, "apt-get install python3 python3-venv"),
            ("echo 3 9", "agentdojo", None, "(it is 3.9)"),
            ("echo No module named ensurepip >&2; exit 1", "agentdojo", None, "venv module"),
            (
                "case $1 in -c) echo 3 11;; *) echo disk full >&2; exit 1;; esac",
                "agentdojo",
                None,
                "disk full",
            ),
        ] {
            let message = refusal(python, name, from).await;
            assert!(message.contains(says), "{name}: {message}");
        }
    }

    #[test]
    fn what_was_not_finished_is_not_listed() {
        let root = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir_all(root.path().join("agentdojo/bin")).expect("writable");
        assert_eq!(list(root.path()).expect("readable"), []);
        std::fs::write(root.path().join("agentdojo/evosafe-version"), "0.1.35\n")
            .expect("writable");
        let found = list(root.path()).expect("readable");
        assert_eq!(found[0].version, "0.1.35");
    }
}
