//! The words and signs of a path.

use types::{SqlError, SqlResult, SqlState};

/// A word, a sign or a constant.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token {
    /// A name or a word, as it is written.
    Word(String),
    /// What stands in double quotes.
    Quoted(String),
    Variable(String),
    /// A number, and whether it is a whole one.
    Number(String, bool),
    Sign(&'static str),
    End,
}

/// Signs, the longer ones first.
const SIGNS: [&str; 30] = [
    "&&", "||", "**", "==", "<>", "!=", "<=", ">=", "!", "<", ">", "?", "%", "$", ".", "[", "]",
    "{", "}", "(", ")", "|", "&", "=", "@", "#", ",", "*", ":", "-",
];

/// The characters that end a word.
fn ends_word(it: char) -> bool {
    "?%$.[]{}()|&!=<>@#,*:-+/\\\" \t\n\r\u{c}".contains(it)
}

/// A token with the place where it begins and that behind it.
pub(super) struct Placed {
    pub token: Token,
    pub start: usize,
    pub end: usize,
}

/// 42601 at a place of a path.
pub(super) fn wrong(what: &str, near: &str) -> SqlError {
    let message = match near {
        "" => format!("{what} at end of jsonpath input"),
        _ => format!("{what} at or near \"{near}\" of jsonpath input"),
    };
    SqlError::new(SqlState::SYNTAX, message)
}

