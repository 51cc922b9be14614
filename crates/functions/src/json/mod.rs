//! Functions of JSON and JSONB, which are held as texts ([`types::json`]): a part of a value is a part of its text, and only
//! what changes a value takes it apart.
//!
//! Reading order: `signature` (which types go together), `look` (parts and facts), `contains`, `list` (values as arrays), `build`
//! (JSON of other values), `constructor` (those of the standard), `change`, `path` and `subscript` (JSONB with something else in it), `print`, `duckdb_path`, `duckdb` and `duckdb_shape` (what DuckDB has).

mod build;
mod change;
mod constructor;
mod contains;
mod duckdb;
mod duckdb_path;
mod duckdb_shape;
mod list;
mod look;
mod path;
mod print;
mod record;
mod rows;
mod signature;
mod subscript;

use arrow_array::ArrayRef;
use plan::Function;
use types::SqlResult;

use crate::call::Call;

pub(crate) use build::{put_items, put_text};
pub(crate) use rows::{each_text, invalid};
pub(crate) use signature::signature;

/// The kernel of a function of JSON; `None` of any other.
pub(crate) fn kernel(call: &Call<'_>) -> Option<SqlResult<ArrayRef>> {
    use Function as F;
    Some(match call.function {
        F::JsonGet | F::JsonGetText => look::get(call),
        F::JsonPath | F::JsonPathText => look::path(call),
        F::JsonTypeof => look::type_of(call),
        F::JsonArrayLength => look::array_length(call),
        F::JsonHasKey => look::has_key(call),
        F::JsonHasAnyKey | F::JsonHasAllKeys => look::has_keys(call),
        F::IsJson => look::is_json(call),
        F::JsonKey => look::order_key(call),
        F::JsonContains => contains::contains(call),
        F::JsonElements | F::JsonElementsText | F::JsonValues | F::JsonValuesText => {
            list::values(call)
        }
        F::JsonKeys => list::keys(call),
        F::JsonObjectOf | F::JsonNotNull | F::JsonScalarText => record::value(call),
        F::JsonArrayItems => record::array(call),
        F::JsonOfText => build::of_text(call),
        F::JsonOfArray => build::of_array(call),
        F::JsonBuildArray => build::array(call),
        F::JsonBuildObject => build::object(call),
        F::JsonMembers => constructor::members(call),
        F::JsonPresentItems => constructor::present_items(call),
        F::JsonUniqueKeys => constructor::unique_keys(call),
        F::JsonMember => build::member(call),
        F::JsonOfMembers => build::of_members(call),
        F::JsonObject => build::of_texts(call),
        F::JsonConcat => change::concat(call),
        F::JsonDelete | F::JsonDeleteKey => change::delete(call),
        F::JsonDeletePath | F::JsonInsert | F::JsonSet => path::changed(call),
        F::JsonSetItem => subscript::set(call),
        F::JsonStripNulls => print::strip_nulls(call),
        F::JsonPretty => print::pretty(call),
        F::JsonExtract | F::JsonExtractString => duckdb::extract(call),
        F::JsonKind => duckdb::type_of(call),
        F::JsonKeysAt => duckdb::keys(call),
        F::JsonLengthAt => duckdb::length(call),
        F::JsonPut | F::JsonPutNew | F::JsonPutOld | F::JsonRemove => duckdb::changed(call),
        F::JsonMergePatch => duckdb::merge_patch(call),
        F::JsonDeepMerge | F::JsonPatchBetween => duckdb_shape::of_two(call),
        F::JsonHolds => duckdb_shape::contains(call),
        F::JsonNormal => duckdb_shape::in_order(call),
        F::JsonStructure => duckdb_shape::structure(call),
        _ => return None,
    })
}

/// Whether a NULL argument does not make the result NULL by itself.
pub(crate) fn takes_null(function: Function) -> bool {
    use Function as F;
    matches!(
        function,
        F::JsonBuildArray
            | F::JsonBuildObject
            | F::JsonMember
            | F::JsonMembers
            | F::JsonPresentItems
            | F::JsonSetItem
    )
}
