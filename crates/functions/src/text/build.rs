//! New texts from texts and numbers.

use std::collections::HashMap;
use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, StringArray};
use plan::Function;
use types::{SqlError, SqlResult, SqlState};

use super::{byte_of, length};
use crate::call::Call;
use crate::error::{invalid, out_of_range, too_long};
use crate::texts::Texts;

/// A part of a text that is joined.
pub(super) enum Part<'a> {
    Text(&'a StringArray),
    /// Prints as a letter.
    Boolean(&'a BooleanArray),
}

impl<'a> Part<'a> {
    pub(super) fn all(call: &Call<'a>, first: usize) -> SqlResult<Vec<Self>> {
        (first..call.count()).map(|index| Self::one(call, index)).collect()
    }

    /// An argument.
    pub(super) fn one(call: &Call<'a>, index: usize) -> SqlResult<Self> {
        match call.argument(index)?.as_boolean_opt() {
            Some(booleans) => Ok(Part::Boolean(booleans)),
            None => call.texts(index).map(Part::Text),
        }
    }

    /// The text in a row; `None` for NULL.
    pub(super) fn at(&self, row: usize) -> Option<&'a str> {
        match self {
            Self::Text(it) => it.is_valid(row).then(|| it.value(row)),
            Self::Boolean(it) => it.is_valid(row).then(|| if it.value(row) { "t" } else { "f" }),
        }
    }
}

/// concat and `||`: NULL in a part is empty for the first and makes all NULL for the second.
pub(crate) fn concat(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let parts = Part::all(call, 0)?;
    let mut out = Texts::with_capacity(call.rows);
    for row in 0..call.rows {
        let missing = parts.iter().any(|it| it.at(row).is_none());
        if missing && call.function == Function::ConcatOperator {
            out.null();
            continue;
        }
        parts.iter().filter_map(|it| it.at(row)).try_for_each(|it| out.push(it))?;
        out.end();
    }
    Ok(out.finish())
}

/// Parts with a separator between them; parts that are NULL are left out.
pub(crate) fn concat_ws(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (separators, parts) = (call.texts(0)?, Part::all(call, 1)?);
    let mut out = Texts::with_capacity(call.rows);
    for row in 0..call.rows {
        if separators.is_null(row) {
            out.null();
            continue;
        }
        let mut separator = "";
        for part in parts.iter().filter_map(|it| it.at(row)) {
            out.push(separator)?;
            out.push(part)?;
            separator = separators.value(row);
        }
        out.end();
    }
    Ok(out.finish())
}

/// The character of a code point.
pub(crate) fn chr(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let codes = call.integers(0)?;
    call.map_texts(|row, out| {
        let code = codes.at(row);
        if code < 0 {
            return Err(invalid("character number must be positive"));
        }
        let limit = |message| Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message));
        if code == 0 {
            return limit("null character not permitted".to_owned());
        }
        match u32::try_from(code).ok().and_then(char::from_u32) {
            Some(character) => out.push_char(character),
            None if (0xd800..0xe000).contains(&code) => {
                limit(format!("requested character not valid for encoding: {code}"))
            }
            None => limit(format!("requested character too large for encoding: {code}")),
        }
    })
}

/// lpad and rpad.
pub(crate) fn pad(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, lengths) = (call.texts(0)?, call.integers(1)?);
    let fills = call.optional_texts(2)?;
    let left = call.function == Function::Lpad;
    call.map_texts(|row, out| {
        let (text, fill) = (texts.value(row), fills.map_or(" ", |it| it.value(row)));
        let wanted = usize::try_from(lengths.at(row).max(0)).unwrap_or(usize::MAX);
        let text = &text[..byte_of(text, wanted)];
        let missing = if fill.is_empty() { 0 } else { wanted - length(text) };
        // Characters are bytes at least.
        out.claim(text.len().saturating_add(missing))?;
        if left {
            push_fill(out, fill, missing)?;
        }
        out.push(text)?;
        if left { Ok(()) } else { push_fill(out, fill, missing) }
    })
}

