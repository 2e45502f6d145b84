//! What may be spent: `[budget]`, `[harness]` and `[limits]`, and the victim's episodes.

use std::time::Duration;

use evosafe_types::{Budget, EpisodeLimits, HarnessLimits, Usd};

use crate::raw::{RawBudget, RawLimits};
use crate::validate::{Checked, Ctx};

/// What a search may spend.
pub(crate) fn budget(ctx: &Ctx<'_>, raw: &RawBudget) -> Checked<Budget> {
    let seconds = raw
        .wall_clock_s
        .map(|seconds| ctx.within("budget.wall_clock_s", seconds, 1, 1 << 32))
        .transpose()?;
    Ok(Budget {
        candidates: raw
            .candidates
            .map(|n| ctx.within("budget.candidates", n, 1, 1_000_000))
            .transpose()?,
        episodes: raw.episodes.map(|n| ctx.within("budget.episodes", n, 1, 1 << 40)).transpose()?,
        wall_clock: seconds.map(Duration::from_secs),
        usd: raw
            .usd
            .map(|usd| ctx.within("budget.usd", usd, 0.0, 1e9))
            .transpose()?
            .and_then(Usd::from_dollars),
        victim_tokens: raw
            .victim_tokens
            .map(|n| ctx.within("budget.victim_tokens", n, 1, 1 << 50))
            .transpose()?,
    })
}

/// Sandbox limits from `[harness]` or `[limits]`; `table` names which.
pub(crate) fn limits(ctx: &Ctx<'_>, table: &str, raw: &RawLimits) -> Checked<HarnessLimits> {
    let usual = HarnessLimits::default();
    let key = |name: &str| format!("{table}.{name}");
    Ok(HarnessLimits {
        fuel: ctx.within(
            &key("fuel"),
            raw.fuel.unwrap_or(usual.fuel),
            1_000_000,
            1_000_000_000_000,
        )?,
        memory_mib: ctx.within(
            &key("memory_mib"),
            raw.memory_mib.unwrap_or(usual.memory_mib),
            4,
            1024,
        )?,
        output_bytes: ctx.within(
            &key("output_bytes"),
            raw.output_bytes.unwrap_or(usual.output_bytes),
            1024,
            1 << 26,
        )?,
        classify_calls: ctx.within(
            &key("classify_calls"),
            raw.classify_calls.unwrap_or(usual.classify_calls),
            0,
            10_000,
        )?,
    })
}

/// What an episode of a live victim may use.
pub(crate) fn victim_limits(
    ctx: &Ctx<'_>,
    tokens: Option<u64>,
    compact_tokens: Option<u64>,
    time_s: Option<f64>,
) -> Checked<EpisodeLimits> {
    let within = |seconds| ctx.within("victim_time_s", seconds, 1.0, 86_400.0);
    Ok(EpisodeLimits {
        tokens: tokens.map(|n| ctx.within("victim_tokens", n, 1, 1 << 40)).transpose()?,
        compact_over: compact_tokens
            .map(|n| ctx.within("victim_compact_tokens", n, 1000, 1 << 40))
            .transpose()?,
        time: time_s.map(within).transpose()?.map(Duration::from_secs_f64),
    })
}
