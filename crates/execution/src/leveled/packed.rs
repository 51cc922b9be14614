//! Sums by few groups over codes that are still narrow: keys of a byte, values of 32 bits
//! (docs/design/07-measured-costs.md, "one query in many styles"). Written for mask registers, and for AVX2 in
//! `packed_avx2`; the portable code is their oracle, and runs elsewhere.

#[cfg(doc)]
use super::masks::FEW_GROUPS;
#[cfg(target_arch = "x86_64")]
use super::packed_avx2 as avx2;
use super::{Addends, Instructions, Level, PACKED_ROWS, leveled};

leveled! {
    /// Each code times `step` plus `base`. Wraps.
    pub(crate) fn scale_u32[](codes: &mut [u32], step: u32, base: u32) {
        if step == 1 {
            codes.iter_mut().for_each(|it| *it = it.wrapping_add(base));
        } else {
            codes.iter_mut().for_each(|it| *it = it.wrapping_mul(step).wrapping_add(base));
        }
    }
}

leveled! {
    /// A value per row from two per row, written where one stands already; there are as many of all.
    pub(crate) fn write2[A: Copy, B: Copy, R: Copy, F: Fn(A, B) -> R](
        left: &[A], right: &[B], out: &mut [R], f: F,
    ) {
        for ((out, &left), &right) in out.iter_mut().zip(left).zip(right) {
            *out = f(left, right);
        }
    }
}

leveled! {
    /// A value per row from one per row, written where one stands already.
    pub(crate) fn write1[A: Copy, R: Copy, F: Fn(A) -> R](values: &[A], out: &mut [R], f: F) {
        for (out, &value) in out.iter_mut().zip(values) {
            *out = f(value);
        }
    }
}

leveled! {
    /// Puts codes of a byte beside what keys of a byte have already.
    pub(crate) fn put_bytes[](keys: &mut [u8], codes: &[u8], base: u8, factor: u8) {
        for (key, &code) in keys.iter_mut().zip(codes) {
            *key |= code.wrapping_add(base).wrapping_mul(factor);
        }
    }
}

/// For each of a few keys the bitmap of the rows of `selected` that have it, one after the other, into `masks`; a row
/// of `selected` with another key is given back if there is one.
pub(crate) fn key_masks(
    level: Level,
    keys: &[u8],
    wanted: &[u8],
    selected: &[u64],
    masks: &mut [u64],
) -> Option<usize> {
    let words = keys.len().div_ceil(64);
    assert!(selected.len() == words && masks.len() == words * wanted.len(), "a bit per row");
    #[cfg(target_arch = "x86_64")]
    if level == Instructions::Avx512 {
        // SAFETY: the level says that the processor has these instructions, and the lengths were just compared.
        return unsafe { x86::key_masks(keys, wanted, selected, masks) };
    }
    #[cfg(target_arch = "x86_64")]
    if level == Instructions::Avx2 {
        // SAFETY: as above.
        return unsafe { avx2::key_masks(keys, wanted, selected, masks) };
    }
    let _ = level;
    masks.fill(0);
    let mut other = None;
    for (row, &key) in keys.iter().enumerate() {
        if selected[row / 64] >> (row % 64) & 1 == 1 {
            match wanted.iter().position(|&it| it == key) {
                Some(group) => masks[group * words + row / 64] |= 1 << (row % 64),
                None => other = other.or(Some(row)),
            }
        }
    }
    other
}

