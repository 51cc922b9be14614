//! Arrays as lists of Arrow, in files and for callers, and lists as arrays: each list is an array of one dimension.

use arrow_array::builder::{
    BooleanBuilder, Date32Builder, Decimal128Builder, Float32Builder, Float64Builder, Int16Builder,
    Int32Builder, Int64Builder, StringBuilder, TimestampMicrosecondBuilder,
};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef, ListArray, StringArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType as ArrowType, Field};
use stdx::sync::Arc;
use types::array::{self, Dimension, Items};
use types::{DataType, SqlError, SqlResult, Value, numeric};

use crate::ColumnSchema;
use crate::outside;

/// The Arrow field of the items of an array.
fn item_field(element: DataType) -> Arc<Field> {
    Arc::new(outside::field("item", element, None))
}

/// The Arrow type of arrays as lists.
pub fn list_type(element: DataType) -> ArrowType {
    ArrowType::List(item_field(element))
}

/// Arrays, as the texts that PostgreSQL writes, as lists.
///
/// # Errors
/// 0A000 for an array of several dimensions, which no list is, and those of texts that are no arrays.
pub fn lists(texts: &StringArray, element: DataType) -> SqlResult<ArrayRef> {
    let (shapes, items) = items_of(texts, element)?;
    if shapes.iter().flatten().any(|it| it.len() > 1) {
        let message = "an array of several dimensions as a list is not supported";
        return Err(SqlError::unsupported(message).with_hint("write it as a text"));
    }
    let length = |it: &Option<Vec<Dimension>>| {
        it.iter().flatten().next().map_or(0, |it| usize::try_from(it.length).unwrap_or(0))
    };
    let lengths: Vec<usize> = shapes.iter().map(length).collect();
    let field = item_field(element);
    let nulls = NullBuffer::from_iter((0..texts.len()).map(|it| texts.is_valid(it)));
    let offsets = OffsetBuffer::from_lengths(lengths);
    let lists = ListArray::try_new(field, offsets, items, Some(nulls));
    Ok(Arc::new(lists.map_err(|it| SqlError::internal(format!("lists are malformed: {it}")))?))
}

/// The dimensions of arrays, as the texts that PostgreSQL writes, none of NULL; and all their items, one behind the other, as
/// others see them.
///
/// # Errors
/// Those of texts that are no arrays.
pub fn items_of(
    texts: &StringArray,
    element: DataType,
) -> SqlResult<(Vec<Option<Vec<Dimension>>>, ArrayRef)> {
    let of = element.array().ok_or_else(|| SqlError::internal("arrays of arrays"))?;
    let mut values = Vec::new();
    let mut shapes = Vec::with_capacity(texts.len());
    for text in texts {
        let held = text.map(|it| numeric::cast(&Value::Text(it.into()), DataType::Text, of));
        shapes.push(match held.transpose()? {
            Some(Value::Text(held)) => {
                values.extend(Items::new(&held).map(|it| array::value_of(it, element)));
                Some(array::dimensions(&held))
            }
            _ => None,
        });
    }
    let items = items(&values, element)?;
    Ok((shapes, outside::shown(&items, element, &item_field(element))))
}

/// Values of a type as Arrow holds them.
fn items(values: &[Value], of: DataType) -> SqlResult<ArrayRef> {
    macro_rules! all {
        ($builder:expr, $value:ident => $of:expr) => {{
            let mut builder = $builder;
            for $value in values {
                builder.append_option(if $value.is_null() { None } else { $of });
            }
            Arc::new(builder.finish())
        }};
    }
    let integer = |it: &Value| it.as_i128().unwrap_or(0);
    let float = |it: &Value| if let Value::Float(it) = it { *it } else { 0.0 };
    Ok(match of.stored() {
        DataType::Boolean => all!(BooleanBuilder::new(), it => Some(integer(it) != 0)),
        DataType::SmallInt => all!(Int16Builder::new(), it => Some(integer(it) as i16)),
        DataType::Integer => all!(Int32Builder::new(), it => Some(integer(it) as i32)),
        DataType::BigInt => all!(Int64Builder::new(), it => Some(integer(it) as i64)),
        DataType::Real => all!(Float32Builder::new(), it => Some(float(it) as f32)),
        DataType::Double => all!(Float64Builder::new(), it => Some(float(it))),
        DataType::Date => all!(Date32Builder::new(), it => Some(integer(it) as i32)),
        DataType::Timestamp => {
            all!(TimestampMicrosecondBuilder::new(), it => Some(integer(it) as i64))
        }
        DataType::Decimal { precision, scale } => {
            let builder = Decimal128Builder::new();
            let builder = builder.with_precision_and_scale(precision, scale.cast_signed());
            let builder = builder.map_err(|_| SqlError::internal("an impossible decimal"))?;
            all!(builder, it => Some(integer(it)))
        }
        _ => {
            let text =
                |it: &Value| if let Value::Text(it) = it { it.to_string() } else { String::new() };
            all!(StringBuilder::new(), it => Some(text(it)))
        }
    })
}

