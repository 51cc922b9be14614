//! Errors as a user sees them: a SQLSTATE, a sentence, and a hint.

use std::fmt;

use stdx::memory::OutOfMemory;

/// A five-character Postgres SQLSTATE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SqlState(pub &'static str);

impl SqlState {
    /// Any syntax error.
    pub const SYNTAX: Self = Self("42601");
    /// A table that does not exist.
    pub const UNDEFINED_TABLE: Self = Self("42P01");
    /// A schema that does not exist.
    pub const UNDEFINED_SCHEMA: Self = Self("3F000");
    /// A column that does not exist.
    pub const UNDEFINED_COLUMN: Self = Self("42703");
    /// A function that does not exist for these arguments.
    pub const UNDEFINED_FUNCTION: Self = Self("42883");
    /// A name that could mean several columns.
    pub const AMBIGUOUS_COLUMN: Self = Self("42702");
    /// A table that exists already.
    pub const DUPLICATE_TABLE: Self = Self("42P07");
    /// A column named twice.
    pub const DUPLICATE_COLUMN: Self = Self("42701");
    /// Two relations under one name.
    pub const DUPLICATE_ALIAS: Self = Self("42712");
    /// A name or a place that means no column where it stands.
    pub const INVALID_COLUMN_REFERENCE: Self = Self("42P10");
    /// A parameter that has no value.
    pub const UNDEFINED_PARAMETER: Self = Self("42P02");
    /// A function of another kind than its use needs.
    pub const WRONG_OBJECT_TYPE: Self = Self("42809");
    /// A statement nested too deeply, or of too many operations.
    pub const STATEMENT_TOO_COMPLEX: Self = Self("54001");
    /// Types that do not go together.
    pub const DATATYPE_MISMATCH: Self = Self("42804");
    /// A column that must be grouped or aggregated.
    pub const GROUPING_ERROR: Self = Self("42803");
    /// A parameter or setting with a value it cannot take.
    pub const INVALID_PARAMETER: Self = Self("22023");
    /// A number out of its type's range.
    pub const NUMERIC_OUT_OF_RANGE: Self = Self("22003");
    /// Division by zero.
    pub const DIVISION_BY_ZERO: Self = Self("22012");
    /// A value that is wrong in no way that has a state of its own.
    pub const DATA_EXCEPTION: Self = Self("22000");
    /// Text that does not spell a value of the type.
    pub const INVALID_TEXT: Self = Self("22P02");
    /// Text that does not spell a date or time.
    pub const INVALID_DATETIME: Self = Self("22007");
    /// A conversion that there is not.
    pub const CANNOT_COERCE: Self = Self("42846");
    /// A date or time out of range.
    pub const DATETIME_OVERFLOW: Self = Self("22008");
    /// A string longer than its type.
    pub const STRING_TRUNCATION: Self = Self("22001");
    /// A NULL where none may be.
    pub const NOT_NULL_VIOLATION: Self = Self("23502");
    /// A value that a CHECK does not allow.
    pub const CHECK_VIOLATION: Self = Self("23514");
    /// A reference to what is not there, or what is referred to and goes.
    pub const FOREIGN_KEY_VIOLATION: Self = Self("23503");
    /// A key that is there already.
    pub const UNIQUE_VIOLATION: Self = Self("23505");
    /// Something that is named and does not exist: an index, a setting.
    pub const UNDEFINED_OBJECT: Self = Self("42704");
    /// Another object has the name.
    pub const DUPLICATE_OBJECT: Self = Self("42710");
    /// An object that is not in the state that is asked for.
    pub const NOT_IN_STATE: Self = Self("55000");
    /// An object that others need.
    pub const DEPENDENT_OBJECTS: Self = Self("2BP01");
    /// A prepared statement that does not exist.
    pub const UNDEFINED_PREPARED: Self = Self("26000");
    /// A prepared statement that exists already.
    pub const DUPLICATE_PREPARED: Self = Self("42P05");
    /// A scalar subquery with more than one row.
    pub const CARDINALITY_VIOLATION: Self = Self("21000");
    /// More statements than may run or wait.
    pub const TOO_MANY_CONNECTIONS: Self = Self("53300");
    /// Memory is used up.
    pub const OUT_OF_MEMORY: Self = Self("53200");
    /// The query was cancelled.
    pub const QUERY_CANCELED: Self = Self("57014");
    /// Nodewise does not do this (yet).
    pub const FEATURE_NOT_SUPPORTED: Self = Self("0A000");
    /// A file that does not exist or cannot be read.
    pub const UNDEFINED_FILE: Self = Self("58P01");
    /// No space is left on a disk.
    pub const DISK_FULL: Self = Self("53100");
    /// Reading a file failed.
    pub const IO_ERROR: Self = Self("58030");
    /// A file whose contents are not what its format says.
    pub const DATA_CORRUPTED: Self = Self("XX001");
    /// A file that is not in the format it is read as.
    pub const BAD_FILE_FORMAT: Self = Self("22P04");
    /// More of something than a clause may list.
    pub const TOO_MANY_COLUMNS: Self = Self("54011");
    /// What windows do not allow.
    pub const WINDOWING_ERROR: Self = Self("42P20");
    /// An offset of a frame below zero.
    pub const INVALID_FRAME_SIZE: Self = Self("22013");
    /// A NULL where there must be a value.
    pub const NULL_NOT_ALLOWED: Self = Self("22004");
    /// An argument of ntile() below one.
    pub const INVALID_NTILE_ARGUMENT: Self = Self("22014");
    /// An argument of nth_value() below one.
    pub const INVALID_NTH_VALUE_ARGUMENT: Self = Self("22016");
    /// A limit of the program, such as too many columns.
    pub const PROGRAM_LIMIT_EXCEEDED: Self = Self("54000");
    /// A bug in Nodewise.
    pub const INTERNAL: Self = Self("XX000");

