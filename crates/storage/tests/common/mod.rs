//! What the tests of storage share: a machine, workers, and Arrow arrays from values.
#![allow(dead_code, reason = "each test binary uses some of it")]

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int16Array,
    Int32Array, Int64Array, RecordBatch, RecordBatchOptions, StringArray,
    TimestampMicrosecondArray,
};
use arrow_schema::{Field, Schema};
use hardware::{Topology, samples};
use memory::Allocator;
use simulator::SimulatedMachine;
use stdx::sync::atomic::{AtomicUsize, Ordering};
use stdx::sync::{Arc, Mutex};
use storage::{BuildContext, Column, ColumnSchema, Parallel, Table, TableBuilder};
use types::{DataType, SqlError, SqlResult, Value};

/// Real threads, so that races have a chance.
pub struct Threads(pub usize);

impl Parallel for Threads {
    fn run(&self, tasks: usize, body: &(dyn Fn(usize) -> SqlResult<()> + Sync)) -> SqlResult<()> {
        let (next, failed) = (AtomicUsize::new(0), Mutex::new(None::<SqlError>));
        std::thread::scope(|scope| {
            for _ in 0..self.0 {
                scope.spawn(|| {
                    loop {
                        let task = next.fetch_add(1, Ordering::Relaxed);
                        if task >= tasks || failed.lock().is_some() {
                            break;
                        }
                        if let Err(error) = body(task) {
                            failed.lock().get_or_insert(error);
                        }
                    }
                });
            }
        });
        failed.into_inner().map_or(Ok(()), Err)
    }

    fn width(&self) -> usize {
        self.0
    }
}

pub fn allocator_on(topology: Topology) -> Allocator {
    Allocator::new(SimulatedMachine::new(topology, 1))
}

pub fn allocator() -> Allocator {
    allocator_on(samples::laptop())
}

/// Values as the Arrow array that a column of the type takes.
pub fn array_of(data_type: DataType, values: &[Value]) -> ArrayRef {
    let ints = || values.iter().map(|it| it.as_i128());
    let floats = || {
        values.iter().map(|it| match it {
            Value::Float(it) => Some(*it),
            _ => None,
        })
    };
    match data_type {
        DataType::Boolean => {
            Arc::new(BooleanArray::from_iter(ints().map(|it| it.map(|it| it != 0))))
        }
        DataType::SmallInt => {
            Arc::new(Int16Array::from_iter(ints().map(|it| it.map(|it| it as i16))))
        }
        DataType::Integer => {
            Arc::new(Int32Array::from_iter(ints().map(|it| it.map(|it| it as i32))))
        }
        DataType::BigInt => {
            Arc::new(Int64Array::from_iter(ints().map(|it| it.map(|it| it as i64))))
        }
        DataType::Date => Arc::new(Date32Array::from_iter(ints().map(|it| it.map(|it| it as i32)))),
        DataType::Timestamp => {
            Arc::new(TimestampMicrosecondArray::from_iter(ints().map(|it| it.map(|it| it as i64))))
        }
        DataType::Real => {
            Arc::new(Float32Array::from_iter(floats().map(|it| it.map(|it| it as f32))))
        }
        DataType::Double => Arc::new(Float64Array::from_iter(floats())),
        DataType::Decimal { precision, scale } => Arc::new(
            Decimal128Array::from_iter(ints())
                .with_precision_and_scale(precision, scale as i8)
                .unwrap(),
        ),
        _ => Arc::new(StringArray::from_iter(values.iter().map(|it| match it {
            Value::Text(it) => Some(it.to_string()),
            _ => None,
        }))),
    }
}

pub fn batch_of(columns: &[(ColumnSchema, ArrayRef)]) -> RecordBatch {
    let fields: Vec<Field> = columns
        .iter()
        .map(|(schema, array)| Field::new(&schema.name, array.data_type().clone(), schema.nullable))
        .collect();
    let arrays = columns.iter().map(|it| it.1.clone()).collect();
    let rows = columns.first().map_or(0, |it| it.1.len());
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options).unwrap()
}

