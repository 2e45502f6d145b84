use std::time::Duration;

use evosafe_spec::{Plan, SpecError, parse};
use evosafe_types::{Api, CallLimits, ModelConfig, Usd};

const HEAD: &str = r#"
format = 1
name = "demo"
victim = "model:small"
victim_tokens = 20000
victim_compact_tokens = 12000
victim_time_s = 90
[environment]
kind = "builtin"
domain = "finance"
[split]
by = "environment"
[cascade]
smoke = 3
gate = 12
search = 30
[budget]
usd = 2.5
victim_tokens = 1000000
"#;

const SMALL: &str = r#"
[models.small]
api = "openai"
model = "gpt-4o-mini"
"#;

const LOCAL: &str = r#"
[models.local]
api = "openai"
model = "qwen"
base_url = "http://127.0.0.1:8080/v1"
temperature = 0.0
seed = 7
reasoning_effort = "low"
max_tokens = 512
[models.local.limits]
concurrency = 2
retries = 0
"#;

fn plan(models: &str) -> Result<Plan, SpecError> {
    parse("demo", &format!("{HEAD}{models}"), "# Demo\n")
}

#[test]
fn tables_become_models_with_defaults() {
    let plan = plan(&format!("{SMALL}{LOCAL}")).expect("valid");
    let small = &plan.models["small"];
    assert_eq!(small.key_env.as_deref(), Some("OPENAI_API_KEY"));
    assert_eq!(
        ModelConfig { key_env: None, ..small.clone() },
        ModelConfig::new(Api::OpenAi, "gpt-4o-mini")
    );
    let local = &plan.models["local"];
    // The owner's key goes to the owner's endpoint only.
    assert_eq!(local.key_env, None);
    assert_eq!(local.base_url(), "http://127.0.0.1:8080/v1");
    assert_eq!((local.temperature, local.seed, local.max_tokens), (Some(0.0), Some(7), 512));
    let limits = CallLimits { concurrency: 2, retries: 0, ..CallLimits::default() };
    assert_eq!(local.limits, limits);
    assert_eq!(plan.victim_limits.tokens, Some(20_000));
    assert_eq!(plan.victim_limits.time, Some(Duration::from_secs(90)));
    assert_eq!(plan.budget.usd, Usd::from_dollars(2.5));
    assert_eq!(plan.budget.victim_tokens, Some(1_000_000));
}

#[test]
fn mistakes_name_their_key_and_never_show_a_key() {
    let both = format!("{SMALL}{LOCAL}");
    for (from, to, says) in [
        ("temperature =", "temprature =", "`models.local.temprature`; did you mean `temperature`?"),
        ("retries =", "retry =", "unknown key `models.local.limits.retry`"),
        ("api = \"openai\"\nmodel = \"qwen\"", "model = \"qwen\"", "`models.local.api` is missing"),
        ("model = \"qwen\"", "", "`models.local.model` is missing"),
        ("model = \"qwen\"", "model = \" \"", "`models.local.model` is empty"),
        ("= \"openai\"", "= \"openia\"", "did you mean \"openai\"?"),
        ("temperature = 0.0", "temperature = 3.0", "`models.local.temperature` is 3; it must be"),
        ("retries = 0", "retries = 21", "`models.local.limits.retries` must be at most 20"),
        (
            "[models.local]",
            "[models.\"My model\"]\napi = \"openai\"\nmodel = \"m\"\n[models.local]",
            "`models.My model` must be lowercase",
        ),
        ("seed = 7", "key_env = \"sk-hunter2\"", "`models.local.key_env` must be the name of an"),
        ("http://127", "http://me:hunter2@127", "`models.local.base_url` must hold no user name"),
        ("[models.small]", "[models.large]", "`victim` names `[models.small]`, but there is no"),
    ] {
        assert!(both.contains(from), "{from}");
        let message = plan(&both.replacen(from, to, 1)).expect_err(to).to_string();
        assert!(message.contains(says), "{to}: {message}");
        assert!(!message.contains("hunter2"), "{message}");
    }
}

