//! format: a text with places `%[n$][-][width]type` for arguments; the types are s (as it is), I (a name), L (a constant).

use std::borrow::Cow;
use std::iter::Peekable;
use std::str::Chars;

use arrow_array::{Array, ArrayRef};
use types::{SqlError, SqlResult, SqlState};

use super::build::Part;
use super::quote::{identifier, literal};
use crate::call::Call;
use crate::error::invalid;
use crate::texts::Texts;

/// Puts arguments into texts.
pub(crate) fn format(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let formats = call.argument(0)?;
    let known = formats.data_type() != &arrow_schema::DataType::Null;
    let formats = if known { Some(call.texts(0)?) } else { None };
    let parts = parts(call)?;
    let mut out = Texts::with_capacity(call.rows);
    for row in 0..call.rows {
        match formats.filter(|it| it.is_valid(row)) {
            None => out.null(),
            Some(formats) => {
                let arguments = parts.iter().map(|it| it.as_ref().and_then(|it| it.at(row)));
                fill(formats.value(row), &arguments.collect::<Vec<_>>(), &mut out)?;
                out.end();
            }
        }
    }
    Ok(out.finish())
}

/// The arguments, `None` for those that are NULL in every row.
fn parts<'a>(call: &Call<'a>) -> SqlResult<Vec<Option<Part<'a>>>> {
    let mut parts = Vec::with_capacity(call.count());
    for index in 1..call.count() {
        let null = call.argument(index)?.data_type() == &arrow_schema::DataType::Null;
        parts.push(if null { None } else { Some(Part::one(call, index)?) });
    }
    Ok(parts)
}

/// A place for an argument.
struct Place {
    /// Its number, from 1 on.
    argument: Option<usize>,
    left: bool,
    width: usize,
}

fn fill(format: &str, arguments: &[Option<&str>], out: &mut Texts) -> SqlResult<()> {
    let mut characters = format.chars().peekable();
    let mut last = 0;
    while let Some(character) = characters.next() {
        if character != '%' {
            out.push_char(character)?;
            continue;
        }
        if characters.next_if_eq(&'%').is_some() {
            out.push_char('%')?;
            continue;
        }
        let place = place(&mut characters, arguments, &mut last)?;
        let Some(kind) = characters.next() else { return Err(unterminated()) };
        if !matches!(kind, 's' | 'I' | 'L') {
            let message = format!("unrecognized format() type specifier \"{kind}\"");
            return Err(invalid(message).with_hint("for a single \"%\" use \"%%\""));
        }
        let number = place.argument.unwrap_or(last + 1);
        last = number;
        let Some(argument) = arguments.get(number - 1) else {
            return Err(invalid("too few arguments for format()"));
        };
        let text: Cow<'_, str> = match (kind, argument) {
            ('s', it) => Cow::Borrowed(it.unwrap_or("")),
            ('I', Some(it)) => identifier(it),
            ('I', None) => {
                let message = "null values cannot be formatted as an SQL identifier";
                return Err(SqlError::new(SqlState::NULL_NOT_ALLOWED, message));
            }
            (_, Some(it)) => Cow::Owned(literal(it)),
            (_, None) => Cow::Borrowed("NULL"),
        };
        let missing = place.width.saturating_sub(text.chars().count());
        if !place.left {
            out.push_repeated(" ", missing)?;
        }
        out.push(&text)?;
        if place.left {
            out.push_repeated(" ", missing)?;
        }
    }
    Ok(())
}

fn place(
    characters: &mut Peekable<Chars<'_>>,
    arguments: &[Option<&str>],
    last: &mut usize,
) -> SqlResult<Place> {
    let mut place = Place { argument: None, left: false, width: 0 };
    let mut first = number(characters)?;
    if let Some(number) = first
        && characters.next_if_eq(&'$').is_some()
    {
        if number == 0 {
            return Err(invalid("format specifies argument 0, but arguments are numbered from 1"));
        }
        place.argument = Some(number);
        first = None;
    }
    if let Some(width) = first {
        return Ok(Place { width, ..place });
    }
    while characters.next_if_eq(&'-').is_some() {
        place.left = true;
    }
    if characters.next_if_eq(&'*').is_some() {
        let own = number(characters)?;
        if own.is_some() && characters.next_if_eq(&'$').is_none() {
            return Err(invalid("width argument position must be ended by \"$\""));
        }
        let number = own.unwrap_or(*last + 1);
        if number == 0 {
            return Err(invalid("format specifies argument 0, but arguments are numbered from 1"));
        }
        *last = number;
        let Some(argument) = arguments.get(number - 1) else {
            return Err(invalid("too few arguments for format()"));
        };
        let width: i32 = match argument {
            None => 0,
            Some(it) => it.trim().parse().map_err(|_| {
                let message = format!("invalid input syntax for type integer: \"{it}\"");
                SqlError::new(SqlState::INVALID_TEXT, message)
            })?,
        };
        place.left |= width < 0;
        place.width = width.unsigned_abs() as usize;
    } else if let Some(width) = number(characters)? {
        place.width = width;
    }
    Ok(place)
}

/// The number that stands next.
fn number(characters: &mut Peekable<Chars<'_>>) -> SqlResult<Option<usize>> {
    let mut found = None;
    while let Some(digit) = characters.peek().and_then(|it| it.to_digit(10)) {
        characters.next();
        let more = found.unwrap_or(0usize) * 10 + digit as usize;
        if i32::try_from(more).is_err() {
            let message = "number is out of range";
            return Err(SqlError::new(SqlState::NUMERIC_OUT_OF_RANGE, message));
        }
        found = Some(more);
    }
    match characters.peek() {
        None => Err(unterminated()),
        Some(_) => Ok(found),
    }
}

fn unterminated() -> SqlError {
    let error = invalid("unterminated format() type specifier");
    error.with_hint("for a single \"%\" use \"%%\"")
}
