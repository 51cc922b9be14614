//! Texts of statements without their constants, so that what differs in nothing else is counted as one.

use sqlparser::tokenizer::{Token, Tokenizer};

use crate::dialect::Postgres;

/// A text with parameters in the place of its constants, numbered after those that it has, one blank for any, and no comments. A
/// text that cannot be read stays as it is.
pub fn normalized(sql: &str) -> String {
    let Ok(tokens) = Tokenizer::new(&Postgres, sql).tokenize() else { return sql.to_owned() };
    let number = |it: &Token| match it {
        Token::Placeholder(name) => name.strip_prefix('$')?.parse::<usize>().ok(),
        _ => None,
    };
    let mut next = tokens.iter().filter_map(number).max().unwrap_or(0) + 1;
    let mut out = String::with_capacity(sql.len());
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
            ("SELECT 'open", "SELECT 'open"),
            ("", ""),
        ] {
            assert_eq!(normalized(text), expected, "{text}");
        }
    }
}
