//! Tables as bytes, and back: exactly the same columns, codes, statistics and indexes (docs/design/10-files.md).
//!
//! Key decision: a file holds the segments of memory as they are, each from a page on, so that reading is copying, or
//! nothing at all for a file that is mapped. A part is a file of its own, which depends on nothing else of its table: a checkpoint
//! writes the parts that are new. What parts share, and what may change without them, is in the file of the table.
//!
//! - Invariant: nothing here opens files; who calls brings a [`Sink`] or a [`Source`].
//! - Invariant: no bytes make reading panic, or take more memory than a multiple of their length. Damage is XX001, a
//!   file of a later build is 0A000.
//! - Invariant: what is not understood is an error: a field that nobody asked for ends the reading.
//!
//! Reading order: [`Sink`] and [`Source`], `record`, `container`, `values`, `design`, `column`, `table`.

mod column;
mod container;
mod design;
mod medium;
mod record;
mod table;
mod values;

pub use container::{VERSION, check};
pub use medium::{Sink, Source};
pub use table::{PartStamp, part_stamp, read_table, write_part, write_table};
