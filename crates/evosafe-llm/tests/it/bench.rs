//! What the tests share: a client with everything around it, in a folder of its own.

use std::path::PathBuf;
use std::sync::Arc;

pub use evosafe_llm::{CallTag, Role};
use evosafe_llm::{
    Caps, Cassette, CassetteMode, ChatReply, ChatRequest, Client, CostBudget, Endpoint, Http,
    Ledger, LedgerEntry, LlmError, Message, Secret, Services, Spending, ToolDef, read_ledger,
};
use evosafe_testing::{Answer, Received, Server};
use evosafe_types::{Api, CallLimits, ModelConfig, Price, PriceBook, Rates, Usd};
use serde_json::json;

pub const BOTH: [Api; 2] = [Api::OpenAi, Api::Anthropic];
pub const KEY: &str = "sk-test-0123456789abcdef";

pub fn usd(dollars: f64) -> Usd {
    Usd::from_dollars(dollars).expect("in range")
}

/// A dollar for a million tokens of prompt, ten for a million of reply.
pub fn prices() -> PriceBook {
    let rates = Rates {
        input: usd(1.0),
        cached_input: usd(0.1),
        cache_creation: usd(1.25),
        output: usd(10.0),
    };
    PriceBook {
        as_of: "2026-01-01".to_owned(),
        entries: vec![("test-model".to_owned(), Price { rates, long: None })],
    }
}

/// Limits that do not keep tests waiting.
pub fn quick() -> CallLimits {
    CallLimits {
        concurrency: 32,
        call_timeout_s: 0.3,
        total_timeout_s: 20.0,
        retries: 4,
        backoff_s: 0.002,
        backoff_cap_s: 0.01,
        breaker_failures: 1000,
        breaker_cooldown_s: 0.05,
        ..CallLimits::default()
    }
}

pub fn config(api: Api, url: &str) -> ModelConfig {
    let base_url = Some(url.to_owned());
    ModelConfig {
        base_url,
        max_tokens: 1000,
        limits: quick(),
        ..ModelConfig::new(api, "test-model")
    }
}

pub struct Bench {
    pub client: Client,
    pub ledger_path: PathBuf,
    pub cassette_path: PathBuf,
    pub budget: Arc<CostBudget>,
    _folder: Option<tempfile::TempDir>,
}

impl Bench {
    pub fn new(config: ModelConfig) -> Self {
        Self::with(config, Caps::default(), None)
    }

    pub fn with(config: ModelConfig, caps: Caps, mode: Option<CassetteMode>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut bench = Self::at(folder.path().to_owned(), config, caps, mode, Some(KEY));
        bench._folder = Some(folder);
        bench
    }

    pub fn at(
        folder: PathBuf,
        config: ModelConfig,
        caps: Caps,
        mode: Option<CassetteMode>,
        key: Option<&str>,
    ) -> Self {
        let ledger_path = folder.join("ledger.jsonl");
        let cassette_path = folder.join("replies.jsonl");
        let (ledger, _) = Ledger::open(&ledger_path).expect("a ledger");
        let cassette =
            mode.map(|mode| Arc::new(Cassette::open(&cassette_path, mode).expect("opens").0));
        let budget = CostBudget::new(caps, Spending::default());
        let services = Services {
            http: Http::new(None).expect("a client"),
            ledger: Arc::new(ledger),
            budget: Arc::clone(&budget),
            prices: Arc::new(prices()),
            cassette,
        };
        let key = key.map(|key| Secret::new(key).expect("a key"));
        let endpoint = Endpoint::new(&config);
        let client = Client::new(config, key, endpoint, services).expect("a client");
        Self { client, ledger_path, cassette_path, budget, _folder: None }
    }

    pub async fn ask(&self, request: &ChatRequest) -> Result<ChatReply, LlmError> {
        self.client.chat(request, &tag()).await
    }

    pub fn entries(&self) -> Vec<LedgerEntry> {
        let mut entries = Vec::new();
        read_ledger(&self.ledger_path, |entry| entries.push(entry)).expect("reads");
        entries
    }
}

pub fn tag() -> CallTag {
    CallTag::new(Role::Victim, "search")
}

pub fn hello() -> ChatRequest {
    user("Hello")
}

pub fn user(text: &str) -> ChatRequest {
    ChatRequest { messages: vec![Message::User(text.to_owned())], ..ChatRequest::default() }
}

pub fn pay() -> ToolDef {
    ToolDef {
        name: "pay".to_owned(),
        description: "Pays somebody.".to_owned(),
        input_schema: json!({"type": "object", "required": ["to"],
            "properties": {"to": {"type": "string"}}}),
    }
}

pub async fn server(script: impl Fn(&Received) -> Answer + Send + Sync + 'static) -> Server {
    Server::start(script).await.expect("a port")
}
