//! What takes seconds to make, on disk: the compiled provider, compiled components, and
//! components built from JavaScript.
//!
//! A file is a header (magic, blake3 of the rest) and content. Its name is a hash of
//! everything the content depends on, so a foreign file is never looked at; a damaged
//! one fails its checksum and is made anew.

use std::hash::{Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};

use wasmtime::Engine;
use wasmtime::component::Component;

use crate::graft;
use crate::surface::version;

const MAGIC: &[u8; 16] = b"evosafe-cwasm-1\n";
const HEADER: usize = MAGIC.len() + blake3::OUT_LEN;

/// Kinds of cache file.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    prefix: &'static str,
    suffix: &'static str,
    /// Files of this kind kept on disk.
    kept: usize,
}

/// The compiled provider; several, for programs of several versions in use side by side.
const PROVIDER: Kind = Kind { prefix: "provider-", suffix: ".cwasm", kept: 4 };
/// A compiled component.
const COMPONENT: Kind = Kind { prefix: "component-", suffix: ".cwasm", kept: 16 };
/// A component built from JavaScript, not compiled.
const BUILT: Kind = Kind { prefix: "built-", suffix: ".wasm", kept: 32 };

impl Kind {
    fn file(self, dir: &Path, hash: blake3::Hash) -> PathBuf {
        dir.join(format!("{}{}{}", self.prefix, &hash.to_hex()[..32], self.suffix))
    }
}

/// The compiled provider: from `dir` if a sound copy is there, else built by `build`, and
/// kept there.
///
/// # Errors
/// When `build` fails or the result does not compile.
pub fn provider<E: From<wasmtime::Error>>(
    engine: &Engine,
    dir: Option<&Path>,
    build: impl FnOnce() -> Result<Vec<u8>, E>,
) -> Result<Component, E> {
    let hash = compiled_hash(engine, &[version().as_str().as_bytes(), graft::REVISION.as_bytes()]);
    compiled(engine, dir.map(|dir| (PROVIDER, PROVIDER.file(dir, hash))), build)
}

/// A compiled component, from `dir` if a sound copy is there, and kept there.
///
/// # Errors
/// When it does not compile.
pub fn component(engine: &Engine, dir: Option<&Path>, wasm: &[u8]) -> wasmtime::Result<Component> {
    let hash = compiled_hash(engine, &[wasm]);
    compiled(engine, dir.map(|dir| (COMPONENT, COMPONENT.file(dir, hash))), || Ok(wasm.to_vec()))
}

/// The component built from `wrapped`: from `dir` if a sound copy is there, else by `build`,
/// and kept there.
///
/// # Errors
/// When `build` fails.
pub fn built<E>(
    dir: Option<&Path>,
    wrapped: &str,
    build: impl FnOnce() -> Result<Vec<u8>, E>,
) -> Result<Vec<u8>, E> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(version().as_str().as_bytes()).update(wrapped.as_bytes());
    let file = dir.map(|dir| BUILT.file(dir, hasher.finalize()));
    if let Some(bytes) = file.as_deref().and_then(|file| std::fs::read(file).ok())
        && let Some(wasm) = verified(&bytes)
    {
        return Ok(wasm.to_vec());
    }
    let wasm = build()?;
    if let Some(file) = file {
        write(BUILT, &file, &wasm);
    }
    Ok(wasm)
}

fn compiled_hash(engine: &Engine, parts: &[&[u8]]) -> blake3::Hash {
    let mut hasher = Blake3(blake3::Hasher::new());
    engine.precompile_compatibility_hash().hash(&mut hasher);
    for part in parts {
        hasher.0.update(part);
    }
    hasher.0.finalize()
}

fn compiled<E: From<wasmtime::Error>>(
    engine: &Engine,
    file: Option<(Kind, PathBuf)>,
    build: impl FnOnce() -> Result<Vec<u8>, E>,
) -> Result<Component, E> {
    if let Some(component) = file.as_ref().and_then(|(_, file)| read(engine, file)) {
        return Ok(component);
    }
    let component = Component::new(engine, build()?)?;
    if let Some((kind, file)) = file {
        match component.serialize() {
            Ok(artifact) => write(kind, &file, &artifact),
            Err(error) => tracing::warn!(%error, "compiled code cannot be serialised"),
        }
    }
    Ok(component)
}

