//! Nodewise as a library: open a [`Database`] on a machine, make a [`Session`], execute SQL.
//!
//! Key decision: the Machine is handed in, so the same database runs on Linux threads and in the simulator. Everything
//! that crosses this border is plain data: SQL in, Arrow batches and [`SqlError`] out.
//!
//! Reading order: `database`, `session` (the life of a statement), `statement`, `views`, `tpch`.
//!
//! - Invariant: errors widen here; nothing below a session reaches a user in another form than [`SqlError`].
//! - Invariant: a statement sees one snapshot of the catalog; a failed statement leaves nothing behind.
#![forbid(unsafe_code)]

mod answer;
mod database;
mod ddl;
mod index_ddl;
mod parallel;
mod parameter;
pub mod picture;
mod placement;
mod plan_cache;
mod planning;
mod prepared;
pub mod profile;
mod progress;
mod result;
mod running;
mod scheduling;
mod session;
mod settings;
mod statement;
pub mod text;
pub mod tpch;
mod trace;
mod views;

pub use answer::{Answer, QueryProfile};
pub use database::{Database, DatabaseOptions};
pub use prepared::Prepared;
pub use progress::{NoProgress, Progress};
pub use scheduler::{CancelToken, StealingScope, WORKERS_MAX};
pub use session::{CancelHandle, Session};
pub use trace::Trace;
pub use types::{DataType, SqlError, SqlResult, SqlState, Value};
