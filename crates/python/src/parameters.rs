//! Objects of Python as parameters of a statement.

use nodewise::{DataType, SqlError, SqlState, Value};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyMemoryView, PyString};

use crate::errors::{exception, unfit};
use crate::placeholders::{Places, numbered};

/// A statement with PostgreSQL's places for parameters, and a value for each.
pub struct Parameters {
    pub sql: String,
    /// Types that the objects tell; texts and None take theirs from where they stand.
    pub types: Vec<Option<DataType>>,
    pub values: Vec<Value>,
}

impl Parameters {
    /// A sequence for places in order, a dictionary for those with names.
    pub fn of(sql: &str, given: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = given.py();
        let named = given.cast::<PyDict>().ok();
        let (sql, places) = numbered(sql, named.is_some());
        let wrong =
            |message: String| exception(py, &SqlError::new(SqlState::UNDEFINED_PARAMETER, message));
        let objects = match (&places, named) {
            (Places::Named(names), Some(given)) => {
                let find = |name: &String| {
                    given
                        .get_item(name)?
                        .ok_or_else(|| wrong(format!("there is no value for ${name}")))
                };
                names.iter().map(find).collect::<PyResult<Vec<_>>>()?
            }
            _ => {
                if given.cast::<PyString>().is_ok() || given.cast::<PyBytes>().is_ok() {
                    return Err(exception(py, &unfit("parameters are a sequence or a dictionary")));
                }
                given.try_iter()?.collect::<PyResult<Vec<_>>>()?
            }
        };
        if let Places::Ordered(Some(count)) = places
            && count != objects.len()
        {
            let message =
                format!("the statement has {count} parameters, but {} are given", objects.len());
            return Err(wrong(message));
        }
        let given = objects.iter().map(value).collect::<PyResult<Vec<_>>>()?;
        let (values, types) = given.into_iter().unzip();
        Ok(Self { sql, types, values })
    }
}

/// An object as a value, with its type where it has one of its own.
fn value(object: &Bound<'_, PyAny>) -> PyResult<(Value, Option<DataType>)> {
    let py = object.py();
    if object.is_none() {
        return Ok((Value::Null, None));
    }
    if let Ok(it) = object.cast::<PyBool>() {
        return Ok((Value::Boolean(it.is_true()), Some(DataType::Boolean)));
    }
    if object.cast::<PyInt>().is_ok() {
        return match (object.extract::<i64>(), object.extract::<i128>()) {
            (Ok(it), _) => {
                let of =
                    if i32::try_from(it).is_ok() { DataType::Integer } else { DataType::BigInt };
                Ok((Value::Integer(it), Some(of)))
            }
            (_, Ok(unscaled)) if unscaled.unsigned_abs() < 10u128.pow(38) => {
                let of = DataType::Decimal { precision: 38, scale: 0 };
                Ok((Value::Decimal { unscaled, scale: 0 }, Some(of)))
            }
            _ => Ok((text(&object.str()?.to_string()), Some(DataType::Numeric))),
        };
    }
    if let Ok(it) = object.cast::<PyFloat>() {
        return Ok((Value::Float(it.value()), Some(DataType::Double)));
    }
    if let Ok(it) = object.cast::<PyString>() {
        return Ok((text(it.to_str()?), None));
    }
    let is_bytes = object.cast::<PyBytes>().is_ok() || object.cast::<PyByteArray>().is_ok();
    if is_bytes || object.cast::<PyMemoryView>().is_ok() {
        let bytes = py.import("builtins")?.getattr("bytes")?.call1((object,))?;
        let digits = bytes.call_method0("hex")?.extract::<String>()?;
        return Ok((text(&format!("\\x{digits}")), Some(DataType::Bytea)));
    }
    of_class(object)
}

/// An object of a class of Python's library. Times, spans and UUIDs go as the texts that PostgreSQL reads.
fn of_class(object: &Bound<'_, PyAny>) -> PyResult<(Value, Option<DataType>)> {
    let py = object.py();
    let is = |module: &str, class: &str| object.is_instance(&py.import(module)?.getattr(class)?);
    let iso = || object.call_method0("isoformat")?.extract::<String>();
    if is("decimal", "Decimal")? {
        return decimal(object);
    }
    if is("datetime", "datetime")? {
        let has_zone = !object.call_method0("utcoffset")?.is_none();
        let of = if has_zone { DataType::TimestampTz } else { DataType::Timestamp };
        return Ok((text(&iso()?), Some(of)));
    }
    if is("datetime", "date")? {
        return Ok((text(&iso()?), Some(DataType::Date)));
    }
    if is("datetime", "time")? {
        if object.getattr("tzinfo")?.is_none() {
            return Ok((text(&iso()?), Some(DataType::Time)));
        }
        if object.call_method0("utcoffset")?.is_none() {
            let message =
                "a time of day in a zone whose clocks are turned has no distance from UTC";
            return Err(exception(py, &unfit(message)));
        }
        return Ok((text(&iso()?), Some(DataType::TimeTz)));
    }
    if is("datetime", "timedelta")? {
        let part = |name: &str| object.getattr(name)?.extract::<i64>();
        let (days, seconds, micros) = (part("days")?, part("seconds")?, part("microseconds")?);
        let span = format!("{days} days {seconds} seconds {micros} microseconds");
        return Ok((text(&span), Some(DataType::Interval)));
    }
    if is("uuid", "UUID")? {
        return Ok((text(&object.str()?.to_string()), Some(DataType::Uuid)));
    }
    // Numbers of numpy are those of Python in another coat.
    if let Ok(inner) = object.call_method0("item")
        && !inner.get_type().is(object.get_type())
    {
        return value(&inner);
    }
    let kind = object.get_type().name()?;
    Err(exception(py, &SqlError::unsupported(format!("no SQL type is known for {kind}"))))
}

fn text(it: &str) -> Value {
    Value::Text(it.into())
}

/// A Decimal with all its digits; of one with more than 38, and of what is no number, as a number of any scale.
fn decimal(object: &Bound<'_, PyAny>) -> PyResult<(Value, Option<DataType>)> {
    if !object.call_method0("is_finite")?.extract::<bool>()? {
        let is_nan = object.call_method0("is_nan")?.extract::<bool>()?;
        let written = if is_nan { "NaN".to_owned() } else { object.str()?.to_string() };
        return Ok((text(&written), Some(DataType::Numeric)));
    }
    let written = object.call_method1("__format__", ("f",))?.extract::<String>()?;
    let (whole, fraction) = written.split_once('.').unwrap_or((&written, ""));
    let unscaled = format!("{whole}{fraction}").parse::<i128>().ok();
    let unscaled = unscaled.filter(|it| it.unsigned_abs() < 10u128.pow(38));
    match (unscaled, u8::try_from(fraction.len())) {
        (Some(unscaled), Ok(scale)) if scale <= 38 => {
            let digits = unscaled.unsigned_abs().checked_ilog10().map_or(1, |it| it as u8 + 1);
            let of = DataType::Decimal { precision: digits.max(scale), scale };
            Ok((Value::Decimal { unscaled, scale }, Some(of)))
        }
        _ => Ok((text(&written), Some(DataType::Numeric))),
    }
}
