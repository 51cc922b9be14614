//! From PostgreSQL's advanced regular expressions to the syntax of the crate `regex`.

use types::{SqlError, SqlResult, SqlState};

use super::character::{escaped_character, malformed, push_literal};
use super::flags::Flags;
use super::preference::Preferences;

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
