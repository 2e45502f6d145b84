//! A coding agent as Designer: a shell script that reads its folder and hands in what a model
//! would.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use evosafe_e2e::small::{self, KEY};
use evosafe_e2e::{Run, Workspace, holds};
use serde_json::Value;

/// A key of the agent's own. It gets it, and nobody sees it afterwards.
const AGENT_KEY: &str = "sk-of-the-agent-alone-0123456789";

/// Notes each run in `$AGENT_LOG/runs`, as `SLOT RUN PID`. Where `$AGENT_LOG/hang` is there, it does not end.
const AGENT: &str = r#"set -eu
slot=$(sed -n 's/.*Attempt \([0-9]*\).*/\1/p' TASK.md | head -n 1)
run=1
if [ -f FEEDBACK.md ]; then run=2; fi
echo "$slot $run $$" >> "$AGENT_LOG/runs"
env > "$AGENT_LOG/env-$slot-$run"
cp -R . "$AGENT_LOG/folder-$slot-$run"
echo "working with $AGENT_KEY"
if [ -f "$AGENT_LOG/hang" ] && [ "$slot" = 1 ]; then sleep 600; fi
parent=$(sed -n 's/^| \([0-9a-f]*\) | no-defence .*/\1/p' leaderboard.md | head -n 1)
flips='[]'
more=''
case $((slot % 3)) in
0) more=', "mechanisms": [{"name": "destination-scope"}]'
   if [ "$slot" = 0 ] && [ $run = 1 ]; then flips='[{"task": "no/such", "becomes": "goal_lost"}]'; fi ;;
1) cat > submission/harness.js <<'JS'
let calls = 0;
export function onPreToolCall(call) {
  calls += 1;
  return calls > 40 ? block('too many calls [count]') : allow();
}
JS
   echo "My key is $AGENT_KEY." > submission/RATIONALE.md ;;
2) more=', "mechanisms": [{"name": "effect-volume"}, {"name": "destination-scope"}]' ;;
esac
cat > submission/submission.json <<JSON
{"parent": "$parent", "edit": "attempt $slot", "hypothesis": "Relations hold.", "predicted_flips": $flips$more}
JSON
if [ "$slot" != 2 ]; then echo '{"usd": 0.25}' > cost.json; fi
if [ -f "$AGENT_LOG/check" ] && [ $run = 2 ]; then ./check > "$AGENT_LOG/checked" 2>&1; fi
if [ -f "$AGENT_LOG/linger" ]; then sleep 600; fi
"#;

/// The results of no defence in a search, of one kind.
fn results(work: &Workspace, kind: &str) -> Vec<Value> {
    let shown = work.run(&["show", "h0", "--json"]).json();
    let all = shown["results"].as_array().expect("results").iter();
    all.filter(|result| result["kind"] == kind).map(|result| result["body"].clone()).collect()
}

struct Agent {
    work: Workspace,
    log: PathBuf,
    scratch: PathBuf,
}

impl Agent {
    /// A search of which the script is the Designer, alone or with others.
    fn new(designer: &str) -> Self {
        let work = Workspace::new();
        let (log, scratch) = (work.path().join("log"), work.path().join("scratch"));
        fs::create_dir(&log).expect("a folder");
        fs::create_dir(&scratch).expect("a folder");
        let script = work.path().join("agent.sh");
        fs::write(&script, AGENT).expect("written");
        let tables = small::model("victim", "openai", "http://127.0.0.1:9", 1)
            + &format!(
                "[designer]\n{designer}\ncommand = [\"/bin/sh\", \"{}\"]\n\
                 pass_env = [\"AGENT_LOG\", \"AGENT_KEY\"]\n",
                script.display()
            );
        small::write(&work, &tables);
        Self { work, log, scratch }
    }

    /// Puts a line of shell in the script's place.
    fn instead(&self, line: &str) {
        let spec = self.work.path().join("small/spec.toml");
        let toml = fs::read_to_string(&spec).expect("written");
        let script = self.work.path().join("agent.sh").display().to_string();
        fs::write(&spec, toml.replace(&format!("\"{script}\""), &format!("\"-c\", \"{line}\"")))
            .expect("written");
    }

    fn flag(&self, name: &str) {
        fs::write(self.log.join(name), "").expect("written");
    }

