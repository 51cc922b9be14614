//! How a command ends.

use std::io;
use std::path::PathBuf;

use nodewise::SqlError;
use stdx::Nanos;

use crate::failure::Failure;

/// What is to be done after a dot command.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// To go on.
    Continue,
    /// To leave.
    Quit,
    /// To run a file.
    Read(PathBuf),
    /// To run a text.
    Run(String),
    /// To run the last statement again and again, with a rest between.
    Watch(Nanos),
}

/// Why a command did nothing.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Its arguments are wrong: how it is written is told.
    Usage,
    /// Something else.
    Failure(Failure),
}

/// How a command ends.
pub(super) type Done = Result<Outcome, Refusal>;

impl Refusal {
    /// A refusal in a sentence.
    pub fn because(sentence: String) -> Self {
        Self::Failure(Failure::Other(sentence))
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Failure(error.into())
    }
}

impl From<SqlError> for Refusal {
    fn from(error: SqlError) -> Self {
        Self::Failure(error.into())
    }
}
