//! What can be wrong with a log.

use std::fmt;
use std::path::{Path, PathBuf};

use hardware::FolderError;

/// Why the log cannot be read or written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JournalError {
    /// The disk refuses.
    Disk(FolderError),
    /// A file is not as it was written.
    Damaged {
        /// The file.
        path: PathBuf,
        /// The byte from which on it is not.
        place: u64,
        /// What was found.
        what: &'static str,
    },
    /// A file was written by a newer Nodewise.
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// A file was written by an older Nodewise, and holds records that are not in a checkpoint.
    Older {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// Writing or syncing failed before, which is final.
    Stopped {
        /// How it failed.
        cause: Box<JournalError>,
    },
}

/// What comes of reading or writing a log.
pub type JournalResult<T> = Result<T, JournalError>;

impl JournalError {
    pub(crate) fn damaged(folder: &Path, name: &str, place: u64, what: &'static str) -> Self {
        Self::Damaged { path: folder.join(name), place, what }
    }
}

impl From<FolderError> for JournalError {
    fn from(error: FolderError) -> Self {
        Self::Disk(error)
    }
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disk(error) => error.fmt(f),
            Self::Damaged { path, place, what } => {
                write!(f, "{} is damaged at byte {place}: {what}", path.display())
            }
            Self::Newer { path, version } => {
                write!(f, "{} is of format {version}, which is newer", path.display())
            }
            Self::Older { path, version } => {
                write!(f, "{} holds changes in format {version}, which is older", path.display())
            }
            Self::Stopped { cause } => write!(f, "the log could not be written: {cause}"),
        }
    }
}

impl std::error::Error for JournalError {}
