//! Refusals of the log as errors of statements.

use hardware::FolderError;
use journal::JournalError;
use types::{SqlError, SqlState};

/// A refusal of the log as a statement's error.
pub(crate) fn journal_error(error: &JournalError) -> SqlError {
    let state = match error {
        JournalError::Disk(FolderError::Full { .. }) => SqlState::DISK_FULL,
        JournalError::Disk(FolderError::Locked { .. }) => SqlState("55006"),
        JournalError::Disk(FolderError::Failed { .. }) => SqlState::IO_ERROR,
        JournalError::Damaged { .. } => SqlState::DATA_CORRUPTED,
        JournalError::Newer { .. } | JournalError::Older { .. } => SqlState::FEATURE_NOT_SUPPORTED,
        JournalError::Stopped { cause } => {
            let message = "cannot change tables: the database is read-only";
            let hint = format!("{cause}; what is in the log is there again after a restart");
            return SqlError::new(SqlState("25006"), message).with_hint(hint);
        }
    };
    let hint = match error {
        JournalError::Disk(FolderError::Locked { .. }) => "one process at a time opens a database",
        JournalError::Damaged { .. } => "bring the folder back from a copy",
        JournalError::Newer { .. } => "open it with the Nodewise that wrote it, or a later one",
        JournalError::Older { .. } => "open it with the Nodewise that wrote it, and run CHECKPOINT",
        _ => return SqlError::new(state, error.to_string()),
    };
    SqlError::new(state, error.to_string()).with_hint(hint)
}
