//! LIKE and ILIKE: the pattern is compiled once into the simplest matcher that does.

use memchr::memmem::Finder;
use stdx::sync::{Arc, Mutex};
use storage::{PlainStrings, SymbolTable};
use types::{DataType, SqlError, SqlResult, SqlState};

use super::automaton::Automaton;
use super::node::{Facts, Kernel, Node, TextRun, Texts, compressed, for_texts};
use crate::leveled::{find, level};
use crate::{Batch, ColumnShape, TextVector, Values, Vector};

/// A part of a pattern between two `%`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Element {
    Bytes(Vec<u8>),
    /// `_`.
    One,
}

/// A compiled pattern.
#[derive(Debug)]
pub(super) enum Matcher {
    Exact(Vec<u8>),
    Prefix(Vec<u8>),
    Suffix(Vec<u8>),
    Contains(Box<Finder<'static>>),
    /// A prefix, pieces that follow in that order, a suffix; no `_`.
    Pieces {
        prefix: Vec<u8>,
        middle: Vec<Finder<'static>>,
        suffix: Vec<u8>,
    },
    /// Anything: the parts between `%`, each a sequence of elements.
    General(Vec<Vec<Element>>),
}

impl Matcher {
    /// Compiles a pattern; a trailing escape character is an error (22025), as in Postgres.
    pub fn new(pattern: &str, escape: Option<char>) -> SqlResult<Self> {
        let parts = split(pattern, escape)?;
        let literal = |part: &Vec<Element>| match part.as_slice() {
            [] => Some(Vec::new()),
            [Element::Bytes(bytes)] => Some(bytes.clone()),
            _ => None,
        };
        let Some(mut pieces) = parts.iter().map(literal).collect::<Option<Vec<_>>>() else {
            return Ok(Self::General(parts));
        };
        let suffix = pieces.pop().expect("invariant: a pattern has a part");
        if pieces.is_empty() {
            return Ok(Self::Exact(suffix));
        }
        let prefix = pieces.remove(0);
        pieces.retain(|it| !it.is_empty());
        let finder = |it: &Vec<u8>| Finder::new(it).into_owned();
        Ok(match (prefix.is_empty(), pieces.as_slice(), suffix.is_empty()) {
            (false, [], true) => Self::Prefix(prefix),
            (true, [], _) => Self::Suffix(suffix),
            (true, [only], true) => Self::Contains(Box::new(finder(only))),
            _ => Self::Pieces { prefix, middle: pieces.iter().map(finder).collect(), suffix },
        })
    }

    /// Whether a text matches.
    pub fn matches(&self, text: &[u8]) -> bool {
        match self {
            Self::Exact(wanted) => text == wanted,
            Self::Prefix(prefix) => text.starts_with(prefix),
            Self::Suffix(suffix) => text.ends_with(suffix),
            Self::Contains(finder) => find(level(), finder, text, 0).is_some(),
            Self::Pieces { prefix, middle, suffix } => {
                let Some(rest) = text.strip_prefix(prefix.as_slice()) else { return false };
                let Some(rest) = rest.strip_suffix(suffix.as_slice()) else { return false };
                in_order(middle, rest)
            }
            Self::General(parts) => general(parts, text),
        }
    }
}

/// A pattern without `_`, as what texts begin with, what follows in this order, and what they end with.
#[derive(Debug)]
pub(super) struct Pattern<'a> {
    pub prefix: &'a [u8],
    pub middle: Vec<&'a [u8]>,
    /// `None` when the text ends with the prefix, as there is no `%`.
    pub suffix: Option<&'a [u8]>,
}

