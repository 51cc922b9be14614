//! What is wrong with a record, and where that is said.

use std::path::Path;

use types::{SqlError, SqlState};

/// What is wrong with a record.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) error: SqlError,
    /// The column, where it is one that is wrong.
    pub(crate) column: Option<String>,
    /// Whether a value is to blame, and not how the record is written.
    pub(crate) is_value: bool,
}

impl Fault {
    /// A record that is not written as it should be (22P04).
    pub(crate) fn malformed(message: impl Into<String>) -> Self {
        Self::of(SqlError::new(SqlState::BAD_FILE_FORMAT, message))
    }

    /// Any error of a record.
    pub(crate) fn of(error: SqlError) -> Self {
        Self { error, column: None, is_value: false }
    }

    /// A value that its column does not take.
    pub(crate) fn value(error: SqlError, column: &str) -> Self {
        Self { error, column: Some(column.to_owned()), is_value: true }
    }

    /// As a user sees it.
    pub(crate) fn at(self, path: &Path, line: u64) -> SqlError {
        let column = self.column.map(|it| format!(", column \"{it}\"")).unwrap_or_default();
        let place = format!("(file {}, line {line}{column})", path.display());
        SqlError { message: format!("{} {place}", self.error.message), ..self.error }
    }
}

/// Bytes that are no UTF-8 (22021), as PostgreSQL shows them.
pub(crate) fn invalid_bytes(bytes: &[u8]) -> SqlError {
    // What a first byte announces, as far as it is there; a wrong first byte stands alone.
    let length = match bytes.first() {
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf4) => 4,
        _ => 1,
    };
    let shown = bytes.iter().take(length).enumerate();
    // What ends a line is none of a character.
    let shown = shown.take_while(|it| it.0 == 0 || !it.1.is_ascii_control()).map(|it| it.1);
    let shown: Vec<String> = shown.map(|it| format!("0x{it:02x}")).collect();
    let message = format!("invalid byte sequence for encoding \"UTF8\": {}", shown.join(" "));
    SqlError::new(SqlState("22021"), message)
        .with_hint("say the encoding of the file: ENCODING 'LATIN1'")
}
