//! The outer roles against a scripted server: a small search on the built-in finance domain.

mod script;
mod searching;

use std::path::Path;
use std::sync::{Arc, OnceLock};

use evosafe_agent::Victim;
use evosafe_archive::Archive;
use evosafe_env::{Environment, EnvironmentSettings};
use evosafe_llm::{
    Caps, Cassette, CassetteMode, Client, CostBudget, Endpoint, Http, Ledger, Services, Spending,
};
use evosafe_sandbox::{Sandbox, SandboxOptions};
use evosafe_spec::{Plan, Split};
use evosafe_types::{Api, CallLimits, JsonMap, ModelConfig, Usd};
use tokio_util::sync::CancellationToken;

use super::OuterModels;
use crate::{Ablations, DesignerKind, SearchConfig, SearchError, SearchSummary};

const SPEC: &str = "
format = 1
name = \"small\"
[environment]
kind = \"builtin\"
domain = \"finance\"
[split]
by = \"environment\"
[cascade]
smoke = 3
gate = 6
search = 12
wide = 12
finalists = 1
[search]
batch = 2
repairs = 1
[budget]
candidates = 4
";

/// One sandbox for all tests: making it takes seconds.
pub(crate) fn sandbox() -> Sandbox {
    static SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    let new = || Sandbox::new(&SandboxOptions::default()).expect("the provider builds");
    SANDBOX.get_or_init(new).clone()
}

fn plan() -> Plan {
    evosafe_spec::parse("small", SPEC, "# A desk\n\nPay what the client asks for.\n")
        .expect("valid")
}

/// Tasks of the whole domain, and their split.
pub(crate) async fn divided(plan: &Plan) -> (Vec<evosafe_types::Task>, Split) {
    let settings = EnvironmentSettings::Builtin { domain: "finance".to_owned() };
    let environment = Environment::start(&settings, None).await.expect("built in");
    let tasks = environment.tasks().to_vec();
    let split = evosafe_spec::split(&plan.split, &tasks).expect("both sides");
    (tasks, split)
}

/// Journal, ledger and budget of a run, in a folder.
fn services(folder: &Path, mode: CassetteMode, usd: Option<f64>) -> Services {
    let (cassette, _) = Cassette::open(&folder.join("replies.jsonl"), mode).expect("it opens");
    let ledger = Ledger::open(&folder.join("ledger.jsonl")).expect("it opens").0;
    let caps = Caps { usd: usd.and_then(Usd::from_dollars), victim_tokens: None };
    Services {
        http: Http::new(None).expect("no proxy"),
        ledger: Arc::new(ledger),
        budget: CostBudget::new(caps, Spending::default()),
        prices: Arc::new(evosafe_spec::prices(None).expect("built in")),
        cassette: Some(Arc::new(cassette)),
    }
}

fn client(api: Api, model: &str, url: &str, services: &Services) -> Client {
    let limits = CallLimits {
        call_timeout_s: 1.0,
        retries: 12,
        backoff_s: 0.01,
        backoff_cap_s: 0.02,
        ..CallLimits::default()
    };
    let base_url = Some(url.to_owned());
    let config = ModelConfig { base_url, limits, ..ModelConfig::new(api, model) };
    let endpoint = Endpoint::new(&config);
    Client::new(config, None, endpoint, services.clone()).expect("a valid configuration")
}

/// All roles at one server: the Designer speaks one API, the others the other.
fn models(url: &str, services: &Services) -> OuterModels {
    let claude = || client(Api::Anthropic, "claude-opus-4-5", url, services);
    OuterModels {
        designer: Some(client(Api::OpenAi, "gpt-4o-mini", url, services)),
        criticizer: Some(claude()),
        analyzer: Some(claude()),
        ..OuterModels::default()
    }
}

/// A search in `folder`, with the archive there; run again it goes on.
async fn search(
    folder: &Path,
    outer: OuterModels,
    cancel: CancellationToken,
) -> Result<SearchSummary, SearchError> {
    let plan = plan();
    let (tasks, split) = divided(&plan).await;
    let settings = EnvironmentSettings::Builtin { domain: "finance".to_owned() };
    let environment = Environment::start(&settings, Some(&split.train)).await.expect("built in");
    let train = tasks.into_iter().filter(|t| split.train.contains(&t.id)).collect();
    let mut seeds = evosafe_spec::seeds().expect("built in");
    seeds.truncate(1);
    crate::search(SearchConfig {
        budget: plan.budget.clone(),
        environment: Arc::new(environment),
        tasks: train,
        split,
        victim: Arc::new(Victim::open("sim:default", &JsonMap::new()).expect("built in")),
        victim_locator: "sim:default".to_owned(),
        archive: Arc::new(Archive::open(&folder.join("archive")).expect("it opens")),
        sandbox: sandbox(),
        seeds,
        library: evosafe_spec::mechanisms().expect("built in"),
        seed: 1,
        designer: DesignerKind::Llm,
        ablations: Ablations::default(),
        outer: Some(outer),
        concurrency: 4,
        cancel,
        sink: Arc::new(|_| {}),
        plan,
    })
    .await
}

/// The archive of a search that has ended.
fn archive(folder: &Path) -> Archive {
    Archive::open_read(&folder.join("archive")).expect("it opens")
}