/// Adds to `sums[group]`, for each of up to [`FEW_GROUPS`] groups, the addends of its rows, by masks as those of
/// [`key_masks`]; the first addends to the first row of `sums`, and so on. There are `rows` of each, at most
/// [`PACKED_ROWS`], and sums cannot overflow.
pub(crate) fn add_packed(
    level: Level,
    sums: &mut [&mut [i64]],
    masks: &[u64],
    rows: usize,
    addends: &[Addends<'_>],
) {
    let words = rows.div_ceil(64);
    assert!(rows <= PACKED_ROWS && sums.len() == addends.len(), "few rows, sums of each");
    let past = !bitpack::bitmap::tail_mask(rows);
    let last = masks.chunks(words.max(1)).map(|it| it[it.len() - 1]);
    assert_eq!(last.fold(0, |all, it| all | it) & past, 0, "a mask has bits past its last row");
    for (sums, addends) in sums.iter().zip(addends) {
        let len = match addends {
            Addends::Bytes(it) => it.len(),
            Addends::Words { values, .. } => values.len(),
        };
        assert!(len == rows && masks.len() == words * sums.len(), "masks of the same rows");
    }
    #[cfg(target_arch = "x86_64")]
    if level == Instructions::Avx512 {
        // SAFETY: the level says that the processor has these instructions, and the lengths were just compared.
        return unsafe { x86::add_packed(sums, masks, rows, addends) };
    }
    #[cfg(target_arch = "x86_64")]
    if level == Instructions::Avx2 {
        // SAFETY: as above.
        return unsafe { avx2::add_packed(sums, masks, rows, addends) };
    }
    let _ = level;
    for (sums, addends) in sums.iter_mut().zip(addends) {
        for (sum, masks) in sums.iter_mut().zip(masks.chunks(words.max(1))) {
            for row in (0..rows).filter(|&row| masks[row / 64] >> (row % 64) & 1 == 1) {
                *sum += match addends {
                    Addends::Bytes(codes) => i64::from(codes[row]),
                    Addends::Words { values, .. } => i64::from(values[row]),
                };
            }
        }
    }
}

/// The rows of narrow keys that begin a run, into a bitmap with a word for each 64: those whose key is not that of the row
/// before, which for the first row is `before`.
pub(crate) fn run_starts(level: Level, keys: &[u32], before: Option<u32>, starts: &mut [u64]) {
    assert_eq!(starts.len(), keys.len().div_ceil(64), "a bit per row");
    let Some(&first) = keys.first() else { return };
    #[cfg(target_arch = "x86_64")]
    if level == Instructions::Avx512 {
        // SAFETY: the level says that the processor has these instructions, and the lengths were just compared.
        unsafe { x86::run_starts(keys, starts) };
        starts[0] |= u64::from(before != Some(first));
        return;
    }
    let _ = level;
    starts.fill(0);
    starts[0] = u64::from(before != Some(first));
    for (row, pair) in keys.windows(2).enumerate() {
        starts[(row + 1) / 64] |= u64::from(pair[0] != pair[1]) << ((row + 1) % 64);
    }
}

/// Entries behind those that [`sums_before`] writes that must be there too.
pub(crate) const SLACK: usize = 16;

/// For each row of a bitmap, in order, `carry` plus the values of the rows before it, modulo 2^32; adds all values to
/// `carry`. Gives the number of rows; there must be room for [`SLACK`] more.
pub(crate) fn sums_before(
    level: Level,
    values: &[u32],
    rows: &[u64],
    carry: &mut u32,
    out: &mut [u32],
) -> usize {
    assert_eq!(rows.len(), values.len().div_ceil(64), "a bit per row");
    let count = bitpack::bitmap::count(rows);
    assert!(count + SLACK <= out.len(), "room for all sums");
    #[cfg(target_arch = "x86_64")]
    if level == Instructions::Avx512 {
        // SAFETY: the level says that the processor has these instructions, and the lengths were just compared.
        unsafe { x86::sums_before(values, rows, carry, out) };
        return count;
    }
    let _ = level;
    let mut next = 0;
    for (row, &value) in values.iter().enumerate() {
        out[next] = *carry;
        next += (rows[row / 64] >> (row % 64) & 1) as usize;
        *carry = carry.wrapping_add(value);
    }
    count
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Addends, PACKED_ROWS};

    /// A bit of `selected` per key, and a bitmap of as many in `masks` for each of `wanted`.
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn key_masks(
        keys: &[u8],
        wanted: &[u8],
        selected: &[u64],
        masks: &mut [u64],
    ) -> Option<usize> {
        let words = selected.len();
        let mut other = None;
        for (word, keys) in keys.chunks(64).enumerate() {
            let lanes = u64::MAX >> (64 - keys.len());
            // SAFETY: only the lanes of `keys` are read.
            let keys = unsafe { _mm512_maskz_loadu_epi8(lanes, keys.as_ptr().cast()) };
            let mut left = selected[word] & lanes;
            for (group, &key) in wanted.iter().enumerate() {
                let mask = _mm512_mask_cmpeq_epi8_mask(left, keys, _mm512_set1_epi8(key as i8));
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
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn add_packed(
        sums: &mut [&mut [i64]],
        masks: &[u64],
        rows: usize,
        addends: &[Addends<'_>],
    ) {
        let words = rows.div_ceil(64).max(1);
        // What 32 bits hold after a chunk, and what they do not.
        let (mut low, mut high) = (Vec::with_capacity(8), Vec::with_capacity(8));
        for (place, addends) in addends.iter().enumerate() {
            match *addends {
                Addends::Bytes(codes) => {
                    for (sum, masks) in sums[place].iter_mut().zip(masks.chunks(words)) {
                        *sum += bytes(masks, codes);
                    }
                }
                Addends::Words { values, high: most } => {
                    let fits = u64::from(most) * (PACKED_ROWS / 16) as u64 <= u64::from(u32::MAX);
                    if fits { low.push((place, values)) } else { high.push((place, values)) }
                }
            }
        }
        for at in (0..low.len().max(high.len())).step_by(2) {
            let low = low.get(at..).unwrap_or_default();
            let high = high.get(at..).unwrap_or_default();
            match (low, high) {
                ([a, b, ..], [c, d, ..]) => words_of(sums, masks, words, [*a, *b], [*c, *d]),
                ([a, b, ..], [c]) => words_of(sums, masks, words, [*a, *b], [*c]),
                ([a, b, ..], []) => words_of(sums, masks, words, [*a, *b], []),
                ([a], [c, d, ..]) => words_of(sums, masks, words, [*a], [*c, *d]),
                ([a], [c]) => words_of(sums, masks, words, [*a], [*c]),
                ([a], []) => words_of(sums, masks, words, [*a], []),
                ([], [c, d, ..]) => words_of(sums, masks, words, [], [*c, *d]),
                ([], [c]) => words_of(sums, masks, words, [], [*c]),
                ([], []) => {}
            }
        }
    }

    /// The sum of the bytes whose bit is set.
    #[target_feature(enable = "avx512f,avx512bw")]
    fn bytes(mask: &[u64], codes: &[u8]) -> i64 {
        let mut total = _mm512_setzero_si512();
        for (&mask, codes) in mask.iter().zip(codes.chunks(64)) {
            let lanes = u64::MAX >> (64 - codes.len());
            // SAFETY: only lanes of `codes` are read.
            let codes = unsafe { _mm512_maskz_loadu_epi8(mask & lanes, codes.as_ptr().cast()) };
            total = _mm512_add_epi64(total, _mm512_sad_epu8(codes, _mm512_setzero_si512()));
        }
        _mm512_reduce_add_epi64(total)
    }

    /// For each group the sums of words: of `LOW` whose sums fit lanes of 32 bits, and of `HIGH` that do not. Of these,
    /// the sum of the upper halves and the sum modulo 2^32 tell the whole. A mask is fetched once for all.
    #[target_feature(enable = "avx512f,avx512bw")]
    fn words_of<const LOW: usize, const HIGH: usize>(
        sums: &mut [&mut [i64]],
        masks: &[u64],
        words: usize,
        low: [(usize, &[u32]); LOW],
        high: [(usize, &[u32]); HIGH],
    ) {
        let zero = _mm512_setzero_si512();
        for (group, masks) in masks.chunks(words).enumerate() {
            let (mut lows, mut wraps, mut tops) = ([zero; LOW], [zero; HIGH], [zero; HIGH]);
            for (word, &mask) in masks.iter().enumerate() {
                for part in 0..4 {
                    let (mask, at) = ((mask >> (part * 16)) as u16, word * 64 + part * 16);
                    for (total, (_, values)) in lows.iter_mut().zip(&low) {
                        let values = part_of(values, at, mask);
                        *total = _mm512_add_epi32(*total, values);
                    }
                    for ((wrap, top), (_, values)) in wraps.iter_mut().zip(&mut tops).zip(&high) {
                        let values = part_of(values, at, mask);
                        *wrap = _mm512_add_epi32(*wrap, values);
                        *top = _mm512_add_epi32(*top, _mm512_srli_epi32::<16>(values));
                    }
                }
            }
            for (total, (place, _)) in lows.into_iter().zip(low) {
                sums[place][group] += total_of(total);
            }
            for ((wrap, top), (place, _)) in wraps.into_iter().zip(tops).zip(high) {
                let bottom = _mm512_sub_epi32(wrap, _mm512_slli_epi32::<16>(top));
                sums[place][group] += total_of(bottom) + (total_of(top) << 16);
            }
        }
    }

    /// The sixteen values from `at` on whose bit is set, zero elsewhere; bits past the last value are not.
    #[target_feature(enable = "avx512f")]
    fn part_of(values: &[u32], at: usize, mask: u16) -> __m512i {
        let from = values.as_ptr().wrapping_add(at);
        // SAFETY: only lanes whose bit is set are read, and those are values.
        unsafe { _mm512_maskz_loadu_epi32(mask, from.cast()) }
    }

    /// The sum of sixteen unsigned lanes.
    #[target_feature(enable = "avx512f")]
    fn total_of(lanes: __m512i) -> i64 {
        let low = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(lanes));
        let high = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64::<1>(lanes));
        _mm512_reduce_add_epi64(_mm512_add_epi64(low, high))
    }

    /// Row 0 is taken to go on; `starts` has a bit for each of `keys`.
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn run_starts(keys: &[u32], starts: &mut [u64]) {
        for (word, start) in starts.iter_mut().enumerate() {
            *start = 0;
            for part in 0..4 {
                let at = word * 64 + part * 16;
                let left = keys.len().saturating_sub(at).min(16);
                let mut lanes = (1u32 << left).wrapping_sub(1) as u16;
                if at == 0 {
                    lanes &= !1;
                }
                let key = part_of(keys, at, lanes);
                // SAFETY: only lanes of rows from 1 on are read, so those before them are keys.
                let last = unsafe {
                    let from = keys.as_ptr().wrapping_add(at).wrapping_sub(1);
                    _mm512_maskz_loadu_epi32(lanes, from.cast())
                };
                let differs = _mm512_mask_cmpneq_epi32_mask(lanes, key, last);
                *start |= u64::from(differs) << (part * 16);
            }
        }
    }

    /// `rows` has a bit for each of `values`, and `out` room for one more vector than those that are set.
    #[target_feature(enable = "avx512f,avx512bw,popcnt")]
    pub(super) fn sums_before(values: &[u32], rows: &[u64], carry: &mut u32, out: &mut [u32]) {
        let (zero, last) = (_mm512_setzero_si512(), _mm512_set1_epi32(15));
        let mut before = _mm512_set1_epi32(*carry as i32);
        let mut next = 0;
        for (word, &rows) in rows.iter().enumerate() {
            for part in 0..4 {
                let at = word * 64 + part * 16;
                let left = values.len().saturating_sub(at).min(16);
                let value = part_of(values, at, (1u32 << left).wrapping_sub(1) as u16);
                let mut sum = value;
                sum = _mm512_add_epi32(sum, _mm512_alignr_epi32::<15>(sum, zero));
                sum = _mm512_add_epi32(sum, _mm512_alignr_epi32::<14>(sum, zero));
                sum = _mm512_add_epi32(sum, _mm512_alignr_epi32::<12>(sum, zero));
                sum = _mm512_add_epi32(sum, _mm512_alignr_epi32::<8>(sum, zero));
                let wanted = (rows >> (part * 16)) as u16;
                let sums = _mm512_add_epi32(before, _mm512_sub_epi32(sum, value));
                // SAFETY: the caller left room for a whole vector behind the last sum.
                unsafe {
                    let out = out.as_mut_ptr().add(next).cast();
                    _mm512_storeu_epi32(out, _mm512_maskz_compress_epi32(wanted, sums));
                }
                next += wanted.count_ones() as usize;
                before = _mm512_permutexvar_epi32(last, _mm512_add_epi32(before, sum));
            }
        }
        *carry = _mm_cvtsi128_si32(_mm512_castsi512_si128(before)) as u32;
    }
}
