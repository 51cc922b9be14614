//! Types in SQL as callers see them in Arrow, and those of what callers bring.

use arrow_schema::Field;
use types::{DataType, SqlResult};

/// A column of results as callers see it; moments are told in UTC.
pub fn shown_field(name: &str, data_type: DataType) -> Field {
    storage::outside::field(name, data_type, None)
}

/// The type that a column of Arrow has in SQL. `source` says in an error where it comes from.
///
/// # Errors
/// 0A000 for a type that is not stored.
pub fn sql_type(field: &Field, source: &str) -> SqlResult<DataType> {
    storage::schema::sql_type(field, source)
}
