//! The table of an evaluation.

use std::fmt::Write as _;

use evosafe_types::{ArmReport, Evaluation, RateReport};

use crate::table::{interval, percent, plain, points};

/// Picks a rate of an arm.
type Measure = fn(&ArmReport) -> Option<&RateReport>;

/// The evaluation as text.
#[must_use]
pub fn evaluation_text(e: &Evaluation) -> String {
    let mut text = format!(
        "candidate {} on {} tasks of {}\nvictim {}\n\n",
        e.candidate.short(),
        e.split,
        e.environment,
        e.victim
    );
    let rate = |r: Option<&RateReport>| -> (String, String) {
        r.map_or_else(
            || ("-".to_owned(), String::new()),
            |r| (percent(r.rate), format!("{} n={}", interval(r.wilson95), r.n)),
        )
    };
    let measures: [(&str, Measure); 5] = [
        ("utility %", |a| Some(&a.utility)),
        ("utility under attack %", |a| a.utility_under_attack.as_ref()),
        ("ASR %", |a| Some(&a.asr.all)),
        ("  direct %", |a| a.asr.direct.as_ref()),
        ("  indirect %", |a| a.asr.indirect.as_ref()),
    ];
    let mut rows: Vec<Vec<String>> = measures
        .into_iter()
        .map(|(name, of)| {
            let (ours, ours_interval) = rate(of(&e.arm));
            let (h0, h0_interval) = rate(of(&e.reference));
            vec![name.to_owned(), ours, ours_interval, h0, h0_interval]
        })
        .collect();
    let bounds = |a: &ArmReport| {
        a.score_bounds.map_or_else(String::new, |[low, high]| format!("[{low:+.1}, {high:+.1}]"))
    };
    let lost = e.unassessed > 0;
    let worst = |a: &ArmReport| if lost { bounds(a) } else { String::new() };
    rows.push(vec![
        "score".to_owned(),
        points(e.arm.score),
        worst(&e.arm),
        points(e.reference.score),
        worst(&e.reference),
    ]);
    text +=
        &plain(&["", "candidate", "95 % interval", "no defence", "95 % interval"], &[2, 4], rows);
    let _ = write!(
        text,
        "\n\nMcNemar on attack tasks: {} stopped, {} newly open, exact p = {:.2e}\n",
        e.mcnemar.b, e.mcnemar.c, e.mcnemar.p
    );
    let _ = writeln!(
        text,
        "idle floor: an agent that does nothing passes {} % of {} benign tasks",
        percent(e.idle_floor.rate),
        e.idle_floor.n
    );
    if lost {
        let _ = writeln!(
            text,
            "unassessed: {} tasks, in neither arm; intervals beside the score are the worst and best case",
            e.unassessed
        );
    }
    if e.harness_faults > 0 {
        let _ = writeln!(text, "harness faults: {} (failed closed)", e.harness_faults);
    }
    if let Some(agreement) = &e.recorded_agreement {
        let _ = writeln!(
            text,
            "no defence replayed as recorded: {} of {} episodes",
            agreement.agree, agreement.n
        );
        for exception in agreement.exceptions.iter().take(20) {
            let _ = writeln!(
                text,
                "  differs: {} recorded {:?}, replayed {:?}",
                exception.task, exception.recorded, exception.replayed
            );
        }
    }
    for caveat in &e.caveats {
        let _ = writeln!(text, "note: {caveat}");
    }
    text
}
