//! Functions of regular expressions.

mod bracket;
mod character;
mod flags;
mod pattern;
mod preference;
mod replace;
mod similar;
mod syntax;

use std::ops::Range;

use arrow_array::{ArrayRef, StringArray};
use types::{Element, SqlResult, Value, array};

use crate::call::{Call, Integers};
use crate::error::invalid;
pub(crate) use flags::Flags;
pub(crate) use pattern::Pattern;
use pattern::Patterns;

pub(crate) use replace::replace;
pub(crate) use similar::similar_to_escape;

/// Whether texts match patterns somewhere.
pub(crate) fn like(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, patterns) = (call.texts(0)?, call.texts(1)?);
    let flags = call.optional_texts(2)?;
    let mut compiled = Patterns::default();
    call.map_booleans(|row| {
        let flags = not_global("regexp_like", flags, row)?;
        Ok(compiled.get(patterns.value(row), flags)?.is_match(texts.value(row)))
    })
}

/// How often patterns match.
pub(crate) fn count(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, patterns) = (call.texts(0)?, call.texts(1)?);
    let (starts, flags) = (call.optional_integers(2)?, call.optional_texts(3)?);
    let mut compiled = Patterns::default();
    call.map_integers(|row| {
        let start = at_least("start", starts, row, 1, 1)?;
        let flags = not_global("regexp_count", flags, row)?;
        let pattern = compiled.get(patterns.value(row), flags)?;
        let mut matches = Matches::new(texts.value(row), start);
        let mut count = 0;
        while matches.next(|text, from| pattern.find(text, from)).is_some() {
            count += 1;
        }
        Ok(count)
    })
}

/// The arguments that regexp_instr and regexp_substr share.
struct Search<'a> {
    name: &'static str,
    texts: &'a StringArray,
    patterns: &'a StringArray,
    starts: Option<Integers<'a>>,
    numbers: Option<Integers<'a>>,
    flags: Option<&'a StringArray>,
    groups: Option<Integers<'a>>,
    compiled: Patterns<'a>,
}

impl Search<'_> {
    /// The part of the text of a row that is asked for.
    fn find(&mut self, row: usize) -> SqlResult<Option<Range<usize>>> {
        let start = at_least("start", self.starts, row, 1, 1)?;
        let number = at_least("n", self.numbers, row, 1, 1)?;
        let group = at_least("subexpr", self.groups, row, 0, 0)?;
        let flags = not_global(self.name, self.flags, row)?;
        let pattern = self.compiled.get(self.patterns.value(row), flags)?;
        let mut matches = Matches::new(self.texts.value(row), start);
        for _ in 1..number {
            if matches.next(|text, from| pattern.find(text, from)).is_none() {
                return Ok(None);
            }
        }
        let Ok(group) = usize::try_from(group) else {
            return Ok(None);
        };
        if group > pattern.groups() {
            return Ok(None);
        }
        if group == 0 {
            return Ok(matches.next(|text, from| pattern.find(text, from)));
        }
        let Some(from) = matches.from else {
            return Ok(None);
        };
        let captures = pattern.captures(matches.text, from);
        Ok(captures.and_then(|mut it| it.get_mut(group)?.take()))
    }
}

/// The place of a match.
pub(crate) fn instr(call: &Call<'_>) -> SqlResult<ArrayRef> {
    // DataFusion's list has no option for the place behind the match.
    let has_option = call.count() > 4 && !call.is_text(4);
    let after = usize::from(has_option);
    let options = if has_option { call.optional_integers(4)? } else { None };
    let mut search = Search {
        name: "regexp_instr",
        texts: call.texts(0)?,
        patterns: call.texts(1)?,
        starts: call.optional_integers(2)?,
        numbers: call.optional_integers(3)?,
        flags: call.optional_texts(4 + after)?,
        groups: call.optional_integers(5 + after)?,
        compiled: Patterns::default(),
    };
    call.map_integers(|row| {
        let behind = match options.map_or(0, |it| it.at(row)) {
            0 => false,
            1 => true,
            other => {
                return Err(invalid(format!("invalid value for parameter \"endoption\": {other}")));
            }
        };
        let Some(found) = search.find(row)? else {
            return Ok(0);
        };
        let place = if behind { found.end } else { found.start };
        Ok(search.texts.value(row)[..place].chars().count() + 1)
    })
}

