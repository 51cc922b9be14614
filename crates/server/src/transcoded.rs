//! Messages whose texts are in the character set of a client that wants another than UTF-8.
//!
//! Key decision: all messages are made in UTF-8 first, and are written anew here for the few clients that ask for something else, so that
//! nobody else pays, and no place that writes a text can forget to ask in which set.

use bytes::{BufMut, BytesMut};
use nodewise::{CopyFormat, DataType, SqlError, SqlResult};
use types::Charset;
use types::structs::is_nested;

use crate::compound_values::is_row;
use crate::replies::Format;

/// Bytes of a message before what it says: its kind and its length.
const HEAD: usize = 5;
/// Bytes of a column behind its name, where rows are described.
const COLUMN_BYTES: usize = 18;

/// Writes the messages from a place on anew; rows are what workers have written anew. What a set has not becomes a question mark: these
/// are names, and what is said of a statement.
pub fn messages(out: &mut BytesMut, from: usize, charset: Charset) {
    if charset.is_held() || out[from..].is_ascii() {
        return;
    }
    let whole = out.split_off(from);
    let mut rest = &whole[..];
    while let Some((message, behind)) = first_message(rest) {
        if matches!(message[0], b'T' | b'E' | b'N' | b'S' | b'A') {
            let start = out.len();
            out.extend_from_slice(&message[..HEAD]);
            told(message[0], &message[HEAD..], charset, out);
            close(start, out);
        } else {
            out.extend_from_slice(message);
        }
        rest = behind;
    }
    out.extend_from_slice(rest);
}

fn first_message(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = i32::from_be_bytes(*rest.get(1..HEAD)?.first_chunk()?);
    rest.split_at_checked(usize::try_from(length).ok()?.checked_add(1).filter(|it| *it >= HEAD)?)
}

/// Says in the head of a message how long it is.
fn close(start: usize, out: &mut BytesMut) {
    let length = (out.len() - start - 1) as i32;
    out[start + 1..start + HEAD].copy_from_slice(&length.to_be_bytes());
}

/// The body of a message with texts that zeros end.
fn told(kind: u8, body: &[u8], charset: Charset, out: &mut BytesMut) {
    let mut rest = body;
    let raw = |rest: &mut &[u8], bytes: usize, out: &mut BytesMut| {
        let (taken, behind) = rest.split_at(bytes.min(rest.len()));
        out.extend_from_slice(taken);
        *rest = behind;
    };
    let text = |rest: &mut &[u8], out: &mut BytesMut| {
        let end = rest.iter().position(|it| *it == 0).unwrap_or(rest.len());
        let text = String::from_utf8_lossy(&rest[..end]);
        out.extend_from_slice(&charset.encode_nearly(&text));
        *rest = &rest[end..];
        raw(rest, 1, out);
    };
    match kind {
        b'T' => {
            raw(&mut rest, 2, out);
            while !rest.is_empty() {
                text(&mut rest, out);
                raw(&mut rest, COLUMN_BYTES, out);
            }
        }
        b'E' | b'N' => {
            while rest.len() > 1 {
                raw(&mut rest, 1, out);
                text(&mut rest, out);
            }
            raw(&mut rest, 1, out);
        }
        _ => {
            // A notification begins with the number of who said it.
            raw(&mut rest, if kind == b'A' { 4 } else { 0 }, out);
            while !rest.is_empty() {
                text(&mut rest, out);
            }
        }
    }
}

/// Where texts are in a value as it is sent.
enum Texts {
    /// Nowhere.
    None,
    /// It is one.
    Whole,
    /// It is one behind a byte.
    Versioned,
    /// In each item of an array.
    Items(Box<Texts>),
    /// In fields of a row.
    Fields(Vec<Texts>),
}

