//! One call on whole arrays: its arguments by type, and loops over the rows that are not NULL.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Float64Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, Decimal128Array, PrimitiveArray, StringArray,
};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use plan::Function;
use stdx::sync::Arc;
use types::numeric::{datetime, decimal};
use types::{DataType, SqlError, SqlResult};

use crate::error::{infinite, out_of_range};
use crate::texts::Texts;

/// A function, its arguments, and the type that is wanted.
pub(crate) struct Call<'a> {
    pub function: Function,
    pub arguments: &'a [ArrayRef],
    pub rows: usize,
    pub result: DataType,
    /// Rows in which some argument is NULL.
    nulls: Option<NullBuffer>,
}

impl<'a> Call<'a> {
    /// A call.
    pub fn new(
        function: Function,
        arguments: &'a [ArrayRef],
        rows: usize,
        result: DataType,
    ) -> Self {
        let nulls = arguments
            .iter()
            .fold(None, |nulls, it| NullBuffer::union(nulls.as_ref(), it.logical_nulls().as_ref()));
        Self { function, arguments, rows, result, nulls }
    }

    /// How many arguments there are.
    pub fn count(&self) -> usize {
        self.arguments.len()
    }

    /// Whether an argument of a row is NULL.
    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|it| it.is_null(row))
    }

    /// An argument.
    pub fn argument(&self, index: usize) -> SqlResult<&'a ArrayRef> {
        self.arguments.get(index).ok_or_else(|| self.broken("too few arguments"))
    }

    /// Whether there is such an argument and it is text.
    pub fn is_text(&self, index: usize) -> bool {
        self.arguments.get(index).is_some_and(|it| it.data_type() == &ArrowType::Utf8)
    }

    /// An argument of primitive values.
    pub fn primitive<T: ArrowPrimitiveType>(
        &self,
        index: usize,
    ) -> SqlResult<&'a PrimitiveArray<T>> {
        let array = self.argument(index)?.as_primitive_opt::<T>();
        array.ok_or_else(|| self.broken("an argument of another type"))
    }

    /// An argument of texts.
    pub fn texts(&self, index: usize) -> SqlResult<&'a StringArray> {
        let array = self.argument(index)?.as_string_opt::<i32>();
        array.ok_or_else(|| self.broken("an argument that is not text"))
    }

    /// An argument of texts that may be left out.
    pub fn optional_texts(&self, index: usize) -> SqlResult<Option<&'a StringArray>> {
        (index < self.count()).then(|| self.texts(index)).transpose()
    }

    /// An argument of truth values.
    pub fn booleans(&self, index: usize) -> SqlResult<&'a BooleanArray> {
        let array = self.argument(index)?.as_boolean_opt();
        array.ok_or_else(|| self.broken("an argument that is not a truth value"))
    }

    /// An argument of floats.
    pub fn floats(&self, index: usize) -> SqlResult<&'a PrimitiveArray<Float64Type>> {
        self.primitive(index)
    }

    /// An argument of whole numbers of any width.
    pub fn integers(&self, index: usize) -> SqlResult<Integers<'a>> {
        let array = self.argument(index)?;
        match array.data_type() {
            ArrowType::Int16 => Ok(Integers::Small(array.as_primitive())),
            ArrowType::Int32 => Ok(Integers::Normal(array.as_primitive())),
            ArrowType::Int64 => Ok(Integers::Big(array.as_primitive())),
            _ => Err(self.broken("an argument that is not an integer")),
        }
    }

    /// An argument of whole numbers that may be left out.
    pub fn optional_integers(&self, index: usize) -> SqlResult<Option<Integers<'a>>> {
        (index < self.count()).then(|| self.integers(index)).transpose()
    }

    /// An argument of exact numbers.
    pub fn exact(&self, index: usize) -> SqlResult<Exact<'a>> {
        match self.argument(index)?.as_primitive_opt() {
            Some(decimals) => Ok(Exact::Decimals(decimals)),
            None => Ok(Exact::Integers(self.integers(index)?)),
        }
    }

    /// An argument of points of time of which none may be infinite; a date counts from its midnight. Error: 22008.
    pub fn moments(&self, index: usize) -> SqlResult<Moments<'a>> {
        let moments = self.any_moments(index)?;
        match (0..self.rows).any(|row| !self.is_null(row) && moments.infinite(row).is_some()) {
            true => Err(infinite(self.function)),
            false => Ok(moments),
        }
    }

    /// An argument of points of time, which may be infinite.
    pub fn any_moments(&self, index: usize) -> SqlResult<Moments<'a>> {
        let array = self.argument(index)?;
        match array.data_type() {
            ArrowType::Date32 => Ok(Moments::Dates(array.as_primitive())),
            ArrowType::Timestamp(TimeUnit::Microsecond, None) => {
                Ok(Moments::Times(array.as_primitive()))
            }
            _ => Err(self.broken("an argument that is neither date nor timestamp")),
        }
    }

    /// What the planner must not have asked for.
    pub fn broken(&self, what: &str) -> SqlError {
        SqlError::internal(format!("function {} was called with {what}", self.function.name()))
    }

    /// A text per row, or nothing for NULL.
    pub fn map_optional_texts(
        &self,
        mut each: impl FnMut(usize, &mut Texts) -> SqlResult<bool>,
    ) -> SqlResult<ArrayRef> {
        let mut texts = Texts::with_capacity(self.rows);
        for row in 0..self.rows {
            if !self.is_null(row) && each(row, &mut texts)? {
                texts.end();
            } else {
                texts.null();
            }
        }
        Ok(texts.finish())
    }

    /// A text per row.
    pub fn map_texts(
        &self,
        mut each: impl FnMut(usize, &mut Texts) -> SqlResult<()>,
    ) -> SqlResult<ArrayRef> {
        self.map_optional_texts(|row, texts| each(row, texts).map(|()| true))
    }

    /// A primitive value per row, or `None` for NULL.
    pub fn map_optional<T: ArrowPrimitiveType>(
        &self,
        mut each: impl FnMut(usize) -> SqlResult<Option<T::Native>>,
    ) -> SqlResult<ArrayRef> {
        let values = (0..self.rows).map(|row| if self.is_null(row) { Ok(None) } else { each(row) });
        let values: SqlResult<Vec<Option<T::Native>>> = values.collect();
        Ok(Arc::new(PrimitiveArray::<T>::from_iter(values?)))
    }

    /// A primitive value per row.
    pub fn map<T: ArrowPrimitiveType>(
        &self,
        mut each: impl FnMut(usize) -> SqlResult<T::Native>,
    ) -> SqlResult<ArrayRef> {
        self.map_optional::<T>(|row| each(row).map(Some))
    }

    /// A point of time per row that is made of another; an infinite one stays.
    pub fn map_moments(
        &self,
        moments: Moments<'_>,
        mut each: impl FnMut(usize) -> SqlResult<i64>,
    ) -> SqlResult<ArrayRef> {
        self.map::<TimestampMicrosecondType>(|row| {
            moments.infinite(row).map_or_else(|| each(row), Ok)
        })
    }

    /// A truth value per row.
    pub fn map_booleans(
        &self,
        mut each: impl FnMut(usize) -> SqlResult<bool>,
    ) -> SqlResult<ArrayRef> {
        let values =
            (0..self.rows).map(|row| if self.is_null(row) { Ok(false) } else { each(row) });
        let values: SqlResult<Vec<bool>> = values.collect();
        Ok(Arc::new(BooleanArray::new(BooleanBuffer::from(values?), self.nulls.clone())))
    }

    /// A whole number per row, as INTEGER.
    pub fn map_integers(
        &self,
        mut each: impl FnMut(usize) -> SqlResult<usize>,
    ) -> SqlResult<ArrayRef> {
        self.map::<Int32Type>(|row| {
            i32::try_from(each(row)?).map_err(|_| out_of_range(DataType::Integer))
        })
    }

    /// An exact number per row: the integer, or the digits of the decimal, of the type that is wanted.
    pub fn map_exact(&self, mut each: impl FnMut(usize) -> SqlResult<i128>) -> SqlResult<ArrayRef> {
        self.map_optional_exact(|row| each(row).map(Some))
    }

    /// An exact number per row as [`Self::map_exact`] has it, or `None` for NULL.
    pub fn map_optional_exact(
        &self,
        mut each: impl FnMut(usize) -> SqlResult<Option<i128>>,
    ) -> SqlResult<ArrayRef> {
        let result = self.result;
        let range = || out_of_range(result);
        let mut within = |row: usize| match each(row)? {
            Some(it) if !decimal::fits(it, result) => Err(range()),
            it => Ok(it),
        };
        match result {
            DataType::SmallInt => {
                self.map_optional::<Int16Type>(|row| Ok(within(row)?.map(|it| it as i16)))
            }
            DataType::Integer => {
                self.map_optional::<Int32Type>(|row| Ok(within(row)?.map(|it| it as i32)))
            }
            DataType::BigInt => {
                self.map_optional::<Int64Type>(|row| Ok(within(row)?.map(|it| it as i64)))
            }
            DataType::Decimal { precision, scale } => {
                let values = (0..self.rows)
                    .map(|row| if self.is_null(row) { Ok(None) } else { within(row) });
                let values: SqlResult<Vec<Option<i128>>> = values.collect();
                let array = Decimal128Array::from_iter(values?);
                let array = array.with_precision_and_scale(precision, scale as i8);
                Ok(Arc::new(array.map_err(|_| self.broken("an impossible decimal as result"))?))
            }
            _ => Err(self.broken("a result that is no exact number")),
        }
    }
}

