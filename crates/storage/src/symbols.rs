//! Symbol tables of compressed texts: FSST, Boncz, Neumann and Leis 2020 (fast static symbol tables).
//!
//! A byte of a compressed text is the code of a symbol of one to eight bytes, or [`SymbolTable::ESCAPE`], behind which a
//! byte stands for itself. So every text is read alone, and a search can run over codes without reading the bytes behind
//! them (`execution`, LIKE). The table is trained and applied by the library; reading is ours, since it is the hot side.

use fsst::Compressor;

/// What the codes of compressed texts stand for, and how often each occurs.
#[derive(Debug)]
pub struct SymbolTable {
    /// The bytes of each symbol, behind them zeros.
    symbols: [[u8; 8]; 256],
    /// How many bytes each symbol has; zero for codes that do not occur.
    lengths: [u8; 256],
    /// How many characters begin in each symbol.
    characters: [u8; 256],
    /// Some of the compressed texts, one after the other.
    sample: Vec<u8>,
}

/// Whether a byte of UTF-8 is the first of a character.
#[inline]
pub(crate) fn begins_character(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}

/// Bytes of the sample that a table keeps.
const SAMPLE_BYTES: usize = 8192;

impl SymbolTable {
    /// The code behind which a byte stands for itself.
    pub const ESCAPE: u8 = fsst::ESCAPE_CODE;

    /// The table that a compressor uses, with a sample that it has compressed.
    pub(crate) fn new(compressor: &Compressor, sample: &[u8]) -> Self {
        let (mut symbols, mut lengths) = ([[0; 8]; 256], [0; 256]);
        let table = compressor.symbol_table().iter().zip(compressor.symbol_lengths());
        for (code, (symbol, length)) in table.enumerate() {
            symbols[code] = symbol.to_u64().to_le_bytes();
            lengths[code] = *length;
        }
        let sample = sample[..sample.len().min(SAMPLE_BYTES)].to_vec();
        Self::of_parts(symbols, lengths, sample)
    }

    fn of_parts(symbols: [[u8; 8]; 256], lengths: [u8; 256], sample: Vec<u8>) -> Self {
        let mut characters = [0; 256];
        for (code, count) in characters.iter_mut().enumerate() {
            let symbol = &symbols[code][..usize::from(lengths[code])];
            *count = symbol.iter().map(|it| begins_character(*it) as u8).sum();
        }
        Self { symbols, lengths, characters, sample }
    }

    /// All of it as bytes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        [self.symbols.as_flattened(), &self.lengths, &self.sample].concat()
    }

    /// The table that made some bytes; `None` when they are too few or no table.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let (symbols, rest) = bytes.split_at_checked(256 * 8)?;
        let (lengths, sample) = rest.split_first_chunk::<256>()?;
        let symbols = symbols.as_chunks::<8>().0.try_into().ok()?;
        let right = lengths.iter().all(|it| *it <= 8) && sample.len() <= SAMPLE_BYTES;
        right.then(|| Self::of_parts(symbols, *lengths, sample.to_vec()))
    }

    /// The bytes of a symbol; none for codes that do not occur and for the escape.
    pub fn symbol(&self, code: u8) -> &[u8] {
        &self.symbols[code as usize][..self.lengths[code as usize] as usize]
    }

    /// Some of the compressed texts, one after the other: what is rare there is rare in the column.
    pub fn sample(&self) -> &[u8] {
        &self.sample
    }

    /// The [`head`](crate::head) of the text that a compressed one stands for.
    #[inline]
    pub fn head(&self, compressed: &[u8]) -> u64 {
        let (mut head, mut filled) = (0, 0);
        let mut codes = compressed.iter();
        while filled < 8
            && let Some(&code) = codes.next()
        {
            // Behind a symbol come zeros, and what does not fit is shifted out.
            let (symbol, length) = match code {
                Self::ESCAPE => (codes.next().copied().unwrap_or_default().into(), 1),
                _ => {
                    let code = code as usize;
                    (u64::from_le_bytes(self.symbols[code]), u32::from(self.lengths[code]))
                }
            };
            head |= symbol << (8 * filled);
            filled += length;
        }
        head.swap_bytes()
    }

    /// How many bytes the text that a compressed one stands for has, or else characters.
    #[inline]
    pub fn length(&self, compressed: &[u8], bytes: bool) -> usize {
        let counts = if bytes { &self.lengths } else { &self.characters };
        let (mut length, mut codes) = (0, compressed.iter());
        while let Some(&code) = codes.next() {
            length += match code {
                Self::ESCAPE => {
                    let byte = codes.next().copied().unwrap_or_default();
                    usize::from(bytes || begins_character(byte))
                }
                _ => usize::from(counts[code as usize]),
            };
        }
        length
    }

    /// Appends the bytes of a compressed text.
    #[inline]
    pub fn append(&self, compressed: &[u8], out: &mut Vec<u8>) {
        self.append_first(compressed, usize::MAX, out);
    }

    /// Appends the first `bytes` bytes of a compressed text, and maybe some of those behind them.
    #[inline]
    pub fn append_first(&self, compressed: &[u8], bytes: usize, out: &mut Vec<u8>) {
        let mut at = out.len();
        let end = at.saturating_add(bytes);
        // Whole symbols are written, so there must be room for eight bytes wherever one may begin.
        out.resize(at + compressed.len().min(bytes) * 8, 0);
        let mut codes = compressed.iter();
        while at < end
            && let Some(&code) = codes.next()
        {
            if code == Self::ESCAPE {
                out[at] = codes.next().copied().unwrap_or_default();
                at += 1;
            } else {
                out[at..at + 8].copy_from_slice(&self.symbols[code as usize]);
                at += self.lengths[code as usize] as usize;
            }
        }
        out.truncate(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::head;

    #[test]
    fn texts_come_back_with_symbols_and_escapes() {
        let words = ["special", "requests", "the", "quickly", "\u{e9}t\u{e9}", "\u{1f600}"];
        let mut prng = stdx::Prng::new(5);
        let mut text = || {
            let words: Vec<&str> =
                (0..prng.below(9)).map(|_| words[prng.below(6) as usize]).collect();
            words.join(" ")
        };
        let texts: Vec<String> = (0..500).map(|_| text()).collect();
        let half: Vec<&[u8]> = texts[..250].iter().map(|it| it.as_bytes()).collect();
        let compressor = Compressor::train(&half);
        let sample = compressor.compress(texts[7].as_bytes());
        let table = SymbolTable::new(&compressor, &sample);
        let mut out = b"before".to_vec();
        let unknown = "\u{1}\u{2} ~ZQ".to_owned();
        for text in texts.iter().chain([&unknown]) {
            out.truncate(6);
            table.append(&compressor.compress(text.as_bytes()), &mut out);
            assert_eq!(&out[6..], text.as_bytes());
            let compressed = compressor.compress(text.as_bytes());
            let lengths = [true, false].map(|bytes| table.length(&compressed, bytes));
            assert_eq!(lengths, [text.len(), text.chars().count()]);
            let few = text.len().min(11);
            out.truncate(6);
            table.append_first(&compressor.compress(text.as_bytes()), few, &mut out);
            assert!(text.as_bytes().starts_with(&out[6..]) && out.len() >= 6 + few);
            assert_eq!(table.head(&compressor.compress(text.as_bytes())), head(text.as_bytes()));
        }
        assert_eq!(table.sample(), sample);
    }
}
