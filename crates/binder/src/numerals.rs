//! Numerals as PostgreSQL reads them: decimal with an exponent, hexadecimal, octal and binary, underscores between digits,
//! and nothing that goes on right behind them.
//!
//! The parser's tokenizer ends a numeral where it does not know how it goes on, and what follows would become a name of
//! the select list. So the text of each numeral is read once more here.

use sqlparser::tokenizer::{Location, Token, TokenWithSpan};
use types::{SqlError, SqlResult, SqlState};

/// The tokens of a text, with each numeral as the decimal digits that it means.
///
/// Fails with 42601 where something follows that is no part of a numeral, and with 22003 for an integer of other digits
/// than decimal ones that 128 bits do not hold.
pub(crate) fn read(sql: &str, tokens: Vec<TokenWithSpan>) -> SqlResult<Vec<TokenWithSpan>> {
    let mut rest = Rest { text: sql, at: Location { line: 1, column: 1 } };
    let mut read = Vec::with_capacity(tokens.len());
    for token in tokens {
        if token.span.start < rest.at {
            // It was a part of the numeral before.
            continue;
        }
        if !matches!(token.token, Token::Number(..) | Token::HexStringLiteral(_)) {
            read.push(token);
            continue;
        }
        rest.go_to(token.span.start);
        match numeral(rest.text).map_err(|error| place(error, rest.at))? {
            Some((value, bytes)) => {
                let start = rest.at;
                rest.take(bytes);
                let token = Token::Number(value, false);
                read.push(TokenWithSpan { token, span: start.span_to(rest.at) });
            }
            None => read.push(token),
        }
    }
    Ok(read)
}

fn place(error: SqlError, at: Location) -> SqlError {
    SqlError { position: Some((at.line as u32, at.column as u32)), ..error }
}

/// What is left of a text, and where that begins.
struct Rest<'a> {
    text: &'a str,
    at: Location,
}

impl Rest<'_> {
    fn go_to(&mut self, to: Location) {
        while self.at < to {
            let Some(next) = self.text.chars().next() else { return };
            self.at = match next {
                '\n' => Location { line: self.at.line + 1, column: 1 },
                _ => Location { column: self.at.column + 1, ..self.at },
            };
            self.text = &self.text[next.len_utf8()..];
        }
    }

    /// Takes so many bytes of ASCII without line breaks.
    fn take(&mut self, bytes: usize) {
        self.text = &self.text[bytes..];
        self.at.column += bytes as u64;
    }
}

/// The numeral that a text begins with: its decimal digits, and how many bytes it takes. `None` where none begins.
fn numeral(text: &str) -> SqlResult<Option<(String, usize)>> {
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    let radix = match (byte(0), byte(1) | 0x20) {
        (b'0', b'x') => Some(16),
        (b'0', b'o') => Some(8),
        (b'0', b'b') => Some(2),
        _ => None,
    };
    let mut end;
    let value;
    if let Some(radix) = radix {
        end = digits(bytes, 2, radix, true);
        value = match end {
            2 => String::new(),
            _ => integer(&text[2..end], radix)?,
        };
    } else {
        end = digits(bytes, 0, 10, false);
        let range = byte(end) == b'.' && byte(end + 1) == b'.';
        if byte(end) == b'.' && !range {
            end = digits(bytes, end + 1, 10, false);
        }
        if matches!(bytes[..end], [] | [b'.']) {
            return Ok(None);
        }
        if byte(end) | 0x20 == b'e' {
            let sign = usize::from(matches!(byte(end + 1), b'+' | b'-'));
            let exponent = digits(bytes, end + 1 + sign, 10, false);
            if exponent > end + 1 + sign {
                end = exponent;
            }
        }
        value = text[..end].replace('_', "");
    }
    let goes_on = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '$' || !it.is_ascii();
    let junk: String = text[end..].chars().take_while(|it| goes_on(*it)).collect();
    if !junk.is_empty() && !junk.starts_with('$') || radix.is_some() && value.is_empty() {
        let shown = format!("{}{junk}", &text[..end]);
        let message = format!("trailing junk after numeric literal at or near \"{shown}\"");
        return Err(SqlError::new(SqlState::SYNTAX, message));
    }
    Ok(Some((value, end)))
}

/// Where a run of digits ends, each of which may follow an underscore, the first one only where `leading` says so.
fn digits(bytes: &[u8], from: usize, radix: u32, leading: bool) -> usize {
    let is_digit = |at: usize| bytes.get(at).is_some_and(|it| (*it as char).is_digit(radix));
    let mut end = from;
    loop {
        let underscore = usize::from(bytes.get(end) == Some(&b'_') && (end > from || leading));
        if !is_digit(end + underscore) {
            return end;
        }
        end += underscore + 1;
    }
}

fn integer(digits: &str, radix: u32) -> SqlResult<String> {
    let value = u128::from_str_radix(&digits.replace('_', ""), radix);
    value.map(|it| it.to_string()).map_err(|_| {
        let message = "an integer of more than 128 bits is out of range";
        SqlError::new(SqlState::NUMERIC_OUT_OF_RANGE, message)
    })
}

#[cfg(test)]
mod tests {
    use types::SqlState;

    use super::numeral;

    #[test]
    fn numerals_are_those_of_postgresql() {
        for (text, value, bytes) in [
            ("1_2.1_2E1_0)", "12.12E10", 11),
            ("1.e5", "1.e5", 4),
            (".5_1,", ".51", 4),
            ("1..2", "1", 1),
            ("0x_1f", "31", 5),
            ("0B1_0 ", "2", 5),
            ("0o17", "15", 4),
            ("0x8000000000000000", "9223372036854775808", 18),
            ("1e5.5", "1e5", 3),
            ("1-1", "1", 1),
        ] {
            let read = numeral(text).expect("a numeral");
            assert_eq!(read, Some((value.to_owned(), bytes)), "{text}");
        }
        assert_eq!(numeral("'1f'").expect("no error"), None);
        assert_eq!(numeral(".a").expect("no error"), None);
    }

    #[test]
    fn nothing_goes_on_behind_a_numeral() {
        for text in [
            "1a", "1_a", "1_", "1__0", "1.5x", "1e", "1e+", "1e5_", "1._5", "0x", "0xG", "0b12",
            "0o8", "1\u{e4}", "5as",
        ] {
            let error = numeral(text).expect_err(text);
            assert_eq!(error.state, SqlState::SYNTAX, "{text}");
            assert!(error.message.contains("trailing junk"), "{text}: {}", error.message);
        }
        let error = numeral("0x123456789012345678901234567890123").expect_err("too long");
        assert_eq!(error.state, SqlState::NUMERIC_OUT_OF_RANGE);
    }
}
