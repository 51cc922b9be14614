//! Rows and whole databases to files, and back, rows also to clients: COPY .. TO, EXPORT DATABASE, IMPORT DATABASE.
//!
//! Reading order: `style`, `format`, `writing`, `to`, `from`, `client` (STDIN and STDOUT), `schema_sql`, `definition`, `databases`.

mod client;
mod databases;
mod definition;
mod format;
mod from;
mod schema_sql;
mod style;
mod to;
mod writing;

pub use client::{CopyIn, CopyOut};
pub use definition::{SequenceDefinitions, TableDefinition};
pub use format::CopyFormat;
pub use style::{LineStyle, LineWriter};
