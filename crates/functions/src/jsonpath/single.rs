//! What JSON_VALUE and JSON_QUERY take of what a path gives: one value.
//!
//! A mode says which: `value` (a scalar), `query` (any), `wrapped` (all in an array), `perhaps` (in an array unless it is one). With
//! `!` behind it nothing is an error, too.

use arrow_array::ArrayRef;
use arrow_array::types::Int32Type;
use types::SqlResult;
use types::json::Node;

use super::path::Path;
use super::rows::{Paths, run_row};
use super::run::{self, Fault, Outcome, soft};
use super::value::Value;
use crate::call::Call;
use crate::json::each_text;

/// The one value of a path, `None` of nothing.
fn single<'j>(
    path: &'j Path,
    root: &'j Node<'j>,
    given: run::Given<'j>,
    mode: &str,
) -> Outcome<Option<Value<'j>>> {
    let mut found = Vec::new();
    run::all(path, root, given, &mut found)?;
    let (mode, may_be_none) = match mode.strip_suffix('!') {
        Some(mode) => (mode, false),
        None => (mode, true),
    };
    if found.is_empty() {
        return match may_be_none {
            true => Ok(None),
            false => Err(soft("22035", "no SQL/JSON item found for specified path")),
        };
    }
    let array = |found: Vec<Value<'j>>| {
        Value::made(Node::Array(found.iter().map(|it| it.node().clone()).collect()))
    };
    match (mode, &found[..]) {
        ("wrapped", _) | ("perhaps", [_, _, ..]) => Ok(Some(array(found))),
        ("query" | "perhaps", [one]) => Ok(Some(one.clone())),
        ("query", _) => {
            let message = "JSON path expression in JSON_QUERY must return single item when no wrapper is requested";
            Err(soft("22034", message))
        }
        (_, [one]) if one.is_container() => {
            let message = "JSON path expression in JSON_VALUE must return single scalar item";
            Err(soft("2203F", message))
        }
        (_, [one]) => Ok(Some(one.clone())),
        _ => {
            let message = "JSON path expression in JSON_VALUE must return single scalar item";
            Err(soft("22034", message))
        }
    }
}

/// The value; NULL where there is none, and where an error does not count.
pub(super) fn value(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let modes = call.texts(4)?;
    let mut paths = Paths::default();
    each_text(call, |row, out| {
        let mode = modes.value(row);
        let found = run_row(call, &mut paths, row, &mut |path, root, of| {
            Ok(single(path, root, of, mode)?.map(|it| {
                let mut text = String::new();
                it.node().write(&mut text);
                text
            }))
        });
        match found?.flatten() {
            Some(text) => {
                out.push_str(&text);
                Ok(true)
            }
            None => Ok(false),
        }
    })
}

/// 1 where there is a value, 0 where there is none, -1 for an error.
pub(super) fn state(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let modes = call.texts(4)?;
    let mut paths = Paths::default();
    call.map::<Int32Type>(|row| {
        let mode = modes.value(row);
        let found = run_row(call, &mut paths, row, &mut |path, root, of| match single(
            path, root, of, mode,
        ) {
            Ok(found) => Ok(i32::from(found.is_some())),
            Err(Fault::Soft(_)) => Ok(-1),
            Err(hard) => Err(hard),
        });
        Ok(found?.unwrap_or(-1))
    })
}
