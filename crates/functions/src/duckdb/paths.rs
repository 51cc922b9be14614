//! Parts of the names of files: `parse_filename`, `parse_dirname`, `parse_dirpath` and `parse_path`.

use arrow_array::{ArrayRef, StringArray};
use plan::Function;
use types::{SqlResult, array};

use crate::call::Call;
use crate::error::invalid;

/// What parts the folders of a path: a word that says it, `/` and `\` where nothing does.
fn separators(words: Option<&StringArray>, row: usize) -> SqlResult<&'static [char]> {
    match words.map_or("both_slash", |it| it.value(row)) {
        "system" | "forward_slash" => Ok(&['/']),
        "backslash" => Ok(&['\\']),
        "both_slash" => Ok(&['/', '\\']),
        other => Err(invalid(format!(
            "the separator of a path is system, both_slash, forward_slash or backslash, not \"{other}\""
        ))),
    }
}

/// The folders and the file of a path: a separator in front is a part of its own.
fn split<'a>(path: &'a str, separators: &[char]) -> Vec<&'a str> {
    let root = path.starts_with(separators).then(|| &path[..1]);
    root.into_iter().chain(path.split(separators).filter(|it| !it.is_empty())).collect()
}

/// parse_filename, parse_dirname and parse_dirpath.
pub(super) fn part(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let paths = call.texts(0)?;
    let is_file = call.function == Function::ParseFilename;
    // The first of two options of a file's name is whether its extension goes, unless it is a separator.
    let trims = if is_file && call.count() > 1 && !call.is_text(1) {
        Some(call.booleans(1)?)
    } else {
        None
    };
    let words = call.optional_texts(1 + usize::from(trims.is_some()))?;
    call.map_texts(|row, out| {
        let (path, separators) = (paths.value(row), separators(words, row)?);
        match call.function {
            Function::ParseFilename => {
                let name = path.rfind(separators).map_or(path, |it| &path[it + 1..]);
                let trimmed = trims.is_some_and(|it| it.value(row));
                let end = name.rfind('.').filter(|_| trimmed).unwrap_or(name.len());
                out.push(&name[..end])
            }
            Function::ParseDirname => {
                let parts = split(path, separators);
                let is_folder = parts.len() > 1 || path.starts_with(separators);
                out.push(if is_folder { parts[0] } else { "" })
            }
            _ if path.len() == 1 && path.starts_with(separators) => out.push(path),
            _ => out.push(path.rfind(separators).map_or("", |it| &path[..it])),
        }
    })
}

/// parse_path: all parts.
pub(super) fn parts(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (paths, words) = (call.texts(0)?, call.optional_texts(1)?);
    let mut held = String::new();
    call.map_texts(|row, out| {
        let parts = split(paths.value(row), separators(words, row)?);
        held.clear();
        parts.iter().for_each(|it| array::push_text(&mut held, it));
        array::close_list(&mut held, 0, parts.len())?;
        out.push(&held)
    })
}
