//! Rows on their way in: the messages of a call as batches, and their values as parameters.

use std::panic::AssertUnwindSafe;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_flight::FlightData;
use arrow_flight::decode::FlightRecordBatchStream;
use arrow_flight::error::FlightError;
use arrow_schema::{DataType as ArrowType, SchemaRef, TimeUnit};
use futures_util::{FutureExt, Stream, StreamExt, TryStreamExt, stream};
use nodewise::arrow::{shown_field, sql_type};
use nodewise::text::Cells;
use nodewise::{DataType, SqlError, SqlResult, Value};
use tonic::{Status, Streaming};

/// The rows that a call brings.
pub struct Incoming(FlightRecordBatchStream);

impl Incoming {
    /// Those of a call whose first message was read, as it says what the call is.
    pub fn new(first: FlightData, rest: Streaming<FlightData>) -> Self {
        Self(FlightRecordBatchStream::new_from_flight_data(all(first, rest)))
    }

    /// The next batch; `None` when all have come. What is malformed fails the call, whatever the decoder makes of it.
    pub async fn next(&mut self) -> Result<Option<RecordBatch>, Status> {
        let next = AssertUnwindSafe(self.0.next()).catch_unwind().await;
        match next {
            Ok(batch) => batch.transpose().map_err(|error| match error {
                FlightError::Tonic(status) => *status,
                other => Status::invalid_argument(format!("the rows cannot be read: {other}")),
            }),
            Err(_) => Err(Status::invalid_argument("the rows cannot be read")),
        }
    }

    /// The columns, which are known with the first batch at the latest.
    pub fn schema(&self) -> Option<&SchemaRef> {
        self.0.schema()
    }

    /// All rows, where they are few; more bytes than those of a message are refused.
    pub async fn few(&mut self, bytes_max: usize) -> Result<Vec<RecordBatch>, Status> {
        let (mut all, mut bytes) = (Vec::new(), 0);
        while let Some(batch) = self.next().await? {
            bytes += batch.get_array_memory_size();
            if bytes > bytes_max {
                return Err(Status::resource_exhausted("these are too many values at once"));
            }
            all.push(batch);
        }
        Ok(all)
    }
}

fn all(
    first: FlightData,
    rest: Streaming<FlightData>,
) -> impl Stream<Item = Result<FlightData, FlightError>> + Send + 'static {
    let has_rows = !first.data_header.is_empty();
    let first = stream::iter(has_rows.then_some(Ok(first)));
    first.chain(rest.map_err(|it| FlightError::Tonic(Box::new(it))))
}

/// The types in SQL of columns that bind parameters.
pub fn types_of(batch: &RecordBatch) -> SqlResult<Vec<Option<DataType>>> {
    let of = |it: &arrow_schema::FieldRef| match it.data_type() {
        ArrowType::Null => Ok(None),
        _ => sql_type(it, "the values").map(Some),
    };
    batch.schema().fields().iter().map(of).collect()
}

/// Each row as the values of parameters.
pub fn values_of(batch: &RecordBatch) -> SqlResult<Vec<Vec<Value>>> {
    let types = types_of(batch)?;
    let columns = batch.columns().iter().zip(types);
    let columns = columns.map(|(array, of)| shown(array, of)).collect::<SqlResult<Vec<_>>>()?;
    let row = |row| columns.iter().map(|it| value(it, row)).collect();
    Ok((0..batch.num_rows()).map(row).collect())
}

/// A column in the one Arrow type that its type in SQL has.
fn shown(array: &ArrayRef, of: Option<DataType>) -> SqlResult<ArrayRef> {
    let Some(of) = of else { return Ok(array.clone()) };
    if of.element().is_some() {
        return Err(SqlError::unsupported("lists as values of parameters")
            .with_hint("bind a text, as '{1,2}'"));
    }
    let to = match (shown_field("value", of).data_type(), array.data_type()) {
        // As it came, so that fixed bytes are bytes of any length.
        (ArrowType::Timestamp(unit, _), ArrowType::Timestamp(_, zone)) => {
            ArrowType::Timestamp(*unit, zone.clone())
        }
        (to, _) => to.clone(),
    };
    let failed = |error| SqlError::unsupported(format!("values of this type: {error}"));
    if *array.data_type() == to { Ok(array.clone()) } else { cast(array, &to).map_err(failed) }
}

/// A value; what has no literal of its own is a text that is read as its type.
fn value(array: &ArrayRef, row: usize) -> Value {
    if array.is_null(row) {
        return Value::Null;
    }
    match array.data_type() {
        ArrowType::Null => Value::Null,
        ArrowType::Boolean => Value::Boolean(array.as_boolean().value(row)),
        ArrowType::Int16 => Value::Integer(array.as_primitive::<Int16Type>().value(row).into()),
        ArrowType::Int32 => Value::Integer(array.as_primitive::<Int32Type>().value(row).into()),
        ArrowType::Int64 => Value::Integer(array.as_primitive::<Int64Type>().value(row)),
        ArrowType::Float32 => Value::Float(array.as_primitive::<Float32Type>().value(row).into()),
        ArrowType::Float64 => Value::Float(array.as_primitive::<Float64Type>().value(row)),
        ArrowType::Decimal128(_, scale) => {
            let unscaled = array.as_primitive::<Decimal128Type>().value(row);
            Value::Decimal { unscaled, scale: scale.cast_unsigned() }
        }
        ArrowType::Date32 => Value::Date(array.as_primitive::<Date32Type>().value(row)),
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
            Value::Timestamp(array.as_primitive::<TimestampMicrosecondType>().value(row))
        }
        ArrowType::Utf8 => Value::Text(array.as_string::<i32>().value(row).into()),
        _ => Cells::new(array).text(row).map_or(Value::Null, |it| Value::Text(it.into())),
    }
}
