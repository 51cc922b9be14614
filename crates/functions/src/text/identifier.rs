//! Names that are taken apart: `parse_ident`.

use arrow_array::ArrayRef;
use types::{SqlError, SqlResult, array};

use crate::array::each_held;
use crate::call::Call;
use crate::error::invalid;

/// The parts of names between points; with FALSE what stands behind a name does not count.
pub(crate) fn parse_ident(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let texts = call.texts(0)?;
    let strict = (call.count() > 1).then(|| call.booleans(1)).transpose()?;
    each_held(call, |row, out| {
        if call.is_null(row) {
            return Ok(false);
        }
        let parts = parts(texts.value(row), strict.is_none_or(|it| it.value(row)))?;
        parts.iter().for_each(|it| array::push_text(out, it));
        array::close_list(out, 0, parts.len()).map(|()| true)
    })
}

fn parts(text: &str, strict: bool) -> SqlResult<Vec<String>> {
    let wrong = || invalid(format!("string is not a valid identifier: \"{text}\""));
    let because = |detail: String| -> SqlError { wrong().with_detail(detail) };
    let mut parts = Vec::new();
    let mut behind_point = false;
    let mut rest = trimmed(text);
    loop {
        if let Some(quoted) = rest.strip_prefix('"') {
            let (name, behind) = in_quotes(quoted)
                .ok_or_else(|| because("String has unclosed double quotes.".to_owned()))?;
            if name.is_empty() {
                return Err(because("Quoted identifier must not be empty.".to_owned()));
            }
            parts.push(name);
            rest = behind;
        } else {
            let starts = |it: char| it.is_ascii_alphabetic() || it == '_' || !it.is_ascii();
            let goes_on = |it: char| starts(it) || it.is_ascii_digit() || it == '$';
            if !rest.starts_with(starts) {
                return Err(match rest.strip_prefix('.') {
                    Some(_) => because("No valid identifier before \".\".".to_owned()),
                    None if behind_point => because("No valid identifier after \".\".".to_owned()),
                    None => wrong(),
                });
            }
            let end = rest.find(|it| !goes_on(it)).unwrap_or(rest.len());
            parts.push(rest[..end].to_ascii_lowercase());
            rest = &rest[end..];
        }
        rest = trimmed(rest);
        match rest.strip_prefix('.') {
            Some(behind) => {
                behind_point = true;
                rest = trimmed(behind);
            }
            None if rest.is_empty() || !strict => return Ok(parts),
            None => return Err(wrong()),
        }
    }
}

fn trimmed(text: &str) -> &str {
    text.trim_start_matches([' ', '\t', '\n', '\r', '\u{b}', '\u{c}'])
}

/// What stands before the closing quote, and behind it; a quote in it is written twice.
fn in_quotes(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut rest = text;
    loop {
        let end = rest.find('"')?;
        name.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(behind) => {
                name.push('"');
                rest = behind;
            }
            None => return Some((name, rest)),
        }
    }
}