#[test]
fn roles_name_models_that_exist() {
    use evosafe_spec::{DesignerPlan, RolesPlan};
    let with = |roles: &str| plan(&format!("{SMALL}{LOCAL}{roles}"));
    assert_eq!(with("").expect("valid").roles, RolesPlan::default());
    let all = "[designer]\nkind = \"llm\"\nmodel = \"small\"\n[criticizer]\nkind = \"llm\"\nmodel = \"local\"\n[analyzer]\nkind = \"offline\"\n";
    let roles = with(all).expect("valid").roles;
    assert_eq!(roles.designer, DesignerPlan::Llm);
    assert_eq!(roles.designer_model.as_deref(), Some("small"));
    assert_eq!(roles.criticizer_model.as_deref(), Some("local"));
    assert_eq!(roles.analyzer_model, None);
    for (roles, says) in [
        ("[designer]\nkind = \"llm\"", "`designer.model` is missing"),
        ("[designer]\nkind = \"lm\"", "did you mean \"llm\"?"),
        ("[designer]\nmodel = \"large\"", "names `[models.large]`"),
        ("[analyzer]\nmodel = \"small\"", "has no effect"),
        ("[criticizer]\nkind = \"llm\"", "`criticizer.model` is missing"),
        ("[criticizer]\nkind = \"random\"", "`criticizer.kind` must be one of"),
        ("[analyzer]\nmodle = \"small\"", "did you mean `model`?"),
    ] {
        let message = with(roles).expect_err(roles).to_string();
        assert!(message.contains(says), "{roles}: {message}");
    }
}

#[test]
fn designers_can_be_commands_and_mixtures() {
    use evosafe_spec::{CommandPlan, DesignerPlan};
    use evosafe_types::Usd;
    use std::time::Duration;
    let with = |roles: &str| plan(&format!("{SMALL}{LOCAL}[designer]\n{roles}"));
    let all = "kind = \"mixed\"\nof = [\"offline\", \"llm\", \"command\"]\nmodel = \"small\"\n\
        command = [\"claude\", \"-p\"]\ntime_limit_s = 60\ncost_limit_usd = 0.5\npass_env = [\"AGENT_KEY\"]";
    let roles = with(all).expect("valid").roles;
    assert_eq!(roles.designer, DesignerPlan::Mixed);
    let of = [DesignerPlan::Offline, DesignerPlan::Llm, DesignerPlan::Command];
    assert_eq!(roles.designer_of, of);
    let expected = CommandPlan {
        command: vec!["claude".to_owned(), "-p".to_owned()],
        time_limit: Duration::from_secs(60),
        cost_limit: Usd::from_dollars(0.5),
        pass_env: vec!["AGENT_KEY".to_owned()],
    };
    assert_eq!(roles.designer_command, Some(expected));
    let usual = with("command = [\"a\"]").expect("valid").roles;
    let limit = usual.designer_command.map(|command| command.time_limit);
    assert_eq!((usual.designer, limit), (DesignerPlan::Offline, Some(Duration::from_secs(1800))));

    let command = "kind = \"command\"\ncommand = [\"a\"]\n";
    for (roles, says) in [
        ("kind = \"command\"".to_owned(), "`designer.command` is missing"),
        ("kind = \"mixed\"".to_owned(), "`designer.of` is missing"),
        ("of = [\"llm\"]".to_owned(), "must name two or more"),
        ("of = [\"llm\", \"llm\"]".to_owned(), "names \"llm\" twice"),
        ("of = [\"offline\", \"random\"]".to_owned(), "must be one of"),
        ("of = [\"offline\", \"llm\"]\nkind = \"mixed\"".to_owned(), "`designer.model` is missing"),
        ("command = []".to_owned(), "must begin with the name of a program"),
        ("time_limit_s = 5".to_owned(), "has no effect without `designer.command`"),
        (format!("{command}time_limit_s = 0"), "must be from 1 to 86400"),
        (format!("{command}cost_limit_usd = nan"), "must be from 0"),
        (format!("{command}pass_env = [\"sk-1\"]"), "must be the name of an environment variable"),
        (format!("{command}pass_env = [\"HOME\"]"), "of which the command is given its own"),
        (format!("{command}pass_env = [\"OPENAI_API_KEY\"]"), "the key of `[models.small]`"),
    ] {
        let message = with(&roles).expect_err(&roles).to_string();
        assert!(message.contains(says), "{roles}: {message}");
    }
}