/// Lists as arrays are held; `None` of what are no lists.
///
/// # Errors
/// 42804 for items of another type, and those of arrays that are too large.
pub(crate) fn arrays(array: &ArrayRef, column: &ColumnSchema) -> SqlResult<Option<ArrayRef>> {
    let element = column.data_type.element();
    let Some(element) = element.filter(|_| is_list(array.data_type())) else { return Ok(None) };
    let mut out = StringBuilder::new();
    let mut held = String::new();
    for row in 0..array.len() {
        if array.is_null(row) {
            out.append_null();
            continue;
        }
        let list = match array.data_type() {
            ArrowType::List(_) => array.as_list::<i32>().value(row),
            ArrowType::LargeList(_) => array.as_list::<i64>().value(row),
            _ => array.as_fixed_size_list().value(row),
        };
        held.clear();
        put_list(&list, element, column, &mut held)?;
        out.append_value(&held);
    }
    Ok(Some(Arc::new(out.finish())))
}

fn is_list(of: &ArrowType) -> bool {
    matches!(of, ArrowType::List(_) | ArrowType::LargeList(_) | ArrowType::FixedSizeList(..))
}

/// Appends the items of a list and its dimension.
fn put_list(
    list: &ArrayRef,
    element: DataType,
    column: &ColumnSchema,
    out: &mut String,
) -> SqlResult<()> {
    if is_list(list.data_type()) {
        let message = "lists of lists are not supported";
        return Err(SqlError::unsupported(format!("{message} in column \"{}\"", column.name)));
    }
    let own = ColumnSchema { data_type: element, ..column.clone() };
    let list = match element.stored() == element.plain() {
        true => list.clone(),
        false => outside::held(list, &own)?,
    };
    let list = match *list.data_type() == crate::arrow_type(element) {
        true => list,
        false => arrow_cast::cast(&list, &crate::arrow_type(element)).map_err(|error| {
            let message = format!("items of column \"{}\" do not fit: {error}", column.name);
            SqlError::new(types::SqlState::DATATYPE_MISMATCH, message)
        })?,
    };
    for row in 0..list.len() {
        if list.is_null(row) {
            out.push_str(array::NULL_ITEM);
            continue;
        }
        match list.data_type() {
            ArrowType::Boolean => array::push_boolean(out, list.as_boolean().value(row)),
            ArrowType::Int16 => {
                array::push_integer(out, list.as_primitive::<Int16Type>().value(row).into());
            }
            ArrowType::Int32 => {
                array::push_integer(out, list.as_primitive::<Int32Type>().value(row).into());
            }
            ArrowType::Int64 => {
                array::push_integer(out, list.as_primitive::<Int64Type>().value(row).into());
            }
            ArrowType::Date32 => {
                array::push_integer(out, list.as_primitive::<Date32Type>().value(row).into());
            }
            ArrowType::Timestamp(..) => {
                let micros = list.as_primitive::<TimestampMicrosecondType>().value(row);
                array::push_integer(out, micros.into());
            }
            ArrowType::Decimal128(..) => {
                array::push_integer(out, list.as_primitive::<Decimal128Type>().value(row));
            }
            ArrowType::Float32 => {
                array::push_float(out, list.as_primitive::<Float32Type>().value(row).into());
            }
            ArrowType::Float64 => {
                array::push_float(out, list.as_primitive::<Float64Type>().value(row));
            }
            _ => array::push_text(out, list.as_string::<i32>().value(row)),
        }
    }
    array::close_list(out, 0, list.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_come_back_as_they_went() {
        for (element, texts) in [
            (DataType::Integer, vec![Some("{1,NULL,-3}"), None, Some("{}")]),
            (DataType::Text, vec![Some("{a,\"b c\",NULL}"), Some("{\"\"}")]),
            (DataType::Uuid, vec![Some("{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}"), None]),
            (DataType::Bytea, vec![Some("{\"\\\\x00ff\"}")]),
            (DataType::Decimal { precision: 9, scale: 2 }, vec![Some("{1.50,-2.00}")]),
            (DataType::Time, vec![Some("{01:02:03}")]),
        ] {
            let texts = StringArray::from(texts);
            let made = lists(&texts, element).unwrap();
            assert_eq!(*made.data_type(), list_type(element));
            let array = element.array().unwrap();
            let field = Field::new("c", made.data_type().clone(), true);
            assert_eq!(crate::schema::sql_type(&field, "f"), Ok(array));
            let column = ColumnSchema::new("c", array, true);
            let held = arrays(&made, &column).unwrap().unwrap();
            let text = |it: Option<&str>| {
                it.map(|it| {
                    let held = Value::Text(it.into());
                    numeric::cast(&held, array, DataType::Text).unwrap().to_string()
                })
            };
            let found: Vec<_> = held.as_string::<i32>().iter().map(text).collect();
            let expected: Vec<_> =
                texts.iter().map(|it| it.map(|it| Value::Text(it.into()).to_string())).collect();
            assert_eq!(found, expected, "{element}");
        }
        let twice = StringArray::from(vec!["{{1},{2}}"]);
        let refused = lists(&twice, DataType::Integer).unwrap_err();
        assert_eq!(refused.state.0, "0A000");
    }
}
