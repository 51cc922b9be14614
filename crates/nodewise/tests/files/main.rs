//! Files in the place of tables, COPY, and frames of a caller.

mod arrow_files;
#[path = "../common/mod.rs"]
mod common;
mod copy_options;
mod csv_files;
mod files;
mod frames;
mod json_files;
mod parquet_groups;
#[path = "../common/scratch.rs"]
mod scratch;
