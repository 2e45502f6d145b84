//! How a live model is reached: what a specification says of a victim or an outer model.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The protocol an endpoint speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Api {
    /// Chat completions: hosted APIs, vLLM, llama.cpp, Ollama, gateways.
    OpenAi,
    /// Anthropic messages.
    Anthropic,
}

impl Api {
    /// As it is written in a specification.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
        }
    }

    /// The environment variable that usually holds the key of the API's owner.
    #[must_use]
    pub fn usual_key_env(self) -> &'static str {
        match self {
            Self::OpenAi => "OPENAI_API_KEY",
            Self::Anthropic => "ANTHROPIC_API_KEY",
        }
    }

    /// The public endpoint of the API's owner.
    #[must_use]
    pub fn default_base_url(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
        }
    }
}

/// A model and how it is asked. Holds the *name* of the environment variable with the key,
/// never the key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// The protocol.
    pub api: Api,
    /// Where the API begins, e.g. `https://api.openai.com/v1`; `None` is the API owner's.
    /// Must hold no user name or password.
    #[serde(default)]
    pub base_url: Option<String>,
    /// Name of the model, as the endpoint knows it.
    pub model: String,
    /// Environment variable with the key; `None` where the endpoint asks for none.
    #[serde(default)]
    pub key_env: Option<String>,
    /// Sampling temperature, 0 to 2; `None` leaves it to the endpoint (some models refuse any).
    #[serde(default)]
    pub temperature: Option<f64>,
    /// Sampling seed. The Anthropic API has none.
    #[serde(default)]
    pub seed: Option<u64>,
    /// Reasoning effort in the endpoint's own words (`low`, `medium`, `high`, ...).
    #[serde(default)]
    pub reasoning_effort: Option<String>,
    /// Most tokens of a reply, reasoning included, where a request does not say.
    #[serde(default = "ModelConfig::default_max_tokens")]
    pub max_tokens: u32,
    /// Marks the prompt for caching where that is explicit (Anthropic). Elsewhere it has no effect.
    #[serde(default = "yes")]
    pub prompt_cache: bool,
    /// What the endpoint may be burdened with.
    #[serde(default)]
    pub limits: CallLimits,
}

/// What an endpoint may be burdened with, and how long it is waited for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CallLimits {
    /// Calls at the same time, 1 to 1024.
    pub concurrency: u32,
    /// Requests a minute; `None` is no limit.
    pub requests_per_minute: Option<u32>,
    /// Tokens a minute, input and output; `None` is no limit.
    pub tokens_per_minute: Option<u32>,
    /// Seconds after which an attempt is given up.
    pub call_timeout_s: f64,
    /// Seconds after which a call is given up, all attempts and waits between them included.
    pub total_timeout_s: f64,
    /// Further attempts after the first, 0 to 20.
    pub retries: u32,
    /// Seconds before the first retry; doubles with each, with jitter.
    pub backoff_s: f64,
    /// Longest such wait. What the endpoint asks for (`Retry-After`) may be longer.
    pub backoff_cap_s: f64,
    /// Calls in a row that fail with all their retries before the circuit opens, from 1.
    pub breaker_failures: u32,
    /// Seconds an open circuit stays open before one call may try again.
    pub breaker_cooldown_s: f64,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self {
            concurrency: 8,
            requests_per_minute: None,
            tokens_per_minute: None,
            call_timeout_s: 120.0,
            total_timeout_s: 600.0,
            retries: 8,
            backoff_s: 0.5,
            backoff_cap_s: 30.0,
            breaker_failures: 5,
            breaker_cooldown_s: 60.0,
        }
    }
}

/// A value that a model cannot be asked with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` {problem}")]
pub struct ModelConfigError {
    /// Path of the key, e.g. `limits.retries`.
    pub key: &'static str,
    /// What is wrong, and what is allowed.
    pub problem: String,
}

fn yes() -> bool {
    true
}

