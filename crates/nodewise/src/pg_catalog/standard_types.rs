//! Types as `information_schema` says them.

use ::types::{DataType, names};

use crate::Session;
use crate::views::Cell;

pub(super) fn catalog(session: &Session) -> Cell {
    session.client.database.as_str().into()
}

/// The characters of a type of texts, and the digits of the seconds of one of moments.
pub(super) fn sizes(of: DataType) -> (Option<i64>, Option<i64>) {
    let length = match of {
        DataType::Char(_) | DataType::Varchar(_) => of.said_length().map(i64::from),
        DataType::Bits(it) => it.length().map(i64::from),
        _ => None,
    };
    let moment = match of {
        DataType::Date => Some(0),
        DataType::Timestamp
        | DataType::TimestampTz
        | DataType::Time
        | DataType::TimeTz
        | DataType::Interval => Some(6),
        _ => None,
    };
    (length, moment)
}

/// The bytes that a text of a type has at most.
pub(super) fn octets(of: DataType) -> Option<i64> {
    match of {
        // A character has four at most.
        DataType::VARCHAR | DataType::Text => Some(1 << 30),
        DataType::Char(it) | DataType::Varchar(it) => Some(4 * i64::from(it)),
        _ => None,
    }
}

/// In what the digits of a number are counted ([`digits`]).
pub(super) fn radix(of: DataType) -> Option<i64> {
    match of.plain() {
        DataType::SmallInt
        | DataType::Integer
        | DataType::BigInt
        | DataType::Real
        | DataType::Double => Some(2),
        DataType::Decimal { .. } => Some(10),
        _ if of == DataType::Numeric => Some(10),
        _ => None,
    }
}

/// A type as the standard says it; `known` is its name in SQL as PostgreSQL knows it.
pub(super) fn said_type(of: DataType, known: &str) -> String {
    match of {
        DataType::Array(_) => "ARRAY".to_owned(),
        DataType::Whole(it) => it.name().to_lowercase(),
        DataType::Enum(_) => "USER-DEFINED".to_owned(),
        _ if of.made_name().is_some() => "USER-DEFINED".to_owned(),
        _ => known.to_owned(),
    }
}

/// The schema and the name of a type; `known` is PostgreSQL's name of it, or of what its arrays hold.
pub(super) fn udt(of: DataType, known: &str) -> (String, String) {
    match of {
        _ if let Some(name) = of.made_name() => names::split(name),
        DataType::Array(it) if let Some(name) = it.data_type().made_name() => {
            let (schema, name) = names::split(name);
            (schema, format!("_{name}"))
        }
        DataType::Array(_) => (names::CATALOG.to_owned(), format!("_{known}")),
        _ => (names::CATALOG.to_owned(), known.to_owned()),
    }
}

/// Digits of a number in all, and behind the point; those of binary numbers are binary.
pub(super) fn digits(of: DataType) -> (Option<i64>, Option<i64>) {
    match of.plain() {
        DataType::SmallInt => (Some(16), Some(0)),
        DataType::Integer => (Some(32), Some(0)),
        DataType::BigInt => (Some(64), Some(0)),
        DataType::Real => (Some(24), None),
        DataType::Double => (Some(53), None),
        DataType::Decimal { precision, scale } => (Some(precision.into()), Some(scale.into())),
        _ => (None, None),
    }
}

/// A truth as the standard has it.
pub(super) fn said(truth: bool) -> Cell {
    if truth { "YES".into() } else { "NO".into() }
}
