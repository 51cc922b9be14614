//! The directory of P-HYPER's tagged lock-free hash table (4.2): one word per bucket, which holds the newest entry of
//! the bucket and a 16-bit filter over the hashes of all its entries.
//!
//! Entries are numbers from 1 below 2^48; the caller keeps them, and links each to the one that [`Directory::insert`]
//! gives back. Lookups are meant for the time after all inserts (a join builds, waits for its workers, then probes).

use std::ops::Deref;

use crate::sync::atomic::{AtomicU64, Ordering};

const ENTRY_BITS: u32 = 48;
const ENTRY_MASK: u64 = (1 << ENTRY_BITS) - 1;

/// Buckets of a hash table that many workers fill at once.
#[derive(Debug)]
pub struct Directory<W = Vec<AtomicU64>> {
    words: W,
    shift: u32,
}

/// The bit that stands for a hash in the filter of its bucket: from the low bits, as the bucket is from the high ones.
#[inline]
fn tag(hash: u64) -> u64 {
    1 << (ENTRY_BITS + (hash & 15) as u32)
}

/// How many buckets a directory has for so many entries: twice as many, or a little more.
pub fn buckets_for(entries: usize) -> usize {
    (entries.max(1) * 2).next_power_of_two()
}

impl Directory {
    /// A directory on the heap for so many entries.
    pub fn for_entries(entries: usize) -> Self {
        Self::over((0..buckets_for(entries)).map(|_| AtomicU64::new(0)).collect())
    }
}

impl<W: Deref<Target = [AtomicU64]>> Directory<W> {
    /// A directory of these buckets, all of them zero: as many as [`buckets_for`] says.
    pub fn over(words: W) -> Self {
        assert!(words.len() >= 2 && words.len().is_power_of_two(), "buckets come in powers of two");
        let shift = 64 - words.len().ilog2();
        Self { words, shift }
    }

    /// Makes `entry` the newest of its bucket and returns the one that was the newest before, 0 if none.
    #[inline]
    pub fn insert(&self, hash: u64, entry: u64) -> u64 {
        debug_assert!(entry != 0 && entry <= ENTRY_MASK, "an entry fits 48 bits");
        let word = &self.words[(hash >> self.shift) as usize];
        let mut old = word.load(Ordering::Relaxed);
        loop {
            let new = (old & !ENTRY_MASK) | tag(hash) | entry;
            // Release: what the caller wrote for the entry is seen by who finds it.
            match word.compare_exchange_weak(old, new, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return old & ENTRY_MASK,
                Err(now) => old = now,
            }
        }
    }

    /// The newest entry of the bucket of a hash; 0 when the filter knows that no entry has this hash.
    #[inline]
    pub fn head(&self, hash: u64) -> u64 {
        // Relaxed: the caller has waited for the builders, which orders all their writes before this.
        let word = self.words[(hash >> self.shift) as usize].load(Ordering::Relaxed);
        if word & tag(hash) == 0 { 0 } else { word & ENTRY_MASK }
    }

    /// Whether an entry may have this hash.
    #[inline]
    pub fn may_contain(&self, hash: u64) -> bool {
        self.head(hash) != 0
    }

    /// How many buckets.
    pub fn buckets(&self) -> usize {
        self.words.len()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_twice_the_entries_and_never_none() {
        let buckets = |entries| Directory::for_entries(entries).buckets();
        assert_eq!([0, 1, 2, 3, 1000].map(buckets), [2, 2, 4, 8, 2048]);
    }

    #[test]
    fn chains_hold_every_entry_and_tags_never_deny_one() {
        let directory = Directory::for_entries(1000);
        let mut prng = crate::Prng::new(7);
        let hashes: Vec<u64> = (0..1000).map(|_| prng.next_u64()).collect();
        let mut next = vec![0; 1001];
        for (index, &hash) in hashes.iter().enumerate() {
            next[index + 1] = directory.insert(hash, index as u64 + 1);
        }
        for (index, &hash) in hashes.iter().enumerate() {
            let mut entry = directory.head(hash);
            while entry != 0 && entry != index as u64 + 1 {
                entry = next[entry as usize];
            }
            assert_eq!(entry, index as u64 + 1);
        }
        let denied = (0..10_000).filter(|_| !directory.may_contain(prng.next_u64())).count();
        assert!(denied > 9_000, "the tags filter: {denied}");
    }

    #[test]
    fn extreme_hashes_and_entries_fit() {
        let directory = Directory::for_entries(0);
        assert_eq!(directory.head(0), 0);
        assert_eq!(directory.insert(0, ENTRY_MASK), 0);
        assert_eq!(directory.insert(u64::MAX, 1), 0);
        assert_eq!(directory.insert(15, 2), ENTRY_MASK);
        assert_eq!((directory.head(0), directory.head(u64::MAX), directory.head(1)), (2, 1, 0));
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::sync::{Arc, thread};

    /// Two workers fill one bucket: under every schedule the chain from the head holds all entries once, and the
    /// filter admits each hash.
    #[test]
    fn no_schedule_loses_an_entry_or_a_tag() {
        loom::model(|| {
            let directory = Arc::new(Directory::for_entries(1));
            let worker = |first: u64| {
                let directory = Arc::clone(&directory);
                thread::spawn(move || {
                    [first, first + 1].map(|entry| (entry, directory.insert(entry, entry)))
                })
            };
            let (a, b) = (worker(1), worker(3));
            let mut next = [0; 5];
            for (entry, before) in a.join().unwrap().into_iter().chain(b.join().unwrap()) {
                next[entry as usize] = before;
            }
            let (mut seen, mut entry) = (0, directory.head(1));
            while entry != 0 {
                assert_eq!(seen & 1 << entry, 0, "an entry stands twice");
                seen |= 1 << entry;
                entry = next[entry as usize];
            }
            assert_eq!(seen, 0b11110);
            assert!((1..5).all(|hash| directory.may_contain(hash)));
        });
    }
}
