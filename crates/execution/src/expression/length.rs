//! `length` of texts, in characters or bytes. Compressed texts are counted by their codes and never read.

use plan::Function;
use types::{DataType, SqlResult};

use super::node::{Facts, Kernel, Node, Texts, compressed, for_texts};
use crate::{Batch, ColumnShape, TextVector, Values, Vector};

#[derive(Debug)]
struct Length {
    operand: Node,
    /// Whether bytes count, and not characters.
    bytes: bool,
}

/// Compiles the length of a text; gives the operand back where that is no such function, or no text.
pub(super) fn length(function: Function, mut arguments: Vec<Node>) -> Result<Node, Vec<Node>> {
    let bytes = match function {
        Function::CharacterLength => false,
        Function::OctetLength => true,
        _ => return Err(arguments),
    };
    let is_text = |it: &Node| it.shape.data_type == DataType::Text && !it.is_null();
    match arguments.pop() {
        Some(operand) if arguments.is_empty() && is_text(&operand) => {
            let facts = Facts::of([&operand]);
            let shape = ColumnShape::computed(DataType::Integer, facts.nullable);
            Ok(Node::new(shape, facts, Length { operand, bytes }))
        }
        last => {
            arguments.extend(last);
            Err(arguments)
        }
    }
}

/// The characters that begin in some bytes of UTF-8.
#[inline]
fn characters_in(text: &[u8]) -> i64 {
    text.iter().filter(|it| **it & 0xc0 != 0x80).count() as i64
}

impl Kernel for Length {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let argument = self.operand.argument(batch)?;
        let validity = argument.validity().cloned();
        if let Some((strings, positions)) = compressed(&argument, &self.operand.shape) {
            let length = |it: &u32| strings.length(*it as usize, self.bytes) as i64;
            let values = Values::I64(positions.iter().map(length).collect());
            return Ok(Vector { values, validity });
        }
        let mut space = TextVector::default();
        let texts = Texts::of(&argument, &self.operand.shape, &mut space);
        let rows = 0..batch.rows;
        let values = for_texts!(texts, get => match self.bytes {
            true => rows.map(|row| get(row).len() as i64).collect(),
            false => rows.map(|row| characters_in(get(row))).collect(),
        });
        Ok(Vector { values: Values::I64(values), validity })
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
    fn compressed_texts_are_as_long_as_they_read() {
        let begin = ["ab", "\u{1f600}\u{e9}", "", "the end of it"];
        let texts: Vec<String> =
            (0..5000).map(|it| format!("{}{it}\u{e9} of the same", begin[it % 4])).collect();
        let column = Arc::new(compressed_texts(&texts));
        let layout = vec![shape(&column)];
        let positions = Arc::new(Vector::new(Values::Codes((0..4096).collect())));
        let batch = Batch { rows: 4096, columns: vec![positions], sequence: 0 };
        for function in [Function::CharacterLength, Function::OctetLength] {
            let arguments = vec![Expr::column(0, DataType::Text)];
            let kind = ExprKind::Call { function, arguments };
            let expr = Expr { kind, data_type: DataType::Integer };
            let compiled = Compiled::new(&expr, &layout, &NoOutside).unwrap();
            let found = compiled.evaluate(&batch).unwrap();
            let Values::I64(found) = &found.values else { panic!("no numbers") };
            for (text, found) in texts[..4096].iter().zip(found) {
                let length = match function {
                    Function::OctetLength => text.len(),
                    _ => text.chars().count(),
                };
                assert_eq!(*found, length as i64, "{text}");
            }
        }
    }
}
