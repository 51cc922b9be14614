//! Texts as dates and timestamps: by a template, or as dates are written.

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType as ArrowType;
use plan::Function;
use types::numeric::datetime::{date_of_timestamp, is_infinite, parse_moment};
use types::{SqlError, SqlResult, Zone};

use crate::calendar::{self, MICROS_PER_DAY, MICROS_PER_SECOND};
use crate::call::Call;
use crate::error::infinite;
use crate::parsed;
use crate::precision::whole;
use crate::template::Templates;

/// Texts, timestamps, dates and days since 1970-01-01 as dates.
pub(crate) fn to_date(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let array = call.argument(0)?;
    match array.data_type() {
        ArrowType::Date32 => Ok(array.clone()),
        ArrowType::Int64 => {
            let days = array.as_primitive::<Int64Type>();
            call.map::<Date32Type>(|row| calendar::date(days.value(row)))
        }
        ArrowType::Utf8 => {
            let mut read = Reader::new(call)?;
            call.map::<Date32Type>(|row| calendar::date(read.at(row)?.0))
        }
        _ => {
            let moments = call.any_moments(0)?;
            call.map::<Date32Type>(|row| match moments.infinite(row) {
                Some(it) => Ok(date_of_timestamp(it) as i32),
                None => calendar::date(moments.at(row).0),
            })
        }
    }
}

/// Texts as timestamps.
pub(crate) fn to_timestamp(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let mut read = Reader::new(call)?;
    call.map::<TimestampMicrosecondType>(|row| {
        let (days, micros) = read.at(row)?;
        Ok(whole(call.function, calendar::timestamp(days, micros)?))
    })
}

/// Texts as seconds since 1970-01-01.
pub(crate) fn to_unixtime(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let mut read = Reader::new(call)?;
    call.map::<Int64Type>(|row| {
        let (days, micros) = read.at(row)?;
        Ok(calendar::timestamp(days, micros)?.div_euclid(MICROS_PER_SECOND))
    })
}

/// Reads the texts of a call: a day, and microseconds after its midnight.
struct Reader<'a> {
    texts: &'a arrow_array::StringArray,
    templates: Option<&'a arrow_array::StringArray>,
    function: Function,
    tokens: Templates<'a>,
}

impl<'a> Reader<'a> {
    fn new(call: &Call<'a>) -> SqlResult<Self> {
        let (texts, templates) = (call.texts(0)?, call.optional_texts(1)?);
        let function = call.function;
        Ok(Self { texts, templates, function, tokens: Templates::default() })
    }

    fn at(&mut self, row: usize) -> SqlResult<(i64, i64)> {
        let text = self.texts.value(row);
        match self.templates {
            Some(templates) => {
                let said = parsed::parse(text, self.tokens.get(templates.value(row)))?;
                match said.ahead {
                    None => Ok((said.day, said.micros)),
                    Some(_) => Err(SqlError::unsupported(
                        "TZH and TZM in a template of to_timestamp or to_date",
                    )),
                }
            }
            None => {
                let micros = parse_moment(text, &Zone::utc())?;
                if is_infinite(micros) {
                    return Err(infinite(self.function));
                }
                Ok((micros.div_euclid(MICROS_PER_DAY), micros.rem_euclid(MICROS_PER_DAY)))
            }
        }
    }
}
