//! The commands of the shell that look at files or change them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::world::{File, READ, World, folder_of};
use crate::builtin::tooling::Answer;

/// Paths that a file or folder stands for.
fn expand(world: &World, place: &str) -> Result<Vec<String>, String> {
    let place = place.trim_end_matches('/');
    if world.files.contains_key(place) {
        return Ok(vec![place.to_owned()]);
    }
    let below = world.below(place);
    if world.folders.contains(place) || !below.is_empty() {
        return Ok(below);
    }
    Err(format!("no file or folder `{place}`"))
}

/// Files of a folder and below.
pub(super) fn ls(world: &mut World, place: &str) -> Answer {
    let mut entries = Vec::new();
    for path in expand(world, place)? {
        let Some(file) = world.files.get(&path) else { continue };
        let mut entry = json!({
            "path": path, "owner": file.owner, "group": file.group,
            "mode": format!("{:03o}", file.mode), "size": file.content.len(),
        });
        tell_label(&mut entry, file);
        entries.push(entry);
    }
    world.read.insert(format!("ls:{}", place.trim_end_matches('/')));
    Ok(json!({"path": place, "files": entries}))
}

/// Adds the label of a file to a result, if it has one.
fn tell_label(value: &mut Value, file: &File) {
    if !file.label.is_empty() {
        value["label"] = file.label.clone().into();
    }
}

/// A file.
pub(super) fn cat(world: &mut World, path: &str) -> Answer {
    let file = world.readable(path)?;
    let mut value = json!({"path": path, "owner": file.owner, "content": file.content});
    tell_label(&mut value, file);
    world.read.insert(format!("file:{path}"));
    Ok(value)
}

/// Shows a file to another account.
pub(super) fn show(world: &mut World, path: &str, user: &str) -> Answer {
    let file = world.readable(path)?;
    if !world.users.contains_key(user) {
        return Err(format!("no user `{user}`"));
    }
    if !world.may(user, file, READ) {
        return Err(format!("permission denied: `{path}` for `{user}`"));
    }
    let mut value = json!({"status": "shown", "path": path, "user": user});
    tell_label(&mut value, file);
    let origins = file.origins.clone();
    world.shown.push((user.to_owned(), origins));
    Ok(value)
}

/// Lines that contain a word.
pub(super) fn grep(world: &mut World, word: &str, place: &str) -> Answer {
    let mut hits: Vec<Value> = Vec::new();
    for path in expand(world, place)? {
        let Ok(file) = world.readable(&path) else { continue };
        let lines = file.content.lines().filter(|line| line.contains(word));
        hits.extend(lines.map(|line| json!({"path": path, "line": line})));
    }
    world.read.insert(format!("grep:{}", place.trim_end_matches('/')));
    Ok(json!({"pattern": word, "hits": hits}))
}

/// Paths by name or owner.
pub(super) fn find(world: &mut World, place: &str, name: &str, owner: &str) -> Answer {
    let paths: Vec<String> = expand(world, place)?
        .into_iter()
        .filter(|path| path.rsplit('/').next().is_some_and(|leaf| leaf.contains(name)))
        .filter(|path| owner.is_empty() || world.files.get(path).is_some_and(|f| f.owner == owner))
        .collect();
    world.read.insert(format!("find:{}", place.trim_end_matches('/')));
    Ok(json!({"paths": paths}))
}

/// Replaces a file's text, or adds a line.
pub(super) fn write(world: &mut World, path: &str, text: &str, append: bool) -> Answer {
    if world.files.contains_key(path) {
        world.writable(path)?;
        if let Some(file) = world.files.get_mut(path) {
            if append {
                if !file.content.is_empty() && !file.content.ends_with('\n') {
                    file.content.push('\n');
                }
                file.content.push_str(text);
            } else {
                text.clone_into(&mut file.content);
                file.origins.clear();
            }
        }
    } else {
        free(world, path)?;
        let file = world.fresh(text.to_owned(), BTreeSet::new());
        world.files.insert(path.to_owned(), file);
    }
    Ok(json!({"status": "written", "path": path}))
}

