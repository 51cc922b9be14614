//! Rows and whole databases to files, and back: COPY .. TO, EXPORT DATABASE, IMPORT DATABASE.
//!
//! Reading order: `format`, `writing`, `to`, `schema_sql`, `definition`, `databases`.

mod databases;
mod definition;
mod format;
mod schema_sql;
mod to;
mod writing;

pub use definition::TableDefinition;
