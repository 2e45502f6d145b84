//! What a part of the search is worth: searches without it against full ones (the paper's
//! Tables 4a and A4).

use std::collections::{BTreeMap, BTreeSet};

use evosafe_stats::{paired_t, sign_flip};
use evosafe_types::{AblationReport, AblationRun};

use crate::document::{Document, Table, Value, column, ends, optional};
use crate::table::mean;

/// The arm that all others are compared with.
const FULL: &str = "full";

/// A number of a run.
type Measure = fn(&AblationRun) -> Option<f64>;

fn train(run: &AblationRun) -> Option<f64> {
    run.train_score
}

fn held_out(run: &AblationRun) -> Option<f64> {
    run.held_out.score
}

fn keyed(run: &AblationRun) -> Option<f64> {
    Some(f64::from(run.blind.keyed_rules))
}

/// All that an ablation found.
#[must_use]
pub fn ablation_document(report: &AblationReport) -> Document {
    let decided: Vec<&AblationRun> = report.runs.iter().filter(|run| !run.indecisive).collect();
    let arms = arms(&decided);
    let mut notes = vec![
        "search score: the winner on the whole train side, which the search chose by. Differences are \
         paired by seed, each the mean over the cells that both arms have; intervals and tests are over \
         seeds, so they speak of other seeds on these tasks, not of other tasks"
            .to_owned(),
        "token-keyed rules: decisions of the winner that the Criticizer's static analysis finds to depend \
         on a token of the train tasks, counted in every arm after the search"
            .to_owned(),
    ];
    let lost = report.runs.len() - decided.len();
    if lost > 0 {
        notes.push(format!(
            "INDECISIVE: {lost} runs lost too much to infrastructure and are left out"
        ));
    }
    Document {
        title: format!("{} searches", report.runs.len()),
        facts: Vec::new(),
        tables: vec![
            summary("arms", "Means by arm", &decided, &arms, false),
            differences(&decided, &arms),
            summary("cells", "Means by cell and arm", &decided, &arms, true).detail(),
            runs(report),
        ],
        notes,
        caveats: report.caveats.clone(),
    }
}

/// The arms in the order they came.
fn arms<'a>(runs: &[&'a AblationRun]) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    runs.iter().map(|run| run.arm.as_str()).filter(|arm| seen.insert(*arm)).collect()
}

fn over(runs: &[&AblationRun], of: Measure) -> Option<f64> {
    mean(runs.iter().filter_map(|run| of(run)))
}

fn summary(
    name: &'static str,
    title: &str,
    runs: &[&AblationRun],
    arms: &[&str],
    by_cell: bool,
) -> Table {
    let columns = vec![
        optional("domain", "domain"),
        optional("victim", "victim"),
        column("arm", "arm"),
        column("runs", "runs"),
        column("search_score", "search score"),
        column("held_out_score", "held-out score"),
        column("gap", "gap"),
        column("utility", "utility %"),
        column("asr", "ASR %"),
        column("keyed_rules", "token-keyed rules"),
    ];
    let mut table = Table::new(name, title, columns);
    let mut cells: Vec<Option<(&str, &str)>> = vec![None];
    if by_cell {
        let of = |run: &&AblationRun| (run.domain.clone(), run.victim.clone());
        let mut seen = BTreeSet::new();
        cells = runs
            .iter()
            .filter(|run| seen.insert(of(run)))
            .map(|run| Some((run.domain.as_str(), run.victim.as_str())))
            .collect();
    }
    for cell in cells {
        for arm in arms {
            let within = |run: &&&AblationRun| {
                run.arm == *arm && cell.is_none_or(|(d, v)| run.domain == d && run.victim == v)
            };
            let of: Vec<&AblationRun> = runs.iter().filter(within).copied().collect();
            let (search, sealed) = (over(&of, train), over(&of, held_out));
            let name = |part: Option<&str>| part.map_or(Value::Empty, Value::text);
            table.push(vec![
                name(cell.map(|c| c.0)),
                name(cell.map(|c| c.1)),
                Value::text(*arm),
                Value::Count(of.len() as u64),
                Value::points(search),
                Value::points(sealed),
                Value::points(sealed.zip(search).map(|(h, s)| h - s)),
                Value::share(over(&of, |run| run.held_out.utility.rate)),
                Value::share(over(&of, |run| run.held_out.asr.all.rate)),
                over(&of, keyed).map_or(Value::Empty, Value::Number),
            ]);
        }
    }
    table
}