impl Matcher {
    /// The pieces of a pattern without `_`.
    pub(super) fn pattern(&self) -> Option<Pattern<'_>> {
        let (prefix, middle, suffix): (&[u8], Vec<&[u8]>, Option<&[u8]>) = match self {
            Self::Exact(wanted) => (wanted, Vec::new(), None),
            Self::Prefix(prefix) => (prefix, Vec::new(), Some(&[])),
            Self::Suffix(suffix) => (&[], Vec::new(), Some(suffix)),
            Self::Contains(finder) => (&[], vec![finder.needle()], Some(&[])),
            Self::Pieces { prefix, middle, suffix } => {
                (prefix, middle.iter().map(Finder::needle).collect(), Some(suffix))
            }
            Self::General(_) => return None,
        };
        Some(Pattern { prefix, middle, suffix })
    }

    /// Whether each text of a run matches, or does not if `negated`; `None` when going text by text is as good. The first
    /// piece is searched in all texts at once: most texts of a column are too short to be worth a search of their own.
    fn matches_run(&self, run: TextRun<'_>, negated: bool) -> Option<Vec<bool>> {
        let (first, rest) = match self {
            Self::Contains(finder) => (&**finder, &[] as &[Finder<'_>]),
            Self::Pieces { prefix, middle, suffix } if prefix.is_empty() && suffix.is_empty() => {
                middle.split_first()?
            }
            _ => return None,
        };
        let TextRun { bytes, ends, start } = run;
        let end_of = |row: usize| (ends[row] - start) as usize;
        let mut found = vec![negated; ends.len()];
        let (mut row, mut at) = (0, 0);
        while let Some(begin) = find(level(), first, bytes, at) {
            let end = begin + first.needle().len();
            while end_of(row) <= begin {
                row += 1;
            }
            if end > end_of(row) {
                // Half in one text and half in the next.
                at = begin + 1;
                continue;
            }
            found[row] = in_order(rest, &bytes[end..end_of(row)]) != negated;
            at = end_of(row);
        }
        Some(found)
    }
}

fn in_order(finders: &[Finder<'_>], mut text: &[u8]) -> bool {
    for finder in finders {
        match find(level(), finder, text, 0) {
            Some(place) => text = &text[place + finder.needle().len()..],
            None => return false,
        }
    }
    true
}

/// Cuts a pattern at its `%`.
fn split(pattern: &str, escape: Option<char>) -> SqlResult<Vec<Vec<Element>>> {
    let mut parts = vec![Vec::new()];
    let mut characters = pattern.chars();
    while let Some(mut character) = characters.next() {
        let part = parts.last_mut().expect("invariant: a pattern has a part");
        if Some(character) == escape {
            character = characters.next().ok_or_else(|| {
                SqlError::new(
                    SqlState("22025"),
                    format!("the LIKE pattern '{pattern}' ends with its escape character"),
                )
            })?;
        } else if character == '%' {
            parts.push(Vec::new());
            continue;
        } else if character == '_' {
            part.push(Element::One);
            continue;
        }
        let mut buffer = [0; 4];
        let bytes = character.encode_utf8(&mut buffer).as_bytes();
        match part.last_mut() {
            Some(Element::Bytes(last)) => last.extend_from_slice(bytes),
            _ => part.push(Element::Bytes(bytes.to_vec())),
        }
    }
    Ok(parts)
}

/// What is left of a text after the elements at its beginning.
fn strip<'a>(elements: &[Element], mut text: &'a [u8]) -> Option<&'a [u8]> {
    for element in elements {
        text = match element {
            Element::Bytes(bytes) => text.strip_prefix(bytes.as_slice())?,
            Element::One => &text[character_length(text)?..],
        };
    }
    Some(text)
}

/// Bytes of the first character.
#[inline]
fn character_length(text: &[u8]) -> Option<usize> {
    let first = *text.first()?;
    let length = match first {
        0..0x80 => 1,
        0x80..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    };
    Some(length.min(text.len()))
}

/// The part at the front must begin the text, those after it are searched leftmost first, and the last must end it:
/// taking the leftmost place for each never loses a match.
fn general(parts: &[Vec<Element>], text: &[u8]) -> bool {
    let (first, rest) = parts.split_first().expect("invariant: a pattern has a part");
    let Some(mut text) = strip(first, text) else { return false };
    let Some((last, middle)) = rest.split_last() else { return text.is_empty() };
    for part in middle {
        loop {
            if let Some(after) = strip(part, text) {
                text = after;
                break;
            }
            match character_length(text) {
                Some(length) => text = &text[length..],
                None => return false,
            }
        }
    }
    loop {
        if strip(last, text).is_some_and(<[u8]>::is_empty) {
            return true;
        }
        match character_length(text) {
            Some(length) => text = &text[length..],
            None => return false,
        }
    }
}

/// A symbol table and the automaton over its codes, if there is one.
type Known = (Arc<SymbolTable>, Option<Arc<Automaton>>);

#[derive(Debug)]
struct Like {
    operand: Node,
    matcher: Matcher,
    case_insensitive: bool,
    negated: bool,
    /// Those of the symbol tables that were met.
    automata: Mutex<Vec<Known>>,
}

