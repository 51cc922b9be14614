//! From keys to group numbers: nothing to find without keys, an array for small domains, no search at all while keys
//! rise or hardly repeat, else open addressing.

use std::ops::Range;

use crate::TextVector;
use crate::aggregate::hash::hash_bytes;
use crate::aggregate::key::{KeyLayout, Keys, Word};
use crate::aggregate::texts::TextKeys;
use crate::leveled::{level, look_up, numbers_of_runs, rises};

/// Bits of a packed key up to which groups are found through an array (2^18 entries of 4 bytes stay in the L2 cache).
pub const DIRECT_BITS_MAX: u32 = 18;

/// The groups seen so far: their keys, and a way to find them.
pub struct GroupTable {
    index: Index,
    keys: Keys,
    hashes: Vec<u64>,
    /// Rows seen since the table was empty.
    rows: usize,
    /// Whether a key may come twice.
    repeats: bool,
    /// Bits of the keys, when an array of all of them pays as soon as there are many groups.
    array: Option<u32>,
}

enum Index {
    /// At most one group.
    Single,
    /// Group number + 1 by packed key less `base`.
    Direct { base: u64, entries: Vec<u32> },
    /// Upper half of the hash, then group number + 1; zero is free. Linear probing, at most half full.
    Hash { entries: Vec<u64>, shift: u32 },
    /// Keys have come in rising order, run after run: a row begins a group if its key is not the last one. A key may come
    /// again in another run.
    Rising { runs: Vec<u32>, block: u64 },
    /// The number of a group is its key: no search, and no branch on whether a key is new. A bit for each key that is
    /// there; the table must be packed before anyone asks for its keys.
    Dense { present: Vec<u64> },
    /// Each row is a group, because keys hardly repeated; so many tables more are filled like this before looking again.
    Listed { tables: u32 },
}

/// Bits of a packed key up to which groups are found through an array from the start.
const SMALL_BITS_MAX: u32 = 10;
/// Bits of a packed key up to which an array of all possible keys is worth its memory, if one in [`ARRAY_SHARE`] of
/// them is expected: beyond the caches, but without a search, a branch, or a second pass over the groups.
const ARRAY_BITS_MAX: u32 = 21;
const ARRAY_SHARE: f64 = 4.0;
/// Groups from which on an array of all possible keys is worth its memory.
const ARRAY_GROUPS_MIN: usize = 4096;

/// Tables that are filled without a search before looking again whether keys repeat.
const LISTED_TABLES: u32 = 16;
/// Rows per group below which a search is not worth its while.
const ROWS_PER_GROUP_MIN: usize = 2;

impl GroupTable {
    /// An empty table.
    pub fn new(layout: &KeyLayout) -> Self {
        let index = match layout {
            KeyLayout::Packed { bits: 0, .. } => Index::Single,
            KeyLayout::Packed { bits, .. } if *bits <= DIRECT_BITS_MAX => {
                Index::Direct { base: 0, entries: vec![0; 1 << bits] }
            }
            _ => hash_index(0),
        };
        Self::empty(index, layout)
    }

    /// An empty table of groups that will be put together with those of other tables: here a key may come twice. `expected`
    /// is how many groups there will be in all.
    pub fn for_parts(layout: &KeyLayout, expected: f64) -> Self {
        match layout {
            KeyLayout::Packed { bits, .. } if *bits > SMALL_BITS_MAX => {
                let index = Index::Rising { runs: Vec::new(), block: u64::MAX };
                let filled = expected * ARRAY_SHARE >= (1u64 << bits.min(&63)) as f64;
                let array = Some(*bits)
                    .filter(|&it| it <= DIRECT_BITS_MAX || it <= ARRAY_BITS_MAX && filled);
                Self { array, ..Self::empty(index, layout) }
            }
            _ => Self::new(layout),
        }
    }

    fn empty(index: Index, layout: &KeyLayout) -> Self {
        let repeats = matches!(index, Index::Rising { .. });
        Self { index, keys: layout.no_keys(), hashes: Vec::new(), rows: 0, repeats, array: None }
    }

    /// An empty table for packed keys from `base` on, `len` different ones.
    pub fn for_range(layout: &KeyLayout, base: u64, len: usize) -> Self {
        Self::empty(Index::Direct { base, entries: vec![0; len] }, layout)
    }

