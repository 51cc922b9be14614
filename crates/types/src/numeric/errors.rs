//! The errors of numbers and dates, in PostgreSQL's classes and words.

use crate::{DataType, EnumType, SqlError, SqlState};

/// A type as PostgreSQL names it in messages.
pub fn type_name(of: DataType) -> String {
    match of {
        DataType::Null => "unknown".into(),
        DataType::Decimal { precision, scale } => format!("numeric({precision},{scale})"),
        DataType::Timestamp => "timestamp without time zone".into(),
        DataType::TimestampTz => "timestamp with time zone".into(),
        DataType::Time => "time without time zone".into(),
        DataType::TimeTz => "time with time zone".into(),
        DataType::Char(n) => format!("character({n})"),
        DataType::Bpchar => "character".into(),
        DataType::VARCHAR => "character varying".into(),
        DataType::Varchar(n) => format!("character varying({n})"),
        DataType::Enum(it) => it.to_string(),
        DataType::Bits(it) => match it.length() {
            Some(length) => format!("{}({length})", it.name()),
            None => it.name().into(),
        },
        DataType::Array(it) if !it.is_of_vector() => format!("{}[]", type_name(it.data_type())),
        DataType::Struct(it) if it.is_row() => "record".into(),
        DataType::Struct(_) | DataType::Map(_) => of.to_string(),
        _ => of.to_string().to_lowercase(),
    }
}

fn is_temporal(of: DataType) -> bool {
    matches!(
        of,
        DataType::Date
            | DataType::Timestamp
            | DataType::TimestampTz
            | DataType::Time
            | DataType::TimeTz
    )
}

/// The type's name without its length, as messages on input spell it.
fn input_name(of: DataType) -> String {
    match of {
        DataType::Decimal { .. } | DataType::Numeric => "numeric".into(),
        DataType::Timestamp => "timestamp".into(),
        DataType::Time => "time".into(),
        _ => type_name(of),
    }
}

/// 22003 or 22008: a value that its type does not hold.
pub fn out_of_range(of: DataType) -> SqlError {
    let state = SqlState::NUMERIC_OUT_OF_RANGE;
    match of {
        DataType::Date => SqlError::new(SqlState::DATETIME_OVERFLOW, "date out of range"),
        DataType::Timestamp | DataType::TimestampTz => {
            SqlError::new(SqlState::DATETIME_OVERFLOW, "timestamp out of range")
        }
        DataType::Time | DataType::TimeTz => {
            SqlError::new(SqlState::DATETIME_OVERFLOW, "time out of range")
        }
        DataType::Interval => {
            SqlError::new(SqlState::DATETIME_OVERFLOW, "interval out of range")
        }
        DataType::Real | DataType::Double => overflow(),
        DataType::Decimal { precision, scale } => {
            SqlError::new(state, "numeric field overflow").with_hint(format!(
                "DECIMAL({precision},{scale}) holds numbers below 10^{}; cast an operand to a wider type, or to \
                 DOUBLE PRECISION",
                precision - scale
            ))
        }
        _ => SqlError::new(state, format!("{} out of range", type_name(of)))
            .with_hint("cast an operand to a wider type, or to DOUBLE PRECISION"),
    }
}

/// 22003: a float beyond the greatest.
pub fn overflow() -> SqlError {
    SqlError::new(SqlState::NUMERIC_OUT_OF_RANGE, "value out of range: overflow")
}

/// 22003: a float that is not zero and nearer to it than the least.
pub fn underflow() -> SqlError {
    SqlError::new(SqlState::NUMERIC_OUT_OF_RANGE, "value out of range: underflow")
}

/// 22012: a divisor of zero.
pub fn division_by_zero() -> SqlError {
    SqlError::new(SqlState::DIVISION_BY_ZERO, "division by zero")
        .with_hint("guard the divisor with NULLIF(divisor, 0)")
}

/// 0A000: NaN for an exact type.
pub(super) fn not_a_number() -> SqlError {
    SqlError::unsupported("DECIMAL does not hold NaN").with_hint("DOUBLE PRECISION does")
}

/// 0A000: a field of an infinite date or timestamp as an exact number, which has no infinity.
pub fn infinite_field() -> SqlError {
    SqlError::unsupported("extract() of infinity: DECIMAL does not hold it")
        .with_hint("date_part() gives it as DOUBLE PRECISION")
}

