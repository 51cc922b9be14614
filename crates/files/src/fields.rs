//! The fields of records, one after the other.

use std::str;

use crate::dialect::{Dialect, Quoting};
use crate::fault::{Fault, invalid_bytes};
use crate::stops::Stops;

/// A field of a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'a> {
    /// What it means, without quotes and escapes.
    pub(crate) text: &'a str,
    /// How it is written, to look whether it stands for NULL: PostgreSQL does so before escapes are read.
    pub(crate) raw: &'a str,
    /// Whether quotes stand around some of it.
    pub(crate) quoted: bool,
    /// Whether it is the last of its record.
    pub(crate) last: bool,
}

/// How lines end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lines {
    /// What ends a line.
    pub(crate) end: u8,
    /// Whether the first line of the file has a carriage return before its end.
    pub(crate) returns: bool,
    /// Whether all lines have to end as the first does, as PostgreSQL asks.
    pub(crate) strict: bool,
}

/// Reads the fields of a text that begins with a record.
pub(crate) struct Fields<'a> {
    text: &'a str,
    at: usize,
    dialect: Dialect,
    lines: Lines,
    stops: Stops,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(text: &'a str, dialect: Dialect, lines: Lines) -> Self {
        let special = match dialect.quoting {
            // A delimiter, once more.
            Quoting::None => dialect.delimiter,
            Quoting::Quotes { quote, .. } => quote,
            Quoting::Backslash => b'\\',
        };
        // Lines end with one of these.
        let stops = Stops::new([dialect.delimiter, special, b'\r', b'\n']);
        Self { text, at: 0, dialect, lines, stops }
    }

    /// Where the next field begins.
    pub(crate) fn place(&self) -> usize {
        self.at
    }

    /// Whether all was read.
    pub(crate) fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    /// Steps over the record that begins at a place.
    pub(crate) fn skip_record(&mut self, start: usize, scratch: &mut Vec<u8>) {
        self.at = start;
        while !self.is_at_end() {
            match self.next(scratch) {
                Ok(field) if !field.last => {}
                // A record that cannot be read ends with its line.
                Err(_) => return self.skip_line(),
                Ok(_) => return,
            }
        }
    }

    fn skip_line(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at =
            memchr::memchr(self.lines.end, rest).map_or(self.text.len(), |it| self.at + it + 1);
    }

    /// If the next line is empty, steps over it.
    pub(crate) fn skip_blank(&mut self) -> bool {
        let rest = &self.text.as_bytes()[self.at..];
        let length = match rest {
            [first, ..] if *first == self.lines.end => 1,
            [b'\r', second, ..] if *second == self.lines.end => 2,
            [b'\r'] => 1,
            _ => return false,
        };
        self.at += length;
        true
    }

    /// The line from the next field on, without what ends it.
    pub(crate) fn line(&self) -> &'a str {
        let rest = &self.text[self.at..];
        let line = match memchr::memchr(self.lines.end, rest.as_bytes()) {
            Some(end) => &rest[..end],
            None => rest,
        };
        line.strip_suffix('\r').unwrap_or(line)
    }

    /// Steps over the next field if it is written as it is meant and is not the last of its record.
    #[inline]
    pub(crate) fn passes(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        let at = self.stops.first(bytes, self.at);
        let is_plain = bytes.get(at) == Some(&self.dialect.delimiter);
        if is_plain {
            self.at = at + 1;
        }
        is_plain
    }

    /// The next field; `scratch` has its text where that is not written as it is meant.
    pub(crate) fn next<'s>(&mut self, scratch: &'s mut Vec<u8>) -> Result<Field<'s>, Fault>
    where
        'a: 's,
    {
        let (text, start) = (self.text, self.at);
        let bytes = text.as_bytes();
        let mut at = start;
        loop {
            at = self.stops.first(bytes, at);
            if bytes.get(at) == Some(&self.dialect.delimiter) {
                self.at = at + 1;
                let field = &text[start..at];
                return Ok(Field { text: field, raw: field, quoted: false, last: false });
            }
            match self.ended(at)? {
                Some((next, last)) => {
                    self.at = next;
                    let field = &text[start..at];
                    return Ok(Field { text: field, raw: field, quoted: false, last });
                }
                None if self.is_special(bytes[at]) => break,
                // A carriage return or a line feed that ends nothing.
                None => at += 1,
            }
        }
        scratch.clear();
        scratch.extend_from_slice(&bytes[start..at]);
        match self.dialect.quoting {
            Quoting::Backslash => self.escaped(start, at, scratch),
            Quoting::Quotes { quote, escape } => self.quoted(at, (quote, escape), scratch),
            Quoting::None => Err(Fault::malformed("a field that does not end")),
        }
    }

    fn is_special(&self, byte: u8) -> bool {
        match self.dialect.quoting {
            Quoting::None => false,
            Quoting::Quotes { quote, .. } => byte == quote,
            Quoting::Backslash => byte == b'\\',
        }
    }

    /// Where the next field begins and whether it is of another record, when one ends here.
    fn ended(&self, at: usize) -> Result<Option<(usize, bool)>, Fault> {
        let bytes = self.text.as_bytes();
        let Some(&byte) = bytes.get(at) else { return Ok(Some((at, true))) };
        if byte == self.dialect.delimiter {
            return Ok(Some((at + 1, false)));
        }
        if byte == self.lines.end {
            if byte == b'\n' && self.lines.returns && self.lines.strict {
                let error = Fault::malformed("unquoted newline found in data");
                return Err(hinted(error, "Use quoted CSV field to represent newline."));
            }
            return Ok(Some((at + 1, true)));
        }
        if byte != b'\r' {
            return Ok(None);
        }
        let ends = bytes.get(at + 1) == Some(&self.lines.end);
        if self.lines.strict && !(ends && self.lines.returns) {
            let error = Fault::malformed("unquoted carriage return found in data");
            return Err(hinted(error, "Use quoted CSV field to represent carriage return."));
        }
        // At the very end of a file a line may have lost its line feed.
        if ends || at + 1 == bytes.len() {
            return Ok(Some(((at + 2).min(bytes.len()), true)));
        }
        Ok(None)
    }

    /// A field with quotes, of which the first stands at a place.
    fn quoted<'s>(
        &mut self,
        mut at: usize,
        (quote, escape): (u8, u8),
        scratch: &'s mut Vec<u8>,
    ) -> Result<Field<'s>, Fault> {
        let bytes = self.text.as_bytes();
        loop {
            // Between quotes.
            at += 1;
            loop {
                let rest = bytes.get(at..).unwrap_or_default();
                let Some(found) = memchr::memchr2(quote, escape, rest) else {
                    self.at = bytes.len();
                    return Err(Fault::malformed("unterminated CSV quoted field"));
                };
                scratch.extend_from_slice(&rest[..found]);
                at += found;
                let next = bytes.get(at + 1).copied();
                let doubled =
                    bytes[at] == escape && next.is_some_and(|it| it == quote || it == escape);
                if doubled {
                    scratch.extend(next);
                    at += 2;
                } else if bytes[at] == quote {
                    break;
                } else {
                    scratch.push(escape);
                    at += 1;
                }
            }
            at += 1;
            // Behind quotes.
            loop {
                let from = at;
                at = self.stops.first(bytes, at);
                scratch.extend_from_slice(&bytes[from..at]);
                if let Some((next, last)) = self.ended(at)? {
                    self.at = next;
                    let text = utf8(scratch)?;
                    return Ok(Field { text, raw: text, quoted: true, last });
                }
                if self.is_special(bytes[at]) {
                    break;
                }
                scratch.push(bytes[at]);
                at += 1;
            }
        }
    }

    /// A field of the text format with backslashes, of which the first stands at a place.
    fn escaped<'s>(
        &mut self,
        start: usize,
        mut at: usize,
        scratch: &'s mut Vec<u8>,
    ) -> Result<Field<'s>, Fault>
    where
        'a: 's,
    {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(at) {
                Some(b'\\') => at += 1 + unescape(&bytes[at + 1..], scratch),
                _ => match self.ended(at)? {
                    Some((next, last)) => {
                        self.at = next;
                        let raw = &self.text[start..at];
                        return Ok(Field { text: utf8(scratch)?, raw, quoted: false, last });
                    }
                    None => {
                        scratch.push(bytes[at]);
                        at += 1;
                    }
                },
            }
        }
    }
}

