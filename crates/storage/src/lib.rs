//! Columns in memory: bit-packed index vectors of order-preserving codes, dictionaries, zone maps, exact statistics,
//! and how they are built from Arrow arrays and Parquet files (docs/design/01-storage.md, "changes";
//! P-HANA 4.1, 4.2).
//!
//! Key decision: a table is immutable once built, so readers need no lock and a failed load leaves nothing behind. A change
//! makes a new version that shares what did not change: rows that go are marked, rows that come are in parts of their own.
//!
//! - Invariant: the order of codes is the order of values, for every encoding but plain.
//! - Invariant: the code of NULL lies past the codes of all values; a column without NULL has none.
//! - Invariant: the same rows give the same columns, however many workers build them.
//! - Invariant: all bytes of a column lie in placed segments, never on the heap.
//!
//! - Invariant: a block of rows belongs to one part, and a code of a table's column means the same in all of them.
//!
//! Reading order: [`mod@column`], [`dictionary`], [`encode`], [`index`], [`part`], [`partition`], [`preference`], [`table`], `delta`, `tail`, `row_ids`, `row_changes`,
//! [`catalog`], then `build` and [`mod@parquet`].
#![forbid(unsafe_code)]

pub mod arriving;
mod build;
pub mod catalog;
pub mod column;
mod column_keys;
mod deletions;
mod delta;
mod dense_keys;
mod derived;
pub mod dictionary;
mod domain;
pub mod encode;
pub mod export;
pub mod files;
mod held;
mod id_map;
pub mod index;
mod index_rules;
pub mod index_vector;
mod key;
mod key_rows;
pub mod lists;
mod nested;
mod new_keys;
pub mod outside;
pub mod parallel;
pub mod parquet;
mod parquet_files;
mod parquet_groups;
pub mod part;
pub mod partition;
mod place;
pub mod plain;
pub mod preference;
pub mod regular;
mod relocate;
mod row_changes;
mod row_ids;
pub mod row_stream;
pub mod rules;
pub mod schema;
pub mod sequence;
mod stream_load;
pub mod symbols;
pub mod table;
mod tail;
pub mod traffic;
mod verify;
pub mod word;
pub mod zones;

pub use build::text_bytes;
pub use build::{
    BrokenKeys, BuildContext, COMPRESS_FROM, ColumnChange, DELTA_FROM, EverythingPutOff,
    NothingPutOff, TableBuilder,
};
pub use catalog::{Catalog, CatalogSnapshot, FUNCTION_COMMENT, IndexedRelation};
pub use column::{Column, Encoding};
pub use deletions::Deletions;
pub use dictionary::{Dictionary, Sorted, StringHeap};
pub use encode::CodeRange;
pub use export::{column_to_arrow, table_to_arrow, values_at};
pub use held::{HeldColumn, HeldValues};
pub use index::InvertedIndex;
pub use index_vector::IndexVector;
pub use key_rows::{DenseKey, KeyRows};
pub use parallel::{NoProgress, Parallel, Progress, Serial};
pub use parquet::{append_parquet, load_parquet, parquet_names, parquet_schema};
pub use parquet_files::{FileColumn, ParquetFiles};
pub use parquet_groups::ColumnBounds;
pub use part::{Part, Replica, Translation};
pub use partition::Partitioning;
pub use placement::{Placement, units};
pub use plain::{PlainStrings, PlainTexts, head};
pub use preference::{PlaceTarget, Preference, TableDesign, Wish};
pub use relocate::CopyShape;
pub use row_ids::new_row_ids;
pub use row_stream::{Check, ColumnReader, Give, RowBlock, RowReader, RowStream};
pub use rules::{IndexKind, Rules, TableIndex};
pub use schema::{ColumnSchema, arrow_type};
pub use sequence::{Counted, Counter, Logged, Sequence};
pub use stream_load::load_stream;
pub use symbols::SymbolTable;
pub use table::{Component, Table};
pub use tail::TAIL_ROWS;
pub use traffic::{ItemBytes, ItemTraffic};
pub use word::{float_of_key, float_of_word, int_of_word, word_of_float, word_of_int};
pub use zones::{Zone, Zones};

/// Rows of a zone-map block. Morsels are cut at multiples of it, or of 1024.
pub const BLOCK_ROWS: usize = 65536;
