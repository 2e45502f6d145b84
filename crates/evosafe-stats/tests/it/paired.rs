use evosafe_stats::{MAX_SIGN_FLIPS, paired_t, sign_flip};
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
