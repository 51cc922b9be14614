//! Why the files of a machine cannot be understood.

use std::fmt;
use std::path::PathBuf;

/// Why a machine could not be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TopologyError {
    /// A file holds something that the kernel does not write there.
    Malformed {
        /// The file.
        path: PathBuf,
        /// What was wrong with it.
        problem: String,
    },
    /// No hardware thread is both online and open to this process.
    NoCpus {
        /// The folder that was read.
        root: PathBuf,
    },
}

impl fmt::Display for TopologyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed { path, problem } => {
                write!(f, "cannot understand {}: {problem}", path.display())
            }
            Self::NoCpus { root } => {
                write!(f, "{} lists no CPU that is online and open to this process", root.display())
            }
        }
    }
}

impl std::error::Error for TopologyError {}
