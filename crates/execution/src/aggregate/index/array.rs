//! Arrays indexed by the key itself, for keys of few bits: nothing is hashed and nothing compared.

use crate::leveled::{level, look_up};

/// Group numbers by key.
pub struct DirectArray {
    /// The least key.
    base: u64,
    /// Group number + 1; zero is free.
    entries: Vec<u32>,
}

impl DirectArray {
    /// For the keys from `base` on, `len` different ones.
    pub fn new(base: u64, len: usize) -> Self {
        Self { base, entries: vec![0; len] }
    }

    /// Forgets all groups.
    pub fn clear(&mut self) {
        self.entries.fill(0);
    }

    /// The group number of each of some keys; those that are new are appended to `known`.
    pub fn find_or_insert(&mut self, known: &mut Vec<u64>, keys: &[u64], ids: &mut Vec<u32>) {
        ids.resize(keys.len(), 0);
        if look_up(level(), keys, self.base, &self.entries, ids) {
            return;
        }
        for (id, &key) in ids.iter_mut().zip(keys) {
            let entry = &mut self.entries[(key - self.base) as usize];
            if *entry == 0 {
                known.push(key);
                *entry = known.len() as u32;
            }
            *id = *entry - 1;
        }
    }
}

/// All possible keys: the number of a group is its key, so that no branch asks whether it is new. Which groups are there
/// is found at the end.
pub struct DenseArray {
    /// A bit for each key that is there.
    present: Vec<u64>,
}

impl DenseArray {
    /// For keys of so many bits, at least six.
    pub fn new(bits: u32) -> Self {
        Self { present: vec![0; 1 << (bits - 6)] }
    }

    /// How many keys there may be.
    pub fn len(&self) -> usize {
        self.present.len() * 64
    }

    /// The group number of each of some keys.
    pub fn insert(&mut self, keys: &[u64], ids: &mut Vec<u32>) {
        for &key in keys {
            self.present[(key / 64) as usize] |= 1 << (key % 64);
        }
        ids.clear();
        ids.extend(keys.iter().map(|&key| key as u32));
    }

    /// The keys that are there, rising.
    pub fn keys(&self) -> Vec<u32> {
        let mut keys = vec![0; bitpack::bitmap::count(&self.present)];
        bitpack::bitmap::positions(&self.present, self.len(), &mut keys);
        keys
    }
}
