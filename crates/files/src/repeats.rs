//! Texts of a column of a block that repeat: each is kept once, with its number at each row.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;

/// Rows from which on it is worth while.
const ROWS_MIN: usize = 256;
/// Rows that a text has to have on average.
const REPEATS_MIN: usize = 8;
/// The most distinct texts, so that they stay in the cache.
const DISTINCT_MAX: usize = 4096;

/// Distinct texts, and the place of the text of each row among them.
pub(crate) struct Repeats {
    /// The row where each text is first.
    pub(crate) firsts: Vec<u32>,
    /// By row.
    pub(crate) codes: Vec<i32>,
}

/// Looks whether texts repeat enough; NULL counts as an empty text.
pub(crate) fn repeats(offsets: &[i32], data: &[u8]) -> Option<Repeats> {
    let rows = offsets.len().saturating_sub(1);
    if rows < ROWS_MIN {
        return None;
    }
    let most = (rows / REPEATS_MIN).min(DISTINCT_MAX);
    let (mask, hasher) = ((2 * most).next_power_of_two() - 1, FixedState::default());
    let text = |row: u32| &data[offsets[row as usize] as usize..offsets[row as usize + 1] as usize];
    let mut table = vec![0_u32; mask + 1];
    let (mut firsts, mut codes) = (Vec::new(), Vec::with_capacity(rows));
    for row in 0..rows as u32 {
        let mut slot = hasher.hash_one(text(row)) as usize & mask;
        let code = loop {
            match table[slot] {
                0 if firsts.len() == most => return None,
                0 => {
                    firsts.push(row);
                    table[slot] = firsts.len() as u32;
                    break firsts.len() - 1;
                }
                code if text(firsts[code as usize - 1]) == text(row) => break code as usize - 1,
                _ => slot = (slot + 1) & mask,
            }
        };
        codes.push(code as i32);
    }
    Some(Repeats { firsts, codes })
}
