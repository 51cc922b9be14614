//! Parquet files as writers make them, and as they should not be.

mod common;

use std::fs::File;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Int64Array, LargeStringArray, ListArray, RecordBatch, StringArray,
    StringViewArray, StructArray, TimestampNanosecondArray, UInt64Array,
};
use arrow_schema::{DataType as ArrowType, Field};
use common::{Threads, allocator, array_of, batch_of, check};
use parquet::arrow::ArrowWriter;
use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;
use stdx::sync::Arc;
use stdx::sync::atomic::{AtomicU64, Ordering};
use storage::{
    BuildContext, ColumnBounds, ColumnSchema, ParquetFiles, Progress, RowBlock, RowStream,
    append_parquet, load_parquet, parquet_schema,
};
use types::{ColumnId, DataType, SqlResult, SqlState, Value};

/// A file of its own for each test, gone afterwards.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("storage-{}-{name}.parquet", std::process::id())))
    }

    fn write(&self, batch: &RecordBatch, properties: WriterProperties) {
        let file = File::create(&self.0).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
        writer.write(batch).unwrap();
        writer.close().unwrap();
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn all_types(rows: i64) -> Vec<(ColumnSchema, Vec<Value>)> {
    let decimal = |precision| DataType::Decimal { precision, scale: 2 };
    let column = |name: &str, data_type, value: &dyn Fn(i64) -> Value| {
        let values = (0..rows).map(|it| if it % 11 == 3 { Value::Null } else { value(it) });
        (ColumnSchema::new(name, data_type, true), values.collect())
    };
    let scaled = |it: i128| Value::Decimal { unscaled: it, scale: 2 };
    vec![
        column("b", DataType::Boolean, &|it| Value::Boolean(it % 3 == 0)),
        column("s", DataType::SmallInt, &|it| Value::Integer(it % 100 - 50)),
        column("i", DataType::Integer, &|it| Value::Integer(it * 1000)),
        column("l", DataType::BigInt, &|it| Value::Integer(it << 35)),
        column("r", DataType::Real, &|it| Value::Float(f64::from(it as f32 / 7.0))),
        column("d", DataType::Double, &|it| Value::Float(it as f64 / 7.0)),
        column("n", decimal(15), &|it| scaled(i128::from(it) * 37)),
        column("w", decimal(38), &|it| scaled(i128::from(it % 50) << 90)),
        column("day", DataType::Date, &|it| Value::Date(it as i32 % 2500)),
        column("at", DataType::Timestamp, &|it| Value::Timestamp(it * 1_000_003)),
        column("few", DataType::Text, &|it| Value::Text(format!("value {}", it % 7).into())),
        column("many", DataType::Text, &|it| Value::Text(format!("row {it} of {rows}").into())),
    ]
}

fn batch(columns: &[(ColumnSchema, Vec<Value>)]) -> RecordBatch {
    let array = |(schema, values): &(ColumnSchema, Vec<Value>)| {
        (schema.clone(), array_of(schema.data_type, values))
    };
    batch_of(&columns.iter().map(array).collect::<Vec<_>>())
}

#[test]
fn every_type_codec_and_dictionary_setting_loads() {
    let columns = all_types(12_000);
    let written = batch(&columns);
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::BROTLI(BrotliLevel::default()),
        Compression::LZ4_RAW,
        Compression::ZSTD(ZstdLevel::default()),
    ];
    let allocator = allocator();
    for (index, codec) in codecs.into_iter().enumerate() {
        let scratch = Scratch::new(&format!("codec-{index}"));
        let properties = WriterProperties::builder()
            .set_compression(codec)
            .set_dictionary_enabled(index % 2 == 0)
            // Dictionaries that overflow in the middle of a row group fall back to plain pages.
            .set_dictionary_page_size_limit(20_000)
            .set_max_row_group_row_count(Some([5000, 100_000, 1000][index % 3]))
            .build();
        scratch.write(&written, properties);
        let threads = BuildContext { parallel: &Threads(3), ..BuildContext::serial(&allocator) };
        let table = load_parquet(scratch.path(), "t", None, &threads).unwrap();
        assert_eq!((table.rows(), table.columns.len()), (12_000, columns.len()));
        for (column, (schema, values)) in table.columns.iter().zip(&columns) {
            assert_eq!(&column.schema(), schema);
            check(column, values);
        }
    }
}

