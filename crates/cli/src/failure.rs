//! Everything that can go wrong in the binary.

use std::io;
use std::process::ExitCode;

use nodewise::SqlError;

/// Why a command ended early.
#[derive(Debug)]
pub enum Failure {
    /// A statement failed.
    Sql(SqlError),
    /// Output could not be written.
    Io(io::Error),
    /// Something else, in a sentence.
    Other(String),
    /// Arguments that are wrong in a way that only the command knows.
    Arguments(String),
}

impl Failure {
    /// Whether the reader of our output has gone, which is no failure.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Io(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Tells the user.
    pub fn print(&self) {
        match self {
            Self::Sql(error) => {
                eprintln!("ERROR {}: {}", error.state.0, error.message);
                if let Some(hint) = &error.hint {
                    eprintln!("HINT: {hint}");
                }
            }
            Self::Io(error) => eprintln!("ERROR: {error}"),
            Self::Other(message) => eprintln!("ERROR: {message}"),
            Self::Arguments(message) => eprintln!("error: {message}"),
        }
    }

    /// What the process ends with.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(if matches!(self, Self::Arguments(_)) { 2 } else { 1 })
    }
}

impl From<SqlError> for Failure {
    fn from(error: SqlError) -> Self {
        Self::Sql(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