    /// An empty table that finds groups by hash, with room for some.
    pub fn hashed(layout: &KeyLayout, groups: usize) -> Self {
        Self::empty(hash_index(groups), layout)
    }

    /// Groups with these keys, and no way to find them.
    pub fn of_keys(keys: Keys) -> Self {
        Self { index: Index::Single, keys, hashes: Vec::new(), rows: 0, repeats: true, array: None }
    }

    /// Takes the groups out, with no way to find them; the room for finding others stays. Where keys hardly repeated, the
    /// next ones are only listed.
    pub fn set_aside(&mut self) -> Self {
        let pays = self.rows >= self.len() * ROWS_PER_GROUP_MIN;
        let mut left = Index::Single;
        match &mut self.index {
            Index::Single | Index::Dense { .. } => {}
            Index::Direct { entries, .. } => entries.fill(0),
            Index::Hash { entries, .. } if pays => entries.fill(0),
            Index::Listed { tables } if *tables > 0 => *tables -= 1,
            Index::Hash { .. } => self.index = Index::Listed { tables: LISTED_TABLES },
            Index::Listed { .. } => self.index = hash_index(0),
            Index::Rising { .. } => left = std::mem::replace(&mut self.index, hash_index(0)),
        }
        let keys = self.take_keys();
        let (rows, hashes) = (std::mem::take(&mut self.rows), std::mem::take(&mut self.hashes));
        let taken = Self { index: left, keys, hashes, rows, repeats: self.repeats, array: None };
        self.repeats = matches!(self.index, Index::Listed { .. });
        taken
    }

    /// Takes groups with rising keys out; those that follow are expected to go on rising.
    pub fn set_runs_aside(&mut self) -> Self {
        let Index::Rising { block, .. } = &self.index else { return self.set_aside() };
        let fresh = Index::Rising { runs: Vec::new(), block: *block };
        let index = std::mem::replace(&mut self.index, fresh);
        let keys = self.take_keys();
        let rows = std::mem::take(&mut self.rows);
        Self { index, keys, hashes: Vec::new(), rows, repeats: true, array: None }
    }

    /// Takes the keys out, and makes room for as many.
    fn take_keys(&mut self) -> Keys {
        let none = match &self.keys {
            Keys::Packed(keys) => Keys::Packed(Vec::with_capacity(keys.len())),
            Keys::Wide(keys) => Keys::Wide(Vec::with_capacity(keys.len())),
            Keys::Texts(keys) => Keys::Texts(keys.emptied()),
            Keys::Bytes(_) => Keys::Bytes(TextVector::default()),
        };
        std::mem::replace(&mut self.keys, none)
    }

    /// Groups that follow each other, with packed keys and no way to find them.
    pub fn slice(&self, groups: Range<usize>) -> Self {
        let Keys::Packed(keys) = &self.keys else {
            unreachable!("invariant: only packed keys are known to rise");
        };
        let keys = Keys::Packed(keys[groups].to_vec());
        let repeats = self.repeats;
        Self { index: Index::Single, keys, hashes: Vec::new(), rows: 0, repeats, array: None }
    }

    /// Whether the keys of a batch fit the way in which groups are found; if not, the table must be set aside first.
    /// `block` is the number of the block of rows that they come from: after a gap, a new run begins, so that the runs of
    /// workers who share the blocks do not overlap.
    pub fn accepts(&mut self, keys: &Keys, block: u64) -> bool {
        let (Index::Rising { runs, block: last }, Keys::Packed(known), Keys::Packed(keys)) =
            (&mut self.index, &self.keys, keys)
        else {
            return true;
        };
        let goes_on = block == *last || block == last.wrapping_add(1);
        let falls = match (known.last(), keys.first()) {
            (Some(last), Some(first)) => goes_on && first < last,
            _ => false,
        };
        if falls && block == *last || !rises(level(), keys) {
            if known.is_empty() {
                (self.index, self.repeats) = (hash_index(0), false);
                return true;
            }
            return false;
        }
        if !goes_on || falls || known.is_empty() {
            runs.push(known.len() as u32);
        }
        *last = block;
        true
    }

