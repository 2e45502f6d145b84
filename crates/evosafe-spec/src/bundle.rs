//! Bundles as files (design section 4).

use std::collections::BTreeMap;
use std::path::Path;

use evosafe_types::{Bundle, Language, Manifest};

use crate::error::BundleError;
use crate::library::MECHANISMS;
use crate::manifest::{parse_manifest, render_manifest};

/// File with the policy text *P*.
pub const POLICY_FILE: &str = "POLICY.md";
/// File with the hooks *C*.
pub const CODE_FILE: &str = "harness.js";
/// File with the hypothesis and the litmus answers.
pub const RATIONALE_FILE: &str = "RATIONALE.md";
/// File with the manifest.
pub const MANIFEST_FILE: &str = "bundle.toml";
/// The compiled harness: of JavaScript bundles a derived file, outside every content id;
/// of component bundles the code itself.
pub const WASM_FILE: &str = "harness.wasm";

/// Reads the bundle in a folder. Hidden files are not part of it, nor is the `harness.wasm`
/// of a JavaScript bundle.
///
/// # Errors
/// If the folder or one of its required files is missing, a file does not belong to a
/// bundle, is not text, or the manifest is malformed.
pub fn read_bundle(dir: &Path) -> Result<Bundle, BundleError> {
    if !dir.is_dir() {
        return Err(BundleError::NotAFolder(dir.to_path_buf()));
    }
    let failed = |path: &Path, source| BundleError::Io {
        path: path.to_path_buf(),
        action: "reading",
        source,
    };
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(dir).map_err(|e| failed(dir, e))? {
        let path = entry.map_err(|e| failed(dir, e))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // Mechanisms of the folder's own are what its code is composed from, not part of it.
        if name.starts_with('.') || (name == MECHANISMS && path.is_dir()) {
            continue;
        }
        if !is_bundle_file(&name) {
            return Err(BundleError::UnknownFile(path.display().to_string()));
        }
        files.insert(name, std::fs::read(&path).map_err(|e| failed(&path, e))?);
    }
    from_files(&files, &|name| dir.join(name).display().to_string())
}

/// Writes a bundle into a folder, which is created if needed. Files of another bundle
/// that would become part of this one are removed; other files are left alone.
///
/// # Errors
/// If a file cannot be written or removed.
pub fn write_bundle(bundle: &Bundle, dir: &Path) -> Result<(), BundleError> {
    let failed = |path: &Path, source| BundleError::Io {
        path: path.to_path_buf(),
        action: "writing",
        source,
    };
    std::fs::create_dir_all(dir).map_err(|e| failed(dir, e))?;
    let files = bundle_to_files(bundle);
    for name in [POLICY_FILE, CODE_FILE, RATIONALE_FILE, MANIFEST_FILE, WASM_FILE] {
        let path = dir.join(name);
        match files.get(name) {
            Some(bytes) => std::fs::write(&path, bytes).map_err(|e| failed(&path, e))?,
            None if path.exists() => std::fs::remove_file(&path).map_err(|e| failed(&path, e))?,
            None => {}
        }
    }
    Ok(())
}

/// A bundle from its files, by name. The `harness.wasm` of a JavaScript bundle may be among
/// them and is passed over.
///
/// # Errors
/// As [`read_bundle`].
pub fn bundle_from_files(files: &BTreeMap<String, Vec<u8>>) -> Result<Bundle, BundleError> {
    from_files(files, &|name| name.to_owned())
}

/// The files of a bundle, by name, without the derived one.
#[must_use]
pub fn bundle_to_files(bundle: &Bundle) -> BTreeMap<String, Vec<u8>> {
    [
        (POLICY_FILE, bundle.policy.as_deref().map(str::as_bytes)),
        (CODE_FILE, bundle.code.as_deref().map(str::as_bytes)),
        (WASM_FILE, bundle.component.as_deref()),
        (RATIONALE_FILE, Some(bundle.rationale.as_bytes())),
        (MANIFEST_FILE, Some(bundle.manifest_text.as_bytes())),
    ]
    .into_iter()
    .filter_map(|(name, bytes)| Some((name.to_owned(), bytes?.to_vec())))
    .collect()
}

/// A JavaScript bundle with the manifest's text rendered.
#[must_use]
pub fn build_bundle(
    policy: Option<String>,
    code: Option<String>,
    rationale: String,
    manifest: Manifest,
) -> Bundle {
    let manifest_text = render_manifest(&manifest);
    Bundle { policy, code, component: None, rationale, manifest, manifest_text }
}

fn is_bundle_file(name: &str) -> bool {
    [POLICY_FILE, CODE_FILE, RATIONALE_FILE, MANIFEST_FILE, WASM_FILE].contains(&name)
}

/// `shown` gives a file its name in messages.
fn from_files(
    files: &BTreeMap<String, Vec<u8>>,
    shown: &dyn Fn(&str) -> String,
) -> Result<Bundle, BundleError> {
    if let Some(name) = files.keys().find(|name| !is_bundle_file(name)) {
        return Err(BundleError::UnknownFile(shown(name)));
    }
    let text = |name: &str| match files.get(name) {
        None => Ok(None),
        Some(bytes) => match String::from_utf8(bytes.clone()) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(BundleError::Text { file: shown(name), message: "is not UTF-8 text" }),
        },
    };
    let required = |name: &str| text(name)?.ok_or_else(|| BundleError::MissingFile(shown(name)));
    let manifest_text = required(MANIFEST_FILE)?;
    let manifest = parse_manifest(&shown(MANIFEST_FILE), &manifest_text)?;
    let policy = text(POLICY_FILE)?;
    if policy.as_ref().is_some_and(|policy| policy.trim().is_empty()) {
        let message = "holds nothing; delete the file to have no policy";
        return Err(BundleError::Text { file: shown(POLICY_FILE), message });
    }
    let rationale = required(RATIONALE_FILE)?;
    let (code, component) = match manifest.language {
        Language::Javascript => (text(CODE_FILE)?, None),
        Language::Component => {
            if files.contains_key(CODE_FILE) {
                let message = "does not belong here: `language` is \"component\", so the code is \
                               harness.wasm";
                return Err(BundleError::Text { file: shown(CODE_FILE), message });
            }
            let wasm = files.get(WASM_FILE);
            let wasm = wasm.ok_or_else(|| BundleError::MissingComponent(shown(WASM_FILE)))?;
            (None, Some(wasm.as_slice().into()))
        }
    };
    Ok(Bundle { policy, code, component, rationale, manifest, manifest_text })
}