#[test]
fn declared_columns_are_found_by_name_and_converted() {
    let columns = all_types(100);
    let scratch = Scratch::new("declared");
    scratch.write(&batch(&columns), WriterProperties::default());
    let allocator = allocator();
    let context = BuildContext::serial(&allocator);
    let declared = [
        ColumnSchema::new("FEW", DataType::Varchar(10), true),
        ColumnSchema::new("s", DataType::BigInt, true),
    ];
    let table = load_parquet(scratch.path(), "t", Some(&declared), &context).unwrap();
    assert_eq!(table.columns[1].data_type, DataType::BigInt);
    check(&table.columns[0], &columns[10].1);
    check(&table.columns[1], &columns[1].1);
    let twice = append_parquet(&table, &[scratch.path().to_path_buf()], &context).unwrap();
    check(&twice.columns[0], &[columns[10].1.clone(), columns[10].1.clone()].concat());
    let error = |name: &str, data_type, nullable| {
        let declared = [
            ColumnSchema::new("s", DataType::BigInt, true),
            ColumnSchema::new(name, data_type, nullable),
        ];
        load_parquet(scratch.path(), "t", Some(&declared), &context).unwrap_err()
    };
    assert_eq!(error("nowhere", DataType::Text, true).state, SqlState::UNDEFINED_COLUMN);
    assert_eq!(error("few", DataType::Varchar(3), true).state, SqlState::STRING_TRUNCATION);
    assert_eq!(error("few", DataType::Integer, true).state, SqlState::DATATYPE_MISMATCH);
    assert_eq!(error("few", DataType::Text, false).state, SqlState::NOT_NULL_VIOLATION);
    let range = error("i", DataType::SmallInt, true);
    assert_eq!(range.state, SqlState::NUMERIC_OUT_OF_RANGE);
    assert!(range.message.contains("\"i\"") && range.message.contains("row group 0"), "{range}");
}

#[test]
fn other_arrow_types_find_theirs() {
    let texts = ["a", "b", "a"];
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("u", Arc::new(UInt64Array::from(vec![0, 1, u64::MAX]))),
        (
            "t",
            Arc::new(
                TimestampNanosecondArray::from(vec![1000, 2000, -3000]).with_timezone("+02:00"),
            ),
        ),
        ("large", Arc::new(LargeStringArray::from_iter_values(texts))),
        ("view", Arc::new(StringViewArray::from_iter_values(texts))),
        ("coded", Arc::new(texts.into_iter().collect::<DictionaryArray<Int32Type>>())),
    ];
    let scratch = Scratch::new("others");
    scratch.write(&RecordBatch::try_from_iter(columns).unwrap(), WriterProperties::default());
    let allocator = allocator();
    let table = load_parquet(scratch.path(), "t", None, &BuildContext::serial(&allocator)).unwrap();
    let unsigned = |it: i128| Value::Decimal { unscaled: it, scale: 0 };
    check(&table.columns[0], &[0, 1, i128::from(u64::MAX)].map(unsigned));
    check(&table.columns[1], &[1, 2, -3].map(Value::Timestamp));
    for column in &table.columns[2..] {
        check(column, &texts.map(|it| Value::Text(it.into())));
    }
    let (schema, rows) = parquet_schema(scratch.path()).unwrap();
    assert_eq!((schema[0].data_type.to_string().as_str(), rows), ("UBIGINT", 3));
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1)])]);
    let nested = RecordBatch::try_from_iter([
        ("ok", Arc::new(Int64Array::from(vec![1])) as ArrayRef),
        ("list", Arc::new(list)),
    ]);
    scratch.write(&nested.unwrap(), WriterProperties::default());
    let (schema, _) = parquet_schema(scratch.path()).unwrap();
    assert_eq!(schema[1].data_type.to_string(), "INTEGER[]");
    let one: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let fields = vec![(Arc::new(Field::new("a", ArrowType::Int64, false)), one.clone())];
    let nested = RecordBatch::try_from_iter([
        ("ok", one),
        ("pair", Arc::new(StructArray::from(fields)) as ArrayRef),
    ]);
    scratch.write(&nested.unwrap(), WriterProperties::default());
    let (schema, _) = parquet_schema(scratch.path()).unwrap();
    assert_eq!(schema[1].data_type.to_string(), "STRUCT(a BIGINT)");
}

#[test]
fn points_of_time_below_a_microsecond_are_not_cut_in_silence() {
    let scratch = Scratch::new("nanoseconds");
    let at: ArrayRef = Arc::new(TimestampNanosecondArray::from(vec![1000, 2001]));
    let batch = RecordBatch::try_from_iter([("at", at)]).unwrap();
    scratch.write(&batch, WriterProperties::default());
    let allocator = allocator();
    let load = load_parquet(scratch.path(), "t", None, &BuildContext::serial(&allocator));
    let error = load.map(|it| it.rows()).unwrap_err();
    assert_eq!(error.state.0, "22008");
    assert!(error.message.contains("\"at\""), "{error}");
}

