//! Rows of an operation, as bytes of a record.
//!
//! A run is an Arrow IPC stream; or, of few rows that are changed, the types of their columns as Arrow's format strings, one in a
//! line, behind the length of these (4 bytes), and each row in the row format of arrow-rs, behind its length (4). A stream begins with a length that no text of types has.
//!
//! Key decision: in a stream of one row most is said of its columns, and saying it costs more than all else that is done for a
//! record.

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_row::{RowConverter, SortField};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use stdx::sync::Arc;
use types::{SqlError, SqlResult};

use super::definition::malformed;

/// Rows that are written as rows.
const ROWS_MAX: usize = 1024;

/// What a stream has in the place of the length of types.
const STREAM: u32 = u32::MAX;

/// Rows of one schema as a run; `are_changed`: whether they are those of a change.
pub(super) fn bytes_of(rows: &[RecordBatch], are_changed: bool) -> Result<Vec<u8>, ArrowError> {
    let count: usize = rows.iter().map(RecordBatch::num_rows).sum();
    let types = if are_changed && count <= ROWS_MAX { formats(&rows[0].schema()) } else { None };
    types.map_or_else(|| in_stream(rows), |it| in_rows(rows, &it))
}

/// The rows of a run.
pub(super) fn read(bytes: &[u8]) -> SqlResult<Vec<RecordBatch>> {
    let (length, rest) = word(bytes)?;
    if length == STREAM {
        let stream = StreamReader::try_new(bytes, None).map_err(malformed)?;
        return stream.map(|it| it.map_err(malformed)).collect();
    }
    let (types, rows) = rest.split_at_checked(length as usize).ok_or_else(too_short)?;
    from_rows(std::str::from_utf8(types).map_err(malformed)?, rows).map(|it| vec![it])
}

fn in_stream(rows: &[RecordBatch]) -> Result<Vec<u8>, ArrowError> {
    let mut bytes = Vec::new();
    let mut stream = StreamWriter::try_new(&mut bytes, rows[0].schema_ref())?;
    rows.iter().try_for_each(|it| stream.write(it))?;
    stream.finish()?;
    Ok(bytes)
}

/// The types of columns as text; `None` where one is made of others.
fn formats(schema: &Schema) -> Option<String> {
    let mut all = String::new();
    for field in schema.fields() {
        if field.data_type().is_nested() || matches!(field.data_type(), DataType::Dictionary(..)) {
            return None;
        }
        let format = FFI_ArrowSchema::try_from(field.data_type()).ok()?;
        all.push_str(format.format());
        all.push('\n');
    }
    Some(all)
}

fn in_rows(batches: &[RecordBatch], types: &str) -> Result<Vec<u8>, ArrowError> {
    let fields = batches[0].schema();
    let fields = fields.fields().iter().map(|it| SortField::new(it.data_type().clone()));
    let converter = RowConverter::new(fields.collect())?;
    let mut bytes = Vec::with_capacity(256);
    bytes.extend((types.len() as u32).to_le_bytes());
    bytes.extend(types.as_bytes());
    for batch in batches {
        if batch.num_columns() == 0 {
            (0..batch.num_rows()).for_each(|_| bytes.extend(0u32.to_le_bytes()));
            continue;
        }
        for row in &converter.convert_columns(batch.columns())? {
            bytes.extend((row.as_ref().len() as u32).to_le_bytes());
            bytes.extend(row.as_ref());
        }
    }
    Ok(bytes)
}

fn from_rows(types: &str, mut bytes: &[u8]) -> SqlResult<RecordBatch> {
    let of_format = |it: &str| {
        FFI_ArrowSchema::try_new(it, Vec::new(), None).and_then(|it| DataType::try_from(&it))
    };
    let types = types.lines().map(of_format).collect::<Result<Vec<_>, _>>().map_err(malformed)?;
    let fields = types.iter().map(|it| SortField::new(it.clone())).collect();
    let converter = RowConverter::new(fields).map_err(malformed)?;
    let (parser, mut rows) = (converter.parser(), Vec::new());
    while !bytes.is_empty() {
        let (length, rest) = word(bytes)?;
        let (row, rest) = rest.split_at_checked(length as usize).ok_or_else(too_short)?;
        rows.push(parser.parse(row));
        bytes = rest;
    }
    let count = rows.len();
    let columns: Vec<ArrayRef> = match types.is_empty() {
        true => Vec::new(),
        false => converter.convert_rows(rows).map_err(malformed)?,
    };
    let field = |(place, it): (usize, &DataType)| Field::new(place.to_string(), it.clone(), true);
    let schema = Schema::new(types.iter().enumerate().map(field).collect::<Vec<_>>());
    let options = RecordBatchOptions::new().with_row_count(Some(count));
    RecordBatch::try_new_with_options(Arc::new(schema), columns, &options).map_err(malformed)
}

