//! The warm start that the binary carries (paper section 4.2): mechanisms, seed
//! bundles and the written experiences.

use std::collections::BTreeMap;
use std::path::Path;

use evosafe_types::Bundle;
use include_dir::Dir;

use crate::bundle::{MANIFEST_FILE, bundle_from_files, read_bundle};
use crate::compose::{Lineage, compose_uses};
use crate::embedded::{WARMSTART, leaf};
use crate::error::BundleError;
use crate::mechanism::{Mechanism, parse_mechanism};

/// Name of the seed that is the reference *H0*.
pub const NO_DEFENCE: &str = "no-defence";

pub(crate) const MECHANISMS: &str = "mechanisms";
const EXPERIENCES: &str = "experiences.md";

/// A bundle folder as it runs. One that only lists mechanisms is composed from the library
/// and from those of its own, `mechanisms/NAME.js` in the folder.
///
/// # Errors
/// As [`read_bundle`] and [`composed`]; also if the folder has a mechanism under a name that the library
/// uses.
pub fn load_bundle(dir: &Path) -> Result<Bundle, BundleError> {
    let written = read_bundle(dir)?;
    let mut library = mechanisms()?;
    let folder = dir.join(MECHANISMS);
    for own in own_mechanisms(&folder)? {
        if library.iter().any(|known| known.name == own.name) {
            let file = folder.join(format!("{}.js", own.name));
            return Err(BundleError::TakenName { file, name: own.name });
        }
        library.push(own);
    }
    composed(&library, written)
}

fn own_mechanisms(dir: &Path) -> Result<Vec<Mechanism>, BundleError> {
    if !dir.is_dir() {
        return Ok(Vec::new());
    }
    let failed = |path: &Path, source| BundleError::Io {
        path: path.to_path_buf(),
        action: "reading",
        source,
    };
    let mut own = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(|e| failed(dir, e))? {
        let path = entry.map_err(|e| failed(dir, e))?.path();
        let Some(name) = leaf(&path).strip_suffix(".js") else { continue };
        let text = std::fs::read_to_string(&path).map_err(|e| failed(&path, e))?;
        own.push(parse_mechanism(name, &text)?);
    }
    Ok(own)
}

/// All mechanisms of the library, by name.
///
/// # Errors
/// Names the file that is malformed.
pub fn mechanisms() -> Result<Vec<Mechanism>, BundleError> {
    let files = WARMSTART.get_dir(MECHANISMS).into_iter().flat_map(|dir| dir.files());
    let mut all = files
        .filter_map(|file| Some((leaf(file.path()).strip_suffix(".js")?, file)))
        .map(|(name, file)| match file.contents_utf8() {
            Some(text) => parse_mechanism(name, text),
            None => {
                let file = format!("{name}.js");
                Err(BundleError::Text { file, message: "is not UTF-8 text" })
            }
        })
        .collect::<Result<Vec<_>, _>>()?;
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}

/// The seed bundles, published defences and distilled ideas alike: no defence first, the
/// others by folder name. They are the folders of the warm start that hold a manifest.
///
/// A seed that lists mechanisms and has neither code nor policy of its own is composed
/// from them here, with the folder's `RATIONALE.md` as its hypothesis.
///
/// # Errors
/// Names the seed and file that is malformed.
pub fn seeds() -> Result<Vec<Bundle>, BundleError> {
    let library = mechanisms()?;
    // Folders without a manifest are the mechanisms and their tests.
    let is_bundle = |dir: &&Dir<'_>| dir.files().any(|file| leaf(file.path()) == MANIFEST_FILE);
    let mut dirs: Vec<_> = WARMSTART.dirs().filter(is_bundle).collect();
    dirs.sort_by_key(|dir| (leaf(dir.path()) != NO_DEFENCE, leaf(dir.path()).to_owned()));
    dirs.into_iter()
        .map(|dir| {
            let files: BTreeMap<String, Vec<u8>> = dir
                .files()
                .map(|file| (leaf(file.path()).to_owned(), file.contents().to_vec()))
                .collect();
            seed(&library, &files)
        })
        .collect()
}

fn seed(library: &[Mechanism], files: &BTreeMap<String, Vec<u8>>) -> Result<Bundle, BundleError> {
    composed(library, bundle_from_files(files)?)
}

/// A bundle as it runs: one that lists mechanisms and has neither code nor policy of its
/// own is composed from them, any other is handed back as it is.
///
/// # Errors
/// If the library has no mechanism of a name, or a parameter does not exist or is out of range.
pub fn composed(library: &[Mechanism], written: Bundle) -> Result<Bundle, BundleError> {
    if !written.is_no_defence() || written.manifest.mechanisms.is_empty() {
        return Ok(written);
    }
    let manifest = written.manifest;
    let lineage = Lineage {
        name: manifest.name,
        parents: manifest.parents,
        origin: manifest.origin,
        edit: manifest.edit,
        hypothesis: without_title(&written.rationale).to_owned(),
        limits: manifest.limits,
    };
    compose_uses(library, &manifest.mechanisms, &lineage)
}

/// The composed rationale has a title of its own.
fn without_title(rationale: &str) -> &str {
    match rationale.split_once('\n') {
        Some((title, rest)) if title.starts_with("# ") => rest.trim(),
        _ => rationale.trim(),
    }
}

/// The written experiences of the warm start; empty if the library has none.
#[must_use]
pub fn experiences() -> &'static str {
    WARMSTART.get_file(EXPERIENCES).and_then(include_dir::File::contents_utf8).unwrap_or_default()
}
