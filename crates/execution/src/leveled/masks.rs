//! Few groups: a bitmap of rows per group, and sums under masks, so that no addition waits for the last store
//! (docs/design/07-measured-costs.md, "one query in many styles": half the time of sums in copies). Only where there
//! are mask registers; elsewhere sums are kept in copies.

use super::{Instructions, Level};

/// Groups up to which there are masks: their sums stay in registers.
pub(crate) const FEW_GROUPS: usize = 8;

/// A bitmap of rows for each of `groups` groups, one after the other, when that pays at this level. Each has a word for
/// each 64 of `ids`; `masks` keeps its memory. Tells whether there are masks.
pub(crate) fn group_masks(level: Level, ids: &[u32], groups: usize, masks: &mut Vec<u64>) -> bool {
    masks.clear();
    #[cfg(target_arch = "x86_64")]
    if level == Instructions::Avx512 && (1..=FEW_GROUPS).contains(&groups) {
        masks.resize(ids.len().div_ceil(64) * groups, 0);
        // SAFETY: the level says that the processor has these instructions.
        unsafe { x86::group_masks(ids, masks) };
        return true;
    }
    let _ = (level, ids, groups);
    false
}

/// Adds to the sum of each group the values of its rows, by masks that [`group_masks`] made for as many rows and groups.
/// Additions wrap; the caller has proven that sums fit.
pub(crate) fn add_by_masks(level: Level, sums: &mut [i64], masks: &[u64], values: &[i64]) {
    let words = values.len().div_ceil(64);
    assert_eq!(masks.len(), words * sums.len(), "masks are those of the same rows and groups");
    #[cfg(target_arch = "x86_64")]
    if level == Instructions::Avx512 {
        // SAFETY: the level says that the processor has these instructions, and the lengths were just compared.
        return unsafe { x86::add_by_masks(sums, masks, values) };
    }
    #[cfg(target_arch = "x86_64")]
    if level == Instructions::Avx2 {
        // SAFETY: as above.
        return unsafe { super::packed_avx2::add_by_masks(sums, masks, values) };
    }
    let _ = level;
    for (sum, masks) in sums.iter_mut().zip(masks.chunks(words.max(1))) {
        for (&mask, values) in masks.iter().zip(values.chunks(64)) {
            for (bit, &value) in values.iter().enumerate() {
                *sum = sum.wrapping_add(if mask >> bit & 1 == 1 { value } else { 0 });
            }
        }
    }
}

/// Entries up to which a lookup needs no memory: they fit two registers.
#[cfg(target_arch = "x86_64")]
const FEW_ENTRIES: usize = 32;

