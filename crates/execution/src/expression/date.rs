//! Dates: EXTRACT of a field, and sums and differences with numbers of days. Where bounds prove that none is infinite, kernels
//! do not ask.

use plan::{BinaryOperator, DateField};
use types::numeric::datetime::{self, DAY};
use types::numeric::errors::{infinite_dates_apart, infinite_field, out_of_range};
use types::value::civil_from_days;
use types::{DataType, SqlError, SqlResult, SqlState};

use super::arithmetic::arithmetic;
use super::cast::cast;
use super::integers::{bounds_of, contains, may_be_infinite, type_range};
use super::kernels::{Lanes, both_valid, map2, valid_at};
use super::node::{Facts, Kernel, Node};
use crate::{Batch, Bitmap, ColumnShape, Representation, Values, Vector};

/// Dates that lie within this many days are looked up in a table of the field by day.
const TABLE_DAYS: i128 = 1 << 16;

#[derive(Debug)]
struct Extract {
    field: DateField,
    operand: Node,
    /// Whether the operand counts microseconds.
    timestamp: bool,
    /// First day and the field of each day from there.
    table: Option<(i64, Vec<i64>)>,
    /// Whether the operand may be infinite.
    infinite: bool,
}

/// Compiles EXTRACT.
pub(super) fn extract(field: DateField, operand: Node, data_type: DataType) -> SqlResult<Node> {
    if operand.is_null() {
        return Ok(Node::null(data_type));
    }
    let timestamp = match operand.shape.data_type {
        DataType::Date => false,
        DataType::Timestamp => true,
        other => return Err(SqlError::internal(format!("EXTRACT from {other}"))),
    };
    let (low, high) = bounds_of(&operand.shape);
    let day = |it: i128| if timestamp { (it as i64).div_euclid(DAY) } else { it as i64 };
    let bounds = match field {
        DateField::Year => {
            (field_of_day(field, day(low)).into(), field_of_day(field, day(high)).into())
        }
        DateField::Quarter => (1, 4),
        DateField::Month => (1, 12),
        DateField::Day => (1, 31),
    };
    let table =
        (!timestamp && operand.shape.bounds.is_some() && high - low < TABLE_DAYS).then(|| {
            let days = low as i64..=high as i64;
            (low as i64, days.map(|it| field_of_day(field, it)).collect())
        });
    let infinite = may_be_infinite(&operand.shape);
    let is_year = field == DateField::Year;
    let facts = Facts::of([&operand]).or_fallible(infinite && is_year);
    let shape = ColumnShape {
        data_type: DataType::BigInt,
        representation: Representation::I64,
        bounds: Some(bounds),
        nullable: facts.nullable || infinite && !is_year,
    };
    let kernel = Extract { field, operand, timestamp, table, infinite };
    cast(Node::new(shape, facts, kernel), data_type)
}

/// A date plus or minus a number of days (`data_type` is DATE), or the days between two dates.
pub(super) fn days(
    operator: BinaryOperator,
    left: Node,
    right: Node,
    data_type: DataType,
) -> SqlResult<Node> {
    let infinite = |it: &Node| it.shape.data_type == DataType::Date && may_be_infinite(&it.shape);
    if infinite(&left) || infinite(&right) {
        return Ok(DaysOfAny::node(operator, left, right, data_type));
    }
    let count = |it: Node| match it.shape.data_type {
        DataType::Date => it.relabelled(DataType::Integer),
        _ => it,
    };
    let days = arithmetic(operator, count(left), count(right), DataType::BigInt)?;
    let mut days = cast(days, DataType::Integer)?.relabelled(data_type);
    let bounds = bounds_of(&days.shape);
    let leaves = data_type == DataType::Date && !contains(CALENDAR, bounds);
    if !days.facts.fallible && !leaves {
        return Ok(days);
    }
    let mut shape = days.shape.clone();
    if leaves {
        shape.bounds = Some((bounds.0.max(CALENDAR.0), bounds.1.min(CALENDAR.1)));
        days.facts = days.facts.or_fallible(true);
    }
    let facts = days.facts.clone();
    Ok(Node::new(shape, facts, Days { days, checked: leaves }))
}

/// What dates hold.
const CALENDAR: (i128, i128) = (datetime::CALENDAR.0 as i128, datetime::CALENDAR.1 as i128);

/// Days whose overflow is that of a date.
#[derive(Debug)]
struct Days {
    days: Node,
    /// Whether they may be none of the calendar.
    checked: bool,
}

impl Kernel for Days {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let days = self.days.evaluate(batch);
        let days = days.map_err(|it| match it.state {
            SqlState::NUMERIC_OUT_OF_RANGE => out_of_range(DataType::Date),
            _ => it,
        })?;
        if self.checked
            && let Values::I64(values) = &days.values
        {
            let wrong =
                |(row, day): (usize, &i64)| datetime::date(*day).is_none() && days.is_valid(row);
            if values.iter().enumerate().any(wrong) {
                return Err(out_of_range(DataType::Date));
            }
        }
        Ok((*days).clone())
    }
}