    /// Whether a value is to blame, and not the statement: class 22.
    pub fn is_data_exception(self) -> bool {
        self.0.starts_with("22")
    }
}

/// Why a statement ended without its result. Nothing of it remains.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SqlError {
    /// The class of the error, for programs.
    pub state: SqlState,
    /// What is wrong and where, a sentence for people, without a final stop.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Where in the text of the statement: line and column, counted from 1.
    pub position: Option<(u32, u32)>,
    /// Where in what the client has sent, as the line of a COPY.
    pub context: Option<Box<str>>,
    /// What it is about, for programs.
    pub subject: Option<Box<Subject>>,
}

/// What an error is about: what programs would otherwise have to read out of its message.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Subject {
    /// More about it, in a sentence: the key that is there already.
    pub detail: Option<String>,
    /// The table, under the name by which the catalog knows it.
    pub table: Option<String>,
    /// The column of the table.
    pub column: Option<String>,
    /// The type that users made.
    pub data_type: Option<String>,
    /// The constraint that is broken.
    pub constraint: Option<String>,
    /// The function of PostgreSQL that tells such an error, where clients look at it to know which it is.
    pub routine: Option<&'static str>,
}

/// The result of anything a statement does.
pub type SqlResult<T> = Result<T, SqlError>;

impl SqlError {
    /// An error of a class.
    pub fn new(state: SqlState, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { state, message, hint: None, position: None, context: None, subject: None }
    }

    /// The same error with what it is about.
    pub fn about(mut self, say: impl FnOnce(&mut Subject)) -> Self {
        say(self.subject.get_or_insert_default());
        self
    }

    /// The same error with a sentence more.
    pub fn with_detail(self, detail: impl Into<String>) -> Self {
        self.about(|it| it.detail = Some(detail.into()))
    }

    /// The same error of a constraint of a table.
    pub fn of_constraint(self, table: &str, constraint: &str) -> Self {
        self.about(|it| {
            it.table = Some(table.to_owned());
            it.constraint = Some(constraint.to_owned());
        })
    }

    /// More about it, in a sentence.
    pub fn detail(&self) -> Option<&str> {
        self.subject.as_ref()?.detail.as_deref()
    }

    /// The same error with advice.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same error with its place in what the client has sent.
    pub fn within(mut self, context: impl Into<Box<str>>) -> Self {
        self.context = Some(context.into());
        self
    }

    /// The same error with its place in the text of the statement, counted from 1.
    pub fn at(mut self, line: u32, column: u32) -> Self {
        self.position = Some((line, column));
        self
    }

    /// A state that only a bug in Nodewise leads to.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(SqlState::INTERNAL, message)
            .with_hint("this is a bug in Nodewise; please report the statement")
    }

    /// Something SQL has and Nodewise does not do.
    pub fn unsupported(what: impl Into<String>) -> Self {
        Self::new(SqlState::FEATURE_NOT_SUPPORTED, what)
    }
}

impl From<OutOfMemory> for SqlError {
    fn from(OutOfMemory(bytes): OutOfMemory) -> Self {
        let message = format!("out of memory: the statement needs {bytes} more than there is");
        Self::new(SqlState::OUT_OF_MEMORY, message)
            .with_hint("run it alone, drop tables, or run with more memory")
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (SQLSTATE {})", self.message, self.state.0)?;
        if let Some(detail) = self.detail() {
            write!(f, "\nDETAIL: {detail}")?;
        }
        match &self.hint {
            Some(hint) => write!(f, "\nHINT: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for SqlError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_stand_between_message_and_hint() {
        let error = SqlError::new(SqlState::UNIQUE_VIOLATION, "twice")
            .of_constraint("t", "t_pkey")
            .with_detail("Key (id)=(1) already exists.")
            .with_hint("do not");
        let shown = "twice (SQLSTATE 23505)\nDETAIL: Key (id)=(1) already exists.\nHINT: do not";
        assert_eq!(error.to_string(), shown);
        assert_eq!(error.subject.unwrap().constraint.as_deref(), Some("t_pkey"));
    }
}
