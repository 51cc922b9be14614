//! Sums by few groups where there are no mask registers: a bitmap becomes lanes of all ones and all zeros, which are laid
//! over the values.

use std::arch::x86_64::*;

use super::{Addends, PACKED_ROWS};

/// A bit of `selected` per key, and a bitmap of as many in `masks` for each of `wanted`.
#[target_feature(enable = "avx2")]
pub(super) fn key_masks(
    keys: &[u8],
    wanted: &[u8],
    selected: &[u64],
    masks: &mut [u64],
) -> Option<usize> {
    let words = selected.len();
    let mut other = None;
    for (word, keys) in keys.chunks(64).enumerate() {
        let mut padded = [0u8; 64];
        let all: &[u8; 64] = match keys.try_into() {
            Ok(all) => all,
            Err(_) => {
                padded[..keys.len()].copy_from_slice(keys);
                &padded
            }
        };
        let (low, high) = halves(all);
        let mut left = selected[word] & u64::MAX >> (64 - keys.len());
        for (group, &key) in wanted.iter().enumerate() {
            let key = _mm256_set1_epi8(key as i8);
            let bits = |half| u64::from(_mm256_movemask_epi8(_mm256_cmpeq_epi8(half, key)) as u32);
            let mask = left & (bits(low) | bits(high) << 32);
            masks[group * words + word] = mask;
            left &= !mask;
        }
        if left != 0 && other.is_none() {
            other = Some(word * 64 + left.trailing_zeros() as usize);
        }
    }
    other
}

/// `masks` has a bitmap of `rows` rows for each sum of each addends, which are as many.
#[target_feature(enable = "avx2")]
pub(super) fn add_packed(
    sums: &mut [&mut [i64]],
    masks: &[u64],
    rows: usize,
    addends: &[Addends<'_>],
) {
    let words = rows.div_ceil(64).max(1);
    let any_words = addends.iter().any(|it| matches!(it, Addends::Words { .. }));
    let mut lanes = [[0u32; 8]; PACKED_ROWS / 8];
    for (group, masks) in masks.chunks(words).enumerate() {
        if any_words {
            spread(masks, &mut lanes);
        }
        for (sums, addends) in sums.iter_mut().zip(addends) {
            sums[group] += match *addends {
                Addends::Bytes(codes) => sum_of_bytes(masks, codes),
                Addends::Words { values, high } => sum_of_words(&lanes, values, high),
            };
        }
    }
}

/// Adds to the sum of each group the values of its rows; there is a bitmap of them for each.
#[target_feature(enable = "avx2")]
pub(super) fn add_by_masks(sums: &mut [i64], masks: &[u64], values: &[i64]) {
    let words = values.len().div_ceil(64).max(1);
    let bits = _mm256_setr_epi64x(1, 2, 4, 8);
    for (sum, masks) in sums.iter_mut().zip(masks.chunks(words)) {
        let mut total = _mm256_setzero_si256();
        for (&mask, values) in masks.iter().zip(values.chunks(64)) {
            let (fours, rest) = values.as_chunks::<4>();
            for (place, four) in fours.iter().enumerate() {
                let mask = _mm256_set1_epi64x((mask >> (place * 4)) as i64);
                let chosen = _mm256_cmpeq_epi64(_mm256_and_si256(mask, bits), bits);
                // SAFETY: the four values are read.
                let four = unsafe { _mm256_loadu_si256(four.as_ptr().cast()) };
                total = _mm256_add_epi64(total, _mm256_and_si256(chosen, four));
            }
            for (bit, &value) in (fours.len() * 4..).zip(rest) {
                *sum = sum.wrapping_add(if mask >> bit & 1 == 1 { value } else { 0 });
            }
        }
        *sum = sum.wrapping_add(total_of_longs(total));
    }
}

/// Lanes of all ones for the bits that are set.
#[target_feature(enable = "avx2")]
fn spread(masks: &[u64], lanes: &mut [[u32; 8]; PACKED_ROWS / 8]) {
    let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    for (&mask, lanes) in masks.iter().zip(lanes.chunks_mut(8)) {
        for (place, lanes) in lanes.iter_mut().enumerate() {
            let mask = _mm256_set1_epi32((mask >> (place * 8)) as i32);
            let chosen = _mm256_cmpeq_epi32(_mm256_and_si256(mask, bits), bits);
            // SAFETY: the eight lanes are written.
            unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), chosen) };
        }
    }
}

