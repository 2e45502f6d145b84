//! Many bundles against H0 on the same tasks: the table that a search must beat.

use std::sync::Arc;

use evosafe_types::{Bundle, ComparisonRow, SemanticStep};

use crate::SearchError;
use crate::analyzer;
use crate::evaluate::{Bench, EvaluateConfig};

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
        if let Some(evidence) = bench.evaluator.evidence(&candidate, id)? {
            let asked = &evidence.transcript.classify;
            semantic.asked += asked.len() as u64;
            semantic.answered += asked.iter().filter(|c| c.answer.is_ok()).count() as u64;
        }
    }
    Ok(ComparisonRow {
        name: bundle.manifest.name.clone(),
        origin: bundle.manifest.origin.clone(),
        evaluation: bench.report(&candidate, &verdicts)?,
        false_blocks: failures.blocked_by.into_iter().map(|(rule, f)| (rule, f.n)).collect(),
        semantic,
    })
}
