//! Live models: from how one is named to a client, with key, ledger, budget and recording.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use evosafe_archive::calls_folder;
use evosafe_llm::{
    Caps, Cassette, CassetteMode, Client, CostBudget, CostTable, Endpoint, Http, Ledger, Secret,
    Services,
};
use evosafe_spec::Plan;
use evosafe_types::{Api, ModelConfig, PriceBook, Usd};

use crate::args::ModelArgs;
use crate::commands::Context;

/// File of an archive's calls folder with every paid call.
pub const LEDGER: &str = "ledger.jsonl";
/// File with every reply.
const REPLIES: &str = "replies.jsonl";

/// The API, model and base URL that a locator names: `openai:MODEL`, `anthropic:MODEL`, each
/// with `@URL` behind it where the API is not at its owner's.
fn live(locator: &str) -> Option<(Api, &str, Option<&str>)> {
    let (kind, rest) = locator.split_once(':')?;
    let api = [Api::OpenAi, Api::Anthropic].into_iter().find(|api| api.as_str() == kind)?;
    let (model, url) = match rest.find("@http://").or_else(|| rest.find("@https://")) {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest, None),
    };
    (!model.is_empty()).then_some((api, model, url))
}

/// The live model that a locator names, if it names one.
pub fn config(locator: &str, plan: &Plan, args: &ModelArgs) -> Result<Option<ModelConfig>> {
    if let Some(name) = locator.strip_prefix("model:") {
        let config = plan.models.get(name).cloned();
        return Ok(Some(config.with_context(|| {
            let known: Vec<&str> = plan.models.keys().map(String::as_str).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            format!("specification {} has no `[models.{name}]`; it has: {known}", plan.name)
        })?));
    }
    let Some((api, model, url)) = live(locator) else { return Ok(None) };
    let base_url = url.map(str::to_owned).or_else(|| args.base_url.clone());
    let usual = || base_url.is_none().then(|| api.usual_key_env().to_owned());
    let key_env = args.key_env.clone().or_else(usual);
    let config = ModelConfig { base_url, key_env, ..ModelConfig::new(api, model) };
    config.check()?;
    Ok(Some(config))
}

/// A locator that names the same victim from another folder, without options.
pub fn portable(locator: &str, args: &ModelArgs) -> String {
    if let Some(path) = locator.strip_prefix("replay:") {
        return std::path::absolute(path)
            .map_or_else(|_| locator.to_owned(), |p| format!("replay:{}", p.display()));
    }
    match (live(locator), &args.base_url) {
        (Some((.., None)), Some(url)) => format!("{locator}@{url}"),
        _ => locator.to_owned(),
    }
}

/// Prices, those of the user's file first.
pub fn prices(args: &ModelArgs) -> Result<PriceBook> {
    Ok(evosafe_spec::prices(args.prices.as_deref())?)
}

/// The live models of a command, opened when the first is asked for.
pub fn opened<'m>(
    cx: &Context<'_>,
    plan: &Plan,
    models: &'m mut Option<Models>,
) -> Result<&'m mut Models> {
    match models {
        Some(opened) => Ok(opened),
        none => Ok(none.insert(Models::open(cx, plan)?)),
    }
}

/// The live models of a process: they share ledger, budget and recording, and those of one
/// endpoint its limits.
pub struct Models {
    services: Services,
    endpoints: BTreeMap<String, Arc<Endpoint>>,
    replay: bool,
}

