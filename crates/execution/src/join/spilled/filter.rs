//! Which keys a build side in files may have, so that rows that find no partner need not wait for one.

use memory::{Placed, Workspace};
use stdx::Bytes;
use stdx::sync::atomic::{AtomicU64, Ordering};
use types::SqlResult;

/// What part of its memory a statement gives to a filter.
const LIMIT_PART: u64 = 32;
/// The least and the most that a filter takes.
const BYTES_MIN: u64 = 64 << 10;
const BYTES_MAX: u64 = 32 << 20;

/// A blocked Bloom filter: two bits of one word for each key.
pub(in crate::join) struct KeyBits(Placed<AtomicU64>);

impl KeyBits {
    /// Without keys, of a size that the statement can spare.
    pub(in crate::join) fn new(workspace: &Workspace) -> SqlResult<Self> {
        let limit = workspace.account().limit().unwrap_or(Bytes(u64::MAX)).0;
        let bytes = (limit / LIMIT_PART).clamp(BYTES_MIN, BYTES_MAX);
        // The last power of two that is not above.
        let words = 1 << (bytes / 8).ilog2();
        Ok(Self(workspace.spread().atomics(words)?))
    }

    /// Adds keys by their hashes.
    pub(in crate::join) fn add(&self, hashes: &[u64]) {
        for &hash in hashes {
            let (word, bits) = self.place(hash);
            // Looking first keeps the line shared among workers once they are set.
            if word.load(Ordering::Relaxed) & bits != bits {
                word.fetch_or(bits, Ordering::Relaxed);
            }
        }
    }

    /// Whether a key with this hash may have been added.
    #[inline]
    pub(in crate::join) fn may_contain(&self, hash: u64) -> bool {
        let (word, bits) = self.place(hash);
        word.load(Ordering::Relaxed) & bits == bits
    }

    /// The word from the high bits of a hash, both bits from the low ones.
    #[inline]
    fn place(&self, hash: u64) -> (&AtomicU64, u64) {
        let word = &self.0[(hash >> 32) as usize & (self.0.len() - 1)];
        (word, 1 << (hash & 63) | 1 << (hash >> 6 & 63))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::join::hash::hash_word;

    #[test]
    fn what_was_added_is_found_and_little_else() {
        let filter = KeyBits::new(&Workspace::heap()).unwrap();
        let hash = |key: u64| hash_word(key as i64);
        let keys: Vec<u64> = (0..100_000).map(hash).collect();
        filter.add(&keys);
        assert!(keys.iter().all(|&it| filter.may_contain(it)));
        let others = (100_000..200_000).filter(|&it| filter.may_contain(hash(it))).count();
        assert!(others < 1000, "{others} of 100,000");
    }
}
