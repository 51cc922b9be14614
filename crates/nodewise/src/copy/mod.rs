//! Rows and whole databases to files, and back, rows also to clients: COPY .. TO, EXPORT DATABASE, IMPORT DATABASE.
//!
//! Reading order: `style`, `format`, `writing`, `partitioned`, `to`, `from`, `client` (STDIN and STDOUT), `schema_sql`, `definition`, `databases`.

mod client;
mod databases;
mod definition;
mod filled;
mod format;
mod from;
mod parquet_style;
mod partitioned;
mod schema_sql;
mod style;
mod to;
mod writing;

pub use client::{CopyIn, CopyOut};
pub use definition::{SequenceDefinitions, TableDefinition};
pub use format::{ArrowCompression, CopyFormat};
pub use parquet_style::ParquetStyle;
pub(crate) use schema_sql::type_sql;
pub use style::{LineStyle, LineWriter};
