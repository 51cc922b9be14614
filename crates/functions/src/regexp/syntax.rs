//! From PostgreSQL's advanced regular expressions to the syntax of the crate `regex`.

use types::{SqlError, SqlResult, SqlState};

use super::preference::Preferences;
use crate::error::invalid;

/// What the flags of a call say.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Flags {
    /// All matches, not only the first.
    pub global: bool,
    /// Case does not count.
    pub fold: bool,
    /// `.` and `[^..]` do not match a newline.
    pub stops_at_newline: bool,
    /// `^` and `$` match at newlines.
    pub line_anchors: bool,
    /// Blanks and comments in the pattern do not count.
    pub expanded: bool,
    /// The pattern is a plain text.
    pub literal: bool,
    /// The pattern prefers the shortest match: what its quantifiers say.
    pub shortest: bool,
}

impl Flags {
    /// The meaning of letters. Errors: 22023 for an unknown one, 0A000 for basic expressions.
    pub fn parse(text: &str) -> SqlResult<Self> {
        let mut flags = Self::default();
        for it in text.chars() {
            match it {
                'g' => flags.global = true,
                _ => flags.set(it)?,
            }
        }
        Ok(flags)
    }

    fn set(&mut self, letter: char) -> SqlResult<()> {
        match letter {
            'i' => self.fold = true,
            'c' => self.fold = false,
            'm' | 'n' => (self.stops_at_newline, self.line_anchors) = (true, true),
            'p' => (self.stops_at_newline, self.line_anchors) = (true, false),
            's' => (self.stops_at_newline, self.line_anchors) = (false, false),
            'w' => (self.stops_at_newline, self.line_anchors) = (false, true),
            'x' => self.expanded = true,
            't' => self.expanded = false,
            'q' => self.literal = true,
            'e' => {}
            'b' => {
                return Err(SqlError::unsupported("basic regular expressions are not supported"));
            }
            other => {
                return Err(invalid(format!("invalid regular expression option: \"{other}\"")));
            }
        }
        Ok(())
    }
}

/// A pattern that does not say anything, 2201B.
pub(crate) fn malformed(why: &str) -> SqlError {
    SqlError::new(SqlState("2201B"), format!("invalid regular expression: {why}"))
}

fn unsupported(what: &str) -> SqlError {
    SqlError::unsupported(format!("{what} in a regular expression is not supported"))
}

/// The same pattern in the other syntax, with the flags that it sets itself. Errors: 2201B, 0A000.
pub(crate) fn translate(pattern: &str, flags: &mut Flags) -> SqlResult<String> {
    let mut rest = pattern;
    if let Some(literal) = rest.strip_prefix("***=") {
        flags.literal = true;
        rest = literal;
    }
    if flags.literal {
        return Ok(regex::escape(rest));
    }
    rest = rest.strip_prefix("***:").unwrap_or(rest);
    rest = embedded_options(rest, flags)?;
    let mut translation = Translation {
        rest: rest.chars().collect::<Vec<_>>(),
        at: 0,
        out: String::with_capacity(rest.len() + 8),
        flags: *flags,
        quantified: false,
        preferences: Preferences::default(),
    };
    while translation.at < translation.rest.len() {
        translation.step()?;
    }
    flags.shortest = !translation.preferences.prefers_longest();
    Ok(translation.out)
}

/// `(?letters)` at the start of a pattern.
fn embedded_options<'a>(pattern: &'a str, flags: &mut Flags) -> SqlResult<&'a str> {
    let Some(inner) = pattern.strip_prefix("(?") else {
        return Ok(pattern);
    };
    let letters = inner.find(|it: char| !it.is_ascii_alphabetic()).unwrap_or(inner.len());
    if letters == 0 {
        return Ok(pattern);
    }
    let Some(rest) = inner[letters..].strip_prefix(')') else {
        return Err(malformed("invalid embedded option"));
    };
    for letter in inner[..letters].chars() {
        flags.set(letter).map_err(|it| match it.state {
            SqlState::INVALID_PARAMETER => malformed("invalid embedded option"),
            _ => it,
        })?;
    }
    Ok(rest)
}

struct Translation {
    rest: Vec<char>,
    at: usize,
    out: String,
    flags: Flags,
    /// Whether a quantifier was just written: another one may not follow.
    quantified: bool,
    preferences: Preferences,
}