    fn command(&self, more: &[&str]) -> Command {
        let victim: &[&str] =
            if more.contains(&"--victim") { &[] } else { &["--victim", "sim:default"] };
        let args = [victim, more].concat();
        let mut command = small::command(&self.work, &args);
        command.env("AGENT_LOG", &self.log).env("AGENT_KEY", AGENT_KEY);
        command.env("TMPDIR", &self.scratch);
        command
    }

    fn search(&self, more: &[&str]) -> Run {
        self.command(more).output().expect("the binary starts").into()
    }

    /// `SLOT RUN` of each run of the script, in order.
    fn runs(&self) -> Vec<String> {
        let text = fs::read_to_string(self.log.join("runs")).unwrap_or_default();
        let slot_and_run = |line: &str| line.rsplit_once(' ').map(|(run, _)| run.to_owned());
        text.lines().filter_map(slot_and_run).collect()
    }

    /// Waits until the script of slot 1 runs; its process id.
    fn hanging(&self) -> String {
        let deadline = Instant::now() + Duration::from_secs(120);
        loop {
            let text = fs::read_to_string(self.log.join("runs")).unwrap_or_default();
            let last = text.lines().last().and_then(|line| line.strip_prefix("1 1 "));
            if let Some(pid) = last.filter(|_| text.ends_with('\n')) {
                return pid.to_owned();
            }
            assert!(Instant::now() < deadline, "slot 1 was never reached: {text}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Every candidate and score. The id of the search is left out: the path of the script is
    /// in its specification.
    fn state(&self) -> Value {
        self.work.run(&["leaderboard", "--json"]).json()["rows"].clone()
    }
}

/// Whether a process is gone, or is within two seconds.
fn goes(pid: &str) -> bool {
    let stat = || fs::read_to_string(format!("/proc/{pid}/stat"));
    let gone = || stat().map_or(true, |stat| stat.contains(") Z "));
    (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        gone()
    })
}

fn count(folder: &Path) -> usize {
    fs::read_dir(folder).expect("readable").count()
}

#[test]
fn what_an_agent_hands_in_is_a_candidate_and_it_learns_nothing_it_must_not() {
    let agent = Agent::new("kind = \"command\"\ncost_limit_usd = 0.5");
    agent.flag("check");
    let ended = agent.search(&["--candidates", "4"]);
    let found = ended.json();
    assert_eq!(found["candidates"], 4);
    assert_eq!(found["ended"], "the budget of 4 candidates is spent");
    assert_eq!(agent.runs(), ["0 1", "0 2", "1 1", "2 1"]);
    let rows = agent.state().to_string();
    for name in ["command-0", "command-1", "command-2"] {
        assert!(rows.contains(name), "{rows}");
    }
    let best = agent.work.run(&["show", "best", "--json"]).json();
    let manifest = best["files"]["bundle.toml"].as_str().expect("a file");
    assert!(manifest.contains("origin = \"command\"\n"), "{manifest}");
    assert!(manifest.contains("edit = \"command: attempt "), "{manifest}");
    let attempt = &best["results"].as_array().expect("results")[0];
    assert_eq!((&attempt["kind"], &attempt["body"]["by"]), (&"attempt".into(), &"command".into()));

    // What was wrong went back, and what was handed in was there to repair.
    let read = |path: &str| fs::read_to_string(agent.log.join(path)).unwrap_or_default();
    let feedback = read("folder-0-2/FEEDBACK.md");
    assert!(feedback.contains("\"no/such\", which is no train task"), "{feedback}");
    assert!(read("folder-0-2/submission/submission.json").contains("no/such"));
    assert!(read("checked").contains("passes: candidate id"), "{}", read("checked"));

    // What it cost is in the ledger; where it did not say, that is said.
    let cost = agent.work.run(&["cost", "--json"]).json();
    let total = &cost["total"];
    assert_eq!((&total["calls"], &total["unpriced"]), (&4.into(), &1.into()));
    assert_eq!(total["cost_nano_usd"], 750_000_000);
    assert!(cost["roles"].to_string().contains("command:sh"), "{cost}");
    assert!(ended.stderr.contains("counts as nothing: there is no cost.json"), "{}", ended.stderr);

    // Its environment and its folder.
    let env = read("env-0-1");
    let names: BTreeSet<&str> =
        env.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    let shell = BTreeSet::from(["PWD", "OLDPWD", "SHLVL", "_"]);
    let expected = BTreeSet::from([
        "AGENT_KEY",
        "AGENT_LOG",
        "EVOSAFE_COST_LIMIT_USD",
        "EVOSAFE_TIME_LIMIT_S",
        "HOME",
        "PATH",
        "TMPDIR",
    ]);
    assert_eq!(names.difference(&shell).copied().collect::<BTreeSet<_>>(), expected);
    assert!(env.contains("EVOSAFE_COST_LIMIT_USD=0.5\n"), "{env}");
    let scratch = fs::canonicalize(&agent.scratch).expect("a folder");
    for own in ["HOME", "TMPDIR"] {
        let value = env.lines().find_map(|line| line.strip_prefix(&format!("{own}=")));
        let value =
            fs::canonicalize(&scratch).map(|s| value.is_some_and(|v| Path::new(v).starts_with(s)));
        assert!(value.expect("a folder"), "{own}");
    }
    let folder = agent.log.join("folder-2-1");
    for file in ["SPEC.md", "experiences.md", "leaderboard.md", "harness-abi.md", "check"] {
        assert!(folder.join(file).is_file(), "{file}");
    }
    assert!(count(&folder.join("candidates")) >= 1 && count(&folder.join("mechanisms")) > 5);
    assert!(!holds(&folder, KEY) && !holds(&folder, AGENT_KEY), "a key is in the folder");
    let (train, held_out) = sides();
    assert!(held_out.len() > 10);
    for id in held_out {
        assert!(!holds(&folder, &id), "{id} is in the folder");
    }
    assert!(train.iter().any(|id| holds(&folder, id)), "train traces are there");
    // Nothing of the agent's key is kept, though it printed it and put it into a file.
    assert!(!holds(&agent.work.archive(), AGENT_KEY), "the agent's key is in the archive");
    assert_eq!(count(&agent.scratch), 0, "prepared folders are left behind");

    // Run again, nothing is run again.
    assert_eq!(agent.search(&["--candidates", "4"]).json()["best"], found["best"]);
    assert_eq!(agent.runs().len(), 4);
}

/// Task ids of the train and of the held-out side, as the domain divides them.
fn sides() -> (Vec<String>, Vec<String>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let settings = evosafe_env::EnvironmentSettings::Builtin { domain: "finance".to_owned() };
        let environment = evosafe_env::Environment::start(&settings, None).await.expect("built in");
        let of = |side: evosafe_types::Side| {
            let all = environment.tasks().iter().filter(|task| task.side == Some(side));
            all.map(|task| task.id.to_string()).collect()
        };
        (of(evosafe_types::Side::Train), of(evosafe_types::Side::HeldOut))
    })
}

