//! Files in the place of tables: what a query names, and what COPY reads.
//!
//! Reading order: `kind` (which format), `csv_options`, `copy_options`, `copy_json`, `json_options`, `extra`, `parts_rows` (what makes rows), `text_files`, `json_files`, `arrow_files`, `parquet_files`, `watched`, `opened`, `tables`.

mod arrow_files;
mod copy_json;
mod copy_options;
mod csv_options;
mod extra;
mod json_files;
mod json_options;
mod kind;
mod opened;
mod parquet_files;
mod parts_rows;
mod tables;
mod text_files;
mod values;
mod watched;

pub(crate) use copy_json::CopyJson;
pub(crate) use copy_options::{AskedOfRows, CopyHeader, CopyText, Direction, Verbosity};
pub(crate) use extra::NULL_FOLDER;
pub(crate) use kind::{FileKind, is_tbl};
pub(crate) use opened::Opened;
pub(crate) use tables::text_table;
pub(crate) use values::is_on;
