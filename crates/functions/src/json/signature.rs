//! Which types the arguments of functions of JSON are cast to, and what comes out.

use plan::Function;
use types::{DataType, Element};

use crate::resolve::Signature;

const TEXT: DataType = DataType::Text;
const TEXTS: DataType = DataType::Array(Element::Text);
const BOOLEAN: DataType = DataType::Boolean;
const JSONB: DataType = DataType::Jsonb;

/// The signature of a call of a function of JSON; `None` where it takes no such arguments.
pub(crate) fn signature(function: Function, arguments: &[DataType]) -> Option<Signature> {
    looked_at(function, arguments)
        .or_else(|| changed(function, arguments))
        .or_else(|| built(function, arguments))
}

fn made(arguments: &[DataType], result: DataType) -> Option<Signature> {
    Some(Signature { arguments: arguments.to_vec(), result })
}

fn text(it: DataType) -> Option<DataType> {
    (it == DataType::Null || it.is_text()).then_some(TEXT)
}

/// A key or a place.
fn key(it: DataType) -> Option<DataType> {
    if it.is_integer() { Some(DataType::BigInt) } else { text(it) }
}

fn texts(it: DataType) -> Option<DataType> {
    (it == DataType::Null || it.element().is_some_and(DataType::is_text)).then_some(TEXTS)
}

fn jsonb(it: DataType) -> Option<DataType> {
    matches!(it, DataType::Jsonb | DataType::Null).then_some(JSONB)
}

fn json(it: DataType) -> Option<DataType> {
    it.is_json().then_some(it)
}

fn boolean(it: DataType) -> Option<DataType> {
    matches!(it, DataType::Boolean | DataType::Null).then_some(BOOLEAN)
}

/// Parts and facts.
fn looked_at(function: Function, arguments: &[DataType]) -> Option<Signature> {
    use Function as F;
    match (function, arguments) {
        (F::JsonGet, &[of, at]) => made(&[json(of)?, key(at)?], of),
        (F::JsonGetText, &[of, at]) => made(&[json(of)?, key(at)?], TEXT),
        (F::JsonPath, &[of, path]) => made(&[json(of)?, texts(path)?], of),
        (F::JsonPathText, &[of, path]) => made(&[json(of)?, texts(path)?], TEXT),
        (F::JsonTypeof, &[of]) => made(&[json(of)?], TEXT),
        (F::JsonArrayLength, &[of]) => made(&[json(of)?], DataType::Integer),
        (F::JsonContains, &[a, b]) => made(&[jsonb(a)?, jsonb(b)?], BOOLEAN),
        (F::JsonHasKey, &[of, key]) => made(&[jsonb(of)?, text(key)?], BOOLEAN),
        (F::JsonHasAnyKey | F::JsonHasAllKeys, &[of, keys]) => {
            made(&[jsonb(of)?, texts(keys)?], BOOLEAN)
        }
        (F::JsonElements | F::JsonValues, &[of, name]) => {
            made(&[json(of)?, text(name)?], of.array()?)
        }
        (F::JsonElementsText | F::JsonValuesText | F::JsonKeys, &[of, name]) => {
            made(&[json(of)?, text(name)?], TEXTS)
        }
        (F::JsonObjectOf, &[of, name]) => made(&[json(of)?, text(name)?], of),
        (F::JsonNotNull, &[of]) => made(&[json(of)?], of),
        (F::JsonArrayItems, &[of, whole]) => made(&[json(of)?, boolean(whole)?], TEXTS),
        (F::JsonScalarText, &[of]) => made(&[json(of)?], TEXT),
        (F::JsonKey, &[DataType::Array(Element::Jsonb)]) => {
            made(&[DataType::Array(Element::Jsonb)], TEXTS)
        }
        (F::JsonKey, &[of]) => made(&[jsonb(of)?], TEXT),
        (F::JsonExtract, &[of, path]) => made(&[json(of)?, text(path)?], DataType::Json),
        (F::JsonExtractString, &[of, path]) => made(&[json(of)?, text(path)?], TEXT),
        (F::JsonKind, &[of]) => made(&[json(of)?], TEXT),
        (F::JsonKind, &[of, path]) => made(&[json(of)?, text(path)?], TEXT),
        (F::JsonKeysAt, &[of]) => made(&[json(of)?], TEXTS),
        (F::JsonKeysAt, &[of, path]) => made(&[json(of)?, text(path)?], TEXTS),
        (F::JsonLengthAt, &[of, path]) => made(&[json(of)?, text(path)?], DataType::BigInt),
        (F::IsJson, &[of, kind, unique]) => {
            let of = if of.is_json() { of } else { text(of)? };
            made(&[of, text(kind)?, boolean(unique)?], BOOLEAN)
        }
        _ => None,
    }
}

