//! Columns of files of text.

use types::DataType;

/// A column of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextColumn {
    /// Its name.
    pub name: String,
    /// The type that its values are read as.
    pub data_type: DataType,
    /// Whether it is read at all.
    pub wanted: bool,
    /// Whether a NULL in it is an error (23502).
    pub required: bool,
    /// Whether places of rows with NULL in it are noted.
    pub noted: bool,
    /// Whether what stands for NULL does so between quotes, too.
    pub force_null: bool,
    /// Whether what stands for NULL is a text.
    pub force_not_null: bool,
    /// Whether there is a default that a text may stand for.
    pub has_default: bool,
}

impl TextColumn {
    /// A column that is read.
    pub fn new(name: impl Into<String>, data_type: DataType) -> Self {
        Self {
            name: name.into(),
            data_type,
            wanted: true,
            required: false,
            noted: false,
            force_null: false,
            force_not_null: false,
            has_default: false,
        }
    }
}

/// The columns of a file, in their order in it.
pub type Columns = [TextColumn];

/// The name of the column that says where the default of a column is meant.
pub fn default_mark(column: &str) -> String {
    format!("default of {column}")
}
