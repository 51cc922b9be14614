//! The keys of the rows of a column: numbers that are equal where its values are, whatever the encoding.

use std::ops::Range;

use crate::build::hash::hash_int;
use crate::word::{int_of_word, key_of_float};
use crate::{Column, Dictionary, Encoding};

/// The keys of the values of a dictionary of numbers, in the order of codes; none of other columns.
pub(crate) fn dictionary_keys(column: &Column) -> Vec<i128> {
    match &column.encoding {
        Encoding::Dictionary(Dictionary::Int(it)) => {
            it.as_slice().iter().map(|&it| i128::from(it)).collect()
        }
        Encoding::Dictionary(Dictionary::Float(it)) => {
            it.as_slice().iter().map(|&it| i128::from(key_of_float(it))).collect()
        }
        Encoding::Dictionary(Dictionary::Wide(it)) => it.as_slice().to_vec(),
        _ => Vec::new(),
    }
}

/// Calls `body` with the key of each row that is not NULL. A number beyond 64 bits has both its halves folded into one
/// key, which is enough for a sketch: numbers that fit keep their own key, whatever the encoding of their column.
pub(crate) fn for_each_key(column: &Column, rows: Range<usize>, mut body: impl FnMut(i64)) {
    if let Encoding::Raw = column.encoding {
        let values = rows.filter(|&row| !column.is_null(row));
        return values.for_each(|row| body(int_of_word(column.iv().get(row))));
    }
    let mut codes = vec![0u32; rows.len()];
    bitpack::unpack_u32(column.packed(), column.bits(), rows.start, &mut codes);
    let codes = codes.into_iter().filter(|&it| (it as usize) < column.code_count);
    match &column.encoding {
        Encoding::Offset { min } => codes.for_each(|it| body(min.wrapping_add(i64::from(it)))),
        Encoding::Dictionary(_) => {
            let keys: Vec<i64> = dictionary_keys(column).into_iter().map(folded).collect();
            codes.for_each(|it| body(keys[it as usize]));
        }
        Encoding::Plain(_) | Encoding::Raw | Encoding::Parts => {}
    }
}

fn folded(key: i128) -> i64 {
    i64::try_from(key).unwrap_or_else(|_| key as i64 ^ hash_int((key >> 64) as u64) as i64)
}
