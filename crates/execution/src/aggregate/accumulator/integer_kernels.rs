//! The inner loops of counts and sums of integers. Few groups are summed into several copies, because adding to one place
//! again and again waits for the last store; and where there are bitmaps of rows by group, under these.

use super::wide_sums::WideSums;
use crate::Bitmap;
use crate::aggregate::batch_groups::BatchGroups;
use crate::aggregate::tuning::{COPIED_GROUPS, INTEGER_COPIES};
use crate::leveled::{add_by_masks, add_runs, count_runs, level, sum};

/// Copies of a few sums, so that an addition need not wait for the last one to the same group.
type Copies = [[i64; COPIED_GROUPS]; INTEGER_COPIES];

/// Puts copies together.
fn add_copies(sums: &mut [i64], copies: &Copies) {
    for copy in copies {
        sums.iter_mut().zip(copy).for_each(|(sum, &more)| *sum += more);
    }
}

/// Counts the rows of each group.
pub fn add_ones(counts: &mut [i64], groups: BatchGroups<'_>, valid: Option<&Bitmap>) {
    let BatchGroups { ids, masks, is_sorted, .. } = groups;
    if let Some(masks) = masks {
        let words = ids.len().div_ceil(64);
        for (count, masks) in counts.iter_mut().zip(masks.chunks(words.max(1))) {
            let ones = |(word, mask): (usize, &u64)| {
                (mask & valid.map_or(u64::MAX, |it| it.0[word])).count_ones()
            };
            *count += i64::from(masks.iter().enumerate().map(ones).sum::<u32>());
        }
        return;
    }
    match valid {
        None if is_sorted => count_runs(counts, ids),
        None if counts.len() == 1 => counts[0] += ids.len() as i64,
        Some(valid) if counts.len() == 1 => counts[0] += valid.count(ids.len()) as i64,
        None if counts.len() <= COPIED_GROUPS => {
            let mut copies: Copies = [[0; COPIED_GROUPS]; INTEGER_COPIES];
            let (chunks, rest) = ids.as_chunks::<INTEGER_COPIES>();
            for chunk in chunks {
                for (copy, &group) in copies.iter_mut().zip(chunk) {
                    copy[group as usize % COPIED_GROUPS] += 1;
                }
            }
            rest.iter().for_each(|&group| counts[group as usize] += 1);
            add_copies(counts, &copies);
        }
        None => ids.iter().for_each(|&group| counts[group as usize] += 1),
        Some(valid) => {
            for (row, &group) in ids.iter().enumerate() {
                counts[group as usize] += i64::from(valid.get(row));
            }
        }
    }
}

/// Adds integers to sums that cannot overflow.
pub fn add_integers(
    sums: &mut [i64],
    groups: BatchGroups<'_>,
    values: &[i64],
    valid: Option<&Bitmap>,
) {
    match (valid, groups.masks) {
        (None, _) if sums.len() == 1 => sums[0] += sum(level(), values),
        (None, _) if groups.is_sorted => add_runs(sums, groups.ids, values),
        (None, Some(masks)) => add_by_masks(level(), sums, masks, values),
        _ => add_all(sums, groups.ids, values, valid),
    }
}

/// Adds to sums that cannot overflow.
fn add_all(sums: &mut [i64], groups: &[u32], values: &[i64], valid: Option<&Bitmap>) {
    if let Some(valid) = valid {
        for (row, (&group, &value)) in groups.iter().zip(values).enumerate() {
            // Without a branch: which rows count is often random.
            sums[group as usize] += if valid.get(row) { value } else { 0 };
        }
    } else if sums.len() == 1 {
        let mut copies = [0; INTEGER_COPIES];
        let (chunks, rest) = values.as_chunks::<INTEGER_COPIES>();
        for chunk in chunks {
            copies.iter_mut().zip(chunk).for_each(|(copy, &value)| *copy += value);
        }
        copies.iter().chain(rest).for_each(|&value| sums[0] += value);
    } else if sums.len() <= COPIED_GROUPS {
        let mut copies: Copies = [[0; COPIED_GROUPS]; INTEGER_COPIES];
        let (group_chunks, groups) = groups.as_chunks::<INTEGER_COPIES>();
        let (value_chunks, values) = values.as_chunks::<INTEGER_COPIES>();
        for (groups, values) in group_chunks.iter().zip(value_chunks) {
            for ((copy, &group), &value) in copies.iter_mut().zip(groups).zip(values) {
                copy[group as usize % COPIED_GROUPS] += value;
            }
        }
        groups.iter().zip(values).for_each(|(&group, &value)| sums[group as usize] += value);
        add_copies(sums, &copies);
    } else {
        groups.iter().zip(values).for_each(|(&group, &value)| sums[group as usize] += value);
    }
}

/// Adds to sums of 128 bits.
pub fn add_wide<V: Copy + Into<i128>>(
    sums: &mut WideSums,
    groups: &[u32],
    values: &[V],
    valid: Option<&Bitmap>,
) {
    for (row, (&group, &value)) in groups.iter().zip(values).enumerate() {
        if valid.is_none_or(|it| it.get(row)) {
            sums.add(group as usize, value.into());
        }
    }
}