#[test]
fn an_agent_ends_with_the_search_and_what_it_finished_is_not_run_again() {
    let whole = Agent::new("kind = \"command\"");
    let expected = whole.search(&["--candidates", "4"]).json();

    let cut = Agent::new("kind = \"command\"");
    cut.flag("hang");
    let start = || {
        let mut command = cut.command(&["--candidates", "4"]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary starts")
    };
    let mut child = start();
    let pid = cut.hanging();
    child.kill().expect("it can be killed");
    assert_eq!(child.wait().expect("it ends").signal(), Some(9));
    assert!(goes(&pid), "the agent lives on without the search");
    assert_eq!(cut.runs(), ["0 1", "0 2", "1 1"]);

    fs::remove_file(cut.log.join("runs")).expect("it is there");
    let mut child = start();
    let pid = cut.hanging();
    let interrupted = Instant::now();
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill runs").success());
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert!(interrupted.elapsed() < Duration::from_secs(5));
    assert!(goes(&pid), "the agent lives on after Ctrl-C");
    assert_eq!(cut.runs(), ["1 1"], "slot 0 came from the journal");

    fs::remove_file(cut.log.join("hang")).expect("it is there");
    let resumed = cut.search(&["--candidates", "4"]).json();
    assert_eq!(cut.runs(), ["1 1", "1 1", "2 1"]);
    assert_eq!(resumed["best"], expected["best"]);
    assert_eq!(cut.state(), whole.state());
    assert_eq!(cut.work.run(&["cost", "--json"]).json()["total"]["calls"], 4);
}

#[test]
fn designers_are_mixed_and_what_stands_when_time_is_up_counts() {
    let mixed = "kind = \"mixed\"\nof = [\"offline\", \"command\"]\ntime_limit_s = 3";
    let shares = |agent: &Agent| agent.work.run(&["lineage", "--json"]).json()["designers"].clone();
    let run = |concurrency: &str| {
        let agent = Agent::new(mixed);
        agent.flag("linger");
        let found = agent.search(&["--concurrency", concurrency]).json();
        (found, agent)
    };
    let (found, one) = run("1");
    assert_eq!(found["candidates"], 7);
    let told = shares(&one);
    let number = |at: usize, key: &str| told[at][key].as_u64().expect("a number");
    assert_eq!(
        (&told[0]["designer"], &told[1]["designer"]),
        (&"offline".into(), &"command".into())
    );
    assert!(number(0, "attempts") > 0 && number(1, "attempts") > 0, "{told}");
    assert_eq!(number(0, "nano_usd"), 0);
    let said = one.runs().iter().filter(|run| !run.starts_with("2 ")).count() as u64;
    assert_eq!(number(1, "nano_usd"), said * 250_000_000, "{told}");
    let rows = one.state().to_string();
    assert!(rows.contains("command-"), "{rows}");
    let text = one.work.run(&["lineage"]).stdout;
    assert!(text.contains("\ncommand: ") && text.contains("better than their parents"), "{text}");

    // Concurrency changes nothing, and neither does another start.
    let (again, four) = run("4");
    assert_eq!(again["best"], found["best"]);
    assert_eq!(four.state(), one.state());
    assert_eq!(shares(&four), told);
    let runs = one.runs();
    assert_eq!(one.search(&["--concurrency", "2"]).json()["best"], found["best"]);
    assert_eq!(one.runs(), runs);
    assert_eq!(shares(&one), told);
}

#[test]
fn keys_of_models_are_not_handed_on_and_a_missing_agent_is_said() {
    let agent = Agent::new("kind = \"command\"");
    let spec = agent.work.path().join("small/spec.toml");
    let toml = fs::read_to_string(&spec).expect("written");
    let refused = |from: &str, to: &str, victim: &str| {
        assert!(toml.contains(from), "{from}");
        fs::write(&spec, toml.replace(from, to)).expect("written");
        let mut command = agent.command(&["--victim", victim, "--candidates", "2"]);
        let run: Run = command.env("OPENAI_API_KEY", KEY).output().expect("it starts").into();
        assert_eq!(run.code, Some(3), "{}", run.stderr);
        run.stderr
    };
    let said = refused("\"AGENT_KEY\"", "\"SCRIPTED_KEY\"", "sim:default");
    assert!(said.contains("the key of `[models.victim]`"), "{said}");
    let said = refused("\"AGENT_KEY\"", "\"OPENAI_API_KEY\"", "openai:gpt-4o-mini");
    assert!(said.contains("OPENAI_API_KEY, the victim's key"), "{said}");
    let said = refused("\"AGENT_KEY\"", "\"NO_SUCH_VARIABLE\"", "sim:default");
    assert!(said.contains("the environment has no such variable"), "{said}");
    let said = refused("\"/bin/sh\"", "\"no-such-agent\"", "sim:default");
    assert!(said.contains("cannot start the Designer's command \"no-such-agent\""), "{said}");
    assert!(agent.runs().is_empty());
}

#[test]
fn a_run_without_a_submission_fails_and_one_that_failed_for_now_does_not_count() {
    let silent = Agent::new("kind = \"command\"");
    silent.instead("echo nothing to say; exit 4");
    let found = silent.search(&["--candidates", "3"]).json();
    assert_eq!(found["candidates"], 1);
    assert_eq!(found["ended"], "the Designer handed in nothing new in 3 batches");
    let attempts = results(&silent.work, "attempt");
    assert_eq!(attempts.len(), 9);
    assert_eq!((&attempts[0]["by"], &attempts[0]["cost"]["calls"]), (&"command".into(), &3.into()));
    let why = attempts[0]["failed"].as_str().expect("a reason");
    assert!(why.contains("nothing was handed in (it ended with exit code 4"), "{why}");
    assert!(why.contains("nothing to say"), "{why}");

    let away = Agent::new("kind = \"command\"");
    away.instead("echo $AGENT_KEY is not served; exit 75");
    let run = away.search(&["--candidates", "3"]);
    assert_eq!(run.code, Some(6), "{}", run.stderr);
    assert!(
        run.stderr.contains("failed for now: [value of AGENT_KEY] is not served"),
        "{}",
        run.stderr
    );
    assert!(results(&away.work, "attempt").is_empty());
    assert_eq!(away.work.run(&["cost", "--json"]).json()["total"]["calls"], 0);
}
