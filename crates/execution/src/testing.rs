//! What the tests of sinks and sources share: a team, columns of every kind, values in and out of batches.

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int64Array, RecordBatch,
    StringArray,
};
use arrow_schema::{Field, Schema};
use hardware::samples;
use memory::{Allocator, Workspace};
use scheduler::CancelToken;
use simulator::SimulatedMachine;
use stdx::sync::Arc;
use stdx::{Bytes, Prng};
use storage::{BuildContext, ColumnSchema, Table, TableBuilder};
use types::{DataType, SqlResult, Value};

pub use crate::expression::NoOutside;
use crate::scan::decode;
use crate::{
    Batch, Bitmap, ColumnShape, Layout, Representation, Team, TextVector, Values, Vector,
    WorkContext,
};

/// Runs tasks in order, slot by slot.
pub struct Serial(pub usize);

impl Team for Serial {
    fn workspace(&self) -> Arc<memory::Workspace> {
        memory::Workspace::heap()
    }

    fn slots(&self) -> usize {
        self.0
    }

    fn run(
        &self,
        tasks: usize,
        body: &(dyn Fn(usize, &WorkContext) -> SqlResult<()> + Sync),
    ) -> SqlResult<()> {
        (0..tasks).try_for_each(|task| body(task, &context(task % self.0)))
    }
}

pub fn context(slot: usize) -> WorkContext {
    let workspace = memory::Workspace::heap();
    let accesses = stdx::sync::Arc::default();
    let (node, cancel) = (hardware::NodeId(0), CancelToken::new());
    WorkContext { slot, node, cancel, workspace, accesses }
}

pub const DECIMAL: DataType = DataType::Decimal { precision: 18, scale: 2 };
pub const WIDE: DataType = DataType::Decimal { precision: 38, scale: 2 };

/// A way for a column to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Few numbers with known bounds.
    Small,
    /// Numbers far apart with known bounds.
    Spread,
    /// Any 64 bits, bounds not known.
    Any,
    Bool,
    Float,
    Wide,
    WideBounded,
    Text,
    /// Text of a column that storage built.
    Stored,
    /// The same, no two alike, so that it has no dictionary.
    Unique,
}

pub const KINDS: [Kind; 10] = [
    Kind::Small,
    Kind::Spread,
    Kind::Any,
    Kind::Bool,
    Kind::Float,
    Kind::Wide,
    Kind::WideBounded,
    Kind::Text,
    Kind::Stored,
    Kind::Unique,
];

/// A column with its values one by one.
#[derive(Clone, Debug)]
pub struct Sample {
    pub shape: ColumnShape,
    pub values: Vec<Value>,
    pub vector: Vector,
}

impl Kind {
    pub fn data_type(self) -> DataType {
        match self {
            Self::Small | Self::Spread | Self::Any => DECIMAL,
            Self::Wide | Self::WideBounded => WIDE,
            Self::Bool => DataType::Boolean,
            Self::Float => DataType::Double,
            Self::Text | Self::Stored | Self::Unique => DataType::Text,
        }
    }

    /// One of the values of this kind.
    fn value(self, number: u64) -> Value {
        let mixed = Prng::new(number).next_u64();
        let decimal = |unscaled| Value::Decimal { unscaled, scale: 2 };
        match self {
            Self::Small => decimal(i128::from(number) - 5),
            Self::Spread => decimal(i128::from(mixed as i64 >> 6)),
            Self::Any => decimal(i128::from(match number {
                0 => i64::MIN,
                1 => i64::MAX,
                _ => mixed as i64,
            })),
            Self::Wide | Self::WideBounded => {
                decimal(i128::from(mixed as i64) * 1_000_000_007 + i128::from(number))
            }
            Self::Bool => Value::Boolean(number % 2 == 1),
            Self::Float => Value::Float(match number {
                0 => f64::NAN,
                1 => -0.0,
                2 => 0.0,
                3 => f64::INFINITY,
                _ => (mixed as i64 >> 30) as f64 / 8.0,
            }),
            Self::Text | Self::Stored => text(match number {
                0 => String::new(),
                1 => "a".into(),
                2 => "a\0".into(),
                3 => "a\0b".into(),
                4 => "\u{e4}\u{6f22}".into(),
                _ => format!("text that begins alike {}", mixed % 100_000),
            }),
            Self::Unique => text(format!("{number} unique {mixed}")),
        }
    }

    /// A random column: `distinct` values at most, some more often than others.
    pub fn sample(self, rows: usize, distinct: u64, nullable: bool, prng: &mut Prng) -> Sample {
        let values: Vec<Value> = (0..rows)
            .map(|row| {
                if nullable && prng.below(7) == 0 {
                    return Value::Null;
                }
                let skewed = prng.below(distinct).min(prng.below(distinct));
                self.value(if self == Self::Unique { row as u64 } else { skewed })
            })
            .collect();
        self.held(values, nullable)
    }

