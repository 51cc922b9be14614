//! From rows as storage holds them on their way to vectors: which rows are picked, and how their values are held in a batch.

use std::ops::Range;

use storage::{HeldColumn, HeldValues, float_of_key, text_bytes};
use types::{SqlError, SqlResult};

use crate::vector::WINDOW;
use crate::{Bitmap, ColumnShape, TextVector, Values, Vector};

/// So many rows must come for each text of a dictionary that copies of the texts are made for a batch first.
const ROWS_PER_TEXT_MIN: usize = 4;

/// Rows of a block that become a batch.
#[derive(Clone)]
pub(super) enum Picked<'a> {
    /// Neighbours.
    Range(Range<usize>),
    /// Some, in rising order; at least one.
    Places(&'a [u32]),
}

impl Picked<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Range(rows) => rows.len(),
            Self::Places(places) => places.len(),
        }
    }

    /// The row that comes first.
    pub(super) fn first(&self) -> usize {
        self.row(0) as usize
    }

    /// One of the rows, by its place among them.
    pub(super) fn row(&self, at: usize) -> u32 {
        match self {
            Self::Range(rows) => (rows.start + at) as u32,
            Self::Places(places) => places.get(at).copied().unwrap_or_default(),
        }
    }

    /// Those that lie in a piece of the block.
    fn within(&self, piece: &Range<usize>) -> Self {
        match self {
            Self::Range(rows) => {
                let start = rows.start.clamp(piece.start, piece.end);
                Self::Range(start..rows.end.clamp(start, piece.end))
            }
            Self::Places(places) => {
                let until = |end: usize| places.partition_point(|it| (*it as usize) < end);
                Self::Places(&places[until(piece.start)..until(piece.end)])
            }
        }
    }
}

/// Some rows of a column in pieces, held as a shape says.
pub(super) fn pick(
    pieces: &[HeldColumn],
    shape: &ColumnShape,
    rows: &Picked<'_>,
) -> SqlResult<Vector> {
    let mut values = Values::none_of(&shape.representation);
    let mut valid: Option<Vec<bool>> = None;
    let mut start = 0;
    for piece in pieces {
        let end = start + piece.rows();
        let here = rows.within(&(start..end));
        if here.len() > 0 {
            let before = values.len();
            let taken = match &here {
                Picked::Range(rows) => {
                    let rows = rows.start - start..rows.end - start;
                    extend(&mut values, piece.values(), Run(rows))
                }
                Picked::Places(places) => extend(&mut values, piece.values(), From(places, start)),
            };
            if !taken {
                let message = format!("a column of {} is held as another type", shape.data_type);
                return Err(SqlError::internal(message));
            }
            if let Some(nulls) = piece.nulls() {
                let valid = valid.get_or_insert_with(|| vec![true; before]);
                valid.resize(before, true);
                valid.extend(
                    (0..here.len()).map(|it| nulls.is_valid(here.row(it) as usize - start)),
                );
            }
        }
        start = end;
    }
    let rows = rows.len();
    let validity = valid.filter(|it| it.contains(&false)).map(|mut valid| {
        valid.resize(rows, true);
        Bitmap::from_bits(valid.into_iter())
    });
    Ok(Vector { values, validity })
}

/// Rows of a piece.
trait Rows {
    /// Their values, in order, behind others.
    fn copy<A: Copy, B>(&self, from: &[A], to: &mut Vec<B>, value: impl Fn(A) -> B);
    /// How many.
    fn len(&self) -> usize;
    /// Calls `f` with each.
    fn each(&self, f: impl FnMut(usize));
}

struct Run(Range<usize>);

impl Rows for Run {
    #[inline]
    fn copy<A: Copy, B>(&self, from: &[A], to: &mut Vec<B>, value: impl Fn(A) -> B) {
        to.extend(from[self.0.clone()].iter().map(|&it| value(it)));
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn each(&self, f: impl FnMut(usize)) {
        self.0.clone().for_each(f);
    }
}

/// Places in a block, and where the piece begins.
struct From<'a>(&'a [u32], usize);

