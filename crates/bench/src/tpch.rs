//! TPC-H: its data, its queries, and whether an answer is right.

use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use nodewise::tpch::{TABLES, check, data, has_reference, queries};
use nodewise::{Database, Progress, Session, SqlResult};
use stdx::Nanos;

use crate::record::{QueryRecord, Verdict};
use crate::workload::{Loaded, load_tables, numbered, provide};

/// Where the Parquet files of a scale are when no folder is named.
pub fn default_folder(scale: f64) -> PathBuf {
    std::env::temp_dir().join(format!("nodewise-tpch-{scale}"))
}

/// Sees to it that a folder holds the Parquet files of a scale, as [`provide`] does.
pub fn provide_data(
    database: &Database,
    folder: &Path,
    scale: f64,
    progress: &dyn Progress,
) -> SqlResult<Option<Nanos>> {
    provide(database, folder, &data(scale)?, progress)
}

/// Loads the eight tables of a folder.
pub fn load(session: &mut Session, folder: &Path) -> SqlResult<Loaded> {
    let file = |table: &str| (table.to_owned(), folder.join(format!("{table}.parquet")));
    load_tables(session, &TABLES.map(file))
}

/// The queries of the given numbers, all 22 when none is given; an error names a number that is none.
pub fn select(numbers: &[usize]) -> Result<Vec<QueryRecord>, usize> {
    numbered(queries(), numbers)
}

/// Compares an answer with the one that is stored for a scale.
pub fn judge(scale: f64) -> impl Fn(&str, &[RecordBatch]) -> Verdict {
    move |name, batches| match check(name, scale, batches) {
        _ if !has_reference(scale) => Verdict::Unchecked,
        Ok(()) => Verdict::Right,
        Err(difference) => Verdict::Wrong(difference),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_selected_by_number() {
        let names = |numbers: &[usize]| -> Vec<String> {
            select(numbers).unwrap().into_iter().map(|it| it.name).collect()
        };
        assert_eq!(names(&[]).len(), 22);
        assert_eq!(names(&[6, 1, 6]), ["q01", "q06"]);
        assert_eq!(select(&[1, 23]).unwrap_err(), 23);
        assert_eq!(select(&[0]).unwrap_err(), 0);
    }
}
