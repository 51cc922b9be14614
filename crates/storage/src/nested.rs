//! Lists, structs and maps of Arrow as arrays, structs and maps are held.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef, builder::StringBuilder};
use arrow_schema::DataType as ArrowType;
use stdx::sync::Arc;
use types::array;
use types::structs::{self, StructType};
use types::{DataType, SqlError, SqlResult};

use crate::{ColumnSchema, outside};

/// Lists, structs and maps as they are held; `None` of other arrays.
///
/// # Errors
/// 42804 for parts of another type, and those of arrays that are too large and of maps with a key twice.
pub(crate) fn held(array: &ArrayRef, column: &ColumnSchema) -> SqlResult<Option<ArrayRef>> {
    if !is_nested(array.data_type()) {
        return Ok(None);
    }
    let parts = Parts::of(array, column.data_type, column)?;
    let (mut out, mut text) = (StringBuilder::new(), String::new());
    for row in 0..array.len() {
        if array.is_null(row) {
            out.append_null();
            continue;
        }
        text.clear();
        parts.put(row, &mut text)?;
        out.append_value(&text);
    }
    Ok(Some(Arc::new(out.finish())))
}

fn is_nested(of: &ArrowType) -> bool {
    is_list(of) || matches!(of, ArrowType::Struct(_) | ArrowType::Map(..))
}

fn is_list(of: &ArrowType) -> bool {
    matches!(of, ArrowType::List(_) | ArrowType::LargeList(_) | ArrowType::FixedSizeList(..))
}

/// An array of Arrow, ready to be read as values of a type.
enum Parts {
    /// Values that have no parts, in the Arrow form that the engine holds them in.
    Plain(ArrayRef),
    /// The items of lists: where those of each row begin and end, and the items.
    List(Vec<(usize, usize)>, Box<Items>),
    /// The fields of structs.
    Fields(Vec<Items>),
    /// The entries of maps.
    Map(Vec<(usize, usize)>, Box<Items>),
}

/// Parts that may be NULL.
struct Items {
    array: ArrayRef,
    parts: Parts,
}

impl Items {
    fn of(array: &ArrayRef, of: DataType, column: &ColumnSchema) -> SqlResult<Self> {
        Ok(Self { array: array.clone(), parts: Parts::of(array, of, column)? })
    }

    /// Appends a value as an item.
    fn put(&self, row: usize, out: &mut String) -> SqlResult<()> {
        if self.array.is_null(row) {
            out.push_str(array::NULL_ITEM);
            return Ok(());
        }
        match &self.parts {
            Parts::Plain(it) => {
                if it.is_null(row) {
                    out.push_str(array::NULL_ITEM);
                } else {
                    put_plain(it, row, out);
                }
                Ok(())
            }
            nested => {
                let mut text = String::new();
                nested.put(row, &mut text)?;
                array::push_text(out, &text);
                Ok(())
            }
        }
    }
}

impl Parts {
    fn of(array: &ArrayRef, of: DataType, column: &ColumnSchema) -> SqlResult<Self> {
        let other = || {
            let (name, arrow) = (&column.name, array.data_type());
            let message = format!(
                "a part of column \"{name}\" is of type {of} but of the Arrow type {arrow}"
            );
            SqlError::new(types::SqlState::DATATYPE_MISMATCH, message)
        };
        match (of, array.data_type()) {
            (DataType::Array(it), arrow) if is_list(arrow) => {
                let (places, items) = list_of(array);
                if is_list(items.data_type()) {
                    let message = "lists of lists are not supported";
                    let name = &column.name;
                    return Err(SqlError::unsupported(format!("{message} in column \"{name}\"")));
                }
                Ok(Self::List(places, Box::new(Items::of(&items, it.data_type(), column)?)))
            }
            (DataType::Struct(it), ArrowType::Struct(_)) => {
                Self::fields(array, it, column, &other).map(Self::Fields)
            }
            (DataType::Map(it), ArrowType::Map(..)) => {
                let map = array.as_map();
                let offsets = map.value_offsets().windows(2);
                let places = offsets.map(|it| (it[0] as usize, it[1] as usize)).collect();
                let entries: ArrayRef = Arc::new(map.entries().clone());
                Ok(Self::Map(places, Box::new(Items::of(&entries, DataType::Struct(it), column)?)))
            }
            (DataType::Array(_) | DataType::Struct(_) | DataType::Map(_), _) => Err(other()),
            (_, arrow) if is_nested(arrow) => Err(other()),
            _ => plain(array, of, column).map(Self::Plain),
        }
    }

