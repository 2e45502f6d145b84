//! The compiled provider on disk.
//!
//! A file is a header (magic, blake3 of the rest) and wasmtime's serialised artifact. Its
//! name is a hash of everything the artifact depends on, so a foreign file is never
//! looked at; a damaged one fails its checksum and is built anew.

use std::hash::{Hash, Hasher};
use std::io::Write;
use std::path::Path;

use wasmtime::Engine;
use wasmtime::component::Component;

use crate::surface::version;

const MAGIC: &[u8; 16] = b"evosafe-cwasm-1\n";
const HEADER: usize = MAGIC.len() + blake3::OUT_LEN;

const PREFIX: &str = "provider-";
const SUFFIX: &str = ".cwasm";
/// Artifacts kept on disk, for programs of several versions in use side by side.
const KEPT: usize = 4;

/// Name of the cache file for this engine and this version of the sandbox.
pub fn file_name(engine: &Engine) -> String {
    let mut hasher = Blake3(blake3::Hasher::new());
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.0.update(version().as_str().as_bytes());
    format!("{PREFIX}{}{SUFFIX}", &hasher.0.finalize().to_hex()[..32])
}

/// The component in `file`, if the file is there and sound.
pub fn read(engine: &Engine, file: &Path) -> Option<Component> {
    let bytes = std::fs::read(file).ok()?;
    let artifact = verified(&bytes);
    if artifact.is_none() {
        tracing::debug!(file = %file.display(), "damaged provider cache; building anew");
    }
    match deserialize(engine, artifact?) {
        Ok(component) => Some(component),
        Err(error) => {
            tracing::debug!(file = %file.display(), %error, "foreign provider cache; building anew");
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

/// Writes the artifact so that a reader sees all of it or nothing. Failure costs the
/// next start its time, so it is logged and no error.
pub fn write(file: &Path, artifact: &[u8]) {
    if let Err(error) = try_write(file, artifact) {
        tracing::warn!(file = %file.display(), %error, "the compiled provider cannot be cached");
    }
}

fn try_write(file: &Path, artifact: &[u8]) -> std::io::Result<()> {
    let dir = file.parent().unwrap_or_else(|| Path::new("."));
    std::fs::create_dir_all(dir)?;
    let mut temporary = tempfile::NamedTempFile::new_in(dir)?;
    temporary.write_all(MAGIC)?;
    temporary.write_all(blake3::hash(artifact).as_bytes())?;
    temporary.write_all(artifact)?;
    temporary.persist(file)?;
    prune(dir)
}

/// Removes all but the newest artifacts: each is megabytes, and every version leaves one.
fn prune(dir: &Path) -> std::io::Result<()> {
    let mut kept = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(PREFIX) && name.ends_with(SUFFIX) {
            kept.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    kept.sort();
    for (_, old) in kept.iter().rev().skip(KEPT) {
        std::fs::remove_file(old)?;
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
        for i in 0..KEPT + 3 {
            write(&dir.path().join(format!("{PREFIX}{i}{SUFFIX}")), b"artifact");
            std::thread::sleep(std::time::Duration::from_millis(15));
        }
        write(&dir.path().join("other"), b"artifact");
        assert_eq!(std::fs::read_dir(dir.path()).expect("readable").count(), KEPT + 1);
        assert!(!dir.path().join(format!("{PREFIX}0{SUFFIX}")).exists());
        write(&dir.path().join("other/provider"), b"artifact");
    }

    #[test]
    fn only_a_whole_file_is_verified() {
        let dir = tempfile::tempdir().expect("temporary folder");
        let file = dir.path().join("deep/provider.cwasm");
        write(&file, b"artifact");
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
