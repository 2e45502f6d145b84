//! `[models.NAME]`: how live models are reached.

use std::collections::BTreeMap;

use evosafe_types::{Api, CallLimits, ModelConfig};

use crate::error::FormatError;
use crate::raw::{RawModel, RawModelLimits};
use crate::validate::Ctx;

/// All tables, by name.
pub(crate) fn models(
    ctx: &Ctx<'_>,
    raw: BTreeMap<String, RawModel>,
) -> Result<BTreeMap<String, ModelConfig>, FormatError> {
    let mut models = BTreeMap::new();
    for (name, raw) in raw {
        let place = format!("models.{name}");
        let name = ctx.name(&place, name)?;
        models.insert(name, model(ctx, &place, raw)?);
    }
    Ok(models)
}

fn model(ctx: &Ctx<'_>, place: &str, raw: RawModel) -> Result<ModelConfig, FormatError> {
    let key = |name: &str| format!("{place}.{name}");
    let api = ctx.need(&key("api"), raw.api)?;
    let apis = [Api::OpenAi, Api::Anthropic].map(|api| (api.as_str(), api));
    let api = ctx.word(&key("api"), &api, &apis)?;
    let usual = ModelConfig::new(api, ctx.need(&key("model"), raw.model)?);
    let key_env = match (raw.key_env, &raw.base_url) {
        (Some(name), _) => Some(variable(ctx, &key("key_env"), name)?),
        // The owner's key goes to the owner's endpoint only.
        (None, None) => Some(api.usual_key_env().to_owned()),
        (None, Some(_)) => None,
    };
    let config = ModelConfig {
        base_url: raw.base_url,
        key_env,
        temperature: raw.temperature,
        seed: raw.seed,
        reasoning_effort: raw.reasoning_effort,
        max_tokens: raw.max_tokens.unwrap_or(usual.max_tokens),
        prompt_cache: raw.prompt_cache.unwrap_or(usual.prompt_cache),
        limits: limits(raw.limits.unwrap_or_default()),
        ..usual
    };
    match config.check() {
        Ok(()) => Ok(config),
        Err(error) => ctx.bad(&key(error.key), error.problem),
    }
}

fn limits(raw: RawModelLimits) -> CallLimits {
    let usual = CallLimits::default();
    CallLimits {
        concurrency: raw.concurrency.unwrap_or(usual.concurrency),
        requests_per_minute: raw.requests_per_minute,
        tokens_per_minute: raw.tokens_per_minute,
        call_timeout_s: raw.call_timeout_s.unwrap_or(usual.call_timeout_s),
        total_timeout_s: raw.total_timeout_s.unwrap_or(usual.total_timeout_s),
        retries: raw.retries.unwrap_or(usual.retries),
        backoff_s: raw.backoff_s.unwrap_or(usual.backoff_s),
        backoff_cap_s: raw.backoff_cap_s.unwrap_or(usual.backoff_cap_s),
        breaker_failures: raw.breaker_failures.unwrap_or(usual.breaker_failures),
        breaker_cooldown_s: raw.breaker_cooldown_s.unwrap_or(usual.breaker_cooldown_s),
    }
}

/// The name of an environment variable. What is none may be a key that was pasted here, so
/// the message does not repeat it.
pub(crate) fn variable(ctx: &Ctx<'_>, key: &str, name: String) -> Result<String, FormatError> {
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if starts && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Ok(name);
    }
    ctx.bad(
        key,
        "must be the name of an environment variable (letters, digits and `_`), never a key itself",
    )
}
