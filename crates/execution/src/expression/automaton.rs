//! LIKE on compressed texts: the pattern as an automaton over codes, so that no text is read in full.
//!
//! The automaton over bytes is Knuth, Morris and Pratt's, piece after piece; a code takes it through all bytes of its
//! symbol at once. It runs only over texts that hold a pair of neighbouring codes without which no match is possible
//! ([`Pairs`]): looking for that is three loads a code, none of which waits for another.

use storage::{StringHeap, SymbolTable};

use super::pattern::Pattern;

/// What is beyond hope.
const DEAD: u8 = 0;
/// What has matched whatever follows.
const DONE: u8 = 1;
/// The first state of a text.
const START: u8 = 2;
/// States: each has a twin that has seen the escape.
const STATES: usize = 127;

/// A pattern over the codes of one symbol table.
#[derive(Debug)]
pub(super) struct Automaton {
    /// By state and code the next state. The twin of state `s` is `s + states`.
    next: Vec<[u8; 256]>,
    /// By state whether a text that ends here matches.
    accepts: Vec<bool>,
    /// What every text that matches holds; `None` when it is as good to run over all texts.
    pairs: Option<Box<Pairs>>,
}

/// The automaton over bytes: a state per byte of the pattern that has been seen, and the two ends.
struct ByByte {
    next: Vec<[u8; 256]>,
    accepts: Vec<bool>,
}

impl ByByte {
    /// `None` when the pattern has too many bytes.
    fn new(pattern: &Pattern<'_>) -> Option<Self> {
        let Pattern { prefix, middle, suffix } = pattern;
        let bytes = prefix.len() + middle.iter().map(|it| it.len()).sum::<usize>();
        let bytes = bytes + suffix.map_or(0, <[u8]>::len);
        if bytes + 3 > STATES {
            return None;
        }
        let mut made = Self { next: vec![[DEAD; 256], [DONE; 256]], accepts: vec![false, true] };
        for &byte in *prefix {
            let state = made.next.len() as u8;
            let mut next = [DEAD; 256];
            next[byte as usize] = state + 1;
            made.push(next, false);
        }
        for piece in middle {
            made.push_piece(piece);
        }
        match suffix {
            // Anything may follow.
            Some([]) => made.redirect_last(DONE),
            Some(suffix) => {
                let first = made.next.len() as u8;
                made.push_piece(suffix);
                // Behind the whole suffix the search for it goes on: it must stand at the very end.
                let mut next = [first; 256];
                let border = made.border(first, suffix);
                next.copy_from_slice(&made.next[border as usize]);
                made.push(next, true);
            }
            // Nothing may follow.
            None => made.push([DEAD; 256], true),
        }
        Some(made)
    }

    fn push(&mut self, next: [u8; 256], accepts: bool) {
        self.next.push(next);
        self.accepts.push(accepts);
    }

    /// States that search a piece: from the last of them its last byte leads to the state that is pushed next.
    fn push_piece(&mut self, piece: &[u8]) {
        let first = self.next.len() as u8;
        for (place, &byte) in piece.iter().enumerate() {
            let mut next = match place {
                0 => [first; 256],
                _ => self.next[self.border(first, &piece[..place]) as usize],
            };
            next[byte as usize] = first + place as u8 + 1;
            self.push(next, false);
        }
    }

    /// The state after the longest end of `seen` that is also its beginning, shorter than it.
    fn border(&self, first: u8, seen: &[u8]) -> u8 {
        let fits = |length: &usize| seen.ends_with(&seen[..*length]);
        first + (0..seen.len()).rev().find(fits).unwrap_or(0) as u8
    }

    /// Lets what leads to the state that would be pushed next lead to `state`.
    fn redirect_last(&mut self, state: u8) {
        let last = self.next.len() as u8;
        if last == START {
            // An empty pattern of `%` alone: the first state is the end.
            self.push([state; 256], true);
            return;
        }
        for next in &mut self.next {
            next.iter_mut().filter(|it| **it == last).for_each(|it| *it = state);
        }
    }
}

