//! Many bundles against H0 on the same tasks: the table that a search must beat.

use std::sync::Arc;
use std::time::Duration;

use evosafe_agent::rerun;
use evosafe_types::{Bundle, ComparisonRow, SemanticStep};

use crate::SearchError;
use crate::analyzer;
use crate::clock::Stopwatch;
use crate::evaluate::{Bench, EvaluateConfig};

/// Episodes that hook time is measured on.
const TIMED: usize = 40;

/// One row for each bundle, in the order given; H0 is the reference of each.
///
/// # Errors
/// If the user interrupts, the archive fails or a bundle does not build.
pub async fn compare(
    config: EvaluateConfig,
    bundles: &[Bundle],
) -> Result<Vec<ComparisonRow>, SearchError> {
    let archive = Arc::clone(&config.archive);
    let rows = async {
        let bench = Bench::open(config).await?;
        let mut rows = Vec::new();
        for bundle in bundles {
            rows.push(row(&bench, bundle).await?);
        }
        Ok(rows)
    };
    let rows = rows.await;
    archive.flush()?;
    rows
}

async fn row(bench: &Bench, bundle: &Bundle) -> Result<ComparisonRow, SearchError> {
    let candidate = bundle.id();
    let verdicts = bench.verdicts(bundle).await?;
    let failures = analyzer::analyse(&bench.evaluator, &candidate, &verdicts, &bench.reference)?;
    let mut semantic = SemanticStep::default();
    for id in &bench.ids {
        for evidence in bench.evaluator.all_evidence(&candidate, id)? {
            let asked = &evidence.transcript.classify;
            semantic.asked += asked.len() as u64;
            semantic.answered += asked.iter().filter(|c| c.answer.is_ok()).count() as u64;
        }
    }
    let hook_us = hook_time(bench, bundle).await?;
    Ok(ComparisonRow {
        name: bundle.manifest.name.clone(),
        origin: bundle.manifest.origin.clone(),
        evaluation: bench.report(&candidate, &verdicts)?,
        false_blocks: failures.blocked_by.into_iter().map(|(rule, f)| (rule, f.n)).collect(),
        semantic,
        hook_us,
    })
}

/// Microseconds of a hook call, the share of starting the trajectory included, over some
/// recorded episodes that are run through the hooks again. Evidence holds no times.
async fn hook_time(bench: &Bench, bundle: &Bundle) -> Result<Option<f64>, SearchError> {
    let (candidate, harness) = (bundle.id(), bench.prepare(bundle)?);
    let mut calls = 0u32;
    let mut spent = Duration::ZERO;
    let step = (bench.ids.len() / TIMED).max(1);
    for id in bench.ids.iter().step_by(step) {
        let Some(evidence) = bench.evaluator.evidence(&candidate, id, 0)? else { continue };
        let Some(tools) = bench.tools(id) else { continue };
        let watch = Stopwatch::start();
        if let Ok(made) = rerun(&harness, tools, &evidence.transcript).await {
            calls += made;
            spent += watch.elapsed();
        }
    }
    Ok((calls > 0).then(|| spent.as_secs_f64() * 1e6 / f64::from(calls)))
}
