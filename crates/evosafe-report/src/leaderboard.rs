//! Candidates of a search, best first.

use std::cmp::Ordering;

use evosafe_archive::{Archive, ResultKind};
use evosafe_types::{Bundle, CandidateId, Family, RunId, Score, Stage, StageOutcome};
use serde::{Deserialize, Serialize};

use crate::ReportError;
use crate::document::{Document, Table, Value, column, optional};

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
    /// Score on the variants of attacks that the corpus grew by, where the search had some: on
    /// those of the version that it was last compared in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variants: Option<Score>,
    /// Search score in points.
    pub search_score: Option<f64>,
    /// Wide score in points.
    pub wide_score: Option<f64>,
    /// What those that were run wide are ranked by: the wide score less what train does not show, points.
    #[serde(default)]
    pub merit: Option<f64>,
    /// Whether it may win; known once it was run wide.
    pub eligible: Option<bool>,
    /// Families of which too little was assessed, in the score that counts: the wide one, or
    /// the search score where there is none, or that of the stage it was stopped at.
    pub uncovered: Vec<Family>,
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
        variants: None,
        search_score: None,
        wide_score: None,
        merit: None,
        eligible: None,
        uncovered: Vec::new(),
    };
    let mut stopped = None;
    for record in archive.results(id)? {
        if record.run.as_ref() != Some(run) {
            continue;
        }
        let field = |name: &str| record.body.get(name).cloned().unwrap_or_default();
        if record.kind == ResultKind::Promotion {
            row.eligible = field("eligible").as_bool();
            row.merit = field("merit").as_f64();
        }
        if record.kind == ResultKind::Corpus
            && let Ok(score) = serde_json::from_value(field("score"))
        {
            row.variants = Some(score);
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
            Ok(StageOutcome::Stopped { reason, score, .. }) => {
                stopped = score;
                row.stopped = Some(format!("{}: {reason}", stage.as_str()));
            }
            Err(_) => {}
        }
    }
    let counts = row.wide.or(row.search).or(stopped);
    row.uncovered = counts.map(|score| score.uncovered()).unwrap_or_default();
    row.search_score = row.search.and_then(|s| s.points());
    row.wide_score = row.wide.and_then(|s| s.points());
    Ok(row)
}

/// All candidates of a search: those that were run wide first, by what they are ranked by, then by
/// search score, then the stopped ones, ties by size.
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
    rows.sort_by(before);
    Ok(rows)
}

fn before(a: &Row, b: &Row) -> Ordering {
    let key = |x: Option<f64>| x.unwrap_or(f64::NEG_INFINITY);
    let (wide_a, wide_b) = (a.wide_score.is_some(), b.wide_score.is_some());
    wide_b
        .cmp(&wide_a)
        .then(key(b.merit).total_cmp(&key(a.merit)))
        .then(key(b.wide_score).total_cmp(&key(a.wide_score)))
        .then(key(b.search_score).total_cmp(&key(a.search_score)))
        .then(a.size.cmp(&b.size))
}

/// What a row says of its candidate in one word: indecisive before anything else.
fn verdict(row: &Row, best: Option<&CandidateId>) -> Value {
    match () {
        () if !row.uncovered.is_empty() => Value::verdict(true),
        () if best == Some(&row.candidate) => Value::text("best"),
        () if row.eligible == Some(false) => Value::text("may not win"),
        () => Value::Empty,
    }
}