/// The component in `file`, if the file is there and sound.
fn read(engine: &Engine, file: &Path) -> Option<Component> {
    let bytes = std::fs::read(file).ok()?;
    let artifact = verified(&bytes);
    if artifact.is_none() {
        tracing::debug!(file = %file.display(), "damaged cache; compiling anew");
    }
    match deserialize(engine, artifact?) {
        Ok(component) => Some(component),
        Err(error) => {
            tracing::debug!(file = %file.display(), %error, "foreign cache; compiling anew");
            None
        }
    }
}

/// The artifact in a cache file, if header and checksum hold.
fn verified(bytes: &[u8]) -> Option<&[u8]> {
    let (header, artifact) = bytes.split_at_checked(HEADER)?;
    let (magic, sum) = header.split_at(MAGIC.len());
    (magic == MAGIC && blake3::hash(artifact).as_bytes() == sum).then_some(artifact)
}

#[expect(unsafe_code, reason = "wasmtime offers no safe way to load compiled code")]
fn deserialize(engine: &Engine, artifact: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: the bytes were written by `write` from `Component::serialize`: the name ties them
    // to this engine's configuration and the checksum to what was written. Whoever can
    // forge both can write the user's cache folder, and runs as the user already.
    unsafe { Component::deserialize(engine, artifact) }
}

/// Writes content so that a reader sees all of it or nothing. Failure costs the
/// next start its time, so it is logged and no error.
fn write(kind: Kind, file: &Path, content: &[u8]) {
    if let Err(error) = try_write(kind, file, content) {
        tracing::warn!(file = %file.display(), %error, "what was compiled cannot be cached");
    }
}

fn try_write(kind: Kind, file: &Path, content: &[u8]) -> std::io::Result<()> {
    let dir = file.parent().unwrap_or_else(|| Path::new("."));
    std::fs::create_dir_all(dir)?;
    let mut temporary = tempfile::NamedTempFile::new_in(dir)?;
    temporary.write_all(MAGIC)?;
    temporary.write_all(blake3::hash(content).as_bytes())?;
    temporary.write_all(content)?;
    temporary.persist(file)?;
    prune(kind, dir)
}

/// Removes all but the newest files of a kind: each is megabytes.
fn prune(kind: Kind, dir: &Path) -> std::io::Result<()> {
    let mut kept = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(kind.prefix) && name.ends_with(kind.suffix) {
            kept.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    kept.sort();
    for (_, old) in kept.iter().rev().skip(kind.kept) {
        // Another process may have been here first.
        let _ = std::fs::remove_file(old);
    }
    Ok(())
}

/// Lets wasmtime's `Hash` feed blake3, which is the same in every process.
struct Blake3(blake3::Hasher);

impl Hasher for Blake3 {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let bytes = self.0.finalize();
        u64::from_le_bytes(bytes.as_bytes()[..8].try_into().expect("a hash has 32 bytes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_kept_and_a_folder_that_is_none_does_no_harm() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let name = |i: usize| format!("{}{i}{}", PROVIDER.prefix, PROVIDER.suffix);
        for i in 0..PROVIDER.kept + 3 {
            write(PROVIDER, &dir.path().join(name(i)), b"artifact");
            std::thread::sleep(std::time::Duration::from_millis(15));
        }
        write(COMPONENT, &dir.path().join("other"), b"artifact");
        assert_eq!(std::fs::read_dir(dir.path()).expect("readable").count(), PROVIDER.kept + 1);
        assert!(!dir.path().join(name(0)).exists());
        write(PROVIDER, &dir.path().join("other/provider"), b"artifact");
    }

    #[test]
    fn only_a_whole_file_is_verified() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let file = dir.path().join("deep/provider.cwasm");
        write(PROVIDER, &file, b"artifact");
        let good = std::fs::read(&file).expect("written");
        assert_eq!(verified(&good), Some(&b"artifact"[..]));
        for cut in 0..good.len() {
            assert_eq!(verified(&good[..cut]), None, "cut at {cut}");
        }
        for flip in 0..good.len() {
            let mut bad = good.clone();
            bad[flip] ^= 1;
            assert_eq!(verified(&bad), None, "flipped {flip}");
        }
    }
}
