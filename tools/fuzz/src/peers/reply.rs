//! What a statement gives back, whoever was asked.

/// A value as text; none for NULL.
pub type Cell = Option<String>;

/// The answer to a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    Rows(Rows),
    /// A statement without rows went well.
    Done,
    Error {
        /// SQLSTATE; empty where the peer has none.
        state: String,
        message: String,
    },
    /// It did not end in time, and whoever ran it was given up.
    Stuck,
}

/// Rows of text.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Rows {
    /// How each column compares.
    pub shown: Vec<Shown>,
    pub rows: Vec<Vec<Cell>>,
}

/// How values of a column compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Integers, decimals, and numbers of any scale.
    Exact,
    Float,
    Truth,
    Temporal,
    /// An interval, by its length.
    Span,
    Text,
}

impl Reply {
    /// The SQLSTATE of an error.
    pub fn state(&self) -> Option<&str> {
        match self {
            Self::Error { state, .. } => Some(state),
            _ => None,
        }
    }

    /// Whether it is an error about a value: division by zero, overflow, a cast, more than one row.
    pub fn is_value_error(&self) -> bool {
        self.state().is_some_and(|state| state.starts_with("22") || state.starts_with("21"))
    }

    /// A few lines that a person can compare.
    pub fn describe(&self) -> String {
        match self {
            Self::Done => "done".to_owned(),
            Self::Stuck => "did not end".to_owned(),
            Self::Error { state, message } => format!("ERROR {state}: {message}"),
            Self::Rows(rows) => {
                let mut sorted: Vec<String> = rows
                    .rows
                    .iter()
                    .map(|row| {
                        let shown = |cell: &Cell| match cell {
                            None => "NULL".to_owned(),
                            Some(text) => format!("{text:?}"),
                        };
                        row.iter().map(shown).collect::<Vec<_>>().join(" | ")
                    })
                    .collect();
                let count = sorted.len();
                sorted.truncate(12);
                let more = if count > sorted.len() { "; .." } else { "" };
                format!("{count} rows: {}{more}", sorted.join("; "))
            }
        }
    }
}

/// Someone who answers statements.
pub trait Peer {
    /// Its name in reports.
    fn name(&self) -> &'static str;

    /// Forgets all tables.
    fn reset(&mut self) -> Result<(), String>;

    /// Runs one statement.
    fn run(&mut self, sql: &str) -> Reply;
}
