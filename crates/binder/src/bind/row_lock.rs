//! Which rows a SELECT locks.

use types::{LockMode, LockWait};

/// The rows of a table that a query locks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RowLock {
    /// The table.
    pub table: String,
    /// How strong.
    pub mode: LockMode,
    /// What is done about rows that others have.
    pub wait: LockWait,
}
