//! Live models that play roles of a search, wired by the binary.

use std::fs;
use std::path::Path;

use evosafe_e2e::{Workspace, root};
use evosafe_testing::{Received, Say, Server};
use serde_json::json;

const KEY: &str = "sk-never-to-be-seen-0123456789";

/// The finance specification with roles played by one model at `url`.
fn spec(work: &Workspace, url: &str, roles: &str) -> String {
    let source = root().join("specs/finance");
    let folder = work.path().join("spec");
    fs::create_dir_all(&folder).expect("writable");
    let toml = fs::read_to_string(source.join("spec.toml")).expect("shipped");
    let toml = toml.replace("rollouts = 3", "rollouts = 1");
    let model = format!(
        "\n[models.outer]\napi = \"openai\"\nmodel = \"gpt-4o-mini\"\nbase_url = \"{url}\"\nkey_env = \"OUTER_KEY\"\n"
    );
    fs::write(folder.join("spec.toml"), format!("{toml}{model}{roles}")).expect("writable");
    fs::copy(source.join("spec.md"), folder.join("spec.md")).expect("shipped");
    folder.display().to_string()
}

fn between<'b>(body: &'b str, before: &str, after: &str) -> &'b str {
    let rest = body.split_once(before).map_or("", |(_, rest)| rest);
    rest.split_once(after).map_or("", |(found, _)| found)
}

/// A Designer that composes, and an Analyzer that always notes the same.
fn script(request: &Received) -> evosafe_testing::Answer {
    let body = &request.body;
    let say = if body.contains("You design safety harnesses") {
        let row = body.split_once(" | no-defence |").map_or("", |(before, _)| before);
        let parent = &row[row.len().saturating_sub(12)..];
        let name = if body.contains("Attempt 0.") { "destination-scope" } else { "effect-volume" };
        let arguments = json!({"parent": parent, "edit": name, "hypothesis": "A relation.",
            "predicted_flips": [], "mechanisms": [{ "name": name }]});
        Say::call("c", "submit_bundle", arguments)
    } else {
        let task = between(body, "\\n### ", "\\n");
        let note = json!({"failure": "Orders are obeyed.", "mechanism": "none", "try_next": "relations",
            "avoid": "names", "episodes": [task], "duplicate_of": null});
        Say::text(note.to_string())
    };
    say.to(request)
}

/// Whether a text stands in any file below a folder.
fn holds(folder: &Path, text: &str) -> bool {
    fs::read_dir(folder).expect("readable").any(|entry| {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            return holds(&path, text);
        }
        let bytes = fs::read(&path).unwrap_or_default();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_specification_names_the_models_and_the_environment_holds_the_key() {
    let server = Server::start(script).await.expect("a free port");
    let work = Workspace::new();
    let roles = "[designer]\nkind = \"llm\"\nmodel = \"outer\"\n[analyzer]\nkind = \"llm\"\nmodel = \"outer\"\n";
    let spec = spec(&work, &server.url(), roles);
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
