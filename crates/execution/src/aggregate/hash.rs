//! The hashes of keys; the same in every run.

use std::hash::{BuildHasher, Hasher};

/// Spreads a packed key over 64 bits.
#[inline]
pub fn hash_word(key: u64) -> u64 {
    let mixed = (key ^ (key >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ mixed >> 32
}

/// Spreads a key of bytes over 64 bits; the same in every run.
#[inline]
pub fn hash_bytes(key: &[u8]) -> u64 {
    let mut hasher = foldhash::quality::FixedState::with_seed(0x6e6f_6465).build_hasher();
    hasher.write(key);
    hasher.finish()
}
