//! What joins need of a text column: whether it has a dictionary, and the text behind a code or position.

use std::cmp::Ordering;

use storage::{Column, Encoding};

use crate::{TextVector, Vector, text_of};

/// Marks a code that the other dictionary does not have.
pub(super) const NO_CODE: u32 = u32::MAX;

/// How many codes the dictionary of a column has; `None` when the column is plain and codes are positions.
pub(super) fn dictionary_len(column: &Column) -> Option<u32> {
    match &column.encoding {
        Encoding::Dictionary(dictionary) => Some(dictionary.len() as u32),
        _ => None,
    }
}

/// The texts of codes or positions; at a NULL the empty text.
pub(super) fn decode(column: &Column, codes: &[u32], vector: &Vector, into: &mut TextVector) {
    into.ends.clear();
    into.bytes.clear();
    into.push_codes(column, codes, |row| vector.is_valid(row));
}

/// The code of a text in a dictionary, or [`NO_CODE`].
pub(super) fn find(column: &Column, codes: u32, text: &[u8]) -> u32 {
    let (mut low, mut high) = (0, codes);
    while low < high {
        let middle = low + (high - low) / 2;
        match text_of(column, middle).as_bytes().cmp(text) {
            Ordering::Less => low = middle + 1,
            Ordering::Greater => high = middle,
            Ordering::Equal => return middle,
        }
    }
    NO_CODE
}

/// For each code of `from` the code of the same text in `to`, by merging the two sorted dictionaries.
pub(super) fn translate(from: &Column, from_codes: u32, to: &Column, to_codes: u32) -> Vec<u32> {
    let mut code = 0;
    (0..from_codes)
        .map(|source| {
            let text = text_of(from, source);
            while code < to_codes && text_of(to, code) < text {
                code += 1;
            }
            if code < to_codes && text_of(to, code) == text { code } else { NO_CODE }
        })
        .collect()
}