fn hinted(mut fault: Fault, hint: &str) -> Fault {
    fault.error = fault.error.with_hint(hint);
    fault
}

fn utf8(bytes: &[u8]) -> Result<&str, Fault> {
    str::from_utf8(bytes).map_err(|error| {
        Fault::of(invalid_bytes(bytes.get(error.valid_up_to()..).unwrap_or_default()))
    })
}

/// What stands behind a backslash; how many bytes that were.
fn unescape(rest: &[u8], out: &mut Vec<u8>) -> usize {
    let Some(&first) = rest.first() else {
        // A backslash at the end of the file is one.
        out.push(b'\\');
        return 0;
    };
    let digits = |radix: u32, from: usize, most: usize| {
        let is_digit = |it: &&u8| char::from(**it).is_digit(radix);
        let digits = rest[from..].iter().take(most).take_while(is_digit);
        digits.fold((0_u32, from), |(value, end), it| {
            (value * radix + char::from(*it).to_digit(radix).unwrap_or(0), end + 1)
        })
    };
    let byte = match first {
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'0'..=b'7' => {
            let (value, end) = digits(8, 0, 3);
            out.push(value as u8);
            return end;
        }
        b'x' => match digits(16, 1, 2) {
            (_, 1) => b'x',
            (value, end) => {
                out.push(value as u8);
                return end;
            }
        },
        other => other,
    };
    out.push(byte);
    1
}
