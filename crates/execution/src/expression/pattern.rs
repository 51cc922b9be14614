//! The patterns of LIKE, and what matches them: the simplest matcher that does.

use memchr::memmem::Finder;
use types::{SqlError, SqlResult, SqlState};

use super::node::TextRun;
use crate::leveled::{find, level};

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
    pub(super) fn matches_run(&self, run: TextRun<'_>, negated: bool) -> Option<Vec<bool>> {
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

/// The two matchers of the hot path get loops of their own.
pub(super) fn matches_all<'a>(
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
    use super::super::node::Texts;
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
}
