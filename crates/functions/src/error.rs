//! The errors of functions, with PostgreSQL's states and sentences.

use plan::Function;
use types::numeric::errors;
pub(crate) use types::numeric::errors::{division_by_zero, out_of_range, overflow, underflow};
use types::{DataType, SqlError, SqlState};

/// A text that would be longer than [`crate::VALUE_BYTES_MAX`] or make its array longer than
/// [`crate::ARRAY_BYTES_MAX`].
pub(crate) fn too_long() -> SqlError {
    SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "requested length too large")
}

/// A parameter with a value it cannot take.
pub(crate) fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER, message)
}

/// A number outside the domain of a float function.
pub(crate) fn input_range() -> SqlError {
    SqlError::new(SqlState::NUMERIC_OUT_OF_RANGE, "input is out of range")
}

/// An infinite point of time in a function that makes nothing of it.
pub(crate) fn infinite(function: Function) -> SqlError {
    let message = match function {
        Function::MomentsBetween => "cannot subtract infinite timestamps".to_owned(),
        _ => format!("{} of infinite points of time is out of range", function.name()),
    };
    SqlError::new(SqlState::DATETIME_OVERFLOW, message)
}

/// A point of time that TIMESTAMP cannot hold.
pub(crate) fn timestamp_range() -> SqlError {
    errors::out_of_range(DataType::Timestamp)
}

/// A text that does not spell a date or time.
pub(crate) fn invalid_datetime(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState("22007"), message)
}

/// What PostgreSQL calls a type where its length does not count: in signatures.
pub(crate) fn type_name(data_type: DataType) -> String {
    let name = match data_type {
        DataType::Null => "unknown",
        DataType::Boolean => "boolean",
        DataType::SmallInt => "smallint",
        DataType::Integer => "integer",
        DataType::BigInt => "bigint",
        DataType::Real => "real",
        DataType::Double => "double precision",
        DataType::Decimal { .. } | DataType::Numeric => "numeric",
        DataType::Date => "date",
        DataType::Timestamp => "timestamp without time zone",
        DataType::TimestampTz => "timestamp with time zone",
        DataType::Time => "time without time zone",
        DataType::TimeTz => "time with time zone",
        DataType::Interval => "interval",
        DataType::Uuid => "uuid",
        DataType::Bits(it) => it.name(),
        DataType::Network(it) => it.name(),
        DataType::Range(it) => it.name(),
        DataType::Multirange(it) => it.set_name(),
        DataType::Bytea => "bytea",
        DataType::Json => "json",
        DataType::Jsonb => "jsonb",
        DataType::Char(_) | DataType::Bpchar => "character",
        DataType::Varchar(_) => "character varying",
        DataType::Text => "text",
        DataType::Whole(_) | DataType::Enum(_) | DataType::Letter | DataType::Name => {
            return errors::type_name(data_type);
        }
        DataType::Array(element) => return format!("{}[]", type_name(element.data_type())),
        nested @ (DataType::Struct(_) | DataType::Map(_)) => {
            return types::numeric::errors::type_name(nested);
        }
    };
    name.to_owned()
}
