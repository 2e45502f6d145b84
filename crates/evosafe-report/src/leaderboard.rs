//! Candidates of a search, best first.

use evosafe_archive::{Archive, ResultKind};
use evosafe_types::{Bundle, CandidateId, RunId, Score, Stage, StageOutcome};
use serde::{Deserialize, Serialize};

use crate::ReportError;
use crate::table::{percent, plain, points};

/// One candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its id.
    pub candidate: CandidateId,
    /// Name for people.
    pub name: String,
    /// Who wrote it.
    pub origin: String,
    /// The edit.
    pub edit: String,
    /// Parents.
    pub parents: Vec<CandidateId>,
    /// Bytes of policy and code.
    pub size: usize,
    /// The last stage it passed.
    pub stage: Option<Stage>,
    /// Why it was stopped.
    pub stopped: Option<String>,
    /// Score on the search prefix.
    pub search: Option<Score>,
    /// Score on the wide prefix.
    pub wide: Option<Score>,
    /// Search score in points.
    pub search_score: Option<f64>,
    /// Wide score in points.
    pub wide_score: Option<f64>,
    /// Whether it may win; known once it was run wide.
    pub eligible: Option<bool>,
}

/// One candidate's row.
///
/// # Errors
/// If it is not in the archive or damaged.
pub fn row(archive: &Archive, run: &RunId, id: &CandidateId) -> Result<Row, ReportError> {
    let files =
        archive.candidate_files(id)?.ok_or_else(|| ReportError::Missing(id.short().to_owned()))?;
    let bundle: Bundle = evosafe_spec::bundle_from_files(&files)?;
    let manifest = &bundle.manifest;
    let mut row = Row {
        candidate: id.clone(),
        name: manifest.name.clone(),
        origin: match &manifest.origin {
            evosafe_types::Origin::Seed => "seed".to_owned(),
            evosafe_types::Origin::Designer(name) => name.clone(),
        },
        edit: manifest.edit.clone(),
        parents: manifest.parents.clone(),
        size: bundle.size(),
        stage: None,
        stopped: None,
        search: None,
        wide: None,
        search_score: None,
        wide_score: None,
        eligible: None,
    };
    for record in archive.results(id)? {
        if record.run.as_ref() != Some(run) {
            continue;
        }
        let field = |name: &str| record.body.get(name).cloned().unwrap_or_default();
        if record.kind == ResultKind::Promotion {
            row.eligible = field("eligible").as_bool();
        }
        if record.kind != ResultKind::Stage {
            continue;
        }
        let Ok(stage) = serde_json::from_value::<Stage>(field("stage")) else { continue };
        match serde_json::from_value::<StageOutcome>(field("outcome")) {
            Ok(StageOutcome::Passed { score, .. }) => {
                row.stage = row.stage.max(Some(stage));
                match stage {
                    Stage::Search => row.search = score,
                    Stage::Wide => row.wide = score,
                    _ => {}
                }
            }
            Ok(StageOutcome::Stopped { reason, .. }) => {
                row.stopped = Some(format!("{}: {reason}", stage.as_str()));
            }
            Err(_) => {}
        }
    }
    row.search_score = row.search.and_then(|s| s.points());
    row.wide_score = row.wide.and_then(|s| s.points());
    Ok(row)
}

/// All candidates of a search: those with a wide score first, then by search score,
/// then the stopped ones, ties by size.
///
/// # Errors
/// If the archive cannot be read.
pub fn leaderboard(
    archive: &Archive,
    run: &RunId,
    candidates: &[CandidateId],
) -> Result<Vec<Row>, ReportError> {
    let mut rows =
        candidates.iter().map(|id| row(archive, run, id)).collect::<Result<Vec<_>, _>>()?;
    let key = |x: Option<f64>| x.unwrap_or(f64::NEG_INFINITY);
    rows.sort_by(|a, b| {
        key(b.wide_score)
            .total_cmp(&key(a.wide_score))
            .then(key(b.search_score).total_cmp(&key(a.search_score)))
            .then(a.size.cmp(&b.size))
    });
    Ok(rows)
}

/// The leaderboard as text; `best` is marked.
#[must_use]
pub fn leaderboard_text(rows: &[Row], best: Option<&CandidateId>) -> String {
    let cells = rows
        .iter()
        .map(|row| {
            let shown = row.wide.or(row.search).unwrap_or_default();
            let mark = match () {
                () if best == Some(&row.candidate) => "*",
                () if row.eligible == Some(false) => "x",
                () => "",
            };
            vec![
                format!("{}{mark}", row.candidate.short()),
                points(row.wide_score),
                points(row.search_score),
                percent(shown.utility.value()),
                percent(shown.utility_under_attack.value()),
                percent(shown.direct.value()),
                percent(shown.indirect.value()),
                row.size.to_string(),
                row.stopped.clone().map_or_else(
                    || row.stage.map_or("-", Stage::as_str).to_owned(),
                    |why| format!("stopped at {}", why.split(':').next().unwrap_or_default()),
                ),
                if row.edit.is_empty() { row.name.clone() } else { row.edit.clone() },
            ]
        })
        .collect();
    plain(
        &[
            "candidate",
            "wide",
            "search",
            "utility %",
            "under attack %",
            "direct %",
            "indirect %",
            "bytes",
            "stage",
            "edit",
        ],
        &[8, 9],
        cells,
    )
}