    /// The values held as this kind holds them.
    pub fn held(self, values: Vec<Value>, nullable: bool) -> Sample {
        if matches!(self, Self::Stored | Self::Unique) {
            let column = stored(&[(DataType::Text, values.clone())], 1 << 20).columns[0].clone();
            let shape = decode::shape(&column);
            let rows: Vec<u32> = (0..values.len() as u32).collect();
            let vector = decode::pick(&column, None, 0, values.len(), &decode::Rows::Places(&rows));
            return Sample { shape, values, vector };
        }
        let data_type = self.data_type();
        let representation = match self {
            Self::Small | Self::Spread | Self::Any => Representation::I64,
            Self::Wide | Self::WideBounded => Representation::I128,
            Self::Bool => Representation::Bool,
            Self::Float => Representation::F64,
            _ => Representation::Text,
        };
        let numbers = values.iter().filter_map(Value::as_i128);
        let bounds = match self {
            Self::Small | Self::Spread | Self::WideBounded => {
                Some(numbers.fold((0, 0), |(low, high), it| (it.min(low), it.max(high))))
            }
            _ => None,
        };
        let shape = ColumnShape { data_type, representation, bounds, nullable };
        let vector = vector_of(&shape, &values);
        Sample { shape, values, vector }
    }
}

pub fn text(text: impl Into<String>) -> Value {
    Value::Text(text.into().into())
}

/// Values held as a shape of computed values says.
pub fn vector_of(shape: &ColumnShape, values: &[Value]) -> Vector {
    let integer = |it: &Value| it.as_i128().unwrap_or(-3);
    let held = match shape.representation {
        Representation::I64 => Values::I64(values.iter().map(|it| integer(it) as i64).collect()),
        Representation::I128 => Values::I128(values.iter().map(integer).collect()),
        Representation::Bool => Values::Bool(values.iter().map(|it| integer(it) != 0).collect()),
        Representation::F64 => {
            let float = |it: &Value| if let Value::Float(it) = it { *it } else { f64::NAN };
            Values::F64(values.iter().map(float).collect())
        }
        Representation::Text => {
            let mut texts = TextVector::default();
            values.iter().for_each(|it| match it {
                Value::Text(it) => texts.push(it),
                _ => texts.push("?"),
            });
            Values::Text(texts)
        }
        Representation::Codes(_) => panic!("codes come from columns"),
    };
    let any_null = values.contains(&Value::Null);
    let validity = any_null.then(|| Bitmap::from_bits(values.iter().map(|it| !it.is_null())));
    Vector { values: held, validity }
}

/// Batches of at most `size` rows of some columns, all of the same length.
pub fn batches(samples: &[Sample], rows: usize, size: usize) -> (Layout, Vec<Batch>) {
    let layout = samples.iter().map(|it| it.shape.clone()).collect();
    let piece = |start: usize| {
        let places: Vec<u32> = (start as u32..rows.min(start + size) as u32).collect();
        let columns = samples.iter().map(|it| Arc::new(it.vector.take(&places))).collect();
        Batch { rows: places.len(), columns, sequence: start as u64 }
    };
    (layout, (0..rows).step_by(size).map(piece).collect())
}

/// The values of batches, row by row; checks that vectors keep what their shapes promise.
pub fn rows_of(layout: &Layout, batches: &[Batch]) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    for batch in batches {
        assert_eq!(batch.columns.len(), layout.len());
        assert!(batch.rows > 0 && batch.rows <= crate::BATCH_ROWS);
        for (vector, shape) in batch.columns.iter().zip(layout) {
            assert_eq!(vector.values.len(), batch.rows);
            assert!(shape.nullable || vector.validity.is_none());
            let inside =
                |it: i128| shape.bounds.is_none_or(|(low, high)| (low..=high).contains(&it));
            let valid = |row: &usize| vector.is_valid(*row);
            match &vector.values {
                Values::I64(it) => {
                    assert!(matches!(shape.representation, Representation::I64));
                    assert!((0..batch.rows).filter(valid).all(|row| inside(it[row].into())));
                }
                Values::I128(it) => {
                    assert!(matches!(shape.representation, Representation::I128));
                    assert!((0..batch.rows).filter(valid).all(|row| inside(it[row])));
                }
                _ => {}
            }
        }
        rows.extend((0..batch.rows).map(|row| {
            batch.columns.iter().zip(layout).map(|(it, shape)| it.value(shape, row)).collect()
        }));
    }
    rows
}

/// A text that is the same for equal values: all NaN, both zeros.
pub fn token(value: &Value) -> String {
    match value {
        Value::Float(it) if it.is_nan() => "NaN".into(),
        Value::Float(it) => format!("{:?}", it + 0.0),
        other => format!("{other:?}"),
    }
}