impl ModelConfig {
    /// A configuration with the defaults of every key that has one.
    #[must_use]
    pub fn new(api: Api, model: impl Into<String>) -> Self {
        Self {
            api,
            base_url: None,
            model: model.into(),
            key_env: None,
            temperature: None,
            seed: None,
            reasoning_effort: None,
            max_tokens: Self::default_max_tokens(),
            prompt_cache: true,
            limits: CallLimits::default(),
        }
    }

    fn default_max_tokens() -> u32 {
        4096
    }

    /// Where the API begins, without a slash at the end.
    #[must_use]
    pub fn base_url(&self) -> &str {
        self.base_url.as_deref().unwrap_or(self.api.default_base_url()).trim_end_matches('/')
    }

    /// What the model's replies depend on, as a text: part of a victim's identity. Limits,
    /// the key and caching change what a reply costs, never what it says.
    #[must_use]
    pub fn identity(&self) -> String {
        serde_json::json!({
            "api": self.api,
            "base_url": self.base_url(),
            "model": self.model,
            "temperature": self.temperature,
            "seed": self.seed,
            "reasoning_effort": self.reasoning_effort,
            "max_tokens": self.max_tokens,
        })
        .to_string()
    }

    /// Checks what types cannot.
    ///
    /// # Errors
    /// Names the first key with a value out of range, and the range.
    pub fn check(&self) -> Result<(), ModelConfigError> {
        let bad = |key, problem: String| Err(ModelConfigError { key, problem });
        if self.model.trim().is_empty() {
            return bad("model", "is empty; name a model".to_owned());
        }
        let url = self.base_url();
        let Some((scheme, rest)) = url.split_once("://") else {
            return bad("base_url", format!("is `{url}`; it must start with http:// or https://"));
        };
        if !matches!(scheme, "http" | "https") || rest.is_empty() {
            return bad("base_url", "must start with http:// or https:// and name a host".into());
        }
        // Not shown: what is before the @ may be a password.
        if rest.split('/').next().is_some_and(|host| host.contains('@')) {
            return bad("base_url", "must hold no user name or password; use `key_env`".to_owned());
        }
        if rest.contains(['?', '#']) {
            return bad("base_url", "must hold no query; keys go into `key_env`".to_owned());
        }
        if let Some(t) = self.temperature
            && !(0.0..=2.0).contains(&t)
        {
            return bad("temperature", format!("is {t}; it must be from 0 to 2"));
        }
        if self.api == Api::Anthropic && self.seed.is_some() {
            return bad(
                "seed",
                "has no effect: the Anthropic API has no seed; leave it out".into(),
            );
        }
        if self.max_tokens == 0 {
            return bad("max_tokens", "is 0; it must be at least 1".to_owned());
        }
        self.limits.check()
    }
}

impl CallLimits {
    fn check(&self) -> Result<(), ModelConfigError> {
        let bad = |key, problem: String| Err(ModelConfigError { key, problem });
        if !(1..=1024).contains(&self.concurrency) {
            return bad("limits.concurrency", "must be from 1 to 1024".to_owned());
        }
        if self.requests_per_minute == Some(0) {
            return bad("limits.requests_per_minute", "must be at least 1".to_owned());
        }
        if self.tokens_per_minute == Some(0) {
            return bad("limits.tokens_per_minute", "must be at least 1".to_owned());
        }
        if self.retries > 20 {
            return bad("limits.retries", "must be at most 20".to_owned());
        }
        if self.breaker_failures == 0 {
            return bad("limits.breaker_failures", "must be at least 1".to_owned());
        }
        let seconds = [
            ("limits.call_timeout_s", self.call_timeout_s),
            ("limits.total_timeout_s", self.total_timeout_s),
            ("limits.backoff_s", self.backoff_s),
            ("limits.backoff_cap_s", self.backoff_cap_s),
            ("limits.breaker_cooldown_s", self.breaker_cooldown_s),
        ];
        for (key, value) in seconds {
            if !(0.001..=86_400.0).contains(&value) {
                return bad(key, format!("is {value}; it must be from 0.001 to 86400 seconds"));
            }
        }
        Ok(())
    }

