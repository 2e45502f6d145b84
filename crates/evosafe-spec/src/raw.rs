//! `spec.toml` as written. Every key is optional here, so that an unknown key is
//! reported before a missing one: most missing keys are misspelt ones.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::strict::fields;

macro_rules! table {
    ($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Default, Deserialize)]
        #[serde(default, expecting = "a table")]
        pub(crate) struct $name { $($(#[$field_meta])* pub(crate) $field: Option<$type>,)* }
    };
}
pub(crate) use table;

table!(
    /// The root.
    RawSpec {
        format: u32,
        name: String,
        victim: String,
        victim_steps: u32,
        victim_tokens: u64,
        victim_compact_tokens: u64,
        victim_time_s: f64,
        environment: RawEnvironment,
        split: RawSplit,
        cascade: RawCascade,
        search: RawSearch,
        budget: RawBudget,
        harness: RawLimits,
        models: BTreeMap<String, RawModel>,
        designer: RawDesigner,
        criticizer: RawRole,
        analyzer: RawRole,
    }
);
table!(
    /// `[designer]`
    RawDesigner {
        kind: String,
        model: String,
        command: Vec<String>,
        time_limit_s: u64,
        cost_limit_usd: f64,
        pass_env: Vec<String>,
        of: Vec<String>,
    }
);
table!(
    /// `[criticizer]`, `[analyzer]`
    RawRole {
        kind: String,
        model: String,
    }
);
table!(
    /// `[environment]`
    RawEnvironment {
        kind: String,
        domain: String,
        bridge: String,
        options: toml::Table,
        call_timeout_s: f64,
        open_timeout_s: f64,
        processes: u32,
    }
);
table!(
    /// `[split]`
    RawSplit {
        by: String,
        train: f64,
        seed: u64,
    }
);
table!(
    /// `[cascade]`
    RawCascade {
        smoke: u32,
        gate: u32,
        search: u32,
        wide: RawWide,
        margin: f64,
        confidence: f64,
        finalists: u32,
        under_attack_margin: f64,
    }
);
table!(
    /// `[search]`
    RawSearch {
        batch: u32,
        repairs: u32,
        patience: u32,
        rollouts: u32,
        adaptive_probes: u32,
    }
);
table!(
    /// `[budget]`
    RawBudget {
        candidates: u32,
        episodes: u64,
        wall_clock_s: u64,
        usd: f64,
        victim_tokens: u64,
    }
);
table!(
    /// `[models.NAME]`
    RawModel {
        api: String,
        model: String,
        base_url: String,
        key_env: String,
        temperature: f64,
        seed: u64,
        reasoning_effort: String,
        max_tokens: u32,
        prompt_cache: bool,
        limits: RawModelLimits,
    }
);
table!(
    /// `[models.NAME.limits]`
    RawModelLimits {
        concurrency: u32,
        requests_per_minute: u32,
        tokens_per_minute: u32,
        call_timeout_s: f64,
        total_timeout_s: f64,
        retries: u32,
        backoff_s: f64,
        backoff_cap_s: f64,
        breaker_failures: u32,
        breaker_cooldown_s: f64,
    }
);
table!(
    /// `[harness]` of a specification, `[limits]` of a bundle.
    RawLimits {
        fuel: u64,
        memory_mib: u32,
        output_bytes: u32,
        classify_calls: u32,
    }
);

/// `cascade.wide`: a number, or a word.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected a number of tasks or \"all\"")]
pub(crate) enum RawWide {
    /// A number of tasks.
    Tasks(u32),
    /// `all`
    Word(String),
}

/// Keys of each table of `spec.toml`.
pub(crate) fn keys_of(place: &str) -> &'static [&'static str] {
    match place {
        "" => fields::<RawSpec>(),
        "environment" => fields::<RawEnvironment>(),
        "split" => fields::<RawSplit>(),
        "cascade" => fields::<RawCascade>(),
        "search" => fields::<RawSearch>(),
        "budget" => fields::<RawBudget>(),
        "harness" => fields::<RawLimits>(),
        "designer" => fields::<RawDesigner>(),
        "criticizer" | "analyzer" => fields::<RawRole>(),
        _ => match place.strip_prefix("models.").map(|rest| rest.split_once('.')) {
            Some(None) => fields::<RawModel>(),
            Some(Some((_, "limits"))) => fields::<RawModelLimits>(),
            _ => &[],
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key that is not in docs/formats.md does not exist for anybody.
    #[test]
    fn every_key_is_documented() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats.md");
        let text =
            std::fs::read_to_string(path).expect("docs/formats.md is part of the repository");
        let tables = ["", "environment", "split", "cascade", "search", "budget", "harness"];
        let roles = ["designer", "criticizer", "analyzer"];
        let models = ["models.NAME", "models.NAME.limits"];
        for place in tables.into_iter().chain(models).chain(roles) {
            assert!(!keys_of(place).is_empty(), "{place}");
            for key in keys_of(place) {
                let shown =
                    if place.is_empty() { format!("`{key}`") } else { format!("`{place}.{key}`") };
                let is_table = matches!(*key, "models" | "limits") || !keys_of(key).is_empty();
                assert!(
                    is_table || text.contains(&shown),
                    "docs/formats.md does not explain {shown}"
                );
            }
        }
    }
}