impl Texts {
    fn of(data_type: DataType, format: Format) -> Self {
        if format == Format::Text {
            return Self::Whole;
        }
        match data_type {
            DataType::Struct(row) if row.is_record() => {
                let of_field = |it: DataType| Self::of(it, Format::Binary);
                Self::Fields(row.fields().iter().map(|it| of_field(it.data_type)).collect())
            }
            DataType::Jsonb => Self::Versioned,
            of => match of.element() {
                Some(element) if !is_nested(of) || is_row(element) => {
                    Self::Items(Box::new(Self::of(element, Format::Binary)))
                }
                _ if of.is_text()
                    || is_nested(of)
                    || matches!(of, DataType::Json | DataType::Enum(_)) =>
                {
                    Self::Whole
                }
                _ => Self::None,
            },
        }
    }

    /// Appends a value that has such texts. Errors: 22P05.
    fn put(&self, value: &[u8], charset: Charset, out: &mut BytesMut) -> SqlResult<()> {
        match self {
            Self::None => out.extend_from_slice(value),
            Self::Whole => out.extend_from_slice(&charset.encode(text(value)?)?),
            Self::Versioned => {
                let (version, behind) = value.split_at(value.len().min(1));
                out.extend_from_slice(version);
                out.extend_from_slice(&charset.encode(text(behind)?)?);
            }
            Self::Items(each) => {
                let dimensions = number(value)?;
                let head = 12 + 8 * usize::try_from(dimensions).unwrap_or(0);
                let (head, mut rest) = value.split_at_checked(head).ok_or_else(broken)?;
                out.extend_from_slice(head);
                while !rest.is_empty() {
                    rest = each.put_measured(rest, charset, out)?;
                }
            }
            Self::Fields(fields) => {
                let (head, mut rest) = value.split_at_checked(4).ok_or_else(broken)?;
                out.extend_from_slice(head);
                for field in fields {
                    let (oid, behind) = rest.split_at_checked(4).ok_or_else(broken)?;
                    out.extend_from_slice(oid);
                    rest = field.put_measured(behind, charset, out)?;
                }
            }
        }
        Ok(())
    }

    /// Appends a value that stands behind its length; gives what follows it.
    fn put_measured<'a>(
        &self,
        rest: &'a [u8],
        charset: Charset,
        out: &mut BytesMut,
    ) -> SqlResult<&'a [u8]> {
        let length = number(rest)?;
        let rest = &rest[4..];
        let Ok(length) = usize::try_from(length) else {
            out.put_i32(length);
            return Ok(rest);
        };
        let (value, behind) = rest.split_at_checked(length).ok_or_else(broken)?;
        let start = out.len();
        out.put_i32(0);
        self.put(value, charset, out)?;
        let written = (out.len() - start - 4) as i32;
        out[start..start + 4].copy_from_slice(&written.to_be_bytes());
        Ok(behind)
    }
}

fn number(bytes: &[u8]) -> SqlResult<i32> {
    bytes.first_chunk().map(|it| i32::from_be_bytes(*it)).ok_or_else(broken)
}

fn text(bytes: &[u8]) -> SqlResult<&str> {
    std::str::from_utf8(bytes).map_err(|_| broken())
}

fn broken() -> SqlError {
    SqlError::internal("a message that was made is none")
}

/// Rows of a query that were written in UTF-8, and where each ends, in another character set. Errors: 22P05.
pub fn rows(
    written: (&[u8], &[usize]),
    (formats, types): (&[Format], &[DataType]),
    charset: Charset,
) -> SqlResult<(BytesMut, Vec<usize>)> {
    let format = |it: usize| formats.get(it).copied().unwrap_or(Format::Text);
    let columns: Vec<Texts> =
        types.iter().enumerate().map(|(place, it)| Texts::of(*it, format(place))).collect();
    each(written, |message, out| {
        // Behind the head stands the number of columns.
        let (head, mut rest) = message.split_at_checked(HEAD + 2).ok_or_else(broken)?;
        out.extend_from_slice(head);
        for column in &columns {
            rest = column.put_measured(rest, charset, out)?;
        }
        Ok(())
    })
}

