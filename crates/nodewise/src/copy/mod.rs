//! Rows and whole databases to files, and back: COPY .. TO, EXPORT DATABASE, IMPORT DATABASE.
//!
//! Reading order: `format`, `writing`, `to`, `from`, `schema_sql`, `databases`.

mod databases;
mod format;
mod from;
mod schema_sql;
mod to;
mod writing;