/// So many characters of a text that is repeated.
fn push_fill(out: &mut Texts, fill: &str, characters: usize) -> SqlResult<()> {
    if characters == 0 {
        return Ok(());
    }
    let each = length(fill);
    out.push_repeated(fill, characters / each)?;
    out.push(&fill[..byte_of(fill, characters % each)])
}

/// A text n times.
pub(crate) fn repeat(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, times) = (call.texts(0)?, call.integers(1)?);
    call.map_texts(|row, out| {
        let times = usize::try_from(times.at(row).max(0)).unwrap_or(usize::MAX);
        out.push_repeated(texts.value(row), times)
    })
}

/// A text with every occurrence of another replaced.
pub(crate) fn replace(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, olds, news) = (call.texts(0)?, call.texts(1)?, call.texts(2)?);
    call.map_texts(|row, out| {
        let (old, new) = (olds.value(row), news.value(row));
        let mut rest = texts.value(row);
        while !old.is_empty()
            && let Some(place) = rest.find(old)
        {
            out.push(&rest[..place])?;
            out.push(new)?;
            rest = &rest[place + old.len()..];
        }
        out.push(rest)
    })
}

/// Characters in the opposite order.
pub(crate) fn reverse(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let texts = call.texts(0)?;
    call.map_texts(|row, out| texts.value(row).chars().rev().try_for_each(|it| out.push_char(it)))
}

/// A text with a part replaced by another.
pub(crate) fn overlay(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, news, starts) = (call.texts(0)?, call.texts(1)?, call.integers(2)?);
    let counts = call.optional_integers(3)?;
    call.map_texts(|row, out| {
        let (text, new, start) = (texts.value(row), news.value(row), starts.at(row));
        let count = counts.map_or_else(|| length(new) as i64, |it| it.at(row));
        if start <= 0 {
            return Err(SqlError::new(SqlState("22011"), "negative substring length not allowed"));
        }
        let after = start.saturating_add(count);
        if i32::try_from(after).is_err() {
            return Err(out_of_range(types::DataType::Integer));
        }
        let after = after.max(1) - 1;
        let place = |it: i64| byte_of(text, usize::try_from(it).unwrap_or(usize::MAX));
        out.push(&text[..place(start - 1)])?;
        out.push(new)?;
        out.push(&text[place(after)..])
    })
}

/// A whole number in hexadecimal digits, two's complement.
pub(crate) fn in_base(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let values = call.integers(0)?;
    let narrow = !matches!(values, crate::call::Integers::Big(_));
    let mut digits = String::new();
    call.map_texts(|row, out| {
        digits.clear();
        let value = values.at(row);
        // PostgreSQL has this for INTEGER and BIGINT: a SMALLINT is as wide as the first.
        let bits = if narrow { u64::from(value as i32 as u32) } else { value as u64 };
        let written = match call.function {
            Function::ToBin => write!(digits, "{bits:b}"),
            Function::ToOct => write!(digits, "{bits:o}"),
            _ => write!(digits, "{bits:x}"),
        };
        written.map_err(|_| too_long())?;
        out.push(&digits)
    })
}

/// Characters of one text replaced by those of another.
pub(crate) fn translate(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, olds, news) = (call.texts(0)?, call.texts(1)?, call.texts(2)?);
    let mut map = HashMap::new();
    let mut mapped: Option<(&str, &str)> = None;
    call.map_texts(|row, out| {
        let pair = (olds.value(row), news.value(row));
        if mapped != Some(pair) {
            map.clear();
            let mut new = pair.1.chars();
            for old in pair.0.chars() {
                let new = new.next();
                map.entry(old).or_insert(new);
            }
            mapped = Some(pair);
        }
        for character in texts.value(row).chars() {
            match map.get(&character) {
                Some(Some(new)) => out.push_char(*new)?,
                Some(None) => {}
                None => out.push_char(character)?,
            }
        }
        Ok(())
    })
}
