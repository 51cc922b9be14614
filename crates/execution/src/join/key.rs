//! Keys of the build side, in the few forms that are compared: 64-bit words, 128-bit integers, texts.

use std::ops::Range;

use memory::{Placed, Scratch};
use stdx::sync::Arc;
use storage::Column;
use types::SqlResult;

use super::dictionary::dictionary_len;
use super::hash::{combine, combine_bytes};
use super::out::Out;
use super::stored::StoredText;
use crate::{ColumnShape, Representation, TextVector, Values};

/// What the values of a key are, by the build side; the probe side is brought to it.
#[derive(Clone)]
pub(super) enum KeyDomain {
    /// Integers, days, microseconds, unscaled decimals, Booleans as 0 and 1.
    Integer,
    /// Bits of floats, see [`float_bits`].
    Float,
    /// Unscaled decimals of 128 bits.
    Wide,
    /// Codes of this dictionary.
    Dictionary(Arc<Column>),
    /// Texts.
    Text,
}

impl KeyDomain {
    pub(super) fn of(shape: &ColumnShape) -> Self {
        match &shape.representation {
            Representation::I64 | Representation::Bool => Self::Integer,
            Representation::F64 => Self::Float,
            Representation::I128 => Self::Wide,
            Representation::Codes(column) if dictionary_len(column).is_some() => {
                Self::Dictionary(column.clone())
            }
            Representation::Codes(_) | Representation::Text => Self::Text,
        }
    }

    /// Whether these may be values of it.
    pub(super) fn has(&self, values: &Values) -> bool {
        match self {
            Self::Integer => matches!(values, Values::I64(_) | Values::Bool(_)),
            Self::Float => matches!(values, Values::F64(_)),
            Self::Wide => matches!(values, Values::I128(_)),
            Self::Dictionary(_) => matches!(values, Values::Codes(_)),
            Self::Text => matches!(values, Values::Text(_)),
        }
    }

    /// Whether near values are likely, so that a key may index an array.
    pub(super) fn is_integral(&self) -> bool {
        matches!(self, Self::Integer | Self::Dictionary(_))
    }
}

/// One key of all build rows.
pub(super) enum KeyColumn {
    Words(Placed<i64>),
    Wide(Placed<i128>),
    Text(StoredText),
}

/// One key of many rows, of either side.
#[derive(Clone, Copy)]
pub(super) enum KeySlice<'a> {
    Words(&'a [i64]),
    Wide(&'a [i128]),
    Text(&'a TextVector),
    Stored(&'a StoredText),
}

impl KeyColumn {
    /// A column of so many rows, whose texts have so many bytes, still without its values.
    pub(super) fn sized(
        domain: &KeyDomain,
        (rows, bytes): (usize, usize),
        scratch: &Scratch,
    ) -> SqlResult<Self> {
        Ok(match domain {
            KeyDomain::Text => Self::Text(StoredText::sized(rows, bytes, scratch)?),
            KeyDomain::Wide => Self::Wide(scratch.unspecified(rows)?),
            _ => Self::Words(scratch.unspecified(rows)?),
        })
    }

    /// Where its values are written.
    pub(super) fn out(&mut self) -> Out<'_> {
        match self {
            Self::Words(out) => Out::Words(out),
            Self::Wide(out) => Out::I128(out),
            Self::Text(out) => out.out(),
        }
    }

    pub(super) fn slice(&self) -> KeySlice<'_> {
        match self {
            Self::Words(it) => KeySlice::Words(it),
            Self::Wide(it) => KeySlice::Wide(it),
            Self::Text(it) => KeySlice::Stored(it),
        }
    }

    /// Keeps those of `hits` for which this key is equal. A hit is a place in `probe` and `build`, which hold rows.
    pub(super) fn retain_equal(
        &self,
        other: KeySlice<'_>,
        probe: &[u32],
        build: &[u32],
        hits: &mut Vec<u32>,
    ) {
        let pair = |hit: u32| (build[hit as usize] as usize, probe[hit as usize] as usize);
        match (self, other) {
            (Self::Words(left), KeySlice::Words(right)) => hits.retain(|&hit| {
                let (build, probe) = pair(hit);
                left[build] == right[probe]
            }),
            (Self::Wide(left), KeySlice::Wide(right)) => hits.retain(|&hit| {
                let (build, probe) = pair(hit);
                left[build] == right[probe]
            }),
            (Self::Text(left), KeySlice::Text(right)) => hits.retain(|&hit| {
                let (build, probe) = pair(hit);
                left.bytes_at(build) == right.bytes_at(probe)
            }),
            // Readers bring the probe side to the form of the build side.
            _ => hits.clear(),
        }
    }
}

impl KeySlice<'_> {
    /// Adds the key of the given rows to their hashes.
    pub(super) fn combine_into(self, rows: Range<usize>, hashes: &mut [u64]) {
        match self {
            Self::Words(it) => {
                for (hash, &word) in hashes.iter_mut().zip(&it[rows]) {
                    *hash = combine(*hash, word as u64);
                }
            }
            Self::Wide(it) => {
                for (hash, &wide) in hashes.iter_mut().zip(&it[rows]) {
                    *hash = combine(combine(*hash, wide as u64), (wide >> 64) as u64);
                }
            }
            Self::Text(it) => {
                for (hash, row) in hashes.iter_mut().zip(rows) {
                    *hash = combine_bytes(*hash, it.bytes_at(row));
                }
            }
            Self::Stored(it) => {
                for (hash, row) in hashes.iter_mut().zip(rows) {
                    *hash = combine_bytes(*hash, it.bytes_at(row));
                }
            }
        }
    }
}
