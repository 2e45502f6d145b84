//! A scripted endpoint, with a runtime of its own.

use evosafe_testing::{Answer, Received, Server};
use tokio::runtime::Runtime;

use crate::Model;

/// A server that says what a script says, until it is dropped.
pub struct Endpoint {
    server: Server,
    // Ends last.
    _runtime: Runtime,
}

impl Endpoint {
    /// An endpoint of the scripted model of the finance domain, as `script` passes it on.
    ///
    /// # Panics
    /// If no port is free.
    pub fn new(
        script: impl FnOnce(Model) -> Box<dyn Fn(&Received) -> Answer + Send + Sync>,
    ) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let script = script(runtime.block_on(Model::of("finance")));
        let server = runtime.block_on(Server::start(move |request| script(request)));
        Self { server: server.expect("a free port"), _runtime: runtime }
    }

    /// One that always works.
    #[must_use]
    pub fn sound() -> Self {
        Self::new(|model| Box::new(move |request: &Received| model.say(request)))
    }

    /// Where an API begins there: `openai` or `anthropic`.
    #[must_use]
    pub fn url(&self, api: &str) -> String {
        let path = if api == "openai" { "/v1" } else { "" };
        format!("{}{path}", self.server.url())
    }

    /// All requests so far.
    #[must_use]
    pub fn received(&self) -> Vec<Received> {
        self.server.received()
    }

    /// How many.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.server.received().len()
    }
}