    /// [`Self::call_timeout_s`] as a duration.
    #[must_use]
    pub fn call_timeout(&self) -> Duration {
        Duration::from_secs_f64(self.call_timeout_s)
    }

    /// [`Self::total_timeout_s`] as a duration.
    #[must_use]
    pub fn total_timeout(&self) -> Duration {
        Duration::from_secs_f64(self.total_timeout_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_pass_and_unknown_keys_do_not() {
        let config: ModelConfig =
            serde_json::from_str(r#"{"api":"openai","model":"m"}"#).expect("parses");
        assert_eq!(config, ModelConfig::new(Api::OpenAi, "m"));
        assert_eq!(config.check(), Ok(()));
        for typo in [
            r#"{"api":"openai","model":"m","temprature":0}"#,
            r#"{"api":"openai","model":"m","limits":{"retry":1}}"#,
        ] {
            let error = serde_json::from_str::<ModelConfig>(typo).expect_err("refused");
            assert!(error.to_string().contains("unknown field"), "{error}");
        }
    }

    #[test]
    fn values_out_of_range_name_their_key() {
        let base = || ModelConfig::new(Api::Anthropic, "m");
        let limits = |limits| ModelConfig { limits, ..base() };
        let cases = [
            (ModelConfig { model: " ".into(), ..base() }, "model"),
            (ModelConfig { base_url: Some("api.example".into()), ..base() }, "base_url"),
            (ModelConfig { base_url: Some("https://me:hunter2@x".into()), ..base() }, "base_url"),
            (ModelConfig { base_url: Some("https://x/?key=hunter2".into()), ..base() }, "base_url"),
            (ModelConfig { temperature: Some(f64::NAN), ..base() }, "temperature"),
            (ModelConfig { seed: Some(1), ..base() }, "seed"),
            (ModelConfig { max_tokens: 0, ..base() }, "max_tokens"),
            (limits(CallLimits { concurrency: 0, ..Default::default() }), "limits.concurrency"),
            (limits(CallLimits { retries: 21, ..Default::default() }), "limits.retries"),
            (
                limits(CallLimits { call_timeout_s: f64::INFINITY, ..Default::default() }),
                "limits.call_timeout_s",
            ),
        ];
        for (config, key) in cases {
            let error = config.check().expect_err(key);
            assert_eq!(error.key, key);
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn what_changes_replies_changes_the_identity_and_nothing_else_does() {
        let base = ModelConfig::new(Api::OpenAi, "m");
        let limits = CallLimits { retries: 1, ..CallLimits::default() };
        let same = ModelConfig {
            base_url: Some(format!("{}/", base.base_url())),
            key_env: Some("KEY".into()),
            prompt_cache: false,
            limits,
            ..base.clone()
        };
        assert_eq!(same.identity(), base.identity());
        for other in [
            ModelConfig { api: Api::Anthropic, ..base.clone() },
            ModelConfig { base_url: Some("http://h".into()), ..base.clone() },
            ModelConfig { model: "n".into(), ..base.clone() },
            ModelConfig { temperature: Some(0.0), ..base.clone() },
            ModelConfig { seed: Some(0), ..base.clone() },
            ModelConfig { reasoning_effort: Some("low".into()), ..base.clone() },
            ModelConfig { max_tokens: 1, ..base.clone() },
        ] {
            assert_ne!(other.identity(), base.identity(), "{other:?}");
        }
    }

    #[test]
    fn a_slash_at_the_end_of_the_url_is_dropped() {
        let config = ModelConfig {
            base_url: Some("http://h/v1/".into()),
            ..ModelConfig::new(Api::OpenAi, "m")
        };
        assert_eq!(config.base_url(), "http://h/v1");
    }
}
