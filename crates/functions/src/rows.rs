//! Numbers of rows, as LIMIT and OFFSET have them.

use arrow_array::ArrayRef;
use arrow_array::types::Int64Type;
use types::{SqlError, SqlResult, SqlState};

use crate::call::Call;

/// The error of a number of rows below zero; `what`: LIMIT or OFFSET.
pub fn negative(what: &str) -> SqlError {
    let state = if what == "LIMIT" { "2201W" } else { "2201X" };
    SqlError::new(SqlState(state), format!("{what} must not be negative"))
}

/// Numbers of rows, the second argument says of which clause. Errors: 2201W and 2201X.
pub(crate) fn checked(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (rows, clauses) = (call.primitive::<Int64Type>(0)?, call.texts(1)?);
    call.map::<Int64Type>(|row| match rows.value(row) {
        it @ 0.. => Ok(it),
        _ => Err(negative(clauses.value(row))),
    })
}
