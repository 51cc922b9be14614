//! DuckDB's paths of JSON: `$.a[0]."b c"`, `/a/0/b c`, or a key alone. `[-1]` and `[#-1]` are the last of an array, `[#]` and `/-` the place
//! behind it.

use types::SqlResult;
use types::json::{Kind, elements, kind, member};

use crate::error::invalid;

/// One step of a path.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Step {
    /// To the value of a key; in an array, to a place where it is a number and the path says so by `/`.
    Key { name: String, may_be_place: bool },
    /// To the element of a place.
    Place(usize),
    /// To the element of a place counted from the end, from 1.
    FromEnd(usize),
    /// Behind the last element.
    Behind,
}

/// The steps of a path.
///
/// # Errors
/// 22023 for what is no path, 0A000 for one that may lead to several values.
pub(super) fn steps(path: &str) -> SqlResult<Vec<Step>> {
    if let Some(pointer) = path.strip_prefix('/') {
        let step = |it: &str| match it {
            "-" => Step::Behind,
            _ => Step::Key { name: it.replace("~1", "/").replace("~0", "~"), may_be_place: true },
        };
        return Ok(pointer.split('/').map(step).collect());
    }
    // Nothing at all leads to the whole, as `$` does.
    if path.is_empty() {
        return Ok(Vec::new());
    }
    let Some(mut rest) = path.strip_prefix('$') else {
        return Ok(vec![Step::Key { name: path.to_owned(), may_be_place: false }]);
    };
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let (step, left) = match rest.as_bytes()[0] {
            b'.' => key(&rest[1..], path)?,
            b'[' => place(&rest[1..], path)?,
            _ => return Err(no_path(path)),
        };
        steps.push(step);
        rest = left;
    }
    Ok(steps)
}

fn no_path(path: &str) -> types::SqlError {
    invalid(format!("\"{path}\" is no path of JSON"))
}

fn of_several(path: &str) -> types::SqlError {
    types::SqlError::unsupported(format!("the path \"{path}\" may lead to several values"))
}

/// A key behind a dot, and what is left.
fn key<'a>(text: &'a str, path: &str) -> SqlResult<(Step, &'a str)> {
    if text.starts_with(['*', '.']) {
        return Err(of_several(path));
    }
    let (name, rest) = match text.strip_prefix('"') {
        Some(quoted) => quoted_key(quoted).ok_or_else(|| no_path(path))?,
        None => {
            let (name, rest) = text.split_at(text.find(['.', '[']).unwrap_or(text.len()));
            (name.to_owned(), rest)
        }
    };
    // The key without letters is reached by `/` alone.
    if name.is_empty() {
        return Err(no_path(path));
    }
    Ok((Step::Key { name, may_be_place: false }, rest))
}

/// A key up to the quote that ends it, and what is left; a backslash says that the next letter is meant.
fn quoted_key(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((name, &text[at + 1..])),
            '\\' => name.push(letters.next()?.1),
            other => name.push(other),
        }
    }
    None
}

/// A place behind a bracket, and what is left.
fn place<'a>(text: &'a str, path: &str) -> SqlResult<(Step, &'a str)> {
    let (inside, rest) = text.split_once(']').ok_or_else(|| no_path(path))?;
    let number = |it: &str| it.parse::<usize>().map_err(|_| no_path(path));
    let step = match inside {
        "*" => return Err(of_several(path)),
        "#" => Step::Behind,
        it if it.starts_with("#-") => match number(&it[2..])? {
            0 => Step::Behind,
            back => Step::FromEnd(back),
        },
        it if it.starts_with('-') => Step::FromEnd(number(&it[1..])?),
        it => Step::Place(number(it)?),
    };
    Ok((step, rest))
}

impl Step {
    /// Where in an array of so many elements it leads; behind the last one it may lead, too.
    pub(super) fn place_in(&self, count: usize) -> Option<usize> {
        match self {
            Self::Key { name, may_be_place: true } => name.parse().ok(),
            Self::Key { .. } => None,
            Self::Place(place) => Some(*place),
            Self::FromEnd(back) => count.checked_sub(*back).filter(|_| *back > 0),
            Self::Behind => Some(count),
        }
    }
}

/// The part of a JSON at the end of a path.
pub(super) fn find<'a>(json: &'a str, steps: &[Step]) -> Option<&'a str> {
    let mut found = json;
    for step in steps {
        found = match (kind(found), step) {
            (Kind::Object, Step::Key { name, .. }) => member(found, name)?,
            (Kind::Array, step) => {
                let count = match step {
                    Step::FromEnd(_) => elements(found).count(),
                    _ => usize::MAX,
                };
                elements(found).nth(step.place_in(count)?)?
            }
            _ => return None,
        };
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_parts() {
        let json = r#"{"a": [1, {"b c": 2}], "3": [4]}"#;
        for (path, found) in [
            ("$", Some(json)),
            ("$.a[0]", Some("1")),
            ("$.a[1].\"b c\"", Some("2")),
            ("$.a[-1].\"b c\"", Some("2")),
            ("$.a[#-2]", Some("1")),
            ("", Some(json)),
            ("/a/1/b c", Some("2")),
            ("/3/0", Some("4")),
            ("a", Some("[1, {\"b c\": 2}]")),
            ("$.a[2]", None),
            ("$.x", None),
        ] {
            assert_eq!(find(json, &steps(path).unwrap()), found, "{path}");
        }
        let steps_of =
            |name: &str| Ok(vec![Step::Key { name: name.to_owned(), may_be_place: false }]);
        assert_eq!(steps(r#"$."a\"b""#), steps_of("a\"b"));
        assert_eq!(steps(r#"$."a\\""#), steps_of("a\\"));
        assert_eq!(steps("$[#-0]"), Ok(vec![Step::Behind]));
        for path in ["$.\"\"", "$.\"a", "$.", "$x", "$[", "$[x]", "$.a[*]", "$..a", "$.*"] {
            assert!(steps(path).is_err(), "{path}");
        }
    }
}
