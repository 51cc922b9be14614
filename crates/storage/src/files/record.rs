//! Self-describing records: named fields that are numbers, texts, bytes or lists of records.
//!
//! A field is its name, its kind and its value, numbers as LEB128 (zigzag), all else with its length in front. A reader
//! takes the fields that it knows by name and then closes the record, which fails when something is left: who adds a
//! field that readers must know needs no new version for old readers to refuse it.

use types::{SqlError, SqlResult, SqlState};

use super::medium::damaged;

/// Records within records; deeper ones are damage.
const NESTING_MAX: usize = 8;

const NUMBER: u8 = 0;
const TEXT: u8 = 1;
const BYTES: u8 = 2;
const RECORDS: u8 = 3;

/// A value of a field.
#[derive(Clone, PartialEq, Debug)]
enum Field {
    Number(i128),
    Text(String),
    Bytes(Vec<u8>),
    Records(Vec<Record>),
}

/// Named fields in the order in which they were set.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Record {
    fields: Vec<(String, Field)>,
}

impl Record {
    fn with(mut self, name: &str, field: Field) -> Self {
        self.fields.push((name.into(), field));
        self
    }

    /// The record with one more field.
    pub(super) fn number(self, name: &str, value: impl Into<i128>) -> Self {
        self.with(name, Field::Number(value.into()))
    }

    /// The record with one more field.
    pub(super) fn count(self, name: &str, value: usize) -> Self {
        self.number(name, value as u64)
    }

    /// The record with one more field.
    pub(super) fn text(self, name: &str, value: impl Into<String>) -> Self {
        self.with(name, Field::Text(value.into()))
    }

    /// The record with one more field.
    pub(super) fn bytes(self, name: &str, value: Vec<u8>) -> Self {
        self.with(name, Field::Bytes(value))
    }

    /// The record with one more field.
    pub(super) fn list(self, name: &str, value: Vec<Self>) -> Self {
        self.with(name, Field::Records(value))
    }

    /// The record with one more field.
    pub(super) fn words(self, name: &str, words: Vec<u32>) -> Self {
        self.bytes(name, words.into_iter().flat_map(u32::to_le_bytes).collect())
    }

    /// The record with one more field.
    pub(super) fn record(self, name: &str, value: Self) -> Self {
        self.list(name, vec![value])
    }

    /// Takes a field out, if it is there.
    fn take(&mut self, name: &str) -> Option<Field> {
        let at = self.fields.iter().position(|it| it.0 == name)?;
        Some(self.fields.remove(at).1)
    }

    fn expect<T>(&mut self, name: &str, of: impl Fn(Field) -> Option<T>) -> SqlResult<T> {
        let field = self.take(name).ok_or_else(|| damaged(format!("\"{name}\" is missing")))?;
        of(field).ok_or_else(|| damaged(format!("\"{name}\" is no such value")))
    }

    /// Whether a field is there.
    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|it| it.0 == name)
    }

    /// Takes out a number that fits its type.
    pub(super) fn take_number<T: TryFrom<i128>>(&mut self, name: &str) -> SqlResult<T> {
        self.expect(name, |it| match it {
            Field::Number(it) => T::try_from(it).ok(),
            _ => None,
        })
    }

    /// Takes out a truth value.
    pub(super) fn take_flag(&mut self, name: &str) -> SqlResult<bool> {
        Ok(self.take_number::<u8>(name)? != 0)
    }

    /// Takes out a truth value that older files do not have: false there.
    pub(super) fn take_flag_if_there(&mut self, name: &str) -> SqlResult<bool> {
        if self.has(name) { self.take_flag(name) } else { Ok(false) }
    }

    /// Takes out a text.
    pub(super) fn take_text(&mut self, name: &str) -> SqlResult<String> {
        self.expect(name, |it| match it {
            Field::Text(it) => Some(it),
            _ => None,
        })
    }

    /// Takes out bytes.
    pub(super) fn take_bytes(&mut self, name: &str) -> SqlResult<Vec<u8>> {
        self.expect(name, |it| match it {
            Field::Bytes(it) => Some(it),
            _ => None,
        })
    }

    /// Takes out numbers of 32 bits.
    pub(super) fn take_words(&mut self, name: &str) -> SqlResult<Vec<u32>> {
        let bytes = self.take_bytes(name)?;
        let (words, rest) = bytes.as_chunks::<4>();
        match rest {
            [] => Ok(words.iter().map(|it| u32::from_le_bytes(*it)).collect()),
            _ => Err(damaged(format!("\"{name}\" is no such value"))),
        }
    }

    /// Takes out a list of records.
    pub(super) fn take_list(&mut self, name: &str) -> SqlResult<Vec<Self>> {
        self.expect(name, |it| match it {
            Field::Records(it) => Some(it),
            _ => None,
        })
    }

    /// Takes out a list and makes something of each of its records, all of whose fields are to be taken.
    pub(super) fn take_each<T>(
        &mut self,
        name: &str,
        of: impl Fn(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<Vec<T>> {
        let read = |mut it: Self| {
            let value = of(&mut it)?;
            it.close()?;
            Ok(value)
        };
        self.take_list(name)?.into_iter().map(read).collect()
    }

    /// Takes out one record and makes something of it.
    pub(super) fn take_record<T>(
        &mut self,
        name: &str,
        of: impl Fn(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        match self.take_each(name, of)?.pop() {
            Some(it) => Ok(it),
            None => Err(damaged(format!("\"{name}\" is empty"))),
        }
    }

    /// Ends the reading of a record: nothing may be left of it.
    pub(super) fn close(self) -> SqlResult<()> {
        let Some((name, _)) = self.fields.first() else { return Ok(()) };
        let message =
            format!("the file says \"{name}\" of something, which this build does not know");
        Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message)
            .with_hint("read it with the build that wrote it, or a later one"))
    }

    /// Its bytes.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut Vec<u8>) {
        put_length(self.fields.len(), out);
        for (name, field) in &self.fields {
            put_bytes(name.as_bytes(), out);
            match field {
                Field::Number(it) => {
                    out.push(NUMBER);
                    put_number((it << 1 ^ it >> 127) as u128, out);
                }
                Field::Text(it) => {
                    out.push(TEXT);
                    put_bytes(it.as_bytes(), out);
                }
                Field::Bytes(it) => {
                    out.push(BYTES);
                    put_bytes(it, out);
                }
                Field::Records(it) => {
                    out.push(RECORDS);
                    put_length(it.len(), out);
                    it.iter().for_each(|it| it.write(out));
                }
            }
        }
    }

    /// The record that made these bytes.
    pub(super) fn of_bytes(mut bytes: &[u8]) -> SqlResult<Self> {
        let record = read(&mut bytes, 0)?;
        match bytes {
            [] => Ok(record),
            _ => Err(damaged("something stands behind its directory")),
        }
    }
}

