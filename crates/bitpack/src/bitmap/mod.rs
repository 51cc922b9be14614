//! Bitmaps over rows: bit `i % 64` of word `i / 64` says whether row `i` is in. Bits past the last row are zero.

mod sets;

pub use sets::{and, and_not, any, fill, get, iter, not, or, set, set_range, tail_mask, words_for};

use crate::Kernels;

/// How many rows are in.
pub fn count(words: &[u64]) -> usize {
    Kernels::active().count(words)
}

/// Writes the rows that are in, ascending, and returns how many. Panics when `out` is shorter than that.
pub fn positions(words: &[u64], rows: usize, out: &mut [u32]) -> usize {
    Kernels::active().positions(words, rows, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_behave_as_sets() {
        for rows in [0, 1, 63, 64, 65, 130, 200] {
            let mut words = vec![0xdead; words_for(rows)];
            fill(&mut words, rows);
            assert_eq!(count(&words), rows);
            not(&mut words, rows);
            assert!(!any(&words));
            not(&mut words, rows);
            assert_eq!(iter(&words).collect::<Vec<_>>(), (0..rows).collect::<Vec<_>>());
        }
        let mut words = [0; 4];
        for (start, end) in [(0, 0), (3, 5), (60, 64), (64, 65), (70, 200)] {
            set_range(&mut words, start..end);
        }
        set(&mut words, 255);
        for row in 0..256 {
            let expect = (3..5).contains(&row)
                || (60..65).contains(&row)
                || (70..200).contains(&row)
                || row == 255;
            assert_eq!(get(&words, row), expect, "{row}");
        }
        let mut other = words;
        and_not(&mut other, &[u64::MAX, 0, 0, 0]);
        and(&mut other, &[u64::MAX, 1, 0, 0]);
        assert_eq!(other, [0, 1, 0, 0]);
        or(&mut other, &[8, 0, 0, 1]);
        assert_eq!(other, [8, 1, 0, 1]);
    }
}
