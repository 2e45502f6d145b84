//! Finding a specification: a folder, or one of the embedded ones.

use std::path::{Path, PathBuf};

use crate::embedded::{SPECS, leaf};
use crate::error::SpecError;
use crate::plan::{Plan, SpecSource};
use crate::validate;

const TOML: &str = "spec.toml";
const MD: &str = "spec.md";

/// Names of the specifications in the binary, sorted.
#[must_use]
pub fn embedded() -> Vec<&'static str> {
    let mut names: Vec<&str> = SPECS
        .dirs()
        .filter(|dir| dir.get_file(dir.path().join(TOML)).is_some())
        .map(|dir| leaf(dir.path()))
        .collect();
    names.sort_unstable();
    names
}

/// Loads a specification: the folder `name_or_path` if there is one, else the embedded
/// specification of that name. The path of a `spec.toml` stands for its folder.
///
/// # Errors
/// If there is no such specification, a file is missing, or anything in it is wrong.
pub fn load(name_or_path: &str) -> Result<Plan, SpecError> {
    let path = Path::new(name_or_path);
    if path.is_dir() {
        return from_folder(path);
    }
    if path.is_file() && path.file_name().is_some_and(|name| name == TOML) {
        return from_folder(path.parent().unwrap_or(Path::new(".")));
    }
    from_embedded(name_or_path)
}

/// Checks a specification kept elsewhere, such as the copy in an archive; `name` is
/// used in messages.
///
/// # Errors
/// If anything in it is wrong.
pub fn parse(name: &str, toml: &str, md: &str) -> Result<Plan, SpecError> {
    let shown = |file: &str| format!("archived {name}/{file}");
    let source = SpecSource::Archived(name.to_owned());
    checked(&shown(TOML), toml.as_bytes(), &shown(MD), md.as_bytes(), source)
}

fn from_folder(folder: &Path) -> Result<Plan, SpecError> {
    let toml = read(folder.join(TOML))?;
    let md = read(folder.join(MD))?;
    let file = folder.join(TOML).display().to_string();
    let source = SpecSource::Folder(folder.to_path_buf());
    checked(&file, &toml, &folder.join(MD).display().to_string(), &md, source)
}

fn read(path: PathBuf) -> Result<Vec<u8>, SpecError> {
    match std::fs::read(&path) {
        Ok(bytes) => Ok(bytes),
        Err(source) if source.kind() == std::io::ErrorKind::NotFound => {
            Err(SpecError::MissingFile(path))
        }
        Err(source) => Err(SpecError::Read { path, source }),
    }
}

fn from_embedded(name: &str) -> Result<Plan, SpecError> {
    let shown = |file: &str| format!("built-in {name}/{file}");
    let get =
        |file: &str| SPECS.get_file(format!("{name}/{file}")).map(include_dir::File::contents);
    let Some(toml) = get(TOML).filter(|_| embedded().contains(&name)) else {
        let embedded = embedded().into_iter().map(str::to_owned).collect();
        return Err(SpecError::NotFound { name: name.to_owned(), embedded });
    };
    let md = get(MD).ok_or_else(|| SpecError::MissingFile(shown(MD).into()))?;
    checked(&shown(TOML), toml, &shown(MD), md, SpecSource::Embedded(name.to_owned()))
}

fn checked(
    toml_file: &str,
    toml: &[u8],
    md_file: &str,
    md: &[u8],
    source: SpecSource,
) -> Result<Plan, SpecError> {
    let toml = text(toml_file, toml)?;
    let md = text(md_file, md)?;
    if md.trim().is_empty() {
        let message = "holds nothing; the Designer reads the domain's threats and rules here";
        return Err(SpecError::Text { file: md_file.to_owned(), message });
    }
    validate::plan(toml_file, toml, md, source)
}

fn text<'a>(file: &str, bytes: &'a [u8]) -> Result<&'a str, SpecError> {
    std::str::from_utf8(bytes)
        .map_err(|_| SpecError::Text { file: file.to_owned(), message: "is not UTF-8 text" })
}
