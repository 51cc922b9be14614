//! A workload in the manner of ClickBench: one table of web hits with 105 columns, and 43 queries.
//!
//! Key decision: the rows are made, as the real ones are 15 GB that nobody can make again. They have the columns of the
//! real ones and follow what is known of them (how many values are distinct, how many are empty, how skewed they are);
//! each row follows from its number, so that parts are made in any order.
//!
//! Reading order: `words`, `hit`, `columns`.

mod columns;
mod hit;
mod words;

use std::path::{Path, PathBuf};

use nodewise::made_files::{Batches, MadeData, MadeTable};
use nodewise::{Session, SqlError, SqlResult, SqlState};

use crate::made::sources_of_part;
use crate::record::QueryRecord;
use crate::workload::{Loaded, load_tables, numbered};
use hit::Hit;

/// Rows that are made at a time.
const BATCH_ROWS: u64 = 8 << 10;

macro_rules! texts {
    ($($number:literal)+) => {
        &[$((
            concat!("q", $number),
            include_str!(concat!("../../queries/clickbench/q", $number, ".sql")),
        )),+]
    };
}

/// Name (`q01` to `q43`) and text of each query. Thresholds and offsets fit a million rows.
pub static QUERIES: &[(&str, &str)] = texts!(
    "01" "02" "03" "04" "05" "06" "07" "08" "09" "10" "11" "12" "13" "14" "15" "16" "17" "18" "19" "20" "21" "22"
    "23" "24" "25" "26" "27" "28" "29" "30" "31" "32" "33" "34" "35" "36" "37" "38" "39" "40" "41" "42" "43"
);

/// Where the Parquet file of so many rows is when no folder is named.
pub fn default_folder(rows: u64) -> PathBuf {
    std::env::temp_dir().join(format!("nodewise-clickbench-{rows}"))
}

/// The table with so many rows.
pub fn data(rows: u64) -> SqlResult<MadeData> {
    if !(1..=100_000_000_000).contains(&rows) {
        let message = format!("no table of hits has {rows} rows");
        return Err(SqlError::new(SqlState::INVALID_PARAMETER, message)
            .with_hint("it may have from 1 to 100000000000"));
    }
    let hits = MadeTable {
        name: "hits",
        schema: columns::schema(),
        rows: rows as i64,
        part: Box::new(move |part, parts| part_of(rows, part, parts)),
    };
    Ok(MadeData {
        title: "the table of hits",
        marker: "nodewise-clickbench.txt",
        maker: "hits, layout 1",
        size: format!("{rows} rows"),
        tables: vec![hits],
    })
}

/// Part N of M of all rows.
fn part_of(rows: u64, part: i32, parts: i32) -> Batches {
    let (mut next, end) = sources_of_part(rows, part, parts);
    let schema = columns::schema();
    Box::new(std::iter::from_fn(move || {
        let until = end.min(next + BATCH_ROWS);
        let hits: Vec<Hit> = (next..until).map(|row| Hit::new(row, rows)).collect();
        next = until;
        (!hits.is_empty()).then(|| columns::batch(schema.clone(), &hits))
    }))
}

/// Loads the table of a folder.
pub fn load(session: &mut Session, folder: &Path) -> SqlResult<Loaded> {
    load_tables(session, &[("hits".to_owned(), folder.join("hits.parquet"))])
}

/// The queries of the given numbers, all 43 when none is given; an error names a number that is none.
pub fn select(numbers: &[usize]) -> Result<Vec<QueryRecord>, usize> {
    numbered(QUERIES, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_the_same_in_any_parts() {
        let table = data(3000).unwrap().tables.remove(0);
        assert_eq!(table.schema.fields().len(), 105);
        let rows = |parts| -> Vec<String> {
            let batches = (1..=parts).flat_map(|part| (table.part)(part, parts));
            let text = |it: Result<arrow_array::RecordBatch, _>| {
                let batch = it.unwrap();
                (0..batch.num_rows())
                    .map(|row| format!("{:?}", batch.slice(row, 1)))
                    .collect::<Vec<_>>()
            };
            batches.flat_map(text).collect()
        };
        let whole = rows(1);
        assert_eq!(whole.len(), 3000);
        assert!(whole == rows(7));
        assert!(data(0).is_err());
    }
}
