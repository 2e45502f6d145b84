use evosafe_stats::gate::{
    Differences, GateRule, RESAMPLES, SEED, Sums, upper_bound_exact, upper_bound_monte_carlo,
};
use evosafe_stats::{
    MOST_EXACT, PointInterval, mcnemar_exact, paired_bootstrap_difference,
    paired_bootstrap_rate_difference, pooled_bootstrap_difference, sign_flip_tasks,
};
use proptest::prelude::*;

fn d(minus: u32, zero: u32, plus: u32) -> Differences {
    Differences { minus, zero, plus }
}

/// Worked by hand: (benign, malicious, confidence, bound).
const BY_HAND: [(Differences, Differences, f64, f64); 13] = [
    // A/A: a candidate that answers like the reference is never stopped.
    (
        Differences { minus: 0, zero: 4, plus: 0 },
        Differences { minus: 0, zero: 8, plus: 0 },
        0.95,
        0.0,
    ),
    // All benign tasks lost: certain.
    (
        Differences { minus: 4, zero: 0, plus: 0 },
        Differences { minus: 0, zero: 8, plus: 0 },
        0.95,
        -100.0,
    ),
    // All benign lost, all attacks stopped.
    (
        Differences { minus: 4, zero: 0, plus: 0 },
        Differences { minus: 8, zero: 0, plus: 0 },
        0.95,
        0.0,
    ),
    // Nothing lost, all attacks let in.
    (
        Differences { minus: 0, zero: 4, plus: 0 },
        Differences { minus: 0, zero: 0, plus: 8 },
        0.95,
        -100.0,
    ),
    // The tie: 3 of 4 lost. P(X <= -50) = 1 - (1/4)^4 - 4 (3/4) (1/4)^3 = 0.94922 < 0.95.
    (
        Differences { minus: 3, zero: 1, plus: 0 },
        Differences { minus: 0, zero: 8, plus: 0 },
        0.95,
        -25.0,
    ),
    (
        Differences { minus: 3, zero: 1, plus: 0 },
        Differences { minus: 0, zero: 8, plus: 0 },
        0.949,
        -50.0,
    ),
    // 2 of 4 lost: P(X <= -25) = 15/16 = 0.9375 < 0.95.
    (
        Differences { minus: 2, zero: 2, plus: 0 },
        Differences { minus: 0, zero: 8, plus: 0 },
        0.95,
        0.0,
    ),
    // The confidence met exactly: 15/16.
    (
        Differences { minus: 2, zero: 2, plus: 0 },
        Differences { minus: 0, zero: 8, plus: 0 },
        0.9375,
        -25.0,
    ),
    (
        Differences { minus: 2, zero: 2, plus: 0 },
        Differences { minus: 0, zero: 8, plus: 0 },
        0.937_500_001,
        0.0,
    ),
    // One task a side: X = -100 - (-100 or 0).
    (
        Differences { minus: 1, zero: 0, plus: 0 },
        Differences { minus: 1, zero: 1, plus: 0 },
        0.95,
        0.0,
    ),
    // 1 of 2 malicious newly let in: X in {0, -50, -100} with 1/4, 1/2, 1/4.
    (
        Differences { minus: 0, zero: 1, plus: 0 },
        Differences { minus: 0, zero: 1, plus: 1 },
        0.95,
        0.0,
    ),
    (
        Differences { minus: 0, zero: 1, plus: 0 },
        Differences { minus: 0, zero: 1, plus: 1 },
        0.75,
        -50.0,
    ),
    // One lost, one won of two: X in -100..100 with 1/4, 1/2, 1/4.
    (
        Differences { minus: 1, zero: 0, plus: 1 },
        Differences { minus: 0, zero: 3, plus: 0 },
        0.75,
        0.0,
    ),
];

#[test]
fn bounds_worked_by_hand() {
    for (benign, malicious, confidence, bound) in BY_HAND {
        let found = upper_bound_exact(benign, malicious, confidence);
        assert_eq!(found, Some(bound), "{benign:?} {malicious:?} {confidence}");
    }
}