    /// The ranges of groups with rising keys, if that is how they came; each has at least one group.
    pub fn runs(&self) -> Option<Vec<Range<u32>>> {
        let Index::Rising { runs, .. } = &self.index else { return None };
        let ends = runs.iter().skip(1).copied().chain([self.len() as u32]);
        Some(
            runs.iter()
                .zip(ends)
                .map(|(&start, end)| start..end)
                .filter(|it| !it.is_empty())
                .collect(),
        )
    }

    /// The groups at some places, in that order, with no way to find them.
    pub fn take(&self, places: &[u32]) -> Self {
        let of_hashes = if self.hashes.is_empty() { &[] } else { places };
        let hashes = of_hashes.iter().map(|&it| self.hashes[it as usize]).collect();
        let keys = self.keys.take(places);
        Self { index: Index::Single, keys, hashes, rows: 0, repeats: self.repeats, array: None }
    }

    /// Bytes that keys take when they are no words.
    pub fn key_bytes(&self) -> usize {
        match &self.keys {
            Keys::Packed(_) | Keys::Wide(_) | Keys::Texts(_) => 0,
            Keys::Bytes(keys) => keys.bytes.len(),
        }
    }

    /// Groups so far; when their numbers are their keys, all that there may be.
    pub fn len(&self) -> usize {
        match (&self.index, &self.keys) {
            (Index::Dense { present }, _) => present.len() * 64,
            (_, Keys::Packed(it)) => it.len(),
            (_, Keys::Wide(it)) => it.len(),
            (_, Keys::Texts(it)) => it.len(),
            (_, Keys::Bytes(it)) => it.len(),
        }
    }

    /// An empty table whose groups are numbered by their keys, when there are so many groups that it pays.
    pub fn dense(&self) -> Option<Self> {
        let bits = self.array.filter(|_| self.is_hashed() && self.len() >= ARRAY_GROUPS_MIN)?;
        let (keys, hashes) = (Keys::Packed(Vec::new()), Vec::new());
        let index = Index::Dense { present: vec![0; 1 << (bits - 6)] };
        Some(Self { index, keys, hashes, rows: 0, repeats: true, array: None })
    }

    /// The groups that are there, when numbers are keys: from now on these are the groups, in the order of their keys.
    pub fn pack(&mut self) -> Option<Vec<u32>> {
        let Index::Dense { present } = &self.index else { return None };
        let mut places = vec![0; bitpack::bitmap::count(present)];
        bitpack::bitmap::positions(present, present.len() * 64, &mut places);
        self.keys = Keys::Packed(places.iter().map(|&it| it.into()).collect());
        self.index = Index::Single;
        Some(places)
    }

    /// Whether the table should be set aside when it outgrows the cache: groups are found by hash, or only listed.
    pub fn is_hashed(&self) -> bool {
        matches!(self.index, Index::Hash { .. } | Index::Listed { .. })
    }

    /// Whether a key may be that of several groups.
    pub fn may_repeat(&self) -> bool {
        self.repeats
    }

    /// Whether group numbers rise by at most one from row to row, and only the first of a batch may be older.
    pub fn is_rising(&self) -> bool {
        matches!(self.index, Index::Rising { .. })
    }

    /// The keys of the groups, by group number.
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// The hash of a group's key.
    pub fn hash(&self, group: usize) -> u64 {
        match &self.keys {
            Keys::Packed(keys) => keys[group].hash(),
            Keys::Wide(keys) => keys[group].hash(),
            Keys::Texts(keys) => keys.hash(group),
            Keys::Bytes(_) => self.hashes[group],
        }
    }

