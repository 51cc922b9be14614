//! The tokens of JSON, as PostgreSQL tells them apart.

use crate::{SqlError, SqlResult, SqlState};

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Token {
    /// `{`
    OpenObject,
    /// `}`
    CloseObject,
    /// `[`
    OpenArray,
    /// `]`
    CloseArray,
    /// `,`
    Comma,
    /// `:`
    Colon,
    /// A string in quotes.
    String,
    /// A number.
    Number,
    /// `true`
    True,
    /// `false`
    False,
    /// `null`
    Null,
    /// Nothing more.
    End,
}

/// Reads a text token by token.
#[derive(Clone, Debug)]
pub struct Lexer<'a> {
    text: &'a str,
    /// Where the last token begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// 22P02 with the reason that PostgreSQL gives.
pub(super) fn invalid(detail: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INVALID_TEXT, "invalid input syntax for type json").with_hint(detail)
}

/// Bytes up to the first that ends a string or is not itself in one: a quote, a backslash, a control character. Eight bytes
/// are looked at at once.
fn plain_length(bytes: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = ONES << 7;
    // The high bits of bytes that are less than a number up to 128; above the first of these there may be others.
    let below = |word: u64, number: u64| word.wrapping_sub(ONES * number) & !word & HIGHS;
    let equal = |word: u64, byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    let (words, _) = bytes.as_chunks::<8>();
    for (place, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let stops = equal(word, b'"') | equal(word, b'\\') | below(word, 0x20);
        if stops != 0 {
            return place * 8 + stops.trailing_zeros() as usize / 8;
        }
    }
    let rest = &bytes[words.len() * 8..];
    let is_plain = |it: &&u8| !matches!(**it, b'"' | b'\\' | ..0x20);
    words.len() * 8 + rest.iter().take_while(is_plain).count()
}

impl<'a> Lexer<'a> {
    /// Before the first token.
    pub fn new(text: &'a str) -> Self {
        Self { text, start: 0, end: 0 }
    }

    /// The text of the last token.
    pub fn token(&self) -> &'a str {
        self.text.get(self.start..self.end).unwrap_or("")
    }

    /// The text from a place up to the end of the last token.
    pub fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.end).unwrap_or("")
    }

    /// Goes behind a character that is punctuation of JSON, if it stands right behind the last token. Whoever expects one saves
    /// the look for blanks and for what else there may be.
    #[inline]
    pub(super) fn takes(&mut self, punctuation: u8) -> bool {
        let is_there = self.text.as_bytes().get(self.end) == Some(&punctuation);
        if is_there {
            self.start = self.end;
            self.end += 1;
        }
        is_there
    }

    /// The next token.
    ///
    /// # Errors
    /// 22P02 for what is none.
    pub fn advance(&mut self) -> SqlResult<Token> {
        let bytes = self.text.as_bytes();
        self.start = self.end;
        while matches!(bytes.get(self.start), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.start += 1;
        }
        self.end = self.start;
        let Some(&first) = bytes.get(self.start) else { return Ok(Token::End) };
        self.end += 1;
        Ok(match first {
            b'{' => Token::OpenObject,
            b'}' => Token::CloseObject,
            b'[' => Token::OpenArray,
            b']' => Token::CloseArray,
            b',' => Token::Comma,
            b':' => Token::Colon,
            b'"' => self.string()?,
            b'-' | b'0'..=b'9' => self.number()?,
            _ => self.word()?,
        })
    }

    fn wrong_token(&self) -> SqlError {
        invalid(format!("Token \"{}\" is invalid.", self.token()))
    }

    /// A string, whose escapes are looked at and not yet taken for characters.
    fn string(&mut self) -> SqlResult<Token> {
        let bytes = self.text.as_bytes();
        loop {
            self.end += plain_length(&bytes[self.end..]);
            let Some(&it) = bytes.get(self.end) else { return Err(self.wrong_token()) };
            match it {
                b'"' => {
                    self.end += 1;
                    return Ok(Token::String);
                }
                ..0x20 => {
                    return Err(invalid(format!(
                        "Character with value 0x{it:02x} must be escaped."
                    )));
                }
                b'\\' => self.escape()?,
                _ => self.end += 1,
            }
        }
    }

    fn escape(&mut self) -> SqlResult<()> {
        let rest = self.text.get(self.end + 1..).unwrap_or("");
        match rest.chars().next() {
            Some('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't') => self.end += 2,
            Some('u') => {
                let digits = rest.as_bytes().get(1..5).unwrap_or(&[]);
                if digits.len() < 4 || !digits.iter().all(u8::is_ascii_hexdigit) {
                    let detail = "\"\\u\" must be followed by four hexadecimal digits.";
                    return Err(invalid(detail));
                }
                self.end += 6;
            }
            Some(other) => {
                return Err(invalid(format!("Escape sequence \"\\{other}\" is invalid.")));
            }
            None => {
                self.end = self.text.len();
                return Err(self.wrong_token());
            }
        }
        Ok(())
    }

    fn digits(&mut self) -> usize {
        let rest = self.text.as_bytes().get(self.end..).unwrap_or(&[]);
        let count = rest.iter().take_while(|it| it.is_ascii_digit()).count();
        self.end += count;
        count
    }

    fn number(&mut self) -> SqlResult<Token> {
        let bytes = self.text.as_bytes();
        self.end = self.start + usize::from(bytes.get(self.start) == Some(&b'-'));
        let first = bytes.get(self.end).copied();
        let whole = self.digits();
        let mut right = whole == 1 || whole > 1 && first != Some(b'0');
        if right && bytes.get(self.end) == Some(&b'.') {
            self.end += 1;
            right = self.digits() > 0;
        }
        if right && matches!(bytes.get(self.end), Some(b'e' | b'E')) {
            self.end += 1;
            self.end += usize::from(matches!(bytes.get(self.end), Some(b'+' | b'-')));
            right = self.digits() > 0;
        }
        let trailing = self.skip_alphanumeric();
        if right && !trailing { Ok(Token::Number) } else { Err(self.wrong_token()) }
    }

    /// Goes behind letters and the like; whether there were any.
    fn skip_alphanumeric(&mut self) -> bool {
        let rest = self.text.as_bytes().get(self.end..).unwrap_or(&[]);
        let is_part = |it: &&u8| it.is_ascii_alphanumeric() || **it == b'_' || !it.is_ascii();
        let count = rest.iter().take_while(is_part).count();
        self.end += count;
        count > 0
    }

    fn word(&mut self) -> SqlResult<Token> {
        self.end = self.start;
        if !self.skip_alphanumeric() {
            self.end += 1;
        }
        match self.token() {
            "true" => Ok(Token::True),
            "false" => Ok(Token::False),
            "null" => Ok(Token::Null),
            _ => Err(self.wrong_token()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_plain_bytes_is_found_wherever_it_is() {
        for length in 0..20 {
            for stop in 0..length {
                for byte in 0..=u8::MAX {
                    let mut bytes = vec![b'x'; length];
                    bytes[stop] = byte;
                    // Bytes next to what ends, and ones that a borrow from there would change.
                    if let Some(it) = bytes.get_mut(stop + 1) {
                        *it = [0x20, b'#', 0x80, 0xff][length % 4];
                    }
                    let ends = byte == b'"' || byte == b'\\' || byte < 0x20;
                    let expected = if ends { stop } else { length };
                    assert_eq!(plain_length(&bytes), expected, "{length} {stop} {byte}");
                }
            }
        }
    }
}
