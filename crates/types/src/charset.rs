//! The character sets in which clients may write and read texts. Inside, all texts are UTF-8.

use std::borrow::Cow;
use std::fmt;

use encoding_rs::Encoding;

use crate::{SqlError, SqlResult, SqlState};

/// A character set by PostgreSQL's name.
#[derive(Clone, Copy)]
pub struct Charset(&'static Known);

impl PartialEq for Charset {
    fn eq(&self, other: &Self) -> bool {
        self.0.number == other.0.number
    }
}

impl Eq for Charset {}

impl fmt::Debug for Charset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

struct Known {
    name: &'static str,
    /// Other names, as letters and digits.
    others: &'static [&'static str],
    /// What `pg_char_to_encoding` gives.
    number: i32,
    form: Form,
}

enum Form {
    /// Texts as they are held.
    Held,
    /// A byte for each character, which is its number in Unicode, but for some.
    Latin(&'static [(u8, char)]),
    /// What the Encoding Standard says.
    Standard(&'static Encoding),
}

const fn standard(
    name: &'static str,
    others: &'static [&'static str],
    number: i32,
    encoding: &'static Encoding,
) -> Known {
    Known { name, others, number, form: Form::Standard(encoding) }
}

/// What differs in Turkish from Latin-1.
const TURKISH: [(u8, char); 6] = [
    (0xd0, '\u{11e}'),
    (0xdd, '\u{130}'),
    (0xde, '\u{15e}'),
    (0xf0, '\u{11f}'),
    (0xfd, '\u{131}'),
    (0xfe, '\u{15f}'),
];

static KNOWN: [Known; 36] = [
    Known { name: "UTF8", others: &["unicode"], number: 6, form: Form::Held },
    Known { name: "SQL_ASCII", others: &[], number: 0, form: Form::Held },
    Known { name: "LATIN1", others: &["iso88591"], number: 8, form: Form::Latin(&[]) },
    Known { name: "LATIN5", others: &["iso88599"], number: 12, form: Form::Latin(&TURKISH) },
    standard("LATIN2", &["iso88592"], 9, encoding_rs::ISO_8859_2),
    standard("LATIN3", &["iso88593"], 10, encoding_rs::ISO_8859_3),
    standard("LATIN4", &["iso88594"], 11, encoding_rs::ISO_8859_4),
    standard("LATIN6", &["iso885910"], 13, encoding_rs::ISO_8859_10),
    standard("LATIN7", &["iso885913"], 14, encoding_rs::ISO_8859_13),
    standard("LATIN8", &["iso885914"], 15, encoding_rs::ISO_8859_14),
    standard("LATIN9", &["iso885915"], 16, encoding_rs::ISO_8859_15),
    standard("LATIN10", &["iso885916"], 17, encoding_rs::ISO_8859_16),
    standard("ISO_8859_5", &[], 25, encoding_rs::ISO_8859_5),
    standard("ISO_8859_6", &[], 26, encoding_rs::ISO_8859_6),
    standard("ISO_8859_7", &[], 27, encoding_rs::ISO_8859_7),
    standard("ISO_8859_8", &[], 28, encoding_rs::ISO_8859_8),
    standard("WIN1250", &["windows1250"], 29, encoding_rs::WINDOWS_1250),
    standard("WIN1251", &["windows1251", "win"], 23, encoding_rs::WINDOWS_1251),
    standard("WIN1252", &["windows1252"], 24, encoding_rs::WINDOWS_1252),
    standard("WIN1253", &["windows1253"], 30, encoding_rs::WINDOWS_1253),
    standard("WIN1254", &["windows1254"], 31, encoding_rs::WINDOWS_1254),
    standard("WIN1255", &["windows1255"], 32, encoding_rs::WINDOWS_1255),
    standard("WIN1256", &["windows1256"], 18, encoding_rs::WINDOWS_1256),
    standard("WIN1257", &["windows1257"], 33, encoding_rs::WINDOWS_1257),
    standard(
        "WIN1258",
        &["windows1258", "abc", "tcvn", "tcvn5712", "vscii"],
        19,
        encoding_rs::WINDOWS_1258,
    ),
    standard("WIN866", &["windows866", "alt"], 20, encoding_rs::IBM866),
    standard("WIN874", &["windows874"], 21, encoding_rs::WINDOWS_874),
    standard("KOI8R", &["koi8"], 22, encoding_rs::KOI8_R),
    standard("KOI8U", &[], 34, encoding_rs::KOI8_U),
    standard("EUC_JP", &[], 1, encoding_rs::EUC_JP),
    standard("EUC_KR", &[], 3, encoding_rs::EUC_KR),
    standard("SJIS", &["mskanji", "shiftjis", "win932", "windows932"], 35, encoding_rs::SHIFT_JIS),
    standard("BIG5", &["win950", "windows950"], 36, encoding_rs::BIG5),
    standard("GBK", &["win936", "windows936"], 37, encoding_rs::GBK),
    standard("UHC", &["win949", "windows949"], 38, encoding_rs::EUC_KR),
    standard("GB18030", &[], 39, encoding_rs::GB18030),
];

impl Charset {
    /// That in which texts are held.
    pub const UTF8: Self = Self(&KNOWN[0]);