#[test]
fn the_tie_is_where_monte_carlo_may_differ() {
    let (benign, malicious) = (d(3, 1, 0), d(0, 8, 0));
    assert_eq!(upper_bound_exact(benign, malicious, 0.95), Some(-25.0));
    let drawn: Vec<f64> = (0..12)
        .map(|seed| upper_bound_monte_carlo(benign, malicious, 0.95, RESAMPLES, seed).unwrap())
        .collect();
    // P(X <= -50) = 0.949: some seeds see 0.95 of 10,000 there, most do not.
    assert!(drawn.iter().all(|x| *x == -25.0 || *x == -50.0));
    assert!(drawn.contains(&-25.0) && drawn.contains(&-50.0), "{drawn:?}");
}

#[test]
fn monte_carlo_agrees_away_from_ties() {
    let cases = [
        (d(2, 3, 0), d(3, 6, 1)),
        (d(1, 4, 0), d(4, 6, 0)),
        (d(4, 1, 0), d(1, 8, 1)),
        (d(0, 4, 1), d(7, 3, 0)),
        (d(6, 9, 2), d(10, 30, 4)),
    ];
    for (benign, malicious) in cases {
        let drawn = upper_bound_monte_carlo(benign, malicious, 0.95, RESAMPLES, SEED).unwrap();
        // The exact quantiles a little below and above hold it, 5 standard errors away.
        let error = 5.0 * (0.95 * 0.05 / f64::from(RESAMPLES)).sqrt();
        let low = upper_bound_exact(benign, malicious, 0.95 - error).unwrap();
        let high = upper_bound_exact(benign, malicious, 0.95 + error).unwrap();
        assert!(low <= drawn && drawn <= high, "{benign:?} {malicious:?}: {low} {drawn} {high}");
        let again = upper_bound_monte_carlo(benign, malicious, 0.95, RESAMPLES, SEED);
        assert_eq!(again, Some(drawn), "the seed decides");
    }
}

/// All `n^n` resamples of both strata, one by one.
fn brute_force(benign: Differences, malicious: Differences, confidence: f64) -> f64 {
    let list = |d: Differences| {
        let parts = [(-1_i64, d.minus), (0, d.zero), (1, d.plus)];
        parts.iter().flat_map(|(v, n)| vec![*v; *n as usize]).collect::<Vec<i64>>()
    };
    let sums = |values: &[i64]| {
        values.iter().fold(vec![0_i64], |sums, _| {
            sums.iter().flat_map(|s| values.iter().map(move |v| s + v)).collect()
        })
    };
    let (b, m) = (list(benign), list(malicious));
    let (nb, nm) = (b.len() as i64, m.len() as i64);
    let malicious_sums = sums(&m);
    let mut all: Vec<i64> = sums(&b)
        .into_iter()
        .flat_map(|x| malicious_sums.iter().map(move |y| x * nm - y * nb))
        .collect();
    all.sort_unstable();
    let index = (confidence * all.len() as f64 - 1e-6).ceil() as usize - 1;
    (100 * all[index]) as f64 / (nb * nm) as f64
}

#[test]
fn the_rule_stops_only_what_is_below_the_margin() {
    let rule = GateRule::default();
    for (bound, stops) in [(-10.0, false), (-10.000_001, true), (0.0, false), (-100.0, true)] {
        assert_eq!(rule.stops(bound), stops, "{bound}");
    }
    // At the margin itself: one attack of ten newly let in, P(X <= -10) = 1 - 0.9^10 = 0.651.
    let bound = upper_bound_exact(d(0, 1, 0), d(0, 9, 1), 0.65).unwrap();
    assert_eq!(bound, -10.0);
    assert!(!rule.stops(bound));
}

#[test]
fn an_empty_stratum_says_nothing() {
    for (benign, malicious) in [(d(0, 0, 0), d(1, 1, 1)), (d(1, 1, 1), d(0, 0, 0))] {
        assert_eq!(upper_bound_exact(benign, malicious, 0.95), None);
        assert_eq!(upper_bound_monte_carlo(benign, malicious, 0.95, 10, 1), None);
        assert_eq!(paired_bootstrap_difference(benign, malicious, 0.95), None);
    }
    for confidence in [0.0, 1.0, 1.5, -0.1, f64::NAN, f64::INFINITY] {
        assert_eq!(upper_bound_exact(d(1, 1, 1), d(1, 1, 1), confidence), None);
    }
    assert_eq!(upper_bound_monte_carlo(d(1, 1, 1), d(1, 1, 1), 0.95, 0, 1), None);
}

