//! Progress of a search or evaluation, from its events.

use std::io::IsTerminal as _;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use evosafe_search::EventSink;
use evosafe_types::{Event, Stage, StageOutcome};
use indicatif::{ProgressBar, ProgressStyle};

/// Seconds between lines where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

struct State {
    bar: ProgressBar,
    terminal: bool,
    started: Instant,
    last_line: Instant,
    candidates: u32,
    cap: Option<u32>,
    stage: String,
    run: u64,
    reused: u64,
    unassessed: u64,
    best: Option<f64>,
}

/// Shows progress on stderr until dropped.
pub struct Progress(Arc<Mutex<State>>);

impl Progress {
    /// Progress towards `cap` candidates, if there is a cap.
    pub fn new(cap: Option<u32>) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = if terminal { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{spinner} {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_spinner());
        bar.set_style(style);
        bar.enable_steady_tick(Duration::from_millis(200));
        let now = Instant::now();
        Self(Arc::new(Mutex::new(State {
            bar,
            terminal,
            started: now,
            last_line: now,
            candidates: 0,
            cap,
            stage: "starting".to_owned(),
            run: 0,
            reused: 0,
            unassessed: 0,
            best: None,
        })))
    }

    /// The sink to hand to a search.
    pub fn sink(&self) -> EventSink {
        let state = Arc::clone(&self.0);
        Arc::new(move |event| {
            // A poisoned lock means that printing panicked; the search goes on silently.
            if let Ok(mut state) = state.lock() {
                state.on(event);
            }
        })
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Ok(state) = self.0.lock() {
            state.bar.finish_and_clear();
        }
    }
}

impl State {
    fn on(&mut self, event: &Event) {
        match event {
            Event::SearchStarted { episodes_found, .. } if *episodes_found > 0 => {
                self.line(&format!("resuming: {episodes_found} episodes are in the archive"));
            }
            Event::StageStarted { candidate, stage, episodes } => {
                self.stage =
                    format!("{} {} ({episodes} episodes)", candidate.short(), stage.as_str());
                if *stage == Stage::Static {
                    self.candidates += 1;
                }
            }
            Event::EpisodeFinished { reused, assessed, .. } => {
                if *reused {
                    self.reused += 1;
                } else {
                    self.run += 1;
                }
                self.unassessed += u64::from(!assessed);
            }
            Event::StageFinished {
                candidate,
                stage,
                outcome: StageOutcome::Stopped { reason, .. },
            } => {
                self.line(&format!("{} stopped at {}: {reason}", candidate.short(), stage.as_str()))
            }
            Event::NewBest { candidate, points } => {
                self.best = Some(*points);
                self.line(&format!(
                    "{} is the best so far: train score {points:+.1}",
                    candidate.short()
                ));
            }
            Event::CorpusGrew { version, added, variants, .. } => {
                self.line(&format!(
                    "train corpus, version {version}: {added} new variants of attacks, {variants} in all"
                ));
            }
            Event::HeldOutOpened { tasks, .. } => {
                self.line(&format!("opening {tasks} tasks the search never saw (recorded)"));
            }
            Event::Warning { message } => self.line(&format!("warning: {message}")),
            _ => {}
        }
        self.show();
    }

    fn line(&mut self, text: &str) {
        if self.terminal {
            self.bar.println(text);
        } else {
            eprintln!("{text}");
        }
    }

    fn show(&mut self) {
        let of = self.cap.map_or_else(String::new, |cap| format!("/{cap}"));
        let best = self.best.map_or_else(String::new, |b| format!("  best {b:+.1}"));
        let lost = match self.unassessed {
            0 => String::new(),
            n => format!("  {n} unassessed"),
        };
        let text = format!(
            "candidate {}{of}  {}  episodes {} run, {} reused{lost}{best}  {}{}",
            self.candidates,
            self.stage,
            self.run,
            self.reused,
            clock(self.started.elapsed()),
            self.left()
        );
        if self.terminal {
            self.bar.set_message(text);
        } else if self.last_line.elapsed() >= LINE_EVERY {
            self.last_line = Instant::now();
            eprintln!("{text}");
        }
    }

    /// Time left, from the pace so far; a guess, and only once there is a pace.
    fn left(&self) -> String {
        match self.cap {
            Some(cap) if self.candidates > 4 && cap > self.candidates => {
                let each = self.started.elapsed() / self.candidates;
                format!(", about {} left", clock(each * (cap - self.candidates)))
            }
            _ => String::new(),
        }
    }
}

fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{}:{:02}", seconds / 60, seconds % 60)
}