impl Automaton {
    /// The automaton of a pattern; `None` when it would have too many states.
    pub fn new(pattern: &Pattern<'_>, symbols: &SymbolTable) -> Option<Self> {
        let by_byte = ByByte::new(pattern)?;
        let states = by_byte.next.len();
        let mut next = vec![[DEAD; 256]; states * 2];
        for (state, by_code) in next[..states].iter_mut().enumerate() {
            for code in 0..=255 {
                let symbol = symbols.symbol(code).iter();
                let step = |at: u8, byte: &u8| by_byte.next[at as usize][*byte as usize];
                by_code[code as usize] = symbol.fold(state as u8, step);
            }
            by_code[SymbolTable::ESCAPE as usize] = (state + states) as u8;
        }
        next[states..].copy_from_slice(&by_byte.next);
        let mut accepts = by_byte.accepts;
        accepts.resize(states * 2, false);
        let pairs = pattern.prefix.is_empty().then(|| Pairs::rarest(pattern, symbols)).flatten();
        Some(Self { next, accepts, pairs })
    }

    /// Whether the rest of a compressed text from a state on makes it match.
    #[inline]
    fn run(&self, mut state: u8, rest: &[u8]) -> bool {
        for &code in rest {
            if state <= DONE {
                break;
            }
            state = self.next[state as usize][code as usize];
        }
        self.accepts[state as usize]
    }

    /// Whether some compressed texts match. Each step waits for the one before, so four texts go side by side.
    fn run_all(&self, texts: &StringHeap, rows: &[u32], mut tell: impl FnMut(u32, bool)) {
        let (fours, rest) = rows.as_chunks::<4>();
        for rows in fours {
            let four = rows.map(|it| texts.bytes_at(it as usize));
            let shared = four.iter().map(|it| it.len()).min().unwrap_or(0);
            let [a, b, c, d] = four.map(|it| &it[..shared]);
            let mut states = [START; 4];
            for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
                for (state, code) in states.iter_mut().zip([a, b, c, d]) {
                    *state = self.next[*state as usize][*code as usize];
                }
            }
            for ((row, text), state) in rows.iter().zip(four).zip(states) {
                tell(*row, self.run(state, &text[shared..]));
            }
        }
        for row in rest {
            tell(*row, self.run(START, texts.bytes_at(*row as usize)));
        }
    }

    /// Whether each of the `found.len()` neighbouring texts from `first` on matches, or does not if `negated`.
    pub fn matches_run(&self, texts: &StringHeap, first: usize, negated: bool, found: &mut [bool]) {
        let last = first + found.len();
        let rows: Vec<u32> = match &self.pairs {
            Some(pairs) if found.len() > 1 => pairs.candidates(texts, first, last),
            _ => (first as u32..last as u32).collect(),
        };
        found.fill(negated);
        self.run_all(texts, &rows, |row, it| found[row as usize - first] = it != negated);
    }
}

/// Which pairs of neighbouring bytes hold one byte of a piece of the pattern: every match has such a pair.
///
/// The code that covers the byte ends within the piece, and the next code begins there; or it covers the rest of the
/// piece, and the code before it ends where it begins, unless it covers all of the piece. So a bit stands for a way to lie
/// over the piece, and a pair of bytes is possible when they share one.
#[derive(Debug)]
struct Pairs {
    /// The ways of the first byte of a pair.
    first: [u16; 256],
    second: [u16; 256],
}

/// The first way in which the second code of a pair covers the byte.
const SECOND_COVERS: usize = 8;

