//! Arrays as PostgreSQL writes them: `{1,2}`, `{{a,NULL},{"b c",d}}`, `[0:1]={1,2}`.

use std::fmt::Write;
use std::str::Chars;

use super::items::{
    DIMENSIONS_MAX, Dimension, Items, close, dimensions_behind, is_null, push_value,
    too_many_items, value_of,
};
use crate::{Element, SqlError, SqlResult, SqlState, Value};

/// Appends an array, its items of a type, as PostgreSQL writes it: `write` appends the text of an item that is not NULL.
pub fn format(
    held: &str,
    element: Element,
    write: &mut dyn FnMut(&Value, &mut String),
    out: &mut String,
) {
    if element.is_of_vector() {
        for (number, item) in Items::new(held).enumerate() {
            out.push_str(if number > 0 { " " } else { "" });
            write(&value_of(item, element.data_type()), out);
        }
        return;
    }
    let mut items = Items::new(held);
    let all: Vec<&str> = items.by_ref().collect();
    let dimensions = dimensions_behind(items.rest(), all.len());
    if all.is_empty() {
        out.push_str("{}");
        return;
    }
    if dimensions.iter().any(|it| it.lower != 1) {
        for it in &dimensions {
            let _ = write!(out, "[{}:{}]", it.lower, it.upper());
        }
        out.push('=');
    }
    let lengths: Vec<usize> =
        dimensions.iter().map(|it| usize::try_from(it.length).unwrap_or(1).max(1)).collect();
    // A brace opens or closes with each dimension at whose edge an item stands.
    let edges = |number: usize| {
        let mut size = 1;
        lengths.iter().rev().take_while(move |it| {
            size *= **it;
            number.is_multiple_of(size)
        })
    };
    let mut text = String::new();
    for (number, item) in all.iter().enumerate() {
        if number > 0 {
            out.push(',');
        }
        edges(number).for_each(|_| out.push('{'));
        match is_null(item) {
            true => out.push_str("NULL"),
            false => {
                text.clear();
                write(&value_of(item, element.data_type()), &mut text);
                put_quoted(&text, out);
            }
        }
        edges(number + 1).for_each(|_| out.push('}'));
    }
}

/// Appends the text of an item, in quotes where it would be read as something else without.
fn put_quoted(text: &str, out: &mut String) {
    let special = |it: char| matches!(it, '"' | '\\' | '{' | '}' | ',') || is_space(it);
    if !text.is_empty() && !text.eq_ignore_ascii_case("null") && !text.contains(special) {
        out.push_str(text);
        return;
    }
    out.push('"');
    for it in text.chars() {
        if matches!(it, '"' | '\\') {
            out.push('\\');
        }
        out.push(it);
    }
    out.push('"');
}

fn is_space(it: char) -> bool {
    matches!(it, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}')
}

/// A text as an array: `read` makes values of the texts of its items, of those that are not NULL.
///
/// # Errors
/// 22P02 for what is no array, 2202E for bounds that are none, 54000 for too many items or dimensions, and those of `read`.
pub fn parse(text: &str, read: &mut dyn FnMut(&str) -> SqlResult<Value>) -> SqlResult<String> {
    let in_braces = with_braces(text);
    let rest = in_braces.as_deref().unwrap_or(text);
    let mut reader = Reader { text, rest, items: String::new(), lengths: Vec::new(), read };
    reader.skip_spaces();
    let bounds = reader.bounds()?;
    if !reader.rest.starts_with('{') {
        return Err(match bounds.is_empty() {
            true => reader.malformed("Array value must start with \"{\" or dimension information."),
            false => reader.malformed("Array contents must start with \"{\"."),
        });
    }
    reader.level(0)?;
    reader.skip_spaces();
    if !reader.rest.is_empty() {
        return Err(reader.malformed("Junk after closing right brace."));
    }
    let lengths: Vec<i32> = reader.lengths.iter().map(|it| it.unwrap_or(0)).collect();
    let empty = reader.items.is_empty();
    let dimensions: Vec<Dimension> = match bounds.is_empty() {
        true => lengths.iter().map(|&length| Dimension { length, lower: 1 }).collect(),
        false => {
            if bounds.len() != lengths.len()
                || bounds.iter().zip(&lengths).any(|(it, length)| it.length != *length)
            {
                let detail = "Specified array dimensions do not match array contents.";
                return Err(reader.malformed(detail));
            }
            bounds
        }
    };
    let mut held = reader.items;
    if empty {
        return Ok(String::new());
    }
    close(&mut held, 0, &dimensions)?;
    Ok(held)
}

