//! How fields and records are told apart, and where records end.

/// How fields are told apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dialect {
    /// What stands between two fields; no line break, and an ASCII character.
    pub delimiter: u8,
    /// How a field may hold what else would end it.
    pub quoting: Quoting,
}

/// How a field may hold a delimiter or a line break.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quoting {
    /// Not at all.
    None,
    /// CSV: between quotes.
    Quotes {
        /// The quote.
        quote: u8,
        /// What stands before a quote that is meant, or before itself.
        escape: u8,
    },
    /// PostgreSQL's text format: behind a backslash.
    Backslash,
}

/// Where in a record a byte stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// A line break ends the record.
    Plain,
    /// Between quotes.
    Quoted,
    /// Behind an escape: between quotes, or behind a backslash.
    Escaped,
}

/// Where the records of a block end, from one state on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    /// Behind the first and the last line break that ends a record.
    pub(crate) ends: Option<(usize, usize)>,
    /// The state behind the block.
    pub(crate) state: State,
}

impl Quoting {
    /// The states that a block may begin in.
    pub(crate) fn states(self) -> &'static [State] {
        use State::{Escaped, Plain, Quoted};
        match self {
            Self::None => &[Plain],
            Self::Quotes { quote, escape } if quote == escape => &[Plain, Quoted],
            Self::Quotes { .. } => &[Plain, Quoted, Escaped],
            Self::Backslash => &[Plain, Escaped],
        }
    }

    /// The bytes up to the end of the last whole record.
    pub(crate) fn whole(self, bytes: &[u8], line_end: u8) -> usize {
        self.ends(bytes, line_end, State::Plain).ends.map_or(0, |it| it.1)
    }

    /// Looks where records end that `line_end` ends, in a block that begins in a state.
    pub(crate) fn ends(self, bytes: &[u8], line_end: u8, from: State) -> Ends {
        let Some(first) = bytes.first() else { return Ends { ends: None, state: from } };
        let (mut state, mut ends, mut at) = (from, None, 0);
        // What stands behind an escape means nothing.
        if state == State::Escaped {
            at = 1;
            state = match self {
                // An escape that no quote and no escape follows is a character as any other.
                Self::Quotes { quote, escape } => match *first {
                    it if it == escape || it == quote => State::Quoted,
                    _ => return self.ends(bytes, line_end, State::Quoted),
                },
                _ => State::Plain,
            };
        }
        let mut end = |at: usize| {
            let first = ends.map_or(at + 1, |it: (usize, usize)| it.0);
            ends = Some((first, at + 1));
        };
        match self {
            Self::None => {
                if let Some(first) = memchr::memchr(line_end, bytes) {
                    end(first);
                    end(memchr::memrchr(line_end, bytes).unwrap_or(first));
                }
            }
            Self::Quotes { quote, escape } if quote == escape => {
                for place in memchr::memchr2_iter(quote, line_end, bytes) {
                    if bytes[place] == quote {
                        state = if state == State::Plain { State::Quoted } else { State::Plain };
                    } else if state == State::Plain {
                        end(place);
                    }
                }
            }
            Self::Quotes { quote, escape } => {
                state = escaped_quotes(&bytes[at..], (quote, escape, line_end), state, |it| {
                    end(at + it)
                });
            }
            Self::Backslash => {
                state = backslashes(&bytes[at..], line_end, |it| end(at + it));
            }
        }
        Ends { ends, state }
    }
}

/// Calls `end` with each line break outside of quotes, where an escape is no quote; the state behind the bytes.
fn escaped_quotes(
    bytes: &[u8],
    (quote, escape, line_end): (u8, u8, u8),
    mut state: State,
    mut end: impl FnMut(usize),
) -> State {
    let mut at = 0;
    while let Some(found) = memchr::memchr3(quote, escape, line_end, &bytes[at..]) {
        let place = at + found;
        at = place + 1;
        let byte = bytes[place];
        match state {
            State::Plain if byte == quote => state = State::Quoted,
            State::Plain if byte == line_end => end(place),
            State::Quoted if byte == quote => state = State::Plain,
            State::Quoted if byte == escape => match bytes.get(at) {
                None => state = State::Escaped,
                Some(next) if [quote, escape].contains(next) => at += 1,
                Some(_) => {}
            },
            _ => {}
        }
    }
    state
}

/// Calls `end` with each line break that no backslash stands before; the state behind the bytes.
fn backslashes(bytes: &[u8], line_end: u8, mut end: impl FnMut(usize)) -> State {
    let mut at = 0;
    while let Some(found) = memchr::memchr2(b'\\', line_end, &bytes[at..]) {
        let place = at + found;
        at = place + 1;
        if bytes[place] == line_end {
            end(place);
        } else if at == bytes.len() {
            return State::Escaped;
        } else {
            at += 1;
        }
    }
    State::Plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use stdx::Prng;

    /// Reads byte by byte, as the definition has it.
    fn slowly(quoting: Quoting, bytes: &[u8]) -> Vec<usize> {
        let (mut ends, mut at, mut inside) = (Vec::new(), 0, false);
        while at < bytes.len() {
            let (byte, next) = (bytes[at], bytes.get(at + 1).copied());
            match quoting {
                Quoting::Quotes { quote, escape } if inside && byte == escape => match next {
                    Some(next) if next == quote || next == escape => at += 1,
                    _ if quote == escape => inside = false,
                    _ => {}
                },
                Quoting::Quotes { quote, .. } if byte == quote => inside = !inside,
                Quoting::Backslash if byte == b'\\' => at += 1,
                _ if byte == b'\n' && !inside => ends.push(at + 1),
                _ => {}
            }
            at += 1;
        }
        ends
    }

    #[test]
    fn ends_are_the_same_however_a_text_is_cut() {
        let mut prng = Prng::new(7);
        let quotings = [
            Quoting::None,
            Quoting::Backslash,
            Quoting::Quotes { quote: b'"', escape: b'"' },
            Quoting::Quotes { quote: b'"', escape: b'\\' },
            Quoting::Quotes { quote: b'\'', escape: b'"' },
        ];
        for round in 0..4000 {
            let quoting = quotings[round % quotings.len()];
            let text: Vec<u8> =
                (0..prng.below(40)).map(|_| b"ab\"\\'\n\n,"[prng.below(8) as usize]).collect();
            let expected = slowly(quoting, &text);
            let (mut state, mut start) = (State::Plain, 0);
            let (mut first, mut last) = (None, None);
            while start < text.len() {
                let end = text.len().min(start + 1 + prng.below(9) as usize);
                assert!(quoting.states().contains(&state));
                let found = quoting.ends(&text[start..end], b'\n', state);
                if let Some((a, b)) = found.ends {
                    first = first.or(Some(start + a));
                    last = Some(start + b);
                    assert!(expected.contains(&(start + a)), "{quoting:?} {text:?}");
                }
                (state, start) = (found.state, end);
            }
            let ends = (expected.first().copied(), expected.last().copied());
            assert_eq!((first, last), ends, "{quoting:?} {:?}", String::from_utf8_lossy(&text));
        }
    }
}
