//! Errors of statements as those of ADBC.

use std::os::raw::c_char;

use adbc_core::error::{Error, Result, Status};
use nodewise::{SqlError, SqlResult};

/// The error of ADBC for an error of a statement: its SQLSTATE, PostgreSQL's number for that, and its parts by name.
pub fn error(error: &SqlError) -> Error {
    let state = error.state.0;
    let position = error.position.map(|(line, column)| format!("{line}:{column}"));
    let subject = error.subject.as_deref();
    let place = error.position.map(|(line, column)| format!(" (line {line}, column {column})"));
    let mut message = format!("{}{}", error.message, place.unwrap_or_default());
    let parts = [
        ("detail", error.detail().map(str::to_owned)),
        ("hint", error.hint.clone()),
        ("position", position),
        ("table", subject.and_then(|it| it.table.clone())),
        ("column", subject.and_then(|it| it.column.clone())),
        ("constraint", subject.and_then(|it| it.constraint.clone())),
    ];
    for (name, text) in &parts[..2] {
        if let Some(text) = text {
            message.push_str(&format!("\n{}: {text}", name.to_uppercase()));
        }
    }
    let details = parts.into_iter().filter_map(|(name, text)| Some((name, text?)));
    let details: Vec<_> = details.map(|(name, it)| (name.to_owned(), it.into_bytes())).collect();
    Error {
        // C's texts end at a zero.
        message: message.replace('\0', "\u{fffd}"),
        status: status(state),
        vendor_code: number(state),
        sqlstate: std::array::from_fn(|place| state.as_bytes()[place] as c_char),
        details: (!details.is_empty()).then_some(details),
    }
}

/// A result with an error of ADBC.
pub fn told<T>(result: SqlResult<T>) -> Result<T> {
    result.map_err(|it| error(&it))
}

/// An error of a call that no statement has come to.
pub fn refused(status: Status, message: impl Into<String>) -> Error {
    Error::with_message_and_status(message.into().replace('\0', "\u{fffd}"), status)
}

/// What this driver does not do.
pub fn missing(what: &str) -> Error {
    error(&SqlError::unsupported(format!("{what} is not there yet")))
}

/// The kind of an error, which decides by which exception Python tells it.
fn status(state: &str) -> Status {
    match (state, &state[..2]) {
        ("57014", _) => Status::Cancelled,
        ("42501", _) => Status::Unauthorized,
        ("42P01" | "3F000" | "42704" | "26000" | "58P01", _) => Status::NotFound,
        ("42P07" | "42710" | "42P05" | "42P06", _) => Status::AlreadyExists,
        ("08003", _) => Status::InvalidState,
        (_, "0A") => Status::NotImplemented,
        (_, "21" | "22") => Status::InvalidData,
        (_, "23") => Status::Integrity,
        (_, "25") => Status::InvalidState,
        (_, "28") => Status::Unauthenticated,
        (_, "08" | "40" | "53" | "55" | "57" | "58" | "72") => Status::IO,
        (_, "XX") => Status::Internal,
        _ => Status::InvalidArguments,
    }
}

/// A SQLSTATE as the number that PostgreSQL makes of it: six bits for each letter.
fn number(state: &str) -> i32 {
    let bits = |letter: u8| i32::from(letter.wrapping_sub(b'0')) & 0x3f;
    state.bytes().rev().fold(0, |number, letter| (number << 6) | bits(letter))
}