    /// The group number of each key; unknown keys become new groups.
    pub fn find_or_insert(&mut self, keys: &Keys, rows: usize, groups: &mut Vec<u32>) {
        self.rows += rows;
        if !matches!(self.index, Index::Direct { .. }) {
            groups.clear();
        }
        if let Index::Listed { .. } = self.index {
            return self.list(keys, groups);
        }
        match (&mut self.keys, keys) {
            (Keys::Packed(known), Keys::Packed(keys)) => match &mut self.index {
                Index::Single => {
                    if known.is_empty() && rows > 0 {
                        known.push(0);
                    }
                    groups.resize(rows, 0);
                }
                Index::Direct { base, entries } => direct(*base, entries, known, keys, groups),
                Index::Rising { runs, .. } => {
                    let goes_on = runs.last().is_some_and(|&it| (it as usize) < known.len());
                    numbers_of_runs(keys, goes_on, known, groups);
                }
                Index::Dense { present } => {
                    for &key in keys {
                        present[(key / 64) as usize] |= 1 << (key % 64);
                    }
                    groups.extend(keys.iter().map(|&key| key as u32));
                }
                Index::Hash { entries, shift } => insert_words(entries, shift, known, keys, groups),
                Index::Listed { .. } => unreachable!("invariant: those were listed"),
            },
            (Keys::Wide(known), Keys::Wide(keys)) => match &mut self.index {
                Index::Hash { entries, shift } => insert_words(entries, shift, known, keys, groups),
                _ => unreachable!("invariant: wide keys are found by hash or listed"),
            },
            (Keys::Texts(known), Keys::Texts(keys)) => match &mut self.index {
                Index::Hash { entries, shift } => insert_texts(entries, shift, known, keys, groups),
                _ => unreachable!("invariant: texts are found by hash or listed"),
            },
            (Keys::Bytes(_), Keys::Bytes(keys)) => self.insert_bytes(keys, groups),
            _ => unreachable!("invariant: keys are held as their layout says"),
        }
    }

    /// Each key as a group of its own.
    fn list(&mut self, keys: &Keys, groups: &mut Vec<u32>) {
        let first = self.len() as u32;
        match (&mut self.keys, keys) {
            (Keys::Packed(known), Keys::Packed(keys)) => known.extend_from_slice(keys),
            (Keys::Wide(known), Keys::Wide(keys)) => known.extend_from_slice(keys),
            (Keys::Texts(known), Keys::Texts(keys)) => known.extend(keys),
            (Keys::Bytes(known), Keys::Bytes(keys)) => {
                for row in 0..keys.len() {
                    let key = keys.bytes_at(row);
                    push_key(known, key);
                    self.hashes.push(hash_bytes(key));
                }
            }
            _ => unreachable!("invariant: keys are held as their layout says"),
        }
        groups.extend(first..self.len() as u32);
    }

    fn insert_bytes(&mut self, keys: &TextVector, groups: &mut Vec<u32>) {
        let (Index::Hash { entries, shift }, Keys::Bytes(known)) =
            (&mut self.index, &mut self.keys)
        else {
            return;
        };
        for row in 0..keys.len() {
            let key = keys.bytes_at(row);
            if (known.len() + 1) * 2 > entries.len() {
                *shift -= 1;
                *entries = rebuilt(entries.len() * 2, *shift, self.hashes.iter().copied());
            }
            let hash = hash_bytes(key);
            let mask = entries.len() - 1;
            let mut at = (hash >> *shift) as usize;
            let group = loop {
                let entry = entries[at];
                if entry == 0 {
                    push_key(known, key);
                    self.hashes.push(hash);
                    entries[at] = entry_of(hash, known.len());
                    break known.len() as u32 - 1;
                }
                let group = (entry as u32 - 1) as usize;
                if entry >> 32 == hash & 0xffff_ffff && known.bytes_at(group) == key {
                    break group as u32;
                }
                at = (at + 1) & mask;
            };
            groups.push(group);
        }
    }
}

/// Keys whose places are looked up at once.
const LOOKAHEAD: usize = 32;

/// The group number of each of some keys, in a table that grows as it must.
fn insert_words<K: Word>(
    entries: &mut Vec<u64>,
    shift: &mut u32,
    known: &mut Vec<K>,
    keys: &[K],
    groups: &mut Vec<u32>,
) {
    groups.reserve(keys.len());
    let mut heads = [0u64; LOOKAHEAD];
    for keys in keys.chunks(LOOKAHEAD) {
        // Never more than half full, even if all of these are new.
        while (known.len() + keys.len()) * 2 > entries.len() {
            *shift -= 1;
            *entries = rebuilt(entries.len() * 2, *shift, known.iter().map(|it| it.hash()));
        }
        // First loads that do not wait for each other, so that their cache misses overlap.
        for (head, &key) in heads.iter_mut().zip(keys) {
            *head = entries[(key.hash() >> *shift) as usize];
        }
        let known_key = |head: u64| known.get((head as u32).wrapping_sub(1) as usize).copied();
        let mut firsts = [None; LOOKAHEAD];
        for (first, &head) in firsts.iter_mut().zip(&heads[..keys.len()]) {
            *first = known_key(head);
        }
        for ((&key, first), &head) in keys.iter().zip(firsts).zip(&heads) {
            let group = match first {
                Some(first) if first == key => head as u32 - 1,
                _ => insert_word(entries, *shift, known, key),
            };
            groups.push(group);
        }
    }
}

