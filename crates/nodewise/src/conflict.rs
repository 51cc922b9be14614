//! How a transaction is refused that would not be as if it ran alone.

use types::{SqlError, SqlState};

/// 40001.
pub(crate) fn not_serializable(message: &str) -> SqlError {
    SqlError::new(SqlState("40001"), message).with_hint("The transaction might succeed if retried.")
}

/// Somebody else has changed what it wants to change, since its picture was taken.
pub(crate) fn concurrent_update() -> SqlError {
    not_serializable("could not serialize access due to concurrent update")
}

/// A change where none can be.
pub(crate) fn no_transaction() -> SqlError {
    SqlError::internal("a change outside of a transaction")
}