impl Translation {
    fn next(&mut self) -> Option<char> {
        let next = self.rest.get(self.at).copied();
        self.at += 1;
        next
    }

    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn step(&mut self) -> SqlResult<()> {
        let Some(it) = self.next() else {
            return Ok(());
        };
        let bound = it == '{' && self.peek().is_some_and(|it| it.is_ascii_digit());
        if bound || matches!(it, '*' | '+' | '?') {
            return self.quantifier(it);
        }
        self.quantified = false;
        match it {
            '(' => self.preferences.open(),
            ')' => self.preferences.close(),
            '|' => self.preferences.branch(),
            _ => self.preferences.piece(),
        }
        match it {
            '\\' => self.escape(),
            '[' => super::bracket::translate(&self.rest, &mut self.at, &mut self.out, self.flags),
            '(' => self.group(),
            '{' => {
                self.out.push_str("\\{");
                Ok(())
            }
            other => {
                self.out.push(other);
                Ok(())
            }
        }
    }

    fn quantifier(&mut self, first: char) -> SqlResult<()> {
        if self.quantified {
            return Err(malformed("quantifier operand invalid"));
        }
        let start = self.out.len();
        self.out.push(first);
        if first == '{' {
            while let Some(it) = self.next() {
                if !it.is_ascii_digit() && !matches!(it, ',' | '}') {
                    return Err(malformed("invalid repetition count(s)"));
                }
                self.out.push(it);
                if it == '}' {
                    break;
                }
            }
        }
        let fixed = first == '{' && !self.out[start..].contains(',');
        let lazy = self.peek() == Some('?');
        if !fixed {
            self.preferences.repeat(!lazy);
        }
        if lazy {
            self.at += 1;
            self.out.push('?');
        }
        self.quantified = true;
        Ok(())
    }

    fn group(&mut self) -> SqlResult<()> {
        self.out.push('(');
        if self.peek() != Some('?') {
            return Ok(());
        }
        self.at += 1;
        match self.next() {
            Some(':') => {
                self.out.push_str("?:");
                Ok(())
            }
            Some('=' | '!') => Err(unsupported("a lookahead")),
            Some('<') => Err(unsupported("a lookbehind")),
            Some('#') => {
                // A comment.
                self.out.push_str("?:)");
                self.preferences.close();
                while self.next().is_some_and(|it| it != ')') {}
                Ok(())
            }
            _ => Err(malformed("quantifier operand invalid")),
        }
    }

    fn escape(&mut self) -> SqlResult<()> {
        let Some(it) = self.next() else {
            return Err(malformed("invalid escape \\ sequence"));
        };
        let constraint = match it {
            'A' => "\\A",
            'Z' => "\\z",
            'm' => "\\b{start}",
            'M' => "\\b{end}",
            'y' => "\\b",
            'Y' => "\\B",
            'd' => "\\d",
            'D' => "\\D",
            's' => "\\s",
            'S' => "\\S",
            'w' => "\\w",
            'W' => "\\W",
            '1'..='9' => return Err(unsupported("a back reference")),
            _ => {
                let character = escaped_character(it, &self.rest, &mut self.at)?;
                push_literal(&mut self.out, character);
                return Ok(());
            }
        };
        self.out.push_str(constraint);
        Ok(())
    }
}

/// The character that an escape stands for; `at` is behind its first letter.
pub(super) fn escaped_character(first: char, rest: &[char], at: &mut usize) -> SqlResult<char> {
    let bad = || malformed("invalid escape \\ sequence");
    let mut digits = |radix: u32, least: usize, most: usize| {
        let mut value = 0u32;
        let mut count = 0;
        while count < most
            && let Some(digit) = rest.get(*at).and_then(|it| it.to_digit(radix))
        {
            value = value.wrapping_mul(radix) + digit;
            *at += 1;
            count += 1;
        }
        if count < least { None } else { char::from_u32(value) }
    };
    Ok(match first {
        'a' => '\x07',
        'b' => '\x08',
        'B' => '\\',
        'e' => '\x1b',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        'u' => digits(16, 4, 4).ok_or_else(bad)?,
        'U' => digits(16, 8, 8).ok_or_else(bad)?,
        'x' => digits(16, 1, 8).ok_or_else(bad)?,
        '0' => digits(8, 0, 2).ok_or_else(bad)?,
        'c' => {
            let control = rest.get(*at).copied().ok_or_else(bad)?;
            *at += 1;
            char::from_u32(control as u32 & 0x1f).ok_or_else(bad)?
        }
        other if other.is_alphanumeric() => return Err(bad()),
        other => other,
    })
}

/// A character that means itself.
pub(super) fn push_literal(out: &mut String, character: char) {
    if character.is_ascii_punctuation() {
        out.push('\\');
        out.push(character);
    } else if character.is_whitespace() || character.is_control() {
        out.push_str(&format!("\\x{{{:x}}}", character as u32));
    } else {
        out.push(character);
    }
}
