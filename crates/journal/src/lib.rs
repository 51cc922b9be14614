//! The log: records in the order of commits, of which all that was acknowledged outlasts a crash
//! (docs/design/09-durability.md).
//!
//! Key decision: a record says up to which record the log was durable when it was written. So, after a crash, a broken
//! record is damage if a later one proves that it had been durable, and else the end of what was being written: sectors
//! that were not synced may reach the disk in any order, so that a whole record behind a broken one proves nothing.
//!
//! Key decision: appending takes a lock for as long as a write into the cache of the OS takes; syncing is done by one of
//! those who wait, for all of them. A failure of either is final.
//!
//! - Invariant: records are numbered without a gap; what a reader was given was durable or is made so before it is used.
//! - Invariant: it knows no tables; what a record means is the business of whoever writes it.
//!
//! Reading order: [`error`], `frame` (bytes), `scan` (reading after a crash), [`log`] (writing), `inspect` (reading alone),
//! [`sealed`] (small files that are replaced whole).
#![forbid(unsafe_code)]

pub mod error;
mod frame;
mod inspect;
pub mod log;
mod scan;
pub mod sealed;

pub use error::{JournalError, JournalResult};
pub use frame::{LOG_VERSION, Lsn, Record, VERSION};
pub use inspect::{Inspected, inspect};
pub use log::{Journal, LogActivity};
pub use scan::Visit;
pub use sealed::{read_sealed, write_sealed};
