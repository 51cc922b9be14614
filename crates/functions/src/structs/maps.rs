//! Functions of maps, which are held as arrays of their entries.

use arrow_array::{Array as _, ArrayRef, BooleanArray};
use plan::Function;
use stdx::sync::Arc;
use types::array::{self, Items, NULL_ITEM, close_list, push_text};
use types::numeric::common_type;
use types::structs::{StructType, map_of};
use types::{DataType, SqlError, SqlResult};

use crate::array::{Array, Source, each_held, values_of};
use crate::call::Call;

/// Whether a function is one of maps.
pub(crate) fn is_of_maps(function: Function) -> bool {
    use Function as F;
    matches!(
        function,
        F::MapOf
            | F::MapOfLists
            | F::MapItem
            | F::MapExtract
            | F::MapContains
            | F::MapConcat
            | F::MapKeys
            | F::MapValues
    )
}

/// Whether a NULL argument does not make the result NULL by itself.
pub(crate) fn takes_null(function: Function) -> bool {
    use Function as F;
    matches!(function, F::MapOf | F::MapConcat | F::MapExtract)
}

/// The types that the arguments of a function of maps are cast to and that of its result; `None` where it takes no such arguments.
pub(crate) fn signature(
    function: Function,
    arguments: &[DataType],
) -> Option<(Vec<DataType>, DataType)> {
    use Function as F;
    let made = |arguments: Vec<DataType>, result| Some((arguments, result));
    let entry = |it: &DataType| match it {
        DataType::Map(of) => Some((of.fields()[0].data_type, of.fields()[1].data_type)),
        _ => None,
    };
    match (function, arguments) {
        (F::MapOf, [_, _, ..]) if arguments.len().is_multiple_of(2) => {
            let common = |from: usize| {
                let mut types = arguments.iter().skip(from).step_by(2);
                types.try_fold(DataType::Null, |known, it| common_type(known, *it))
            };
            let (key, value) = (common(0)?, common(1)?);
            let types = (0..arguments.len()).map(|it| if it % 2 == 0 { key } else { value });
            made(types.collect(), DataType::Map(StructType::entry(key, value).ok()?))
        }
        (F::MapOfLists, [keys, values]) => {
            let of = StructType::entry(keys.element()?, values.element()?).ok()?;
            made(arguments.to_vec(), DataType::Map(of))
        }
        (F::MapItem | F::MapExtract | F::MapContains, [map, key]) => {
            let (own, value) = entry(map)?;
            let key = common_type(own, *key).filter(|it| *it == own)?;
            let result = match function {
                F::MapItem => value,
                F::MapExtract => value.array()?,
                _ => DataType::Boolean,
            };
            made(vec![*map, key], result)
        }
        (F::MapKeys, [map]) => made(vec![*map], entry(map)?.0.array()?),
        (F::MapValues, [map]) => made(vec![*map], entry(map)?.1.array()?),
        (F::MapConcat, [_, _, ..]) => {
            let mut types = arguments.iter();
            let common = types.try_fold(DataType::Null, |known, it| common_type(known, *it))?;
            entry(&common)?;
            made(vec![common; arguments.len()], common)
        }
        _ => None,
    }
}

/// The kernel of a function of maps.
pub(crate) fn kernel(call: &Call<'_>) -> SqlResult<ArrayRef> {
    use Function as F;
    match call.function {
        F::MapOf => of_pairs(call),
        F::MapOfLists => of_lists(call),
        F::MapItem | F::MapExtract | F::MapContains => looked_up(call),
        F::MapKeys => parts(call, 0),
        F::MapValues => parts(call, 1),
        F::MapConcat => concatenated(call),
        _ => Err(call.broken("no kernel for it")),
    }
}

/// Keys and values by turns.
fn of_pairs(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let sources = (0..call.count()).map(|it| Source::new(call, it));
    let sources = sources.collect::<SqlResult<Vec<_>>>()?;
    each_held(call, |row, out| {
        let entry = |pair: &[Source<'_>]| {
            let mut entry = String::new();
            pair.iter().for_each(|it| it.push(row, &mut entry));
            entry
        };
        let entries: Vec<String> = sources.chunks(2).map(entry).collect();
        out.push_str(&map_of(&entries)?);
        Ok(true)
    })
}

