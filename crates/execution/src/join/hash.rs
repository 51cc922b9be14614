//! The hash function of join keys: folded multiplication, whose high and low bits are both good.

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
const FACTOR: u64 = 0xd6e8_feb8_6659_fd93;

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}

/// Adds 64 bits of a key to a hash; a hash begins as [`START`].
#[inline]
pub(super) fn combine(hash: u64, bits: u64) -> u64 {
    // The odd constants keep a zero operand from swallowing the other one.
    fold(bits ^ SEED, hash ^ FACTOR).wrapping_add(bits.rotate_left(32))
}

/// What a hash begins as.
pub(super) const START: u64 = 0;

/// The hash of a key that is one integer.
#[inline]
pub(super) fn hash_word(word: i64) -> u64 {
    combine(START, word as u64)
}

/// Adds a text to a hash.
#[inline]
pub(super) fn combine_bytes(mut hash: u64, bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        hash = combine(hash, u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    // The length, so that texts that differ in trailing zeros differ.
    combine(hash ^ bytes.len() as u64, u64::from_le_bytes(last))
}

/// The bits by which floats are equal as join keys: -0.0 is 0.0, and a NaN is any other NaN.
#[inline]
pub(super) fn float_bits(value: f64) -> i64 {
    let value = if value.is_nan() { f64::NAN } else { value + 0.0 };
    value.to_bits() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_of_regular_keys_spread_over_high_and_low_bits() {
        for step in [1_i64, 8, 1 << 20, 1 << 40] {
            let mut high = [0_u32; 64];
            let mut low = [0_u32; 64];
            for key in 0..6400 {
                let hash = hash_word(key * step);
                high[(hash >> 58) as usize] += 1;
                low[(hash & 63) as usize] += 1;
            }
            for count in high.into_iter().chain(low) {
                assert!((40..=180).contains(&count), "step {step}: {count}");
            }
        }
    }

    #[test]
    fn floats_equal_for_sql_have_equal_bits() {
        assert_eq!(float_bits(0.0), float_bits(-0.0));
        assert_eq!(float_bits(f64::NAN), float_bits(-f64::NAN));
        assert_ne!(float_bits(1.0), float_bits(-1.0));
    }

    #[test]
    fn texts_of_every_length_differ() {
        let text = "aaaaaaaaaaaaaaaaaaaaaaaaa\0\0\0";
        let mut seen = std::collections::HashSet::new();
        for length in 0..=text.len() {
            assert!(seen.insert(combine_bytes(START, &text.as_bytes()[..length])));
        }
    }
}
