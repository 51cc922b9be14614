//! Arrays, structs and maps as lists, structs and maps of Arrow, in files and for callers (`nested.rs` has the way back).

use arrow_array::builder::{
    BooleanBuilder, Date32Builder, Decimal128Builder, Float32Builder, Float64Builder, Int16Builder,
    Int32Builder, Int64Builder, StringBuilder, TimestampMicrosecondBuilder,
};
use arrow_array::{Array, ArrayRef, ListArray, MapArray, StringArray, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType as ArrowType, Field, Fields};
use stdx::sync::Arc;
use types::array::{self, Dimension, Items};
use types::structs::{self, StructType};
use types::{DataType, SqlError, SqlResult, Value, numeric};

use crate::outside;

/// A field of values of a type as others see them, with lists, structs and maps.
pub fn outer_field(name: &str, of: DataType) -> Field {
    let arrow = match of {
        DataType::Array(it) => ArrowType::List(Arc::new(outer_field("item", it.data_type()))),
        DataType::Struct(it) => ArrowType::Struct(fields(it)),
        DataType::Map(it) => ArrowType::Map(Arc::new(entries_field(it)), false),
        other => return outside::field(name, other, None),
    };
    Field::new(name, arrow, true)
}

/// The fields of a struct; those of a row are called as PostgreSQL calls them.
fn fields(of: StructType) -> Fields {
    let name = |(place, name): (usize, &str)| match name {
        "" => format!("f{}", place + 1),
        name => name.to_owned(),
    };
    let all = of.fields().iter().enumerate();
    all.map(|(place, it)| outer_field(&name((place, &it.name)), it.data_type)).collect()
}

/// The field of the entries of a map, whose keys are never NULL.
fn entries_field(of: StructType) -> Field {
    let fields = fields(of);
    let mut all = fields.iter();
    let key = all.next().map(|it| it.as_ref().clone().with_nullable(false));
    let fields: Fields = key.into_iter().map(Arc::new).chain(all.cloned()).collect();
    Field::new("entries", ArrowType::Struct(fields), false)
}

/// Arrays, structs or maps, as the texts that results have, in the form of [`outer_field`].
///
/// # Errors
/// 0A000 for an array of several dimensions, which no list is, and those of texts that are none.
pub fn outer(texts: &StringArray, of: DataType) -> SqlResult<ArrayRef> {
    let read = |text: Option<&str>| match text {
        Some(text) => numeric::cast(&Value::Text(text.into()), DataType::Text, of),
        None => Ok(Value::Null),
    };
    let values = texts.iter().map(read).collect::<SqlResult<Vec<_>>>()?;
    column(&values, of)
}

fn malformed(error: &ArrowError) -> SqlError {
    SqlError::internal(format!("lists or structs are malformed: {error}"))
}

/// Values as others see them.
fn column(values: &[Value], of: DataType) -> SqlResult<ArrayRef> {
    let nulls = || Some(NullBuffer::from_iter(values.iter().map(|it| !it.is_null())));
    let held = |it: &Value| match it {
        Value::Text(held) => Some(held.clone()),
        _ => None,
    };
    match of {
        DataType::Struct(it) => {
            let made = StructArray::try_new(fields(it), columns(values, it)?, nulls());
            Ok(Arc::new(made.map_err(|it| malformed(&it))?))
        }
        DataType::Array(it) => {
            let (mut items, mut lengths) = (Vec::new(), Vec::with_capacity(values.len()));
            for value in values {
                let Some(held) = held(value) else {
                    lengths.push(0);
                    continue;
                };
                if array::dimensions(&held).len() > 1 {
                    let message = "an array of several dimensions as a list is not supported";
                    return Err(SqlError::unsupported(message).with_hint("write it as a text"));
                }
                let before = items.len();
                items.extend(Items::new(&held).map(|item| array::value_of(item, it.data_type())));
                lengths.push(items.len() - before);
            }
            let field = Arc::new(outer_field("item", it.data_type()));
            let offsets = OffsetBuffer::from_lengths(lengths);
            let made = ListArray::try_new(field, offsets, column(&items, it.data_type())?, nulls());
            Ok(Arc::new(made.map_err(|it| malformed(&it))?))
        }
        DataType::Map(it) => {
            let (mut entries, mut lengths) = (Vec::new(), Vec::with_capacity(values.len()));
            for value in values {
                let before = entries.len();
                if let Some(held) = held(value) {
                    let each = Items::new(&held).map(|it| Value::Text(array::text_of(it).into()));
                    entries.extend(each);
                }
                lengths.push(entries.len() - before);
            }
            let field = Arc::new(entries_field(it));
            let ArrowType::Struct(fields) = field.data_type().clone() else {
                return Err(SqlError::internal("entries without fields"));
            };
            let made = StructArray::try_new(fields, columns(&entries, it)?, None);
            let made = made.map_err(|it| malformed(&it))?;
            let offsets = OffsetBuffer::from_lengths(lengths);
            let made = MapArray::try_new(field, offsets, made, nulls(), false);
            Ok(Arc::new(made.map_err(|it| malformed(&it))?))
        }
        _ => {
            let items = items(values, of)?;
            Ok(outside::shown(&items, of, &outer_field("item", of)))
        }
    }
}

