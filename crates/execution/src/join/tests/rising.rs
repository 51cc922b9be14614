//! Tables of rising keys, whose pieces are cut between words of their bitmap, against what a look at every key finds.

use std::collections::BTreeMap;

use stdx::Prng;

use super::super::rising::Rising;
use super::team::{Serial, Threads};
use crate::Team;

/// Keys that rise by less than `step` from one to the next.
fn rising(rows: usize, step: u64, prng: &mut Prng) -> Vec<i64> {
    let mut key = prng.below(1000) as i64 - 500;
    let mut next = || {
        key += prng.below(step) as i64;
        key
    };
    (0..rows).map(|_| next()).collect()
}

fn check(keys: &[i64], span: usize, team: &dyn Team) {
    let min = keys[0];
    let Rising { bitmap, ranks, starts } = Rising::new(keys, min, span, team).unwrap();
    let mut firsts: BTreeMap<i64, u32> = BTreeMap::new();
    keys.iter().zip(0..).for_each(|(&key, row)| _ = firsts.entry(key).or_insert(row));
    let mut words = vec![0u64; span.div_ceil(64)];
    firsts.keys().for_each(|key| words[(key - min) as usize / 64] |= 1 << ((key - min) % 64));
    assert_eq!(bitmap.as_slice(), words);
    let mut before = 0;
    for (rank, word) in ranks.iter().zip(&words) {
        assert_eq!(*rank, before);
        before += word.count_ones();
    }
    assert_eq!(starts.is_some(), firsts.len() < keys.len());
    if let Some(starts) = starts {
        let expected: Vec<u32> = firsts.values().copied().chain([keys.len() as u32]).collect();
        assert_eq!(starts.as_slice(), expected);
    }
}

#[test]
fn pieces_of_rising_keys_share_no_word() {
    let mut prng = Prng::new(29);
    for rows in [1, 2, 63, 5_000, 40_000, 100_000] {
        for step in [1, 2, 3, 9, 200] {
            let keys = rising(rows, step, &mut prng);
            let range = (keys[rows - 1] - keys[0]) as usize + 1;
            for span in [range, range + 1000] {
                check(&keys, span, &Serial(1));
                check(&keys, span, &Threads(3));
            }
        }
    }
    // Pieces that end within a word, or far from the next one.
    let far: Vec<i64> =
        (0..50_000).map(|it| it / 20_000 * 1_000_000 + it % 20_000 / 5_000).collect();
    check(&far, 2_000_100, &Threads(3));
}
