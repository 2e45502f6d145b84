use evosafe_stats::{clustered_wilson, mcnemar_chi2_cc, mcnemar_chi2_p, mcnemar_exact, wilson};
use evosafe_types::Rate;
use proptest::prelude::*;

fn rate(hits: u32, n: u32) -> Rate {
    Rate { hits, n }
}

fn percent(x: f64) -> f64 {
    (1000.0 * x).round() / 10.0
}

/// Table A7 of the paper: 70 attack tasks a cell.
#[test]
fn wilson_intervals_of_the_paper() {
    let cases = [
        (7, 4.9, 19.2),
        (0, 0.0, 5.2),
        (2, 0.8, 9.8),
        (1, 0.3, 7.7),
        (35, 38.6, 61.4),
        (8, 5.9, 21.0),
        (15, 13.4, 32.4),
        (51, 61.5, 81.9),
        (13, 11.2, 29.2),
        (55, 67.6, 86.6),
    ];
    for (hits, low, high) in cases {
        let found = wilson(rate(hits, 70), 0.95).unwrap();
        assert_eq!((percent(found.low), percent(found.high)), (low, high), "{hits} of 70");
    }
}

#[test]
fn the_boundary_is_reached_exactly() {
    // z^2 = 3.8415: the far end is z^2 / (n + z^2).
    let none = wilson(rate(0, 10), 0.95).unwrap();
    assert_eq!(none.low, 0.0);
    assert!((none.high - 3.841_458_8 / 13.841_458_8).abs() < 1e-7);
    let all = wilson(rate(10, 10), 0.95).unwrap();
    assert_eq!(all.high, 1.0);
    assert!((all.low - (1.0 - none.high)).abs() < 1e-12);
}

#[test]
fn what_cannot_be_computed_is_none() {
    assert_eq!(wilson(rate(0, 0), 0.95), None);
    assert_eq!(clustered_wilson(&[], 0.95), None);
    assert_eq!(clustered_wilson(&[rate(0, 0)], 0.95), None);
    for confidence in [0.0, 1.0, -1.0, 2.0, f64::NAN] {
        assert_eq!(wilson(rate(1, 2), confidence), None, "{confidence}");
    }
}

#[test]
fn clusters_that_fall_together_count_less() {
    // Four clusters of ten, all or nothing: as good as four observations, times (k-1)/k.
    // between = 4 * 5^2 = 100; variance 4/3 * 100/1600 = 1/12; independent 1/160; effect 13.33.
    let together = [rate(10, 10), rate(0, 10), rate(10, 10), rate(0, 10)];
    let found = clustered_wilson(&together, 0.95).unwrap();
    let z2 = 3.841_458_820_694_124_f64;
    let n = 3.0_f64;
    let half = z2.sqrt() / (1.0 + z2 / n) * (0.25 / n + z2 / (4.0 * n * n)).sqrt();
    assert!((found.low - (0.5 - half)).abs() < 1e-9, "{found:?}");
    assert!((found.high - (0.5 + half)).abs() < 1e-9, "{found:?}");
    // Even clusters: never taken for more than independent episodes.
    let even = [rate(5, 10); 4];
    assert_eq!(clustered_wilson(&even, 0.95), wilson(rate(20, 40), 0.95));
    // Clusters of one are episodes, but for k/(k-1).
    let single: Vec<Rate> = (0..40).map(|i| rate(u32::from(i < 8), 1)).collect();
    let (a, b) = (clustered_wilson(&single, 0.95).unwrap(), wilson(rate(8, 40), 0.95).unwrap());
    assert!((a.low - b.low).abs() < 0.005 && (a.high - b.high).abs() < 0.005);
    // At the boundary and with one cluster each cluster is one observation.
    assert_eq!(clustered_wilson(&[rate(0, 7); 27], 0.95), wilson(rate(0, 27), 0.95));
    assert_eq!(clustered_wilson(&[rate(7, 7), rate(0, 0)], 0.95), wilson(rate(1, 1), 0.95));
    assert!(clustered_wilson(&[rate(3, 7)], 0.95).unwrap().high > 0.9);
}