/// Sums and differences of dates that may be infinite.
#[derive(Debug)]
struct DaysOfAny {
    operator: BinaryOperator,
    left: Node,
    right: Node,
    /// Whether both are dates, so that days between them are wanted.
    apart: bool,
}

impl DaysOfAny {
    fn node(operator: BinaryOperator, left: Node, right: Node, data_type: DataType) -> Node {
        if left.is_null() || right.is_null() {
            return Node::null(data_type);
        }
        let facts = Facts::of([&left, &right]).or_fallible(true);
        let shape = ColumnShape {
            data_type,
            representation: Representation::I64,
            bounds: None,
            nullable: facts.nullable,
        };
        // The date stands left.
        let (left, right) = match left.shape.data_type {
            DataType::Date => (left, right),
            _ => (right, left),
        };
        let apart = data_type != DataType::Date;
        Node::new(shape, facts, Self { operator, left, right, apart })
    }

    fn days(&self, date: i64, by: i64) -> SqlResult<i64> {
        let infinite = datetime::is_infinite_day(date);
        if self.apart {
            return match infinite || datetime::is_infinite_day(by) {
                true => Err(infinite_dates_apart()),
                false => Ok(date - by),
            };
        }
        let moved = match self.operator {
            _ if infinite => return Ok(date),
            BinaryOperator::Add => date.checked_add(by),
            _ => date.checked_sub(by),
        };
        let day = moved.and_then(datetime::date).map(i64::from);
        day.ok_or_else(|| out_of_range(DataType::Date))
    }
}

impl Kernel for DaysOfAny {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let (left, right) = (self.left.argument(batch)?, self.right.argument(batch)?);
        let validity = both_valid(left.validity(), right.validity());
        let (dates, others) = (left.i64(), right.i64());
        let mut values = vec![0; batch.rows];
        for (row, value) in values.iter_mut().enumerate() {
            if valid_at(validity.as_ref(), row) {
                *value = self.days(lane(dates, row), lane(others, row))?;
            }
        }
        let (low, high) = type_range(DataType::Integer);
        let within = |it: &i64| (low..=high).contains(&i128::from(*it));
        match values.iter().all(within) {
            true => Ok(Vector { values: Values::I64(values), validity }),
            false => Err(out_of_range(DataType::Integer)),
        }
    }
}

fn lane(values: Lanes<'_, i64>, row: usize) -> i64 {
    match values {
        Lanes::Slice(values) => values[row],
        Lanes::Constant(value) => value,
    }
}

/// A field of a day counted from 1970-01-01.
#[inline]
pub(super) fn field_of_day(field: DateField, day: i64) -> i64 {
    let (year, month, day) = civil_from_days(day);
    match field {
        // There is no year 0: the one before 1 is -1.
        DateField::Year => year - i64::from(year <= 0),
        DateField::Quarter => i64::from(month - 1) / 3 + 1,
        DateField::Month => i64::from(month),
        DateField::Day => i64::from(day),
    }
}

impl Extract {
    /// The fields where some operands may be infinite: these have none, but for the year, which no exact number tells.
    fn of_any(
        &self,
        rows: usize,
        values: Lanes<'_, i64>,
        validity: Option<&Bitmap>,
    ) -> SqlResult<Vector> {
        let (mut fields, mut valid) = (vec![0; rows], Bitmap::filled(rows, true));
        for (row, field) in fields.iter_mut().enumerate() {
            let value = lane(values, row);
            let (day, infinite) = match self.timestamp {
                true => (value.div_euclid(DAY), datetime::is_infinite(value)),
                false => (value, datetime::is_infinite_day(value)),
            };
            match valid_at(validity, row) {
                true if infinite && self.field == DateField::Year => return Err(infinite_field()),
                true if !infinite => *field = field_of_day(self.field, day),
                _ => valid.set(row, false),
            }
        }
        // A year is there wherever the operand is.
        let has_none = self.field == DateField::Year && validity.is_none();
        let validity = (!has_none).then_some(valid);
        Ok(Vector { values: Values::I64(fields), validity })
    }
}

impl Kernel for Extract {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let argument = self.operand.argument(batch)?;
        if self.infinite {
            return self.of_any(batch.rows, argument.i64(), argument.validity());
        }
        let (rows, values, none) = (batch.rows, argument.i64(), Lanes::Constant(()));
        let values = match (&self.table, self.field, self.timestamp) {
            // A NULL may hide any day.
            (Some((first, table)), ..) => map2(rows, values, none, |it, ()| {
                table.get(it.wrapping_sub(*first) as usize).copied().unwrap_or(0)
            }),
            (None, DateField::Year, false) => {
                map2(rows, values, none, |it, ()| field_of_day(DateField::Year, clamped(it)))
            }
            (None, field, false) => {
                map2(rows, values, none, |it, ()| field_of_day(field, clamped(it)))
            }
            (None, field, true) => {
                map2(rows, values, none, |it, ()| field_of_day(field, it.div_euclid(DAY)))
            }
        };
        Ok(Vector { values: Values::I64(values), validity: argument.validity().cloned() })
    }
}

/// What stands at a NULL may be no date at all; valid rows are within 32 bits.
#[inline]
fn clamped(day: i64) -> i64 {
    i64::from(day as i32)
}