impl Pairs {
    /// The pairs that occur least: of all bytes of all pieces the best choice; `None` when even that is not rare.
    fn rarest(pattern: &Pattern<'_>, symbols: &SymbolTable) -> Option<Box<Self>> {
        let suffix = pattern.suffix.filter(|it| !it.is_empty());
        let pieces = pattern.middle.iter().copied().chain(suffix);
        let all = pieces.flat_map(|piece| {
            (0..piece.len()).map(move |place| Self::covering(piece, place, symbols))
        });
        let best =
            all.map(|it| (it.share(symbols.sample()), it)).min_by(|a, b| a.0.total_cmp(&b.0))?;
        // A text has some twenty codes: beyond one in thirty most texts would hold a pair.
        (best.0 <= 1.0 / 30.0).then(|| Box::new(best.1))
    }

    /// The pairs that cover the byte at `place` of a piece.
    fn covering(piece: &[u8], place: usize, symbols: &SymbolTable) -> Self {
        let mut made = Self { first: [0; 256], second: [0; 256] };
        for byte in 0..=255 {
            // A byte behind an escape stands for itself; as a code the same byte is a symbol.
            let literal = [byte];
            for symbol in [symbols.symbol(byte), &literal[..]] {
                made.add(piece, place, byte as usize, symbol);
            }
        }
        // An escape may begin whatever follows, and stands before a byte that covers the rest.
        let begins = (1 << SECOND_COVERS) - 1;
        made.second[SymbolTable::ESCAPE as usize] |= begins;
        made.first[SymbolTable::ESCAPE as usize] |= !begins;
        made
    }

    /// Adds the ways in which a symbol can lie over a piece.
    fn add(&mut self, piece: &[u8], place: usize, code: usize, symbol: &[u8]) {
        // Where byte 0 of the symbol may lie, counted from 8 bytes before the piece.
        for start in 0..piece.len() + 8 {
            let agrees = symbol.iter().enumerate().all(|(index, byte)| {
                let under = (start + index).checked_sub(8).and_then(|it| piece.get(it));
                under.is_none_or(|it| it == byte)
            });
            let (place, end) = (place + 8, start + symbol.len());
            if symbol.is_empty() || !agrees {
                continue;
            }
            let covers = start <= place && place < end;
            let to_the_end = end >= piece.len() + 8;
            if covers && !to_the_end {
                // Bit 0: the next code begins right behind the byte.
                self.first[code] |= 1 << (end - place - 1);
            }
            if covers && to_the_end {
                self.second[code] |= 1 << (SECOND_COVERS + place - start);
                if start <= 8 {
                    // Nothing of the piece lies before it: whatever stands there will do.
                    self.first
                        .iter_mut()
                        .for_each(|it| *it |= 1 << (SECOND_COVERS + place - start));
                }
            }
            if start > place && start - place <= 8 {
                self.second[code] |= 1 << (start - place - 1);
            }
            if end <= place && place - end < 8 {
                self.first[code] |= 1 << (SECOND_COVERS + place - end);
            }
        }
    }

    /// The share of neighbouring bytes of a sample that are such a pair.
    fn share(&self, sample: &[u8]) -> f64 {
        let is_pair = |it: &&[u8]| self.first[it[0] as usize] & self.second[it[1] as usize] != 0;
        sample.windows(2).filter(is_pair).count() as f64 / sample.len().max(1) as f64
    }

    /// The texts from `first` to `last` that hold a pair.
    fn candidates(&self, texts: &StringHeap, first: usize, last: usize) -> Vec<u32> {
        let start = texts.range(first).start;
        let bytes = &texts.all_bytes()[start..texts.range(last - 1).end];
        let (mut rows, mut at, mut row) = (Vec::new(), 0, first);
        while let Some(place) = self.find(bytes, at) {
            while texts.range(row).end <= start + place {
                row += 1;
            }
            rows.push(row as u32);
            at = texts.range(row).end - start;
        }
        rows
    }

