//! Tables about the cascade and its gate.

use std::fmt::Write as _;

use evosafe_types::{AuditReport, CalibrationReport, RateReport, Spending};

use crate::table::{interval, percent, plain, points};

/// The audit of a cascade as text.
#[must_use]
pub fn audit_text(audit: &AuditReport) -> String {
    let line = |name: &str, s: &Spending| {
        let share = |part: u64, of: u64| {
            #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
            let share = (of > 0).then(|| part as f64 / of as f64);
            percent(share)
        };
        vec![
            name.to_owned(),
            s.episodes.to_string(),
            share(s.episodes, audit.none.episodes),
            s.victim_turns.to_string(),
            format!("{} of {}", s.stopped, audit.candidates),
            s.choice.as_ref().map_or("-", |id| id.short()).to_owned(),
            if s.choice == audit.none.choice { "yes" } else { "NO" }.to_owned(),
        ]
    };
    let mut rows = vec![line("no cascade", &audit.none)];
    rows.extend(audit.staged.iter().map(|s| line("staged, fresh tasks", s)));
    rows.push(line("nested", &audit.nested));
    let header =
        ["spending", "episodes", "% of all", "victim turns", "stopped", "choice", "same choice"];
    let mut text = plain(&header, &[5, 6], rows);
    if audit.staged.is_none() {
        text += "\n\nthe train side has too few tasks for fresh ones at each stage";
    }
    text
}

/// The calibration of a gate as text.
#[must_use]
pub fn calibration_text(c: &CalibrationReport) -> String {
    let rate =
        |r: &RateReport| format!("{} % {} of {}", percent(r.rate), interval(r.wilson95), r.n);
    let each = match c.rollouts {
        1 => String::new(),
        n => format!(" of {n} rollouts each"),
    };
    let mut text = format!(
        "gate on {} benign and {} malicious tasks{each}, margin {} points, confidence {}\n\n\
         A/A  stops of no defence against itself      {}\n\
         A/B  stops of candidates that are no worse   {}\n\
         A/B  passes of candidates that are           {}\n\n",
        c.benign,
        c.malicious,
        c.margin,
        c.confidence,
        rate(&c.same),
        rate(&c.false_stops),
        rate(&c.missed_stops)
    );
    let mut rows: Vec<_> = c.rows.iter().collect();
    rows.sort_by(|a, b| a.difference.total_cmp(&b.difference));
    let lines = rows.into_iter().map(|row| {
        vec![
            row.candidate.short().to_owned(),
            row.tasks.to_string(),
            points(Some(row.difference)),
            if row.inferior { "stop" } else { "pass" }.to_owned(),
            percent(row.stops.rate),
        ]
    });
    text += &plain(
        &["candidate", "tasks", "against no defence", "right answer", "stopped %"],
        &[3],
        lines.collect(),
    );
    let _ = write!(
        text,
        "\n\n{} prefixes drawn for each, with replacement, from the tasks it was run on; intervals are over draws",
        c.draws
    );
    text
}
