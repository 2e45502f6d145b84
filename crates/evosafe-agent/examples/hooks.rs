//! Hook calls of recorded or simulated runs, and how bundles answer them:
//!
//! `cargo run --release -p evosafe-agent --example hooks -- record CALLS.jsonl DOMAIN VICTIM
//! [bridges=FOLDER] [version=v1.1] [every=N]` runs no defence over every N-th task of a
//! built-in domain or an installed bridge, and writes the hook calls that a harness would get.
//!
//! `... -- answer CALLS.jsonl [rounds=N] [compiled] [BUNDLE...]` gives them to each bundle (all
//! seeds, or names of seeds) and prints a hash of all answers, faults, questions and log
//! lines, and the time of an episode: the least of all rounds of each hook call, added up.
//! Two builds that print the same hashes decide alike, to the byte.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use evosafe_agent::{Agent, Purpose, Victim, begin, feed, recorded_calls};
use evosafe_env::{Environment, EnvironmentSettings};
use evosafe_sandbox::{Harness, Sandbox, SandboxOptions};
use evosafe_types::{HookCall, JsonMap};

type Fallible<T> = Result<T, Box<dyn Error>>;

/// Victim turns of an episode.
const STEPS: u32 = 16;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Fallible<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["record", file, domain, victim, options @ ..] => {
            record(file, domain, victim, options).await
        }
        ["answer", file, options @ ..] => answer(file, options).await,
        _ => Err("usage: hooks record CALLS DOMAIN VICTIM ... | hooks answer CALLS ...".into()),
    }
}

fn sandbox() -> Fallible<Sandbox> {
    let cache_dir = Some(std::env::temp_dir().join("evosafe-hooks"));
    Ok(Sandbox::new(&SandboxOptions { cache_dir })?)
}

async fn record(file: &str, domain: &str, victim: &str, options: &[&str]) -> Fallible<()> {
    let (mut root, mut every) = (None, 1);
    let mut given = JsonMap::new();
    given.insert("attack".to_owned(), "important_instructions".into());
    for option in options {
        match option.split_once('=').ok_or("options are KEY=VALUE")? {
            ("bridges", folder) => root = Some(PathBuf::from(folder)),
            ("every", n) => every = n.parse::<usize>()?.max(1),
            (key, value) => drop(given.insert(key.to_owned(), value.into())),
        }
    }
    let (settings, given) = match root {
        None => (EnvironmentSettings::Builtin { domain: domain.to_owned() }, JsonMap::new()),
        Some(root) => {
            let name = domain.to_owned();
            let (call_timeout, open_timeout) = (Duration::from_secs(60), Duration::from_secs(120));
            let options = given.clone();
            let bridge = EnvironmentSettings::Bridge {
                name,
                root,
                options,
                call_timeout,
                open_timeout,
                processes: 1,
            };
            (bridge, given)
        }
    };
    let environment = Arc::new(Environment::start(&settings, None).await?);
    let victim = Arc::new(Victim::open(victim, &given)?);
    let agent = Agent::new(Arc::clone(&environment), victim, STEPS);
    let seeds = evosafe_spec::seeds()?;
    let harness = sandbox()?.prepare(seeds.first().ok_or("there is no defence")?)?;
    let mut lines = String::new();
    let mut episodes = 0;
    for task in environment.tasks().iter().step_by(every) {
        let result = agent.run(&harness, task, 0, Purpose::default()).await;
        let tools = environment.toolset(&task.suite).unwrap_or_default();
        for (call, _) in recorded_calls(tools, &result.transcript) {
            lines += &evosafe_spec::print_hook_call(&call);
            lines.push('\n');
        }
        episodes += 1;
    }
    std::fs::write(file, lines)?;
    println!("{episodes} episodes in {file}");
    Ok(())
}

async fn answer(file: &str, options: &[&str]) -> Fallible<()> {
    let text = std::fs::read_to_string(file)?;
    let mut calls = Vec::new();
    for (number, line) in text.lines().enumerate() {
        calls.push(evosafe_spec::parse_hook_call(file, number + 1, line)?);
    }
    let (mut rounds, mut compiled, mut names) = (1, false, Vec::new());
    for option in options {
        match option.split_once('=') {
            Some(("rounds", n)) => rounds = n.parse::<usize>()?.max(1),
            _ if *option == "compiled" => compiled = true,
            _ => names.push(*option),
        }
    }
    let sandbox = sandbox()?;
    let (mut all, mut bundles) = (0.0, 0.0);
    for bundle in evosafe_spec::seeds()? {
        let name = bundle.manifest.name.clone();
        if bundle.is_no_defence() || !(names.is_empty() || names.contains(&name.as_str())) {
            continue;
        }
        let harness = match compiled {
            true => sandbox.prepare_component(&bundle, &sandbox.build(&bundle)?)?,
            false => sandbox.prepare(&bundle)?,
        };
        let (hash, [begin, pre, post, other]) = measured(&harness, &calls, rounds).await;
        let sum = begin + pre + post + other;
        println!(
            "{name:24} {hash} {sum:8.2} ms an episode: begin {begin:6.2}, pre-hooks {pre:6.2}, \
             post-hooks {post:6.2}, other {other:6.2}"
        );
        all += sum;
        bundles += 1.0;
    }
    println!("{:24} {:16} {:8.2} ms an episode", "mean", "", all / bundles);
    Ok(())
}

/// Hash of everything it answered in the first round, and milliseconds an episode: starting and
/// `begin`, before calls, after calls, other hooks.
async fn measured(harness: &Harness, calls: &[HookCall], rounds: usize) -> (String, [f64; 4]) {
    let mut least = vec![f64::INFINITY; calls.len()];
    let mut answers = String::new();
    for round in 0..rounds {
        let mut trajectory = None;
        for (call, least) in calls.iter().zip(&mut least) {
            let from = Instant::now();
            let answer = match (call, &mut trajectory) {
                (HookCall::Begin { context, classify }, _) => {
                    let (answer, fresh) = begin(harness, context, classify.clone()).await;
                    if let Some(old) = trajectory.replace(fresh)
                        && round == 0
                    {
                        answers += &format!("{:?}\n", old.finish());
                    }
                    Some(answer)
                }
                (_, Some(trajectory)) => feed(trajectory, call).await,
                (_, None) => None,
            };
            *least = least.min(from.elapsed().as_secs_f64() * 1e3);
            if round == 0 {
                answers += &serde_json::to_string(&answer).unwrap_or_default();
                answers.push('\n');
            }
        }
        if round == 0 {
            answers += &format!("{:?}\n", trajectory.map(evosafe_sandbox::Trajectory::finish));
        }
    }
    let episodes = calls.iter().filter(|c| matches!(c, HookCall::Begin { .. })).count().max(1);
    let hash = blake3::hash(answers.as_bytes()).to_hex()[..16].to_owned();
    let mut kinds = [0.0; 4];
    for (call, ms) in calls.iter().zip(least) {
        let kind = match call {
            HookCall::Begin { .. } => 0,
            HookCall::PreToolCall { .. } => 1,
            HookCall::PostToolCall { .. } => 2,
            _ => 3,
        };
        kinds[kind] += ms / episodes as f64;
    }
    (hash, kinds)
}
