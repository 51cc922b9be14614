//! Rows in the styles of a session (`DateStyle`, `IntervalStyle`, `bytea_output`, `extra_float_digits`): what is written otherwise than usual becomes a text.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Float32Type, Float64Type, IntervalMonthDayNanoType, TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, StringArray};
use arrow_schema::{DataType as ArrowType, Field, IntervalUnit, Schema, TimeUnit};
use stdx::sync::Arc;
use types::numeric::{self, bytes, format};
use types::{Charset, DataType, SqlError, SqlResult, Styles, Value, Zone};

use crate::text::parts;
use crate::{Answer, Session};

impl Session {
    /// The time zone of the session, where its styles are not the usual ones.
    pub fn styled_zone(&self) -> Option<Zone> {
        let client = &self.settings.client;
        (!client.styles().is_usual()).then(|| self.zone())
    }

    /// The character set in which its client writes and reads texts.
    pub fn client_charset(&self) -> Charset {
        self.settings.client.charset()
    }

    /// The time zone of the session, with its styles and the time of its transaction.
    pub fn zone(&self) -> Zone {
        self.settings.client.zone().with_now(self.began().transaction)
    }

    /// An answer as the session wants its texts.
    pub fn in_style(&self, mut answer: Answer) -> SqlResult<Answer> {
        let Some(zone) = self.styled_zone() else { return Ok(answer) };
        for batch in &mut answer.batches {
            *batch = in_style(batch, &answer.types, &zone, |_| true)?;
        }
        if let Some(first) = answer.batches.first() {
            answer.schema = first.schema();
        }
        Ok(answer)
    }
}

/// A batch of columns of some types, those that are texts for who asks in the styles of a session.
pub fn in_style(
    batch: &RecordBatch,
    types: &[DataType],
    zone: &Zone,
    is_text: impl Fn(usize) -> bool,
) -> SqlResult<RecordBatch> {
    let is_styled = |(place, of): (usize, &DataType)| is_text(place) && zone.styles().shows(*of);
    if !types.iter().enumerate().any(is_styled) {
        return Ok(batch.clone());
    }
    let schema = batch.schema();
    let mut fields = Vec::with_capacity(types.len());
    let mut columns = Vec::with_capacity(types.len());
    for (place, (array, field)) in batch.columns().iter().zip(schema.fields()).enumerate() {
        let of = types.get(place).copied().unwrap_or(DataType::Null);
        match is_styled((place, &of)).then(|| texts_of(array, of, zone)).flatten() {
            Some(texts) => {
                fields.push(Arc::new(Field::new(field.name(), ArrowType::Utf8, true)));
                columns.push(Arc::new(texts) as ArrayRef);
            }
            None => {
                fields.push(field.clone());
                columns.push(array.clone());
            }
        }
    }
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options)
        .map_err(|it| SqlError::internal(format!("texts do not fit: {it}")))
}

/// The values of a column as texts; `None` of one that has no style.
fn texts_of(array: &ArrayRef, of: DataType, zone: &Zone) -> Option<StringArray> {
    let styles = zone.styles();
    let written = |row: usize, put: &dyn Fn(&mut String)| {
        let mut out = String::new();
        array.is_valid(row).then(|| {
            put(&mut out);
            out
        })
    };
    let rows = 0..array.len();
    Some(match array.data_type() {
        ArrowType::Date32 => {
            let days = array.as_primitive::<Date32Type>();
            rows.map(|row| written(row, &|out| format::date(days.value(row).into(), styles, out)))
                .collect()
        }
        ArrowType::Timestamp(TimeUnit::Microsecond, own) => {
            let micros = array.as_primitive::<TimestampMicrosecondType>();
            let text = |row| {
                written(row, &|out: &mut String| match own {
                    None => format::timestamp(micros.value(row), styles, out),
                    Some(_) => format::moment(micros.value(row), zone, out),
                })
            };
            rows.map(text).collect()
        }
        ArrowType::Interval(IntervalUnit::MonthDayNano) => {
            let spans = array.as_primitive::<IntervalMonthDayNanoType>();
            let span = |row| parts(spans.value(row));
            rows.map(|row| written(row, &|out| format::interval(span(row), styles, out))).collect()
        }
        ArrowType::Binary => {
            let strings = array.as_binary::<i32>();
            let text = |row| {
                written(row, &|out: &mut String| {
                    bytes::format_escaped(&bytes::held(strings.value(row)), out);
                })
            };
            rows.map(text).collect()
        }
        ArrowType::Float64 => {
            let floats = array.as_primitive::<Float64Type>();
            let text = |row| {
                written(row, &|out: &mut String| {
                    format::styled_float(floats.value(row), false, styles, out);
                })
            };
            rows.map(text).collect()
        }
        ArrowType::Float32 => {
            let floats = array.as_primitive::<Float32Type>();
            let text = |row| {
                written(row, &|out: &mut String| {
                    format::styled_float(floats.value(row).into(), true, styles, out);
                })
            };
            rows.map(text).collect()
        }
        ArrowType::Utf8 => {
            let (texts, usual) =
                (array.as_string::<i32>(), zone.clone().with_styles(Styles::default()));
            let text = |row| {
                written(row, &|out: &mut String| again(texts.value(row), of, (&usual, zone), out))
            };
            rows.map(text).collect()
        }
        _ => return None,
    })
}

/// Appends a value with parts as a session writes it, of the text that it usually has.
fn again(text: &str, of: DataType, (usual, zone): (&Zone, &Zone), out: &mut String) {
    match numeric::cast_in(&Value::Text(text.into()), DataType::Text, of, usual) {
        Ok(held) => format::value(&held, of, zone, out),
        // What is not read back stays.
        Err(_) => out.push_str(text),
    }
}