impl Models {
    /// Opens what an archive knows of calls. What they have cost counts against the budget.
    pub fn open(cx: &Context<'_>, plan: &Plan) -> Result<Self> {
        let folder = calls_folder(&cx.archive);
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        let usd = match cx.models.budget_usd {
            None => plan.budget.usd,
            Some(dollars) => Some(
                Usd::from_dollars(dollars)
                    .with_context(|| format!("--budget-usd is {dollars}, which is no amount"))?,
            ),
        };
        let caps = Caps { usd, victim_tokens: plan.budget.victim_tokens };
        let (ledger, torn) = Ledger::open(&folder.join(LEDGER))?;
        let (spent, _) = CostTable::read(&folder.join(LEDGER), &[])?;
        let replay = cx.models.replay_calls;
        let mode = if replay { CassetteMode::Replay } else { CassetteMode::ReplayOrRecord };
        let (cassette, torn_replies) = Cassette::open(&folder.join(REPLIES), mode)?;
        for (file, torn) in [(LEDGER, torn), (REPLIES, torn_replies)] {
            if let Some(torn) = torn {
                cx.printer.note(&format!(
                    "calls: half an entry at the end of {file} ({} bytes, left by a kill) was dropped",
                    torn.bytes
                ));
            }
        }
        let services = Services {
            http: Http::new(cx.models.proxy.as_deref())?,
            ledger: Arc::new(ledger),
            budget: CostBudget::new(caps, spent.spending),
            prices: Arc::new(prices(&cx.models)?),
            cassette: Some(Arc::new(cassette)),
        };
        Ok(Self { services, endpoints: BTreeMap::new(), replay })
    }

    /// What all calls share.
    pub fn services(&self) -> Services {
        self.services.clone()
    }

    /// A client; reads the key from the variable that the configuration names.
    pub fn client(&mut self, config: ModelConfig) -> Result<Client> {
        let model = &config.model;
        if self.services.budget.caps().usd.is_some() && self.services.prices.price(model).is_none()
        {
            bail!(
                "there is no price for `{model}`, so a budget in USD cannot hold: add it to a price file (--prices; 0 where it is free), or drop the budget"
            );
        }
        let key = match &config.key_env {
            Some(name) if !self.replay => Some(key(name, model)?),
            _ => None,
        };
        let endpoint = self.endpoints.entry(config.base_url().to_owned());
        let endpoint = Arc::clone(endpoint.or_insert_with(|| Endpoint::new(&config)));
        Ok(Client::new(config, key, endpoint, self.services.clone())?)
    }
}

fn key(name: &str, model: &str) -> Result<Secret> {
    let value = std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let value = value.with_context(|| {
        format!("`{model}` needs a key: put it into the environment variable {name}")
    })?;
    Secret::new(&value).with_context(|| format!("the environment variable {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locators_name_api_model_and_place() {
        let url = "http://127.0.0.1:1/v1";
        for (locator, expected) in [
            ("openai:gpt-4o-mini", Some((Api::OpenAi, "gpt-4o-mini", None))),
            ("openai:org/q:8b@http://127.0.0.1:1/v1", Some((Api::OpenAi, "org/q:8b", Some(url)))),
            ("anthropic:claude@2024", Some((Api::Anthropic, "claude@2024", None))),
            ("openai:", None),
            ("sim:default", None),
        ] {
            assert_eq!(live(locator), expected, "{locator}");
        }
        let args = ModelArgs { base_url: Some(url.to_owned()), ..ModelArgs::default() };
        let whole = portable("openai:m", &args);
        assert_eq!(whole, "openai:m@http://127.0.0.1:1/v1");
        assert_eq!(portable(&whole, &args), whole);
        assert_eq!(portable("sim:default", &args), "sim:default");
    }

    #[test]
    fn an_owners_key_goes_to_the_owner_only() {
        let plan = evosafe_spec::load("finance").expect("built in");
        let of = |locator: &str, args: &ModelArgs| config(locator, &plan, args).expect("valid");
        let none = ModelArgs::default();
        let key = |locator: &str, args: &ModelArgs| of(locator, args).expect("live").key_env;
        assert_eq!(key("anthropic:c", &none).as_deref(), Some("ANTHROPIC_API_KEY"));
        assert_eq!(key("openai:m@http://h/v1", &none), None);
        let named = ModelArgs { key_env: Some("MINE".to_owned()), ..ModelArgs::default() };
        assert_eq!(key("openai:m@http://h/v1", &named).as_deref(), Some("MINE"));
        assert!(of("sim:default", &none).is_none());
        let error = config("model:x", &plan, &none).expect_err("no such table").to_string();
        assert!(error.contains("no `[models.x]`; it has: none"), "{error}");
    }
}
