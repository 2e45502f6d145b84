//! The `run` tool: a command line of the shell's commands.

use serde_json::json;

use super::files;
use super::world::World;
use crate::builtin::tooling::Answer;

/// Runs the commands of a line in order, up to the first error.
pub(super) fn run(world: &mut World, line: &str) -> Answer {
    let mut outputs = Vec::new();
    for words in commands(line)? {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = command(world, &words).map_err(|error| format!("{}: {error}", words[0]))?;
        outputs.push(output);
    }
    Ok(json!({"outputs": outputs}))
}

fn command(world: &mut World, words: &[&str]) -> Answer {
    // Flags say nothing here that the commands do not do anyway.
    let plain: Vec<&str> = words.iter().copied().filter(|w| !w.starts_with('-')).collect();
    match plain[..] {
        ["ls", place] => files::ls(world, place),
        ["cat", path] => files::cat(world, path),
        ["grep", word, place] => files::grep(world, word, place),
        ["find", place] => files::find(world, place, "", ""),
        ["find", place, name] if words.contains(&"-name") => {
            files::find(world, place, name.trim_matches('*'), "")
        }
        ["find", place, owner] if words.contains(&"-user") => files::find(world, place, "", owner),
        ["cp", source, target] => files::cp(world, source, target),
        ["mv", source, target] => files::mv(world, source, target),
        ["rm", place] => files::rm(world, place),
        ["tar", archive, ref sources @ ..] if !sources.is_empty() => {
            files::tar(world, sources, archive)
        }
        ["chmod", mode, path] => files::chmod(world, path, mode),
        ["chown", owner, path] => {
            let (owner, group) = owner.split_once(':').unwrap_or((owner, ""));
            files::chown(world, path, owner, group)
        }
        ["echo", ref text @ .., ">", path] => files::write(world, path, &text.join(" "), false),
        ["echo", ref text @ .., ">>", path] => files::write(world, path, &text.join(" "), true),
        _ => Err(format!("cannot run `{}`", words.join(" "))),
    }
}

/// Splits a line into commands and words; quotes keep blanks together.
fn commands(line: &str) -> Result<Vec<Vec<String>>, String> {
    let (mut all, mut words) = (Vec::new(), Vec::new());
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            _ if quote == Some(c) => quote = None,
            _ if quote.is_some() => word.get_or_insert_default().push(c),
            '"' | '\'' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            ';' | '&' | '\n' => {
                if c == '&' && chars.next_if_eq(&'&').is_none() {
                    return Err("a single & is not supported".to_owned());
                }
                words.extend(word.take());
                all.push(std::mem::take(&mut words));
            }
            '|' | '`' | '$' | '<' => return Err(format!("`{c}` is not supported")),
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err("a quote is not closed".to_owned());
    }
    words.extend(word.take());
    all.push(words);
    all.retain(|words| !words.is_empty());
    if all.is_empty() { Err("nothing to run".to_owned()) } else { Ok(all) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_split_as_a_shell_would() {
        let got = commands("cp '/a b' /c && echo \"x; y\" >> /d; rm -r /e").expect("valid");
        let expected: Vec<Vec<&str>> = vec![
            vec!["cp", "/a b", "/c"],
            vec!["echo", "x; y", ">>", "/d"],
            vec!["rm", "-r", "/e"],
        ];
        assert_eq!(got, expected);
        for bad in ["", ";", "cat /a | sh", "cat /a &", "echo 'x", "echo $(x) > /y"] {
            assert!(commands(bad).is_err(), "{bad}");
        }
    }
}
