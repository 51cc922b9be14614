//! Functions in FROM that read files, as DuckDB has them: `FROM read_csv('x.csv', delim = ';')`. Such a call is made one name in
//! single quotes, as that of a file is, before the parser sees it: a table by what it is read from.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

use crate::from_first::begins_query;

/// The functions, sorted.
pub(crate) const FUNCTIONS: [&str; 14] = [
    "glob",
    "parquet_scan",
    "read_arrow",
    "read_csv",
    "read_csv_auto",
    "read_json",
    "read_json_auto",
    "read_json_objects",
    "read_json_objects_auto",
    "read_ndjson",
    "read_ndjson_auto",
    "read_ndjson_objects",
    "read_parquet",
    "sniff_csv",
];

/// Whether a word names such a function.
fn is_function(token: &Token) -> bool {
    match token {
        Token::Word(it) if it.quote_style.is_none() && it.value.len() >= 4 => {
            FUNCTIONS.iter().any(|name| name.eq_ignore_ascii_case(&it.value))
        }
        _ => false,
    }
}

/// Where in a statement a token stands.
#[derive(Clone, Copy, Default)]
struct Place {
    /// Whether a FROM here begins a list of tables.
    begun: bool,
    /// Whether tables are listed.
    tables: bool,
}

/// Makes each call one token. There are no blanks.
pub(crate) fn fold(tokens: &mut Vec<TokenWithSpan>) {
    let calls =
        |pair: &[TokenWithSpan]| is_function(&pair[0].token) && pair[1].token == Token::LParen;
    if !tokens.windows(2).any(calls) {
        return;
    }
    let mut folded: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    let (mut places, mut place) = (Vec::new(), Place::default());
    let mut at = 0;
    while at < tokens.len() {
        let begins_table = match folded.last().map(|it| &it.token) {
            Some(Token::Word(it)) => {
                matches!(
                    it.keyword,
                    Keyword::FROM | Keyword::JOIN | Keyword::USING | Keyword::LATERAL
                )
            }
            Some(Token::Comma | Token::LParen) => true,
            _ => false,
        };
        let end = (place.tables && begins_table && is_function(&tokens[at].token))
            .then(|| closing(&tokens[at + 1..]))
            .flatten();
        if let Some(length) = end {
            let call = &tokens[at..at + 1 + length];
            let name = Token::SingleQuotedString(text(call));
            folded.push(TokenWithSpan { token: name, span: tokens[at].span });
            at += 1 + length;
            continue;
        }
        match &tokens[at].token {
            Token::LParen => {
                // A list of tables may be nested in brackets.
                let inner = Place { tables: place.tables && begins_table, ..Place::default() };
                places.push(std::mem::replace(&mut place, inner));
            }
            Token::RParen => place = places.pop().unwrap_or_default(),
            Token::Word(it) => {
                let is_from = it.keyword == Keyword::FROM && it.quote_style.is_none();
                place.begun |= is_from && begins_query(tokens, at);
                place.step(it.keyword);
            }
            _ => {}
        }
        folded.push(tokens[at].clone());
        at += 1;
    }
    *tokens = folded;
}

impl Place {
    fn step(&mut self, keyword: Keyword) {
        use Keyword::{
            DELETE, EXCEPT, FETCH, FROM, GROUP, HAVING, INSERT, INTERSECT, JOIN, LIMIT, MERGE,
            OFFSET, ORDER, RETURNING, SELECT, SET, UNION, UPDATE, USING, VALUES, WHERE, WINDOW,
        };
        match keyword {
            SELECT | DELETE | UPDATE | MERGE | INSERT => {
                *self = Self { begun: true, tables: false }
            }
            FROM | USING if self.begun => self.tables = true,
            JOIN => self.tables |= self.begun,
            WHERE | GROUP | HAVING | ORDER | LIMIT | OFFSET | FETCH | UNION | EXCEPT
            | INTERSECT | WINDOW | RETURNING | SET | VALUES => self.tables = false,
            _ => {}
        }
    }
}

/// How many tokens there are up to the bracket that closes the first.
fn closing(tokens: &[TokenWithSpan]) -> Option<usize> {
    if tokens.first()?.token != Token::LParen {
        return None;
    }
    let mut depth = 0;
    let end = tokens.iter().position(|it| {
        match it.token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    Some(end + 1)
}

/// A call as text, in which all texts are between single quotes.
fn text(tokens: &[TokenWithSpan]) -> String {
    let mut text = String::new();
    for token in tokens {
        match &token.token {
            Token::SingleQuotedString(it) => {
                text.push_str(&format!("'{}'", it.replace('\'', "''")));
            }
            Token::Word(it) if it.quote_style.is_none() => text.push_str(&it.value.to_lowercase()),
            Token::Comma => text.push_str(", "),
            Token::Eq | Token::RArrow | Token::Assignment => text.push_str(" = "),
            other => text.push_str(&other.to_string()),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Postgres;
    use sqlparser::tokenizer::Tokenizer;

    fn folded(sql: &str) -> String {
        let mut tokens = Tokenizer::new(&Postgres::of(0), sql).tokenize_with_location().unwrap();
        tokens.retain(|it| !matches!(it.token, Token::Whitespace(_)));
        fold(&mut tokens);
        let texts = tokens.iter().map(|it| match &it.token {
            Token::SingleQuotedString(it) => format!("<{it}>"),
            it => it.to_string(),
        });
        texts.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn calls_are_tables_where_tables_stand() {
        for (sql, expected) in [
            (
                "SELECT * FROM READ_CSV('a''b', delim => ';')",
                "SELECT * FROM <read_csv('a''b', delim = ';')>",
            ),
            ("SELECT 1 FROM t, glob('*') g", "SELECT 1 FROM t , <glob('*')> g"),
            (
                "SELECT 1 FROM a JOIN read_json(['x', 'y']) b ON 1 = 1, glob('z')",
                "SELECT 1 FROM a JOIN <read_json(['x', 'y'])> b ON 1 = 1 , <glob('z')>",
            ),
            (
                "SELECT 1 FROM (glob('z') a JOIN t ON true)",
                "SELECT 1 FROM ( <glob('z')> a JOIN t ON true )",
            ),
            (
                "SELECT (SELECT max(a) FROM read_csv('x'))",
                "SELECT ( SELECT max ( a ) FROM <read_csv('x')> )",
            ),
            ("FROM glob('*') WHERE true", "FROM <glob('*')> WHERE true"),
            (
                "SELECT 1 FROM (FROM glob('*') SELECT 1)",
                "SELECT 1 FROM ( FROM <glob('*')> SELECT 1 )",
            ),
            ("SELECT trim(FROM glob('*'))", "SELECT trim ( FROM glob ( <*> ) )"),
            ("SELECT glob('*')", "SELECT glob ( <*> )"),
            (
                "SELECT 1, glob('*') FROM t WHERE x IN (1, glob('*'))",
                "SELECT 1 , glob ( <*> ) FROM t WHERE x IN ( 1 , glob ( <*> ) )",
            ),
            ("SELECT substring('x' FROM glob('*'))", "SELECT substring ( <x> FROM glob ( <*> ) )"),
            ("SELECT 1 FROM t ORDER BY 1, glob('*')", "SELECT 1 FROM t ORDER BY 1 , glob ( <*> )"),
            ("SELECT 1 FROM read_csv", "SELECT 1 FROM read_csv"),
            ("SELECT 1 FROM read_csv('x'", "SELECT 1 FROM read_csv ( <x>"),
        ] {
            assert_eq!(folded(sql), expected);
        }
    }
}
