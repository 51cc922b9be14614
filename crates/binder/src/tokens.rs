//! The tokens of a text, without blanks.
//!
//! Key decision: what nearly all statements are made of (names without quotes, plain numbers and constants, the common
//! operators) is told apart here, in one pass over bytes. A text with anything else in it is left to the parser's
//! tokenizer as a whole, so that whatever is hard to read is read in one place only, and costs that such texts are begun twice.
//! In place of a binary search keywords have a table: a third of the instructions that the parser's tokenizer takes.
//!
//! - Invariant: the tokens and their places are those of the parser's tokenizer, less the blanks.

use sqlparser::keywords::{ALL_KEYWORDS, ALL_KEYWORDS_INDEX, Keyword};
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Word};

/// Slots of the table of keywords, a power of two: three times as many as there are keywords at least.
const SLOTS: usize = 4096;
/// No keyword.
const EMPTY: u16 = u16::MAX;
/// The numbers of all keywords, each in the first free slot from that of its hash on.
static KEYWORDS: [u16; SLOTS] = keywords();

/// A hash that is the same in both cases of letters.
const fn slot_of(word: &[u8]) -> usize {
    let mut hash: u32 = 0;
    let mut at = 0;
    while at < word.len() {
        hash = (hash ^ (word[at] | 0x20) as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    (hash >> 12) as usize % SLOTS
}

const fn keywords() -> [u16; SLOTS] {
    let mut slots = [EMPTY; SLOTS];
    let mut number = 0;
    while number < ALL_KEYWORDS.len() {
        let mut slot = slot_of(ALL_KEYWORDS[number].as_bytes());
        while slots[slot] != EMPTY {
            slot = (slot + 1) % SLOTS;
        }
        slots[slot] = number as u16;
        number += 1;
    }
    slots
}

/// The keyword that a word is. The parser's own way, a binary search among texts, reads ten of them.
fn keyword(word: &str) -> Keyword {
    let mut slot = slot_of(word.as_bytes());
    loop {
        match KEYWORDS[slot] {
            EMPTY => return Keyword::NoKeyword,
            number if ALL_KEYWORDS[number as usize].eq_ignore_ascii_case(word) => {
                return ALL_KEYWORDS_INDEX[number as usize];
            }
            _ => slot = (slot + 1) % SLOTS,
        }
    }
}

/// The tokens of a text of plain ones; `None` when it has others, or when blanks in it mean something: in COPY they may be
/// data, and constants in quotes that follow each other depend on what parts them.
pub(crate) fn plain(sql: &str) -> Option<Vec<TokenWithSpan>> {
    // About one token for four bytes; growing would move them.
    let mut tokens: Vec<TokenWithSpan> = Vec::with_capacity(sql.len() / 4 + 8);
    let mut rest = Rest { text: sql, line: 1, column: 1 };
    while rest.skip_blanks() {
        let start = rest.location();
        let token = rest.token()?;
        let before = tokens.last().map(|it| &it.token);
        if means_blanks(before, &token) {
            return None;
        }
        tokens.push(TokenWithSpan { token, span: start.span_to(rest.location()) });
    }
    Some(tokens)
}

/// Whether a token says that blanks in the text may mean something.
fn means_blanks(before: Option<&Token>, token: &Token) -> bool {
    match token {
        Token::SingleQuotedString(_) => matches!(before, Some(Token::SingleQuotedString(_))),
        Token::Word(word) => {
            word.keyword == Keyword::COPY && matches!(before, None | Some(Token::SemiColon))
        }
        _ => false,
    }
}

/// What is left of a text, and where that begins.
struct Rest<'a> {
    text: &'a str,
    line: u64,
    column: u64,
}

impl Rest<'_> {
    fn location(&self) -> Location {
        Location { line: self.line, column: self.column }
    }

    /// The next byte but so many; zero at the end, which is no token either.
    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    /// How many bytes, from one on, are of a kind.
    fn run(&self, from: usize, is_one: impl Fn(u8) -> bool) -> usize {
        self.text.as_bytes()[from..].iter().take_while(|it| is_one(**it)).count()
    }

    /// Takes so many bytes of ASCII without line breaks.
    fn take(&mut self, bytes: usize) -> &str {
        let (taken, left) = self.text.split_at(bytes);
        self.text = left;
        self.column += bytes as u64;
        taken
    }

    /// Skips blanks; false at the end of the text.
    fn skip_blanks(&mut self) -> bool {
        loop {
            match self.byte(0) {
                b' ' | b'\t' => self.column += 1,
                b'\n' => (self.line, self.column) = (self.line + 1, 1),
                _ => return !self.text.is_empty(),
            }
            self.text = &self.text[1..];
        }
    }

    /// The token that begins here, if it is a plain one.
    fn token(&mut self) -> Option<Token> {
        match self.byte(0) {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(),
            b'0'..=b'9' => self.number(),
            b'\'' => self.constant(),
            _ => self.sign(),
        }
    }

    fn word(&mut self) -> Option<Token> {
        let bytes = self.run(0, |it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'$'));
        // A quote makes a constant of another kind of it, and a name may go on with letters of other languages.
        let ends = !matches!(self.byte(bytes), b'\'' | b'"' | b'&' | 128..);
        ends.then(|| {
            let value = self.take(bytes).to_owned();
            Token::Word(Word { keyword: keyword(&value), value, quote_style: None })
        })
    }

    fn number(&mut self) -> Option<Token> {
        let mut bytes = self.run(0, |it| it.is_ascii_digit());
        if self.byte(bytes) == b'.' {
            bytes += 1 + self.run(bytes + 1, |it| it.is_ascii_digit());
        }
        let next = self.byte(bytes);
        let ends = !(next.is_ascii_alphanumeric() || matches!(next, b'_' | b'.' | b'$' | 128..));
        ends.then(|| Token::Number(self.take(bytes).to_owned(), false))
    }

    /// A constant in quotes, on one line and without quotes in it.
    fn constant(&mut self) -> Option<Token> {
        let bytes = self.run(1, |it| !matches!(it, b'\'' | b'\n' | b'\\' | 128..));
        let ends = self.byte(bytes + 1) == b'\'' && self.byte(bytes + 2) != b'\'';
        ends.then(|| Token::SingleQuotedString(self.take(bytes + 2)[1..=bytes].to_owned()))
    }

    /// An operator, or a sign of punctuation. Signs that stand together may be one operator.
    fn sign(&mut self) -> Option<Token> {
        let (token, bytes) = match (self.byte(0), self.byte(1)) {
            (b'(', _) => (Token::LParen, 1),
            (b')', _) => (Token::RParen, 1),
            (b',', _) => (Token::Comma, 1),
            (b';', _) => (Token::SemiColon, 1),
            (b'.', b'a'..=b'z' | b'A'..=b'Z') => (Token::Period, 1),
            (b'<', b'=') => (Token::LtEq, 2),
            (b'>', b'=') => (Token::GtEq, 2),
            (b'<', b'>') | (b'!', b'=') => (Token::Neq, 2),
            (b'|', b'|') => (Token::StringConcat, 2),
            (b':', b':') => (Token::DoubleColon, 2),
            (b'+', _) => (Token::Plus, 1),
            (b'-', _) => (Token::Minus, 1),
            (b'*', _) => (Token::Mul, 1),
            (b'/', _) => (Token::Div, 1),
            (b'=', _) => (Token::Eq, 1),
            (b'<', _) => (Token::Lt, 1),
            (b'>', _) => (Token::Gt, 1),
            _ => return None,
        };
        let is_alone =
            matches!(token, Token::LParen | Token::RParen | Token::Comma | Token::SemiColon);
        let ends = is_alone || !is_operator(self.byte(bytes));
        ends.then(|| {
            self.take(bytes);
            token
        })
    }
}

