//! Where a field may end: the bytes of a text that are one of four, found 64 at a time.

/// Bytes that are looked at at once.
const WINDOW: usize = 64;

const ONES: u64 = 0x0101_0101_0101_0101;
const LOWS: u64 = ONES * 0x7f;

/// Four bytes, and where they stand in some bytes of the text that was asked for last.
pub(crate) struct Stops {
    /// Each byte, eight times.
    words: [u64; 4],
    /// Where the window begins, and its bytes; none were looked at before the first.
    start: usize,
    length: usize,
    /// A bit for each byte of the window: whether it is one of the four.
    found: u64,
}

impl Stops {
    pub(crate) fn new(bytes: [u8; 4]) -> Self {
        Self { words: bytes.map(|it| ONES * u64::from(it)), start: 0, length: 0, found: 0 }
    }

    /// The first of the bytes at a place of the text or behind it; the end of the text, where there is none. It must be the
    /// same text every time.
    #[inline]
    pub(crate) fn first(&mut self, text: &[u8], from: usize) -> usize {
        let mut at = from;
        loop {
            let offset = at.wrapping_sub(self.start);
            if offset < self.length {
                let behind = self.found >> offset;
                if behind != 0 {
                    return at + behind.trailing_zeros() as usize;
                }
                at = self.start + self.length;
            }
            if at >= text.len() {
                return text.len();
            }
            self.look(text, at);
        }
    }

    fn look(&mut self, text: &[u8], start: usize) {
        (self.start, self.length) = (start, WINDOW);
        let rest = &text[start..];
        self.found = match rest.first_chunk() {
            Some(window) => self.of_window(window),
            None => {
                let mut window = [0; WINDOW];
                window[..rest.len()].copy_from_slice(rest);
                self.of_window(&window) & ((1 << rest.len()) - 1)
            }
        };
    }

    fn of_window(&self, window: &[u8; WINDOW]) -> u64 {
        let mut found = 0;
        for (place, word) in window.as_chunks::<8>().0.iter().enumerate() {
            let word = u64::from_le_bytes(*word);
            // The high bit of each byte that is none of the four.
            let others = self.words.iter().fold(u64::MAX, |others, it| {
                let differs = word ^ it;
                others & (((differs & LOWS) + LOWS) | differs)
            });
            // The high bits of eight bytes, gathered in one.
            let bits = ((!others & !LOWS) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            found |= bits << (8 * place);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stdx::Prng;

    #[test]
    fn the_bytes_are_found_that_a_look_at_each_finds() {
        let mut prng = Prng::new(5);
        for round in 0..2000 {
            let stops = [b',', b'"', b'\r', [b'\n', 0, 0x80, 0xff][round % 4]];
            let near = [b',', b',' + 1, b'"' ^ 0x80, b'\r' - 1, stops[3], b'x', 0x7f, 1];
            let length = prng.below(200) as usize;
            let rare = 1 + prng.below(40);
            let byte = |prng: &mut Prng| match prng.below(rare) {
                0 => near[prng.below(8) as usize],
                _ => prng.next_u64() as u8,
            };
            let text: Vec<u8> = (0..length).map(|_| byte(&mut prng)).collect();
            let mut found = Stops::new(stops);
            for _ in 0..20 {
                let from = prng.below(length as u64 + 1) as usize;
                let rest = text[from..].iter();
                let expected = from + rest.take_while(|it| !stops.contains(it)).count();
                assert_eq!(found.first(&text, from), expected, "{from} {text:?}");
            }
        }
    }
}
