//! The hashes of keys; the same in every run.

use std::hash::{BuildHasher, Hasher};

/// A fingerprint of a key: equal keys have equal ones, and it is all that a hash needs.
pub trait Fingerprint: Copy + Eq {
    /// Spread over 64 bits.
    fn hash(self) -> u64;
}

impl Fingerprint for u64 {
    #[inline]
    fn hash(self) -> u64 {
        let mixed = (self ^ (self >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ mixed >> 32
    }
}

impl Fingerprint for u128 {
    #[inline]
    fn hash(self) -> u64 {
        // Keys that share one half never meet: each step can be undone.
        let high = ((self >> 64) as u64).wrapping_mul(0xff51_afd7_ed55_8ccd);
        (self as u64 ^ high.rotate_left(32)).hash()
    }
}

/// The hash of a key that is longer than a word, kept beside it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StoredHash(pub u64);

impl StoredHash {
    /// The hash of some bytes.
    #[inline]
    pub fn of_bytes(key: &[u8]) -> Self {
        let mut hasher = foldhash::quality::FixedState::with_seed(0x6e6f_6465).build_hasher();
        hasher.write(key);
        Self(hasher.finish())
    }
}

impl Fingerprint for StoredHash {
    #[inline]
    fn hash(self) -> u64 {
        self.0
    }
}
