//! Hashes of values, a sketch that counts distinct ones, and a table that finds equal texts.

use arrow_array::{Array, StringArray};

use super::piece::Piece;

const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// 64 well-mixed bits of an integer.
#[inline]
pub(crate) fn hash_int(value: u64) -> u64 {
    fold(value ^ 0x2545_f491_4f6c_dd1d, MULTIPLIER)
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    let mixed = product as u64 ^ (product >> 64) as u64;
    // One product leaves the high bits of small inputs poor; the sketch reads them.
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

#[inline]
fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("invariant: eight bytes"))
}

/// 64 well-mixed bits of a text.
#[inline]
pub(crate) fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut state = (bytes.len() as u64).wrapping_mul(MULTIPLIER) ^ 0x51_7cc1_b727_220a;
    if bytes.len() >= 8 {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            state = mix(state, word(chunk));
        }
        // The last eight bytes again, whatever part of them was seen already.
        state = mix(state, word(&bytes[bytes.len() - 8..]));
    } else {
        let mut tail = [0; 8];
        tail[..bytes.len()].copy_from_slice(bytes);
        state = mix(state, word(&tail));
    }
    hash_int(state)
}

#[inline]
fn mix(state: u64, word: u64) -> u64 {
    let product = u128::from(state ^ word) * u128::from(MULTIPLIER | 1 << 62);
    (product as u64 ^ (product >> 64) as u64).rotate_left(23) ^ word
}

/// The bytes of a text that are hashed at once.
const WINDOW: usize = 32;

/// Masks that keep the first bytes of a word.
const FIRST_BYTES: [u64; 9] = {
    let mut masks = [u64::MAX; 9];
    let mut length = 0;
    while length < 8 {
        masks[length] = (1 << (8 * length)) - 1;
        length += 1;
    }
    masks
};

/// 64 well-mixed bits of a text that lies in a buffer: for a sketch, which wants many short texts without a branch each.
#[inline]
pub(crate) fn hash_text(data: &[u8], start: usize, end: usize) -> u64 {
    let text = &data[start..end];
    if let Some(last) = text.len().checked_sub(WINDOW) {
        let mut state = 0;
        for window in text.as_chunks::<WINDOW>().0 {
            state = fold(state ^ hash_window(window, WINDOW), MULTIPLIER);
        }
        // The last bytes again, whatever part of them was seen already.
        let window = text[last..].first_chunk().expect("invariant: as long as a window");
        return hash_int(state ^ hash_window(window, WINDOW).rotate_left(17) ^ text.len() as u64);
    }
    if let Some(window) = data[start..].first_chunk() {
        return hash_int(hash_window(window, text.len()));
    }
    let mut window = [0; WINDOW];
    window[..text.len()].copy_from_slice(text);
    hash_int(hash_window(&window, text.len()))
}

/// Mixes the first bytes of a window; what lies behind them does not count.
#[inline]
fn hash_window(window: &[u8; WINDOW], length: usize) -> u64 {
    let word = |index: usize| {
        let mask = FIRST_BYTES[length.saturating_sub(8 * index).min(8)];
        word(&window[8 * index..8 * index + 8]) & mask
    };
    let product = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    };
    let (low, high) = (word(0) ^ MULTIPLIER, word(1) ^ 0xd6e8_feb8_6659_fd93);
    let front = product(low, high ^ length as u64);
    let back = product(word(2) ^ 0xa076_1d64_78bd_642f, word(3) ^ 0xe703_7ed1_a0b4_28db);
    front ^ back.rotate_left(31)
}

const REGISTER_BITS: u32 = 14;

/// HyperLogLog with 16,384 registers: counts distinct hashes within about 1 %.
pub(crate) struct Sketch(Vec<u8>);

impl Sketch {
    pub(crate) fn new() -> Self {
        Self(vec![0; 1 << REGISTER_BITS])
    }