/// All tokens of a path, an end behind them.
pub(super) fn tokens(text: &str) -> SqlResult<Vec<Placed>> {
    let mut lexer = Lexer { text, at: 0 };
    let mut all = Vec::new();
    loop {
        lexer.skip_blanks()?;
        let start = lexer.at;
        let token = lexer.token()?;
        let is_end = token == Token::End;
        all.push(Placed { token, start, end: lexer.at });
        if is_end {
            return Ok(all);
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_blanks(&mut self) -> SqlResult<()> {
        loop {
            let rest = self.rest();
            let blank =
                rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{c}']).len();
            self.at += blank;
            let Some(comment) = self.rest().strip_prefix("/*") else { return Ok(()) };
            let Some(length) = comment.find("*/") else {
                self.at = self.text.len();
                return Err(wrong("unexpected end of comment", ""));
            };
            self.at += length + 4;
        }
    }

    fn token(&mut self) -> SqlResult<Token> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(Token::End) };
        let mut behind = rest[first.len_utf8()..].chars();
        let second = behind.next();
        match (first, second) {
            ('$', Some('"')) => {
                self.at += 1;
                self.quoted().map(Token::Variable)
            }
            ('$', Some(it)) if it == '\\' || !ends_word(it) => {
                self.at += 1;
                self.word().map(Token::Variable)
            }
            ('"', _) => self.quoted().map(Token::Quoted),
            ('0'..='9', _) => self.number(),
            ('.', Some('0'..='9')) => self.number(),
            ('+', _) => {
                self.at += 1;
                Ok(Token::Sign("+"))
            }
            ('/', _) => {
                self.at += 1;
                Ok(Token::Sign("/"))
            }
            _ => match SIGNS.iter().find(|it| rest.starts_with(**it)) {
                Some(sign) => {
                    self.at += sign.len();
                    Ok(Token::Sign(sign))
                }
                None => self.word().map(Token::Word),
            },
        }
    }

    /// A word, with escapes.
    fn word(&mut self) -> SqlResult<String> {
        let mut word = String::new();
        while let Some(next) = self.peek() {
            match next {
                '\\' => self.escape(&mut word)?,
                it if ends_word(it) => break,
                it => {
                    word.push(it);
                    self.at += it.len_utf8();
                }
            }
        }
        Ok(word)
    }

    fn quoted(&mut self) -> SqlResult<String> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            match self.peek() {
                None => return Err(wrong("unterminated quoted string", &self.text[start..])),
                Some('"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some('\\') => self.escape(&mut text)?,
                Some(it) => {
                    text.push(it);
                    self.at += it.len_utf8();
                }
            }
        }
    }

    /// What a backslash and the characters behind it stand for.
    fn escape(&mut self, out: &mut String) -> SqlResult<()> {
        let start = self.at;
        self.at += 1;
        let Some(letter) = self.peek() else {
            return Err(wrong("unexpected end after backslash", ""));
        };
        self.at += letter.len_utf8();
        out.push(match letter {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            'x' => {
                let code = self.hex(2);
                self.character(code, start, "invalid hexadecimal character sequence")?
            }
            'u' => {
                let code = self.code_point();
                match code {
                    Some(0xD800..=0xDBFF) => self.surrogate(code.unwrap_or(0), start)?,
                    Some(0xDC00..=0xDFFF) => return Err(surrogates()),
                    _ => self.character(code, start, "invalid Unicode escape sequence")?,
                }
            }
            other => other,
        });
        Ok(())
    }

    /// The character of a pair of halves, of which the second follows.
    fn surrogate(&mut self, high: u32, start: usize) -> SqlResult<char> {
        if !self.rest().starts_with("\\u") {
            return Err(surrogates());
        }
        self.at += 2;
        match self.code_point() {
            Some(low @ 0xDC00..=0xDFFF) => {
                let code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                self.character(Some(code), start, "invalid Unicode escape sequence")
            }
            _ => Err(surrogates()),
        }
    }

    fn code_point(&mut self) -> Option<u32> {
        let Some(digits) = self.rest().strip_prefix('{') else { return self.hex(4) };
        let (digits, _) = digits.split_once('}')?;
        if digits.is_empty() || digits.len() > 6 {
            return None;
        }
        self.at += digits.len() + 2;
        u32::from_str_radix(digits, 16).ok()
    }

    fn hex(&mut self, count: usize) -> Option<u32> {
        let digits = self.rest().get(..count)?;
        if !digits.bytes().all(|it| it.is_ascii_hexdigit()) {
            return None;
        }
        self.at += count;
        u32::from_str_radix(digits, 16).ok()
    }

    fn character(&self, code: Option<u32>, start: usize, what: &str) -> SqlResult<char> {
        match code {
            Some(0) => {
                let message = "unsupported Unicode escape sequence";
                Err(SqlError::new(SqlState("22P05"), message))
            }
            Some(code) => char::from_u32(code).ok_or_else(|| wrong(what, self.seen(start))),
            None => Err(wrong(what, self.seen(start))),
        }
    }

    fn seen(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or("")
    }

    /// A number, behind which no word begins.
    fn number(&mut self) -> SqlResult<Token> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let digits = |mut at: usize| {
            while bytes.get(at).is_some_and(u8::is_ascii_digit)
                || bytes.get(at) == Some(&b'_') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
            {
                at += 1;
            }
            at
        };
        let radix = match bytes.get(start + 1).map(u8::to_ascii_lowercase) {
            Some(b'x') if bytes[start] == b'0' => Some(16),
            Some(b'o') if bytes[start] == b'0' => Some(8),
            Some(b'b') if bytes[start] == b'0' => Some(2),
            _ => None,
        };
        let mut is_whole = true;
        let mut end = start;
        if let Some(radix) = radix {
            end += 2;
            while bytes.get(end).is_some_and(|it| char::from(*it).is_digit(radix) || *it == b'_') {
                end += 1;
            }
        } else {
            end = match bytes[start] {
                // A zero has no digits behind it.
                b'0' => start + 1,
                _ => digits(end),
            };
            if bytes.get(end) == Some(&b'.') {
                is_whole = false;
                end = digits(end + 1);
            }
            if bytes.get(end).is_some_and(|it| matches!(it, b'e' | b'E')) {
                let signed = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
                if bytes.get(signed).is_some_and(u8::is_ascii_digit) {
                    is_whole = false;
                    end = digits(signed);
                }
            }
        }
        self.at = end;
        if let Some(junk) = self.peek().filter(|it| *it == '\\' || !ends_word(*it)) {
            self.at += junk.len_utf8();
            return Err(wrong("trailing junk after numeric literal", self.seen(start)));
        }
        Ok(Token::Number(self.text[start..end].to_owned(), is_whole))
    }
}

fn surrogates() -> SqlError {
    let message = "invalid input syntax for type jsonpath";
    SqlError::new(SqlState::INVALID_TEXT, message)
        .with_detail("Unicode high surrogate must be followed by a low one.")
}