/// The same of rows of COPY.
pub fn copied(
    written: (&[u8], &[usize]),
    (format, types): (&CopyFormat, &[DataType]),
    charset: Charset,
) -> SqlResult<(BytesMut, Vec<usize>)> {
    if matches!(format, CopyFormat::Binary) {
        return rows(written, (&vec![Format::Binary; types.len()], types), charset);
    }
    each(written, |message, out| {
        let (head, line) = message.split_at_checked(HEAD).ok_or_else(broken)?;
        out.extend_from_slice(head);
        out.extend_from_slice(&charset.encode(text(line)?)?);
        Ok(())
    })
}

fn each(
    (written, ends): (&[u8], &[usize]),
    write: impl Fn(&[u8], &mut BytesMut) -> SqlResult<()>,
) -> SqlResult<(BytesMut, Vec<usize>)> {
    let mut out = BytesMut::with_capacity(written.len());
    let (mut anew, mut start) = (Vec::with_capacity(ends.len()), 0);
    for &end in ends {
        let from = out.len();
        write(&written[start..end], &mut out)?;
        close(from, &mut out);
        anew.push(out.len());
        start = end;
    }
    Ok((out, anew))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replies;

    #[test]
    fn what_is_told_is_in_the_set() {
        let latin = Charset::named("latin1").unwrap();
        let mut out = BytesMut::from(&b"before"[..]);
        replies::setting("application_name", "\u{e4}\u{20ac}".to_owned(), &mut out);
        let error = SqlError::internal("\u{fc}");
        replies::error(&error, None, &mut out);
        replies::complete("SELECT 1", &mut out);
        messages(&mut out, 6, latin);
        assert_eq!(&out[..6], b"before");
        let (first, rest) = first_message(&out[6..]).unwrap();
        assert_eq!(first, b"S\0\0\0\x18application_name\0\xe4?\0");
        let (second, rest) = first_message(rest).unwrap();
        assert!(second.windows(3).any(|it| it == b"M\xfc\0") && second.ends_with(b"\0\0"));
        assert_eq!(first_message(rest).unwrap().0, b"C\0\0\0\x0dSELECT 1\0");
    }

    #[test]
    fn values_are_written_anew_where_they_are_texts() {
        let latin = Charset::named("latin1").unwrap();
        let message = |values: &[&[u8]]| {
            let mut out = BytesMut::from(&b"D\0\0\0\0"[..]);
            out.put_i16(values.len() as i16);
            for it in values {
                out.put_i32(it.len() as i32);
                out.extend_from_slice(it);
            }
            close(0, &mut out);
            out
        };
        let array =
            b"\0\0\0\x01\0\0\0\0\0\0\0\x19\0\0\0\x02\0\0\0\x01\0\0\0\x02\xc3\xa4\xff\xff\xff\xff";
        let in_latin =
            b"\0\0\0\x01\0\0\0\0\0\0\0\x19\0\0\0\x02\0\0\0\x01\0\0\0\x01\xe4\xff\xff\xff\xff";
        let before = message(&[b"\xc3\xa4", b"\xc3\xa4", b"\x01\"\xc3\xa4\"", array]);
        let types =
            [DataType::Text, DataType::Bytea, DataType::Jsonb, DataType::Text.array().unwrap()];
        let (out, ends) =
            rows((&before, &[before.len()]), (&[Format::Binary; 4], &types), latin).unwrap();
        assert_eq!(out, message(&[b"\xe4", b"\xc3\xa4", b"\x01\"\xe4\"", in_latin]));
        assert_eq!(ends, [out.len()]);
        let euro = message(&["\u{20ac}".as_bytes()]);
        let failed = rows((&euro, &[euro.len()]), (&[], &types[..1]), latin);
        assert_eq!(failed.unwrap_err().state.0, "22P05");
    }
}