    #[inline]
    pub(crate) fn add(&mut self, hash: u64) {
        let register = (hash >> (64 - REGISTER_BITS)) as usize;
        let rank = ((hash << REGISTER_BITS) | 1).leading_zeros() as u8 + 1;
        if self.0[register] < rank {
            self.0[register] = rank;
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    pub(crate) fn estimate(&self) -> usize {
        let registers = self.0.len() as f64;
        let sum: f64 = self.0.iter().map(|&it| (-f64::from(it)).exp2()).sum();
        let raw = 0.7213 / (1.0 + 1.079 / registers) * registers * registers / sum;
        let empty = self.0.iter().filter(|&&it| it == 0).count();
        if raw <= 2.5 * registers && empty > 0 {
            (registers * (registers / empty as f64).ln()).round() as usize
        } else {
            raw.round() as usize
        }
    }
}

/// The distinct texts of some rows, by the row where each occurs first, and which of them each row has.
pub(crate) struct Distinct {
    pub(crate) codes: Vec<u32>,
    pub(crate) first_rows: Vec<u32>,
}

/// Finds equal texts by open addressing; NULL rows get code 0.
pub(crate) fn distinct_texts(piece: &Piece, texts: &StringArray) -> Distinct {
    let mut codes = Vec::with_capacity(texts.len());
    let mut first_rows: Vec<u32> = Vec::new();
    let mut hashes: Vec<u32> = Vec::new();
    // Slots hold the number of a text plus one; zero is free.
    let mut slots = vec![0u32; 1024];
    let (offsets, bytes) = (texts.value_offsets(), texts.value_data());
    let text = |row: usize| &bytes[offsets[row] as usize..offsets[row + 1] as usize];
    for row in 0..texts.len() {
        if piece.is_null(row) {
            codes.push(0);
            continue;
        }
        let this = text(row);
        let hash = hash_bytes(this) as u32;
        let mut slot = hash as usize & (slots.len() - 1);
        let code = loop {
            match slots[slot] {
                0 => {
                    first_rows.push(row as u32);
                    hashes.push(hash);
                    slots[slot] = first_rows.len() as u32;
                    break first_rows.len() - 1;
                }
                found => {
                    let found = found as usize - 1;
                    if hashes[found] == hash && text(first_rows[found] as usize) == this {
                        break found;
                    }
                    slot = (slot + 1) & (slots.len() - 1);
                }
            }
        };
        codes.push(code as u32);
        if first_rows.len() * 2 > slots.len() {
            slots = rehash(&hashes, slots.len() * 4);
        }
    }
    Distinct { codes, first_rows }
}

fn rehash(hashes: &[u32], size: usize) -> Vec<u32> {
    let mut slots = vec![0; size];
    for (number, &hash) in hashes.iter().enumerate() {
        let mut slot = hash as usize & (size - 1);
        while slots[slot] != 0 {
            slot = (slot + 1) & (size - 1);
        }
        slots[slot] = number as u32 + 1;
    }
    slots
}

#[cfg(test)]
mod tests {
    use super::super::piece::PieceValues;
    use super::*;

    #[test]
    fn a_sketch_counts_within_three_percent() {
        for count in [0usize, 1, 10, 1000, 20_000, 60_000, 500_000] {
            let (mut ints, mut texts) = (Sketch::new(), Sketch::new());
            for value in 0..count {
                for _ in 0..2 {
                    ints.add(hash_int(value as u64));
                    let text = format!("Customer#{value:09}");
                    texts.add(hash_text(text.as_bytes(), 0, text.len()));
                }
            }
            for sketch in [ints, texts] {
                let error = sketch.estimate().abs_diff(count) as f64;
                assert!(error <= 0.03 * count as f64, "{count}: {}", sketch.estimate());
            }
        }
    }

    #[test]
    fn a_text_hashes_alike_wherever_it_lies() {
        let text: Vec<u8> = (0..100).map(|it| b'a' + it % 23).collect();
        let mut seen = std::collections::HashSet::new();
        for length in 0..=100 {
            let alone = hash_text(&text[..length], 0, length);
            for (before, behind) in [(0, 1), (3, 0), (5, 40)] {
                let mut data = vec![b'#'; before];
                data.extend(&text[..length]);
                data.extend(vec![b'?'; behind]);
                assert_eq!(hash_text(&data, before, before + length), alone, "{length}");
            }
            assert!(seen.insert(alone), "{length}");
            for at in 0..length {
                let mut other = text[..length].to_vec();
                other[at] ^= 1;
                assert!(seen.insert(hash_text(&other, 0, length)), "{length} {at}");
            }
        }
    }

    #[test]
    fn equal_texts_get_equal_codes() {
        let rows: Vec<Option<String>> =
            (0..5000).map(|it| (it % 7 != 3).then(|| format!("t{}", it * it % 1777))).collect();
        let texts = StringArray::from(rows.clone());
        let nulls = texts.nulls().cloned();
        let piece = Piece::new(PieceValues::Text(texts.clone()), nulls);
        let distinct = distinct_texts(&piece, &texts);
        for (row, text) in rows.iter().enumerate() {
            if let Some(text) = text {
                let first = distinct.first_rows[distinct.codes[row] as usize] as usize;
                assert_eq!(texts.value(first), text);
            }
        }
        let mut all: Vec<_> =
            distinct.first_rows.iter().map(|&it| texts.value(it as usize)).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