#[test]
fn empty_files_load() {
    let allocator = allocator();
    let context = BuildContext::serial(&allocator);
    let scratch = Scratch::new("empty");
    scratch.write(&batch(&all_types(0)), WriterProperties::default());
    let table = load_parquet(scratch.path(), "t", None, &context).unwrap();
    assert_eq!((table.rows(), table.columns.len()), (0, 12));
}

#[test]
fn broken_files_are_named() {
    let allocator = allocator();
    let context = BuildContext::serial(&allocator);
    let scratch = Scratch::new("broken");
    let load = || load_parquet(scratch.path(), "t", None, &context).map(|it| it.rows());
    assert_eq!(load().unwrap_err().state, SqlState::UNDEFINED_FILE);
    let columns = all_types(3000);
    scratch.write(&batch(&columns), WriterProperties::default());
    let sound = std::fs::read(scratch.path()).unwrap();
    assert_eq!(load().unwrap(), 3000);
    for length in [0, 3, 7, 100, sound.len() / 2, sound.len() - 1] {
        std::fs::write(scratch.path(), &sound[..length]).unwrap();
        let error = load().unwrap_err();
        let is_recognised = length >= 4;
        let state =
            if is_recognised { SqlState::DATA_CORRUPTED } else { SqlState::BAD_FILE_FORMAT };
        assert_eq!(error.state, state, "{error}");
        assert!(error.message.contains("broken.parquet"), "{error}");
    }
    // The footer is sound, the pages are not: the column is named, or the values are merely others. One of two workers
    // finds it, or the only one.
    let two = BuildContext { parallel: &Threads(2), ..context };
    let load = |by: &BuildContext<'_>| load_parquet(scratch.path(), "t", None, by).map(|_| ());
    let mut prng = stdx::Prng::new(7);
    let mut named = 0;
    for round in 0..60 {
        let mut bytes = sound.clone();
        let at = 4 + prng.below(sound.len() as u64 / 2) as usize;
        for byte in &mut bytes[at..at + 40] {
            *byte = prng.below(256) as u8;
        }
        std::fs::write(scratch.path(), &bytes).unwrap();
        if let Err(error) = load([&context, &two][round % 2]) {
            let data = [SqlState::DATA_CORRUPTED, SqlState::NUMERIC_OUT_OF_RANGE];
            assert!(data.contains(&error.state), "{error}");
            named += usize::from(error.message.contains("row group 0, column \""));
        }
    }
    assert!(named > 0);
}

#[test]
fn what_is_no_parquet_file_is_told_so_and_a_pipe_is_never_opened() {
    let allocator = allocator();
    let context = BuildContext::serial(&allocator);
    let scratch = Scratch::new("other-format");
    let load = |path: &std::path::Path| load_parquet(path, "t", None, &context).map(|_| ());
    std::fs::write(scratch.path(), "a,b\n1,2\n").unwrap();
    let error = load(scratch.path()).unwrap_err();
    assert_eq!(error.state, SqlState::BAD_FILE_FORMAT, "{error}");
    assert!(error.message.ends_with("is not a Parquet file"), "{error}");
    let folder = load(&std::env::temp_dir()).unwrap_err();
    assert_eq!(folder.state, SqlState::UNDEFINED_FILE, "{folder}");
    if cfg!(unix) {
        let device = load(std::path::Path::new("/dev/null")).unwrap_err();
        assert_eq!(device.state, SqlState::WRONG_OBJECT_TYPE, "{device}");
        std::fs::remove_file(scratch.path()).unwrap();
        let made = std::process::Command::new("mkfifo").arg(scratch.path()).status();
        assert!(made.is_ok_and(|it| it.success()), "mkfifo is part of every Unix");
        // Nobody writes: opening it would wait for ever.
        let pipe = load(scratch.path()).unwrap_err();
        assert_eq!(pipe.state, SqlState::WRONG_OBJECT_TYPE, "{pipe}");
        assert!(parquet_schema(scratch.path()).is_err());
    }
}

#[derive(Default)]
struct Heard(AtomicU64, AtomicU64);

impl Progress for Heard {
    fn advance(&self, done: u64, total: u64) {
        self.0.fetch_max(done, Ordering::Relaxed);
        self.1.store(total, Ordering::Relaxed);
    }
}