    fn fields(
        array: &ArrayRef,
        of: StructType,
        column: &ColumnSchema,
        other: &dyn Fn() -> SqlError,
    ) -> SqlResult<Vec<Items>> {
        let columns = array.as_struct().columns();
        if columns.len() != of.fields().len() {
            return Err(other());
        }
        let each = columns.iter().zip(of.fields());
        each.map(|(array, field)| Items::of(array, field.data_type, column)).collect()
    }

    /// Appends what is held of a row that is not NULL and has parts.
    fn put(&self, row: usize, out: &mut String) -> SqlResult<()> {
        match self {
            Self::Plain(it) => {
                put_plain(it, row, out);
                Ok(())
            }
            Self::List(places, items) => {
                let (from, to) = places[row];
                (from..to).try_for_each(|it| items.put(it, out))?;
                array::close_list(out, 0, to - from)
            }
            Self::Fields(fields) => fields.iter().try_for_each(|it| it.put(row, out)),
            Self::Map(places, entries) => {
                let (from, to) = places[row];
                let mut all = Vec::with_capacity(to - from);
                for it in from..to {
                    let mut entry = String::new();
                    entries.parts.put(it, &mut entry)?;
                    all.push(entry);
                }
                out.push_str(&structs::map_of(&all)?);
                Ok(())
            }
        }
    }
}

/// Where the items of each row of lists begin and end, and the items. NULL has none.
fn list_of(array: &ArrayRef) -> (Vec<(usize, usize)>, ArrayRef) {
    let rows = 0..array.len();
    match array.data_type() {
        ArrowType::List(_) => {
            let list = array.as_list::<i32>();
            let offsets = list.value_offsets();
            let place = |it: usize| (offsets[it] as usize, offsets[it + 1] as usize);
            (rows.map(place).collect(), list.values().clone())
        }
        ArrowType::LargeList(_) => {
            let list = array.as_list::<i64>();
            let offsets = list.value_offsets();
            let place = |it: usize| (offsets[it] as usize, offsets[it + 1] as usize);
            (rows.map(place).collect(), list.values().clone())
        }
        _ => {
            let list = array.as_fixed_size_list();
            let size = usize::try_from(list.value_length()).unwrap_or(0);
            let from = usize::try_from(list.value_offset(0)).unwrap_or(0);
            let place = |it: usize| (from + it * size, from + (it + 1) * size);
            (rows.map(place).collect(), list.values().clone())
        }
    }
}

/// Values without parts, in the Arrow form that the engine holds them in.
fn plain(array: &ArrayRef, of: DataType, column: &ColumnSchema) -> SqlResult<ArrayRef> {
    let own = ColumnSchema { data_type: of, ..column.clone() };
    let array = match of.stored() == of.plain() {
        true => array.clone(),
        false => outside::held(array, &own)?,
    };
    if *array.data_type() == crate::arrow_type(of) {
        return Ok(array);
    }
    arrow_cast::cast(&array, &crate::arrow_type(of)).map_err(|error| {
        let message = format!("items of column \"{}\" do not fit: {error}", column.name);
        SqlError::new(types::SqlState::DATATYPE_MISMATCH, message)
    })
}

/// Appends a value that is not NULL as an item.
fn put_plain(values: &ArrayRef, row: usize, out: &mut String) {
    match values.data_type() {
        ArrowType::Boolean => array::push_boolean(out, values.as_boolean().value(row)),
        ArrowType::Int16 => {
            array::push_integer(out, values.as_primitive::<Int16Type>().value(row).into());
        }
        ArrowType::Int32 => {
            array::push_integer(out, values.as_primitive::<Int32Type>().value(row).into());
        }
        ArrowType::Int64 => {
            array::push_integer(out, values.as_primitive::<Int64Type>().value(row).into());
        }
        ArrowType::Date32 => {
            array::push_integer(out, values.as_primitive::<Date32Type>().value(row).into());
        }
        ArrowType::Timestamp(..) => {
            let micros = values.as_primitive::<TimestampMicrosecondType>().value(row);
            array::push_integer(out, micros.into());
        }
        ArrowType::Decimal128(..) => {
            array::push_integer(out, values.as_primitive::<Decimal128Type>().value(row));
        }
        ArrowType::Float32 => {
            array::push_float(out, values.as_primitive::<Float32Type>().value(row).into());
        }
        ArrowType::Float64 => {
            array::push_float(out, values.as_primitive::<Float64Type>().value(row));
        }
        ArrowType::Null => out.push_str(array::NULL_ITEM),
        _ => array::push_text(out, values.as_string::<i32>().value(row)),
    }
}
