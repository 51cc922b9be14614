//! Keys by which JSONB is compared: texts in PostgreSQL's order of JSONB.
//!
//! An array or an object is greater than any scalar, and greater than one with fewer elements or members; then come truths,
//! numbers, strings and `null`. An array without elements that is not inside of another value is the least of all, as in
//! PostgreSQL.

use super::number::{Parts, parts};
use super::tree::{Node, with_room};
use crate::SqlResult;
use crate::array::push_integer;

const EMPTY: char = '\u{10}';
const NULL: char = '\u{11}';
const STRING: char = '\u{12}';
const NUMBER: char = '\u{13}';
const FALSE: char = '\u{14}';
const TRUE: char = '\u{15}';
const ARRAY: char = '\u{16}';
const OBJECT: char = '\u{17}';
/// Below all characters of strings and digits of numbers.
const END: char = '\0';
/// Above all digits.
const END_OF_NEGATIVE: char = '~';

/// A text that is equal to that of another JSONB when both are equal, and else is in the same order.
///
/// # Errors
/// None for a JSONB.
pub fn order_key(jsonb: &str) -> SqlResult<String> {
    with_room(&[jsonb], || {
        let mut out = String::with_capacity(jsonb.len());
        match Node::read(jsonb)? {
            Node::Array(items) if items.is_empty() => out.push(EMPTY),
            node => put(&node, &mut out),
        }
        Ok(out)
    })
}

/// Whether two values that are no arrays and no objects are equal.
pub fn same_scalar(a: &Node<'_>, b: &Node<'_>) -> bool {
    match (a, b) {
        (Node::Number(a), Node::Number(b)) => {
            let key = |it| {
                let mut key = String::new();
                put_number(it, &mut key);
                key
            };
            a == b || key(a) == key(b)
        }
        _ => a == b,
    }
}

fn put(node: &Node<'_>, out: &mut String) {
    match node {
        Node::Null => out.push(NULL),
        Node::Boolean(it) => out.push(if *it { TRUE } else { FALSE }),
        Node::String(it) => put_string(it, out),
        Node::Number(it) => put_number(it, out),
        Node::Array(items) => {
            out.push(ARRAY);
            push_integer(out, items.len() as i128);
            items.iter().for_each(|it| put(it, out));
        }
        Node::Object(members) => {
            out.push(OBJECT);
            push_integer(out, members.len() as i128);
            for (key, value) in members {
                put_string(key, out);
                put(value, out);
            }
        }
    }
}

fn put_string(value: &str, out: &mut String) {
    out.push(STRING);
    out.push_str(value);
    out.push(END);
}

/// The sign, the place of the first digit, and the digits without zeros at both ends; turned round below zero.
fn put_number(text: &str, out: &mut String) {
    let Parts { negative, digits, whole } = parts(text);
    out.push(NUMBER);
    let significant = digits.trim_start_matches('0');
    let place = whole - (digits.len() - significant.len()) as i64;
    let significant = significant.trim_end_matches('0');
    match (significant.is_empty(), negative) {
        (true, _) => out.push('1'),
        (false, false) => {
            out.push('2');
            push_integer(out, place.into());
            out.push_str(significant);
            out.push(END);
        }
        (false, true) => {
            out.push('0');
            push_integer(out, (-place).into());
            out.extend(significant.bytes().map(|it| char::from(b'9' - it.min(b'9') + b'0')));
            out.push(END_OF_NEGATIVE);
        }
    }
}