fn put_number(mut value: u128, out: &mut Vec<u8>) {
    while value > 0x7f {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn put_length(value: usize, out: &mut Vec<u8>) {
    put_number(value as u128, out);
}

fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put_length(bytes.len(), out);
    out.extend_from_slice(bytes);
}

fn too_short() -> SqlError {
    damaged("its directory ends too early")
}

fn get_number(from: &mut &[u8]) -> SqlResult<u128> {
    let mut value = 0u128;
    for shift in (0..128).step_by(7) {
        let (&byte, rest) = from.split_first().ok_or_else(too_short)?;
        *from = rest;
        value |= u128::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(damaged("a number in its directory has too many digits"))
}

/// A number of things that take at least a byte each.
fn get_length(from: &mut &[u8]) -> SqlResult<usize> {
    let length = usize::try_from(get_number(from)?).ok().filter(|it| *it <= from.len());
    length.ok_or_else(too_short)
}

fn get_bytes<'a>(from: &mut &'a [u8]) -> SqlResult<&'a [u8]> {
    let length = get_length(from)?;
    let (bytes, rest) = from.split_at(length);
    *from = rest;
    Ok(bytes)
}

fn get_text(from: &mut &[u8]) -> SqlResult<String> {
    let text = std::str::from_utf8(get_bytes(from)?);
    Ok(text.map_err(|_| damaged("a text in its directory is not UTF-8"))?.to_owned())
}

fn read(from: &mut &[u8], depth: usize) -> SqlResult<Record> {
    if depth > NESTING_MAX {
        return Err(damaged("its directory is nested too deeply"));
    }
    let mut record = Record::default();
    for _ in 0..get_length(from)? {
        let name = get_text(from)?;
        let (&kind, rest) = from.split_first().ok_or_else(too_short)?;
        *from = rest;
        let field = match kind {
            NUMBER => {
                let turned = get_number(from)?;
                Field::Number((turned >> 1) as i128 ^ -((turned & 1) as i128))
            }
            TEXT => Field::Text(get_text(from)?),
            BYTES => Field::Bytes(get_bytes(from)?.to_vec()),
            RECORDS => {
                let length = get_length(from)?;
                Field::Records(
                    (0..length).map(|_| read(from, depth + 1)).collect::<SqlResult<_>>()?,
                )
            }
            _ => return Err(damaged(format!("\"{name}\" in its directory is of no known kind"))),
        };
        record.fields.push((name, field));
    }
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample() -> Record {
        let inner = Record::default().text("name", "\u{e4}").number("n", -1);
        Record::default()
            .number("least", i128::MIN)
            .number("greatest", i128::MAX)
            .bytes("bytes", vec![0, 255])
            .list("list", vec![inner.clone(), Record::default(), inner])
    }

    #[test]
    fn fields_come_back_by_name() {
        let mut record = Record::of_bytes(&sample().to_bytes()).unwrap();
        assert_eq!(record, sample());
        assert_eq!(record.take_number::<i128>("greatest").unwrap(), i128::MAX);
        assert_eq!(record.take_number::<i64>("least").unwrap_err().state, SqlState::DATA_CORRUPTED);
        assert_eq!(record.take_text("bytes").unwrap_err().state, SqlState::DATA_CORRUPTED);
        assert!(record.take_text("other").unwrap_err().message.contains("\"other\" is missing"));
        assert_eq!(record.clone().close().unwrap_err().state, SqlState::FEATURE_NOT_SUPPORTED);
        let lists = record.take_each("list", |it| {
            Ok((it.has("n"), it.has("n").then(|| it.take_number::<i8>("n")).transpose()?, {
                it.has("name").then(|| it.take_text("name")).transpose()?
            }))
        });
        let full = (true, Some(-1), Some("\u{e4}".to_owned()));
        assert_eq!(lists.unwrap(), [full.clone(), (false, None, None), full]);
        record.close().unwrap();
    }

    proptest! {
        #[test]
        fn no_bytes_make_reading_panic(bytes: Vec<u8>, cut in 0usize..80, flip: u8, at in 0usize..80) {
            let _ = Record::of_bytes(&bytes);
            let mut whole = sample().to_bytes();
            let at = at.min(whole.len() - 1);
            whole[at] ^= flip;
            let _ = Record::of_bytes(&whole);
            whole.truncate(cut);
            let _ = Record::of_bytes(&whole);
        }
    }
}