/// The text of a match.
pub(crate) fn substr(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let mut search = Search {
        name: "regexp_substr",
        texts: call.texts(0)?,
        patterns: call.texts(1)?,
        starts: call.optional_integers(2)?,
        numbers: call.optional_integers(3)?,
        flags: call.optional_texts(4)?,
        groups: call.optional_integers(5)?,
        compiled: Patterns::default(),
    };
    call.map_optional_texts(|row, out| match search.find(row)? {
        Some(found) => out.push(&search.texts.value(row)[found]).map(|()| true),
        None => Ok(false),
    })
}

/// The subexpressions of a match, or the match where there are none, as an array that is held.
fn held_parts(
    pattern: &mut Pattern,
    text: &str,
    from: usize,
    held: &mut String,
) -> SqlResult<bool> {
    let found = match pattern.groups() {
        0 => pattern.find(text, from).map(|it| vec![Some(it)]),
        _ => pattern.captures(text, from).map(|it| it.into_iter().skip(1).collect()),
    };
    let Some(found) = found else { return Ok(false) };
    held.clear();
    for part in &found {
        match part {
            Some(it) => array::push_text(held, &text[it.clone()]),
            None => held.push_str(array::NULL_ITEM),
        }
    }
    array::close_list(held, 0, found.len()).map(|()| true)
}

/// The subexpressions of the first match as an array, or the match where there are none.
pub(crate) fn first_match(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, patterns) = (call.texts(0)?, call.texts(1)?);
    let flags = call.optional_texts(2)?;
    let mut compiled = Patterns::default();
    let mut held = String::new();
    call.map_optional_texts(|row, out| {
        let flags = not_global("regexp_match", flags, row)?;
        let pattern = compiled.get(patterns.value(row), flags)?;
        if !held_parts(pattern, texts.value(row), 0, &mut held)? {
            return Ok(false);
        }
        out.push(&held).map(|()| true)
    })
}

/// What [`first_match`] gives, of the first match or of all, each as the text of an array.
pub(crate) fn every_match(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, patterns) = (call.texts(0)?, call.texts(1)?);
    let flags = call.optional_texts(2)?;
    let mut compiled = Patterns::default();
    let (mut all, mut held, mut written) = (String::new(), String::new(), String::new());
    call.map_texts(|row, out| {
        let flags = flags_of(flags, row)?;
        let (text, pattern) = (texts.value(row), compiled.get(patterns.value(row), flags)?);
        let mut matches = Matches::new(text, 1);
        let mut count = 0;
        all.clear();
        while let Some(from) = matches.from {
            if matches.next(|text, from| pattern.find(text, from)).is_none() {
                break;
            }
            held_parts(pattern, text, from, &mut held)?;
            written.clear();
            let mut write = |it: &Value, out: &mut String| {
                if let Value::Text(it) = it {
                    out.push_str(it);
                }
            };
            array::format(&held, Element::Text, &mut write, &mut written);
            array::push_text(&mut all, &written);
            count += 1;
            if !flags.global {
                break;
            }
        }
        array::close_list(&mut all, 0, count)?;
        out.push(&all)
    })
}

/// All matches as an array, or a subexpression of each; the empty text where it does not take part.
pub(crate) fn all_matches(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, patterns) = (call.texts(0)?, call.texts(1)?);
    let (groups, flags) = (call.optional_integers(2)?, call.optional_texts(3)?);
    let mut compiled = Patterns::default();
    let mut held = String::new();
    call.map_texts(|row, out| {
        let group = at_least("group", groups, row, 0, 0)?;
        let flags = not_global("regexp_extract_all", flags, row)?;
        let (text, pattern) = (texts.value(row), compiled.get(patterns.value(row), flags)?);
        let group = usize::try_from(group).ok().filter(|it| *it <= pattern.groups());
        let group = group.ok_or_else(|| invalid("the pattern has fewer subexpressions"))?;
        let mut matches = Matches::new(text, 1);
        let mut count = 0;
        held.clear();
        while let Some(from) = matches.from {
            let Some(found) = matches.next(|text, from| pattern.find(text, from)) else { break };
            let part = match group {
                0 => Some(found),
                _ => pattern.captures(text, from).and_then(|mut it| it.get_mut(group)?.take()),
            };
            array::push_text(&mut held, part.map_or("", |it| &text[it]));
            count += 1;
        }
        array::close_list(&mut held, 0, count)?;
        out.push(&held)
    })
}