/// A list of keys and one of values.
fn of_lists(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (keys, values) = (call.texts(0)?, call.texts(1)?);
    let several =
        || SqlError::unsupported("a map of arrays of several dimensions is not supported");
    each_held(call, |row, out| {
        if call.is_null(row) {
            return Ok(false);
        }
        let (keys, values) = (Array::read(keys.value(row)), Array::read(values.value(row)));
        let ((keys, _), (values, _)) = (keys.list(several)?, values.list(several)?);
        if keys.len() != values.len() {
            let message = "the list of keys of a map is not as long as the list of its values";
            return Err(SqlError::new(types::SqlState("22000"), message));
        }
        let entries = keys.iter().zip(values).map(|(key, value)| format!("{key}{value}"));
        out.push_str(&map_of(&entries.collect::<Vec<_>>())?);
        Ok(true)
    })
}

/// The key and the value of an entry, as items.
fn pair(entry: &str) -> (&str, &str) {
    let mut items = Items::new(entry);
    (items.next().unwrap_or(NULL_ITEM), items.next().unwrap_or(NULL_ITEM))
}

/// The value of a key, a list of it, or whether it is there.
fn looked_up(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (maps, keys) = (call.texts(0)?, Source::new(call, 1)?);
    let found = |row: usize| -> Option<String> {
        let mut key = String::new();
        keys.push(row, &mut key);
        let entries = Items::new(maps.value(row)).map(array::text_of);
        let mut values = entries.filter_map(|it| {
            let (own, value) = pair(&it);
            (own == key).then(|| value.to_owned())
        });
        values.next()
    };
    match call.function {
        Function::MapContains => {
            let there = |row| (!call.is_null(row)).then(|| found(row).is_some());
            Ok(Arc::new((0..call.rows).map(there).collect::<BooleanArray>()))
        }
        Function::MapExtract => each_held(call, |row, out| {
            if maps.is_null(row) {
                return Ok(false);
            }
            if let Some(value) = found(row) {
                out.push_str(&value);
                close_list(out, 0, 1)?;
            }
            Ok(true)
        }),
        _ => {
            let all: Vec<Option<String>> = (0..call.rows)
                .map(|row| if call.is_null(row) { None } else { found(row) })
                .collect();
            values_of(call, |row| Ok(all[row].as_deref()))
        }
    }
}

/// All keys, or all values.
fn parts(call: &Call<'_>, place: usize) -> SqlResult<ArrayRef> {
    let maps = call.texts(0)?;
    each_held(call, |row, out| {
        if call.is_null(row) {
            return Ok(false);
        }
        let mut count = 0;
        for entry in Items::new(maps.value(row)).map(array::text_of) {
            let (key, value) = pair(&entry);
            out.push_str(if place == 0 { key } else { value });
            count += 1;
        }
        close_list(out, 0, count).map(|()| true)
    })
}

/// All entries of several maps; the last value of a key counts, in the place of the first. NULL has none.
fn concatenated(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let maps = (0..call.count()).map(|it| call.texts(it)).collect::<SqlResult<Vec<_>>>()?;
    each_held(call, |row, out| {
        let there = maps.iter().filter(|it| !it.is_null(row));
        let mut entries: Vec<(String, String)> = Vec::new();
        let mut places = std::collections::HashMap::new();
        let mut some = false;
        for map in there {
            some = true;
            for entry in Items::new(map.value(row)).map(array::text_of) {
                let (key, value) = pair(&entry);
                let place = *places.entry(key.to_owned()).or_insert(entries.len());
                match entries.get_mut(place) {
                    Some(known) => value.clone_into(&mut known.1),
                    None => entries.push((key.to_owned(), value.to_owned())),
                }
            }
        }
        for (key, value) in &entries {
            push_text(out, &format!("{key}{value}"));
        }
        close_list(out, 0, entries.len())?;
        Ok(some)
    })
}
