//! TPC-H data made once per test run, and databases that hold it.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::path::PathBuf;

use arrow_array::RecordBatch;
use hardware::Machine;
use nodewise::text::Cells;
use nodewise::{Database, DatabaseOptions, NoProgress, Session, tpch};
use stdx::sync::Arc;

/// A folder with the eight Parquet files of a scale.
pub fn data(scale: f64) -> PathBuf {
    // Tests of one binary share the folder. A panic in another test does no harm to it.
    static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(|it| it.into_inner());
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("tpch-{scale}"));
    tpch::generate(&folder, scale, &storage::Serial, &NoProgress).expect("the data is generated");
    folder
}

/// A database on a machine with the tables of a scale loaded.
pub fn loaded(machine: Arc<dyn Machine>, workers: Option<usize>, scale: f64) -> Arc<Database> {
    loaded_after(machine, workers, scale, "SET text_compression = auto")
}

/// The same, with a setting for the session that loads.
pub fn loaded_after(
    machine: Arc<dyn Machine>,
    workers: Option<usize>,
    scale: f64,
    setting: &str,
) -> Arc<Database> {
    let folder = data(scale);
    let options = DatabaseOptions { workers, ..DatabaseOptions::default() };
    let database = Database::open(machine, options).expect("the database opens");
    let mut session = database.session();
    session.execute(setting).expect("the setting is known");
    for table in tpch::TABLES {
        let path = folder.join(format!("{table}.parquet"));
        let sql = format!("CREATE TABLE {table} AS SELECT * FROM '{}'", path.display());
        session.execute(&sql).expect("the table is loaded");
    }
    database
}

/// Runs the 22 queries and returns what was wrong.
pub fn wrong_answers(session: &mut Session, scale: f64) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, sql) in tpch::queries() {
        match session.query(sql) {
            Ok(answer) => {
                wrong.extend(
                    tpch::check(name, scale, &answer.batches)
                        .err()
                        .map(|it| format!("{name}: {it}")),
                );
            }
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
    }
    wrong
}

/// The rows of an answer as texts, in the order of the texts.
pub fn sorted_texts(batches: &[RecordBatch]) -> Vec<String> {
    let mut rows = texts(batches, " ", "NULL");
    rows.sort();
    rows
}

/// The rows of an answer as texts: their values, with something between them, and something for NULL.
pub fn texts(batches: &[RecordBatch], between: &str, null: &str) -> Vec<String> {
    let mut rows = Vec::new();
    for batch in batches {
        let columns: Vec<Cells<'_>> = batch.columns().iter().map(Cells::new).collect();
        let text = |row| {
            let cells = columns.iter().map(|it| it.text(row).unwrap_or_else(|| null.into()));
            cells.collect::<Vec<_>>().join(between)
        };
        rows.extend((0..batch.num_rows()).map(text));
    }
    rows
}