/// The sum of the bytes whose bit is set.
#[target_feature(enable = "avx2")]
fn sum_of_bytes(masks: &[u64], codes: &[u8]) -> i64 {
    // Each byte of a half mask to eight bytes, of which each keeps its own bit.
    let spread =
        _mm256_setr_epi64x(0, 0x0101_0101_0101_0101, 0x0202_0202_0202_0202, 0x0303_0303_0303_0303);
    let bits = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
    let (mut total, mut rest) = (_mm256_setzero_si256(), 0);
    for (&mask, codes) in masks.iter().zip(codes.chunks(64)) {
        let Ok(codes) = <&[u8; 64]>::try_from(codes) else {
            let chosen = codes.iter().enumerate().filter(|it| mask >> it.0 & 1 == 1);
            rest += chosen.map(|it| i64::from(*it.1)).sum::<i64>();
            continue;
        };
        let (low, high) = halves(codes);
        for (codes, mask) in [(low, mask as u32), (high, (mask >> 32) as u32)] {
            let mask = _mm256_shuffle_epi8(_mm256_set1_epi32(mask as i32), spread);
            let chosen = _mm256_cmpeq_epi8(_mm256_and_si256(mask, bits), bits);
            let codes = _mm256_and_si256(codes, chosen);
            total = _mm256_add_epi64(total, _mm256_sad_epu8(codes, _mm256_setzero_si256()));
        }
    }
    rest + total_of_longs(total)
}

/// The sum of the values under lanes of ones; none is above `most`. Where 32 bits may not hold a lane's sum, the sum of the
/// upper halves and the sum modulo 2^32 tell the whole.
#[target_feature(enable = "avx2")]
fn sum_of_words(lanes: &[[u32; 8]; PACKED_ROWS / 8], values: &[u32], most: u32) -> i64 {
    let fits = u64::from(most) * (PACKED_ROWS / 8) as u64 <= u64::from(u32::MAX);
    let (eights, rest) = values.as_chunks::<8>();
    let chosen = |(lanes, eight): (&[u32; 8], &[u32; 8])| {
        // SAFETY: eight values and as many lanes are read.
        unsafe {
            let eight = _mm256_loadu_si256(eight.as_ptr().cast());
            _mm256_and_si256(eight, _mm256_loadu_si256(lanes.as_ptr().cast()))
        }
    };
    let (mut wrap, mut top) = (_mm256_setzero_si256(), _mm256_setzero_si256());
    if fits {
        for pair in lanes.iter().zip(eights) {
            wrap = _mm256_add_epi32(wrap, chosen(pair));
        }
    } else {
        for pair in lanes.iter().zip(eights) {
            let values = chosen(pair);
            wrap = _mm256_add_epi32(wrap, values);
            top = _mm256_add_epi32(top, _mm256_srli_epi32::<16>(values));
        }
    }
    let bottom = _mm256_sub_epi32(wrap, _mm256_slli_epi32::<16>(top));
    let last = lanes.get(eights.len()).map_or(&[][..], |it| &it[..]);
    let rest: i64 = rest.iter().zip(last).map(|(value, lane)| i64::from(value & lane)).sum();
    rest + total_of_words(bottom) + (total_of_words(top) << 16)
}

#[target_feature(enable = "avx2")]
fn halves(bytes: &[u8; 64]) -> (__m256i, __m256i) {
    let (low, high) = (bytes.as_ptr(), bytes[32..].as_ptr());
    // SAFETY: both halves have 32 bytes.
    unsafe { (_mm256_loadu_si256(low.cast()), _mm256_loadu_si256(high.cast())) }
}

/// The sum of eight unsigned lanes.
#[target_feature(enable = "avx2")]
fn total_of_words(lanes: __m256i) -> i64 {
    let low = _mm256_cvtepu32_epi64(_mm256_castsi256_si128(lanes));
    let high = _mm256_cvtepu32_epi64(_mm256_extracti128_si256::<1>(lanes));
    total_of_longs(_mm256_add_epi64(low, high))
}

/// The sum of four lanes. Wraps.
#[target_feature(enable = "avx2")]
fn total_of_longs(lanes: __m256i) -> i64 {
    let pair = _mm_add_epi64(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
    _mm_cvtsi128_si64(pair).wrapping_add(_mm_extract_epi64::<1>(pair))
}
