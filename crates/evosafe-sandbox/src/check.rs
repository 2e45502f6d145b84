//! Stage 0: does a bundle build, and do its hooks answer sample input within its limits?

use std::sync::Arc;

use evosafe_types::{Bundle, RunContext};

use crate::component::WASM_FILE;
use crate::error::{CheckReport, Finding};
use crate::host::{Classifier, ClassifyFuture};
use crate::instance::Located;
use crate::sample;
use crate::sandbox::{Harness, Sandbox};
use crate::source::CODE_FILE;
use crate::surface::hook_name;
use crate::trajectory::TrajectoryLog;

/// Findings a trial run reports; a harness that fails everywhere fails alike.
const MAX_FINDINGS: usize = 20;

impl Sandbox {
    /// Stage 0: prepares the bundle, then calls every hook on sample input (several tool
    /// lists, arguments, results and answers, odd Unicode), twice; once more with a model
    /// that answers if it asks for one. A finding is a fault, or an answer that differs the second time.
    pub async fn check(&self, bundle: &Bundle) -> CheckReport {
        let harness = match self.prepare(bundle) {
            Ok(harness) => harness,
            Err(error) => {
                return CheckReport { findings: error.findings, ..CheckReport::default() };
            }
        };
        let file = if bundle.component.is_some() { WASM_FILE } else { CODE_FILE };
        let hooks = harness.hooks().iter().map(|hook| hook_name(*hook).to_owned()).collect();
        let mut report = CheckReport { hooks, ..CheckReport::default() };
        if harness.hooks().is_empty() {
            return report;
        }
        let yes = |_: String, _: String| -> ClassifyFuture {
            Box::pin(async { Ok("yes, definitely".to_owned()) })
        };
        let answering = Classifier::Answer(Arc::new(yes));
        for ctx in sample::contexts() {
            let first = trial(&harness, &ctx, &Classifier::Absent).await;
            let second = trial(&harness, &ctx, &Classifier::Absent).await;
            if first.answers != second.answers || first.log != second.log {
                let message = "answers differ between two runs on the same input";
                add(&mut report, Finding::in_file(file, message));
            }
            let asks = !first.log.classify.is_empty();
            tally(&mut report, file, first);
            report.calls += second.calls;
            if asks {
                tally(&mut report, file, trial(&harness, &ctx, &answering).await);
            }
        }
        report
    }
}

pub struct Trial {
    calls: u32,
    /// Every answer in order, printed.
    pub answers: Vec<String>,
    pub log: TrajectoryLog,
    pub faults: Vec<Located>,
}

/// One trajectory over all sample input.
pub async fn trial(harness: &Harness, ctx: &RunContext, classifier: &Classifier) -> Trial {
    let mut run = harness.start(ctx, classifier.clone()).await;
    let mut answers = vec![format!("{:?}", run.hidden_tools())];
    for prompt in sample::TEXTS {
        answers.push(run.system_prompt(prompt).await);
    }
    let calls = sample::calls(ctx);
    for (i, call) in calls.iter().enumerate() {
        answers.push(format!("{:?}", run.pre_tool_call(call).await));
        let result = sample::result(i);
        answers.push(format!("{:?}", run.post_tool_call(call, &result).await));
    }
    for text in sample::TEXTS {
        run.user_message(text).await;
        answers.push(format!("{:?}", run.final_answer(text).await));
    }
    let calls = u32::try_from(answers.len() + sample::TEXTS.len()).unwrap_or(u32::MAX);
    let (log, faults) = run.finish_located();
    Trial { calls, answers, log, faults }
}

fn tally(report: &mut CheckReport, file: &str, trial: Trial) {
    report.calls += trial.calls;
    report.log.extend(trial.log.log);
    for located in &trial.faults {
        // What follows a fault is not news.
        if located.fault.kind == crate::error::kind::POISONED {
            continue;
        }
        let fault = &located.fault;
        let message = format!("{} ({}): {}", hook_name(fault.hook), fault.kind, fault.message);
        let (line, column) = located.position.unzip();
        add(report, Finding { file: file.to_owned(), line, column, message });
    }
}

fn add(report: &mut CheckReport, finding: Finding) {
    if report.findings.len() < MAX_FINDINGS && !report.findings.contains(&finding) {
        report.findings.push(finding);
    }
}