/// For each key the entry at `key - base` less one, [`u32::MAX`] where the entry is 0. Tells whether none is.
pub(crate) fn look_up(
    level: Level,
    keys: &[u64],
    base: u64,
    entries: &[u32],
    found: &mut [u32],
) -> bool {
    #[cfg(target_arch = "x86_64")]
    if level == Instructions::Avx512 && entries.len() <= FEW_ENTRIES {
        // SAFETY: the level says that the processor has these instructions.
        return unsafe { x86::look_up(keys, base, entries, found) };
    }
    let _ = level;
    let mut all = true;
    for (found, &key) in found.iter_mut().zip(keys) {
        let entry = entries[(key - base) as usize];
        *found = entry.wrapping_sub(1);
        all &= entry != 0;
    }
    all
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::FEW_GROUPS;

    /// At most 32 entries. Keys beyond them are found as if there were none.
    #[target_feature(enable = "avx512f,avx512vl")]
    pub(super) fn look_up(keys: &[u64], base: u64, entries: &[u32], found: &mut [u32]) -> bool {
        let mut table = [0u32; 32];
        table[..entries.len()].copy_from_slice(entries);
        // SAFETY: sixteen entries each.
        let (low, high) = unsafe {
            (
                _mm512_loadu_epi32(table.as_ptr().cast()),
                _mm512_loadu_epi32(table[16..].as_ptr().cast()),
            )
        };
        let (base, one) = (_mm512_set1_epi64(base as i64), _mm256_set1_epi32(1));
        let mut all = true;
        for (keys, found) in keys.chunks(8).zip(found.chunks_mut(8)) {
            let lanes = ((1u32 << keys.len()) - 1) as u8;
            // SAFETY: only the lanes of `keys` are read, and `found` has as many.
            unsafe {
                let places =
                    _mm512_sub_epi64(_mm512_maskz_loadu_epi64(lanes, keys.as_ptr().cast()), base);
                let places = _mm512_castsi256_si512(_mm512_cvtepi64_epi32(places));
                let entries = _mm512_castsi512_si256(_mm512_permutex2var_epi32(low, places, high));
                all &= _mm256_mask_test_epi32_mask(lanes, entries, entries) == lanes;
                let found = found.as_mut_ptr().cast::<i32>();
                _mm256_mask_storeu_epi32(found, lanes, _mm256_sub_epi32(entries, one));
            }
        }
        all
    }

    /// `masks` has a whole number of bitmaps of `ids`.
    #[target_feature(enable = "avx512f")]
    pub(super) fn group_masks(ids: &[u32], masks: &mut [u64]) {
        let words = ids.len().div_ceil(64);
        for (group, masks) in masks.chunks_mut(words.max(1)).enumerate() {
            let wanted = _mm512_set1_epi32(group as i32);
            for (mask, ids) in masks.iter_mut().zip(ids.chunks(64)) {
                for (part, ids) in ids.chunks(16).enumerate() {
                    let lanes = (1u32 << ids.len()).wrapping_sub(1) as u16;
                    // SAFETY: only the lanes of `ids` are read.
                    let ids = unsafe { _mm512_maskz_loadu_epi32(lanes, ids.as_ptr().cast()) };
                    let equal = _mm512_mask_cmpeq_epi32_mask(lanes, ids, wanted);
                    *mask |= u64::from(equal) << (part * 16);
                }
            }
        }
    }

    /// `masks` has a bitmap of the rows of `values` for each sum.
    #[target_feature(enable = "avx512f")]
    pub(super) fn add_by_masks(sums: &mut [i64], masks: &[u64], values: &[i64]) {
        match sums.len() {
            1 => add::<1>(sums, masks, values),
            2 => add::<2>(sums, masks, values),
            3 => add::<3>(sums, masks, values),
            4 => add::<4>(sums, masks, values),
            5 => add::<5>(sums, masks, values),
            6 => add::<6>(sums, masks, values),
            7 => add::<7>(sums, masks, values),
            FEW_GROUPS => add::<FEW_GROUPS>(sums, masks, values),
            _ => unreachable!("invariant: masks are made for few groups"),
        }
    }

    #[target_feature(enable = "avx512f")]
    fn add<const GROUPS: usize>(sums: &mut [i64], masks: &[u64], values: &[i64]) {
        let words = values.len().div_ceil(64);
        let masks: [&[u64]; GROUPS] =
            std::array::from_fn(|group| &masks[group * words..(group + 1) * words]);
        let mut totals = [_mm512_setzero_si512(); GROUPS];
        for (word, values) in values.chunks(64).enumerate() {
            let mut parts = values.chunks_exact(8);
            let mut shift = 0;
            for part in &mut parts {
                // SAFETY: eight values are there.
                let part = unsafe { _mm512_loadu_si512(part.as_ptr().cast()) };
                for (total, masks) in totals.iter_mut().zip(&masks) {
                    let lanes = (masks[word] >> shift) as u8;
                    *total = _mm512_mask_add_epi64(*total, lanes, *total, part);
                }
                shift += 8;
            }
            let rest = parts.remainder();
            if !rest.is_empty() {
                let lanes = (1u32 << rest.len()).wrapping_sub(1) as u8;
                // SAFETY: only the lanes of `rest` are read.
                let part = unsafe { _mm512_maskz_loadu_epi64(lanes, rest.as_ptr()) };
                for (total, masks) in totals.iter_mut().zip(&masks) {
                    let lanes = (masks[word] >> shift) as u8;
                    *total = _mm512_mask_add_epi64(*total, lanes, *total, part);
                }
            }
        }
        for (sum, total) in sums.iter_mut().zip(totals) {
            *sum = sum.wrapping_add(_mm512_reduce_add_epi64(total));
        }
    }
}
