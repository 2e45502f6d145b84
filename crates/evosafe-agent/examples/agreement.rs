//! Replays H0 over every recorded run of a pipeline and compares the flags:
//!
//! `cargo run --release -p evosafe-agent --example agreement -- BRIDGES BRIDGE RECORDINGS
//! version=v1.1 [attack=NAME] [judges=0.1.0] [processes=N] [harness=FILE.js]`
//!
//! BRIDGES is the folder that bridges are installed in, BRIDGE one of them. `processes` and
//! `harness` are for this program, the rest goes to the bridge. With a harness, what it
//! changes is listed as exceptions.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use evosafe_agent::{Agent, EpisodeResult, Purpose, Recorded, Victim};
use evosafe_env::{Environment, EnvironmentSettings};
use evosafe_sandbox::{Harness, Sandbox, SandboxOptions};
use evosafe_types::{
    Bundle, Family, HarnessLimits, JsonMap, Language, Manifest, Origin, Outcome, Task,
};
use tokio::task::JoinSet;

/// Victim turns of an episode: the benchmark's loop.
const STEPS: u32 = 16;

fn no_defence() -> Bundle {
    Bundle {
        policy: None,
        code: None,
        component: None,
        rationale: String::new(),
        manifest: Manifest {
            abi: 1,
            language: Language::Javascript,
            name: "no-defence".to_owned(),
            parents: Vec::new(),
            origin: Origin::Seed,
            edit: String::new(),
            limits: HarnessLimits::default(),
            mechanisms: Vec::new(),
        },
        manifest_text: String::new(),
    }
}

#[derive(Default)]
struct Tally {
    compared: u32,
    agree: u32,
    utility: u32,
    security: u32,
    live_utility: u32,
    live_security: u32,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [bridges, bridge, recordings, rest @ ..] = args.as_slice() else {
        return Err("usage: agreement BRIDGES BRIDGE RECORDINGS KEY=VALUE...".into());
    };
    let mut options = JsonMap::new();
    options.insert("attack".to_owned(), "important_instructions".into());
    let mut processes = 2;
    let mut bundle = no_defence();
    for option in rest {
        match option.split_once('=').ok_or("options are KEY=VALUE")? {
            ("processes", n) => processes = n.parse::<u32>()?,
            ("harness", file) => bundle.code = Some(std::fs::read_to_string(file)?),
            (key, value) => drop(options.insert(key.to_owned(), value.into())),
        }
    }
    let victim = Arc::new(Victim::open(&format!("replay:{recordings}"), &options)?);
    println!("victim {}", victim.id());
    let settings = EnvironmentSettings::Bridge {
        name: bridge.clone(),
        root: PathBuf::from(bridges),
        options,
        call_timeout: Duration::from_secs(60),
        open_timeout: Duration::from_secs(120),
        processes,
    };
    let environment = Arc::new(Environment::start(&settings, None).await?);
    let sandbox = tokio::task::spawn_blocking(|| {
        let cache_dir = Some(std::env::temp_dir().join("evosafe-agreement"));
        Sandbox::new(&SandboxOptions { cache_dir })
    })
    .await??;
    let harness = sandbox.prepare(&bundle)?;
    let agent = Arc::new(Agent::new(Arc::clone(&environment), Arc::clone(&victim), STEPS));
    let started = Instant::now();
    let results = run_all(&environment, &agent, &harness, processes).await?;
    println!("{} episodes in {:.0} s", results.len(), started.elapsed().as_secs_f64());
    for notice in victim.notices() {
        println!("note: {notice}");
    }
    report(&victim, &results);
    Ok(())
}

async fn run_all(
    environment: &Arc<Environment>,
    agent: &Arc<Agent>,
    harness: &Harness,
    processes: u32,
) -> Result<Vec<(Task, EpisodeResult)>, Box<dyn Error>> {
    let permits = Arc::new(tokio::sync::Semaphore::new(processes as usize));
    let mut running = JoinSet::new();
    for (place, task) in environment.tasks().iter().cloned().enumerate() {
        let (agent, harness, permits) = (Arc::clone(agent), harness.clone(), Arc::clone(&permits));
        running.spawn(async move {
            let permit = permits.acquire_owned().await;
            let result = agent.run(&harness, &task, 0, Purpose::default()).await;
            drop(permit);
            (place, task, result)
        });
    }
    let mut results = Vec::new();
    while let Some(joined) = running.join_next().await {
        results.push(joined?);
    }
    results.sort_by_key(|(place, ..)| *place);
    Ok(results.into_iter().map(|(_, task, result)| (task, result)).collect())
}

fn report(victim: &Victim, results: &[(Task, EpisodeResult)]) {
    let mut tallies: BTreeMap<(Family, &str), Tally> = BTreeMap::new();
    let missing = results.iter().filter(|(task, _)| victim.recorded(task).is_none()).count();
    println!("{missing} tasks of the environment were not recorded");
    for (task, result) in results {
        let Some(recorded) = victim.recorded(task) else { continue };
        if recorded.api_error {
            continue;
        }
        let Outcome::Assessed { task_success, attack_success } = &result.outcome else {
            println!("UNASSESSED {} {:?}", task.id, result.outcome);
            continue;
        };
        let (utility, security) = (task_success.unwrap_or(false), attack_success.unwrap_or(false));
        // Benign runs carry a security flag that means nothing.
        let attacked = task.family.is_attack();
        let agree = utility == recorded.utility && (!attacked || security == recorded.security);
        for suite in [task.suite.as_str(), "(all)"] {
            let tally = tallies.entry((task.family, suite)).or_default();
            tally.compared += 1;
            tally.agree += u32::from(agree);
            tally.utility += u32::from(recorded.utility);
            tally.live_utility += u32::from(utility);
            tally.security += u32::from(attacked && recorded.security);
            tally.live_security += u32::from(attacked && security);
        }
        if !agree {
            exception(victim, task, recorded, (utility, security), result);
        }
    }
    for ((family, suite), t) in &tallies {
        let share = |n: u32| 100.0 * f64::from(n) / f64::from(t.compared);
        println!(
            "{:9} {suite:12} n {:4}  agree {:6.2} %  utility {:5.1} -> {:5.1}  attack {:5.1} -> {:5.1}",
            family.as_str(),
            t.compared,
            share(t.agree),
            share(t.utility),
            share(t.live_utility),
            share(t.security),
            share(t.live_security),
        );
    }
    let (agree, compared) = tallies
        .iter()
        .filter(|((_, suite), _)| *suite == "(all)")
        .fold((0, 0), |(a, n), (_, t)| (a + t.agree, n + t.compared));
    println!(
        "total: {agree} of {compared}, {:.2} %",
        100.0 * f64::from(agree) / f64::from(compared)
    );
}

fn exception(
    victim: &Victim,
    task: &Task,
    recorded: Recorded,
    live: (bool, bool),
    result: &EpisodeResult,
) {
    println!(
        "EXCEPTION {}: utility {} -> {}, attack {} -> {}, end {:?}",
        task.id, recorded.utility, live.0, recorded.security, live.1, result.transcript.end
    );
    let Victim::Replay(replay) = victim else { return };
    for d in replay.differences(task, &result.transcript).iter().take(4) {
        println!("    turn {} call {} {}: {:?}", d.turn, d.call, d.tool, d.recorded);
        println!("    {:>1$} {2:?}", "live", 14 + d.tool.len(), d.live);
    }
}
