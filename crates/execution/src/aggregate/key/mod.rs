//! Group keys, in one of four formats that [`KeyLayout::new`] chooses for a grouping: most keys of analytical queries
//! (dates, flags, dense ids, dictionary codes) fit one word, and then hashing, comparing and storing one is an instruction.
//!
//! Reading order: `kind`, which says what a format must do, and its implementations `bit_packed` (words of 64 or 128 bits),
//! `text_rows` and `serialized`. [`KeyLayout`] and [`Keys`] dispatch to them once per batch, never per key.
//!
//! - Invariant: all keys of a grouping are of the format of its layout.

mod bit_packed;
mod hash;
mod kind;
mod serialized;
mod text_rows;

use stdx::sync::Arc;

use super::recent::RecentTexts;
use crate::{ColumnShape, Vector};

pub use bit_packed::{BitPacked, KeyColumn};
pub use hash::Fingerprint;
pub use kind::{KeyFormat, KeySet};
pub use serialized::{decoded_shape, empty_values};

use serialized::{Serialized, SerializedKeys};
use text_rows::{TextRowKeys, TextRows};

/// How the key columns of a grouping are put together.
#[derive(Clone, Debug)]
pub enum KeyLayout {
    /// Side by side in a word of 64 bits.
    Word(BitPacked<u64>),
    /// In one of 65 to 128 bits: numbers of 64 bits beside another column.
    WideWord(BitPacked<u128>),
    /// The rows of a plain text column.
    TextRows(TextRows),
    /// One after the other as bytes.
    Serialized(Serialized),
}

/// The keys of some rows or groups.
#[derive(Clone, Debug)]
pub enum Keys {
    /// Words of 64 bits.
    Word(Vec<u64>),
    /// Words of 128 bits.
    WideWord(Vec<u128>),
    /// Texts by their rows.
    TextRows(TextRowKeys),
    /// Bytes.
    Serialized(SerializedKeys),
}

/// Runs the same code for keys, or for a layout, of each format.
macro_rules! each_format {
    ($of:ident, $value:expr, $it:ident => $body:expr) => {
        match $value {
            $of::Word($it) => $body,
            $of::WideWord($it) => $body,
            $of::TextRows($it) => $body,
            $of::Serialized($it) => $body,
        }
    };
}

/// Runs the same code for two things of one format.
macro_rules! same_format {
    ($left:ident, $right:ident, ($l:expr, $r:expr), ($a:ident, $b:ident) => $body:expr) => {
        match ($l, $r) {
            ($left::Word($a), $right::Word($b)) => $body,
            ($left::WideWord($a), $right::WideWord($b)) => $body,
            ($left::TextRows($a), $right::TextRows($b)) => $body,
            ($left::Serialized($a), $right::Serialized($b)) => $body,
            _ => unreachable!("invariant: all keys of a grouping are of one format"),
        }
    };
}
pub(super) use same_format;

impl KeyLayout {
    /// The layout for key columns of these shapes.
    pub fn new(shapes: &[ColumnShape]) -> Self {
        if let Some(rows) = TextRows::new(shapes) {
            return Self::TextRows(rows);
        }
        match BitPacked::new(shapes) {
            Some(packed) if packed.bits() <= u64::BITS => Self::Word(packed.with_word()),
            Some(packed) => Self::WideWord(packed),
            None => Self::Serialized(Serialized::new(shapes)),
        }
    }

    /// Where to look for keys that came lately: nowhere, where a key is a word or a row.
    pub fn recent(&self) -> RecentTexts {
        match self {
            Self::Serialized(it) => it.recent(),
            _ => RecentTexts::default(),
        }
    }

    /// Bits of a key in a word of 64 bits.
    pub fn word_bits(&self) -> Option<u32> {
        match self {
            Self::Word(packed) => Some(packed.bits()),
            _ => None,
        }
    }

    /// Room for keys of this layout.
    pub fn no_keys(&self) -> Keys {
        match self {
            Self::Word(it) => Keys::Word(it.empty()),
            Self::WideWord(it) => Keys::WideWord(it.empty()),
            Self::TextRows(it) => Keys::TextRows(it.empty()),
            Self::Serialized(it) => Keys::Serialized(it.empty()),
        }
    }

