//! Errors of statements as exceptions of the DB-API, made by the package's Python half: it knows the classes of SQLSTATEs.

use nodewise::{SqlError, SqlState};
use pyo3::prelude::*;

/// The exception of an error.
pub fn exception(py: Python<'_>, error: &SqlError) -> PyErr {
    let made = py.import("nodewise._errors").and_then(|module| {
        let (detail, hint) = (error.detail(), error.hint.as_deref());
        let arguments = (error.state.0, error.message.as_str(), detail, hint, error.position);
        module.getattr("of_state")?.call1(arguments)
    });
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(failed) => failed,
    }
}

/// What whoever uses a connection that is closed is told.
pub fn closed() -> SqlError {
    SqlError::new(SqlState("08003"), "the connection is closed")
}

/// A value that Python, or the database, has no place for.
pub fn unfit(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER, message)
}