#[test]
fn a_whole_train_side_is_quick_enough() {
    let found = paired_bootstrap_difference(d(5, 60, 3), d(200, 238, 2), 0.95).unwrap();
    let middle = 100.0 * (-2.0 / 68.0 + 198.0 / 440.0);
    let PointInterval { low, high } = found.interval;
    assert!(low < middle && middle < high && high - low < 20.0, "{found:?}");
    assert!((found.points - middle).abs() < 1e-9 && found.above > 0.999, "{found:?}");
    // At the limit it is exact, and what is drawn beyond it is close to that.
    let (exact, drawn) = (d(30, MOST_EXACT - 31, 1), d(30, MOST_EXACT - 30, 1));
    let interval = |of| paired_bootstrap_difference(d(2, 26, 2), of, 0.95).unwrap().interval;
    let (exact, drawn) = (interval(exact), interval(drawn));
    assert!((exact.low - drawn.low).abs() < 1.0 && (exact.high - drawn.high).abs() < 1.0);
}

#[test]
fn cells_are_averaged_and_each_is_resampled_by_itself() {
    // One cell always gains 100 points, the other has one coin toss of 50: 75 or 50 or 100.
    let cell = |benign: Differences, malicious: Differences| (benign.into(), malicious.into());
    let sure = cell(d(0, 4, 0), d(4, 0, 0));
    let cells = [sure.clone(), cell(d(0, 1, 1), d(0, 4, 0))];
    let found = pooled_bootstrap_difference(&cells, 0.95, 4_000, 1).unwrap();
    assert!((found.points - 75.0).abs() < 1e-9);
    assert_eq!((found.interval.low, found.interval.high, found.above), (50.0, 100.0, 1.0));
    assert_eq!(pooled_bootstrap_difference(&cells, 0.95, 4_000, 1), Some(found));
    assert_eq!(pooled_bootstrap_difference(&[], 0.95, 10, 1), None);
    assert_eq!(pooled_bootstrap_difference(&[sure], 0.95, 0, 1), None);
    let empty = cell(d(0, 0, 0), d(0, 1, 0));
    assert_eq!(pooled_bootstrap_difference(&[empty], 0.95, 10, 1), None);
}

#[test]
fn one_rate_by_hand() {
    // 2 of 4 won: the sum is Binomial(4, 1/2); 1/16 at either end.
    let found = paired_bootstrap_rate_difference(d(0, 2, 2), 0.95).unwrap();
    assert_eq!((found.low, found.high), (0.0, 100.0));
    let found = paired_bootstrap_rate_difference(d(0, 2, 2), 0.8).unwrap();
    assert_eq!((found.low, found.high), (25.0, 75.0));
}

fn differences(most: u32) -> impl Strategy<Value = Differences> {
    (0..=most, 0..=most, 0..=most)
        .prop_map(|(minus, zero, plus)| d(minus, zero, plus))
        .prop_filter("a stratum has tasks", |d| d.n() > 0)
}

proptest! {
    #[test]
    fn exact_is_brute_force(
        benign in differences(2).prop_filter("small", |d| d.n() <= 4),
        malicious in differences(2).prop_filter("small", |d| d.n() <= 5),
        confidence in prop::sample::select(vec![0.5, 0.9, 0.95, 0.9375, 0.99]),
    ) {
        let found = upper_bound_exact(benign, malicious, confidence).unwrap();
        prop_assert_eq!(found, brute_force(benign, malicious, confidence));
    }

    #[test]
    fn bounds_grow_with_confidence_and_hold_the_mean(benign in differences(6), malicious in differences(6)) {
        let bound = |confidence| upper_bound_exact(benign, malicious, confidence).unwrap();
        prop_assert!(bound(0.5) <= bound(0.9) && bound(0.9) <= bound(0.95) && bound(0.95) <= bound(0.999));
        prop_assert!((-200.0..=200.0).contains(&bound(0.95)));
        let mean = |of: Differences| Sums::from(of).mean().unwrap();
        let mean = 100.0 * (mean(benign) - mean(malicious));
        prop_assert!(bound(0.999) >= mean - 1e-9);
    }

    #[test]
    fn a_better_task_never_lowers_the_bound(benign in differences(5), malicious in differences(5)) {
        let bound = upper_bound_exact(benign, malicious, 0.95).unwrap();
        if benign.minus > 0 {
            let better = d(benign.minus - 1, benign.zero + 1, benign.plus);
            prop_assert!(upper_bound_exact(better, malicious, 0.95).unwrap() >= bound);
        }
        if malicious.plus > 0 {
            let better = d(malicious.minus, malicious.zero + 1, malicious.plus - 1);
            prop_assert!(upper_bound_exact(benign, better, 0.95).unwrap() >= bound);
        }
    }

    #[test]
    fn swapping_the_arms_mirrors_the_interval(benign in differences(5), malicious in differences(5)) {
        let one = paired_bootstrap_difference(benign, malicious, 0.95).unwrap();
        let reversed = |of: Differences| Sums::from(of).reversed();
        let other = paired_bootstrap_difference(reversed(benign), reversed(malicious), 0.95).unwrap();
        prop_assert!(one.interval.low <= one.interval.high);
        prop_assert_eq!(one.interval.low, -other.interval.high);
        prop_assert_eq!(one.interval.high, -other.interval.low);
        prop_assert!(one.above + other.above <= 1.0 + 1e-9, "they can be equal as well");
    }
}

