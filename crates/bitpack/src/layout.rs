//! The layout: code `i` of width `bits` occupies bits `i * bits ..` of the little-endian bit stream.
//!
//! Widths are 0 (all codes are zero, no bytes) to 32, and 64 for plain words that do not pack.

use std::ops::Range;

/// Bytes behind the last code that kernels may read (a whole vector) but never interpret.
pub const PADDING: usize = 64;

/// The widest packed code; the only wider width is 64, plain words.
pub const BITS_MAX: u32 = 32;

/// Panics unless `bits` is a width of this crate.
#[inline]
pub(crate) fn check_bits(bits: u32) {
    assert!(bits <= BITS_MAX || bits == 64, "no index vector has {bits} bits per code");
}

/// The largest code of a width.
#[inline]
pub(crate) fn mask(bits: u32) -> u64 {
    if bits == 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Bytes to allocate for `rows` codes: the codes, rounded up to a cache line, and [`PADDING`].
pub fn packed_bytes(rows: usize, bits: u32) -> usize {
    check_bits(bits);
    byte_range(0, rows, bits).end.next_multiple_of(64) + PADDING
}

/// The bytes that the codes of `rows` rows from `start` on touch. Ranges that start at multiples of 8 rows are
/// disjoint, so that several threads may pack neighbouring ranges.
pub fn byte_range(start: usize, rows: usize, bits: u32) -> Range<usize> {
    let bits = bits as usize;
    start * bits / 8..((start + rows) * bits).div_ceil(8)
}

/// Packs `codes` from row `start_row` on. Writes only the bytes of [`byte_range`]: bits before the first code are kept,
/// bits behind the last one in its byte become zero. A code that does not fit its width is cut to it.
pub fn pack(codes: &[u32], bits: u32, out: &mut [u8], start_row: usize) {
    assert!(bits <= BITS_MAX, "pack takes up to 32 bits per code, {bits} are wanted");
    if bits == 0 || codes.is_empty() {
        return;
    }
    let out = &mut out[byte_range(start_row, codes.len(), bits)];
    let mask = mask(bits);
    let mut filled = (start_row * bits as usize % 8) as u32;
    let mut pending = u64::from(out[0]) & ((1 << filled) - 1);
    let mut at = 0;
    for &code in codes {
        debug_assert!(u64::from(code) <= mask, "code {code} does not fit {bits} bits");
        pending |= (u64::from(code) & mask) << filled;
        filled += bits;
        if filled >= 32 {
            out[at..at + 4].copy_from_slice(&(pending as u32).to_le_bytes());
            at += 4;
            pending >>= 32;
            filled -= 32;
        }
    }
    let rest = &mut out[at..];
    rest.copy_from_slice(&pending.to_le_bytes()[..rest.len()]);
}

/// Stores plain words (`bits` = 64) from row `start_row` on.
pub fn pack_u64(values: &[u64], out: &mut [u8], start_row: usize) {
    let out = &mut out[byte_range(start_row, values.len(), 64)];
    for (out, value) in out.chunks_exact_mut(8).zip(values) {
        out.copy_from_slice(&value.to_le_bytes());
    }
}

/// The code of one row; `bits` up to 32.
#[inline]
pub fn get(packed: &[u8], bits: u32, row: usize) -> u32 {
    debug_assert!(bits <= BITS_MAX);
    get_u64(packed, bits, row) as u32
}

/// The code of one row, for every width.
#[inline]
pub fn get_u64(packed: &[u8], bits: u32, row: usize) -> u64 {
    let bit = row * bits as usize;
    let window: [u8; 8] = packed[bit / 8..bit / 8 + 8].try_into().expect("invariant: eight bytes");
    (u64::from_le_bytes(window) >> (bit % 8)) & mask(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_come_back_bit_by_bit_at_every_width() {
        for bits in 0..=32u32 {
            let codes: Vec<u32> =
                (0..77u32).map(|it| it.wrapping_mul(0x9e37_79b9) & mask(bits) as u32).collect();
            let mut packed = vec![0; packed_bytes(codes.len(), bits)];
            pack(&codes, bits, &mut packed, 0);
            for (row, &code) in codes.iter().enumerate() {
                let by_bit = (0..bits as usize).fold(0u32, |sum, it| {
                    let bit = row * bits as usize + it;
                    sum | (u32::from((packed[bit / 8] >> (bit % 8)) & 1) << it)
                });
                assert_eq!((by_bit, get(&packed, bits, row)), (code, code), "{bits} bits, {row}");
            }
        }
    }

    #[test]
    fn packing_in_pieces_leaves_the_neighbours_alone() {
        for bits in 1..=32u32 {
            let codes: Vec<u32> = (0..100).map(|it| (it * 77) & mask(bits) as u32).collect();
            let mut whole = vec![0xff; packed_bytes(100, bits)];
            pack(&codes, bits, &mut whole, 0);
            // The later half first: the ranges share no byte, as 64 is a multiple of 8.
            let mut pieces = vec![0xff; packed_bytes(100, bits)];
            pack(&codes[64..], bits, &mut pieces, 64);
            pack(&codes[..64], bits, &mut pieces, 0);
            assert_eq!(whole, pieces);
            // Appending at any row keeps what was there.
            let mut appended = vec![0xff; packed_bytes(100, bits)];
            pack(&codes[..33], bits, &mut appended, 0);
            pack(&codes[33..], bits, &mut appended, 33);
            assert_eq!(whole, appended);
        }
    }

    #[test]
    fn plain_words_and_empty_ranges() {
        let mut packed = vec![0; packed_bytes(3, 64)];
        pack_u64(&[u64::MAX, 7], &mut packed, 1);
        assert_eq!((0..3).map(|it| get_u64(&packed, 64, it)).collect::<Vec<_>>(), [0, u64::MAX, 7]);
        assert_eq!(packed_bytes(0, 12), PADDING);
        pack(&[], 12, &mut [], 0);
        pack(&[0, 0], 0, &mut [], 0);
        assert_eq!(get(&[0; 64], 0, 1 << 40), 0);
    }
}
