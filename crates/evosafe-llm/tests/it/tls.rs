//! A machine without certificates.

use std::process::Command;

use evosafe_testing::Say;
use evosafe_types::Api;

use crate::bench::{Bench, config, hello, server};

#[tokio::test]
#[ignore = "the other test of this file runs it as a child, without certificates"]
async fn child() {
    let server = server(|request| Say::text("x").to(request)).await;
    let local = Bench::new(config(Api::OpenAi, &server.url()));
    assert_eq!(local.ask(&hello()).await.expect("needs no certificates").text, "x");
    let hosted = Bench::new(config(Api::OpenAi, "https://127.0.0.1:9"));
    let error = hosted.ask(&hello()).await.expect_err("needs certificates");
    assert!(error.is_permanent(), "{error}");
    assert!(error.to_string().contains("ca-certificates"), "{error}");
}

#[test]
fn a_local_server_needs_no_certificates_and_others_say_what_to_do() {
    let output = Command::new(std::env::current_exe().expect("a path"))
        .args(["tls::child", "--exact", "--ignored", "--nocapture"])
        .env("SSL_CERT_FILE", "/dev/null")
        .env("SSL_CERT_DIR", "/nonexistent")
        .output()
        .expect("runs");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

/// With certificates, HTTPS is tried: nobody is there.
#[tokio::test]
async fn https_is_set_up() {
    let mut config = config(Api::OpenAi, "https://127.0.0.1:9");
    config.limits.retries = 0;
    let error = Bench::new(config).ask(&hello()).await.expect_err("nobody");
    assert!(matches!(error.kind(), "connection" | "transport"), "{error}");
}
