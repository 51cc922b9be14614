//! Structs, lists and maps read as DuckDB reads them, rows also as PostgreSQL does.
//!
//! A text is first cut into its parts, without asking what they are; then each is read as its type: one that was in quotes as
//! the text within, any other without the blanks around it.

use super::{StructType, held};
use crate::array::{close_list, push_value};
use crate::{DataType, SqlError, SqlResult, SqlState, Value};

/// Makes a value of a type of a text that is not NULL.
type Read<'r> = dyn FnMut(&str, DataType) -> SqlResult<Value> + 'r;

/// A part of a text, and whether it was in quotes.
struct Part {
    text: String,
    quoted: bool,
}

impl Part {
    /// Whether it stands for NULL.
    fn is_null(&self) -> bool {
        !self.quoted && self.text.eq_ignore_ascii_case("null")
    }
}

/// A text as a struct or row: `read` makes a value of a text that is not NULL.
///
/// # Errors
/// 22P02 for what is none, and those of `read`.
pub fn parse(text: &str, of: StructType, read: &mut Read<'_>) -> SqlResult<String> {
    if of.is_record() {
        return parse_row(text, of, read);
    }
    let wrong = || malformed(text, DataType::Struct(of));
    let mut reader = Reader { rest: text };
    let mut values: Vec<Option<Value>> = vec![None; of.fields().len()];
    reader.skip_spaces();
    let by_place = reader.take('(');
    if !by_place && !reader.take('{') {
        return Err(wrong());
    }
    let (end, mut number) = (if by_place { ')' } else { '}' }, 0);
    let mut more = !reader.closes(end);
    while more {
        let (place, part) = match by_place {
            true => (Some(number), reader.part(&[',', ')']).ok_or_else(wrong)?),
            false => {
                let name = reader.part(&[':']).ok_or_else(wrong)?;
                reader.take(':');
                (of.find(&name.text), reader.part(&[',', '}']).ok_or_else(wrong)?)
            }
        };
        number += 1;
        let place = place.filter(|it| values.get(*it).is_some_and(Option::is_none));
        let place = place.ok_or_else(wrong)?;
        values[place] = Some(value(&part, of.fields()[place].data_type, read)?);
        more = !reader.closes(end);
        if more && !reader.take(',') {
            return Err(wrong());
        }
    }
    if !reader.is_at_end() {
        return Err(wrong());
    }
    Ok(held(values.into_iter().map(|it| it.unwrap_or(Value::Null))))
}

/// A text as a row, as PostgreSQL writes it: a field for each column between commas, of which nothing at all is NULL.
fn parse_row(text: &str, of: StructType, read: &mut Read<'_>) -> SqlResult<String> {
    let wrong = |detail: &str| malformed(text, DataType::Struct(of)).with_detail(detail);
    let mut reader = Reader { rest: text };
    let mut values = Vec::with_capacity(of.fields().len());
    reader.skip_spaces();
    if !reader.take('(') {
        return Err(wrong("Missing left parenthesis."));
    }
    for (number, column) in of.fields().iter().enumerate() {
        if number > 0 && !reader.take(',') {
            return Err(wrong("Too few columns."));
        }
        values.push(match reader.rest.starts_with([',', ')']) {
            true => Value::Null,
            false => {
                let field = reader.field().ok_or_else(|| wrong("Unexpected end of input."))?;
                read(&field, column.data_type)?
            }
        });
    }
    if !reader.take(')') {
        return Err(wrong("Too many columns."));
    }
    if !reader.is_at_end() {
        return Err(wrong("Junk after right parenthesis."));
    }
    Ok(held(values))
}

/// A text in brackets as an array of one dimension.
///
/// # Errors
/// As of [`parse`].
pub fn parse_list(text: &str, element: DataType, read: &mut Read<'_>) -> SqlResult<String> {
    let wrong = || malformed(text, element.array().unwrap_or(element));
    let mut reader = Reader { rest: text };
    let (mut out, mut count) = (String::new(), 0);
    reader.skip_spaces();
    if !reader.take('[') {
        return Err(wrong());
    }
    let mut more = !reader.closes(']');
    while more {
        let part = reader.part(&[',', ']']).ok_or_else(wrong)?;
        push_value(&mut out, &value(&part, element, read)?);
        count += 1;
        more = !reader.closes(']');
        if more && !reader.take(',') {
            return Err(wrong());
        }
    }
    if !reader.is_at_end() {
        return Err(wrong());
    }
    close_list(&mut out, 0, count)?;
    Ok(out)
}

