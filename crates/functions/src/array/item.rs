//! Values of Arrow arrays as items of arrays, and items as values.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef, BooleanArray, Decimal128Array, PrimitiveArray, StringArray};
use arrow_schema::DataType as ArrowType;
use stdx::sync::Arc;
use types::array::{self, NULL_ITEM};
use types::{DataType, SqlResult};

use crate::call::{Call, Integers};
use crate::texts::Texts;

/// The values of an argument as items.
pub(crate) struct Source<'a> {
    array: &'a ArrayRef,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Null,
    Boolean(&'a BooleanArray),
    Integers(Integers<'a>),
    Decimals(&'a Decimal128Array),
    Single(&'a PrimitiveArray<Float32Type>),
    Double(&'a PrimitiveArray<Float64Type>),
    Days(&'a PrimitiveArray<Date32Type>),
    Times(&'a PrimitiveArray<TimestampMicrosecondType>),
    Texts(&'a StringArray),
}

impl<'a> Source<'a> {
    /// Of an argument by place.
    pub fn new(call: &Call<'a>, place: usize) -> SqlResult<Self> {
        let array = call.argument(place)?;
        let kind = match array.data_type() {
            ArrowType::Null => Kind::Null,
            ArrowType::Boolean => Kind::Boolean(array.as_boolean()),
            ArrowType::Int16 | ArrowType::Int32 | ArrowType::Int64 => {
                Kind::Integers(call.integers(place)?)
            }
            ArrowType::Decimal128(..) => Kind::Decimals(array.as_primitive::<Decimal128Type>()),
            ArrowType::Float32 => Kind::Single(array.as_primitive()),
            ArrowType::Float64 => Kind::Double(array.as_primitive()),
            ArrowType::Date32 => Kind::Days(array.as_primitive()),
            ArrowType::Timestamp(..) => Kind::Times(call.primitive(place)?),
            ArrowType::Utf8 => Kind::Texts(array.as_string()),
            _ => return Err(call.broken("an item of a type that arrays do not have")),
        };
        Ok(Self { array, kind })
    }

    /// Appends the item of a row.
    pub fn push(&self, row: usize, out: &mut String) {
        if self.array.is_null(row) {
            return out.push_str(NULL_ITEM);
        }
        match &self.kind {
            Kind::Null => out.push_str(NULL_ITEM),
            Kind::Boolean(it) => array::push_boolean(out, it.value(row)),
            Kind::Integers(it) => array::push_integer(out, it.at(row).into()),
            Kind::Decimals(it) => array::push_integer(out, it.value(row)),
            Kind::Single(it) => array::push_float(out, it.value(row).into()),
            Kind::Double(it) => array::push_float(out, it.value(row)),
            Kind::Days(it) => array::push_integer(out, it.value(row).into()),
            Kind::Times(it) => array::push_integer(out, it.value(row).into()),
            Kind::Texts(it) => array::push_text(out, it.value(row)),
        }
    }
}

/// The values of items as an array of the type that is wanted: `each` finds the item of a row.
pub(crate) fn values<'a>(
    call: &Call<'_>,
    mut each: impl FnMut(usize) -> SqlResult<Option<&'a str>>,
) -> SqlResult<ArrayRef> {
    let mut there = |row: usize| -> SqlResult<Option<&'a str>> {
        Ok(each(row)?.filter(|it| !array::is_null(it)))
    };
    match call.result.stored() {
        DataType::Boolean => {
            let values = (0..call.rows).map(|row| {
                if call.is_null(row) { Ok(None) } else { Ok(there(row)?.map(array::boolean_of)) }
            });
            Ok(Arc::new(values.collect::<SqlResult<BooleanArray>>()?))
        }
        DataType::SmallInt => call.map_optional::<Int16Type>(|row| {
            Ok(there(row)?.map(|it| array::integer_of(it) as i16))
        }),
        DataType::Integer => call.map_optional::<Int32Type>(|row| {
            Ok(there(row)?.map(|it| array::integer_of(it) as i32))
        }),
        DataType::BigInt => call.map_optional::<Int64Type>(|row| {
            Ok(there(row)?.map(|it| array::integer_of(it) as i64))
        }),
        DataType::Real => call.map_optional::<Float32Type>(|row| {
            Ok(there(row)?.map(|it| array::float_of(it) as f32))
        }),
        DataType::Double => {
            call.map_optional::<Float64Type>(|row| Ok(there(row)?.map(array::float_of)))
        }
        DataType::Date => call.map_optional::<Date32Type>(|row| {
            Ok(there(row)?.map(|it| array::integer_of(it) as i32))
        }),
        DataType::Timestamp => call.map_optional::<TimestampMicrosecondType>(|row| {
            Ok(there(row)?.map(|it| array::integer_of(it) as i64))
        }),
        DataType::Decimal { precision, scale } => {
            let values = (0..call.rows).map(|row| {
                if call.is_null(row) { Ok(None) } else { Ok(there(row)?.map(array::integer_of)) }
            });
            let values = values.collect::<SqlResult<Vec<Option<i128>>>>()?;
            let array = Decimal128Array::from_iter(values);
            let array = array.with_precision_and_scale(precision, scale as i8);
            Ok(Arc::new(array.map_err(|_| call.broken("an impossible decimal as result"))?))
        }
        _ => call.map_optional_texts(|row, out: &mut Texts| match there(row)? {
            Some(it) => out.push(&array::text_of(it)).map(|()| true),
            None => Ok(false),
        }),
    }
}