/// 22008: no number of days is between infinite dates.
pub fn infinite_dates_apart() -> SqlError {
    SqlError::new(SqlState::DATETIME_OVERFLOW, "cannot subtract infinite dates")
}

/// 22008: a day that no timestamp reaches.
pub fn date_beyond_timestamp() -> SqlError {
    SqlError::new(SqlState::DATETIME_OVERFLOW, "date out of range for timestamp")
}

/// 22P02 or 22007: a text that does not spell a value of the type.
pub(super) fn invalid_text(text: &str, of: DataType) -> SqlError {
    let state = match of {
        _ if is_temporal(of) => SqlState::INVALID_DATETIME,
        _ => SqlState::INVALID_TEXT,
    };
    let error = SqlError::new(
        state,
        format!("invalid input syntax for type {}: \"{text}\"", input_name(of)),
    );
    match of {
        _ if is_temporal(of) => error.with_hint("write dates as YYYY-MM-DD and times as HH:MM:SS"),
        _ => error,
    }
}

/// 22P02: a text that is no label of an ENUM.
pub(super) fn no_label(text: &str, of: EnumType) -> SqlError {
    let message = format!("invalid input value for enum {of}: \"{text}\"");
    SqlError::new(SqlState::INVALID_TEXT, message)
}

/// 22003 or 22008: a text that spells a value which the type does not hold.
pub(super) fn text_out_of_range(text: &str, of: DataType) -> SqlError {
    let number = |message| SqlError::new(SqlState::NUMERIC_OUT_OF_RANGE, message);
    let date = |message| SqlError::new(SqlState::DATETIME_OVERFLOW, message);
    match of {
        DataType::Date => date(format!("date out of range: \"{text}\"")),
        DataType::Timestamp | DataType::TimestampTz => {
            date(format!("timestamp out of range: \"{text}\""))
        }
        DataType::Decimal { .. } => out_of_range(of),
        DataType::Real | DataType::Double => {
            number(format!("\"{text}\" is out of range for type {}", type_name(of)))
        }
        _ => number(format!("value \"{text}\" is out of range for type {}", type_name(of))),
    }
}

/// 22008: a month, day or hour that there is not.
pub(super) fn field_out_of_range(text: &str) -> SqlError {
    SqlError::new(
        SqlState::DATETIME_OVERFLOW,
        format!("date/time field value out of range: \"{text}\""),
    )
    .with_hint("write dates as YYYY-MM-DD and times as HH:MM:SS")
}

/// 22008: a month or a day that there is in no year, as in a date whose numbers stand in another order.
pub(super) fn field_out_of_order(text: &str) -> SqlError {
    field_out_of_range(text).with_hint("Perhaps you need a different \"DateStyle\" setting.")
}

/// 22009: a zone that is too far from UTC.
pub(super) fn zone_out_of_range(text: &str) -> SqlError {
    let message = format!("time zone displacement out of range: \"{text}\"");
    SqlError::new(SqlState("22009"), message)
}

/// 22001: a text longer than its type.
pub fn too_long(of: DataType) -> SqlError {
    SqlError::new(SqlState::STRING_TRUNCATION, format!("value too long for type {}", type_name(of)))
}

/// 42846: there is no such cast.
pub fn cannot_cast(from: DataType, to: DataType) -> SqlError {
    SqlError::new(
        SqlState::CANNOT_COERCE,
        format!("cannot cast type {} to {}", type_name(from), type_name(to)),
    )
}

/// 42804: a value that a column does not take.
pub fn cannot_assign(column: &str, from: DataType, to: DataType) -> SqlError {
    SqlError::new(
        SqlState::DATATYPE_MISMATCH,
        format!(
            "column \"{column}\" is of type {} but expression is of type {}",
            type_name(to),
            type_name(from)
        ),
    )
    .with_hint("rewrite or cast the expression")
}

/// 42883: an operator that these types do not have.
pub fn no_operator(operator: &str, left: DataType, right: DataType) -> SqlError {
    SqlError::new(
        SqlState::UNDEFINED_FUNCTION,
        format!("operator does not exist: {} {operator} {}", type_name(left), type_name(right)),
    )
    .with_hint("cast an operand so that both have types that the operator takes")
}