    /// By a name in any case, of which letters and digits count alone.
    pub fn named(name: &str) -> Option<Self> {
        let letters = |it: &'static str| letters_of(it).eq(letters_of(name));
        let is = |it: &&Known| letters(it.name) || it.others.iter().any(|it| letters(it));
        KNOWN.iter().find(is).map(Self)
    }

    /// By the number that PostgreSQL gives it.
    pub fn numbered(number: i64) -> Option<Self> {
        KNOWN.iter().find(|it| i64::from(it.number) == number).map(Self)
    }

    /// PostgreSQL's name of it.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// What PostgreSQL numbers it.
    pub fn number(self) -> i32 {
        self.0.number
    }

    /// Whether texts are written as they are held, so that there is nothing to do.
    pub fn is_held(self) -> bool {
        matches!(self.0.form, Form::Held)
    }

    /// The text that bytes stand for. Errors: 22021.
    pub fn decode(self, bytes: &[u8]) -> SqlResult<Cow<'_, str>> {
        let text = match self.0.form {
            Form::Held => return held(bytes).map(Cow::Borrowed),
            _ if bytes.is_ascii() => return held(bytes).map(Cow::Borrowed),
            Form::Latin(others) => Cow::Owned(bytes.iter().map(|it| latin(*it, others)).collect()),
            Form::Standard(it) => it
                .decode_without_bom_handling_and_without_replacement(bytes)
                .ok_or_else(|| self.invalid(bytes))?,
        };
        match text.contains('\0') {
            true => Err(self.invalid(b"\0")),
            false => Ok(text),
        }
    }

    fn invalid(self, bytes: &[u8]) -> SqlError {
        let shown: Vec<String> = bytes
            .iter()
            .skip_while(|it| it.is_ascii() && **it != 0)
            .take(4)
            .map(|it| format!("0x{it:02x}"))
            .collect();
        let (name, shown) = (self.0.name, shown.join(" "));
        SqlError::new(
            SqlState("22021"),
            format!("invalid byte sequence for encoding \"{name}\": {shown}"),
        )
    }

    /// The bytes of a text. Errors: 22P05 for a letter that it has not.
    pub fn encode(self, text: &str) -> SqlResult<Cow<'_, [u8]>> {
        if self.is_held() || text.is_ascii() {
            return Ok(Cow::Borrowed(text.as_bytes()));
        }
        self.encoded(text).ok_or_else(|| {
            let mut room = [0; 4];
            let lost = text.chars().find(|it| self.encoded(it.encode_utf8(&mut room)).is_none());
            let bytes: Vec<String> = lost.map_or_else(Vec::new, |it| {
                it.encode_utf8(&mut [0; 4]).bytes().map(|it| format!("0x{it:02x}")).collect()
            });
            let message = format!(
                "character with byte sequence {} in encoding \"UTF8\" has no equivalent in encoding \"{}\"",
                bytes.join(" "),
                self.0.name
            );
            SqlError::new(SqlState("22P05"), message)
        })
    }

    /// The bytes of a text, with question marks for letters that it has not.
    pub fn encode_nearly(self, text: &str) -> Cow<'_, [u8]> {
        self.encode(text).unwrap_or_else(|_| {
            let mut room = [0; 4];
            let each = |it: char| {
                let text = it.encode_utf8(&mut room);
                self.encoded(text).map_or_else(|| b"?".to_vec(), Cow::into_owned)
            };
            Cow::Owned(text.chars().flat_map(each).collect())
        })
    }

    fn encoded(self, text: &str) -> Option<Cow<'_, [u8]>> {
        match self.0.form {
            Form::Held => Some(Cow::Borrowed(text.as_bytes())),
            Form::Latin(others) => {
                let byte = |it: char| match others.iter().find(|(_, other)| *other == it) {
                    Some((byte, _)) => Some(*byte),
                    None => u8::try_from(u32::from(it))
                        .ok()
                        .filter(|it| others.iter().all(|o| o.0 != *it)),
                };
                text.chars().map(byte).collect::<Option<Vec<u8>>>().map(Cow::Owned)
            }
            Form::Standard(it) => {
                let (bytes, _, is_lossy) = it.encode(text);
                (!is_lossy).then_some(bytes)
            }
        }
    }

    /// A reader of bytes that come in pieces, wherever these are cut.
    pub fn reader(self) -> CharsetReader {
        let decoder = match self.0.form {
            Form::Standard(it) => Some(it.new_decoder_without_bom_handling()),
            _ => None,
        };
        CharsetReader { charset: self, decoder }
    }
}