/// Checks that a path can be created.
fn free(world: &World, path: &str) -> Result<(), String> {
    if !path.starts_with('/') || path.ends_with('/') {
        return Err(format!("`{path}` is not an absolute path of a file"));
    }
    if world.files.contains_key(path) || world.folders.contains(path) {
        return Err(format!("`{path}` is there already"));
    }
    let folder = folder_of(path);
    if !world.folders.contains(folder) {
        return Err(format!("no folder `{folder}`"));
    }
    Ok(())
}

/// Copies a file.
pub(super) fn cp(world: &mut World, source: &str, target: &str) -> Answer {
    let file = world.readable(source)?;
    let copy = world.fresh(file.content.clone(), file.origins.clone());
    let mut value = json!({"status": "copied", "source": source, "destination": target});
    tell_label(&mut value, file);
    free(world, target)?;
    world.files.insert(target.to_owned(), copy);
    Ok(value)
}

/// Moves a file; rights and label go with it.
pub(super) fn mv(world: &mut World, source: &str, target: &str) -> Answer {
    world.writable(source)?;
    free(world, target)?;
    if let Some(file) = world.files.remove(source) {
        world.files.insert(target.to_owned(), file);
    }
    Ok(json!({"status": "moved", "source": source, "destination": target}))
}

/// Removes a file or a folder.
pub(super) fn rm(world: &mut World, place: &str) -> Answer {
    let place = place.trim_end_matches('/');
    let paths = expand(world, place)?;
    for path in &paths {
        world.writable(path)?;
    }
    world.record(&format!("rm {place}"));
    for path in &paths {
        world.files.remove(path);
    }
    let below = format!("{place}/");
    world.folders.retain(|folder| folder != place && !folder.starts_with(&below));
    Ok(json!({"status": "removed", "paths": paths}))
}

/// Packs files into an archive.
pub(super) fn tar(world: &mut World, sources: &[&str], archive: &str) -> Answer {
    let (mut content, mut origins) = (String::new(), BTreeSet::new());
    let mut packed: Vec<Value> = Vec::new();
    for source in sources {
        for path in expand(world, source)? {
            let file = world.readable(&path)?;
            content.push_str(&format!("== {path}\n{}\n", file.content));
            origins.extend(file.origins.iter().cloned());
            let mut entry = json!({"path": path});
            tell_label(&mut entry, file);
            packed.push(entry);
        }
    }
    free(world, archive)?;
    let file = world.fresh(content, origins);
    world.files.insert(archive.to_owned(), file);
    Ok(json!({"status": "packed", "archive": archive, "files": packed}))
}

/// Sets a mode.
pub(super) fn chmod(world: &mut World, path: &str, mode: &str) -> Answer {
    world.owned(path)?;
    let bits = u16::from_str_radix(mode, 8)
        .ok()
        .filter(|bits| mode.len() == 3 && *bits <= 0o777)
        .ok_or_else(|| format!("`{mode}` is not a mode of three octal digits"))?;
    let mut value = json!({"status": "changed", "path": path, "mode": mode});
    if let Some(file) = world.files.get_mut(path) {
        value["mode_before"] = format!("{:03o}", file.mode).into();
        tell_label(&mut value, file);
        file.mode = bits;
    }
    world.record(&format!("chmod {mode} {path}"));
    Ok(value)
}

/// Gives a file away.
pub(super) fn chown(world: &mut World, path: &str, owner: &str, group: &str) -> Answer {
    world.owned(path)?;
    if !world.users.contains_key(owner) {
        return Err(format!("no user `{owner}`"));
    }
    if let Some(file) = world.files.get_mut(path) {
        owner.clone_into(&mut file.owner);
        if !group.is_empty() {
            group.clone_into(&mut file.group);
        }
    }
    world.record(&format!("chown {owner} {path}"));
    Ok(json!({"status": "changed", "path": path, "owner": owner}))
}

/// The file at a path with its content known to come from itself.
pub(super) fn original(path: &str, file: File) -> File {
    File { origins: BTreeSet::from([path.to_owned()]), ..file }
}
