//! From keys to group numbers: nothing to find without keys, an array for small domains, else open addressing.

use crate::TextVector;
use crate::aggregate::key::{KeyLayout, Keys, hash_bytes, hash_word};

/// Bits of a packed key up to which groups are found through an array (2^18 entries of 4 bytes stay in the L2 cache).
pub const DIRECT_BITS_MAX: u32 = 18;

/// The groups seen so far: their keys, and a way to find them.
pub struct GroupTable {
    index: Index,
    keys: Keys,
    hashes: Vec<u64>,
}

enum Index {
    /// At most one group.
    Single,
    /// Group number + 1 by packed key less `base`.
    Direct { base: u64, entries: Vec<u32> },
    /// Upper half of the hash, then group number + 1; zero is free. Linear probing, at most half full.
    Hash { entries: Vec<u64>, shift: u32 },
}

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
        Self { index, keys: layout.no_keys(), hashes: Vec::new() }
    }

    /// An empty table for packed keys from `base` on, `len` different ones.
    pub fn for_range(layout: &KeyLayout, base: u64, len: usize) -> Self {
        let index = Index::Direct { base, entries: vec![0; len] };
        Self { index, keys: layout.no_keys(), hashes: Vec::new() }
    }

    /// An empty table that finds groups by hash, with room for some.
    pub fn hashed(layout: &KeyLayout, groups: usize) -> Self {
        Self { index: hash_index(groups), keys: layout.no_keys(), hashes: Vec::new() }
    }

    /// Takes the groups out, with no way to find them; the room for finding others stays.
    pub fn set_aside(&mut self) -> Self {
        match &mut self.index {
            Index::Single => {}
            Index::Direct { entries, .. } => entries.fill(0),
            Index::Hash { entries, .. } => entries.fill(0),
        }
        let none = match &self.keys {
            Keys::Packed(keys) => Keys::Packed(Vec::with_capacity(keys.len())),
            Keys::Bytes(_) => Keys::Bytes(TextVector::default()),
        };
        let keys = std::mem::replace(&mut self.keys, none);
        Self { index: Index::Single, keys, hashes: std::mem::take(&mut self.hashes) }
    }

    /// The groups at some places, in that order, with no way to find them.
    pub fn take(&self, places: &[u32]) -> Self {
        let of_hashes = if self.hashes.is_empty() { &[] } else { places };
        let hashes = of_hashes.iter().map(|&it| self.hashes[it as usize]).collect();
        Self { index: Index::Single, keys: self.keys.take(places), hashes }
    }

    /// Bytes that keys take when they are no words.
    pub fn key_bytes(&self) -> usize {
        match &self.keys {
            Keys::Packed(_) => 0,
            Keys::Bytes(keys) => keys.bytes.len(),
        }
    }

    /// Groups so far.
    pub fn len(&self) -> usize {
        match &self.keys {
            Keys::Packed(it) => it.len(),
            Keys::Bytes(it) => it.len(),
        }
    }

    /// Whether groups are found by hash, so that the table may outgrow the cache.
    pub fn is_hashed(&self) -> bool {
        matches!(self.index, Index::Hash { .. })
    }

    /// The keys of the groups, by group number.
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// The hash of a group's key.
    pub fn hash(&self, group: usize) -> u64 {
        match &self.keys {
            Keys::Packed(keys) => hash_word(keys[group]),
            Keys::Bytes(_) => self.hashes[group],
        }
    }

    /// The group number of each key; unknown keys become new groups.
    pub fn find_or_insert(&mut self, keys: &Keys, rows: usize, groups: &mut Vec<u32>) {
        groups.clear();
        match (&mut self.keys, keys) {
            (Keys::Packed(known), Keys::Packed(keys)) => match &mut self.index {
                Index::Single => {
                    if known.is_empty() && rows > 0 {
                        known.push(0);
                    }
                    groups.resize(rows, 0);
                }
                Index::Direct { base, entries } => direct(*base, entries, known, keys, groups),
                Index::Hash { .. } => self.insert_words(keys, groups),
            },
            (Keys::Bytes(_), Keys::Bytes(keys)) => self.insert_bytes(keys, groups),
            _ => unreachable!("invariant: keys are held as their layout says"),
        }
    }

    fn insert_words(&mut self, keys: &[u64], groups: &mut Vec<u32>) {
        let (Index::Hash { entries, shift }, Keys::Packed(known)) =
            (&mut self.index, &mut self.keys)
        else {
            return;
        };
        groups.reserve(keys.len());
        // Rows of one group often follow each other; the last answer is then the next one.
        let mut last = (keys.first().map_or(0, |it| !it), 0u32);
        for &key in keys {
            if key == last.0 {
                groups.push(last.1);
                continue;
            }
            if (known.len() + 1) * 2 > entries.len() {
                *shift -= 1;
                *entries =
                    rebuilt(entries.len() * 2, *shift, known.iter().map(|&it| hash_word(it)));
            }
            let hash = hash_word(key);
            let mask = entries.len() - 1;
            let mut at = (hash >> *shift) as usize;
            let group = loop {
                let entry = entries[at];
                if entry == 0 {
                    known.push(key);
                    entries[at] = entry_of(hash, known.len());
                    break known.len() as u32 - 1;
                }
                let group = (entry as u32 - 1) as usize;
                if known[group] == key {
                    break group as u32;
                }
                at = (at + 1) & mask;
            };
            last = (key, group);
            groups.push(group);
        }
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
                    known.bytes.extend_from_slice(key);
                    known.ends.push(
                        u32::try_from(known.bytes.len())
                            .expect("invariant: tables are flushed before their keys reach 4 GiB"),
                    );
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
    groups.extend(keys.iter().map(|&key| {
        let entry = &mut entries[(key - base) as usize];
        if *entry == 0 {
            known.push(key);
            *entry = known.len() as u32;
        }
        *entry - 1
    }));
}