/// As [`insert_words`], for texts by their rows.
fn insert_texts(
    entries: &mut Vec<u64>,
    shift: &mut u32,
    known: &mut TextKeys,
    keys: &TextKeys,
    groups: &mut Vec<u32>,
) {
    let mut heads = [0u64; LOOKAHEAD];
    for first in (0..keys.len()).step_by(LOOKAHEAD) {
        let places = first..keys.len().min(first + LOOKAHEAD);
        while (known.len() + places.len()) * 2 > entries.len() {
            *shift -= 1;
            *entries = rebuilt(entries.len() * 2, *shift, known.hashes().iter().copied());
        }
        for (head, place) in heads.iter_mut().zip(places.clone()) {
            *head = entries[(keys.hash(place) >> *shift) as usize];
        }
        let mask = entries.len() - 1;
        for (&head, place) in heads.iter().zip(places) {
            let hash = keys.hash(place);
            let mut at = (hash >> *shift) as usize;
            // Another one of these may have taken a free place in the meantime.
            let mut entry = if head == 0 { entries[at] } else { head };
            while entry != 0 && !is_entry_of(entry, hash, known, keys, place) {
                at = (at + 1) & mask;
                entry = entries[at];
            }
            if entry == 0 {
                known.push(keys, place);
                entry = entry_of(hash, known.len());
                entries[at] = entry;
            }
            groups.push(entry as u32 - 1);
        }
    }
}

/// Whether an entry is that of a text.
fn is_entry_of(entry: u64, hash: u64, known: &TextKeys, keys: &TextKeys, place: usize) -> bool {
    let group = (entry as u32 - 1) as usize;
    entry >> 32 == hash & 0xffff_ffff && known.equals(group, keys, place)
}

/// The group of a key in a table with room for one more.
fn insert_word<K: Word>(entries: &mut [u64], shift: u32, known: &mut Vec<K>, key: K) -> u32 {
    let hash = key.hash();
    let mask = entries.len() - 1;
    let mut at = (hash >> shift) as usize;
    loop {
        let entry = entries[at];
        if entry == 0 {
            known.push(key);
            entries[at] = entry_of(hash, known.len());
            return known.len() as u32 - 1;
        }
        let group = entry as u32 - 1;
        if known[group as usize] == key {
            return group;
        }
        at = (at + 1) & mask;
    }
}

fn push_key(known: &mut TextVector, key: &[u8]) {
    known.bytes.extend_from_slice(key);
    known.ends.push(
        u32::try_from(known.bytes.len())
            .expect("invariant: tables are flushed before their keys reach 4 GiB"),
    );
}

/// The low half of the hash tells entries apart, since the high bits chose their place.
fn entry_of(hash: u64, number: usize) -> u64 {
    hash << 32 | number as u64
}

fn rebuilt(len: usize, shift: u32, hashes: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut entries = vec![0u64; len];
    for (group, hash) in hashes.enumerate() {
        let mut at = (hash >> shift) as usize;
        while entries[at] != 0 {
            at = (at + 1) & (len - 1);
        }
        entries[at] = entry_of(hash, group + 1);
    }
    entries
}

fn hash_index(groups: usize) -> Index {
    let len = (groups * 2).next_power_of_two().max(1024);
    Index::Hash { entries: vec![0; len], shift: 64 - len.trailing_zeros() }
}

fn direct(
    base: u64,
    entries: &mut [u32],
    known: &mut Vec<u64>,
    keys: &[u64],
    groups: &mut Vec<u32>,
) {
    groups.resize(keys.len(), 0);
    if look_up(level(), keys, base, entries, groups) {
        return;
    }
    for (group, &key) in groups.iter_mut().zip(keys) {
        let entry = &mut entries[(key - base) as usize];
        if *entry == 0 {
            known.push(key);
            *entry = known.len() as u32;
        }
        *group = *entry - 1;
    }
}
