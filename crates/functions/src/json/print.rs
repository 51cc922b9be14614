//! JSON written in another way: without `null`, or in lines.

use arrow_array::ArrayRef;
use types::json::{self, Kind, Node, with_room};
use types::{DataType, SqlResult};

use super::rows::each_text;
use crate::call::Call;

/// `json_strip_nulls`: JSON loses its blanks, too.
pub(super) fn strip_nulls(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let values = call.texts(0)?;
    let flags = (call.count() > 1).then(|| call.booleans(1)).transpose()?;
    let between = if call.result == DataType::Jsonb { (", ", ": ") } else { (",", ":") };
    each_text(call, |row, out| {
        let value = values.value(row);
        let in_arrays = flags.is_some_and(|it| it.value(row));
        with_room(&[value], || put_stripped(value, in_arrays, between, out))?;
        Ok(true)
    })
}

fn put_stripped(
    value: &str,
    in_arrays: bool,
    between: (&str, &str),
    out: &mut String,
) -> SqlResult<()> {
    let found = json::kind(value);
    match found {
        Kind::Array => {
            out.push('[');
            let kept =
                json::elements(value).filter(|it| !in_arrays || json::kind(it) != Kind::Null);
            for (place, item) in kept.enumerate() {
                out.push_str(if place > 0 { between.0 } else { "" });
                put_stripped(item, in_arrays, between, out)?;
            }
            out.push(']');
        }
        Kind::Object => {
            out.push('{');
            let kept = json::members(value).filter(|it| json::kind(it.1) != Kind::Null);
            for (place, (key, item)) in kept.enumerate() {
                out.push_str(if place > 0 { between.0 } else { "" });
                json::put_string(&json::string_of(key)?, out);
                out.push_str(between.1);
                put_stripped(item, in_arrays, between, out)?;
            }
            out.push('}');
        }
        Kind::String => json::put_string(&json::string_of(value.trim())?, out),
        _ => out.push_str(value.trim()),
    }
    Ok(())
}

/// `jsonb_pretty`.
pub(super) fn pretty(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let values = call.texts(0)?;
    each_text(call, |row, out| {
        let value = values.value(row);
        with_room(&[value], || {
            put_lines(&Node::read(value)?, 0, out);
            Ok(true)
        })
    })
}

/// Blanks of a level.
const INDENT: usize = 4;

fn put_lines(node: &Node<'_>, level: usize, out: &mut String) {
    let line = |first: bool, level: usize, out: &mut String| {
        out.push_str(if first { "\n" } else { ",\n" });
        out.extend(std::iter::repeat_n(' ', level * INDENT));
    };
    match node {
        Node::Array(items) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                line(place == 0, level + 1, out);
                put_lines(item, level + 1, out);
            }
            line(true, level, out);
            out.push(']');
        }
        Node::Object(members) => {
            out.push('{');
            for (place, (key, item)) in members.iter().enumerate() {
                line(place == 0, level + 1, out);
                json::put_string(key, out);
                out.push_str(": ");
                put_lines(item, level + 1, out);
            }
            line(true, level, out);
            out.push('}');
        }
        scalar => scalar.write(out),
    }
}
