//! A harness in Rust: mail addresses in arguments must be ones that the user named.
//!
//! `no_std`, because Rust's standard library asks for a clock, files and an environment when
//! it is built for WASI, and the sandbox has none of these.

#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

wit_bindgen::generate!({ path: "../../crates/evosafe-sandbox/wit", world: "harness" });

use evosafe::harness::host;

#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

// What the compiler makes of comparing and copying memory is the target's own: `memcmp` and its
// like. Nothing of it asks for WASI.
#[cfg(target_arch = "wasm32")]
#[link(name = "c")]
unsafe extern "C" {}

/// How the host puts values into this instance: wit-bindgen leaves it to the standard library on
/// this target, and there is none here.
#[cfg(target_arch = "wasm32")]
#[unsafe(no_mangle)]
unsafe extern "C" fn cabi_realloc(
    old: *mut u8,
    old_len: usize,
    align: usize,
    new_len: usize,
) -> *mut u8 {
    use alloc::alloc::{Layout, alloc, realloc};
    // SAFETY: the host gives what it was given before, and alignments of its own types.
    let new = unsafe {
        match (old_len, new_len) {
            (0, 0) => return core::ptr::without_provenance_mut(align),
            (0, _) => alloc(Layout::from_size_align_unchecked(new_len, align)),
            _ => realloc(old, Layout::from_size_align_unchecked(old_len, align), new_len),
        }
    };
    if new.is_null() {
        core::arch::wasm32::unreachable()
    }
    new
}

/// A trap: the host closes the trajectory.
#[cfg(target_arch = "wasm32")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}

/// What the user said, lower case. One instance serves one trajectory, so this is its state.
struct Request(RefCell<String>);

// SAFETY: an instance of a component has one thread.
unsafe impl Sync for Request {}

static REQUEST: Request = Request(RefCell::new(String::new()));

const ADDRESS: &str = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+";

struct Harness;

impl Guest for Harness {
    fn begin(ctx: RunContext) -> Vec<String> {
        *REQUEST.0.borrow_mut() = ctx.instruction.to_lowercase();
        Vec::new()
    }

    fn on_user_message(text: String) {
        REQUEST.0.borrow_mut().push_str(&format!("\n{}", text.to_lowercase()));
    }

    fn system_prompt_transform(prompt: String) -> String {
        prompt
    }

    fn on_pre_tool_call(call: ToolCall) -> CallDecision {
        let found = match host::regex_find_all(ADDRESS, &call.arguments) {
            Ok(found) => found,
            // Fail closed: nothing is known of the arguments.
            Err(why) => return CallDecision::Block(format!("arguments cannot be read: {why}")),
        };
        // Offsets are UTF-16 code units.
        let units: Vec<u16> = call.arguments.encode_utf16().collect();
        for (start, end) in found {
            let address = String::from_utf16_lossy(&units[start as usize..end as usize]);
            if !REQUEST.0.borrow().contains(&address.to_lowercase()) {
                return CallDecision::Block(format!(
                    "{address} was not named by the user; ask the user to confirm it"
                ));
            }
        }
        CallDecision::Allow
    }

    fn on_post_tool_call(_: ToolCall, _: ToolResult) -> TextDecision {
        TextDecision::Keep
    }

    fn on_final_answer(_: String) -> TextDecision {
        TextDecision::Keep
    }
}

export!(Harness);
