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

/// The contract without the provider's diagnostics: components of one harness.
pub mod own {
    wasmtime::component::bindgen!({
        path: "wit",
        world: "evosafe:harness/harness",
        with: {
            "evosafe:harness/types": super::evosafe::harness::types,
            "evosafe:harness/host": super::evosafe::harness::host,
        },
        exports: { default: async },
    });
}