/// Compiles [NOT] LIKE and [NOT] ILIKE.
pub(super) fn like(
    operand: Node,
    pattern: &str,
    escape: Option<char>,
    case_insensitive: bool,
    negated: bool,
) -> SqlResult<Node> {
    if operand.is_null() {
        return Ok(Node::null(DataType::Boolean));
    }
    let matcher = if case_insensitive {
        let escape = escape.and_then(|it| it.to_lowercase().next());
        Matcher::new(&pattern.to_lowercase(), escape)?
    } else {
        Matcher::new(pattern, escape)?
    };
    let automata = Mutex::new(Vec::new());
    let facts = Facts::of([&operand]);
    let shape = ColumnShape::computed(DataType::Boolean, facts.nullable);
    Ok(Node::new(shape, facts, Like { operand, matcher, case_insensitive, negated, automata }))
}

/// Writes a text in lower case.
fn lower_into(text: &[u8], out: &mut Vec<u8>) {
    out.clear();
    if text.is_ascii() {
        out.extend(text.iter().map(u8::to_ascii_lowercase));
    } else {
        let text = std::str::from_utf8(text).expect("invariant: text is UTF-8");
        out.extend_from_slice(text.to_lowercase().as_bytes());
    }
}

impl Like {
    fn automaton(&self, symbols: &Arc<SymbolTable>) -> Option<Arc<Automaton>> {
        let mut known = self.automata.lock();
        if let Some((_, automaton)) = known.iter().find(|it| Arc::ptr_eq(&it.0, symbols)) {
            return automaton.clone();
        }
        let made = self.matcher.pattern().and_then(|it| Automaton::new(&it, symbols));
        let made = made.map(Arc::new);
        known.push((symbols.clone(), made.clone()));
        made
    }

    /// Whether the texts at some positions match, without reading those that are compressed in full; `None` when the
    /// pattern does not allow it.
    fn matches_compressed(&self, strings: &PlainStrings, positions: &[u32]) -> Option<Vec<bool>> {
        if self.case_insensitive {
            return None;
        }
        let mut found = vec![self.negated; positions.len()];
        let mut last: Option<(&Arc<SymbolTable>, Arc<Automaton>)> = None;
        let mut row = 0;
        while row < positions.len() {
            let (texts, first) = strings.find(positions[row] as usize)?;
            let follow = |pair: &&[u32]| pair[0].wrapping_add(1) == pair[1];
            let run = 1 + positions[row..].windows(2).take_while(follow).count();
            let found = &mut found[row..];
            let run = run.min(texts.stored().len().saturating_sub(first)).max(1);
            let found = &mut found[..run];
            match texts.symbols() {
                None => {
                    for (index, found) in found.iter_mut().enumerate() {
                        let text = texts.stored().bytes_at(first + index);
                        *found = self.matcher.matches(text) != self.negated;
                    }
                }
                Some(symbols) => {
                    if last.as_ref().is_none_or(|it| !Arc::ptr_eq(it.0, symbols)) {
                        last = Some((symbols, self.automaton(symbols)?));
                    }
                    let (_, automaton) = last.as_ref()?;
                    automaton.matches_run(texts.stored(), first, self.negated, found);
                }
            }
            row += run;
        }
        Some(found)
    }
}

impl Kernel for Like {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let argument = self.operand.argument(batch)?;
        let found = compressed(&argument, &self.operand.shape)
            .and_then(|(strings, positions)| self.matches_compressed(strings, positions));
        if let Some(found) = found {
            let validity = argument.validity().cloned();
            return Ok(Vector { values: Values::Bool(found), validity });
        }
        let mut space = TextVector::default();
        let texts = Texts::of(&argument, &self.operand.shape, &mut space);
        let run = texts.run(batch.rows).filter(|_| !self.case_insensitive);
        let mut buffer = Vec::new();
        let negated = self.negated;
        let values: Vec<bool> = for_texts!(texts, get => {
            if self.case_insensitive {
                let folded = |row| {
                    lower_into(get(row), &mut buffer);
                    self.matcher.matches(&buffer) != negated
                };
                (0..batch.rows).map(folded).collect()
            } else if let Some(found) = run.and_then(|it| self.matcher.matches_run(it, negated)) {
                found
            } else {
                matches_all(&self.matcher, batch.rows, get, negated)
            }
        });
        Ok(Vector { values: Values::Bool(values), validity: argument.validity().cloned() })
    }
}

