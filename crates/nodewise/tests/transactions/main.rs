//! What statements change, in transactions and beside one another.

mod advisory_locks;
mod alter_columns;
mod bank;
mod changes;
mod commit_latency;
#[path = "../common/mod.rs"]
mod common;
mod foreign_keys;
mod row_locks;
mod sequences;
mod transactions;
mod writers;
