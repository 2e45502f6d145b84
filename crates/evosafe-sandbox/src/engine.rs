//! The wasmtime engine: deterministic, metered, pooled.

use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig,
    WasmBacktraceDetails,
};

use crate::error::SandboxError;

/// Trajectories that can be alive at one time; more wait for one to end.
pub const LIVE_TRAJECTORIES: u32 = 1024;
/// Most memory a bundle's limits may ask for, MiB.
pub const MAX_MEMORY_MIB: u32 = 256;
/// Fuel between two points where a running hook lets other tasks run.
pub const YIELD_FUEL: u64 = 20_000_000;

/// Makes the engine: pooled where the machine has the address space, on demand elsewhere.
///
/// # Errors
/// When wasmtime refuses the configuration on this machine.
pub fn engine() -> Result<Engine, SandboxError> {
    let mut pool = PoolingAllocationConfig::default();
    // The provider is a handful of core modules: QuickJS with the memory that counts, bindings,
    // glue, and two stubs of imports that are never called, with a memory each.
    let core = LIVE_TRAJECTORIES * 16;
    pool.total_component_instances(LIVE_TRAJECTORIES)
        .total_core_instances(core)
        .total_memories(LIVE_TRAJECTORIES * 3)
        .total_tables(LIVE_TRAJECTORIES * 4)
        .total_stacks(LIVE_TRAJECTORIES)
        .max_core_instances_per_component(64)
        .max_memories_per_component(3)
        .max_tables_per_component(8)
        .max_component_instance_size(1 << 20)
        .max_core_instance_size(1 << 20)
        .table_elements(20_000)
        .max_memory_size((MAX_MEMORY_MIB as usize) << 20)
        .max_unused_warm_slots(64)
        .pagemap_scan(Enabled::Auto)
        .linear_memory_keep_resident(4 << 20)
        .table_keep_resident(1 << 16)
        .async_stack_keep_resident(1 << 16);
    let mut pooled = base();
    pooled.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    Engine::new(&pooled)
        .or_else(|error| {
            tracing::debug!(%error, "no pooling allocator; instances are made on demand");
            Engine::new(&base())
        })
        .map_err(|error| SandboxError::Engine(format!("{error:#}")))
}

fn base() -> Config {
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        .concurrency_support(false)
        .consume_fuel(true)
        .cranelift_nan_canonicalization(true)
        .wasm_relaxed_simd(false)
        .wasm_threads(false)
        .cranelift_opt_level(OptLevel::Speed)
        .wasm_backtrace_max_frames(None)
        .wasm_backtrace_details(WasmBacktraceDetails::Disable)
        .max_wasm_stack(8 << 20)
        .async_stack_size(10 << 20);
    config
}