/// The parts of texts between matches. Empty matches at the ends of a text, or right behind another match, are none.
pub(crate) fn split(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, patterns) = (call.texts(0)?, call.texts(1)?);
    let flags = call.optional_texts(2)?;
    let mut compiled = Patterns::default();
    let mut held = String::new();
    call.map_texts(|row, out| {
        let flags = not_global("regexp_split_to_array", flags, row)?;
        let (text, pattern) = (texts.value(row), compiled.get(patterns.value(row), flags)?);
        let mut matches = Matches::new(text, 1);
        let (mut begins, mut last, mut count) = (0, 0, 1);
        held.clear();
        while let Some(found) = matches.next(|text, from| pattern.find(text, from)) {
            if found.start < text.len() && found.end > last {
                array::push_text(&mut held, &text[begins..found.start]);
                (begins, count) = (found.end, count + 1);
            }
            last = found.end;
        }
        array::push_text(&mut held, &text[begins..]);
        array::close_list(&mut held, 0, count)?;
        out.push(&held)
    })
}

/// The first subexpression of the first match, or the match when the pattern has none.
pub(crate) fn substring(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (texts, patterns) = (call.texts(0)?, call.texts(1)?);
    let mut compiled = Patterns::default();
    call.map_optional_texts(|row, out| {
        let (text, pattern) =
            (texts.value(row), compiled.get(patterns.value(row), Flags::default())?);
        let found = if pattern.groups() == 0 {
            pattern.find(text, 0)
        } else {
            pattern.captures(text, 0).and_then(|mut it| it.get_mut(1)?.take())
        };
        found.map_or(Ok(false), |it| out.push(&text[it]).map(|()| true))
    })
}

/// One match after the other: each search begins where the last match ended, or, when that was empty, one character on.
struct Matches<'a> {
    text: &'a str,
    /// Where the next search begins; `None` behind the end.
    from: Option<usize>,
}

impl<'a> Matches<'a> {
    /// From a character on, counted from 1.
    fn new(text: &'a str, start: i64) -> Self {
        let start = usize::try_from(start - 1).unwrap_or(usize::MAX);
        let bytes = text.char_indices().map(|it| it.0).chain([text.len()]);
        Self { text, from: bytes.into_iter().nth(start) }
    }

    fn next(
        &mut self,
        mut find: impl FnMut(&str, usize) -> Option<Range<usize>>,
    ) -> Option<Range<usize>> {
        let found = find(self.text, self.from?);
        self.from = found.as_ref().and_then(|it| self.after(it));
        found
    }

    fn after(&self, found: &Range<usize>) -> Option<usize> {
        if !found.is_empty() {
            return Some(found.end);
        }
        let next = self.text[found.end..].chars().next()?;
        Some(found.end + next.len_utf8())
    }
}

/// A number that may not be less than a bound. Error: 22023.
fn at_least(
    name: &str,
    values: Option<Integers<'_>>,
    row: usize,
    least: i64,
    otherwise: i64,
) -> SqlResult<i64> {
    let value = values.map_or(otherwise, |it| it.at(row));
    if value < least {
        return Err(invalid(format!("invalid value for parameter \"{name}\": {value}")));
    }
    Ok(value)
}

fn flags_of(flags: Option<&StringArray>, row: usize) -> SqlResult<Flags> {
    Flags::parse(flags.map_or("", |it| it.value(row)))
}

/// The flags of a function that does not take `g`. Error: 22023.
fn not_global(name: &str, flags: Option<&StringArray>, row: usize) -> SqlResult<Flags> {
    let flags = flags_of(flags, row)?;
    if flags.global {
        return Err(invalid(format!("{name}() does not support the \"global\" option")));
    }
    Ok(flags)
}