/// The leaderboard; `best` is marked.
#[must_use]
pub fn leaderboard_document(
    rows: &[Row],
    best: Option<&CandidateId>,
    caveats: Vec<String>,
) -> Document {
    let columns = vec![
        column("candidate", "candidate"),
        optional("merit", "merit"),
        column("wide", "wide"),
        column("search", "search"),
        column("utility", "utility %"),
        column("utility_under_attack", "under attack %"),
        column("direct", "direct %"),
        column("indirect", "indirect %"),
        optional("variants", "variants %"),
        optional("unassessed", "unassessed"),
        column("bytes", "bytes"),
        column("stage", "stage"),
        optional("verdict", "verdict"),
        column("edit", "edit"),
    ];
    let mut table = Table::new("candidates", "Candidates, best first", columns);
    for row in rows {
        let shown = row.wide.or(row.search).unwrap_or_default();
        let stage = row.stopped.as_ref().map_or_else(
            || row.stage.map_or("-", Stage::as_str).to_owned(),
            |why| format!("stopped at {}", why.split(':').next().unwrap_or_default()),
        );
        let cells = vec![
            Value::text(row.candidate.short()),
            row.merit.map_or(Value::Empty, |points| Value::points(Some(points))),
            Value::points(row.wide_score),
            Value::points(row.search_score),
            Value::share(shown.utility.value()),
            Value::share(shown.utility_under_attack.value()),
            Value::share(shown.direct.value()),
            Value::share(shown.indirect.value()),
            row.variants.map_or(Value::Empty, |score| Value::share(score.asr().value())),
            Value::some(shown.unassessed.into()),
            Value::Count(row.size as u64),
            Value::text(stage),
            verdict(row, best),
            Value::text(if row.edit.is_empty() { &row.name } else { &row.edit }),
        ];
        table.push_strong(cells, best == Some(&row.candidate));
    }
    let mut notes = Vec::new();
    if rows.iter().any(|row| row.merit.is_some()) {
        notes.push(
            "merit: the wide score less what train does not show (goals lost under attack, the price of rules, what new goals and \
             other words are expected to take); it ranks, and is no result"
                .to_owned(),
        );
    }
    if rows.iter().any(|row| !row.uncovered.is_empty()) {
        notes.push(
            "indecisive: fewer than 90 % of a family's episodes were assessed; never promoted"
                .to_owned(),
        );
    }
    if rows.iter().any(|row| row.eligible == Some(false)) {
        notes.push("may not win: `evosafe show` says why".to_owned());
    }
    Document {
        title: "candidates".to_owned(),
        facts: Vec::new(),
        tables: vec![table],
        notes,
        caveats,
    }
}

#[cfg(test)]
mod tests {
    use evosafe_types::{FaultKind, Outcome};

    use super::*;
    use crate::render::{Format, render};

    fn row(name: &str, lost: usize) -> Row {
        let mut score = Score::default();
        let ok = Outcome::Assessed { task_success: Some(true), attack_success: Some(false) };
        let gone = Outcome::Unassessed { fault: FaultKind::BridgeDied, detail: String::new() };
        for family in Family::ALL {
            for i in 0..10 {
                let of = if family == Family::Indirect && i < lost { &gone } else { &ok };
                score.push(family, of);
            }
        }
        Row {
            candidate: CandidateId::of(&[name.as_bytes()]),
            name: name.to_owned(),
            origin: "seed".to_owned(),
            edit: String::new(),
            parents: Vec::new(),
            size: 10,
            stage: Some(Stage::Wide),
            stopped: None,
            search: None,
            wide: Some(score),
            variants: None,
            search_score: None,
            wide_score: score.points(),
            merit: None,
            eligible: Some(lost < 2),
            uncovered: score.uncovered(),
        }
    }

    #[test]
    fn an_indecisive_candidate_says_so_in_every_format() {
        let rows = [row("sound", 1), row("lossy", 2)];
        let best = rows[0].candidate.clone();
        let caveats = vec!["a caveat".to_owned()];
        let document = leaderboard_document(&rows, Some(&best), caveats);
        for format in [Format::Text, Format::Markdown, Format::Csv, Format::Latex, Format::Json] {
            let text = render(&document, format);
            let line = text.lines().find(|line| line.contains("lossy")).unwrap_or_default();
            assert!(line.contains("indecisive"), "{format:?}: {text}");
            assert!(text.contains("a caveat") && text.contains("never promoted"), "{text}");
        }
        let text = render(&document, Format::Text);
        let sound = text.lines().find(|line| line.contains("sound")).expect("a row");
        assert!(sound.contains("best") && !sound.contains("indecisive"), "{text}");
    }

    #[test]
    fn what_ranks_is_shown_and_orders() {
        let of = |name: &str, merit: Option<f64>, wide: Option<f64>, search: f64| Row {
            merit,
            wide_score: wide,
            search_score: Some(search),
            ..row(name, 0)
        };
        let mut rows = [
            of("searched", None, None, 90.0),
            of("older", None, Some(70.0), 60.0),
            of("higher", Some(61.0), Some(68.0), 60.0),
            of("sounder", Some(63.0), Some(66.0), 60.0),
        ];
        rows.sort_by(before);
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["sounder", "higher", "older", "searched"]);
        let text = render(&leaderboard_document(&rows, None, Vec::new()), Format::Text);
        assert!(text.contains("merit") && text.contains("+63.0"), "{text}");
        assert!(text.contains("is no result"), "{text}");
        let old = render(&leaderboard_document(&rows[2..3], None, Vec::new()), Format::Text);
        assert!(!old.contains("merit"), "{old}");
    }
}
