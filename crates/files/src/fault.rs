//! What is wrong with a record, and where that is said.

use std::fmt;
use std::path::PathBuf;

use types::{SqlError, SqlState, names};

/// Characters of a record or a value that are shown.
const SHOWN_MAX: usize = 100;

/// Where records come from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Origin<'a> {
    /// Files.
    Files(&'a [PathBuf]),
    /// The client, for a table.
    Client(&'a str),
}

impl Origin<'_> {
    /// What a file is called, by its number.
    pub(crate) fn name(self, file: usize) -> String {
        match self {
            Self::Files(paths) => format!("file {}", paths[file].display()),
            Self::Client(table) => format!("what is copied to {table}"),
        }
    }
}

/// Where a record is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordPlace<'a> {
    pub(crate) origin: Origin<'a>,
    /// The number of its file.
    pub(crate) file: usize,
    /// Its first line, counted from 1.
    pub(crate) line: u64,
    /// Its text, at least the first line.
    pub(crate) text: &'a str,
}

/// The column that is wrong.
#[derive(Debug)]
pub(crate) struct ColumnFault {
    name: String,
    /// The value that it does not take.
    value: Option<String>,
}

/// What is wrong with a record.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) error: SqlError,
    /// The column, where it is one that is wrong.
    pub(crate) column: Option<Box<ColumnFault>>,
    /// Whether a value is to blame, and not how the record is written.
    pub(crate) is_value: bool,
    /// Whether it is NULL where there must be a value.
    pub(crate) is_null: bool,
}

impl Fault {
    /// A record that is not written as it should be (22P04).
    pub(crate) fn malformed(message: impl Into<String>) -> Self {
        Self::of(SqlError::new(SqlState::BAD_FILE_FORMAT, message))
    }

    /// Any error of a record.
    pub(crate) fn of(error: SqlError) -> Self {
        Self { error, column: None, is_value: false, is_null: false }
    }

    /// A value that its column does not take.
    pub(crate) fn value(error: SqlError, column: &str, value: &str) -> Self {
        let column = ColumnFault { name: column.to_owned(), value: Some(value.to_owned()) };
        Self { error, column: Some(Box::new(column)), is_value: true, is_null: false }
    }

    /// A column that may not be NULL.
    pub(crate) fn null(error: SqlError, column: &str) -> Self {
        let column = ColumnFault { name: column.to_owned(), value: None };
        Self { error, column: Some(Box::new(column)), is_value: false, is_null: true }
    }

    /// As a user sees it.
    pub(crate) fn at(self, place: RecordPlace<'_>) -> SqlError {
        let RecordPlace { origin, file, line, text } = place;
        let column = self.column.map(|it| *it);
        match origin {
            Origin::Files(_) => {
                let column = column.map(|it| format!(", column \"{}\"", it.name));
                let place =
                    format!("({}, line {line}{})", origin.name(file), column.unwrap_or_default());
                SqlError { message: format!("{} {place}", self.error.message), ..self.error }
            }
            // As PostgreSQL tells it.
            Origin::Client(table) => {
                let own = names::bare(table);
                self.error.in_table(table).within(match column {
                    Some(ColumnFault { name, value: Some(value) }) => {
                        format!("COPY {own}, line {line}, column {name}: \"{}\"", Shown(&value))
                    }
                    Some(ColumnFault { name, .. }) => {
                        format!("COPY {own}, line {line}, column {name}")
                    }
                    None => format!("COPY {own}, line {line}: \"{}\"", Shown(text)),
                })
            }
        }
    }
}

/// Where a record is, kept for what is found out about it later.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum KeptPlace {
    /// In a file, as the end of a message.
    File(String),
    /// In what a client sends, as a context.
    Client(String),
}

impl KeptPlace {
    /// An error of the record, which tells where that is.
    pub fn tell(self, error: SqlError) -> SqlError {
        match self {
            Self::File(place) => {
                SqlError { message: format!("{} {place}", error.message), ..error }
            }
            Self::Client(context) => error.within(context),
        }
    }
}

impl RecordPlace<'_> {
    pub(crate) fn kept(self) -> KeptPlace {
        let Self { origin, file, line, text } = self;
        match origin {
            Origin::Files(_) => KeptPlace::File(format!("({}, line {line})", origin.name(file))),
            Origin::Client(table) => {
                let (own, text) = (names::bare(table), Shown(text));
                KeptPlace::Client(format!("COPY {own}, line {line}: \"{text}\""))
            }
        }
    }
}

/// The first characters of the first line of a text.
struct Shown<'a>(&'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.0.lines().next().unwrap_or_default();
        match line.char_indices().nth(SHOWN_MAX) {
            Some((end, _)) => write!(f, "{}...", &line[..end]),
            None => f.write_str(line),
        }
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
