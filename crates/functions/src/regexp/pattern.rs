//! Compiled patterns: the leftmost match, and of those the longest, or the shortest where the pattern prefers it.
//!
//! The crate `regex` takes the first alternative that matches. PostgreSQL does not, so a match has two steps: `regex` finds
//! where it begins (both agree on that), an automaton of all matches where the longest or shortest one ends.

use std::cell::OnceCell;
use std::ops::Range;

use regex::{CaptureLocations, Regex, RegexBuilder};
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchKind};
use types::SqlResult;

use super::character::malformed;
use super::flags::Flags;
use super::syntax::translate;

/// Bytes of a compiled pattern.
const PATTERN_BYTES_MAX: usize = 4 << 20;
/// Brackets inside brackets.
const NESTING_MAX: u32 = 100;

/// A compiled pattern.
pub(crate) struct Pattern {
    regex: Regex,
    /// Room for what a match finds.
    places: CaptureLocations,
    source: String,
    flags: Flags,
    /// What tells where the match ends, made when it is first asked for; `None` inside where there is no automaton.
    ends: OnceCell<Option<DFA>>,
    cache: Option<Cache>,
    /// The pattern up to the end of the text.
    whole: Option<Regex>,
}

impl Pattern {
    /// Compiles a pattern. Errors: 2201B, 0A000.
    pub fn new(pattern: &str, mut flags: Flags) -> SqlResult<Self> {
        let source = translate(pattern, &mut flags)?;
        let regex = compile(&source, flags)?;
        let places = regex.capture_locations();
        Ok(Self { regex, places, source, flags, ends: OnceCell::new(), cache: None, whole: None })
    }

    /// Whether it matches somewhere.
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// How many subexpressions it has.
    pub fn groups(&self) -> usize {
        self.regex.captures_len() - 1
    }

    /// The first match at or behind a byte.
    pub fn find(&mut self, text: &str, from: usize) -> Option<Range<usize>> {
        let found = self.regex.find_at(text, from)?;
        Some(found.start()..self.end(text, found.range()))
    }

    fn end(&mut self, text: &str, found: Range<usize>) -> usize {
        if found.end == text.len() && !self.flags.shortest {
            return found.end;
        }
        let Some(dfa) = self.ends.get_or_init(|| automaton(&self.source, self.flags)) else {
            return found.end;
        };
        let cache = self.cache.get_or_insert_with(|| dfa.create_cache());
        let input = Input::new(text).range(found.start..).anchored(Anchored::Yes);
        match dfa.try_search_fwd(cache, &input.earliest(self.flags.shortest)) {
            Ok(Some(end)) => end.offset(),
            // The automaton gives up on word boundaries beside letters outside ASCII.
            _ => found.end,
        }
    }

    /// The first match at or behind a byte with its subexpressions, the whole match first.
    pub fn captures(&mut self, text: &str, from: usize) -> Option<Vec<Option<Range<usize>>>> {
        let plain = ranges(&self.regex, &mut self.places, text, from)?;
        let found = plain.first()?.clone()?;
        let end = self.end(text, found.clone());
        if end == found.end {
            return Some(plain);
        }
        if self.whole.is_none() {
            self.whole = compile(&format!("(?:{})\\z", self.source), self.flags).ok();
        }
        let whole = self.whole.as_ref()?;
        let whole = ranges(whole, &mut whole.capture_locations(), &text[..end], found.start);
        Some(whole.unwrap_or(plain))
    }
}

/// The first match at or behind a byte with its subexpressions.
fn ranges(
    regex: &Regex,
    places: &mut CaptureLocations,
    text: &str,
    from: usize,
) -> Option<Vec<Option<Range<usize>>>> {
    regex.captures_read_at(places, text, from)?;
    let range = |group| places.get(group).map(|(start, end)| start..end);
    Some((0..places.len()).map(range).collect())
}

fn compile(source: &str, flags: Flags) -> SqlResult<Regex> {
    RegexBuilder::new(source)
        .case_insensitive(flags.fold)
        .multi_line(flags.line_anchors)
        .dot_matches_new_line(!flags.stops_at_newline)
        .ignore_whitespace(flags.expanded)
        .size_limit(PATTERN_BYTES_MAX)
        .dfa_size_limit(PATTERN_BYTES_MAX)
        .nest_limit(NESTING_MAX)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => malformed("regular expression is too complex"),
            other => malformed(other.to_string().lines().last().unwrap_or_default().trim()),
        })
}

/// The automaton of all matches, if the pattern can have one.
fn automaton(source: &str, flags: Flags) -> Option<DFA> {
    let syntax = syntax::Config::new()
        .case_insensitive(flags.fold)
        .multi_line(flags.line_anchors)
        .dot_matches_new_line(!flags.stops_at_newline)
        .ignore_whitespace(flags.expanded)
        .nest_limit(NESTING_MAX);
    let config = DFA::config()
        .match_kind(MatchKind::All)
        .unicode_word_boundary(true)
        .skip_cache_capacity_check(true)
        .cache_capacity(PATTERN_BYTES_MAX);
    DFA::builder().configure(config).syntax(syntax).build(source).ok()
}

/// The patterns of a call, each compiled once.
#[derive(Default)]
pub(super) struct Patterns<'a> {
    compiled: Vec<((&'a str, Flags), Pattern)>,
    /// Where the pattern of the last row is: mostly all rows have one.
    last: usize,
}

impl<'a> Patterns<'a> {
    /// The compiled form of a pattern. Errors: 2201B, 0A000.
    pub fn get(&mut self, pattern: &'a str, flags: Flags) -> SqlResult<&mut Pattern> {
        // A call of many patterns keeps few of them.
        const KEPT_MAX: usize = 64;
        let key = (pattern, flags);
        if self.compiled.get(self.last).is_none_or(|it| it.0 != key) {
            let known = self.compiled.iter().position(|it| it.0 == key);
            self.last = match known {
                Some(place) => place,
                None => {
                    if self.compiled.len() >= KEPT_MAX {
                        self.compiled.clear();
                    }
                    self.compiled.push((key, Pattern::new(pattern, flags)?));
                    self.compiled.len() - 1
                }
            };
        }
        Ok(&mut self.compiled[self.last].1)
    }
}
