//! Rows and whole databases to files, and back: COPY .. TO, EXPORT DATABASE, IMPORT DATABASE.
//!
//! Reading order: `format`, `writing`, `to`, `from`, `schema_sql`, `definition`, `databases`.

mod databases;
mod definition;
mod format;
mod from;
mod schema_sql;
mod to;
mod writing;

pub use definition::{SequenceDefinitions, TableDefinition};