/// A table that storage built, in chunks of some rows.
pub fn stored(columns: &[(DataType, Vec<Value>)], chunk: usize) -> Table {
    let allocator = Allocator::new(SimulatedMachine::new(hardware::samples::laptop(), 1));
    let name = |place: usize| format!("c{place}");
    let schema = columns.iter().enumerate();
    let schema = schema.map(|(place, it)| ColumnSchema::new(name(place), it.0, true)).collect();
    let builder = TableBuilder::new("t", schema);
    let rows = columns[0].1.len();
    for (order, start) in (0..rows).step_by(chunk).enumerate() {
        let end = rows.min(start + chunk);
        let arrays: Vec<ArrayRef> =
            columns.iter().map(|it| array_of(it.0, &it.1[start..end])).collect();
        let fields: Vec<Field> = (arrays.iter().enumerate())
            .map(|(place, it)| Field::new(name(place), it.data_type().clone(), true))
            .collect();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap();
        builder.push(order as u64, batch).unwrap();
    }
    let context = BuildContext::serial(&allocator);
    let index = |place: usize| {
        let columns = vec![types::ColumnId(place as u16)];
        storage::TableIndex::new(name(place), columns, storage::IndexKind::Index)
    };
    let indexes = (0..columns.len()).map(index).collect();
    let rules = Arc::new(storage::Rules { indexes, ..Default::default() });
    builder.finish(&context).unwrap().with_rules(rules, &context).unwrap()
}

/// A table cut into other parts.
pub fn cut(table: &Table, partitioning: storage::Partitioning) -> Table {
    let allocator = Allocator::new(SimulatedMachine::new(hardware::samples::laptop(), 1));
    table.repartitioned(&partitioning, &[], &BuildContext::serial(&allocator)).unwrap()
}

/// A table whose rows at some positions have gone, and to which rows have come, and the same put together anew.
pub fn changed(table: &Table, gone: &[u64], columns: &[(DataType, Vec<Value>)]) -> [Table; 2] {
    let allocator = Allocator::new(SimulatedMachine::new(hardware::samples::laptop(), 1));
    let context = BuildContext { delta_from: 0, ..BuildContext::serial(&allocator) };
    let arrays: Vec<ArrayRef> = columns.iter().map(|it| array_of(it.0, &it.1)).collect();
    let field = |(place, it): (usize, &ArrayRef)| {
        Field::new(format!("c{place}"), it.data_type().clone(), true)
    };
    let fields: Vec<Field> = arrays.iter().enumerate().map(field).collect();
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap();
    let changed = table.changed(gone, &[batch], &context).unwrap();
    assert!(changed.has_changed());
    let merged = changed.merged(&context).unwrap();
    [changed, merged]
}

fn array_of(data_type: DataType, values: &[Value]) -> ArrayRef {
    let ints = || values.iter().map(Value::as_i128);
    match data_type {
        DataType::Boolean => {
            Arc::new(BooleanArray::from_iter(ints().map(|it| it.map(|it| it != 0))))
        }
        DataType::BigInt => {
            Arc::new(Int64Array::from_iter(ints().map(|it| it.map(|it| it as i64))))
        }
        DataType::Date => Arc::new(Date32Array::from_iter(ints().map(|it| it.map(|it| it as i32)))),
        DataType::Double => Arc::new(Float64Array::from_iter(values.iter().map(|it| match it {
            Value::Float(it) => Some(*it),
            _ => None,
        }))),
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

/// A column of texts that storage compressed.
pub fn compressed_texts(texts: &[String]) -> storage::Column {
    let allocator = Allocator::new(SimulatedMachine::new(hardware::samples::laptop(), 1));
    let context = BuildContext { compress_from: 0, ..BuildContext::serial(&allocator) };
    let schema = vec![ColumnSchema::new("text", DataType::Text, true)];
    let builder = TableBuilder::new("texts", schema);
    let field = Field::new("text", arrow_schema::DataType::Utf8, true);
    let array: ArrayRef = std::sync::Arc::new(StringArray::from_iter_values(texts));
    let batch = RecordBatch::try_new(std::sync::Arc::new(Schema::new(vec![field])), vec![array]);
    builder.push(0, batch.unwrap()).unwrap();
    let table = builder.finish(&context).unwrap();
    let column = (*table.parts()[0].columns[0]).clone();
    assert_eq!(column.encoding_name(), "fsst");
    column
}

/// A team whose statement has no memory left for tables.
pub(crate) struct Tight {
    pub(crate) workspace: Arc<Workspace>,
    slots: usize,
}

impl Tight {
    pub(crate) fn new(slots: usize) -> Self {
        let machine = SimulatedMachine::new(samples::four_sockets(), 1);
        let workspace = Arc::new(Workspace::new(&Allocator::new(machine)));
        workspace.account().set_limit(Some(Bytes(0)));
        Self { workspace, slots }
    }

    pub(crate) fn context(&self, slot: usize) -> WorkContext {
        WorkContext { workspace: self.workspace.clone(), ..context(slot) }
    }
}

impl Team for Tight {
    fn workspace(&self) -> Arc<Workspace> {
        self.workspace.clone()
    }

    fn slots(&self) -> usize {
        self.slots
    }

    fn run(
        &self,
        tasks: usize,
        body: &(dyn Fn(usize, &WorkContext) -> SqlResult<()> + Sync),
    ) -> SqlResult<()> {
        (0..tasks).try_for_each(|task| body(task, &self.context(task % self.slots)))
    }
}
