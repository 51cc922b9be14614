//! Functions of DataFusion behind [`ArrowFunction`], and date arithmetic with intervals.

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, TimestampMicrosecondType};
use arrow_array::{ArrayRef, Date32Array, TimestampMicrosecondArray};
use datafusion_common::arrow::compute::cast;
use datafusion_common::arrow::datatypes::FieldRef;
use datafusion_common::config::ConfigOptions;
use datafusion_common::{DataFusionError, ScalarValue};
use datafusion_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, Volatility};
use plan::ArrowFunction;
use stdx::sync::Arc;
use types::value::civil_from_days;
use types::{DataType, SqlError, SqlResult, SqlState};

use super::types::to_arrow;

/// A scalar function of DataFusion, resolved for the types of one call.
pub struct LibraryFunction {
    /// The function.
    pub udf: Arc<ScalarUDF>,
    /// What EXPLAIN calls it.
    pub name: String,
    /// Its arguments as it was resolved for.
    pub fields: Vec<FieldRef>,
    /// Arguments that are constants: many functions take some only so.
    pub constants: Vec<Option<ScalarValue>>,
    /// Its result.
    pub returns: FieldRef,
    /// The type that the plan gives its result.
    pub data_type: DataType,
    /// DataFusion's settings.
    pub options: Arc<ConfigOptions>,
}

fn failed(error: &DataFusionError) -> SqlError {
    let text = super::errors::root_text(error);
    if text.to_ascii_lowercase().contains("overflow") {
        return SqlError::new(SqlState::NUMERIC_OUT_OF_RANGE, text);
    }
    SqlError::new(SqlState::INVALID_PARAMETER, text)
}

impl ArrowFunction for LibraryFunction {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_immutable(&self) -> bool {
        self.udf.signature().volatility != Volatility::Volatile
    }

    fn invoke(&self, arguments: &[ArrayRef], rows: usize) -> SqlResult<ArrayRef> {
        let mut args = Vec::with_capacity(arguments.len());
        for ((array, field), constant) in arguments.iter().zip(&self.fields).zip(&self.constants) {
            args.push(match constant {
                Some(scalar) => ColumnarValue::Scalar(scalar.clone()),
                None if array.data_type() == field.data_type() => {
                    ColumnarValue::Array(Arc::clone(array))
                }
                None => ColumnarValue::Array(
                    cast(array, field.data_type()).map_err(|it| failed(&it.into()))?,
                ),
            });
        }
        let call = ScalarFunctionArgs {
            args,
            arg_fields: self.fields.clone(),
            number_rows: rows,
            return_field: Arc::clone(&self.returns),
            config_options: Arc::clone(&self.options),
        };
        let result = self.udf.invoke_with_args(call).and_then(|it| it.into_array(rows));
        let result = result.map_err(|it| failed(&it))?;
        let wanted = to_arrow(self.data_type);
        if result.data_type() == &wanted {
            return Ok(result);
        }
        cast(&result, &wanted).map_err(|it| failed(&it.into()))
    }
}

/// A date or timestamp plus an interval: months first, clamped to the last day of the month, then days, then time.
pub struct AddInterval {
    name: String,
    months: i32,
    days: i32,
    micros: i64,
}

impl AddInterval {
    /// For an interval of these parts.
    pub fn new(months: i32, days: i32, nanos: i64) -> Self {
        let micros = nanos / 1_000;
        let name = format!("add_interval[{months} months, {days} days, {micros} us]");
        Self { name, months, days, micros }
    }

    /// The day that many days after 1970-01-01 becomes.
    pub(super) fn on_days(&self, days: i64) -> i64 {
        if self.months == 0 {
            return days + i64::from(self.days);
        }
        let (year, month, day) = civil_from_days(days);
        let months = year * 12 + i64::from(month) - 1 + i64::from(self.months);
        let (year, month) = (months.div_euclid(12), months.rem_euclid(12) as u32 + 1);
        let first = days_from_civil(year, month);
        let next = if month == 12 {
            days_from_civil(year + 1, 1)
        } else {
            days_from_civil(year, month + 1)
        };
        first + (i64::from(day) - 1).min(next - first - 1) + i64::from(self.days)
    }

    fn on_micros(&self, micros: i64) -> Option<i64> {
        const DAY: i64 = 86_400_000_000;
        self.on_days(micros.div_euclid(DAY))
            .checked_mul(DAY)?
            .checked_add(micros.rem_euclid(DAY))?
            .checked_add(self.micros)
    }
}

/// The first day of a month, counted from 1970-01-01.
pub(super) fn days_from_civil(year: i64, month: u32) -> i64 {
    let year_from_march = if month <= 2 { year - 1 } else { year };
    let era = year_from_march.div_euclid(400);
    let year_of_era = year_from_march.rem_euclid(400);
    let month_from_march = i64::from((month + 9) % 12);
    let day_of_year = (153 * month_from_march + 2) / 5;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

impl ArrowFunction for AddInterval {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_immutable(&self) -> bool {
        true
    }

    fn invoke(&self, arguments: &[ArrayRef], _rows: usize) -> SqlResult<ArrayRef> {
        let range = || SqlError::new(SqlState::DATETIME_OVERFLOW, "date or time out of range");
        let Some(array) = arguments.first() else {
            return Err(SqlError::internal("a date function was called without a date"));
        };
        if let Some(dates) = array.as_primitive_opt::<Date32Type>() {
            let result: SqlResult<Date32Array> = dates
                .iter()
                .map(|it| {
                    it.map(|it| i32::try_from(self.on_days(i64::from(it))).map_err(|_| range()))
                        .transpose()
                })
                .collect();
            return Ok(Arc::new(result?));
        }
        let Some(times) = array.as_primitive_opt::<TimestampMicrosecondType>() else {
            return Err(SqlError::internal("an interval was added to neither date nor timestamp"));
        };
        let result: SqlResult<TimestampMicrosecondArray> = times
            .iter()
            .map(|it| it.map(|it| self.on_micros(it).ok_or_else(range)).transpose())
            .collect();
        Ok(Arc::new(result?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_are_clamped_to_the_end_of_the_month() {
        let leap = days_from_civil(2000, 3) - 1;
        assert_eq!(civil_from_days(leap), (2000, 2, 29));
        let year = AddInterval::new(12, 0, 0);
        assert_eq!(civil_from_days(year.on_days(leap)), (2001, 2, 28));
        let back = AddInterval::new(-1, -1, 0);
        assert_eq!(civil_from_days(back.on_days(days_from_civil(1970, 1))), (1969, 11, 30));
        assert_eq!(AddInterval::new(0, 0, 1_000).on_micros(i64::MAX), None);
        for month in 1..=12 {
            for year in [-400, -1, 0, 1, 1900, 1970, 2000, 2024] {
                assert_eq!(civil_from_days(days_from_civil(year, month)), (year, month, 1));
            }
        }
    }

    #[test]
    fn arrays_keep_their_nulls() {
        let dates: ArrayRef = Arc::new(Date32Array::from(vec![Some(0), None]));
        let result = AddInterval::new(1, 0, 0).invoke(&[dates], 2).unwrap();
        assert_eq!(result.as_primitive::<Date32Type>(), &Date32Array::from(vec![Some(31), None]));
        let far: ArrayRef = Arc::new(Date32Array::from(vec![i32::MAX]));
        let error = AddInterval::new(0, 1, 0).invoke(&[far], 1).unwrap_err();
        assert_eq!(error.state, SqlState::DATETIME_OVERFLOW);
    }
}