/// A text as the entries of a map: `{k=v}`.
///
/// # Errors
/// As of [`parse`]; 22004 for a key that is NULL and 22000 for one that is there twice.
pub fn parse_map(text: &str, of: StructType, read: &mut Read<'_>) -> SqlResult<String> {
    let wrong = || malformed(text, DataType::Map(of));
    let mut reader = Reader { rest: text };
    let mut entries = Vec::new();
    reader.skip_spaces();
    if !reader.take('{') {
        return Err(wrong());
    }
    let mut more = !reader.closes('}');
    while more {
        let mut pair = Vec::with_capacity(2);
        for (ends, field) in [&['='][..], &[',', '}']].into_iter().zip(of.fields()) {
            let part = reader.part(ends).ok_or_else(wrong)?;
            reader.take('=');
            pair.push(value(&part, field.data_type, read)?);
        }
        entries.push(pair);
        more = !reader.closes('}');
        if more && !reader.take(',') {
            return Err(wrong());
        }
    }
    if !reader.is_at_end() {
        return Err(wrong());
    }
    let entries: Vec<String> = entries.into_iter().map(held).collect();
    super::map_of(&entries)
}

fn value(part: &Part, of: DataType, read: &mut Read<'_>) -> SqlResult<Value> {
    if part.is_null() { Ok(Value::Null) } else { read(&part.text, of) }
}

fn malformed(text: &str, of: DataType) -> SqlError {
    let message = match of {
        DataType::Struct(it) if !it.name().is_empty() => {
            format!("malformed record literal: \"{text}\"")
        }
        _ => format!("malformed literal of {of}: \"{text}\""),
    };
    SqlError::new(SqlState::INVALID_TEXT, message)
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_ascii_start();
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

    /// Takes what closes the value, if it is next.
    fn closes(&mut self, end: char) -> bool {
        self.skip_spaces();
        self.take(end)
    }

    fn is_at_end(&mut self) -> bool {
        self.skip_spaces();
        self.rest.is_empty()
    }

    /// A field of a row, up to the comma or bracket behind it: with its blanks, without its quotes, which may stand anywhere and
    /// of which two within quotes are one, and with what stands behind a backslash as it is.
    fn field(&mut self) -> Option<String> {
        let (mut text, mut is_quoted) = (String::new(), false);
        let mut all = self.rest.char_indices().peekable();
        while let Some((at, it)) = all.next() {
            match it {
                ',' | ')' if !is_quoted => {
                    self.rest = &self.rest[at..];
                    return Some(text);
                }
                '\\' => text.push(all.next()?.1),
                '"' if is_quoted && all.next_if(|next| next.1 == '"').is_some() => text.push('"'),
                '"' => is_quoted = !is_quoted,
                _ => text.push(it),
            }
        }
        None
    }

    /// The part up to one of the characters that end it, outside of quotes and brackets.
    fn part(&mut self, ends: &[char]) -> Option<Part> {
        self.skip_spaces();
        let quote = self.rest.chars().next().filter(|it| matches!(it, '"' | '\''));
        if let Some(quote) = quote {
            let before = self.rest;
            self.take(quote);
            if let Some(text) = self.quoted(quote) {
                self.skip_spaces();
                if self.rest.starts_with(ends) {
                    return Some(Part { text, quoted: true });
                }
            }
            // What goes on behind the quotes is no text in quotes.
            self.rest = before;
        }
        let (mut depth, mut within, mut escaped) = (0usize, None, false);
        for (at, it) in self.rest.char_indices() {
            match it {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                _ if within.is_some() => within = within.filter(|quote| *quote != it),
                _ if depth == 0 && ends.contains(&it) => {
                    let (text, rest) = self.rest.split_at(at);
                    self.rest = rest;
                    return Some(Part { text: text.trim_ascii_end().to_owned(), quoted: false });
                }
                '"' | '\'' if depth > 0 => within = Some(it),
                '{' | '[' | '(' => depth += 1,
                '}' | ']' | ')' => depth = depth.checked_sub(1)?,
                _ => {}
            }
        }
        None
    }

    /// The text up to the quote that ends it.
    fn quoted(&mut self, quote: char) -> Option<String> {
        let mut text = String::new();
        let mut all = self.rest.char_indices();
        while let Some((at, it)) = all.next() {
            match it {
                '\\' => text.push(all.next()?.1),
                _ if it == quote => {
                    self.rest = &self.rest[at + it.len_utf8()..];
                    return Some(text);
                }
                _ => text.push(it),
            }
        }
        None
    }
}
