//! What functions make of all that a path gives.

use arrow_array::{ArrayRef, BooleanArray};
use plan::Function;
use types::json::Node;
use types::{SqlResult, array};

use super::rows::{Paths, run_row};
use super::run::{self, Fault};
use super::value::Value;
use super::{parse, print};
use crate::call::Call;
use crate::json::each_text;

/// The text of a path as PostgreSQL shows it.
pub(super) fn normal(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let texts = call.texts(0)?;
    each_text(call, |row, out| {
        let path = parse::parse(texts.value(row))?;
        out.push_str(&print::text(&path));
        Ok(true)
    })
}

/// Whether a path gives something, or the truth that it gives.
pub(super) fn truths(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let mut paths = Paths::default();
    let mut values = Vec::with_capacity(call.rows);
    for row in 0..call.rows {
        if call.is_null(row) {
            values.push(None);
            continue;
        }
        let is_silent = call.count() > 3 && call.booleans(3)?.value(row);
        let truth = match call.function {
            Function::JsonPathExists => run_row(call, &mut paths, row, &mut |path, root, of| {
                run::any(path, root, of).map(Some)
            }),
            _ => run_row(call, &mut paths, row, &mut |path, root, of| {
                let mut found = Vec::new();
                // A silent call goes by what was found before an error.
                match run::all(path, root, of, &mut found) {
                    Err(Fault::Soft(_)) if is_silent => {}
                    outcome => outcome?,
                }
                match found.iter().map(Value::node).collect::<Vec<_>>()[..] {
                    [Node::Boolean(truth)] => Ok(Some(*truth)),
                    [Node::Null] => Ok(None),
                    _ => Err(run::soft("22038", "single boolean result is expected")),
                }
            }),
        };
        values.push(truth?.flatten());
    }
    Ok(stdx::sync::Arc::new(BooleanArray::from(values)))
}

/// All values that a path gives, as an array, as JSON of an array, or the first one.
pub(super) fn values(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let mut paths = Paths::default();
    let mut item = String::new();
    each_text(call, |row, out| {
        let mut is_there = true;
        let mut write = |found: &[Value<'_>], out: &mut String| {
            out.clear();
            match call.function {
                Function::JsonPathFirst => match found.first() {
                    Some(it) => it.node().write(out),
                    None => is_there = false,
                },
                Function::JsonPathArray => {
                    out.push('[');
                    for (place, it) in found.iter().enumerate() {
                        out.push_str(if place > 0 { ", " } else { "" });
                        it.node().write(out);
                    }
                    out.push(']');
                }
                _ => {
                    for it in found {
                        item.clear();
                        it.node().write(&mut item);
                        array::push_text(out, &item);
                    }
                    array::close_list(out, 0, found.len())?;
                }
            }
            Ok(())
        };
        let mut written = Ok(());
        // What was found before an error that does not count stays.
        run_row(call, &mut paths, row, &mut |path, root, of| {
            let mut found = Vec::new();
            let outcome = run::all(path, root, of, &mut found);
            written = write(&found, out);
            outcome
        })?;
        written.map(|()| is_there)
    })
}
