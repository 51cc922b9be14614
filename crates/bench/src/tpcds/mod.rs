//! TPC-DS: its data, its queries, and whether an answer is right.
//!
//! Key decision: answers are stored for one small scale, where they take half a megabyte; at every other scale
//! `tools/bench-compare` compares them with DuckDB's of the same run.

mod queries;
mod tables;

use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use nodewise::reference::Answer;
use nodewise::{Session, SqlResult};

use crate::record::{QueryRecord, Verdict};
use crate::workload::{Loaded, load_tables, numbered};

pub use queries::QUERIES;
pub use tables::data;

/// Where the Parquet files of a scale are when no folder is named.
pub fn default_folder(scale: f64) -> PathBuf {
    std::env::temp_dir().join(format!("nodewise-tpcds-{scale}"))
}

/// Loads the 24 tables of a folder.
pub fn load(session: &mut Session, folder: &Path) -> SqlResult<Loaded> {
    let tables = data(1.0)?.tables;
    let file = |name: &str| (name.to_owned(), folder.join(format!("{name}.parquet")));
    load_tables(session, &tables.iter().map(|it| file(it.name)).collect::<Vec<_>>())
}

/// The queries of the given numbers, all 99 when none is given; an error names a number that is none.
pub fn select(numbers: &[usize]) -> Result<Vec<QueryRecord>, usize> {
    numbered(QUERIES, numbers)
}

/// Compares an answer with the one that is stored for a scale.
pub fn judge(scale: f64) -> impl Fn(&str, &[RecordBatch]) -> Verdict {
    move |name, batches| {
        let number = QUERIES.iter().position(|it| it.0 == name);
        let Some(text) = number.and_then(|it| queries::ANSWERS.get(it)) else {
            return Verdict::Unchecked;
        };
        if scale != queries::SCALE {
            return Verdict::Unchecked;
        }
        match Answer::parse(text).and_then(|it| it.check_batches(batches)) {
            Ok(()) => Verdict::Right,
            Err(difference) => Verdict::Wrong(difference),
        }
    }
}
