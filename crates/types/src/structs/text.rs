//! Structs, rows and maps as they are written.

use super::{StructType, values};
use crate::array::{self, Items, dimensions_behind, value_of};
use crate::numeric::format;
use crate::{DataType, Value, Zone};

/// Appends a struct, a row, a map or an array of such; moments are shown as the clocks of a zone show them.
pub fn format(held: &str, of: DataType, zone: &Zone, out: &mut String) {
    match of {
        DataType::Struct(it) if it.is_record() => row(held, it, zone, out),
        _ => nested(held, of, zone, out),
    }
}

/// A value within another one: `{'a': 1}`, `(1, x)`, `[1, NULL]`, `{k=v}`, or what [`quoted`] makes of any other.
fn nested(held: &str, of: DataType, zone: &Zone, out: &mut String) {
    match of {
        DataType::Struct(it) => {
            let [open, close] = if it.is_row() { ['(', ')'] } else { ['{', '}'] };
            out.push(open);
            for (number, (value, field)) in values(held, it).zip(it.fields()).enumerate() {
                out.push_str(if number > 0 { ", " } else { "" });
                if !it.is_row() {
                    put_quoted(&field.name, out);
                    out.push_str(": ");
                }
                part(&value, field.data_type, zone, out);
            }
            out.push(close);
        }
        DataType::Map(it) => {
            out.push('{');
            for (number, item) in Items::new(held).enumerate() {
                out.push_str(if number > 0 { ", " } else { "" });
                entry(&array::text_of(item), it, zone, out);
            }
            out.push('}');
        }
        DataType::Array(it) => list(held, it.data_type(), zone, out),
        _ => {}
    }
}

fn entry(held: &str, of: StructType, zone: &Zone, out: &mut String) {
    for (number, (value, field)) in values(held, of).zip(of.fields()).enumerate() {
        out.push_str(if number > 0 { "=" } else { "" });
        part(&value, field.data_type, zone, out);
    }
}

/// `[1, 2]`, and `[[1, 2], [3, 4]]` of several dimensions.
fn list(held: &str, of: DataType, zone: &Zone, out: &mut String) {
    let mut items = Items::new(held);
    let all: Vec<&str> = items.by_ref().collect();
    let shape = dimensions_behind(items.rest(), all.len());
    let lengths: Vec<usize> =
        shape.iter().map(|it| usize::try_from(it.length).unwrap_or(1).max(1)).collect();
    // A bracket opens or closes with each dimension at whose edge an item stands.
    let edges = |number: usize| {
        let mut size = 1;
        lengths.iter().rev().take_while(move |it| {
            size *= **it;
            number.is_multiple_of(size)
        })
    };
    if all.is_empty() {
        out.push_str("[]");
    }
    for (number, item) in all.iter().enumerate() {
        out.push_str(if number > 0 { ", " } else { "" });
        edges(number).for_each(|_| out.push('['));
        part(&value_of(item, of), of, zone, out);
        edges(number + 1).for_each(|_| out.push(']'));
    }
}

/// A part of a value that is written as DuckDB writes it.
fn part(value: &Value, of: DataType, zone: &Zone, out: &mut String) {
    match (value, of) {
        (Value::Null, _) => out.push_str("NULL"),
        (Value::Text(held), DataType::Struct(_) | DataType::Map(_) | DataType::Array(_)) => {
            nested(held, of, zone, out);
        }
        _ => {
            let mut text = String::new();
            plain(value, of, zone, &mut text);
            let special = |it: char| "\"'(),:=[\\]{}".contains(it);
            let space = |it: Option<char>| it.is_some_and(|it| it.is_ascii_whitespace());
            let is_plain = !text.is_empty()
                && !text.contains(special)
                && !text.eq_ignore_ascii_case("null")
                && !space(text.chars().next())
                && !space(text.chars().next_back());
            match is_plain {
                true => out.push_str(&text),
                false => put_quoted(&text, out),
            }
        }
    }
}

/// A value that has no parts.
fn plain(value: &Value, of: DataType, zone: &Zone, out: &mut String) {
    match (value, of) {
        (Value::Text(it), DataType::Char(length)) => out.push_str(&format::padded(it, length)),
        _ => format::value(value, of, zone, out),
    }
}

fn put_quoted(text: &str, out: &mut String) {
    out.push('\'');
    for it in text.chars() {
        if matches!(it, '\'' | '\\') {
            out.push('\\');
        }
        out.push(it);
    }
    out.push('\'');
}

/// A row, as PostgreSQL writes records.
fn row(held: &str, of: StructType, zone: &Zone, out: &mut String) {
    out.push('(');
    for (number, (value, field)) in values(held, of).zip(of.fields()).enumerate() {
        out.push_str(if number > 0 { "," } else { "" });
        let mut text = String::new();
        match value {
            Value::Null => continue,
            Value::Boolean(it) => text.push(if it { 't' } else { 'f' }),
            other => plain(&other, field.data_type, zone, &mut text),
        }
        let special =
            |it: char| matches!(it, '"' | '\\' | '(' | ')' | ',') || it.is_ascii_whitespace();
        if !text.is_empty() && !text.contains(special) {
            out.push_str(&text);
            continue;
        }
        out.push('"');
        for it in text.chars() {
            if matches!(it, '"' | '\\') {
                out.push(it);
            }
            out.push(it);
        }
        out.push('"');
    }
    out.push(')');
}