fn word(bytes: &[u8]) -> SqlResult<(u32, &[u8])> {
    let (word, rest) = bytes.split_first_chunk().ok_or_else(too_short)?;
    Ok((u32::from_le_bytes(*word), rest))
}

fn too_short() -> SqlError {
    malformed("rows of a record end too early")
}

#[cfg(test)]
mod tests {
    use arrow_array::types::Int8Type;
    use arrow_array::{
        BinaryArray, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array,
        Float64Array, Int16Array, Int32Array, Int64Array, IntervalMonthDayNanoArray, NullArray,
        StringArray, Time64MicrosecondArray, TimestampMicrosecondArray,
    };
    use arrow_schema::IntervalUnit;

    use super::*;

    fn bytes(rows: &[RecordBatch], are_changed: bool) -> Vec<u8> {
        bytes_of(rows, are_changed).unwrap()
    }

    #[test]
    fn rows_come_back_as_they_were() {
        let interval = arrow_array::types::IntervalMonthDayNano::new(-1, 40, i64::MIN);
        let columns: Vec<ArrayRef> = vec![
            Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])),
            Arc::new(Int16Array::from(vec![Some(i16::MIN), None, Some(7)])),
            Arc::new(Int32Array::from(vec![Some(i32::MIN), None, Some(i32::MAX)])),
            Arc::new(Int64Array::from(vec![Some(i64::MIN), None, Some(i64::MAX)])),
            Arc::new(Float32Array::from(vec![Some(-0.0), None, Some(f32::NAN)])),
            Arc::new(Float64Array::from(vec![Some(-0.0), None, Some(f64::NEG_INFINITY)])),
            Arc::new(StringArray::from(vec![Some(""), None, Some("\u{0}\u{e4}\n, ::")])),
            Arc::new(BinaryArray::from(vec![Some(&b""[..]), None, Some(&[255, 0, 1][..])])),
            Arc::new(Date32Array::from(vec![Some(-1), None, Some(20_000)])),
            Arc::new(Time64MicrosecondArray::from(vec![Some(0), None, Some(1)])),
            Arc::new(TimestampMicrosecondArray::from(vec![Some(-1), None, Some(1)])),
            Arc::new(
                TimestampMicrosecondArray::from(vec![Some(-1), None, Some(1)]).with_timezone("UTC"),
            ),
            Arc::new(
                Decimal128Array::from(vec![Some(i128::MIN / 10), None, Some(-1)])
                    .with_precision_and_scale(38, 10)
                    .unwrap(),
            ),
            Arc::new(IntervalMonthDayNanoArray::from(vec![Some(interval), None, None])),
            Arc::new(NullArray::new(3)),
        ];
        assert!(
            columns
                .iter()
                .any(|it| *it.data_type() == DataType::Interval(IntervalUnit::MonthDayNano))
        );
        let field = |(place, it): (usize, &ArrayRef)| {
            Field::new(place.to_string(), it.data_type().clone(), true)
        };
        let schema =
            Arc::new(Schema::new(columns.iter().enumerate().map(field).collect::<Vec<_>>()));
        let all = RecordBatch::try_new(schema, columns).unwrap();
        let written = bytes(std::slice::from_ref(&all), true);
        let whole = std::slice::from_ref(&all);
        assert_eq!(read(&written).unwrap(), whole);
        assert_eq!(read(&bytes(whole, false)).unwrap(), whole);
        let pieces = [all.slice(0, 1), all.slice(1, 2)];
        assert_eq!(read(&bytes(&pieces, true)).unwrap(), whole);
        for cut in 0..written.len() {
            assert!(!read(&written[..cut]).is_ok_and(|it| it[0].num_rows() == 3), "{cut}");
        }
        let none = RecordBatchOptions::new().with_row_count(Some(2));
        let none = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &none);
        let none = [none.unwrap()];
        assert_eq!(read(&bytes(&none, true)).unwrap(), none);
    }

    #[test]
    fn many_rows_and_those_of_other_types_are_a_stream() {
        let is_stream = |it: &RecordBatch| {
            let whole = std::slice::from_ref(it);
            let written = bytes(whole, true);
            assert_eq!(read(&written).unwrap(), whole);
            written[..4] == STREAM.to_le_bytes()
        };
        let of = |rows: usize| {
            let column: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows as i64));
            RecordBatch::try_from_iter_with_nullable([("0", column, true)]).unwrap()
        };
        assert!(!is_stream(&of(ROWS_MAX)) && is_stream(&of(ROWS_MAX + 1)));
        let coded: DictionaryArray<Int8Type> = ["a", "b", "a"].into_iter().collect();
        let coded: ArrayRef = Arc::new(coded);
        assert!(is_stream(&RecordBatch::try_from_iter([("0", coded)]).unwrap()));
    }
}