/// An arm less the full search, one number a seed.
fn paired(runs: &[&AblationRun], arm: &str, of: Measure) -> Vec<f64> {
    let mut seeds: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.arm == arm) {
        let same = |other: &&&AblationRun| {
            (other.arm == FULL && other.seed == run.seed)
                && (other.domain == run.domain && other.victim == run.victim)
        };
        let full = runs.iter().find(same).and_then(|full| of(full));
        if let (Some(ours), Some(full)) = (of(run), full) {
            seeds.entry(run.seed).or_default().push(ours - full);
        }
    }
    seeds.into_values().filter_map(|cells| mean(cells.into_iter())).collect()
}

fn differences(runs: &[&AblationRun], arms: &[&str]) -> Table {
    let columns = vec![
        column("arm", "arm less full"),
        column("measure", ""),
        column("seeds", "seeds"),
        column("difference", "difference"),
        ends("t95", "95 %"),
        column("t_p", "t-test p"),
        column("sign_flip_p", "sign-flip p"),
    ];
    let title =
        "Paired differences over seeds: t interval, t-test, exact sign-flip test (two-sided)";
    let mut table = Table::new("differences", title, columns);
    let measures: [(&str, Measure); 3] =
        [("held-out score", held_out), ("search score", train), ("token-keyed rules", keyed)];
    for arm in arms.iter().filter(|arm| **arm != FULL) {
        for (name, of) in measures {
            let list = paired(runs, arm, of);
            let t = paired_t(&list);
            table.push(vec![
                Value::text(*arm),
                Value::text(name),
                Value::Count(list.len() as u64),
                Value::points(mean(list.iter().copied())),
                Value::point_range(t.map(|t| [t.interval95.0, t.interval95.1])),
                t.map_or(Value::Empty, |t| Value::P(t.p)),
                sign_flip(&list).map_or(Value::Empty, |f| Value::P(f.two_sided)),
            ]);
        }
    }
    table
}

fn runs(report: &AblationReport) -> Table {
    let columns = vec![
        column("domain", "domain"),
        column("victim", "victim"),
        column("seed", "seed"),
        column("arm", "arm"),
        column("run", "search"),
        column("winner", "winner"),
        column("candidates", "candidates"),
        column("rejected", "rejected"),
        column("search_score", "search score"),
        column("held_out_score", "held-out score"),
        column("no_defence", "no defence"),
        column("utility", "utility %"),
        column("asr", "ASR %"),
        column("keyed_rules", "token-keyed rules"),
        column("keyed_literals", "keyed literals"),
        column("tolerated", "tolerated literals"),
        optional("unassessed", "unassessed"),
        optional("verdict", "verdict"),
    ];
    let mut table = Table::new("runs", "Every search", columns).detail();
    for run in &report.runs {
        table.push(vec![
            Value::text(&run.domain),
            Value::text(&run.victim),
            Value::Count(run.seed),
            Value::text(&run.arm),
            Value::text(run.run.short()),
            Value::text(run.best.short()),
            Value::Count(run.candidates.into()),
            Value::Count(run.rejected.into()),
            Value::points(run.train_score),
            Value::points(run.held_out.score),
            Value::points(run.reference_score),
            Value::share(run.held_out.utility.rate),
            Value::share(run.held_out.asr.all.rate),
            Value::Count(run.blind.keyed_rules.into()),
            Value::Count(run.blind.keyed_literals.into()),
            Value::Count(run.blind.tolerated.into()),
            Value::some(run.unassessed),
            Value::verdict(run.indecisive),
        ]);
    }
    table
}
