//! SUBSTRING with constant bounds.

use types::{DataType, SqlError, SqlResult, SqlState};

use super::cast::cast;
use super::node::{Facts, Kernel, Node, Texts, for_texts, push_text};
use crate::{Batch, ColumnShape, TextVector, Values, Vector};

#[derive(Debug)]
struct Substring {
    operand: Node,
    /// Characters left out.
    skip: usize,
    /// Characters taken.
    take: usize,
}

/// Compiles SUBSTRING; characters before the first count against the length, as SQL says.
pub(super) fn substring(
    operand: Node,
    start: i64,
    length: Option<i64>,
    data_type: DataType,
) -> SqlResult<Node> {
    if length.is_some_and(|it| it < 0) {
        return Err(SqlError::new(SqlState("22011"), "negative substring length not allowed"));
    }
    if operand.is_null() {
        return Ok(Node::null(data_type));
    }
    let end = length.map_or(i64::MAX, |it| start.saturating_add(it));
    let first = start.max(1);
    let skip = usize::try_from(first - 1).unwrap_or(usize::MAX);
    let take = usize::try_from(end.saturating_sub(first)).unwrap_or(0);
    let facts = Facts::of([&operand]);
    let shape = ColumnShape::computed(DataType::Text, facts.nullable);
    cast(Node::new(shape, facts, Substring { operand, skip, take }), data_type)
}

/// The bytes of `take` characters after `skip`.
#[inline]
pub(super) fn characters(text: &[u8], skip: usize, take: usize) -> &[u8] {
    // Bytes after those that are taken do not matter.
    let end = skip.saturating_add(take).min(text.len());
    if text[..end].is_ascii() {
        return &text[skip.min(end)..end];
    }
    let start = byte_place(text, skip);
    let rest = &text[start..];
    &rest[..byte_place(rest, take)]
}

/// Where the character of this number begins, or the end.
fn byte_place(text: &[u8], character: usize) -> usize {
    let begins = |(_, byte): &(usize, &u8)| **byte & 0xc0 != 0x80;
    text.iter().enumerate().filter(begins).nth(character).map_or(text.len(), |(place, _)| place)
}

impl Kernel for Substring {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let argument = self.operand.argument(batch)?;
        let mut space = TextVector::default();
        let texts = Texts::of(&argument, &self.operand.shape, &mut space);
        let mut out = TextVector::default();
        for_texts!(texts, get => {
            for row in 0..batch.rows {
                push_text(&mut out, characters(get(row), self.skip, self.take));
            }
        });
        Ok(Vector { values: Values::Text(out), validity: argument.validity().cloned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_not_bytes_are_counted() {
        let cases = [
            ("hello", 1, 3, "ell"),
            ("hello", 0, 9, "hello"),
            ("hello", 5, 1, ""),
            ("hello", 9, 1, ""),
            ("", 0, 1, ""),
            ("\u{e9}t\u{e9}", 1, 1, "t"),
            ("\u{e9}t\u{e9}", 1, usize::MAX, "t\u{e9}"),
            ("\u{1f600}a", 0, 1, "\u{1f600}"),
            ("\u{e9}", 2, 2, ""),
            ("ab\u{e9}", 0, 2, "ab"),
            ("ab\u{e9}c", 1, 2, "b\u{e9}"),
            ("abc", usize::MAX, usize::MAX, ""),
        ];
        for (text, skip, take, expected) in cases {
            assert_eq!(characters(text.as_bytes(), skip, take), expected.as_bytes(), "{text}");
        }
    }
}