impl Rows for From<'_> {
    #[inline]
    fn copy<A: Copy, B>(&self, from: &[A], to: &mut Vec<B>, value: impl Fn(A) -> B) {
        to.extend(self.0.iter().map(|&it| value(from[it as usize - self.1])));
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn each(&self, mut f: impl FnMut(usize)) {
        self.0.iter().for_each(|&it| f(it as usize - self.1));
    }
}

/// Appends rows; whether the values can be held so.
fn extend(to: &mut Values, from: HeldValues<'_>, rows: impl Rows) -> bool {
    match (to, from) {
        (Values::I64(to), HeldValues::Words(from)) => rows.copy(from, to, |it| it),
        (Values::I128(to), HeldValues::Words(from)) => rows.copy(from, to, i128::from),
        (Values::I128(to), HeldValues::Wide(from)) => rows.copy(from, to, |it| it),
        (Values::F64(to), HeldValues::Words(from)) => rows.copy(from, to, float_of_key),
        (Values::Bool(to), HeldValues::Words(from)) => rows.copy(from, to, |it| it != 0),
        (Values::Text(to), HeldValues::Texts(from)) => {
            rows.each(|row| to.push_bytes(text_bytes(from, row)));
        }
        (Values::Text(to), HeldValues::Coded(codes, texts)) => push_coded(to, codes, texts, &rows),
        _ => return false,
    }
    true
}

/// Coded texts, one by one; where each comes often, by windows that hold whole texts.
fn push_coded(
    to: &mut TextVector,
    codes: &[u32],
    texts: &arrow_array::StringArray,
    rows: &impl Rows,
) {
    use arrow_array::Array;
    // Where all rows are NULL there may be no text at all.
    let text = |code: usize| if code < texts.len() { text_bytes(texts, code) } else { b"" };
    let windows = (texts.len() * ROWS_PER_TEXT_MIN <= rows.len()).then(|| {
        let window = |text: &[u8]| {
            let mut window = [0; WINDOW];
            window.get_mut(..text.len())?.copy_from_slice(text);
            Some((window, text.len()))
        };
        // One more, for rows that are NULL.
        (0..=texts.len()).map(|code| window(text(code))).collect::<Option<Vec<_>>>()
    });
    match windows.flatten() {
        Some(windows) => rows.each(|row| {
            let (window, len) = &windows[(codes[row] as usize).min(texts.len())];
            to.push_window(window, *len);
        }),
        None => rows.each(|row| to.push_bytes(text(codes[row] as usize))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coded_texts_are_the_same_by_windows_and_one_by_one() {
        let short = ["", "a", "sixteen bytes ..", "\u{e4}\u{6f22}"];
        let long = ["", "a", "one byte more ...", "b"];
        for texts in [&short[..], &long[..], &[]] {
            let dictionary = arrow_array::StringArray::from(texts.to_vec());
            // The last code is that of no text: rows that are NULL have it.
            let codes: Vec<u32> = (0..100).map(|it| it * 7 % (texts.len() as u32 + 1)).collect();
            let expected = |row: usize| texts.get(codes[row] as usize).copied().unwrap_or("");
            for range in [0..0, 3..8, 0..100] {
                let mut found = TextVector::default();
                push_coded(&mut found, &codes, &dictionary, &Run(range.clone()));
                let found: Vec<&str> = (0..found.len()).map(|it| found.get(it)).collect();
                assert_eq!(found, range.map(expected).collect::<Vec<_>>());
            }
            let (places, start) = ([10, 12, 19], 10);
            let mut found = TextVector::default();
            push_coded(&mut found, &codes, &dictionary, &From(&places, start));
            let found: Vec<&str> = (0..found.len()).map(|it| found.get(it)).collect();
            assert_eq!(found, [expected(0), expected(2), expected(9)]);
        }
    }
}
