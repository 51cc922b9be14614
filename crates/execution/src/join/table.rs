//! The finished build side: its rows by column, and the structure that finds rows by key.

use bitpack::bitmap;
use memory::{Placed, Scratch, Workspace, shared};
use stdx::sync::atomic::{AtomicU64, Ordering};
use stdx::sync::{Arc, OnceLock};
use stdx::tagged::Directory;
use storage::Column;
use types::SqlResult;

use super::direct::{DirectTable, KeyRange, Rows};
use super::extremes::Extremes;
use super::hash::hash_word;
use super::hashed::HashTable;
use super::key::{KeyColumn, KeyDomain};
use super::packing::Packing;
use super::row_numbers::RowNumbers;
use super::stored::Stored;
use crate::pieces::{Pieces, piece_rows, unspecified, zeros};
use crate::{Layout, Team, Vector};

/// Which structure finds rows by key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Structure {
    /// The fastest that the keys allow.
    #[default]
    Automatic,
    /// An array indexed by key, if the keys are integers and their range has any reasonable size.
    Direct,
    /// The tagged hash table.
    Hashed,
}

pub(super) enum Finder {
    /// No row has a key.
    Nothing,
    /// There are no keys: every row is a partner.
    Everything,
    Direct(DirectTable),
    Hashed(HashTable),
    /// The key of each row tells its number.
    InPlace(RowNumbers),
}

/// The build side of a join. Rows `0 .. keyed` have keys; those after them have a NULL key and are never found.
pub struct JoinTable {
    pub(super) rows: u32,
    pub(super) keyed: u32,
    /// Rows with a NULL key, kept or not.
    pub(super) null_keys: u64,
    pub(super) domains: Vec<KeyDomain>,
    /// How several keys are one word.
    pub(super) packing: Option<Packing>,
    pub(super) range: Option<KeyRange>,
    pub(super) finder: Finder,
    pub(super) payload: Vec<Stored>,
    pub(super) layout: Layout,
    /// A bit per row that has found a partner.
    matched: Placed<AtomicU64>,
    /// Of each of several keys its values, once they were asked for.
    values: Vec<OnceLock<Option<KeyValues>>>,
    /// In place of these bits, where a comparison decides who is a partner.
    pub(super) extremes: OnceLock<Extremes>,
}

/// What is known of a table's only key, to drop rows of another table early. Values are integers, days, microseconds or
/// unscaled decimals, never codes.
#[derive(Clone, Copy)]
pub struct KeyFilter<'a> {
    /// The least key; above `max` when there is none.
    pub min: i64,
    /// The greatest key.
    pub max: i64,
    /// Bit `i` tells whether key `min + i` is there; only when keys are dense.
    pub bitmap: Option<&'a [u64]>,
    /// The keys themselves, in no order, when there is no bitmap; may repeat.
    pub keys: &'a [i64],
    /// Rows of the table with a key.
    pub rows: u64,
    directory: Option<&'a Directory<Placed<AtomicU64>>>,
}

/// The values of one of several keys, in no order; they may repeat.
struct KeyValues {
    min: i64,
    max: i64,
    values: Placed<i64>,
}

impl KeyFilter<'_> {
    /// Whether it finds a key itself; else only the list of keys tells more than the range.
    #[inline]
    pub fn is_searched(&self) -> bool {
        self.bitmap.is_some() || self.directory.is_some() || self.keys.is_empty()
    }

    /// Whether a row of the table may have this key; exact when there is a bitmap.
    #[inline]
    pub fn may_contain(&self, key: i64) -> bool {
        if key < self.min || key > self.max {
            return false;
        }
        if let Some(bitmap) = self.bitmap {
            let bit = key.wrapping_sub(self.min) as u64 as usize;
            return bitmap[bit / 64] >> (bit % 64) & 1 == 1;
        }
        self.directory.is_none_or(|it| it.may_contain(hash_word(key)))
    }
}

/// What [`JoinTable::new`] puts together.
pub(super) struct Columns {
    pub(super) rows: u32,
    pub(super) keyed: u32,
    pub(super) null_keys: u64,
    pub(super) domains: Vec<KeyDomain>,
    pub(super) keys: Vec<KeyColumn>,
    /// Of each key that is words, what they range over.
    pub(super) ranges: Vec<Option<KeyRange>>,
    pub(super) payload: Vec<Stored>,
    pub(super) layout: Layout,
    pub(super) unique: bool,
}

/// Bytes of a row beside its payload: its key, and its place in a directory.
pub(super) const ENTRY_BYTES: u64 = 16;

impl JoinTable {
    /// About how many bytes it has.
    pub(super) fn estimated_bytes(&self) -> u64 {
        u64::from(self.rows) * (ENTRY_BYTES + 8 * self.payload.len() as u64)
    }