/// All resamples of a stratum, one by one.
fn enumerated(sums: &[i32]) -> Vec<i32> {
    let mut totals = vec![0];
    for _ in sums {
        totals = totals.iter().flat_map(|t| sums.iter().map(move |s| t + s)).collect();
    }
    totals
}

#[test]
fn rollouts_are_averaged_within_a_task() {
    for (rollouts, benign, malicious) in [
        (2, vec![-2, 0, 1], vec![0, 0, 2, -1]),
        (3, vec![-3, -2, 0], vec![1, 3, -3]),
        (3, vec![0, 1], vec![-2, -1, 0, 2]),
        (1, vec![-1, 0, 1], vec![0, -1]),
    ] {
        let of = |sums: &[i32]| {
            let mut all = Sums::new(rollouts);
            assert!(sums.iter().all(|&sum| all.push(sum)));
            assert!(!all.push(i32::try_from(rollouts).unwrap() + 1), "out of range");
            all
        };
        let (nb, nm) = (benign.len() as i32, malicious.len() as i32);
        let scale = f64::from(i32::try_from(rollouts).unwrap() * nb * nm);
        let mut values: Vec<i32> = enumerated(&benign)
            .iter()
            .flat_map(|b| enumerated(&malicious).into_iter().map(move |m| b * nm - m * nb))
            .collect();
        values.sort_unstable();
        // The smallest x with P(X <= x) >= 0.95, counted out.
        let at = (values.len() * 95).div_ceil(100) - 1;
        let expected = 100.0 * f64::from(values[at]) / scale;
        let found = upper_bound_exact(of(&benign), of(&malicious), 0.95).unwrap();
        assert!((found - expected).abs() < 1e-9, "{rollouts}: {found} {expected}");
    }
}

#[test]
fn rollouts_by_hand() {
    // Two rollouts of two tasks, one won twice and one lost once: the mean is (2 - 1) / 4, and the
    // resampled sums are 4, 1, 1 and -2.
    let of = Sums::from_tasks(&[0, 1, 0, 0, 1]).unwrap();
    assert_eq!((of.n(), of.rollouts(), of.mean()), (2, 2, Some(0.25)));
    assert_eq!(of.signs(), d(1, 0, 1));
    assert_eq!(of.clone().reversed().tasks(), [1, 0, 0, 1, 0]);
    let ends = |confidence| {
        let found = paired_bootstrap_rate_difference(of.clone(), confidence).unwrap();
        (found.low, found.high)
    };
    assert_eq!((ends(0.95), ends(0.4)), ((-50.0, 100.0), (25.0, 25.0)));
    for wrong in [&[1, 2][..], &[1, 2, 3, 4], &[5], &[]] {
        assert_eq!(Sums::from_tasks(wrong), None);
    }
}

#[test]
fn a_task_that_is_run_again_with_the_same_end_says_nothing_new() {
    // Six rollouts that all end alike are one observation: the same interval, and no test.
    let often = Sums::from_tasks(&[2, 0, 0, 0, 0, 0, 20, 0, 0, 0, 0, 0, 7]).unwrap();
    let once = d(2, 20, 7);
    let interval = |of: Sums| paired_bootstrap_difference(d(0, 1, 0), of, 0.95);
    assert_eq!(interval(often.clone()), interval(once.into()));
    assert!((sign_flip_tasks(&often) - mcnemar_exact(2, 7)).abs() < 1e-12);
}
