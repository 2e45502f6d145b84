//! Our values against those of scipy and statsmodels, stored by `tests/reference/make.py`.

use evosafe_stats::gate::{Differences, Sums};
use evosafe_stats::{
    mcnemar_chi2_cc, mcnemar_chi2_p, mcnemar_exact, paired_bootstrap_difference, paired_t,
    pooled_bootstrap_difference, sign_flip, sign_flip_tasks, wilson,
};
use evosafe_types::Rate;
use serde_json::Value;

const CASES: &str = include_str!("../reference/cases.json");

fn cases(of: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(CASES).expect("make.py writes JSON");
    all[of].as_array().expect("a list of cases").clone()
}

fn whole(value: &Value) -> u64 {
    value.as_u64().expect("a count")
}

fn small(value: &Value) -> u32 {
    u32::try_from(whole(value)).expect("a count of tasks")
}

/// Equal to a relative 1e-6, or within 1e-12 where the number is next to nothing. p-values far
/// out in the tail differ by the precision of the distributions' own series.
#[track_caller]
fn same(ours: Option<f64>, theirs: &Value, case: &Value) {
    match (ours, theirs.as_f64()) {
        (None, None) => {}
        (Some(x), Some(y)) => {
            let slack = 1e-6 * y.abs() + if y.abs() < 1e-12 && y != 0.0 { 0.0 } else { 1e-12 };
            assert!((x - y).abs() <= slack, "{x:e}, they {y:e}: {case}");
        }
        (x, y) => panic!("{x:?}, they {y:?}: {case}"),
    }
}

#[test]
fn wilson_intervals() {
    for case in cases("wilson") {
        let rate = Rate { hits: small(&case["k"]), n: small(&case["n"]) };
        let found = wilson(rate, case["confidence"].as_f64().expect("a number"));
        same(found.map(|i| i.low), &case["low"], &case);
        same(found.map(|i| i.high), &case["high"], &case);
    }
}

#[test]
fn mcnemar() {
    for case in cases("mcnemar") {
        let (b, c) = (whole(&case["b"]), whole(&case["c"]));
        let exact = mcnemar_exact(b, c);
        if b + c == 0 {
            // Without a pair that differs there is nothing to reject by; the libraries refuse.
            assert!((exact - 1.0).abs() < 1e-12 && case["exact"].is_null());
        } else {
            same(Some(exact), &case["exact"], &case);
        }
        if b == c && b > 0 {
            // Here statsmodels corrects past zero, (0 - 1)^2 / (b + c). Ours, as R's, is 0.
            assert_eq!((mcnemar_chi2_cc(b, c), mcnemar_chi2_p(b, c)), (Some(0.0), Some(1.0)));
            continue;
        }
        same(mcnemar_chi2_cc(b, c), &case["chi2"], &case);
        same(mcnemar_chi2_p(b, c), &case["chi2_p"], &case);
    }
}

/// Table A7 of the paper, as it prints them.
#[test]
fn figures_of_the_paper() {
    for (b, c, p) in [(7, 0, "0.016"), (10, 2, "0.039")] {
        assert_eq!(format!("{:.3}", mcnemar_exact(b, c)), p);
    }
    let pooled = mcnemar_chi2_cc(385, 11).expect("pairs differ");
    assert_eq!(format!("{pooled:.1}"), "351.3");
    assert_eq!(format!("{:.0e}", mcnemar_chi2_p(385, 11).expect("pairs differ")), "2e-78");
}

#[test]
fn paired_differences() {
    for case in cases("paired") {
        let list = case["differences"].as_array().expect("a list");
        let differences: Vec<f64> = list.iter().filter_map(Value::as_f64).collect();
        let found = paired_t(&differences);
        same(found.map(|t| t.t), &case["t"], &case);
        same(found.map(|t| t.p), &case["p"], &case);
        same(found.map(|t| t.interval95.0), &case["low"], &case);
        same(found.map(|t| t.interval95.1), &case["high"], &case);
        let flips = sign_flip(&differences);
        same(flips.map(|f| f.two_sided), &case["two_sided"], &case);
        same(flips.map(|f| f.greater), &case["greater"], &case);
    }
}

#[test]
fn paired_bootstrap() {
    for case in cases("bootstrap") {
        let stratum = |of: &str| {
            let n = |i: usize| small(&case[of][i]);
            Differences { minus: n(0), zero: n(1), plus: n(2) }
        };
        let (benign, malicious) = (stratum("benign"), stratum("malicious"));
        let exact = paired_bootstrap_difference(benign, malicious, 0.95);
        same(exact.map(|d| d.interval.low), &case["low"], &case);
        same(exact.map(|d| d.interval.high), &case["high"], &case);
        same(exact.map(|d| d.above), &case["above"], &case);
        // What both of us draw differs by luck: an end by a step of the larger stratum, a share
        // by little.
        let step = 3.0_f64.max(100.0 / f64::from(benign.n().max(malicious.n())));
        let drawn =
            pooled_bootstrap_difference(&[(benign.into(), malicious.into())], 0.95, 20_000, 7);
        let drawn = drawn.expect("both strata have tasks");
        for (ours, theirs, slack) in [
            (drawn.interval.low, &case["drawn_low"], step),
            (drawn.interval.high, &case["drawn_high"], step),
            (drawn.above, &case["drawn_above"], 0.02),
        ] {
            let near = theirs.as_f64().is_none_or(|y| (ours - y).abs() <= slack);
            assert!(near, "{ours}, they {theirs}: {case}");
        }
    }
}

#[test]
fn several_rollouts() {
    for case in cases("rollouts") {
        let stratum = |of: &str| {
            let mut sums = Sums::new(small(&case["rollouts"]));
            for sum in case[of].as_array().expect("a list") {
                let sum = sum.as_i64().and_then(|sum| i32::try_from(sum).ok());
                assert!(sums.push(sum.expect("a sum")), "{case}");
            }
            sums
        };
        let (benign, malicious) = (stratum("benign"), stratum("malicious"));
        same(Some(sign_flip_tasks(&malicious)), &case["flips"], &case);
        let found = paired_bootstrap_difference(benign, malicious, 0.95);
        same(found.map(|d| d.interval.low), &case["low"], &case);
        same(found.map(|d| d.interval.high), &case["high"], &case);
        same(found.map(|d| d.above), &case["above"], &case);
    }
}

#[test]
fn there_are_enough_cases() {
    let of = ["wilson", "mcnemar", "paired", "bootstrap", "rollouts"];
    let count: usize = of.iter().map(|of| cases(of).len()).sum();
    assert!(count >= 60, "{count} cases");
}