    /// Builds the structure over finished columns; `keys` hold the keyed rows only. It is one of so many tables that each have
    /// some keys of one range.
    pub(super) fn new(
        columns: Columns,
        (structure, tables): (Structure, usize),
        team: &dyn Team,
    ) -> SqlResult<Self> {
        let Columns { rows, keyed, null_keys, domains, keys, ranges, payload, layout, unique } =
            columns;
        let packing = Packing::of(&ranges);
        let (keys, range) = match (&packing, &domains[..], &ranges[..]) {
            (Some(packing), _, _) => {
                let (packed, range) = packing.pack_all(&keys, team)?;
                (vec![KeyColumn::Words(packed)], range)
            }
            (None, [domain], [range]) if domain.is_integral() => (keys, *range),
            _ => (keys, None),
        };
        let mut finder = if domains.is_empty() {
            Finder::Everything
        } else if keyed == 0 {
            Finder::Nothing
        } else {
            find_structure((keys, range), (keyed as usize, unique), (structure, tables), team)?
        };
        let payload = match &mut finder {
            Finder::Direct(table) => put_in_order(payload, table, (rows, range), team)?,
            _ => payload,
        };
        let matched = shared(zeros((rows as usize).div_ceil(64), team)?);
        let values = domains.iter().map(|_| OnceLock::new()).collect();
        Ok(Self {
            rows,
            keyed,
            null_keys,
            domains,
            packing,
            range,
            finder,
            payload,
            layout,
            matched,
            values,
            extremes: OnceLock::new(),
        })
    }

    /// A table of rows that all have a key, found in a way that needs no building.
    pub(super) fn of_parts(
        rows: u32,
        domain: KeyDomain,
        range: KeyRange,
        finder: Finder,
        payload: Vec<Stored>,
        layout: Layout,
        workspace: &Workspace,
    ) -> SqlResult<Self> {
        // A bit for each row, none of them set.
        let matched = workspace.spread().atomics((rows as usize).div_ceil(64))?;
        Ok(Self {
            rows,
            keyed: rows,
            null_keys: 0,
            domains: vec![domain],
            packing: None,
            range: Some(range),
            finder,
            payload,
            layout,
            matched,
            values: Vec::new(),
            extremes: OnceLock::new(),
        })
    }

    /// Memory beside the table's own.
    pub(super) fn scratch(&self) -> &Scratch {
        self.matched.allocator()
    }

    /// How many rows it holds.
    pub fn rows(&self) -> usize {
        self.rows as usize
    }

