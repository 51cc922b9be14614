//! Hashes of values, a sketch that counts distinct ones, and a table of distinct texts.

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

/// Distinct texts, numbered as they come: found by open addressing.
pub(crate) struct TextTable<'a> {
    /// The texts behind their hashes.
    texts: Vec<(u64, &'a [u8])>,
    /// The upper half of a text's hash and below it the text's number plus one; zero is free.
    slots: Vec<u64>,
}

impl Default for TextTable<'_> {
    fn default() -> Self {
        Self { texts: Vec::new(), slots: vec![0; 1024] }
    }
}

impl<'a> TextTable<'a> {
    /// The number of a text, which is new when it was not there.
    #[inline]
    pub(crate) fn number_of(&mut self, hash: u64, text: &'a [u8]) -> u32 {
        let mut slot = hash as usize & (self.slots.len() - 1);
        while self.slots[slot] != 0 {
            let found = self.slots[slot];
            let number = found as u32 - 1;
            if found >> 32 == hash >> 32 && self.texts[number as usize].1 == text {
                return number;
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.texts.push((hash, text));
        let number = self.texts.len() as u32;
        self.slots[slot] = hash >> 32 << 32 | u64::from(number);
        if self.texts.len() * 2 > self.slots.len() {
            self.grow();
        }
        number - 1
    }

    /// The texts behind their hashes, by number.
    pub(crate) fn texts(&self) -> &[(u64, &'a [u8])] {
        &self.texts
    }

    #[cold]
    fn grow(&mut self) {
        let size = self.slots.len() * 4;
        let mut slots = vec![0; size];
        for (&(hash, _), number) in self.texts.iter().zip(1u64..) {
            let mut slot = hash as usize & (size - 1);
            while slots[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            slots[slot] = hash >> 32 << 32 | number;
        }
        self.slots = slots;
    }
}

#[cfg(test)]
mod tests {
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
    fn equal_texts_get_equal_numbers() {
        let texts: Vec<String> = (0..5000).map(|it| format!("t{}", it * it % 1777)).collect();
        let mut table = TextTable::default();
        let mut number = |text: &str, hash| {
            let text = texts.iter().find(|it| **it == text).expect("one of the texts");
            table.number_of(hash, text.as_bytes())
        };
        let mut numbers = std::collections::HashMap::new();
        for text in &texts {
            // Hashes that hold little: many texts fall on each other.
            let next = numbers.len() as u32;
            let hash = hash_bytes(text.as_bytes()) & 0xff_0000_00ff;
            assert_eq!(number(text, hash), *numbers.entry(text).or_insert(next), "{text}");
        }
        assert!(numbers.len() > 512, "the table grew");
        for (text, number) in numbers {
            assert_eq!(table.texts()[number as usize].1, text.as_bytes());
        }
    }
}
