//! SUBSTRING with constant bounds.

use types::{DataType, SqlError, SqlResult, SqlState};

use super::cast::cast;
use super::characters::characters;
use super::node::{Argument, Facts, Kernel, Node, Texts, compressed, for_texts, push_text};
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

impl Substring {
    /// Of compressed texts, which are read no further than the last character that is taken.
    fn of_compressed(&self, argument: &Argument<'_>) -> Option<Values> {
        let (strings, positions) = compressed(argument, &self.operand.shape)?;
        // A character has at most four bytes.
        let reach = self.skip.saturating_add(self.take).saturating_mul(4);
        let (mut out, mut bytes) = (TextVector::default(), Vec::new());
        for &position in positions {
            bytes.clear();
            strings.append_first(position as usize, reach, &mut bytes);
            push_text(&mut out, characters(&bytes, self.skip, self.take));
        }
        Some(Values::Text(out))
    }
}

impl Kernel for Substring {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let argument = self.operand.argument(batch)?;
        if let Some(out) = self.of_compressed(&argument) {
            return Ok(Vector { values: out, validity: argument.validity().cloned() });
        }
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
    use plan::{Expr, ExprKind};
    use stdx::sync::Arc;

    use super::*;
    use crate::expression::Compiled;
    use crate::scan::decode::shape;
    use crate::testing::{NoOutside, compressed_texts};

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

    #[test]
    fn compressed_texts_are_read_as_far_as_characters_are_taken() {
        let begin = ["ab", "\u{1f600}\u{e9}", "", "the end of it"];
        let texts: Vec<String> =
            (0..5000).map(|it| format!("{}{it}\u{e9} of the same", begin[it % 4])).collect();
        let column = Arc::new(compressed_texts(&texts));
        let layout = vec![shape(&column)];
        let positions = Arc::new(Vector::new(Values::Codes((0..4096).collect())));
        let batch = Batch { rows: 4096, columns: vec![positions], sequence: 0 };
        for (start, length) in [(1, Some(3)), (2, Some(1)), (4, None), (-1, Some(4)), (40, Some(2))]
        {
            let operand = Box::new(Expr::column(0, DataType::Text));
            let kind = ExprKind::Substring { operand, start, length };
            let expr = Expr { kind, data_type: DataType::Text };
            let compiled = Compiled::new(&expr, &layout, &NoOutside).unwrap();
            let found = compiled.evaluate(&batch).unwrap();
            let Values::Text(found) = &found.values else { panic!("no texts") };
            let (skip, end) = ((start - 1).max(0), length.map_or(i64::MAX, |it| start - 1 + it));
            for (row, text) in texts[..4096].iter().enumerate() {
                let taken = text.chars().skip(skip as usize).take((end - skip).max(0) as usize);
                assert_eq!(found.get(row), taken.collect::<String>(), "{text} {start} {length:?}");
            }
        }
    }
}