/// Whether a byte may be a part of an operator.
fn is_operator(byte: u8) -> bool {
    b"+-*/<>=~!@#%^&|`?:".contains(&byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sqlparser::tokenizer::Tokenizer;

    use super::*;
    use crate::dialect::Postgres;

    /// What the parser's tokenizer makes of a text.
    fn expected(sql: &str) -> Vec<TokenWithSpan> {
        let mut tokens = Tokenizer::new(&Postgres::of(0), sql).tokenize_with_location().unwrap();
        tokens.retain(|it| !matches!(it.token, Token::Whitespace(_)));
        tokens
    }

    #[test]
    fn plain_texts_are_read_as_the_parser_reads_them() {
        for sql in [
            "",
            " \n\t",
            "SELECT a, b.c AS \n\tx FROM t WHERE a<=1.5 AND b <> 'x y' OR c != .5;",
            "SELECT 1+2 *(3-4)/ 5 || '\u{e9}', a::int, count(*) FROM t;\nSELECT 1.",
            "values (a=1, a<1, a>1, a>=1, a$1, _b, e, n, x, u, b)",
        ] {
            match plain(sql) {
                Some(tokens) => assert_eq!(tokens, expected(sql), "{sql}"),
                None => assert!(sql.contains(".5;") || sql.contains('\u{e9}'), "{sql}"),
            }
        }
    }

    #[test]
    fn keywords_are_those_of_the_parser() {
        assert!(ALL_KEYWORDS.len() * 3 < SLOTS);
        for word in ALL_KEYWORDS {
            for word in
                [word.to_string(), word.to_lowercase(), format!("{word}_"), format!("l_{word}")]
            {
                let Token::Word(expected) = Token::make_word(&word, None) else { unreachable!() };
                assert_eq!(keyword(&word), expected.keyword, "{word}");
            }
        }
    }

    #[test]
    fn what_is_not_plain_is_left() {
        for sql in [
            "SELECT 'it''s'",
            "SELECT e'a'",
            "SELECT N'a', X'1f'",
            "SELECT U&'a'",
            "SELECT \"a\"",
            "SELECT 'a'\n'b'",
            "SELECT 'a",
            "SELECT 'a\nb'",
            "SELECT 1 -- 2",
            "SELECT /* 1 */ 2",
            "SELECT 1e5, 1_000, 0x1f",
            "SELECT 1.2.3",
            "SELECT $1",
            "SELECT a->b",
            "SELECT 1 << 2",
            "SELECT @ -1",
            "SELECT =-1",
            "SELECT \u{e4}",
            "SELECT a\u{e4}",
            "SELECT 1;\nCOPY t FROM 'x'",
            "SELECT a[1]",
            "SELECT 1\r\n",
        ] {
            assert_eq!(plain(sql), None, "{sql}");
        }
    }

    proptest! {
        #[test]
        fn what_is_plain_is_what_the_parser_reads(
            pieces in proptest::collection::vec("[a-zA-Z_$]{1,3}|[0-9.]{1,3}|'[a ]{0,2}'|[-+*/<>=!|:(),.;?@'\" \n\t]{1,2}", 0..12)
        ) {
            let sql = pieces.concat();
            if let Some(tokens) = plain(&sql) {
                prop_assert_eq!(tokens, expected(&sql));
            }
        }
    }
}
