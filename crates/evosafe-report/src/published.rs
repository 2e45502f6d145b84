//! Rows of the paper's Table 1, to be printed beside the simulation. Its no-defence rows are
//! what the simulated profiles are calibrated on; the others are for comparison only
//! and nothing is fitted to them.

/// One published row, in percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Published {
    /// Task success on benign tasks.
    pub utility: f64,
    /// Attack success over both sources.
    pub asr: f64,
}

/// The published row of a cell, if there is one. `victim` is the name of the profile that stands
/// for the model; `defence` that of a warm-start bundle, `no defence`, or `evosafe` for the harness that the paper's
/// search found.
#[must_use]
pub fn published(domain: &str, victim: &str, defence: &str) -> Option<Published> {
    let of = |row: &&Row| row.0 == victim && row.1 == domain && row.2 == defence;
    let [utility, asr] = ROWS.iter().find(of)?.3;
    Some(Published { utility, asr })
}

type Row = (&'static str, &'static str, &'static str, [f64; 2]);

/// Victim, domain, defence; utility, ASR.
const ROWS: &[Row] = &[
    ("sonnet-4.6", "os-filesystem", "no defence", [86.7, 10.0]),
    ("sonnet-4.6", "finance", "no defence", [90.0, 2.9]),
    ("sonnet-4.6", "telecom", "no defence", [76.7, 1.4]),
    ("sonnet-4.6", "os-filesystem", "camel", [50.0, 2.9]),
    ("sonnet-4.6", "finance", "camel", [63.3, 2.9]),
    ("sonnet-4.6", "telecom", "camel", [76.7, 2.9]),
    ("sonnet-4.6", "os-filesystem", "drift", [66.7, 2.9]),
    ("sonnet-4.6", "finance", "drift", [70.0, 2.9]),
    ("sonnet-4.6", "telecom", "drift", [76.7, 2.9]),
    ("sonnet-4.6", "os-filesystem", "progent", [36.7, 1.4]),
    ("sonnet-4.6", "finance", "progent", [60.0, 1.4]),
    ("sonnet-4.6", "telecom", "progent", [73.3, 1.4]),
    ("sonnet-4.6", "os-filesystem", "evosafe", [80.0, 0.0]),
    ("sonnet-4.6", "finance", "evosafe", [80.0, 1.4]),
    ("sonnet-4.6", "telecom", "evosafe", [83.3, 1.4]),
    ("glm-5", "os-filesystem", "no defence", [83.3, 50.0]),
    ("glm-5", "finance", "no defence", [79.3, 21.4]),
    ("glm-5", "telecom", "no defence", [83.3, 47.1]),
    ("glm-5", "os-filesystem", "camel", [63.3, 18.6]),
    ("glm-5", "finance", "camel", [65.5, 18.6]),
    ("glm-5", "telecom", "camel", [76.7, 50.7]),
    ("glm-5", "os-filesystem", "drift", [73.3, 37.3]),
    ("glm-5", "finance", "drift", [56.7, 21.4]),
    ("glm-5", "telecom", "drift", [86.7, 50.8]),
    ("glm-5", "os-filesystem", "progent", [70.0, 7.1]),
    ("glm-5", "finance", "progent", [46.7, 4.3]),
    ("glm-5", "telecom", "progent", [83.3, 38.6]),
    ("glm-5", "os-filesystem", "evosafe", [80.0, 11.4]),
    ("glm-5", "finance", "evosafe", [83.3, 10.0]),
    ("glm-5", "telecom", "evosafe", [73.3, 2.9]),
    ("kimi-k2.5", "os-filesystem", "no defence", [80.0, 72.9]),
    ("kimi-k2.5", "finance", "no defence", [60.0, 38.6]),
    ("kimi-k2.5", "telecom", "no defence", [73.3, 54.3]),
    ("kimi-k2.5", "os-filesystem", "camel", [66.7, 22.9]),
    ("kimi-k2.5", "finance", "camel", [63.3, 32.9]),
    ("kimi-k2.5", "telecom", "camel", [76.7, 50.0]),
    ("kimi-k2.5", "os-filesystem", "drift", [83.3, 55.7]),
    ("kimi-k2.5", "finance", "drift", [53.3, 35.7]),
    ("kimi-k2.5", "telecom", "drift", [86.7, 52.9]),
    ("kimi-k2.5", "os-filesystem", "progent", [30.0, 4.3]),
    ("kimi-k2.5", "finance", "progent", [46.7, 8.6]),
    ("kimi-k2.5", "telecom", "progent", [56.7, 21.4]),
    ("kimi-k2.5", "os-filesystem", "evosafe", [70.0, 18.6]),
    ("kimi-k2.5", "finance", "evosafe", [83.3, 10.0]),
    ("kimi-k2.5", "telecom", "evosafe", [80.0, 2.9]),
    ("qwen3.7-plus", "os-filesystem", "no defence", [86.7, 75.7]),
    ("qwen3.7-plus", "finance", "no defence", [93.3, 60.0]),
    ("qwen3.7-plus", "telecom", "no defence", [80.0, 37.1]),
    ("qwen3.7-plus", "os-filesystem", "camel", [60.0, 62.9]),
    ("qwen3.7-plus", "finance", "camel", [73.3, 57.1]),
    ("qwen3.7-plus", "telecom", "camel", [76.7, 45.7]),
    ("qwen3.7-plus", "os-filesystem", "drift", [83.3, 65.7]),
    ("qwen3.7-plus", "finance", "drift", [83.3, 57.1]),
    ("qwen3.7-plus", "telecom", "drift", [76.7, 47.1]),
    ("qwen3.7-plus", "os-filesystem", "progent", [46.7, 5.7]),
    ("qwen3.7-plus", "finance", "progent", [63.3, 7.1]),
    ("qwen3.7-plus", "telecom", "progent", [70.0, 20.0]),
    ("qwen3.7-plus", "os-filesystem", "evosafe", [70.0, 7.1]),
    ("qwen3.7-plus", "finance", "evosafe", [93.3, 17.1]),
    ("qwen3.7-plus", "telecom", "evosafe", [73.3, 1.4]),
    ("deepseek-v4-flash", "os-filesystem", "no defence", [90.0, 78.6]),
    ("deepseek-v4-flash", "finance", "no defence", [93.3, 61.4]),
    ("deepseek-v4-flash", "telecom", "no defence", [90.0, 72.9]),
    ("deepseek-v4-flash", "os-filesystem", "camel", [66.7, 57.1]),
    ("deepseek-v4-flash", "finance", "camel", [83.3, 64.3]),
    ("deepseek-v4-flash", "telecom", "camel", [83.3, 75.7]),
    ("deepseek-v4-flash", "os-filesystem", "drift", [90.0, 78.6]),
    ("deepseek-v4-flash", "finance", "drift", [90.0, 60.0]),
    ("deepseek-v4-flash", "telecom", "drift", [80.0, 64.3]),
    ("deepseek-v4-flash", "os-filesystem", "progent", [30.0, 2.9]),
    ("deepseek-v4-flash", "finance", "progent", [63.3, 7.1]),
    ("deepseek-v4-flash", "telecom", "progent", [70.0, 25.7]),
    ("deepseek-v4-flash", "os-filesystem", "evosafe", [80.0, 44.3]),
    ("deepseek-v4-flash", "finance", "evosafe", [83.3, 20.0]),
    ("deepseek-v4-flash", "telecom", "evosafe", [83.3, 1.4]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_has_five_rows_and_their_means_are_the_papers() {
        assert_eq!(ROWS.len(), 15 * 5);
        // Means of the paper's last rows: utility, ASR.
        for (defence, utility, asr) in [
            ("no defence", 83.1, 45.6),
            ("camel", 69.7, 37.7),
            ("drift", 77.1, 42.4),
            ("progent", 56.4, 10.5),
            ("evosafe", 79.8, 10.0),
        ] {
            let of = || ROWS.iter().filter(|row| row.2 == defence).map(|row| row.3);
            assert_eq!(of().count(), 15, "{defence}");
            let mean = |at: usize| of().map(|figures| figures[at]).sum::<f64>() / 15.0;
            assert!((mean(0) - utility).abs() < 0.1, "{defence}: {}", mean(0));
            assert!((mean(1) - asr).abs() < 0.1, "{defence}: {}", mean(1));
        }
        assert_eq!(published("finance", "glm-5", "no defence").map(|p| p.asr), Some(21.4));
        assert_eq!(published("finance", "default", "no defence"), None);
    }
}
