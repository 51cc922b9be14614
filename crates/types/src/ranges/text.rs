//! Ranges as PostgreSQL writes them: `[1,5)`, `(,"2024-01-01 00:00:00"]`, `empty`, `{[1,2),[5,)}`.

use super::held::spans;
use super::{Bound, EMPTY, Span, item_of, make, set_of, value_of};
use crate::{Range, SqlError, SqlResult, SqlState, Value};

/// The word for the empty range.
const NOTHING: &str = "empty";

/// Appends the text of a value.
type Write<'w> = dyn FnMut(&Value, &mut String) + 'w;
/// Makes a value of the text of a bound.
type Read<'r> = dyn FnMut(&str) -> SqlResult<Value> + 'r;

/// Appends a range as it is written: `write` appends the text of the value of a bound.
pub fn format(held: &str, of: Range, write: &mut Write<'_>, out: &mut String) {
    match spans(held).next() {
        Some(it) => put(&it, of, write, out),
        None => out.push_str(NOTHING),
    }
}

/// Appends a set of ranges as it is written.
pub fn format_set(held: &str, of: Range, write: &mut Write<'_>, out: &mut String) {
    out.push('{');
    for (number, it) in spans(held).enumerate() {
        out.push_str(if number > 0 { "," } else { "" });
        put(&it, of, write, out);
    }
    out.push('}');
}

fn put(it: &Span<'_>, of: Range, write: &mut Write<'_>, out: &mut String) {
    let mut text = String::new();
    let mut bound = |it, out: &mut String| {
        let value = value_of(it, of);
        if !value.is_null() {
            text.clear();
            write(&value, &mut text);
            put_quoted(&text, out);
        }
    };
    out.push(if it.lower.inclusive { '[' } else { '(' });
    bound(it.lower, out);
    out.push(',');
    bound(it.upper, out);
    out.push(if it.upper.inclusive { ']' } else { ')' });
}

/// Appends the text of a bound, in quotes where it would be read as something else without.
fn put_quoted(text: &str, out: &mut String) {
    let special = |it: char| matches!(it, '"' | '\\' | '(' | ')' | '[' | ']' | ',') || is_space(it);
    if !text.is_empty() && !text.contains(special) {
        return out.push_str(text);
    }
    out.push('"');
    for it in text.chars() {
        if matches!(it, '"' | '\\') {
            out.push(it);
        }
        out.push(it);
    }
    out.push('"');
}

fn is_space(it: char) -> bool {
    matches!(it, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}')
}

/// What stands behind the word for the empty range.
fn behind_empty(text: &str) -> Option<&str> {
    let (word, behind) = text.split_at_checked(NOTHING.len())?;
    word.eq_ignore_ascii_case(NOTHING).then_some(behind)
}

/// A text as a range: `read` makes values of the texts of its bounds.
///
/// # Errors
/// 22P02 for what is no range, those of [`make`], and those of `read`.
pub fn parse(text: &str, of: Range, read: &mut Read<'_>) -> SqlResult<String> {
    let wrong = |detail: &str| malformed("range", text, detail);
    let mut rest = text.trim_start_matches(is_space);
    if let Some(behind) = behind_empty(rest) {
        return match behind.trim_start_matches(is_space) {
            "" => Ok(EMPTY.to_owned()),
            _ => Err(wrong("Junk after \"empty\" key word.")),
        };
    }
    let lower_inside = rest.starts_with('[');
    rest = rest
        .strip_prefix(['[', '('])
        .ok_or_else(|| wrong("Missing left parenthesis or bracket."))?;
    let end = || wrong("Unexpected end of input.");
    let lower = bound(&mut rest).ok_or_else(end)?;
    rest = rest.strip_prefix(',').ok_or_else(|| wrong("Missing comma after lower bound."))?;
    let upper = bound(&mut rest).ok_or_else(end)?;
    let upper_inside = rest.starts_with(']');
    rest = rest.strip_prefix([']', ')']).ok_or_else(|| wrong("Too many commas."))?;
    if !rest.trim_start_matches(is_space).is_empty() {
        return Err(wrong("Junk after right parenthesis or bracket."));
    }
    let mut item =
        |it: Option<String>| it.map_or(Ok(None), |it| read(&it).map(|value| item_of(&value)));
    let (lower, upper) = (item(lower)?, item(upper)?);
    let lower = Bound { item: lower.as_deref(), inclusive: lower_inside };
    make(of, Span { lower, upper: Bound { item: upper.as_deref(), inclusive: upper_inside } })
}

/// The text of a bound up to what ends it, `Some(None)` where there is none; `None` where nothing ends it.
fn bound(rest: &mut &str) -> Option<Option<String>> {
    if rest.starts_with([',', ')', ']']) {
        return Some(None);
    }
    let (mut out, mut in_quotes) = (String::new(), false);
    let mut chars = rest.char_indices().peekable();
    loop {
        let (place, it) = chars.next()?;
        match it {
            ',' | ')' | ']' if !in_quotes => {
                *rest = &rest[place..];
                return Some(Some(out));
            }
            '\\' => out.push(chars.next()?.1),
            '"' if !in_quotes => in_quotes = true,
            '"' => match chars.next_if(|it| it.1 == '"') {
                Some(_) => out.push('"'),
                None => in_quotes = false,
            },
            it => out.push(it),
        }
    }
}

/// A text as a set of ranges.
///
/// # Errors
/// 22P02 for what is no set, and those of [`parse`].
pub fn parse_set(text: &str, of: Range, read: &mut Read<'_>) -> SqlResult<String> {
    let wrong = |detail: &str| malformed("multirange", text, detail);
    let skip = |it: &mut &str| *it = it.trim_start_matches(is_space);
    let mut rest = text.trim_start_matches(is_space);
    rest = rest.strip_prefix('{').ok_or_else(|| wrong("Missing left brace."))?;
    let (mut ranges, mut is_first) = (Vec::new(), true);
    loop {
        skip(&mut rest);
        if rest.is_empty() {
            return Err(wrong("Unexpected end of input."));
        }
        if is_first && rest.starts_with('}') {
            break;
        }
        if let Some(behind) = behind_empty(rest) {
            rest = behind;
        } else if rest.starts_with(['[', '(']) {
            let end = range_end(rest).ok_or_else(|| wrong("Unexpected end of input."))?;
            ranges.push(parse(&rest[..end], of, read)?);
            rest = &rest[end..];
        } else {
            return Err(wrong("Expected range start."));
        }
        is_first = false;
        skip(&mut rest);
        match rest.chars().next() {
            Some(',') => rest = &rest[1..],
            Some('}') => break,
            Some(_) => return Err(wrong("Expected comma or end of multirange.")),
            None => return Err(wrong("Unexpected end of input.")),
        }
    }
    if !rest[1..].trim_start_matches(is_space).is_empty() {
        return Err(wrong("Junk after closing right brace."));
    }
    Ok(set_of(ranges.iter().map(String::as_str)))
}

/// Where the range that stands first ends; `None` where it does not.
fn range_end(text: &str) -> Option<usize> {
    let (mut in_quotes, mut chars) = (false, text.char_indices());
    loop {
        let (place, it) = chars.next()?;
        match it {
            ']' | ')' if !in_quotes => return Some(place + 1),
            // Two quotes end what they are in and begin it anew.
            '"' => in_quotes = !in_quotes,
            '\\' => drop(chars.next()?),
            _ => {}
        }
    }
}

fn malformed(what: &str, text: &str, detail: &str) -> SqlError {
    let message = format!("malformed {what} literal: \"{text}\"");
    SqlError::new(SqlState::INVALID_TEXT, message).with_detail(detail)
}
