//! The columns that leave the scan of a part: how those of the part become those of the table.

use bitpack::bitmap;
use stdx::sync::Arc;
use storage::{Column, Dictionary, Encoding, Translation};
use types::DataType;

use super::decode::{Progression, Rows, pick};
use crate::lookups::Lookup;
use crate::{Values, Vector};

/// A column of packed codes that is no NULL: value = `base` + code times `step`. For texts, the code.
#[derive(Clone, Copy)]
pub(crate) struct PackedColumn<'a> {
    pub column: &'a Column,
    pub base: i64,
    pub step: i64,
}

/// A column and how it becomes that of the table.
pub(crate) struct Leaving {
    pub(super) column: Arc<Column>,
    pub(super) even: Option<Progression>,
    pub(super) change: Change,
    /// What a value is looked up in, as far as no cache holds it; not known before it is looked for.
    pub(super) lookups: Vec<Lookup>,
}

/// What makes a value of a part one of its table.
pub(super) enum Change {
    /// It is that of the table.
    None,
    /// Codes of the part are codes of the table.
    Translate(Translation),
    /// Rows of the part are positions of the table.
    Shift(u32),
    /// Another part needs 128 bits.
    Widen,
    /// What leaves are the positions of the rows, in the part whose first row has this one, whatever the column holds.
    Position(usize),
}

impl Change {
    /// Of positions, in the part whose first row has this one.
    pub(super) fn shift(first: usize) -> Self {
        if first == 0 { Self::None } else { Self::Shift(first as u32) }
    }
}

impl Leaving {
    /// Looks for dictionaries and translations that no cache of so many bytes holds.
    pub(super) fn find_lookups(&mut self, cache_bytes: u64) {
        let values = match &self.column.encoding {
            // Texts leave a scan as codes.
            Encoding::Dictionary(Dictionary::Text(_)) => None,
            Encoding::Dictionary(dictionary) if self.even.is_none() => {
                dictionary.segments().first().and_then(|it| Lookup::beyond(cache_bytes, it))
            }
            _ => None,
        };
        let codes = match &self.change {
            Change::Translate(it) => Lookup::beyond(cache_bytes, it.segment()),
            _ => None,
        };
        self.lookups = values.into_iter().chain(codes).collect();
    }

    /// The rows of the part.
    pub(crate) fn rows(&self) -> usize {
        self.column.rows()
    }

    /// The column as packed codes, if its values follow from them without a lookup.
    pub(super) fn packed(&self) -> Option<PackedColumn<'_>> {
        let column = &*self.column;
        if !matches!(self.change, Change::None) || column.statistics.nulls > 0 {
            return None;
        }
        let (base, step) = match (&column.encoding, self.even) {
            (_, Some(even)) => (even.base, even.step),
            (Encoding::Offset { min }, None) if column.data_type != DataType::Boolean => (*min, 1),
            (Encoding::Dictionary(Dictionary::Text(_)), None) => (0, 1),
            _ => return None,
        };
        Some(PackedColumn { column, base, step })
    }

    /// Picks rows in the window of `len` rows from `start` on.
    pub(crate) fn pick(&self, start: usize, len: usize, rows: &Rows<'_>) -> Vector {
        if let Change::Position(first) = self.change {
            return positions(first + start, len, rows);
        }
        let mut vector = pick(&self.column, self.even, start, len, rows);
        match (&self.change, &mut vector.values) {
            (Change::None, _) => {}
            (Change::Translate(translation), Values::Codes(codes)) => {
                let to = translation.codes();
                // What stands at a NULL is a code of nothing when the part has no text at all.
                let code = |it: u32| to.get(it as usize).copied().unwrap_or(0);
                codes.iter_mut().for_each(|it| *it = code(*it));
            }
            (Change::Shift(first), Values::Codes(positions)) => {
                positions.iter_mut().for_each(|it| *it += first);
            }
            (Change::Widen, Values::I64(values)) => {
                vector.values = Values::I128(values.iter().map(|&it| i128::from(it)).collect());
            }
            _ => unreachable!("invariant: a change fits how its column is held"),
        }
        vector
    }
}

/// The positions of rows of a window that begins at this one.
fn positions(start: usize, len: usize, rows: &Rows<'_>) -> Vector {
    let at = |place: &u32| start as i64 + i64::from(*place);
    Vector::new(Values::I64(match rows {
        Rows::Places(places) => places.iter().map(at).collect(),
        Rows::Marked(words, count) => {
            let mut places = vec![0; *count];
            bitmap::positions(words, len, &mut places);
            places.iter().map(at).collect()
        }
    }))
}
