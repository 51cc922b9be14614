//! Rows in the binary format of COPY, as clients send them.
//!
//! - Invariant: no bytes make reading panic, and none take memory before they are there.

use arrow_array::builder::{
    BooleanBuilder, Date32Builder, Decimal128Builder, Float32Builder, Float64Builder, Int64Builder,
    StringBuilder, TimestampMicrosecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema};
use bytes::{Buf, BytesMut};
use nodewise::pg_types::wire_type;
use nodewise::{DataType, SqlError, SqlResult, SqlState, Value};
use stdx::sync::Arc;
use types::{Charset, Zone, numeric};

use crate::parameter_values::value;
use crate::replies::Format;
use crate::rows::BINARY_HEAD;

/// Rows of a batch.
const BATCH_ROWS: usize = 64 << 10;
/// Where the flags stand in the head, and the length of what follows it.
const SIGNATURE_BYTES: usize = 11;
/// A flag that says that rows have numbers, which no PostgreSQL since 12 has.
const WITH_OIDS: u32 = 1 << 16;

/// Rows that come in pieces of any size.
pub struct BinaryRows {
    table: String,
    names: Vec<String>,
    types: Vec<DataType>,
    columns: Vec<Column>,
    /// Rows in the columns.
    rows: usize,
    /// Rows before them.
    before: u64,
    bytes: BytesMut,
    state: State,
    charset: Charset,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Head,
    Rows,
    /// The mark of the end has come.
    Ended,
}

/// The values of a column as tables hold them.
enum Column {
    Boolean(BooleanBuilder),
    Integer(Int64Builder),
    Real(Float32Builder),
    Double(Float64Builder),
    Decimal(Decimal128Builder, DataType),
    Date(Date32Builder),
    Timestamp(TimestampMicrosecondBuilder),
    Interval(Decimal128Builder),
    Text(StringBuilder, DataType),
}

impl BinaryRows {
    /// For a table, with such columns, by a client of a character set.
    pub fn new(table: &str, columns: &[(&str, DataType)], charset: Charset) -> Self {
        let types: Vec<DataType> = columns.iter().map(|it| it.1).collect();
        Self {
            table: table.to_owned(),
            names: columns.iter().map(|it| it.0.to_owned()).collect(),
            columns: types.iter().map(|it| Column::new(*it)).collect(),
            types,
            rows: 0,
            before: 0,
            bytes: BytesMut::new(),
            state: State::Head,
            charset,
        }
    }

    /// Takes in what comes next; gives rows when there are many. Errors: 22P04, 22P03, and those of values.
    pub fn push(&mut self, bytes: &[u8]) -> SqlResult<Option<RecordBatch>> {
        self.bytes.extend_from_slice(bytes);
        if self.state == State::Head && !self.head()? {
            return Ok(None);
        }
        while self.state == State::Rows && self.rows < BATCH_ROWS {
            if !self.row()? {
                break;
            }
        }
        if self.state == State::Ended && !self.bytes.is_empty() {
            return Err(malformed("received copy data after EOF marker"));
        }
        match self.rows >= BATCH_ROWS {
            true => {
                let batch = self.batch()?;
                // What is left is looked at with what comes next, or at the end.
                Ok(Some(batch))
            }
            false => Ok(None),
        }
    }

    /// The other rows, once nothing more comes.
    pub fn finish(mut self) -> SqlResult<RecordBatch> {
        if self.state == State::Head {
            return Err(malformed("COPY file signature not recognized"));
        }
        while self.state == State::Rows && !self.bytes.is_empty() {
            if !self.row()? {
                return Err(malformed("unexpected EOF in COPY data"));
            }
        }
        if self.state == State::Ended && !self.bytes.is_empty() {
            return Err(malformed("received copy data after EOF marker"));
        }
        self.batch()
    }

