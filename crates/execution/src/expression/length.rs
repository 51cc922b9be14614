//! `length` of texts, in characters or bytes. Compressed texts are counted by their codes and never read.

use plan::Function;
use types::{DataType, SqlResult};

use super::node::{Facts, Kernel, Node, TextRun, Texts, compressed, for_texts};
use crate::{Batch, ColumnShape, TextVector, Values, Vector};

/// Texts beside one another that are looked at together, to see whether all are ASCII.
const TEXTS_TOGETHER: usize = 128;

/// A one in each byte of a word.
const ONES: u64 = u64::MAX / 0xff;

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

/// A one for each byte of a word that goes on with a character of UTF-8: its first bit is set and the second is not.
#[inline]
fn following(word: u64) -> u64 {
    (word >> 7) & !(word >> 6) & ONES
}

/// The characters that begin in some bytes of UTF-8, eight bytes at a time.
#[inline]
fn characters_in(text: &[u8]) -> i64 {
    let (words, rest) = text.as_chunks::<8>();
    let mut found = 0;
    // So many that no byte of the sum overflows.
    for words in words.chunks(255) {
        let sum: u64 = words.iter().map(|it| following(u64::from_le_bytes(*it))).sum();
        let pairs = (sum & 0x00ff_00ff_00ff_00ff) + (sum >> 8 & 0x00ff_00ff_00ff_00ff);
        found += pairs.wrapping_mul(0x0001_0001_0001_0001) >> 48;
    }
    let last = match text.last_chunk::<8>() {
        // Of the last eight bytes those that were not looked at yet.
        Some(last) if !rest.is_empty() => u64::from_le_bytes(*last) >> (64 - 8 * rest.len()),
        _ => rest.iter().rev().fold(0, |word, it| word << 8 | u64::from(*it)),
    };
    (text.len() as u64 - found - u64::from(following(last).count_ones())) as i64
}

/// Adds the characters of texts that stand one after the other: those of ASCII need not be counted.
fn characters_of_run(run: TextRun<'_>, lengths: &mut Vec<i64>) {
    let mut begin = run.start;
    for ends in run.ends.chunks(TEXTS_TOGETHER) {
        let place = |it: u32| (it - run.start) as usize;
        let last = ends.last().map_or(begin, |it| *it);
        let is_ascii = run.bytes[place(begin)..place(last)].is_ascii();
        lengths.extend(ends.iter().map(|&end| {
            let text = &run.bytes[place(begin)..place(end)];
            begin = end;
            if is_ascii { text.len() as i64 } else { characters_in(text) }
        }));
    }
}

/// The characters of some texts if they stand one after the other, as the entries of a dictionary do; behind those may stand
/// what NULL is looked up as.
fn characters_in_order(texts: &Texts<'_>, rows: usize) -> Option<Vec<i64>> {
    let (run, last) = match texts.run(rows) {
        Some(run) => (run, None),
        None => {
            let last = rows.checked_sub(1)?;
            (texts.run(last)?, Some(last))
        }
    };
    let mut lengths = Vec::with_capacity(rows);
    characters_of_run(run, &mut lengths);
    lengths.extend(last.map(|it| characters_in(texts.get(it))));
    Some(lengths)
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
        let counted = (!self.bytes).then(|| characters_in_order(&texts, batch.rows));
        if let Some(lengths) = counted.flatten() {
            return Ok(Vector { values: Values::I64(lengths), validity });
        }
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
    fn characters_are_counted_as_they_are_read() {
        let mut prng = stdx::Prng::new(5);
        let characters =
            ['a', '\u{7f}', '\u{80}', '\u{e9}', '\u{7ff}', '\u{20ac}', '\u{ffff}', '\u{1f600}'];
        for longest in [0, 3, 9, 40, 5_000] {
            // Some texts beside one another are ASCII, others are not.
            let mut texts = TextVector::default();
            for place in 0..300 {
                let of = if place < 140 { 2 } else { characters.len() as u64 };
                let length = prng.below(longest + 1);
                let text: String =
                    (0..length).map(|_| characters[prng.below(of) as usize]).collect();
                assert_eq!(characters_in(text.as_bytes()), text.chars().count() as i64, "{text}");
                texts.push(&text);
            }
            let expected: Vec<i64> = (0..texts.len())
                .map(|it| std::str::from_utf8(texts.bytes_at(it)).unwrap().chars().count() as i64)
                .collect();
            let found = characters_in_order(&Texts::Vector(&texts), texts.len()).unwrap();
            assert_eq!(found, expected);
        }
    }

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
