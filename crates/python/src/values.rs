//! Values of rows as objects of Python.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type,
    IntervalMonthDayNanoType, Time64MicrosecondType, TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use nodewise::DataType;
use nodewise::text::Cells;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::{exception, unfit};

/// The number that Python gives the day from which dates are counted here.
const EPOCH_ORDINAL: i64 = 719_163;
/// Days that a month of an interval is taken for, as PostgreSQL's drivers do.
const DAYS_OF_MONTH: i64 = 30;
const DAY_MICROS: i64 = 86_400_000_000;

/// Hour, minute, second and microseconds of a time of day.
fn parts_of_day(micros: i64) -> (i64, i64, i64, i64) {
    let (seconds, fraction) = (micros / 1_000_000, micros % 1_000_000);
    (seconds / 3600, seconds / 60 % 60, seconds % 60, fraction)
}

/// A column on its way to Python.
pub struct Converter<'a, 'py> {
    array: &'a ArrayRef,
    of: DataType,
    /// What makes an object of what stands in the column: a class, or a moment to count from.
    maker: Option<Bound<'py, PyAny>>,
    /// The zone of moments; of times of a day in zones the module that makes these.
    other: Option<Bound<'py, PyAny>>,
}

impl<'a, 'py> Converter<'a, 'py> {
    /// Looks at a column, and imports what its values are in Python.
    pub fn new(py: Python<'py>, array: &'a ArrayRef, of: DataType) -> PyResult<Self> {
        let find = |module: &str, name: &str| py.import(module)?.getattr(name);
        let (maker, other) = match array.data_type() {
            ArrowType::Decimal128(..) => (Some(find("decimal", "Decimal")?), None),
            ArrowType::Utf8 if of == DataType::Numeric => (Some(find("decimal", "Decimal")?), None),
            ArrowType::Utf8 if of == DataType::TimeTz => {
                (Some(find("datetime", "time")?), Some(py.import("datetime")?.into_any()))
            }
            ArrowType::Date32 => (Some(find("datetime", "date")?.getattr("fromordinal")?), None),
            ArrowType::Timestamp(TimeUnit::Microsecond, zone) => {
                let module = py.import("datetime")?;
                let utc = module.getattr("timezone")?.getattr("utc")?;
                let zone = match zone.as_deref() {
                    None => None,
                    Some("UTC") => Some(utc),
                    Some(name) => Some(find("zoneinfo", "ZoneInfo")?.call1((name,))?),
                };
                let utc = zone.as_ref().map(|_| module.getattr("timezone")?.getattr("utc"));
                let start = (1970, 1, 1, 0, 0, 0, 0, utc.transpose()?);
                (Some(module.getattr("datetime")?.call1(start)?), zone)
            }
            ArrowType::Time64(_) => (Some(find("datetime", "time")?), None),
            ArrowType::Interval(_) => (Some(find("datetime", "timedelta")?), None),
            ArrowType::FixedSizeBinary(16) => (Some(find("uuid", "UUID")?), None),
            _ => (None, None),
        };
        Ok(Self { array, of, maker, other })
    }

    /// The objects of all rows.
    pub fn objects(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let none = || py.None().into_bound(py);
        (0..self.array.len())
            .map(|row| if self.array.is_null(row) { Ok(none()) } else { self.object(py, row) })
            .collect()
    }