#[test]
fn a_load_tells_its_progress_and_can_be_cancelled() {
    let allocator = allocator();
    let scratch = Scratch::new("progress");
    scratch.write(&batch(&all_types(5000)), WriterProperties::default());
    let heard = Heard::default();
    let context = BuildContext { progress: &heard, ..BuildContext::serial(&allocator) };
    load_parquet(scratch.path(), "t", None, &context).unwrap();
    assert_eq!((heard.0.into_inner(), heard.1.into_inner()), (60_000, 60_000));
    for threads in [1, 2] {
        let calls = AtomicU64::new(0);
        let cancelled = || calls.fetch_add(1, Ordering::Relaxed) > 10;
        let workers = Threads(threads);
        let context = BuildContext { parallel: &workers, ..BuildContext::serial(&allocator) };
        let context = BuildContext { cancelled: &cancelled, ..context };
        let before = allocator.usage().total().0 - allocator.usage().retained.0;
        let error = load_parquet(scratch.path(), "t", None, &context).unwrap_err();
        assert_eq!(error.state, SqlState::QUERY_CANCELED);
        assert_eq!(allocator.usage().total().0 - allocator.usage().retained.0, before);
    }
    let _ = StringArray::from(Vec::<&str>::new());
}

#[test]
fn labels_of_other_writers_are_texts() {
    let message = "message m { required binary label (ENUM); required binary raw; \
                   required group s { required binary label (ENUM); } }";
    let schema = Arc::new(parquet::schema::parser::parse_message_type(message).unwrap());
    let scratch = Scratch::new("labels");
    let file = File::create(scratch.path()).unwrap();
    let mut writer =
        parquet::file::writer::SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    while let Some(mut column) = group.next_column().unwrap() {
        let values = [parquet::data_type::ByteArray::from("sad")];
        let typed = column.typed::<parquet::data_type::ByteArrayType>();
        typed.write_batch(&values, None, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    let (columns, rows) = parquet_schema(scratch.path()).unwrap();
    let types: Vec<DataType> = columns.iter().map(|it| it.data_type).collect();
    assert_eq!(rows, 1);
    assert_eq!(types[..2], [DataType::Text, DataType::Bytea]);
    assert_eq!(types[2].to_string(), "STRUCT(label TEXT)");
}

#[test]
fn row_groups_are_left_out_where_no_row_is_wanted() {
    let scratch = Scratch::new("groups");
    let columns = all_types(1000);
    let style = WriterProperties::builder().set_max_row_group_row_count(Some(100)).build();
    scratch.write(&batch(&columns), style);
    let paths = [scratch.path().to_path_buf()];
    let (files, unread) = ParquetFiles::open(&paths, Vec::new()).unwrap();
    assert!(unread.is_empty());
    let rows = |wanted: Vec<ColumnBounds>| {
        let reader = files.begin(&[], &wanted).unwrap();
        let mut rows = 0;
        for step in 0..reader.steps() {
            let count = &mut |_, block: SqlResult<&dyn RowBlock>| {
                rows += block?.rows();
                Ok(())
            };
            reader.step(step, &|| Ok(()), count).unwrap();
        }
        rows
    };
    let between = |column: &str, low: Value, high: Value| {
        let column = files.schema().iter().position(|it| it.name == column).unwrap();
        let (low, high) = (Bound::Included(low), Bound::Excluded(high));
        vec![ColumnBounds { column: ColumnId(column as u16), low, high }]
    };
    let int = Value::Integer;
    let hundredths = |unscaled: i128| Value::Decimal { unscaled, scale: 2 };
    let text = |it: &str| Value::Text(it.into());
    assert_eq!(rows(vec![]), 1000);
    assert_eq!(rows(between("i", int(250_000), int(260_000))), 100);
    assert_eq!(rows(between("i", int(250_000), int(300_000))), 100);
    assert_eq!(rows(between("i", int(250_000), int(301_001))), 200);
    assert_eq!(rows(between("l", int(0), int(1))), 100);
    assert_eq!(rows(between("n", hundredths(37 * 950), hundredths(37 * 960))), 100);
    assert_eq!(rows(between("day", Value::Date(150), Value::Date(160))), 100);
    let (begin, end) = (Value::Timestamp(150_000_450), Value::Timestamp(160_000_480));
    assert_eq!(rows(between("at", begin, end)), 100);
    assert_eq!(rows(between("many", text("row 99"), text("row 99\u{10ffff}"))), 200);
    assert_eq!(rows(between("few", text("value 9"), text("value A"))), 0);
    // Several bounds leave what is within all of them.
    let (first, second) = (between("i", int(250_000), int(260_000)), between("l", int(0), int(1)));
    assert_eq!(rows([first, second].concat()), 0);
    // What is not told exactly leaves nothing out.
    assert_eq!(rows(between("d", Value::Float(-9.0), Value::Float(-8.0))), 1000);
    assert_eq!(rows(between("b", Value::Boolean(true), Value::Boolean(false))), 1000);
    assert_eq!(rows(between("i", text("a"), text("b"))), 1000);
}
