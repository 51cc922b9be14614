//! What the rows of a column are ordered by in an index, as far as 64 bits tell.

use std::borrow::Cow;

use types::Value;

use crate::{Column, Encoding, PlainStrings};

/// What a column is ordered by, as far as 64 bits tell: codes, words, or the first bytes of texts.
pub(crate) enum Keys<'a> {
    /// The codes of a column, which decide its order.
    Codes(&'a Column),
    /// The words of a raw column, which decide its order.
    Words(&'a Column),
    /// The texts of a plain column behind their common prefix; equal keys are ordered by the whole texts.
    Texts(&'a Column, usize),
    /// Hashes of rows, to find equal rows; the greatest number marks rows to leave out.
    Hashes(&'a [u64]),
}

impl<'a> Keys<'a> {
    /// The keys of a column; none of one without rows of its own.
    pub(crate) fn of(column: &'a Column) -> Option<Self> {
        match &column.encoding {
            Encoding::Offset { .. } | Encoding::Dictionary(_) => Some(Self::Codes(column)),
            Encoding::Raw => Some(Self::Words(column)),
            Encoding::Plain(_) => Some(Self::Texts(column, common_prefix(column))),
            Encoding::Parts => None,
        }
    }

    /// The key of a row that is not NULL.
    #[inline]
    pub(crate) fn key(&self, row: usize) -> u64 {
        match self {
            Self::Codes(column) | Self::Words(column) => column.iv().get(row),
            Self::Texts(column, prefix) => text_key(&text_at(column, row), *prefix),
            Self::Hashes(hashes) => hashes[row],
        }
    }

    /// The whole text of a row, where the key does not decide.
    #[inline]
    pub(crate) fn tie(&self, row: usize) -> Cow<'_, [u8]> {
        match self {
            Self::Codes(_) | Self::Words(_) | Self::Hashes(_) => Cow::Borrowed(&[]),
            Self::Texts(column, _) => text_at(column, row),
        }
    }

    /// All rows, those without a key included.
    pub(crate) fn rows(&self) -> usize {
        match self {
            Self::Codes(column) | Self::Words(column) | Self::Texts(column, _) => column.rows(),
            Self::Hashes(hashes) => hashes.len(),
        }
    }

    /// Bytes of texts before their keys.
    pub(crate) fn prefix(&self) -> usize {
        match self {
            Self::Texts(_, prefix) => *prefix,
            Self::Codes(_) | Self::Words(_) | Self::Hashes(_) => 0,
        }
    }
}

/// The text of a row of a plain column.
pub(crate) fn text_at(column: &Column, row: usize) -> Cow<'_, [u8]> {
    match &column.encoding {
        Encoding::Plain(PlainStrings::Own(texts)) => texts.bytes_at(row),
        _ => Cow::Borrowed(&[]),
    }
}

/// Eight bytes behind the prefix, whose order is that of the texts unless they are equal.
pub(crate) fn text_key(text: &[u8], prefix: usize) -> u64 {
    let rest = text.get(prefix..).unwrap_or_default();
    let mut bytes = [0; 8];
    let length = rest.len().min(8);
    bytes[..length].copy_from_slice(&rest[..length]);
    u64::from_be_bytes(bytes)
}

/// Bytes that the least and the greatest text share: all between share them too.
fn common_prefix(column: &Column) -> usize {
    match (&column.statistics.min, &column.statistics.max) {
        (Some(Value::Text(min)), Some(Value::Text(max))) => {
            min.bytes().zip(max.bytes()).take_while(|(a, b)| a == b).count()
        }
        _ => 0,
    }
}