    /// Puts the keys of the rows of key columns into `keys`.
    pub fn encode(&self, columns: &[Arc<Vector>], rows: usize, keys: &mut Keys) {
        same_format!(KeyLayout, Keys, (self, keys), (format, keys) => {
            format.encode(columns, rows, keys);
        });
    }

    /// The key columns of keys.
    pub fn decode(&self, keys: &Keys) -> Vec<Vector> {
        same_format!(KeyLayout, Keys, (self, keys), (format, keys) => format.decode(keys))
    }

    /// The first column of a key; it is a number that is never NULL.
    pub fn first_number(&self, keys: &Keys, place: usize) -> i64 {
        same_format!(KeyLayout, Keys, (self, keys), (format, keys) => {
            format.first_number(keys, place)
        })
    }

    /// Replaces the first column of keys; it is a number that is never NULL.
    pub fn map_first(&self, keys: &mut Keys, map: impl Fn(i64) -> i64) {
        same_format!(KeyLayout, Keys, (self, keys), (format, keys) => format.map_first(keys, map));
    }

    /// The shapes of the decoded columns: beside other columns, text that was no code becomes text of its own.
    pub fn shapes(&self) -> Vec<ColumnShape> {
        each_format!(KeyLayout, self, it => it.shapes())
    }
}

impl Keys {
    /// How many.
    pub fn len(&self) -> usize {
        each_format!(Keys, self, it => it.fingerprints().len())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The keys at some places, in that order.
    pub fn take(&self, places: &[u32]) -> Self {
        match self {
            Self::Word(it) => Self::Word(KeySet::take(it, places)),
            Self::WideWord(it) => Self::WideWord(KeySet::take(it, places)),
            Self::TextRows(it) => Self::TextRows(it.take(places)),
            Self::Serialized(it) => Self::Serialized(it.take(places)),
        }
    }

    /// Takes all keys out, and makes room for as many.
    pub fn take_all(&mut self) -> Self {
        let room = match self {
            Self::Word(it) => Self::Word(it.emptied()),
            Self::WideWord(it) => Self::WideWord(it.emptied()),
            Self::TextRows(it) => Self::TextRows(it.emptied()),
            Self::Serialized(it) => Self::Serialized(it.emptied()),
        };
        std::mem::replace(self, room)
    }

    /// Appends other keys.
    pub fn extend(&mut self, other: &Self) {
        same_format!(Keys, Keys, (self, other), (it, other) => KeySet::extend(it, other));
    }

    /// The low bits of the hash of each key.
    pub fn low_hash_bits(&self, mask: u8) -> Vec<u8> {
        each_format!(Keys, self, it => {
            it.fingerprints().iter().map(|it| it.hash() as u8 & mask).collect()
        })
    }

    /// Bits of the hash of each key that [`Self::low_hash_bits`] does not have, `shift` bits further on.
    pub fn middle_hash_bits(&self, shift: u32, mask: u8) -> Vec<u8> {
        each_format!(Keys, self, it => {
            it.fingerprints().iter().map(|it| (it.hash() >> (8 + shift)) as u8 & mask).collect()
        })
    }

    /// Bytes of memory that grow with the length of keys.
    pub fn variable_bytes(&self) -> usize {
        each_format!(Keys, self, it => it.variable_bytes())
    }

    /// Keys of 64 bits.
    pub fn words(&self) -> &[u64] {
        match self {
            Self::Word(it) => it,
            _ => unreachable!("{}", Self::ONLY_WORDS),
        }
    }

    /// Keys of 64 bits, to add others to.
    pub fn words_mut(&mut self) -> &mut Vec<u64> {
        match self {
            Self::Word(it) => it,
            _ => unreachable!("{}", Self::ONLY_WORDS),
        }
    }

    const ONLY_WORDS: &'static str =
        "invariant: arrays, runs and packed blocks are only for keys of a word";
}