/// The two matchers of the hot path get loops of their own.
fn matches_all<'a>(
    matcher: &Matcher,
    rows: usize,
    get: impl Fn(usize) -> &'a [u8],
    negated: bool,
) -> Vec<bool> {
    let rows = 0..rows;
    match matcher {
        Matcher::Contains(finder) => {
            rows.map(|row| find(level(), finder, get(row), 0).is_some() != negated).collect()
        }
        Matcher::Pieces { prefix, middle, suffix } if prefix.is_empty() && suffix.is_empty() => {
            rows.map(|row| in_order(middle, get(row)) != negated).collect()
        }
        matcher => rows.map(|row| matcher.matches(get(row)) != negated).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_sql_says() {
        let cases = [
            ("abc", "abc", true),
            ("abc", "abcd", false),
            ("", "", true),
            ("", "a", false),
            ("%", "", true),
            ("%", "anything", true),
            ("%%", "", true),
            ("ab%", "abc", true),
            ("ab%", "a", false),
            ("%bc", "abc", true),
            ("%bc", "abcd", false),
            ("%b%", "abc", true),
            ("%b%", "ac", false),
            ("a%c", "abc", true),
            ("a%c", "ac", true),
            ("a%a", "a", false),
            ("a%b%c", "axxbyyc", true),
            ("a%b%c", "axxyyc", false),
            ("%special%requests%", "the special little requests", true),
            ("%special%requests%", "requests special", false),
            ("%aa%aa%", "aaa", false),
            ("%aa%aa%", "aaaa", true),
            ("_", "a", true),
            ("_", "", false),
            ("_", "ab", false),
            ("_", "\u{e9}", true),
            ("_", "\u{1f600}", true),
            ("__", "\u{e9}", false),
            ("%_", "", false),
            ("%_", "abc", true),
            ("_%", "\u{20ac}uro", true),
            ("a_c%", "abcd", true),
            ("a_c%", "acd", false),
            ("%a_c%", "xxabcxx", true),
            ("%a_c", "abcabc", true),
            ("%a_c", "aacc", true),
            ("%a_b%c_", "1a2b3c4", true),
            ("%a_b%c_", "1a2b3c", false),
            ("\\%", "%", true),
            ("\\%", "a", false),
            ("a\\_%", "a_b", true),
            ("a\\_%", "abb", false),
            ("\\\\", "\\", true),
        ];
        for (pattern, text, expected) in cases {
            let matcher = Matcher::new(pattern, Some('\\')).unwrap();
            assert_eq!(matcher.matches(text.as_bytes()), expected, "{text} LIKE {pattern}");
        }
        assert_eq!(Matcher::new("a\\", Some('\\')).unwrap_err().state.0, "22025");
        assert!(Matcher::new("a\\%", None).unwrap().matches(b"a\\xyz"));
        assert!(Matcher::new("50#%", Some('#')).unwrap().matches(b"50%"));
    }

    #[test]
    fn runs_of_texts_match_as_text_by_text() {
        let mut prng = stdx::Prng::new(9);
        for pattern in ["%ab%", "%ab%ba%", "%aab%a%", "%a%"] {
            let matcher = Matcher::new(pattern, None).unwrap();
            for _ in 0..200 {
                let mut texts = crate::TextVector::default();
                for _ in 0..prng.below(30) {
                    let text: String =
                        (0..prng.below(7)).map(|_| ['a', 'b'][prng.below(2) as usize]).collect();
                    texts.push(&text);
                }
                let rows = texts.len();
                for negated in [false, true] {
                    let run = Texts::Vector(&texts).run(rows).unwrap();
                    let expected: Vec<bool> = (0..rows)
                        .map(|it| matcher.matches(texts.bytes_at(it)) != negated)
                        .collect();
                    assert_eq!(matcher.matches_run(run, negated).unwrap(), expected, "{texts:?}");
                }
            }
        }
    }

    #[test]
    fn case_is_folded() {
        let mut out = Vec::new();
        lower_into("\u{c9}CLAIR".as_bytes(), &mut out);
        assert_eq!(out, "\u{e9}clair".as_bytes());
        lower_into(b"AbC", &mut out);
        assert_eq!(out, b"abc");
    }
}