    /// Reads what stands before the first row; whether all of it was there.
    fn head(&mut self) -> SqlResult<bool> {
        let known = self.bytes.len().min(SIGNATURE_BYTES);
        if self.bytes[..known] != BINARY_HEAD[..known] {
            return Err(malformed("COPY file signature not recognized"));
        }
        let Some(rest) = self.bytes.get(SIGNATURE_BYTES..BINARY_HEAD.len()) else {
            return Ok(false);
        };
        let (mut flags, mut extension) = rest.split_at(4);
        let (flags, extension) = (flags.get_u32(), extension.get_i32());
        if flags & WITH_OIDS != 0 {
            return Err(malformed("invalid COPY file header (WITH OIDS)"));
        }
        if flags >> 16 != 0 {
            return Err(malformed("unrecognized critical flags in COPY file header"));
        }
        let extension = usize::try_from(extension)
            .map_err(|_| malformed("invalid COPY file header (missing length)"))?;
        if self.bytes.len() < BINARY_HEAD.len().saturating_add(extension) {
            return Ok(false);
        }
        self.bytes.advance(BINARY_HEAD.len() + extension);
        self.state = State::Rows;
        Ok(true)
    }

    /// Reads a row, or the mark of the end; whether all of it was there.
    fn row(&mut self) -> SqlResult<bool> {
        let Some(length) = self.length_of_row()? else { return Ok(false) };
        let mut row = self.bytes.split_to(length).freeze();
        if row.get_i16() == -1 {
            self.state = State::Ended;
            return Ok(true);
        }
        for place in 0..self.columns.len() {
            let length = row.get_i32();
            let read = match usize::try_from(length) {
                Err(_) => Ok(Value::Null),
                Ok(length) => {
                    let bytes = row.split_to(length);
                    let of = self.types[place];
                    // No zone decides what comes in binary.
                    let oid = wire_type(of).oid;
                    value(&bytes, Format::Binary, (oid, Some(of)), &Zone::utc(), self.charset)
                }
            };
            let of = self.types[place];
            let pushed = read.and_then(|it| self.columns[place].push(held(it, of)?, of));
            pushed.map_err(|error| {
                let (line, name) = (self.before + self.rows as u64 + 1, &self.names[place]);
                error.within(format!("COPY {}, line {line}, column {name}", self.table))
            })?;
        }
        self.rows += 1;
        Ok(true)
    }

    /// The bytes of the next row; nothing where not all of them are there.
    fn length_of_row(&self) -> SqlResult<Option<usize>> {
        let Some(count) = self.bytes.first_chunk::<2>() else { return Ok(None) };
        let count = i16::from_be_bytes(*count);
        if count == -1 {
            return Ok(Some(2));
        }
        let wanted = self.columns.len();
        if usize::try_from(count) != Ok(wanted) {
            let line = self.before + self.rows as u64 + 1;
            let error = malformed(&format!("row field count is {count}, expected {wanted}"));
            return Err(error.within(format!("COPY {}, line {line}", self.table)));
        }
        let mut end = 2_usize;
        for _ in 0..wanted {
            let Some(length) = self.bytes.get(end..).and_then(|it| it.first_chunk::<4>()) else {
                return Ok(None);
            };
            end += 4;
            match i32::from_be_bytes(*length) {
                -1 => {}
                length => {
                    let length =
                        usize::try_from(length).map_err(|_| malformed("invalid field size"))?;
                    end = end.saturating_add(length);
                }
            }
        }
        Ok(Some(end).filter(|it| *it <= self.bytes.len()))
    }

    fn batch(&mut self) -> SqlResult<RecordBatch> {
        let arrays: Vec<ArrayRef> = self.columns.iter_mut().map(Column::finish).collect();
        let field =
            |(name, array): (&String, &ArrayRef)| Field::new(name, array.data_type().clone(), true);
        let schema = Schema::new(self.names.iter().zip(&arrays).map(field).collect::<Vec<_>>());
        let rows = std::mem::take(&mut self.rows);
        self.before += rows as u64;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::new(schema), arrays, &options)
            .map_err(|error| SqlError::internal(format!("copied rows are malformed: {error}")))
    }
}