/// Letters and digits in lower case.
fn letters_of(name: &str) -> impl Iterator<Item = u8> {
    name.bytes().filter(u8::is_ascii_alphanumeric).map(|it| it.to_ascii_lowercase())
}

fn latin(byte: u8, others: &[(u8, char)]) -> char {
    others.iter().find(|it| it.0 == byte).map_or(char::from(byte), |it| it.1)
}

/// Bytes as the text that they are. Errors: 22021.
fn held(bytes: &[u8]) -> SqlResult<&str> {
    let wrong = |at: usize| {
        let shown: Vec<String> =
            bytes[at..].iter().take(4).map(|it| format!("0x{it:02x}")).collect();
        let message = format!("invalid byte sequence for encoding \"UTF8\": {}", shown.join(" "));
        SqlError::new(SqlState("22021"), message)
    };
    let text = std::str::from_utf8(bytes).map_err(|error| wrong(error.valid_up_to()))?;
    match text.bytes().position(|it| it == 0) {
        Some(place) => Err(wrong(place)),
        None => Ok(text),
    }
}

/// Reads texts of a character set whose bytes come in pieces.
pub struct CharsetReader {
    charset: Charset,
    decoder: Option<encoding_rs::Decoder>,
}

impl CharsetReader {
    /// The text of the next piece; of a letter that is cut, what is missing comes with the next. Errors: 22021.
    pub fn read(&mut self, bytes: &[u8], is_last: bool) -> SqlResult<String> {
        let Some(decoder) = &mut self.decoder else {
            return self.charset.decode(bytes).map(Cow::into_owned);
        };
        let most = decoder.max_utf8_buffer_length_without_replacement(bytes.len());
        let mut text = String::with_capacity(most.unwrap_or(0));
        let (result, read) =
            decoder.decode_to_string_without_replacement(bytes, &mut text, is_last);
        match result {
            encoding_rs::DecoderResult::InputEmpty if !text.contains('\0') => Ok(text),
            _ => Err(self.charset.invalid(&bytes[read.saturating_sub(2)..])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_and_go_in_each() {
        for known in &KNOWN {
            let set = Charset(known);
            assert_eq!(set.decode(b"plain ~\\").unwrap(), "plain ~\\", "{set:?}");
            let own = match known.name {
                "UTF8" | "SQL_ASCII" | "GB18030" => "\u{e4}\u{20ac}\u{3042}\u{1f600}",
                "LATIN1" | "LATIN5" => "\u{e4}\u{fc}",
                "ISO_8859_5" | "WIN1251" | "WIN866" | "KOI8R" | "KOI8U" => "\u{431}\u{42f}",
                "ISO_8859_6" | "WIN1256" => "\u{628}",
                "ISO_8859_7" | "WIN1253" => "\u{3b1}",
                "ISO_8859_8" | "WIN1255" => "\u{5d0}",
                "WIN874" => "\u{e01}",
                "EUC_JP" | "SJIS" => "\u{3042}\u{6f22}",
                "GBK" | "BIG5" => "\u{4e00}",
                "EUC_KR" | "UHC" => "\u{ac00}",
                _ => "\u{df}",
            };
            let bytes = set.encode(own).unwrap().into_owned();
            assert_eq!(set.decode(&bytes).unwrap(), own, "{set:?}");
            // In pieces of a byte.
            let mut reader = set.reader();
            if !set.is_held() {
                let mut text: String =
                    bytes.iter().map(|it| reader.read(&[*it], false).unwrap()).collect();
                text += &reader.read(&[], true).unwrap();
                assert_eq!(text, own, "{set:?}");
            }
        }
    }

    #[test]
    fn what_a_set_has_not_is_an_error() {
        let latin = Charset::named("iso-8859-1").unwrap();
        assert_eq!(latin.encode("a\u{20ac}").unwrap_err().state.0, "22P05");
        assert_eq!(latin.encode_nearly("a\u{20ac}\u{e4}")[..], *b"a?\xe4");
        assert_eq!(latin.encode("a\u{e4}").unwrap()[..], *b"a\xe4");
        assert_eq!(Charset::UTF8.decode(b"\xff").unwrap_err().state.0, "22021");
        assert_eq!(Charset::UTF8.decode(b"a\0").unwrap_err().state.0, "22021");
        let sjis = Charset::named("Shift_JIS").unwrap();
        assert_eq!((sjis.name(), sjis.number()), ("SJIS", 35));
        assert_eq!(sjis.decode(b"\x81").unwrap_err().state.0, "22021");
        assert_eq!(sjis.reader().read(b"\x81", true).unwrap_err().state.0, "22021");
        let turkish = Charset::named("latin5").unwrap();
        assert_eq!(turkish.decode(b"\xdd\xd0").unwrap(), "\u{130}\u{11e}");
        assert!(turkish.encode("\u{dd}").is_err());
        assert!(Charset::named("johab").is_none() && Charset::named("EBCDIC").is_none());
        assert_eq!(Charset::numbered(6), Some(Charset::UTF8));
    }
}