/// A table of one column `c`, its rows cut into chunks of some length.
pub fn build(
    data_type: DataType,
    values: &[Value],
    chunk: usize,
    context: &BuildContext<'_>,
) -> SqlResult<Table> {
    let schema = ColumnSchema::new("c", data_type, true);
    let builder = TableBuilder::new("t", vec![schema.clone()]);
    // Pushed backwards: the order decides, not the time.
    for (order, values) in
        values.chunks(chunk.max(1)).enumerate().collect::<Vec<_>>().into_iter().rev()
    {
        let array = array_of(data_type, values);
        builder.push(order as u64, batch_of(&[(schema.clone(), array)]))?;
    }
    builder.finish(context)
}

pub fn column_of(data_type: DataType, values: &[Value]) -> Arc<Column> {
    let allocator = allocator();
    let table = build(data_type, values, 1000, &BuildContext::serial(&allocator)).unwrap();
    table.columns[0].clone()
}

/// NaN equals NaN, and the zeros are one.
pub fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => a == b || a.is_nan() && b.is_nan(),
        _ => a == b,
    }
}

/// The order of stored values: NaN greatest, zeros equal.
pub fn less(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => {
            storage::word_of_float(*a) < storage::word_of_float(*b)
        }
        _ => a.compare(b) == Some(std::cmp::Ordering::Less),
    }
}

/// Checks every promise of a column against the values that it was built of.
pub fn check(column: &Column, values: &[Value]) {
    assert_eq!(column.rows(), values.len());
    for (row, value) in values.iter().enumerate() {
        let stored = column.value(row);
        assert!(same(&stored, value), "row {row}: {stored:?} for {value:?}");
        assert_eq!(column.is_null(row), value.is_null());
    }
    let mut distinct: Vec<&Value> = values.iter().filter(|it| !it.is_null()).collect();
    let nulls = values.len() - distinct.len();
    distinct.sort_by(|a, b| {
        if less(a, b) {
            std::cmp::Ordering::Less
        } else if less(b, a) {
            std::cmp::Ordering::Greater
        } else {
            std::cmp::Ordering::Equal
        }
    });
    distinct.dedup_by(|a, b| same(a, b));
    let facts = &column.statistics;
    assert_eq!(facts.nulls, nulls as u64);
    if facts.distinct_exact {
        assert_eq!(facts.distinct, distinct.len() as u64);
    } else {
        assert!(facts.distinct.abs_diff(distinct.len() as u64) <= 2 + distinct.len() as u64 / 20);
    }
    let is = |a: &Option<Value>, b: Option<&&Value>| match (a, b) {
        (Some(a), Some(b)) => same(a, b),
        (None, None) => true,
        _ => false,
    };
    assert!(is(&facts.min, distinct.first()), "{:?} {:?}", facts.min, distinct.first());
    assert!(is(&facts.max, distinct.last()), "{:?} {:?}", facts.max, distinct.last());
    let sorted = nulls == 0 && values.windows(2).all(|it| !less(&it[1], &it[0]));
    assert_eq!(facts.sorted, sorted);
    check_zones(column, values);
}

fn check_zones(column: &Column, values: &[Value]) {
    assert_eq!(column.zones.len(), values.len().div_ceil(storage::BLOCK_ROWS));
    for (zone, rows) in column.zones.iter().zip(values.chunks(storage::BLOCK_ROWS)) {
        let nulls = rows.iter().filter(|it| it.is_null()).count();
        assert_eq!(zone.nulls as usize, nulls);
        assert_eq!(zone.is_all_null(), nulls == rows.len());
        assert_eq!(zone.sorted, nulls == 0 && rows.windows(2).all(|it| !less(&it[1], &it[0])));
    }
    if column.code_count() > 0 {
        for (block, zone) in column.zones.iter().enumerate() {
            let start = block * storage::BLOCK_ROWS;
            let end = (start + storage::BLOCK_ROWS).min(values.len());
            let codes =
                (start..end).filter(|&it| !column.is_null(it)).map(|it| column.iv().get(it) as u32);
            let codes: Vec<u32> = codes.collect();
            if let (Some(min), Some(max)) = (codes.iter().min(), codes.iter().max()) {
                assert_eq!((zone.min_code, zone.max_code), (*min, *max));
            }
        }
    }
}
