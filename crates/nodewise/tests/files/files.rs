//! Parquet files in place of tables: columns that nobody asks for are not read, whatever they hold.

use std::fs::File;
use std::path::PathBuf;

use arrow_array::builder::{Int32Builder, ListBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, Int64Array, ListArray, RecordBatch, StringArray, StructArray,
    Time64MicrosecondArray,
};
use hardware::samples;
use nodewise::text::Cells;
use nodewise::{Database, DatabaseOptions, Session};
use parquet::arrow::ArrowWriter;
use parquet::file::reader::{FileReader, SerializedFileReader};
use simulator::SimulatedMachine;
use stdx::sync::Arc;
use types::{SqlError, SqlResult, SqlState};

/// A file of its own for each test, gone afterwards.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, columns: Vec<(&str, ArrayRef)>) -> Self {
        let path = format!("nodewise-{}-{name}.parquet", std::process::id());
        let path = std::env::temp_dir().join(path);
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let file = File::create(&path).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        Self(path)
    }

    /// The first value of an answer as text, with the path in the place of FILE.
    fn ask(&self, session: &mut Session, sql: &str) -> SqlResult<String> {
        let sql = sql.replace("FILE", &format!("'{}'", self.0.display()));
        let answer = session.query(&sql)?;
        let column = answer.batches.first().map(|it| it.column(0));
        Ok(column.and_then(|it| Cells::new(it).text(0)).unwrap_or_default())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Columns of every kind of type that nobody stores, between two that are stored.
fn mixed() -> Vec<(&'static str, ArrayRef)> {
    let mut lists = ListBuilder::new(ListBuilder::new(Int32Builder::new()));
    for it in 0..3 {
        lists.values().values().append_value(it);
        lists.values().append(true);
        lists.append(true);
    }
    let inner: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    vec![
        ("id", Arc::new(Int64Array::from(vec![1, 2, 3])) as ArrayRef),
        ("tags", Arc::new(lists.finish())),
        ("point", Arc::new(StructArray::try_from(vec![("x", inner)]).unwrap())),
        ("raw", Arc::new(BinaryArray::from(vec![&b"a"[..], b"b", b"c"]))),
        ("at", Arc::new(Time64MicrosecondArray::from(vec![1, 2, 3]))),
        ("name", Arc::new(StringArray::from(vec!["a", "b", "a"]))),
    ]
}

fn session() -> Session {
    let topology = samples::by_name("laptop").expect("a sample machine");
    let machine = SimulatedMachine::new(topology, 1);
    Database::open(machine, DatabaseOptions::default()).expect("opens").session()
}

#[test]
fn a_column_that_cannot_be_stored_hides_no_other() {
    let file = Scratch::new("mixed", mixed());
    let mut session = session();
    for (sql, expected) in [
        ("SELECT count(*) FROM FILE", "3"),
        ("SELECT max(id) FROM FILE", "3"),
        ("SELECT f.name FROM FILE f WHERE f.id = 2", "b"),
        ("SELECT count(*) FROM FILE a JOIN FILE b USING (name)", "5"),
        ("SELECT count(a.*) FROM FILE a", "3"),
        ("WITH f AS (SELECT id * 2 AS twice FROM FILE) SELECT sum(twice) FROM f", "12"),
    ] {
        assert_eq!(file.ask(&mut session, sql).expect(sql), expected, "{sql}");
    }
    let whole = "CREATE TABLE t AS SELECT id, name FROM FILE";
    file.ask(&mut session, whole).expect("its other columns are loaded");
    assert_eq!(file.ask(&mut session, "SELECT count(name) FROM t").expect("a table"), "3");
}

#[test]
fn lists_are_arrays() {
    let list = |it: i32| (it > 0).then(|| vec![Some(it), None]);
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>((0..3).map(list));
    let file = Scratch::new("lists", vec![("tags", Arc::new(lists) as ArrayRef)]);
    let mut session = session();
    for (sql, expected) in [
        ("SELECT max(tags) FROM FILE", "{2,NULL}"),
        ("SELECT sum(x) FROM FILE f, unnest(f.tags) x", "3"),
        ("SELECT count(*) FROM FILE WHERE tags IS NULL", "1"),
        ("SELECT count(*) FROM FILE WHERE 2 = ANY(tags)", "1"),
    ] {
        assert_eq!(file.ask(&mut session, sql).expect(sql), expected, "{sql}");
    }
    let path = file.0.display();
    let sql = format!("SELECT tags FROM '{path}' ORDER BY tags");
    let answer = session.query(&sql).unwrap().with_lists().unwrap();
    let column = answer.batches[0].column(0);
    let column = column.as_any().downcast_ref::<ListArray>().expect("lists of Arrow");
    assert_eq!((column.len(), column.value(1).len(), column.is_null(2)), (3, 2, true));
}

#[test]
fn what_uses_a_column_that_cannot_be_stored_names_it_and_its_type() {
    let file = Scratch::new("named", mixed());
    let mut session = session();
    for (sql, column, data_type) in [
        ("SELECT tags FROM FILE", "tags", "List"),
        ("SELECT count(*) FROM FILE WHERE tags IS NOT NULL", "tags", "List"),
        ("SELECT count(*) FROM FILE a NATURAL JOIN FILE b", "tags", "List"),
        ("SELECT * FROM FILE", "tags", "List"),
        ("SELECT f.* FROM FILE f", "tags", "List"),
        ("SELECT a FROM FILE AS f (a)", "tags", "List"),
        ("CREATE TABLE t AS SELECT * FROM FILE", "tags", "List"),
    ] {
        let SqlError { state, message, .. } = file.ask(&mut session, sql).expect_err(sql);
        assert_eq!(state, SqlState::FEATURE_NOT_SUPPORTED, "{sql}: {message}");
        assert!(message.contains(&format!("\"{column}\"")), "{sql}: {message}");
        assert!(message.contains(data_type), "{sql}: {message}");
    }
    let point = file.ask(&mut session, "SELECT max((f.point).x) FROM FILE f");
    assert_eq!(point.expect("a field of a struct"), "3");
    let error = file.ask(&mut session, "SELECT nam FROM FILE").expect_err("a misspelt name");
    assert_eq!(error.state, SqlState::UNDEFINED_COLUMN);
    assert_eq!(error.hint.as_deref(), Some("did you mean \"name\"?"));
}

/// A column whose bytes are no pages any more tells whether it was read.
#[test]
fn only_columns_that_a_statement_names_are_read() {
    let file = Scratch::new("narrow", mixed());
    let reader = SerializedFileReader::new(File::open(&file.0).unwrap()).unwrap();
    let (start, length) = reader.metadata().row_group(0).column(0).byte_range();
    let mut bytes = std::fs::read(&file.0).unwrap();
    bytes[start as usize..(start + length) as usize].fill(0xff);
    std::fs::write(&file.0, bytes).unwrap();
    let mut session = session();
    let error = file.ask(&mut session, "SELECT max(id) FROM FILE").expect_err("it was read");
    assert_eq!(error.state, SqlState::DATA_CORRUPTED);
    for (sql, expected) in [
        ("SELECT max(name) FROM FILE", "b"),
        ("SELECT count(*) FROM FILE", "3"),
        ("SELECT count(*) * 2 FROM FILE WHERE name = 'a'", "4"),
    ] {
        assert_eq!(file.ask(&mut session, sql).expect(sql), expected, "{sql}");
    }
}