/// The fields of structs, NULL where the struct is.
fn columns(values: &[Value], of: StructType) -> SqlResult<Vec<ArrayRef>> {
    let mut all: Vec<Vec<Value>> = vec![Vec::with_capacity(values.len()); of.fields().len()];
    for value in values {
        let held = if let Value::Text(held) = value { &**held } else { "" };
        for (column, value) in all.iter_mut().zip(structs::values(held, of)) {
            column.push(value);
        }
    }
    all.iter().zip(of.fields()).map(|(values, it)| column(values, it.data_type)).collect()
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
    Ok((shapes, column(&values, element)?))
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

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;

    use super::*;
    use crate::ColumnSchema;

    fn written(held: Option<&str>, of: DataType) -> Option<String> {
        let value = Value::Text(held?.into());
        match numeric::cast(&value, of, DataType::Text).unwrap() {
            Value::Text(text) => Some(text.to_string()),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn values_come_back_as_they_went() {
        let field = structs::Field::new;
        let ab = vec![field("a", DataType::Integer), field("b", DataType::Text)];
        let ab = DataType::Struct(StructType::new(ab).unwrap());
        let deep = vec![field("l", ab.array().unwrap()), field("t", DataType::TimestampTz)];
        let deep = DataType::Struct(StructType::new(deep).unwrap());
        let map = DataType::Map(StructType::entry(DataType::Text, DataType::Double).unwrap());
        let list = |it: DataType| it.array().unwrap();
        for (of, texts) in [
            (list(DataType::Integer), vec![Some("{1,NULL,-3}"), None, Some("{}")]),
            (list(DataType::Text), vec![Some("{a,\"b c\",NULL}"), Some("{\"\"}")]),
            (list(DataType::Uuid), vec![Some("{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}"), None]),
            (list(DataType::Bytea), vec![Some("{\"\\\\x00ff\"}")]),
            (list(DataType::Decimal { precision: 9, scale: 2 }), vec![Some("{1.50,-2.00}")]),
            (list(DataType::Time), vec![Some("{01:02:03}")]),
            (ab, vec![Some("{'a': 1, 'b': x}"), None, Some("{'a': NULL, 'b': ''}")]),
            (list(ab), vec![Some("[{'a': 1, 'b': x}, NULL]"), None, Some("[]")]),
            (
                deep,
                vec![
                    Some("{'l': [{'a': 1, 'b': NULL}], 't': '2020-01-02 03:04:05+00'}"),
                    Some("{'l': NULL, 't': NULL}"),
                ],
            ),
            (map, vec![Some("{k=1.5, l=NULL}"), None, Some("{}")]),
        ] {
            let texts = StringArray::from(texts);
            let made = outer(&texts, of).unwrap();
            let field = outer_field("c", of);
            assert_eq!(made.data_type(), field.data_type());
            assert_eq!(crate::schema::sql_type(&field, "f"), Ok(of));
            let column = ColumnSchema::new("c", of, true);
            let held = crate::nested::held(&made, &column).unwrap().unwrap();
            let found: Vec<_> = held.as_string::<i32>().iter().map(|it| written(it, of)).collect();
            let expected: Vec<_> = texts.iter().map(|it| it.map(str::to_owned)).collect();
            assert_eq!(found, expected, "{of}");
        }
        let twice = StringArray::from(vec!["{{1},{2}}"]);
        let refused = outer(&twice, list(DataType::Integer)).unwrap_err();
        assert_eq!(refused.state.0, "0A000");
    }
}
