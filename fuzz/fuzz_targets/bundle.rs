//! Bundles from files: never a panic, and what is accepted survives being written.
#![no_main]

use std::collections::BTreeMap;

use evosafe_spec::{bundle_from_files, bundle_to_files, parse_manifest, render_manifest};
use libfuzzer_sys::fuzz_target;

const MANIFEST: &str = "abi = 1\nlanguage = \"javascript\"\nname = \"x\"\norigin = \"seed\"\n";

fuzz_target!(|input: (Vec<u8>, Option<Vec<u8>>, Option<Vec<u8>>, bool)| {
    let (manifest, code, policy, known) = input;
    // Half the time the manifest starts well, so that what follows is reached.
    let manifest = if known { [MANIFEST.as_bytes(), &manifest].concat() } else { manifest };
    let mut files = BTreeMap::from([
        ("bundle.toml".to_owned(), manifest),
        ("RATIONALE.md".to_owned(), b"Why.\n".to_vec()),
    ]);
    files.extend(code.map(|bytes| ("harness.js".to_owned(), bytes)));
    files.extend(policy.map(|bytes| ("POLICY.md".to_owned(), bytes)));
    let Ok(bundle) = bundle_from_files(&files) else { return };
    let again = bundle_from_files(&bundle_to_files(&bundle)).expect("what was read can be read");
    assert_eq!(again, bundle);
    assert_eq!(again.id(), bundle.id());
    let text = render_manifest(&bundle.manifest);
    assert_eq!(parse_manifest("bundle.toml", &text).expect("rendered"), bundle.manifest);
});
