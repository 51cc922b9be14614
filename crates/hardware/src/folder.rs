//! Folders of files that last: what a database keeps across the end of its program (docs/design/09-durability.md, "what
//! a machine promises").
//!
//! Key decision: a folder is a handle that is locked, and all of its files are reached through it, so that what lasts of
//! one database is one thing that the simulator can crash. Nothing lasts before it was synced: the bytes of a file by
//! [`LastingFile::sync`], names by [`Folder::sync`].

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

use stdx::sync::Arc;
use stdx::sync::atomic::AtomicBool;

use crate::NodeId;

/// Why a folder or a file in it could not do what was asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FolderError {
    /// The disk, or what the user may have of it, is full.
    Full {
        /// The file.
        path: PathBuf,
    },
    /// Another process has the folder, or another database of this one.
    Locked {
        /// The folder.
        path: PathBuf,
    },
    /// Any other refusal.
    Failed {
        /// The file or folder.
        path: PathBuf,
        /// What was tried: `create`, `open`, `write`, `read`, `sync`, ...
        what: &'static str,
        /// What the OS said.
        message: String,
    },
}

impl fmt::Display for FolderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { path } => write!(f, "no space is left for {}", path.display()),
            Self::Locked { path } => {
                write!(f, "{} is open in another process", path.display())
            }
            Self::Failed { path, what, message } => {
                write!(f, "cannot {what} {}: {message}", path.display())
            }
        }
    }
}

impl std::error::Error for FolderError {}

/// A folder that nobody else has until it is dropped. Files are named without a path.
pub trait Folder: Send + Sync {
    /// Where it is.
    fn path(&self) -> &Path;
    /// The names of its files, sorted.
    fn list(&self) -> Result<Vec<String>, FolderError>;
    /// A new file; one of the name is emptied.
    fn create(&self, name: &str) -> Result<Arc<dyn LastingFile>, FolderError>;
    /// A file that is there.
    fn open(&self, name: &str) -> Result<Arc<dyn LastingFile>, FolderError>;
    /// Gives a file another name, and takes the place of a file that has it.
    fn rename(&self, from: &str, to: &str) -> Result<(), FolderError>;
    /// Removes a file.
    fn remove(&self, name: &str) -> Result<(), FolderError>;
    /// Returns when the names as they are now will outlast a loss of power.
    fn sync(&self) -> Result<(), FolderError>;
}

/// A file of a [`Folder`]. Several threads may use it at once.
pub trait LastingFile: Send + Sync {
    /// Its length in bytes.
    fn length(&self) -> Result<u64, FolderError>;
    /// Reads exactly so many bytes from a place; what is past the end is an error.
    fn read_at(&self, place: u64, bytes: &mut [u8]) -> Result<(), FolderError>;
    /// Writes bytes at a place; a gap before it reads as zeros.
    fn write_at(&self, place: u64, bytes: &[u8]) -> Result<(), FolderError>;
    /// Makes it so long: cut, or with zeros behind.
    fn truncate(&self, length: u64) -> Result<(), FolderError>;
    /// Returns when what was written before will outlast a loss of power. After an error it is not known what will, and a
    /// second call that goes well says nothing of it.
    fn sync(&self) -> Result<(), FolderError>;
    /// Has the machine forget what it keeps of the file in memory, where it can, so that it is read from the disk again.
    fn drop_cache(&self) {}
    /// Maps the whole file, which has at least a byte, to be read. Nothing of it is read before somebody looks.
    fn map(&self) -> Result<Arc<dyn FileMapping>, FolderError>;
}

/// The bytes of a [`LastingFile`] in memory, to be read; unmapped when it is dropped. They stay readable when the file is
/// removed. What cannot be read, as somebody has cut the file or its disk fails, never ends the process: it is zeros, which
/// [`FileMapping::failed`] tells before any are seen.
///
/// [`crate::Machine::locate`] tells where its pages are. Policies do not bind them: they lie where the OS had room when they
/// were first read, by whomever.
pub trait FileMapping: Send + Sync {
    /// First byte, at the start of a page.
    fn base(&self) -> NonNull<u8>;
    /// The length of the file when it was mapped.
    fn bytes(&self) -> usize;
    /// Becomes true, and stays so, before any byte is zero in place of one that could not be read.
    fn failed(&self) -> &Arc<AtomicBool>;
    /// Tells a machine that cannot see it that a worker of a node is the first to read some pages, given by bytes.
    fn touched(&self, _bytes: Range<usize>, _node: NodeId) {}
}
