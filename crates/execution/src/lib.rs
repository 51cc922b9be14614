//! Runs plans: vectorised, push-based, morsel-driven pipelines over packed codes (docs/design/04-execution.md; P-HYPER
//! 2 to 4).
//!
//! Key decision: a batch is dense and typed by a [`Layout`] that is fixed when the plan is lowered. Text stays a
//! dictionary code or a position, and decimals stay 64-bit integers, as long as the layout proves that this is right.
//!
//! Reading order: `vector`, `layout`, `work`, `operator` (the three interfaces), `expression`, `scan`, then the sinks, `lower`,
//! `query`, which drives the pipelines of a plan over the scheduler, and `driver`, which orders and runs them.
//!
//! - Invariant: no operator knows a thread; local state is found by slot.
//! - Invariant: every source of rows x worker count x schedule gives the same rows.
#![deny(unsafe_code)]

pub mod aggregate;
pub mod arrow;
mod co_location;
mod context;
mod control;
mod driver;
mod exchange;
pub mod expression;
pub mod filter;
pub mod join;
pub mod layout;
mod leveled;
mod lookups;
mod lower;
pub mod materialize;
mod notes;
pub mod operator;
mod partitions;
mod pieces;
pub mod profile;
pub mod project;
pub mod query;
mod regions;
pub mod repeat;
mod report;
pub mod scan;
pub mod sort;
mod sources;
mod spill;
pub mod state;
mod states;
mod steps;
mod team;
#[cfg(test)]
mod testing;
mod traffic;
mod value;
pub mod vector;
mod window;
pub mod work;

pub use co_location::PartMap;
pub use context::QueryContext;
pub use control::{QueryControl, cancelled, check, check_memory, is_ended};
pub use exchange::{ExchangeMode, Surroundings};
pub use layout::{ColumnShape, Layout, Representation};
pub use notes::placement_notes;
pub use operator::{Next, Operator, Resume, Sink, Source, Take};
pub use profile::{StepName, StepReport};
pub use query::{Executed, RowStream, execute};
pub use regions::map_batches;
pub use report::PipelineReport;
pub use spill::Kept;
pub use state::{Rows, State};
pub use team::{JobSettings, QueryTeam};
pub use traffic::{Accesses, Item, ItemRead, Place, Traffic};
pub use value::text_of;
pub use vector::{BATCH_ROWS, Batch, Bitmap, TextVector, Values, Vector};
pub use work::{PerSlot, Team, WorkContext};