impl Column {
    fn new(of: DataType) -> Self {
        // Each type has its arm: one that is forgotten here does not compile.
        match of {
            DataType::Boolean => Self::Boolean(BooleanBuilder::new()),
            DataType::SmallInt
            | DataType::Integer
            | DataType::BigInt
            | DataType::Time
            | DataType::TimeTz
            | DataType::Enum(_) => Self::Integer(Int64Builder::new()),
            DataType::Real => Self::Real(Float32Builder::new()),
            DataType::Double => Self::Double(Float64Builder::new()),
            DataType::Decimal { precision, scale } => {
                let builder = decimals(scale);
                Self::Decimal(builder, DataType::Decimal { precision, scale })
            }
            DataType::Date => Self::Date(Date32Builder::new()),
            DataType::Timestamp | DataType::TimestampTz => {
                Self::Timestamp(TimestampMicrosecondBuilder::new())
            }
            DataType::Interval => Self::Interval(decimals(0)),
            DataType::Whole(it) => Self::new(it.plain()),
            DataType::Null
            | DataType::Char(_)
            | DataType::Bpchar
            | DataType::Varchar(_)
            | DataType::Text
            | DataType::Letter
            | DataType::Name
            | DataType::Uuid
            | DataType::Network(_)
            | DataType::Range(_)
            | DataType::Multirange(_)
            | DataType::Bits(_)
            | DataType::Bytea
            | DataType::Json
            | DataType::Jsonb
            | DataType::Numeric
            | DataType::Array(_)
            | DataType::Struct(_)
            | DataType::Map(_) => Self::Text(StringBuilder::new(), of),
        }
    }

    /// Adds a value as it is held. Errors: those of values that do not fit, and XX000 for a value of another type.
    fn push(&mut self, value: Value, of: DataType) -> SqlResult<()> {
        match (self, &value) {
            (column, Value::Null) => column.push_null(),
            (Self::Boolean(it), Value::Boolean(value)) => it.append_value(*value),
            (Self::Integer(it), Value::Integer(value)) => it.append_value(*value),
            (Self::Real(it), Value::Float(value)) => it.append_value(*value as f32),
            (Self::Double(it), Value::Float(value)) => it.append_value(*value),
            (Self::Decimal(it, of), Value::Decimal { scale, .. }) => {
                let from = DataType::Decimal { precision: 38, scale: *scale };
                match numeric::cast(&value, from, *of)? {
                    Value::Decimal { unscaled, .. } => it.append_value(unscaled),
                    other => return Err(misfit(&other, *of)),
                }
            }
            (Self::Date(it), Value::Date(value)) => it.append_value(*value),
            (Self::Timestamp(it), Value::Timestamp(value)) => it.append_value(*value),
            (Self::Interval(it), Value::Decimal { unscaled, scale: 0 }) => {
                it.append_value(*unscaled);
            }
            (Self::Text(it, of), Value::Text(value)) => {
                it.append_value(numeric::fitting(value, *of)?);
            }
            _ => return Err(misfit(&value, of)),
        }
        Ok(())
    }

    fn push_null(&mut self) {
        match self {
            Self::Boolean(it) => it.append_null(),
            Self::Integer(it) => it.append_null(),
            Self::Real(it) => it.append_null(),
            Self::Double(it) => it.append_null(),
            Self::Decimal(it, _) | Self::Interval(it) => it.append_null(),
            Self::Date(it) => it.append_null(),
            Self::Timestamp(it) => it.append_null(),
            Self::Text(it, _) => it.append_null(),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Boolean(it) => Arc::new(it.finish()),
            Self::Integer(it) => Arc::new(it.finish()),
            Self::Real(it) => Arc::new(it.finish()),
            Self::Double(it) => Arc::new(it.finish()),
            Self::Decimal(it, _) | Self::Interval(it) => Arc::new(it.finish()),
            Self::Date(it) => Arc::new(it.finish()),
            Self::Timestamp(it) => Arc::new(it.finish()),
            Self::Text(it, _) => Arc::new(it.finish()),
        }
    }
}

/// Numbers of a scale, each a word of 128 bits.
fn decimals(scale: u8) -> Decimal128Builder {
    let builder = Decimal128Builder::new().with_precision_and_scale(38, scale.cast_signed());
    builder.unwrap_or_default()
}

/// A value as its type holds it: of a type that is held as another one, values come as texts, but for moments.
fn held(value: Value, of: DataType) -> SqlResult<Value> {
    match value {
        Value::Text(_) if of.stored() != of => numeric::assign(&value, DataType::Null, of, ""),
        Value::Decimal { scale, .. } if of == DataType::Numeric => {
            numeric::cast(&value, DataType::Decimal { precision: 38, scale }, of)
        }
        _ => Ok(value),
    }
}

fn misfit(value: &Value, of: DataType) -> SqlError {
    SqlError::internal(format!("{value} is no value of type {of}"))
}

fn malformed(message: &str) -> SqlError {
    SqlError::new(SqlState::BAD_FILE_FORMAT, message)
}