    /// The layout of what is stored of each row.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// What is known of the only key when it is an integer.
    pub fn transfer(&self) -> Option<KeyFilter<'_>> {
        matches!(self.domains.as_slice(), [KeyDomain::Integer]).then(|| self.filter())
    }

    /// What is known of one of several keys when it is an integer: the values that it has.
    pub fn transfer_of(&self, key: usize) -> SqlResult<Option<KeyFilter<'_>>> {
        let (Some(KeyDomain::Integer), Some(values)) =
            (self.domains.get(key), self.values.get(key))
        else {
            return Ok(None);
        };
        let known = match values.get() {
            Some(known) => known,
            None => {
                let made = self.values_of(key)?;
                values.get_or_init(|| made)
            }
        };
        let Some(KeyValues { min, max, values: keys }) = known else { return Ok(None) };
        let (min, max) = (*min, *max);
        let rows = u64::from(self.keyed);
        Ok(Some(KeyFilter { min, max, bitmap: None, keys, rows, directory: None }))
    }

    fn values_of(&self, key: usize) -> SqlResult<Option<KeyValues>> {
        let mut values: Placed<i64> = self.scratch().zeroed(self.keyed as usize)?;
        let (packing, out) = (self.packing.as_ref(), values.iter_mut());
        match (&self.finder, packing) {
            (Finder::Nothing, _) => {}
            (Finder::Direct(table), Some(packing)) => {
                // As many keys as there are, at most as many as rows: what is left repeats the last.
                let mut last = 0;
                let mut packed = bitmap::iter(&table.bitmap).map(|it| table.min + it as i64);
                for out in out {
                    last = packed.next().unwrap_or(last);
                    *out = packing.part_of(key, last);
                }
            }
            (Finder::Hashed(table), packing) => match (table.keys.as_slice(), packing) {
                ([KeyColumn::Words(words)], Some(packing)) => {
                    out.zip(words.iter()).for_each(|(out, &it)| *out = packing.part_of(key, it));
                }
                (keys, None) => {
                    let Some(KeyColumn::Words(words)) = keys.get(key) else { return Ok(None) };
                    out.zip(words.iter()).for_each(|(out, &it)| *out = it);
                }
                _ => return Ok(None),
            },
            _ => return Ok(None),
        }
        let (min, max) =
            values.iter().fold((i64::MAX, i64::MIN), |(min, max), &it| (min.min(it), max.max(it)));
        Ok(Some(KeyValues { min, max, values }))
    }

    /// What is known of the only key when it is a dictionary column: the column, and a filter over its codes.
    pub fn transfer_codes(&self) -> Option<(Arc<Column>, KeyFilter<'_>)> {
        match self.domains.as_slice() {
            [KeyDomain::Dictionary(column)] => Some((column.clone(), self.filter())),
            _ => None,
        }
    }

    fn filter(&self) -> KeyFilter<'_> {
        let (min, max) = self.range.map_or((i64::MAX, i64::MIN), |it| (it.min, it.max));
        let (bitmap, directory) = match &self.finder {
            Finder::Direct(it) => (Some(it.bitmap.as_slice()), None),
            Finder::Hashed(it) => (None, Some(&it.directory)),
            Finder::Nothing | Finder::Everything | Finder::InPlace(_) => (None, None),
        };
        let keys = match &self.finder {
            Finder::Hashed(it) => match it.keys.as_slice() {
                [KeyColumn::Words(words)] => words.as_slice(),
                _ => &[],
            },
            _ => &[],
        };
        KeyFilter { min, max, bitmap, keys, rows: u64::from(self.keyed), directory }
    }

    /// The structure and its size in words, for EXPLAIN ANALYZE.
    pub fn describe(&self) -> String {
        format!("{}, {} rows", self.structure(), self.rows)
    }

    /// The structure in words.
    pub(super) fn structure(&self) -> &'static str {
        match &self.finder {
            Finder::Nothing => "empty",
            Finder::Everything => "all rows",
            Finder::Direct(DirectTable { ranks: None, rows: Rows::Runs { .. }, .. }) => {
                "array of runs"
            }
            Finder::Direct(DirectTable { ranks: None, .. }) => "array",
            Finder::Direct(DirectTable { rows: Rows::Runs { .. }, .. }) => "bitmap of runs",
            Finder::Direct(_) => "bitmap",
            Finder::Hashed(_) => "hash table",
            Finder::InPlace(_) => "the stored table",
        }
    }

    /// The hash table of a single key of texts.
    pub(super) fn texts(&self) -> Option<&HashTable> {
        match &self.finder {
            Finder::Hashed(it) if it.is_of_texts() => Some(it),
            _ => None,
        }
    }

    /// Marks rows that found a partner.
    pub(super) fn mark_matched(&self, rows: &[u32]) {
        for &row in rows {
            let (word, bit) = (&self.matched[row as usize / 64], 1 << (row % 64));
            // Looking first keeps the line shared among workers once it is set.
            if word.load(Ordering::Relaxed) & bit == 0 {
                word.fetch_or(bit, Ordering::Relaxed);
            }
        }
    }

    /// Which rows have found a partner, a bit each.
    pub(super) fn matched_words(&self) -> Vec<u64> {
        self.matched.iter().map(|it| it.load(Ordering::Relaxed)).collect()
    }

    /// Marks the rows whose bits are set.
    pub(super) fn mark_words(&self, words: &[u64]) {
        self.matched.iter().zip(words).for_each(|(to, &it)| _ = to.fetch_or(it, Ordering::Relaxed));
    }

    /// Whether a row is there: some of a stored table may have gone.
    pub(super) fn is_live(&self, row: u32) -> bool {
        match &self.finder {
            Finder::InPlace(numbers) => numbers.is_live(row),
            _ => true,
        }
    }

    pub(super) fn is_matched(&self, row: u32) -> bool {
        self.matched[row as usize / 64].load(Ordering::Relaxed) >> (row % 64) & 1 == 1
    }

    /// One column of the payload for some rows.
    pub(super) fn gather(&self, column: usize, rows: &[u32], outer: bool) -> Arc<Vector> {
        Arc::new(self.payload[column].gather(rows, outer))
    }
}

/// What is stored of rows, in the order of their keys where a table wants that, with those without a key behind.
fn put_in_order(
    payload: Vec<Stored>,
    table: &mut DirectTable,
    (rows, range): (u32, Option<KeyRange>),
    team: &dyn Team,
) -> SqlResult<Vec<Stored>> {
    let Some(order) = range.and_then(|it| table.take_order(it)) else { return Ok(payload) };
    let mut all: Placed<u32> = unspecified(rows as usize, team)?;
    let piece = piece_rows(all.len(), team.width() * 2);
    let mut pieces = Pieces::new();
    for (index, rows) in all.chunks_mut(piece).enumerate() {
        let (order, places) = (&order, (index * piece)..);
        pieces.add(rows.len(), move || {
            for (row, place) in rows.iter_mut().zip(places) {
                *row = order.get(place).map_or(place as u32, |it| it - 1);
            }
        });
    }
    pieces.run(team)?;
    let order = all;
    payload.into_iter().map(|it| it.in_order(&order, team)).collect()
}

fn find_structure(
    (keys, range): (Vec<KeyColumn>, Option<KeyRange>),
    (rows, unique): (usize, bool),
    (structure, tables): (Structure, usize),
    team: &dyn Team,
) -> SqlResult<Finder> {
    let span = match structure {
        Structure::Hashed => None,
        Structure::Direct => range.and_then(KeyRange::span_in_any_case),
        Structure::Automatic => range.and_then(|it| it.span(rows, tables)),
    };
    if let (Some(range), Some(span), [KeyColumn::Words(words)]) = (range, span, keys.as_slice()) {
        return Ok(Finder::Direct(DirectTable::build(words, (range, unique), span, team)?));
    }
    Ok(Finder::Hashed(HashTable::build(keys, rows, unique, team)?))
}
