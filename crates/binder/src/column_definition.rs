//! Columns as CREATE TABLE and ALTER TABLE say them.

use types::DataType;
use types::numeric::interval_text::Fields;

use crate::sequence::SequenceOptions;
use crate::user_types::TypeName;

/// A column of CREATE TABLE.
#[derive(Clone, PartialEq, Debug)]
pub struct ColumnDefinition {
    /// Its name.
    pub name: String,
    /// Its type; of one that users made `Null`, until it is found by its name, and of a generated column that has the type of its
    /// expression.
    pub data_type: DataType,
    /// The name of its type, if users made it.
    pub type_name: Option<TypeName>,
    /// The domain that it is of ([`types::names::joined`]), once it is found by its name.
    pub domain: Option<String>,
    /// What it keeps of times or intervals, if its type says it: `TIMESTAMP(3)`.
    pub fields: Option<Fields>,
    /// Whether it may hold NULL.
    pub nullable: bool,
    /// The expression of its default.
    pub default: Option<String>,
    /// Whether it is numbered by itself.
    pub numbering: Option<Numbering>,
    /// Whether its default is what it is generated of.
    pub generation: Option<Generation>,
}

/// How a column that is generated of others is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Generation {
    /// STORED.
    Stored,
    /// VIRTUAL.
    Virtual,
}

/// How a column is numbered by itself.
#[derive(Clone, PartialEq, Debug)]
pub enum Numbering {
    /// SERIAL: its default is the next number of a sequence that it owns.
    Serial,
    /// GENERATED AS IDENTITY.
    Identity {
        /// ALWAYS, and not BY DEFAULT.
        always: bool,
        /// Of its sequence.
        options: SequenceOptions,
    },
}
