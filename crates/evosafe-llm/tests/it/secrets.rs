//! The key is in the request and nowhere else.

use std::fs;

use evosafe_llm::{Caps, CassetteMode, Secret};
use evosafe_testing::{Answer, Say};
use serde_json::json;

use crate::bench::{BOTH, Bench, KEY, config, hello, server};

/// A server that puts the key it was sent into everything it says.
#[tokio::test]
async fn a_key_that_is_echoed_goes_nowhere() {
    for api in BOTH {
        for status in [200, 400, 401, 429, 500, 299] {
            let server = server(move |request| {
                let key = request.header("authorization").or(request.header("x-api-key"));
                let key = key.unwrap_or_default().trim_start_matches("Bearer ").to_owned();
                match status {
                    200 => Say::text(format!("your key is {key}")).to(request),
                    299 => Answer::text(200, format!("no JSON, but {key}")),
                    _ => Answer::json(
                        status,
                        &json!({"error": {"message": format!("bad key {key}"), "code": key}}),
                    )
                    .with_header("x-key", key.clone()),
                }
            })
            .await;
            let mut config = config(api, &server.url());
            config.limits.retries = 0;
            config.limits.breaker_failures = 1;
            let bench = Bench::with(config, Caps::default(), Some(CassetteMode::ReplayOrRecord));
            let outcome = bench.ask(&hello()).await;
            assert!(server.received()[0].headers.iter().any(|(_, value)| value.contains(KEY)));
            let mut shown = vec![
                format!("{outcome:?}"),
                format!("{:?}", bench.client),
                format!("{:?}", bench.client.endpoint().circuit()),
                fs::read_to_string(&bench.ledger_path).expect("reads"),
                fs::read_to_string(&bench.cassette_path).expect("reads"),
            ];
            match &outcome {
                Ok(reply) => assert!(reply.text.contains("[redacted]")),
                Err(error) => {
                    shown.push(error.to_string());
                    assert!(error.to_string().contains("[redacted]"), "{error}");
                }
            }
            for text in shown {
                assert!(!text.contains(KEY) && !text.contains("0123456789"), "{status}: {text}");
            }
        }
    }
}

#[tokio::test]
async fn without_a_key_no_header_is_sent() {
    let server = server(|request| Say::text("x").to(request)).await;
    for api in BOTH {
        let folder = tempfile::tempdir().expect("a folder");
        let config = config(api, &server.url());
        let bench = Bench::at(folder.path().to_owned(), config, Caps::default(), None, None);
        bench.ask(&hello()).await.expect("a reply");
    }
    for request in server.received() {
        assert_eq!(request.header("authorization"), None);
        assert_eq!(request.header("x-api-key"), None);
    }
}

#[test]
fn a_key_in_a_structure_stays_hidden() {
    let key = Secret::new(KEY).expect("a key");
    assert_eq!(format!("{:?}", Some(key)), "Some(Secret([redacted]))");
}