/// Whole numbers of any width.
#[derive(Clone, Copy)]
pub(crate) enum Integers<'a> {
    Small(&'a PrimitiveArray<Int16Type>),
    Normal(&'a PrimitiveArray<Int32Type>),
    Big(&'a PrimitiveArray<Int64Type>),
}

impl Integers<'_> {
    /// The number of a row.
    pub fn at(self, row: usize) -> i64 {
        match self {
            Self::Small(it) => i64::from(it.value(row)),
            Self::Normal(it) => i64::from(it.value(row)),
            Self::Big(it) => it.value(row),
        }
    }
}

/// Exact numbers.
#[derive(Clone, Copy)]
pub(crate) enum Exact<'a> {
    Integers(Integers<'a>),
    Decimals(&'a Decimal128Array),
}

impl Exact<'_> {
    /// All digits of the number of a row.
    pub fn at(self, row: usize) -> i128 {
        match self {
            Self::Integers(it) => i128::from(it.at(row)),
            Self::Decimals(it) => it.value(row),
        }
    }

    /// How many of the digits stand behind the point.
    pub fn scale(self) -> u32 {
        match self {
            Self::Integers(_) => 0,
            Self::Decimals(it) => u32::try_from(it.scale()).unwrap_or(0),
        }
    }
}

/// Dates or timestamps.
#[derive(Clone, Copy)]
pub(crate) enum Moments<'a> {
    Dates(&'a PrimitiveArray<Date32Type>),
    Times(&'a PrimitiveArray<TimestampMicrosecondType>),
}

impl Moments<'_> {
    /// As a timestamp holds it, where it is infinite.
    pub fn infinite(self, row: usize) -> Option<i64> {
        match self {
            Self::Dates(it) => {
                let day = i64::from(it.value(row));
                datetime::is_infinite_day(day).then(|| datetime::timestamp_of_date(day))?
            }
            Self::Times(it) => Some(it.value(row)).filter(|it| datetime::is_infinite(*it)),
        }
    }

    /// The day from 1970-01-01 and the microsecond of the day.
    pub fn at(self, row: usize) -> (i64, i64) {
        const DAY: i64 = crate::calendar::MICROS_PER_DAY;
        match self {
            Self::Dates(it) => (i64::from(it.value(row)), 0),
            Self::Times(it) => (it.value(row).div_euclid(DAY), it.value(row).rem_euclid(DAY)),
        }
    }
}

/// The Arrow form of a type: that of what it is stored as.
pub(crate) fn arrow_type(data_type: DataType) -> ArrowType {
    match data_type.stored() {
        DataType::Null => ArrowType::Null,
        DataType::Boolean => ArrowType::Boolean,
        DataType::SmallInt => ArrowType::Int16,
        DataType::Integer => ArrowType::Int32,
        DataType::BigInt => ArrowType::Int64,
        DataType::Real => ArrowType::Float32,
        DataType::Double => ArrowType::Float64,
        DataType::Decimal { precision, scale } => ArrowType::Decimal128(precision, scale as i8),
        DataType::Date => ArrowType::Date32,
        DataType::Timestamp => ArrowType::Timestamp(TimeUnit::Microsecond, None),
        DataType::Char(_) | DataType::Bpchar | DataType::Varchar(_) | DataType::Text => {
            ArrowType::Utf8
        }
        held => unreachable!("invariant: {held} is not held as itself"),
    }
}
