//! IVP: where an index vector is cut (P-HANA 4.2).

use std::ops::Range;

/// Ranges begin at huge pages.
const HUGE_PAGE: usize = 2 << 20;

/// Rows of a block of the zone map, which is what a morsel is made of.
const BLOCK_ROWS: usize = 65536;

/// Cuts an index vector into up to `parts` ranges of about equal size. Cuts fall on huge pages, and on the first row of
/// a block where the ranges are large enough to pay for that: a width with an odd factor meets both only every few
/// megabytes, and one block that crosses to its neighbour costs less than uneven ranges. Fewer ranges come back when
/// there are not enough pages.
pub fn split(bytes: usize, bits: u32, parts: usize) -> Vec<Range<usize>> {
    // Blocks are powers of two of rows, so that only the odd factor of the width keeps them off page boundaries.
    let odd = (bits.max(1) >> bits.max(1).trailing_zeros()) as usize;
    let aligned = HUGE_PAGE * odd;
    let parts = parts.max(1);
    let step = if bytes / parts >= 4 * aligned { aligned } else { HUGE_PAGE };
    let parts = parts.min(bytes / HUGE_PAGE).max(1);
    let cut = |part: usize| match part {
        0 => 0,
        _ if part == parts => bytes,
        _ => ((bytes as u128 * part as u128 / parts as u128) as usize + step / 2) / step * step,
    };
    (0..parts).map(|it| cut(it)..cut(it + 1)).collect()
}

/// Cuts an index vector that someone wants split, however small it is: as [`split`] while each range holds some huge
/// pages, else at the first rows of blocks, which are page boundaries for every width (a block has 8192 bytes per bit).
/// All columns of a table are then cut at the same rows. Fewer ranges come back when there are not enough blocks.
pub fn split_blocks(bytes: usize, bits: u32, parts: usize) -> Vec<Range<usize>> {
    let parts = parts.max(1);
    if bytes / parts >= 4 * HUGE_PAGE {
        return split(bytes, bits, parts);
    }
    let block = BLOCK_ROWS / 8 * bits.max(1) as usize;
    let parts = parts.min((bytes + block / 2) / block).max(1);
    let cut = |part: usize| match part {
        _ if part == parts => bytes,
        _ => (bytes * part / parts + block / 2) / block * block,
    };
    (0..parts).map(|it| cut(it)..cut(it + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn ranges_cover_without_gaps_and_are_nearly_equal(
            bytes in prop_oneof![0..1usize << 36, 0..32usize << 20],
            bits in 0..=64u32,
            parts in 0..40usize,
        ) {
            let ranges = split(bytes, bits, parts);
            prop_assert!(!ranges.is_empty() && ranges.len() <= parts.max(1));
            prop_assert_eq!((ranges[0].start, ranges[ranges.len() - 1].end), (0, bytes));
            for pair in ranges.windows(2) {
                prop_assert_eq!(pair[0].end, pair[1].start);
                prop_assert_eq!(pair[1].start % HUGE_PAGE, 0);
                prop_assert!(pair[0].start < pair[0].end && pair[1].start < pair[1].end);
            }
            let fair = bytes / ranges.len();
            let slack = if ranges.len() > 1 { fair / 4 + HUGE_PAGE } else { 0 };
            prop_assert!(ranges.iter().all(|it| it.len().abs_diff(fair) <= slack));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn small_ranges_begin_at_blocks(
            bytes in 0..64usize << 20,
            bits in 0..=64u32,
            parts in 0..40usize,
        ) {
            let ranges = split_blocks(bytes, bits, parts);
            prop_assert!(!ranges.is_empty() && ranges.len() <= parts.max(1));
            prop_assert_eq!((ranges[0].start, ranges[ranges.len() - 1].end), (0, bytes));
            let block = 8192 * bits.max(1) as usize;
            for pair in ranges.windows(2) {
                prop_assert_eq!(pair[0].end, pair[1].start);
                prop_assert_eq!(pair[1].start % 4096, 0);
                prop_assert!(pair[0].start < pair[0].end && pair[1].start < pair[1].end);
                if bytes / parts.max(1) < 4 * HUGE_PAGE {
                    prop_assert_eq!(pair[1].start % block, 0);
                    prop_assert!(pair[0].len().abs_diff(pair[1].len()) <= 2 * block);
                }
            }
        }
    }

    #[test]
    fn large_ranges_begin_at_a_block() {
        let ranges = split(1 << 30, 12, 4);
        let rows = |bytes: usize| bytes * 8 / 12;
        assert_eq!(ranges.len(), 4);
        for range in &ranges[1..] {
            assert_eq!((rows(range.start) * 12 / 8, rows(range.start) % 65536), (range.start, 0));
        }
        assert_eq!(split(3 << 20, 12, 4).len(), 1);
        assert_eq!(split(0, 0, 4).first(), Some(&(0..0)));
    }
}
