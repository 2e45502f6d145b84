//! Size and speed with as much evidence as a long search has. Run by hand:
//! `cargo test --release -p evosafe-archive --test archive scale -- --ignored --nocapture`.

use std::time::Instant;

use evosafe_archive::Archive;

use crate::samples::{evidence, key, run};

const EPISODES: u64 = 30_000;
const FLUSH_EVERY: u64 = 180;
const THREADS: u64 = 8;

/// Memory of our own, without mapped files.
fn own_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) >> 10
}

#[test]
#[ignore = "takes minutes; run by hand"]
fn thirty_thousand_episodes() {
    let dir = tempfile::tempdir().expect("a folder");
    let archive = Archive::open(dir.path()).expect("opens");
    let (mut recording, mut flushing) = (0.0, 0.0);
    for start in (0..EPISODES).step_by(FLUSH_EVERY as usize) {
        let watch = Instant::now();
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let archive = &archive;
                scope.spawn(move || {
                    for n in start..start + FLUSH_EVERY {
                        if n % THREADS == thread {
                            let size = 10_000 + (n * 977 % 50_000) as usize;
                            archive.record_evidence(&evidence(n, size), &run(1)).expect("records");
                        }
                    }
                });
            }
        });
        recording += watch.elapsed().as_secs_f64();
        let watch = Instant::now();
        archive.flush().expect("flushes");
        flushing += watch.elapsed().as_secs_f64();
        if start % (FLUSH_EVERY * 20) == 0 {
            let last = watch.elapsed().as_millis();
            let rss = own_mib();
            println!(
                "{start}: recording {recording:.1} s, flushing {flushing:.1} s (last {last} ms), {rss} MiB"
            );
        }
    }
    drop(archive);
    let watch = Instant::now();
    let archive = Archive::open(dir.path()).expect("opens");
    println!("open {} ms, {} MiB", watch.elapsed().as_millis(), own_mib());
    let timed = |what: &str, archive: &Archive| {
        let watch = Instant::now();
        for n in 0..EPISODES {
            assert!(archive.outcome(&key(n)).expect("reads").is_some());
        }
        let each = watch.elapsed().as_micros() / u128::from(EPISODES);
        println!("{what}: outcome {each} us each, {} MiB", own_mib());
        let watch = Instant::now();
        for n in (0..EPISODES).step_by(30) {
            assert!(archive.evidence(&key(n)).expect("reads").is_some());
        }
        println!("{what}: evidence {} us each", watch.elapsed().as_micros() / 1_000);
    };
    timed("writer", &archive);
    drop(archive);
    let watch = Instant::now();
    let reader = Archive::open_read(dir.path()).expect("opens");
    println!("open_read {} ms", watch.elapsed().as_millis());
    timed("reader", &reader);
    let watch = Instant::now();
    Archive::reindex(dir.path()).expect("rebuilds");
    println!("reindex {} ms, {} MiB", watch.elapsed().as_millis(), own_mib());
    let watch = Instant::now();
    let report = Archive::fsck(dir.path(), &|_| Err("none".to_owned())).expect("checks");
    println!("fsck {} ms, {} MiB", watch.elapsed().as_millis(), own_mib());
    assert_eq!(report.problems, []);
    let size = |path: &str| {
        let output =
            std::process::Command::new("du").arg("-sm").arg(dir.path().join(path)).output();
        String::from_utf8_lossy(&output.expect("du runs").stdout).trim().to_owned()
    };
    println!("{}; {}; {}", size("."), size("objects"), size("evosafe/index"));
}
