//! Runs the sqllogictest files of other projects, in the flavours of SQLite, of DuckDB and of `tests/sql`.
//!
//! Key decision: one parser and one runner for all flavours; a flavour differs only in how values are shown and compared
//! ([`Flavour`]). A record ends in one of a few outcomes that tell a wrong answer from a refused statement, and from
//! what a refused statement leads to, because only the first is a defect of what is there.
//!
//! Reading order: `script` (text to directives), `variables`, `cells` (answers to text; `duckdb_text`), `compare`, `outcome`,
//! `consequences`, `runner` (a file), `report` (all files).
//!
//! In DuckDB's flavour, statements that switch what is inside of DuckDB are skipped (`duckdb_inside` has the list), values are shown
//! as DuckDB shows them, and NULLs come last where nothing says where.
//!
//! - Invariant: a directive that is not understood is named in the report; nothing is passed over in silence.
//! - Invariant: a record is right only if its result was compared, or the script expects none.

mod cells;
mod compare;
mod consequences;
mod duckdb_inside;
mod duckdb_text;
mod outcome;
mod report;
mod runner;
mod script;
mod sessions;
mod variables;

pub use cells::Flavour;
pub use outcome::{Finding, Kind};
pub use report::{FileResult, Report};
pub use runner::{Run, Sink};
pub use sessions::Sessions;
