//! A hash table from keys to group numbers: open addressing with linear probing, at most half full.

use crate::aggregate::key::{Fingerprint, KeySet};

/// Keys whose places are looked up at once, so that their cache misses overlap. Not measured on its own.
const LOOKAHEAD: usize = 32;
/// Entries of the smallest table.
const ENTRIES_MIN: usize = 1024;

/// The places of groups by hash. The keys themselves are kept by the caller, by group number.
pub struct HashIndex {
    /// The low half of the hash, then group number + 1; zero is free. The high bits chose the place, the low ones tell
    /// entries apart.
    entries: Vec<u64>,
    shift: u32,
}

fn entry_of(hash: u64, number: usize) -> u64 {
    hash << 32 | number as u64
}

impl HashIndex {
    /// No groups yet, and room for some.
    pub fn with_room(groups: usize) -> Self {
        let len = (groups * 2).next_power_of_two().max(ENTRIES_MIN);
        Self { entries: vec![0; len], shift: 64 - len.trailing_zeros() }
    }

    /// Forgets all groups.
    pub fn clear(&mut self) {
        self.entries.fill(0);
    }

    /// The group number of each of some keys; those that are new are appended to `known`.
    pub fn find_or_insert<K: KeySet>(&mut self, known: &mut K, keys: &K, ids: &mut Vec<u32>) {
        ids.clear();
        ids.reserve(keys.fingerprints().len());
        let mut heads = [0u64; LOOKAHEAD];
        for (chunk, wanted) in keys.fingerprints().chunks(LOOKAHEAD).enumerate() {
            self.make_room(known, wanted.len());
            // First loads that do not wait for each other.
            for (head, it) in heads.iter_mut().zip(wanted) {
                *head = self.entries[(it.hash() >> self.shift) as usize];
            }
            let mut found = [None; LOOKAHEAD];
            for (found, &head) in found.iter_mut().zip(&heads[..wanted.len()]) {
                let group = (head as u32).wrapping_sub(1) as usize;
                *found = known.fingerprints().get(group).copied();
            }
            let first = chunk * LOOKAHEAD;
            for (((place, &wanted), found), &head) in (first..).zip(wanted).zip(found).zip(&heads) {
                let group = (head as u32).wrapping_sub(1);
                let is_there = found == Some(wanted) && known.equals(group as usize, keys, place);
                ids.push(if is_there { group } else { self.probe(known, keys, place) });
            }
        }
    }

    /// The group of a key, by all entries from its place on; there is room for one more.
    fn probe<K: KeySet>(&mut self, known: &mut K, keys: &K, place: usize) -> u32 {
        let wanted = keys.fingerprints()[place];
        let hash = wanted.hash();
        let mask = self.entries.len() - 1;
        let mut at = (hash >> self.shift) as usize;
        loop {
            let entry = self.entries[at];
            if entry == 0 {
                known.push(keys, place);
                let number = known.fingerprints().len();
                self.entries[at] = entry_of(hash, number);
                return number as u32 - 1;
            }
            let group = entry as u32 - 1;
            if entry >> 32 == hash & 0xffff_ffff
                && known.fingerprints()[group as usize] == wanted
                && known.equals(group as usize, keys, place)
            {
                return group;
            }
            at = (at + 1) & mask;
        }
    }

    /// Grows until the table is at most half full with so many groups more.
    fn make_room<K: KeySet>(&mut self, known: &K, more: usize) {
        let known = known.fingerprints();
        while (known.len() + more) * 2 > self.entries.len() {
            let len = self.entries.len() * 2;
            self.shift -= 1;
            self.entries = vec![0; len];
            for (group, it) in known.iter().enumerate() {
                let hash = it.hash();
                let mut at = (hash >> self.shift) as usize;
                while self.entries[at] != 0 {
                    at = (at + 1) & (len - 1);
                }
                self.entries[at] = entry_of(hash, group + 1);
            }
        }
    }
}
