//! Sequences, as statements say them.

use types::DataType;

/// What is said of a sequence. Where the outer is `None`, nothing is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SequenceOptions {
    /// AS.
    pub data_type: Option<DataType>,
    /// INCREMENT BY.
    pub increment: Option<i64>,
    /// MINVALUE, `None` for NO MINVALUE.
    pub min: Option<Option<i64>>,
    /// MAXVALUE, `None` for NO MAXVALUE.
    pub max: Option<Option<i64>>,
    /// START WITH.
    pub start: Option<i64>,
    /// RESTART, `None` to begin at the start.
    pub restart: Option<Option<i64>>,
    /// CACHE.
    pub cache: Option<i64>,
    /// CYCLE, or NO CYCLE.
    pub cycles: Option<bool>,
    /// OWNED BY table and column, `None` for NONE.
    pub owner: Option<Option<(String, String)>>,
    /// SEQUENCE NAME, of an identity.
    pub name: Option<String>,
}

/// What ALTER SEQUENCE does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SequenceChange {
    /// Gives it options.
    Options(SequenceOptions),
    /// RENAME TO.
    Rename(String),
}