/// JSON with something else in it.
fn changed(function: Function, arguments: &[DataType]) -> Option<Signature> {
    use Function as F;
    match (function, arguments) {
        (F::JsonConcat, &[a, b]) => made(&[jsonb(a)?, jsonb(b)?], JSONB),
        (F::JsonDelete, &[of, place]) if place.is_integer() => {
            made(&[jsonb(of)?, DataType::BigInt], JSONB)
        }
        (F::JsonDelete, &[of, keys]) => made(&[jsonb(of)?, texts(keys)?], JSONB),
        (F::JsonDeleteKey, &[of, key]) => made(&[jsonb(of)?, text(key)?], JSONB),
        (F::JsonDeletePath, &[of, path]) => made(&[jsonb(of)?, texts(path)?], JSONB),
        (F::JsonSet | F::JsonInsert, &[of, path, value]) => {
            made(&[jsonb(of)?, texts(path)?, jsonb(value)?], JSONB)
        }
        (F::JsonSet | F::JsonInsert, &[of, path, value, flag]) => {
            made(&[jsonb(of)?, texts(path)?, jsonb(value)?, boolean(flag)?], JSONB)
        }
        (F::JsonSetItem, &[of, path, value, is_number]) => {
            made(&[jsonb(of)?, texts(path)?, jsonb(value)?, boolean(is_number)?], JSONB)
        }
        (F::JsonStripNulls, &[of]) => made(&[json(of)?], of),
        (F::JsonStripNulls, &[of, flag]) => made(&[json(of)?, boolean(flag)?], of),
        (F::JsonPretty, &[of]) => made(&[jsonb(of)?], TEXT),
        (F::JsonPut | F::JsonPutNew | F::JsonPutOld, &[of, path, value]) => {
            made(&[json(of)?, text(path)?, json(value)?], DataType::Json)
        }
        (F::JsonRemove, &[of, path]) => made(&[json(of)?, text(path)?], DataType::Json),
        (F::JsonNormal, &[of]) => made(&[json(of)?], DataType::Json),
        (F::JsonStructure, &[of]) => made(&[json(of)?], DataType::Json),
        (F::JsonHolds, &[a, b]) => made(&[json(a)?, json(b)?], BOOLEAN),
        (F::JsonMergePatch | F::JsonDeepMerge | F::JsonPatchBetween, &[a, b]) => {
            made(&[json(a)?, json(b)?], DataType::Json)
        }
        _ => None,
    }
}

/// JSON of other values. Binding says whether it is JSONB; as functions alone they make JSON.
fn built(function: Function, arguments: &[DataType]) -> Option<Signature> {
    use Function as F;
    let result = DataType::Json;
    match (function, arguments) {
        (F::JsonBuildArray, [_, ..]) if arguments.iter().all(|it| json(*it).is_some()) => {
            made(arguments, result)
        }
        (F::JsonPresentItems, [_, ..]) if arguments.iter().all(|it| json(*it).is_some()) => {
            made(arguments, result)
        }
        (F::JsonMembers, [word, members @ ..]) if members.len().is_multiple_of(2) => {
            let mut types = vec![text(*word)?];
            for pair in members.chunks_exact(2) {
                types.extend([text(pair[0])?, json(pair[1])?]);
            }
            made(&types, result)
        }
        (F::JsonUniqueKeys, &[of, outermost]) => made(&[json(of)?, boolean(outermost)?], of),
        (F::JsonBuildObject, [colon, comma, members @ ..]) if members.len().is_multiple_of(2) => {
            let mut types = vec![text(*colon)?, text(*comma)?];
            for pair in members.chunks_exact(2) {
                types.extend([text(pair[0])?, json(pair[1])?]);
            }
            made(&types, result)
        }
        (F::JsonOfText, &[of, kind]) => made(&[text(of)?, text(kind)?], result),
        (F::JsonOfArray, &[of, kind, separator]) => {
            let of = match of.element() {
                Some(item) if item.is_json() => of,
                _ => texts(of)?,
            };
            made(&[of, text(kind)?, text(separator)?], result)
        }
        (F::JsonMember, &[key, value]) => {
            let value = json(value).or((value == DataType::Null).then_some(result))?;
            made(&[text(key)?, value], TEXT)
        }
        (F::JsonOfMembers, &[of]) => made(&[texts(of)?], result),
        (F::JsonObject, &[of]) => made(&[texts(of)?], result),
        (F::JsonObject, &[keys, values]) => made(&[texts(keys)?, texts(values)?], result),
        _ => None,
    }
}
