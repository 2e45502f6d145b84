//! Bindings generated from `wit/`.

wasmtime::component::bindgen!({
    path: "wit",
    world: "evosafe:harness/provider",
    imports: {
        "evosafe:harness/host.classify": async | trappable,
        "evosafe:harness/host.regex-find-all": trappable,
        default: trappable,
    },
    exports: { default: async },
});

pub use evosafe::harness::{diagnostics, host, types};
