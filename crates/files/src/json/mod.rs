//! Files of JSON: a value per line, an array of values, or values one behind the other.
//!
//! Key decision: where each value has a line of its own, lines are records as those of CSV are, and all workers read one file.
//! Anything else is looked through by one thread, which only tells apart strings and brackets and cuts where a value has ended;
//! the pieces are read by all.
//!
//! Reading order: `layout` (how values stand), `pieces` (cutting), `shape` (what values are of), `sniff`, `value` (as values of a type),
//! `reader`, `parts` (who reads which).

mod layout;
mod parts;
mod pieces;
mod reader;
mod shape;
mod sniff;
#[cfg(test)]
mod tests;
mod value;

pub use layout::Layout;
pub use parts::{JsonReader, read_json};
pub use reader::JsonFormat;
pub use sniff::{JsonFound, JsonKnown, sniff_json};
