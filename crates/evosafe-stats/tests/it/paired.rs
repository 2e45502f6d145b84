use evosafe_stats::gate::Sums;
use evosafe_stats::{
    MAX_SIGN_FLIPS, deviation, mcnemar_exact, paired_t, sign_flip, sign_flip_tasks,
};
use proptest::prelude::*;

#[test]
fn t_by_hand() {
    // Mean 2, deviation 1.5811, error 0.70711: t = 2.8284, p = 0.0474 with 4 degrees of freedom.
    let found = paired_t(&[0.0, 1.0, 2.0, 3.0, 4.0]).unwrap();
    assert!((found.mean - 2.0).abs() < 1e-12);
    assert!((found.deviation - 2.5_f64.sqrt()).abs() < 1e-12);
    assert!((found.t - 8.0_f64.sqrt()).abs() < 1e-12);
    assert!((found.p - 0.04742).abs() < 1e-5, "{}", found.p);
    // 2.776445 is the 0.975 quantile with 4 degrees of freedom.
    let half = 2.776_445 * 0.5_f64.sqrt();
    assert!((found.interval95.0 - (2.0 - half)).abs() < 1e-5, "{found:?}");
    assert!((found.interval95.1 - (2.0 + half)).abs() < 1e-5, "{found:?}");
}

#[test]
fn sign_flips_by_hand() {
    let cases: [(&[f64], f64, f64); 6] = [
        (&[1.0], 1.0, 0.5),
        (&[1.0, 2.0, 3.0, 4.0, 5.0], 2.0 / 32.0, 1.0 / 32.0),
        (&[-1.0, -2.0, -3.0, -4.0, -5.0], 2.0 / 32.0, 1.0),
        // Sums 3, 1, -1, -3: the observed one is 1.
        (&[-1.0, 2.0], 1.0, 0.5),
        // Equal on paper, not in bits.
        (&[0.1, 0.2, 0.3, -0.6], 1.0, 9.0 / 16.0),
        (&[0.0, 0.0], 1.0, 1.0),
    ];
    for (differences, two_sided, greater) in cases {
        let found = sign_flip(differences).unwrap();
        assert_eq!((found.two_sided, found.greater), (two_sided, greater), "{differences:?}");
    }
}

/// Tasks of so many rollouts, by their sums.
fn tasks(rollouts: u32, sums: &[i32]) -> Sums {
    let mut all = Sums::new(rollouts);
    assert!(sums.iter().all(|sum| all.push(*sum)));
    all
}

#[test]
fn flips_of_tasks_by_hand() {
    let cases: [(u32, &[i32], f64); 7] = [
        (6, &[], 1.0),
        (6, &[0, 0], 1.0),
        (3, &[2], 1.0),
        (3, &[3, 3, 3, 0], 2.0 / 8.0),
        // 2 + 2 - 1 = 3: of eight patterns 5, 3 and their opposites are as far.
        (2, &[2, 2, -1], 4.0 / 8.0),
        (2, &[2, 1, -1, -2], 1.0),
        // 4 + 3 + 1 - 1 = 7: 9, 7 (twice) and their opposites, of 16.
        (4, &[4, 3, 1, -1], 6.0 / 16.0),
    ];
    for (rollouts, sums, p) in cases {
        assert_eq!(sign_flip_tasks(&tasks(rollouts, sums)), p, "{sums:?}");
    }
    let many = tasks(6, &[6; 3000]);
    assert!(sign_flip_tasks(&many) > 0.0, "never 0, however far out");
}

#[test]
fn deviations_by_hand() {
    assert_eq!(deviation(&[1.0, 3.0]), Some(2.0_f64.sqrt()));
    assert_eq!(deviation(&[4.0, 4.0, 4.0]), Some(0.0));
    assert_eq!((deviation(&[4.0]), deviation(&[])), (None, None));
}

#[test]
fn what_cannot_be_computed_is_none() {
    assert_eq!(paired_t(&[1.0]), None);
    assert_eq!(paired_t(&[0.1, 0.1, 0.1]), None);
    assert_eq!(paired_t(&[1.0, f64::NAN]), None);
    assert_eq!(sign_flip(&[]), None);
    assert_eq!(sign_flip(&[f64::INFINITY]), None);
    assert_eq!(sign_flip(&[1.0; MAX_SIGN_FLIPS + 1]), None);
}

proptest! {
    #[test]
    fn with_one_rollout_flips_of_tasks_are_mcnemar(b in 0_u32..60, c in 0_u32..60, zero in 0_u32..9) {
        let once = Sums::from_tasks(&[b, zero, c]).unwrap();
        let (found, expected) = (sign_flip_tasks(&once), mcnemar_exact(b.into(), c.into()));
        prop_assert!((found - expected).abs() <= 1e-9 * expected, "{found} {expected}");
    }

    #[test]
    fn flips_of_tasks_are_all_patterns_counted(sums in prop::collection::vec(-5..=5_i32, 1..10)) {
        let each: Vec<f64> = sums.iter().map(|sum| f64::from(*sum)).collect();
        let expected = sign_flip(&each).unwrap().two_sided;
        prop_assert!((sign_flip_tasks(&tasks(5, &sums)) - expected).abs() < 1e-12);
    }

    #[test]
    fn p_values_are_probabilities(differences in prop::collection::vec(-50.0..50.0_f64, 1..9)) {
        let flips = sign_flip(&differences).unwrap();
        let least = 1.0 / f64::from(1_u32 << differences.len());
        prop_assert!(flips.greater >= least && flips.greater <= 1.0);
        prop_assert!(flips.two_sided >= flips.greater.min(1.0 - flips.greater));
        if let Some(t) = paired_t(&differences) {
            prop_assert!((0.0..=1.0).contains(&t.p));
            prop_assert!(t.interval95.0 <= t.mean && t.mean <= t.interval95.1);
        }
    }
}