    fn object(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyAny>> {
        let array = self.array;
        let number = |it: i64| Ok(it.into_pyobject(py)?.into_any());
        let float = |it: f64| Ok(it.into_pyobject(py)?.into_any());
        match array.data_type() {
            ArrowType::Null => Ok(py.None().into_bound(py)),
            ArrowType::Boolean => {
                Ok(array.as_boolean().value(row).into_pyobject(py)?.to_owned().into_any())
            }
            ArrowType::Int16 => number(array.as_primitive::<Int16Type>().value(row).into()),
            ArrowType::Int32 => number(array.as_primitive::<Int32Type>().value(row).into()),
            ArrowType::Int64 => number(array.as_primitive::<Int64Type>().value(row)),
            ArrowType::Float32 => float(array.as_primitive::<Float32Type>().value(row).into()),
            ArrowType::Float64 => float(array.as_primitive::<Float64Type>().value(row)),
            ArrowType::Utf8 if self.of == DataType::Numeric => {
                self.made(py, row, (array.as_string::<i32>().value(row),))
            }
            ArrowType::Utf8 if self.of == DataType::TimeTz => self.time_in_zone(py, row),
            ArrowType::Utf8 => {
                Ok(array.as_string::<i32>().value(row).into_pyobject(py)?.into_any())
            }
            ArrowType::Binary => {
                Ok(PyBytes::new(py, array.as_binary::<i32>().value(row)).into_any())
            }
            ArrowType::Decimal128(..) => self.made(py, row, (self.text(row),)),
            ArrowType::Date32 => {
                let days = i64::from(array.as_primitive::<Date32Type>().value(row));
                self.made(py, row, (days + EPOCH_ORDINAL,))
            }
            ArrowType::Timestamp(..) => {
                self.moment(py, row, array.as_primitive::<TimestampMicrosecondType>().value(row))
            }
            ArrowType::Time64(_) => {
                let micros = array.as_primitive::<Time64MicrosecondType>().value(row);
                let (hour, minute, second, fraction) = parts_of_day(micros);
                self.made(py, row, (hour, minute, second, fraction))
            }
            ArrowType::Interval(_) => {
                let it = array.as_primitive::<IntervalMonthDayNanoType>().value(row);
                let days = i64::from(it.months) * DAYS_OF_MONTH + i64::from(it.days);
                self.made(py, row, (days, 0, it.nanoseconds / 1000))
            }
            ArrowType::FixedSizeBinary(16) if self.of == DataType::Uuid => {
                let words = PyDict::new(py);
                let bytes = PyBytes::new(py, array.as_fixed_size_binary().value(row));
                words.set_item("bytes", bytes)?;
                match &self.maker {
                    Some(class) => class.call((), Some(&words)),
                    None => Err(self.unfit(py, row)),
                }
            }
            // Types that Python has nothing of its own for are the texts that PostgreSQL prints.
            _ => Ok(self.text(row).into_pyobject(py)?.into_any()),
        }
    }

    fn text(&self, row: usize) -> String {
        Cells::new(self.array).text(row).unwrap_or_default()
    }

    /// What the maker makes; what it refuses is out of Python's range.
    fn made(
        &self,
        py: Python<'py>,
        row: usize,
        arguments: impl pyo3::call::PyCallArgs<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let made = self.maker.as_ref().and_then(|it| it.call1(arguments).ok());
        made.ok_or_else(|| self.unfit(py, row))
    }

    fn moment(&self, py: Python<'py>, row: usize, micros: i64) -> PyResult<Bound<'py, PyAny>> {
        let days = (micros.div_euclid(DAY_MICROS), 0, micros.rem_euclid(DAY_MICROS));
        let span = py.import("datetime")?.getattr("timedelta")?;
        let made = self.maker.as_ref().and_then(|start| {
            let moment = start.add(span.call1(days).ok()?).ok()?;
            match &self.other {
                Some(zone) => moment.call_method1("astimezone", (zone,)).ok(),
                None => Some(moment),
            }
        });
        made.ok_or_else(|| self.unfit(py, row))
    }

    fn time_in_zone(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyAny>> {
        let text = self.array.as_string::<i32>().value(row);
        let read = nodewise::text::time_in_zone(text);
        let (Some(it), Some(module)) = (read, &self.other) else { return Err(self.unfit(py, row)) };
        let span = module.getattr("timedelta")?.call1((0, it.ahead))?;
        let zone = module.getattr("timezone")?.call1((span,))?;
        let (hour, minute, second, fraction) = parts_of_day(it.micros);
        self.made(py, row, (hour, minute, second, fraction, zone))
    }

    fn unfit(&self, py: Python<'py>, row: usize) -> PyErr {
        let message = format!("{} of type {} is out of Python's range", self.text(row), self.of);
        exception(py, &unfit(message))
    }
}