    /// The place of the second byte of the first pair whose second byte is not before `at`. The first byte of all has
    /// nothing before it, which may be the first of a pair as anything.
    #[inline]
    fn find(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let (at, before) = match at {
            0 if self.second[*bytes.first()? as usize] >> SECOND_COVERS != 0 => return Some(0),
            0 => (1, bytes),
            at => (at, &bytes[at - 1..]),
        };
        let behind = bytes.get(at..)?;
        let (firsts, _) = before.as_chunks::<16>();
        let (seconds, rest) = behind.as_chunks::<16>();
        let is_pair =
            |pair: (&u8, &u8)| self.first[*pair.0 as usize] & self.second[*pair.1 as usize];
        for (index, (first, second)) in firsts.iter().zip(seconds).enumerate() {
            // No branch per byte: most chunks hold none.
            if first.iter().zip(second).fold(0, |any, it| any | is_pair(it)) != 0 {
                let place = first.iter().zip(second).position(|it| is_pair(it) != 0)?;
                return Some(at + index * 16 + place);
            }
        }
        let done = seconds.len() * 16;
        let place = before[done..].iter().zip(rest).position(|it| is_pair(it) != 0)?;
        Some(at + done + place)
    }
}

#[cfg(test)]
mod tests {
    use super::super::pattern::Matcher;
    use super::*;
    use stdx::Prng;

    /// Texts of few letters, so that patterns often nearly match.
    fn texts(prng: &mut Prng, count: u64) -> Vec<String> {
        let words = ["ab", "aba", "b", "special", "speci", "requests", " ", "\u{e9}", "aab"];
        // Seldom enough that the sample of the symbols has none.
        let rare = ["Q", "spQecial", "Zq~", "re", "9"];
        let word = |prng: &mut Prng| match prng.below(3000) {
            it @ 0..5 => rare[it as usize],
            it => words[it as usize % words.len()],
        };
        (0..count).map(|_| (0..prng.below(12)).map(|_| word(prng)).collect()).collect()
    }

    #[test]
    fn automata_match_as_text_by_text() {
        let mut prng = Prng::new(3);
        let column = storage_column(&texts(&mut prng, 6000));
        let storage::Encoding::Plain(storage::PlainStrings::Own(plain)) = &column.encoding else {
            unreachable!("near-unique texts are plain");
        };
        let symbols = plain.symbols().expect("compressed");
        let mut pieces: Vec<String> = texts(&mut prng, 60);
        pieces.extend(
            ["special", "requests", "a", "", "ba", "Q", "Qe", "pQ", "Zq~", "q~", "9"]
                .map(str::to_owned),
        );
        let mut with_pairs = 0;
        for round in 0..120 {
            let mut piece = || pieces[prng.below(pieces.len() as u64) as usize].clone();
            let pattern = match round % 6 {
                0 => format!("%{}%", piece()),
                1 => format!("%{}%{}%", piece(), piece()),
                2 => format!("{}%", piece()),
                3 => format!("%{}", piece()),
                4 => format!("{}%{}%{}", piece(), piece(), piece()),
                _ => piece(),
            };
            let matcher = Matcher::new(&pattern, None).unwrap();
            let Some(automaton) = Automaton::new(&matcher.pattern().unwrap(), symbols) else {
                continue;
            };
            with_pairs += usize::from(automaton.pairs.is_some());
            let oracle: Vec<bool> =
                (0..column.rows()).map(|it| matcher.matches(&plain.bytes_at(it))).collect();
            let singly: Vec<bool> = (0..column.rows())
                .map(|it| automaton.run(START, plain.stored().bytes_at(it)))
                .collect();
            assert_eq!(singly, oracle, "{pattern}");
            let first = prng.below(5000) as usize;
            let mut found = vec![false; 1000];
            automaton.matches_run(plain.stored(), first, true, &mut found);
            let expected: Vec<bool> = oracle[first..first + 1000].iter().map(|it| !it).collect();
            assert_eq!(found, expected, "NOT {pattern}");
        }
        assert!(with_pairs > 10, "{with_pairs} of the patterns look for pairs first");
    }

    fn storage_column(texts: &[String]) -> storage::Column {
        crate::testing::compressed_texts(texts)
    }
}
