//! LIKE on compressed texts: the pattern as an automaton over codes, so that no text is read in full.
//!
//! The automaton over bytes is Knuth, Morris and Pratt's, piece after piece; a code takes it through all bytes of its
//! symbol at once. It runs only over texts that hold a code without which no match is possible: of all ways to lay symbols
//! over a piece of the pattern, each must cover any one of its bytes, and the codes that can cover the byte with the rarest
//! ones are few.

use storage::{StringHeap, SymbolTable};

use super::like::Pattern;

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
    /// Bytes one of which every text that matches holds; `None` when it is as good to run over all texts.
    rare: Option<Box<[bool; 256]>>,
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
        let rare = pattern.prefix.is_empty().then(|| rarest(pattern, symbols)).flatten();
        Some(Self { next, accepts, rare })
    }

    /// Whether a compressed text matches.
    #[inline]
    fn run(&self, text: &[u8]) -> bool {
        let mut state = START;
        for &code in text {
            state = self.next[state as usize][code as usize];
            if state <= DONE {
                break;
            }
        }
        self.accepts[state as usize]
    }

    /// Whether a compressed text matches, looking for a rare code first.
    #[inline]
    pub fn matches(&self, text: &[u8]) -> bool {
        match &self.rare {
            Some(rare) => text.iter().any(|&it| rare[it as usize]) && self.run(text),
            None => self.run(text),
        }
    }

    /// Whether each of the `found.len()` neighbouring texts from `first` on matches, or does not if `negated`.
    pub fn matches_run(&self, texts: &StringHeap, first: usize, negated: bool, found: &mut [bool]) {
        let Some(rare) = self.rare.as_ref().filter(|_| found.len() > 1) else {
            for (row, found) in found.iter_mut().enumerate() {
                *found = self.matches(texts.bytes_at(first + row)) != negated;
            }
            return;
        };
        found.fill(negated);
        let start = texts.range(first).start;
        let bytes = &texts.all_bytes()[start..texts.range(first + found.len() - 1).end];
        let (mut at, mut row) = (0, 0);
        while let Some(place) = next_marked(&bytes[at..], rare) {
            let place = start + at + place;
            while texts.range(first + row).end <= place {
                row += 1;
            }
            let range = texts.range(first + row);
            found[row] = self.run(&texts.all_bytes()[range.clone()]) != negated;
            at = range.end - start;
        }
    }
}

/// The place of the first byte that is marked.
#[inline]
fn next_marked(bytes: &[u8], marks: &[bool; 256]) -> Option<usize> {
    let (chunks, rest) = bytes.as_chunks::<16>();
    for (index, chunk) in chunks.iter().enumerate() {
        // No branch per byte: most chunks hold none.
        if chunk.iter().fold(false, |any, &it| any | marks[it as usize]) {
            let place = chunk.iter().position(|&it| marks[it as usize])?;
            return Some(index * 16 + place);
        }
    }
    let place = rest.iter().position(|&it| marks[it as usize])?;
    Some(chunks.len() * 16 + place)
}

/// The bytes one of which covers a byte of a piece of the pattern in every match: of all bytes of all pieces the choice that
/// occurs least. `None` when even that is not rare.
fn rarest(pattern: &Pattern<'_>, symbols: &SymbolTable) -> Option<Box<[bool; 256]>> {
    let total: u64 = (0..=255).map(|it| u64::from(symbols.frequency(it))).sum();
    let suffix = pattern.suffix.filter(|it| !it.is_empty());
    let pieces = pattern.middle.iter().map(|it| (*it, false)).chain(suffix.map(|it| (it, true)));
    let covers = pieces.flat_map(|(piece, ends)| {
        (0..piece.len()).map(move |place| covering(piece, ends, place, symbols))
    });
    let weight = |marks: &Box<[bool; 256]>| -> u64 {
        let marked = (0..=255).filter(|it| marks[*it as usize]);
        marked.map(|it| u64::from(symbols.frequency(it))).sum()
    };
    let best = covers.map(|marks| (weight(&marks), marks)).min_by_key(|it| it.0)?;
    // A text has some twenty codes: beyond one in a hundred most texts would hold one.
    (best.0 * 100 <= total).then_some(best.1)
}

/// The bytes that can stand for the byte at `place` of a piece: codes of symbols that agree with the piece wherever they
/// would lie over it, and the byte itself, behind an escape.
fn covering(piece: &[u8], ends: bool, place: usize, symbols: &SymbolTable) -> Box<[bool; 256]> {
    let mut marks = Box::new([false; 256]);
    marks[piece[place] as usize] = true;
    for code in 0..=255 {
        let symbol = symbols.symbol(code);
        // `at` is the byte of the symbol that lies over the place.
        marks[code as usize] |= (0..symbol.len()).any(|at| {
            symbol.iter().enumerate().all(|(index, byte)| match (place + index).checked_sub(at) {
                // Before the piece stands anything; behind it too, unless it ends the text.
                None => true,
                Some(under) => piece.get(under).map_or(!ends, |it| it == byte),
            })
        });
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::super::like::Matcher;
    use super::*;
    use stdx::Prng;

    /// Texts of few letters, so that patterns often nearly match.
    fn texts(prng: &mut Prng, count: u64) -> Vec<String> {
        let words = ["ab", "aba", "b", "special", "speci", "requests", " ", "\u{e9}", "aab"];
        let word = |prng: &mut Prng| words[prng.below(words.len() as u64) as usize];
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
        pieces.extend(["special", "requests", "a", "", "ba"].map(str::to_owned));
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
            let oracle: Vec<bool> =
                (0..column.rows()).map(|it| matcher.matches(&plain.bytes_at(it))).collect();
            let singly: Vec<bool> = (0..column.rows())
                .map(|it| automaton.matches(plain.stored().bytes_at(it)))
                .collect();
            assert_eq!(singly, oracle, "{pattern}");
            let first = prng.below(5000) as usize;
            let mut found = vec![false; 1000];
            automaton.matches_run(plain.stored(), first, true, &mut found);
            let expected: Vec<bool> = oracle[first..first + 1000].iter().map(|it| !it).collect();
            assert_eq!(found, expected, "NOT {pattern}");
        }
    }

    fn storage_column(texts: &[String]) -> storage::Column {
        crate::testing::compressed_texts(texts)
    }
}
