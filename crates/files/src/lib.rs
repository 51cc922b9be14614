//! Files of rows as text: CSV, PostgreSQL's text format and JSON, into columns; and files of Arrow.
//!
//! Key decision: a file is read in blocks, each by the worker that comes for it. It looks where the records of its block end, whatever
//! quotes stand open where the block begins; once that is known of the blocks before, it parses the records, values straight into
//! columns. So one file keeps all workers busy, a line break between quotes is none, and no more of the text than the blocks that
//! workers are at is ever in memory. Splitting is our own, because the difference between NULL and an empty text is whether quotes stood
//! around it, which libraries for CSV do not tell.
//!
//! - Invariant: rows come in the order of the files and of their lines, however many workers read.
//! - Invariant: a value that does not fit is told with its file, line and column; nothing is guessed behind a sample.
//! - Invariant: no bytes make reading panic.
//!
//! Reading order: `dialect`, `input` (bytes), `blocks` (records), `feed` (who takes which), `fields`, `column` (values), `growing`, `reader`, `stream` (what a client sends), `sniff`,
//! `paths`, `json`, `arrow`.
#![forbid(unsafe_code)]

mod arrow;
mod blocks;
mod column;
mod dialect;
mod fault;
mod feed;
mod fields;
mod growing;
mod guess;
mod input;
mod json;
mod output;
mod paths;
mod reader;
mod repeats;
mod rows;
mod sniff;
mod spelling;
mod stops;
mod stream;
mod text_column;

pub use arrow::ArrowFile;
pub use column::constant;
pub use dialect::{Dialect, Quoting};
pub use fault::KeptPlace;
pub use guess::narrowest_type;
pub use input::{Compression, Encoding};
pub use json::{JsonFormat, JsonFound, JsonKnown, JsonReader, Layout, read_json, sniff_json};
pub use output::Output;
pub use paths::{expand, is_pattern, matching};
pub use reader::{Header, TextFormat, TextReader, read_text};
pub use rows::{GivePart, OnError, Part, Parts, RefusedRow, Rows};
pub use sniff::{Found, Known, SAMPLE_ROWS, sniff};
pub use stream::TextStream;
pub use text_column::{Columns, TextColumn, default_mark};
