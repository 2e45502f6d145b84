//! What loading a candidate leaves in memory, taken once and written into each new instance.
//!
//! After `load` an instance differs from a fresh one in its memory alone: no other global of the
//! provider changes, host functions that leave a trace were not called (else there is no image),
//! and the account of `load` is not that of `begin`. So an instance that was given the image answers
//! as one that loaded the candidate itself, to the byte.

use evosafe_types::HarnessLimits;
use wasmtime::Store;
use wasmtime::component::{Component, ComponentExportIndex, Instance};

use crate::error::SandboxError;
use crate::graft;
use crate::host::HostState;

/// Bytes compared at a time: what the machine copies when it is first written to.
const PAGE: usize = 4096;
/// Size of a page of WebAssembly.
const WASM_PAGE: usize = 65536;
/// Unchanged pages that are written all the same rather than begin anew.
const GAP: usize = 1;

/// Where the provider's memory can be reached.
pub struct Door {
    read: ComponentExportIndex,
    aim: ComponentExportIndex,
    write: ComponentExportIndex,
}

impl Door {
    /// Finds it.
    ///
    /// # Errors
    /// If the component has none.
    pub fn of(component: &Component) -> Result<Self, SandboxError> {
        let find = |name: &str| {
            component
                .get_export_index(None, name)
                .ok_or_else(|| SandboxError::Provider(format!("it does not export `{name}`")))
        };
        Ok(Self { read: find(graft::READ)?, aim: find(graft::AIM)?, write: find(graft::WRITE)? })
    }

    /// All of an instance's memory. The instance must not be used afterwards.
    ///
    /// # Errors
    /// If the limits of the store leave no room for it.
    pub async fn read(
        &self,
        store: &mut Store<HostState>,
        instance: &Instance,
    ) -> wasmtime::Result<Vec<u8>> {
        store.set_fuel(u64::MAX)?;
        let read = instance.get_typed_func::<(), (Vec<u8>,)>(&mut *store, self.read)?;
        let (bytes,) = read.call_async(store, ()).await?;
        Ok(bytes)
    }

    /// Writes an image into a fresh instance.
    ///
    /// # Errors
    /// If the limits of the store leave no room for it.
    pub async fn write(
        &self,
        store: &mut Store<HostState>,
        instance: &Instance,
        image: &Image,
    ) -> wasmtime::Result<()> {
        store.set_fuel(u64::MAX)?;
        let aim = instance.get_typed_func::<(u32, u32), ()>(&mut *store, self.aim)?;
        let write = instance.get_typed_func::<(&[u8],), ()>(&mut *store, self.write)?;
        for (offset, bytes) in &image.parts {
            aim.call_async(&mut *store, (*offset, image.pages)).await?;
            write.call_async(&mut *store, (bytes,)).await?;
        }
        Ok(())
    }
}

/// The memory of an instance with a candidate loaded, as far as it differs from a fresh one's.
pub struct Image {
    /// Size of memory, pages of WebAssembly.
    pages: u32,
    /// Offset and content.
    parts: Vec<(u32, Box<[u8]>)>,
}

impl Image {
    /// What is in `loaded` and not in `fresh`.
    pub fn new(fresh: &[u8], loaded: &[u8]) -> Self {
        let zeros = [0; PAGE];
        let changed = |page: &usize| {
            let at = page * PAGE;
            loaded[at..at + PAGE] != *fresh.get(at..at + PAGE).unwrap_or(&zeros)
        };
        let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
        for page in (0..loaded.len() / PAGE).filter(changed) {
            match runs.last_mut() {
                Some(run) if page - run.end <= GAP => run.end = page + 1,
                _ => runs.push(page..page + 1),
            }
        }
        let part = |run: std::ops::Range<usize>| {
            let (start, end) = (run.start * PAGE, run.end * PAGE);
            (u32::try_from(start).unwrap_or(u32::MAX), Box::from(&loaded[start..end]))
        };
        let pages = u32::try_from(loaded.len() / WASM_PAGE).unwrap_or(u32::MAX);
        Self { pages, parts: runs.into_iter().map(part).collect() }
    }
}

/// Limits under which a fresh instance is read: any that it runs in.
pub fn roomy() -> HarnessLimits {
    HarnessLimits { memory_mib: crate::engine::MAX_MEMORY_MIB, ..HarnessLimits::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(fresh: &[u8], image: &Image) -> Vec<u8> {
        let mut memory = fresh.to_vec();
        memory.resize(image.pages as usize * WASM_PAGE, 0);
        for (offset, bytes) in &image.parts {
            memory[*offset as usize..][..bytes.len()].copy_from_slice(bytes);
        }
        memory
    }

    #[test]
    fn an_image_is_what_differs_and_no_more() {
        let fresh = vec![7; WASM_PAGE];
        let mut loaded = fresh.clone();
        loaded.resize(2 * WASM_PAGE, 0);
        for at in [0, 5 * PAGE - 1, 5 * PAGE, 15 * PAGE, 2 * WASM_PAGE - 1] {
            loaded[at] = 1;
        }
        let image = Image::new(&fresh, &loaded);
        let places: Vec<_> =
            image.parts.iter().map(|(at, b)| (*at as usize / PAGE, b.len() / PAGE)).collect();
        assert_eq!(places, [(0, 1), (4, 2), (15, 1), (31, 1)]);
        assert_eq!(written(&fresh, &image), loaded);
        assert!(Image::new(&fresh, &fresh).parts.is_empty());
    }
}

#[cfg(test)]
#[path = "image_tests.rs"]
mod answers;
