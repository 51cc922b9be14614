//! What a user chooses of how results look.

/// A format of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A table for people
    Box,
    /// The same with characters that every terminal has
    Table,
    /// Comma-separated values with a header, NULL as an empty field
    Csv,
    /// The same, separated by tabs
    Tsv,
    /// An array of objects
    Json,
    /// An object on each line
    Jsonl,
    /// A line for each value
    Line,
    /// A table of Markdown
    Markdown,
    /// A table of HTML
    Html,
    /// A tabular of LaTeX
    Latex,
    /// Statements that insert the rows into a table
    Insert,
}

/// What a user chooses of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// The format.
    pub format: Format,
    /// What stands for NULL; what is usual in the format when not given.
    pub null: Option<String>,
    /// Whether names of columns stand above the rows, where the format leaves a choice.
    pub headers: bool,
    /// The table that INSERT statements name.
    pub table: String,
    /// Whether they give numbers to columns that number themselves.
    pub overriding: bool,
}

impl Look {
    /// What is usual in a format.
    pub fn new(format: Format) -> Self {
        Self { format, null: None, headers: true, table: "table".to_owned(), overriding: false }
    }
}

/// How results are written.
#[derive(Clone, Debug)]
pub struct OutputOptions {
    /// What the user chose.
    pub look: Look,
    /// Rows that are shown at most, in formats for people.
    pub rows_max: Option<usize>,
    /// Columns of the terminal.
    pub width: Option<usize>,
    /// Whether a line below a table tells the number of rows.
    pub footer: bool,
    /// Whether NULL is written fainter than a text of these letters.
    pub faint_null: bool,
}

impl OutputOptions {
    /// Everything, without a word more: for scripts.
    pub fn plain(look: Look) -> Self {
        Self { look, rows_max: None, width: None, footer: false, faint_null: false }
    }
}
