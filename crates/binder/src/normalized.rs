//! Texts of statements without their constants, so that what differs in nothing else is counted as one.

use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use crate::dialect::Postgres;

/// Bytes of a text that are read: what goes on beyond them is told apart by its beginning alone, so that loads by long INSERTs
/// cost neither time nor memory.
pub const READ_MAX: usize = 2048;

/// A text with parameters in the place of its constants, numbered after those that it has, one blank for any, and no comments. Of a
/// text that is longer than [`READ_MAX`], or that cannot be read to its end, the beginning, and dots behind it.
pub fn normalized(sql: &str) -> String {
    let head = &sql[..sql.floor_char_boundary(READ_MAX)];
    let mut tokens: Vec<TokenWithSpan> = Vec::new();
    let read = Tokenizer::new(&Postgres::of(0), head).tokenize_with_location_into_buf(&mut tokens);
    let is_cut = head.len() < sql.len() || read.is_err();
    if head.len() < sql.len() {
        // It may be the half of one.
        tokens.pop();
    }
    let tokens: Vec<Token> = tokens.into_iter().map(|it| it.token).collect();
    let number = |it: &Token| match it {
        Token::Placeholder(name) => name.strip_prefix('$')?.parse::<usize>().ok(),
        _ => None,
    };
    let mut next = tokens.iter().filter_map(number).max().unwrap_or(0) + 1;
    let mut out = String::with_capacity(head.len());
    for token in tokens {
        match token {
            Token::Whitespace(_) => {
                if !out.is_empty() && !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            it if is_constant(&it) => {
                out.push_str(&format!("${next}"));
                next += 1;
            }
            it => out.push_str(&it.to_string()),
        }
    }
    out.truncate(out.trim_end_matches([' ', ';']).len());
    if is_cut {
        out.push_str(" ..");
    }
    out
}

fn is_constant(token: &Token) -> bool {
    matches!(
        token,
        Token::Number(..)
            | Token::SingleQuotedString(_)
            | Token::DollarQuotedString(_)
            | Token::NationalStringLiteral(_)
            | Token::EscapedStringLiteral(_)
            | Token::UnicodeStringLiteral(_)
            | Token::HexStringLiteral(_)
            | Token::SingleQuotedByteStringLiteral(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_differ_in_constants_only_are_one() {
        for (text, expected) in [
            ("SELECT * FROM t WHERE a = 5 AND b = 'x'", "SELECT * FROM t WHERE a = $1 AND b = $2"),
            ("SELECT  1 -- one\n + /* two */ 2;", "SELECT $1 + $2"),
            ("SELECT $2, 7, $1", "SELECT $2, $3, $1"),
            ("INSERT INTO t VALUES (1, E'a\\'b', $$c$$)", "INSERT INTO t VALUES ($1, $2, $3)"),
            ("SELECT \"Column\" FROM \"T\"", "SELECT \"Column\" FROM \"T\""),
            ("SELECT 1 + 'open", "SELECT $1 + .."),
            ("", ""),
        ] {
            assert_eq!(normalized(text), expected, "{text}");
        }
    }

    #[test]
    fn long_texts_are_told_by_their_beginning() {
        let rows =
            |count: usize| format!("INSERT INTO t VALUES {}", "(1, '\u{e4}'), ".repeat(count));
        let (some, more) = (normalized(&rows(1000)), normalized(&rows(100_000)));
        assert!(some.ends_with(" ..") && some.len() < 3 * READ_MAX, "{some}");
        assert_eq!(some, more);
    }
}