/// Table A7 of the paper, and the pooled row.
#[test]
fn mcnemar_of_the_paper() {
    let cases = [
        (7_u64, 0_u64, 0.016_f64),
        (1, 0, 1.0),
        (1, 1, 1.0),
        (27, 0, 1e-8),
        (10, 2, 0.039),
        (31, 0, 9e-10),
        (39, 1, 7e-11),
        (22, 2, 4e-5),
        (37, 1, 3e-10),
        (49, 1, 9e-14),
        (31, 1, 2e-8),
        (25, 0, 6e-8),
        (26, 2, 3e-6),
        (29, 0, 4e-9),
        (50, 0, 2e-15),
    ];
    for (b, c, p) in cases {
        let found = mcnemar_exact(b, c);
        // As many digits as the table prints.
        let digit = 10_f64.powf(p.log10().floor()) / if p > 0.01 { 10.0 } else { 1.0 };
        assert!((found - p).abs() <= 0.51 * digit, "{b}/{c}: {found} against {p}");
        assert_eq!(found, mcnemar_exact(c, b));
    }
    assert!((mcnemar_chi2_cc(385, 11).unwrap() - 351.3).abs() < 0.05);
    let p = mcnemar_chi2_p(385, 11).unwrap();
    assert!((1e-78..3e-78).contains(&p), "{p}");
}

#[test]
fn mcnemar_by_hand() {
    assert_eq!(mcnemar_exact(0, 0), 1.0);
    assert!((mcnemar_exact(7, 0) - 2.0 / 128.0).abs() < 1e-12);
    assert!((mcnemar_exact(10, 2) - 2.0 * 79.0 / 4096.0).abs() < 1e-12);
    assert!((mcnemar_exact(3, 1) - 0.625).abs() < 1e-12);
    assert_eq!(mcnemar_chi2_cc(0, 0), None);
    assert_eq!(mcnemar_chi2_p(0, 0), None);
    assert_eq!(mcnemar_chi2_cc(3, 3), Some(0.0));
    assert_eq!(mcnemar_chi2_cc(7, 0), Some(36.0 / 7.0));
}

proptest! {
    #[test]
    fn an_interval_holds_its_share_and_shrinks_with_n(n in 1_u32..400, k in 0_u32..400, wide in 0.5..0.999_f64) {
        let hits = k % (n + 1);
        let share = f64::from(hits) / f64::from(n);
        let found = wilson(rate(hits, n), wide).unwrap();
        prop_assert!(0.0 <= found.low && found.low <= share && share <= found.high && found.high <= 1.0);
        let more = wilson(rate(hits * 4, n * 4), wide).unwrap();
        prop_assert!(more.high - more.low <= found.high - found.low);
        let mirrored = wilson(rate(n - hits, n), wide).unwrap();
        prop_assert!((mirrored.low - (1.0 - found.high)).abs() < 1e-9);
    }

    #[test]
    fn clustering_never_narrows(parts in prop::collection::vec((0_u32..20, 0_u32..20), 1..12)) {
        let clusters: Vec<Rate> = parts.iter().map(|(n, k)| rate(k % (n + 1), *n)).collect();
        let pooled = clusters.iter().fold(Rate::default(), |a, b| a.merge(*b));
        match (clustered_wilson(&clusters, 0.95), wilson(pooled, 0.95)) {
            (Some(clustered), Some(plain)) => {
                prop_assert!(clustered.high - clustered.low >= plain.high - plain.low - 1e-12);
                let share = pooled.value().unwrap();
                prop_assert!(clustered.low <= share && share <= clustered.high);
            }
            (clustered, plain) => prop_assert_eq!(clustered.is_none(), plain.is_none()),
        }
    }

    #[test]
    fn mcnemar_is_a_probability_that_falls_with_imbalance(b in 0_u64..300, c in 0_u64..300) {
        let p = mcnemar_exact(b, c);
        prop_assert!(p > 0.0 && p <= 1.0);
        if b >= c {
            prop_assert!(mcnemar_exact(b + 1, c) <= p * (1.0 + 1e-9) || b == c);
        }
    }
}