/// The text of a list as DuckDB writes it, `[1, NULL, 'a b']`, as PostgreSQL writes an array; `None` of any other.
fn with_braces(text: &str) -> Option<String> {
    let text = text.trim_matches(is_space);
    if !text.starts_with('[') || !text.ends_with(']') {
        return None;
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut letters = text.chars();
    // Whether an item may begin here.
    let mut begins = true;
    while let Some(letter) = letters.next() {
        match letter {
            '[' => out.push('{'),
            ']' => out.push('}'),
            '{' | '}' => return None,
            quote @ ('\'' | '"') if begins => {
                put_between_quotes(&mut letters, quote, &mut out)?;
                begins = false;
                continue;
            }
            '"' => out.push_str("\\\""),
            // Before a quote it says that the quote is meant, elsewhere itself.
            '\\' => match letters.clone().next() {
                Some('\'') => {}
                Some('"') => {
                    letters.next();
                    out.push_str("\\\"");
                }
                _ => out.push_str("\\\\"),
            },
            other => out.push(other),
        }
        begins = matches!(letter, '[' | ',') || begins && is_space(letter);
    }
    Some(out)
}

/// Appends what stands up to a quote, with PostgreSQL's quotes around it; `None` where there is no such quote.
fn put_between_quotes(letters: &mut Chars<'_>, quote: char, out: &mut String) -> Option<()> {
    out.push('"');
    loop {
        match letters.next()? {
            it if it == quote => break,
            '\\' => {
                out.push('\\');
                out.push(letters.next()?);
            }
            '"' => out.push_str("\\\""),
            other => out.push(other),
        }
    }
    out.push('"');
    Some(())
}

/// A text as a vector of the catalog: items with blanks between, from 0 on.
///
/// # Errors
/// Those of `read`.
pub fn parse_vector(
    text: &str,
    read: &mut dyn FnMut(&str) -> SqlResult<Value>,
) -> SqlResult<String> {
    let (mut held, mut length) = (String::new(), 0);
    for item in text.split_ascii_whitespace() {
        push_value(&mut held, &read(item)?);
        length += 1;
    }
    close(&mut held, 0, &[Dimension { length, lower: 0 }])?;
    Ok(held)
}

struct Reader<'a, 'r> {
    text: &'a str,
    rest: &'a str,
    items: String,
    /// Items of each dimension, as soon as one of them is closed.
    lengths: Vec<Option<i32>>,
    read: &'r mut dyn FnMut(&str) -> SqlResult<Value>,
}

impl Reader<'_, '_> {
    fn malformed(&self, detail: &str) -> SqlError {
        let message = format!("malformed array literal: \"{}\"", self.text);
        SqlError::new(SqlState::INVALID_TEXT, message).with_hint(detail)
    }

    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start_matches(is_space);
    }

    fn take(&mut self, it: char) -> bool {
        match self.rest.strip_prefix(it) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// `[1:2][0:3]=`, if it is there.
    fn bounds(&mut self) -> SqlResult<Vec<Dimension>> {
        let mut bounds = Vec::new();
        while self.take('[') {
            if bounds.len() == DIMENSIONS_MAX {
                return Err(too_many_dimensions(DIMENSIONS_MAX + 1));
            }
            let first = self.bound()?;
            let (lower, upper) = match self.take(':') {
                true => (first, self.bound()?),
                false => (1, first),
            };
            if !self.take(']') {
                return Err(self.malformed("Missing \"]\" after array dimensions."));
            }
            if upper < lower {
                let message = "upper bound cannot be less than lower bound";
                return Err(SqlError::new(SqlState("2202E"), message));
            }
            let length = i64::from(upper) - i64::from(lower) + 1;
            let length = i32::try_from(length).map_err(|_| too_many_items())?;
            bounds.push(Dimension { length, lower });
        }
        if bounds.is_empty() {
            return Ok(bounds);
        }
        self.skip_spaces();
        if !self.take('=') {
            return Err(self.malformed("Missing \"=\" after array dimensions."));
        }
        self.skip_spaces();
        Ok(bounds)
    }

    fn bound(&mut self) -> SqlResult<i32> {
        let sign = usize::from(self.rest.starts_with(['-', '+']));
        let digits = self.rest[sign..].find(|it: char| !it.is_ascii_digit());
        let end = digits.map_or(self.rest.len(), |it| it + sign);
        let (number, rest) = self.rest.split_at(end);
        self.rest = rest;
        if end == sign {
            let detail = "\"[\" must introduce explicitly-specified array dimensions.";
            return Err(self.malformed(detail));
        }
        number.parse().map_err(|_| {
            let message = "array bound is out of integer range";
            SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message)
        })
    }

    /// What stands between braces: items, or what stands between braces.
    fn level(&mut self, depth: usize) -> SqlResult<()> {
        self.take('{');
        if depth == DIMENSIONS_MAX {
            return Err(too_many_dimensions(DIMENSIONS_MAX + 1));
        }
        if self.lengths.len() == depth {
            self.lengths.push(None);
        }
        let mut count: i32 = 0;
        loop {
            self.skip_spaces();
            if self.take('}') {
                if count > 0 {
                    return Err(self.malformed("Unexpected \"}\" character."));
                }
                break;
            }
            match self.rest.starts_with('{') {
                true => {
                    // Items may not stand where arrays do.
                    if self.lengths.len() == depth + 1 && !self.items.is_empty() {
                        return Err(self.uneven());
                    }
                    self.level(depth + 1)?;
                }
                false if self.lengths.len() > depth + 1 => return Err(self.uneven()),
                false => self.item()?,
            }
            count = count.saturating_add(1);
            self.skip_spaces();
            if self.take('}') {
                break;
            }
            if !self.take(',') {
                return Err(self.malformed(match self.rest.is_empty() {
                    true => "Unexpected end of input.",
                    false => "Unexpected array element.",
                }));
            }
            self.skip_spaces();
            if self.rest.starts_with('}') {
                return Err(self.malformed("Unexpected \"}\" character."));
            }
        }
        match self.lengths[depth].replace(count) {
            Some(other) if other != count => Err(self.uneven()),
            _ => Ok(()),
        }
    }

    fn uneven(&self) -> SqlError {
        let detail = "Multidimensional arrays must have sub-arrays with matching dimensions.";
        self.malformed(detail)
    }

    fn item(&mut self) -> SqlResult<()> {
        let mut item = String::new();
        let mut quoted = false;
        // What stands behind it is cut, but not what was quoted or behind a backslash.
        let mut kept = 0;
        loop {
            let Some(it) = self.rest.chars().next() else {
                return Err(self.malformed("Unexpected end of input."));
            };
            match it {
                ',' | '}' => break,
                '{' => return Err(self.malformed("Unexpected \"{\" character.")),
                '"' => {
                    if quoted || !item.is_empty() {
                        return Err(self.malformed("Incorrectly quoted array element."));
                    }
                    self.rest = &self.rest[1..];
                    self.quoted(&mut item)?;
                    (quoted, kept) = (true, item.len());
                }
                '\\' => {
                    self.rest = &self.rest[1..];
                    self.escaped(&mut item)?;
                    kept = item.len();
                }
                _ => {
                    self.rest = &self.rest[it.len_utf8()..];
                    if !is_space(it) {
                        if quoted {
                            return Err(self.malformed("Incorrectly quoted array element."));
                        }
                        item.push(it);
                        kept = item.len();
                    } else if !quoted {
                        item.push(it);
                    }
                }
            }
        }
        if !quoted && kept == 0 {
            let found = if self.rest.starts_with(',') { ',' } else { '}' };
            return Err(self.malformed(&format!("Unexpected \"{found}\" character.")));
        }
        item.truncate(kept);
        let value = match !quoted && item.eq_ignore_ascii_case("null") {
            true => Value::Null,
            false => (self.read)(&item)?,
        };
        push_value(&mut self.items, &value);
        Ok(())
    }

    fn quoted(&mut self, item: &mut String) -> SqlResult<()> {
        loop {
            let Some(it) = self.rest.chars().next() else {
                return Err(self.malformed("Unexpected end of input."));
            };
            self.rest = &self.rest[it.len_utf8()..];
            match it {
                '"' => return Ok(()),
                '\\' => self.escaped(item)?,
                other => item.push(other),
            }
        }
    }

    fn escaped(&mut self, item: &mut String) -> SqlResult<()> {
        let Some(it) = self.rest.chars().next() else {
            return Err(self.malformed("Unexpected end of input."));
        };
        self.rest = &self.rest[it.len_utf8()..];
        item.push(it);
        Ok(())
    }
}

/// The error for more dimensions than there may be.
fn too_many_dimensions(count: usize) -> SqlError {
    let message = format!(
        "number of array dimensions ({count}) exceeds the maximum allowed ({DIMENSIONS_MAX})"
    );
    SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message)
}
