//! The only place that sends anything.

use std::error::Error as _;
use std::fmt;
use std::time::{Duration, SystemTime};

use evosafe_types::{Api, ModelConfig};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderMap, HeaderValue, RETRY_AFTER};

use crate::error::LlmError;
use crate::secret::Secret;
use crate::wire;

/// Largest body that is read: a broken server must not fill the memory.
const MOST: usize = 32 << 20;
/// Time for a connection to come about; a reply may take much longer.
const CONNECT: Duration = Duration::from_secs(20);
/// Longest wait that `Retry-After` can ask for; what is longer than a call's total time
/// ends the call anyway.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 3600);

/// Connections, shared by all clients.
#[derive(Clone)]
pub struct Http {
    client: reqwest::Client,
    /// Why nothing can be sent by HTTPS: the machine has no certificates, as in small
    /// containers. A server on the same machine needs none.
    plain_only: Option<String>,
}

/// A whole response.
#[derive(Debug)]
pub(crate) struct Response {
    pub status: u16,
    pub retry_after: Option<Duration>,
    pub body: String,
}

impl fmt::Debug for Http {
    /// Not the client: it shows its proxy, which may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http").field("plain_only", &self.plain_only).finish_non_exhaustive()
    }
}

impl Http {
    /// Makes a client that follows no redirect (it would carry the key elsewhere), retries
    /// nothing by itself and reads no environment: a proxy is used only if given here.
    ///
    /// # Errors
    /// If TLS cannot be set up, or the proxy is no URL.
    pub fn new(proxy: Option<&str>) -> Result<Self, LlmError> {
        let failed = |e: reqwest::Error| LlmError::Transport(reason(e));
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            // An error says that another thread was faster.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        // Not what the library says: it shows the URL, which may hold a password.
        let no_url = |_| LlmError::Transport("the proxy is no URL such as http://host:port".into());
        let proxy = proxy.map(reqwest::Proxy::all).transpose().map_err(no_url)?;
        let builder = || {
            let builder = reqwest::Client::builder()
                .user_agent(concat!("evosafe/", env!("CARGO_PKG_VERSION")))
                .redirect(reqwest::redirect::Policy::none())
                .retry(reqwest::retry::never())
                .connect_timeout(CONNECT)
                // Replies may take minutes, in which nothing is sent.
                .tcp_keepalive(Duration::from_secs(30))
                .no_proxy();
            match &proxy {
                Some(proxy) => builder.proxy(proxy.clone()),
                None => builder,
            }
        };
        match builder().build() {
            Ok(client) => Ok(Self { client, plain_only: None }),
            Err(error) => {
                let client = builder().tls_certs_only([]).build().map_err(failed)?;
                Ok(Self { client, plain_only: Some(reason(error)) })
            }
        }
    }

    /// Whether this URL can be reached in principle.
    ///
    /// # Errors
    /// If it needs HTTPS and the machine has no certificates to check servers with.
    pub(crate) fn check(&self, config: &ModelConfig) -> Result<(), LlmError> {
        match &self.plain_only {
            Some(why) if config.base_url().starts_with("https") => {
                let help = "install the system's CA certificates (package ca-certificates)";
                Err(LlmError::Transport(format!("{why}; {help}")))
            }
            _ => Ok(()),
        }
    }

    /// Sends a request and reads the response to its end.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) async fn send(
        &self,
        config: &ModelConfig,
        key: Option<&Secret>,
        body: &str,
    ) -> Result<Response, String> {
        let headers = headers(config.api, key)?;
        let request = self.client.post(wire::url(config)).headers(headers).body(body.to_owned());
        let mut response = request.send().await.map_err(reason)?;
        let status = response.status().as_u16();
        let retry_after = retry_after(response.headers());
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(reason)? {
            if bytes.len() + chunk.len() > MOST {
                return Err(format!("the reply is larger than {} MiB", MOST >> 20));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(Response { status, retry_after, body: String::from_utf8_lossy(&bytes).into_owned() })
    }
}

fn headers(api: Api, key: Option<&Secret>) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let sensitive = |text: String| {
        let value = HeaderValue::from_str(&text);
        // Not the value: it holds the key.
        let mut value = value.map_err(|_| "the key cannot be sent in a header".to_owned())?;
        value.set_sensitive(true);
        Ok::<_, String>(value)
    };
    match (api, key) {
        (Api::OpenAi, Some(key)) => {
            headers.insert(AUTHORIZATION, sensitive(format!("Bearer {}", key.expose()))?);
        }
        (Api::Anthropic, Some(key)) => {
            headers.insert("x-api-key", sensitive(key.expose().to_owned())?);
        }
        (_, None) => {}
    }
    if api == Api::Anthropic {
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    }
    Ok(headers)
}

/// What went wrong, with its causes, without the URL.
fn reason(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

/// How long the endpoint asks to be left alone: milliseconds, seconds, or a date, which is
/// compared with the endpoint's own clock where it tells the time.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let seconds = |text: &str, unit: f64| {
        let seconds = text.parse::<f64>().ok()? * unit;
        (0.0..=LONGEST_WAIT.as_secs_f64())
            .contains(&seconds)
            .then(|| Duration::from_secs_f64(seconds))
    };
    if let Some(wait) = text("retry-after-ms").and_then(|ms| seconds(ms, 0.001)) {
        return Some(wait);
    }
    let after = text(RETRY_AFTER.as_str())?;
    if let Some(wait) = seconds(after, 1.0) {
        return Some(wait);
    }
    let until = httpdate::parse_http_date(after).ok()?;
    let now = text(DATE.as_str()).and_then(|date| httpdate::parse_http_date(date).ok());
    let wait = until.duration_since(now.unwrap_or_else(SystemTime::now)).unwrap_or_default();
    (wait <= LONGEST_WAIT).then_some(wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(pairs: &[(&'static str, &str)]) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(*name, HeaderValue::from_str(value).expect("a header"));
        }
        retry_after(&headers)
    }

    #[test]
    fn a_proxy_is_not_shown() {
        let http = Http::new(Some("http://me:hunter2@proxy.example:3128")).expect("a client");
        assert!(!format!("{http:?}").contains("hunter2"));
        let error = Http::new(Some("me:hunter2@")).expect_err("no URL");
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }

    #[test]
    fn every_spelling_of_retry_after() {
        assert_eq!(wait(&[("retry-after", "2")]), Some(Duration::from_secs(2)));
        assert_eq!(wait(&[("retry-after", " 0.5 ")]), Some(Duration::from_millis(500)));
        let both = [("retry-after", "9"), ("retry-after-ms", "250")];
        assert_eq!(wait(&both), Some(Duration::from_millis(250)));
        let date = [
            ("date", "Wed, 21 Oct 2015 07:28:00 GMT"),
            ("retry-after", "Wed, 21 Oct 2015 07:28:03 GMT"),
        ];
        assert_eq!(wait(&date), Some(Duration::from_secs(3)), "by the server's clock");
        let past = [("retry-after", "Wed, 21 Oct 2015 07:28:03 GMT")];
        assert_eq!(wait(&past), Some(Duration::ZERO));
        for nonsense in ["soon", "-1", "NaN", "1e300", ""] {
            assert_eq!(wait(&[("retry-after", nonsense)]), None, "{nonsense}");
        }
        assert_eq!(wait(&[]), None);
    }
}
