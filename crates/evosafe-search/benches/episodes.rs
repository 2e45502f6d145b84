//! Episodes a second in a built-in domain without a defence, evidence journalled, and whether
//! memory stays flat: `cargo bench -p evosafe-search`. Meaningful on an idle machine only.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use criterion::{Criterion, Throughput, criterion_group};
use evosafe_agent::{Agent, Victim};
use evosafe_archive::Archive;
use evosafe_env::{Environment, EnvironmentSettings};
use evosafe_sandbox::{Sandbox, SandboxOptions};
use evosafe_search::{Evaluator, EvaluatorSetup};
use evosafe_types::{Bundle, JsonMap, RunId, Task, TaskId};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// Episodes a task in the memory study: 100,000 of 160 tasks.
const ROLLOUTS: u32 = 625;

/// H0, the first of the warm start.
fn no_defence() -> Bundle {
    evosafe_spec::seeds().expect("they are embedded").remove(0)
}

/// An evaluator with an archive of its own.
fn evaluator(runtime: &Runtime, at: &Path, rollouts: u32) -> (Arc<Evaluator>, Vec<TaskId>) {
    let settings = EnvironmentSettings::Builtin { domain: "finance".to_owned() };
    let environment =
        runtime.block_on(Environment::start(&settings, None)).expect("it is built in");
    let victim = Victim::open("sim:glm-5", &JsonMap::new()).expect("it is built in");
    let tasks: Vec<Task> = environment.tasks().to_vec();
    let ids = tasks.iter().map(|task| task.id.clone()).collect();
    let (victim_id, environment_id) = (victim.id().to_owned(), environment.id().clone());
    let agent = Arc::new(Agent::new(Arc::new(environment), Arc::new(victim), 30));
    let setup = EvaluatorSetup {
        archive: Arc::new(Archive::open(at).expect("a new folder")),
        agent,
        tasks,
        environment: environment_id,
        victim: victim_id,
        rollouts,
        paid_by: RunId::of(&[b"bench"]),
        concurrency: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        cancel: CancellationToken::new(),
        sink: Arc::new(|_| {}),
    };
    (Evaluator::new(setup), ids)
}

fn run(runtime: &Runtime, sandbox: &Sandbox, evaluator: &Arc<Evaluator>, ids: &[TaskId]) {
    let h0 = no_defence();
    let harness = sandbox.prepare(&h0).expect("no defence is valid");
    let verdicts = runtime.block_on(evaluator.verdicts(&h0.id(), &harness, ids, None));
    assert!(verdicts.expect("it runs").iter().all(|v| v.outcome.is_assessed()));
}

fn parts() -> (Runtime, Sandbox) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let cache_dir = Some(std::env::temp_dir().join("evosafe-bench"));
    let sandbox = Sandbox::new(&SandboxOptions { cache_dir }).expect("the sandbox starts");
    (runtime.expect("a runtime"), sandbox)
}

fn episodes(c: &mut Criterion) {
    let (runtime, sandbox) = parts();
    let mut group = c.benchmark_group("episodes");
    // 160 tasks, 10 rollouts.
    group.throughput(Throughput::Elements(1600)).sample_size(10);
    group.bench_function("finance, no defence, journalled", |b| {
        b.iter_batched(
            || {
                let dir = tempfile::tempdir().expect("a folder");
                let made = evaluator(&runtime, &dir.path().join("archive"), 10);
                (dir, made)
            },
            |(dir, (evaluator, ids))| {
                run(&runtime, &sandbox, &evaluator, &ids);
                dir
            },
            criterion::BatchSize::PerIteration,
        );
    });
    group.finish();
}

fn resident_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or("VmRSS: 0");
    let kib = line.split_whitespace().nth(1).and_then(|n| n.parse::<f64>().ok());
    kib.unwrap_or_default() / 1024.0
}

/// Memory on the way through many episodes of one archive.
fn memory() {
    let (runtime, sandbox) = parts();
    let dir = tempfile::tempdir().expect("a folder");
    let (evaluator, ids) = evaluator(&runtime, &dir.path().join("archive"), ROLLOUTS);
    let started = Instant::now();
    for tenth in ids.chunks(ids.len().div_ceil(10)) {
        run(&runtime, &sandbox, &evaluator, tenth);
        println!(
            "memory: {:.0} MiB after {} episodes, {:.0} s",
            resident_mib(),
            evaluator.counters.run.load(Ordering::Relaxed),
            started.elapsed().as_secs_f64(),
        );
    }
}

criterion_group!(benches, episodes);

fn main() {
    memory();
    benches();
    Criterion::default().configure_from_args().final_summary();
}
