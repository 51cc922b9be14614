//! What makes a database last: its log, and what is read back of it (docs/design/09-durability.md).
//!
//! Key decision: a transaction is logged as what it did to tables, by position and value, never as the texts of its
//! statements; replaying calls the functions that ran, so that positions that later records name are the same again.
//!
//! Reading order: `state`, `definition`, `sequence_form`, `view_form`, `column_form`, `row_run`, `operation`, `commit`, `replay`, `history`, `table_files`, `loads`, `checkpoint`,
//! `cutting`, `opening`, `check`, `backup`, `background`.
//!
//! - Invariant: the order of the log is the order of commits, and a snapshot shows nothing that is not durable.

mod background;
mod backup;
mod check;
mod checkpoint;
mod column_form;
mod commit;
mod cutting;
mod definition;
mod history;
mod loads;
mod opening;
mod operation;
mod refusal;
mod replay;
mod row_run;
mod sequence_form;
mod state;
mod table_files;
mod view_form;

pub use check::{CheckedTable, FolderCheck};
pub(crate) use column_form::values_of;
pub(crate) use loads::{FILES_FROM, Load};
pub(crate) use operation::Operation;
pub(crate) use refusal::journal_error;
pub(crate) use state::{CUT_FROM, Durability};
