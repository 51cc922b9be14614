//! What a scan workload is: how large, what is asked, and by whom.

/// What a statement asks of the rows that qualify.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    /// Their values, as in the paper.
    Rows,
    /// How many they are, and their sum: nothing crosses to the client that would cost one engine more than another.
    Sums,
}

impl Asked {
    /// The word for it in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Sums => "sums",
        }
    }
}

/// The workload.
#[derive(Clone, PartialEq, Debug)]
pub struct ScanOptions {
    /// Rows of the table.
    pub rows: usize,
    /// Columns of the table.
    pub columns: usize,
    /// The share of rows that qualify.
    pub selectivity: f64,
    /// What a statement asks of them.
    pub asked: Asked,
    /// Whether the second half of the columns gets four fifths of the statements.
    pub skewed: bool,
    /// Whether each column has an index.
    pub indexes: bool,
    /// Whether a statement may use several workers.
    pub parallel: bool,
    /// Whether statements that read the same column are served together.
    pub shared: bool,
    /// Statements of all clients together; twice as many as clients when that is more.
    pub statements: usize,
    /// What the choices of the clients follow from.
    pub seed: u64,
}

impl ScanOptions {
    /// Statements of a run with so many clients.
    pub fn statements_of(&self, clients: usize) -> usize {
        self.statements.max(2 * clients)
    }
}
