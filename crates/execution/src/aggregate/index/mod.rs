//! From keys to group numbers, by one of six strategies. [`GroupIndex`] chooses: nothing to find without keys, an array
//! for small domains, runs while the input is sorted, else a hash table, and no search at all where keys hardly repeat.
//!
//! Key decision: a worker begins by assuming the best, that its input is sorted by the key, and falls back to hashing
//! when it is not; from there it goes to a dense array when there turn out to be many groups of few possible ones, or to
//! none when most rows are groups of their own.

mod array;
mod hash;
mod sorted_runs;

use super::key::{KeyLayout, Keys, same_format};
use super::tuning::{
    ARRAY_BITS_MAX, BYPASS_TABLES, CACHED_SLOTS_PER_ROW_MAX, DENSE_BITS_MAX, DENSE_GROUPS_MIN,
    DENSE_SLOTS_PER_GROUP_MAX, DENSE_SLOTS_PER_ROW_MAX, ROWS_PER_GROUP_MIN, SMALL_ARRAY_BITS_MAX,
};

pub use sorted_runs::ranges_of_runs;

use array::{DenseArray, DirectArray};
use hash::HashIndex;
use sorted_runs::SortedRuns;

/// The groups seen so far: their keys by group number, and a way to find them.
pub struct GroupIndex {
    strategy: Strategy,
    keys: Keys,
    /// Rows seen since the index was empty.
    rows: usize,
    /// Bits of the keys, when an array of all of them pays as soon as there are many groups.
    dense_bits: Option<u32>,
}

/// Arrays, runs and dense arrays are only for keys of a word of 64 bits.
enum Strategy {
    /// At most one group.
    Single,
    Array(DirectArray),
    Dense(DenseArray),
    Sorted(SortedRuns),
    Hash(HashIndex),
    /// Each row is a group, because keys hardly repeated; so many tables more are filled like this before looking again.
    Bypass {
        tables: u32,
    },
}

/// What is known of the order of the keys of finished groups.
#[derive(Clone, Debug)]
pub enum KeyOrder {
    /// Each comes once.
    Unique,
    /// A key may come again.
    Repeated,
    /// Keys rise in each of the runs that begin at these groups; one may come again in another run.
    SortedRuns(Vec<u32>),
}

impl GroupIndex {
    /// An empty index where each key has one group, in the order in which keys come first.
    pub fn new(layout: &KeyLayout) -> Self {
        let strategy = match layout.word_bits() {
            Some(0) => Strategy::Single,
            Some(bits) if bits <= ARRAY_BITS_MAX => Strategy::Array(DirectArray::new(0, 1 << bits)),
            _ => Strategy::Hash(HashIndex::with_room(0)),
        };
        Self::with(strategy, layout)
    }

    /// An empty index of groups that will be merged with those of other indexes, so that here a key may have several.
    /// `groups` is how many there will be in all, and `rows` how many rows come here, if that is known.
    pub fn for_merging(layout: &KeyLayout, (groups, rows): (f64, Option<f64>)) -> Self {
        match layout.word_bits() {
            Some(bits) if bits > SMALL_ARRAY_BITS_MAX => {
                let slots = (1u64 << bits.min(63)) as f64;
                // Each worker has all slots, be its share of the rows small or large.
                let has_rows = |part: f64| rows.is_none_or(|it| it * part >= slots);
                let is_filled = groups * DENSE_SLOTS_PER_GROUP_MAX >= slots
                    && has_rows(DENSE_SLOTS_PER_ROW_MAX);
                let pays = bits <= ARRAY_BITS_MAX && has_rows(CACHED_SLOTS_PER_ROW_MAX)
                    || bits <= DENSE_BITS_MAX && is_filled;
                let index = Self::with(Strategy::Sorted(SortedRuns::new()), layout);
                Self { dense_bits: pays.then_some(bits), ..index }
            }
            _ => Self::new(layout),
        }
    }

    /// An empty index for keys of a word from `base` on, `len` different ones.
    pub fn for_key_range(layout: &KeyLayout, base: u64, len: usize) -> Self {
        Self::with(Strategy::Array(DirectArray::new(base, len)), layout)
    }

    /// An empty index that finds groups by hash, with room for some.
    pub fn hashed(layout: &KeyLayout, groups: usize) -> Self {
        Self::with(Strategy::Hash(HashIndex::with_room(groups)), layout)
    }

    fn with(strategy: Strategy, layout: &KeyLayout) -> Self {
        Self { strategy, keys: layout.no_keys(), rows: 0, dense_bits: None }
    }

