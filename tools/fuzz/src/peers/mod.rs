//! Those who answer statements: Nodewise, PostgreSQL, DuckDB.

pub mod duckdb;
pub mod nodewise;
pub mod postgres;
pub mod reply;
