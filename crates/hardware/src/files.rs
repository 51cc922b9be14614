//! Files of a machine.
//!
//! Key decision: what queries write out of memory goes to files without a name, which are gone with the last who holds them,
//! however the program ends: nothing has to be cleaned up after an error, a cancelled statement or a kill.

use std::fmt;
use std::path::PathBuf;

/// Why a file could not do what was asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FileError {
    /// The disk, or what the user may have of it, is full.
    Full {
        /// The folder.
        folder: PathBuf,
    },
    /// Any other refusal.
    Failed {
        /// The folder.
        folder: PathBuf,
        /// What was tried: `create`, `write`, `read`.
        what: &'static str,
        /// What the OS said.
        message: String,
    },
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { folder } => {
                write!(f, "no space is left for temporary files in {}", folder.display())
            }
            Self::Failed { folder, what, message } => {
                write!(f, "cannot {what} a temporary file in {}: {message}", folder.display())
            }
        }
    }
}

impl std::error::Error for FileError {}

/// A file that nobody else sees, and that is gone when it is dropped or the program ends. Several threads may use it at once.
pub trait TemporaryFile: Send + Sync {
    /// Writes bytes at a place; a gap before it reads as zeros.
    fn write_at(&self, place: u64, bytes: &[u8]) -> Result<(), FileError>;
    /// Reads exactly so many bytes from a place; what is past the end is an error.
    fn read_at(&self, place: u64, bytes: &mut [u8]) -> Result<(), FileError>;
}