    /// The group number of each of some keys; unknown keys become new groups. They were accepted.
    pub fn find_or_insert(&mut self, keys: &Keys, ids: &mut Vec<u32>) {
        let rows = keys.len();
        self.rows += rows;
        let known = &mut self.keys;
        match &mut self.strategy {
            Strategy::Single => {
                let known = known.words_mut();
                if known.is_empty() && rows > 0 {
                    known.push(0);
                }
                ids.clear();
                ids.resize(rows, 0);
            }
            Strategy::Array(it) => it.find_or_insert(known.words_mut(), keys.words(), ids),
            Strategy::Dense(it) => it.insert(keys.words(), ids),
            Strategy::Sorted(it) => it.append(known.words_mut(), keys.words(), ids),
            Strategy::Hash(it) => same_format!(Keys, Keys, (known, keys), (known, keys) => {
                it.find_or_insert(known, keys, ids);
            }),
            Strategy::Bypass { .. } => {
                ids.clear();
                ids.extend(known.len() as u32..(known.len() + rows) as u32);
                known.extend(keys);
            }
        }
    }

    /// Whether the keys of a batch, of block `block`, fit the strategy; if not, the groups must be flushed first, and then
    /// [`GroupIndex::find_by_hash`].
    pub fn accepts(&mut self, keys: &Keys, block: u64) -> bool {
        let Strategy::Sorted(runs) = &mut self.strategy else { return true };
        if runs.accepts(self.keys.words(), keys.words(), block) {
            return true;
        }
        if self.keys.is_empty() {
            self.find_by_hash();
        }
        self.keys.is_empty()
    }

    /// Gives up that the input is sorted; the index is empty.
    pub fn find_by_hash(&mut self) {
        self.strategy = Strategy::Hash(HashIndex::with_room(0));
    }

    /// Takes the groups out; the room for finding others stays, and the strategy adapts to what was seen.
    pub fn flush(&mut self) -> (Keys, KeyOrder) {
        let pays = self.rows >= self.len() * ROWS_PER_GROUP_MIN;
        let order = self.order();
        match &mut self.strategy {
            // Runs were taken out with their order.
            Strategy::Single | Strategy::Dense(_) | Strategy::Sorted(_) => {}
            Strategy::Array(it) => it.clear(),
            Strategy::Hash(it) if pays => it.clear(),
            Strategy::Hash(_) => self.strategy = Strategy::Bypass { tables: BYPASS_TABLES },
            Strategy::Bypass { tables: 0 } => self.find_by_hash(),
            Strategy::Bypass { tables } => *tables -= 1,
        }
        self.rows = 0;
        (self.keys.take_all(), order)
    }

    fn order(&mut self) -> KeyOrder {
        match &mut self.strategy {
            Strategy::Sorted(runs) => KeyOrder::SortedRuns(runs.take()),
            Strategy::Bypass { .. } => KeyOrder::Repeated,
            _ => KeyOrder::Unique,
        }
    }

    /// The groups at the end. Where all possible keys had a number, also the numbers of those that are there.
    pub fn finish(mut self) -> (Keys, KeyOrder, Option<Vec<u32>>) {
        if let Strategy::Dense(it) = &self.strategy {
            let numbers = it.keys();
            let keys = Keys::Word(numbers.iter().map(|&it| it.into()).collect());
            return (keys, KeyOrder::Unique, Some(numbers));
        }
        let order = self.order();
        (self.keys, order, None)
    }

    /// An empty index whose groups are numbered by their keys, when there are so many groups that it pays and there is room
    /// for all that there may be.
    pub fn denser(&self, has_room: impl Fn(u64) -> bool) -> Option<Self> {
        let is_large = self.is_unsorted() && self.len() >= DENSE_GROUPS_MIN;
        let bits = self.dense_bits.filter(|&bits| is_large && has_room(1 << bits))?;
        let strategy = Strategy::Dense(DenseArray::new(bits));
        Some(Self { strategy, keys: Keys::Word(Vec::new()), rows: 0, dense_bits: None })
    }

    /// Groups so far; when their numbers are their keys, all that there may be.
    pub fn len(&self) -> usize {
        match &self.strategy {
            Strategy::Dense(it) => it.len(),
            _ => self.keys.len(),
        }
    }

    /// The keys of the groups by group number, unless that is the key.
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Whether groups are found by hash or not at all, so that they should be flushed when they outgrow the cache.
    pub fn is_unsorted(&self) -> bool {
        matches!(self.strategy, Strategy::Hash(_) | Strategy::Bypass { .. })
    }

    /// Whether group numbers rise by at most one from row to row, and only the first of a batch may be older.
    pub fn is_sorted(&self) -> bool {
        matches!(self.strategy, Strategy::Sorted(_))
    }
}
