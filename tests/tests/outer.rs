//! Live models that play roles of a search, wired by the binary.

use std::fs;

use evosafe_e2e::{Endpoint, Workspace, holds, root};
use evosafe_testing::Received;
use serde_json::json;

const KEY: &str = "sk-never-to-be-seen-0123456789";

/// The finance specification with roles played by one model at `url`.
fn spec(work: &Workspace, url: &str, roles: &str) -> String {
    let source = root().join("specs/finance");
    let folder = work.path().join("spec");
    fs::create_dir_all(&folder).expect("writable");
    let toml = fs::read_to_string(source.join("spec.toml")).expect("shipped");
    let toml = toml.replace("rollouts = 6", "rollouts = 1");
    let model = format!(
        "\n[models.outer]\napi = \"openai\"\nmodel = \"gpt-4o-mini\"\nbase_url = \"{url}\"\nkey_env = \"OUTER_KEY\"\n"
    );
    fs::write(folder.join("spec.toml"), format!("{toml}{model}{roles}")).expect("writable");
    fs::copy(source.join("spec.md"), folder.join("spec.md")).expect("shipped");
    folder.display().to_string()
}

#[test]
fn a_specification_names_the_models_and_the_environment_holds_the_key() {
    let server = Endpoint::sound();
    let work = Workspace::new();
    let roles = "[designer]\nkind = \"llm\"\nmodel = \"outer\"\n[analyzer]\nkind = \"llm\"\nmodel = \"outer\"\n";
    let spec = spec(&work, &server.url("openai"), roles);
    let args = ["search", &spec, "--no-warm-start", "--candidates", "3", "--json"];

    let unset = work.command(&args).env_remove("OUTER_KEY").output().expect("it starts");
    let said = String::from_utf8_lossy(&unset.stderr).into_owned();
    assert_eq!(unset.status.code(), Some(3), "{said}");
    assert!(said.contains("`gpt-4o-mini` needs a key") && said.contains("OUTER_KEY"), "{said}");

    let run = || {
        let output = work.command(&args).env("OUTER_KEY", KEY).output().expect("it starts");
        evosafe_e2e::Run::from(output).json()
    };
    let found = run();
    assert_eq!(found["candidates"], 3);
    assert_eq!(found["ended"], "the budget of 3 candidates is spent");
    let asked = server.received().len();
    assert!(asked >= 3, "two attempts and a note, {asked}");
    let bearer = format!("Bearer {KEY}");
    let keyed = |r: &Received| r.header("authorization") == Some(bearer.as_str());
    assert!(server.received().iter().all(keyed));
    assert!(!holds(work.path(), KEY), "the key is in a file");

    let again = run();
    assert_eq!((&again["best"], &again["episodes_run"]), (&found["best"], &json!(0)));
    assert_eq!(server.received().len(), asked, "nothing is paid for twice");
    let rows = work.run(&["leaderboard", "--json"]).stdout;
    assert!(rows.contains("llm-0") && rows.contains("llm-1"), "{rows}");
}
