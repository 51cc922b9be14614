//! Files in the place of tables: what a query names, and what COPY reads.
//!
//! Reading order: `kind` (which format), `csv_options`, `copy_options`, `extra`, `opened` (schema and rows).

mod copy_options;
mod csv_options;
mod extra;
mod kind;
mod opened;
mod parquet_files;
mod values;

pub(crate) use copy_options::{CopyHeader, CopyText, Direction, Verbosity};
pub(crate) use kind::{FileKind, is_tbl};
pub(crate) use opened::{Opened, text_table};
