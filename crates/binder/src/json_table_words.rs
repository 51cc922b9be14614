//! JSON_TABLE: the rows that a path gives of a JSON, with columns by paths of their own.
//!
//! Key decision: before parsing it becomes a lateral subquery over `jsonb_path_query`, whose columns are calls of JSON_VALUE,
//! JSON_QUERY and JSON_EXISTS; NESTED is a lateral join that keeps rows without partners, of siblings one behind the other.

use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};
use types::{SqlError, SqlResult, SqlState};

use crate::dialect::Postgres;
use crate::own_names::TABLE_COLUMNS;
use crate::sql_json_words::{self, Reader, closing, name};
use crate::steering::is_word;
use crate::syntax::quoted_name;
use crate::{from_end, json_constructor_words};

/// Deeper NESTED is refused.
const NESTED_MAX: usize = 32;

/// Brings the calls, and those of which its columns are, to what the parser knows; the tokens have no blanks.
pub(crate) fn known_words(tokens: &mut Vec<TokenWithSpan>) -> SqlResult<()> {
    json_constructor_words::known_words(tokens)?;
    if !tokens.iter().any(|it| sql_json_words::is_about(&it.token)) {
        return Ok(());
    }
    from_end::rewrite(tokens, |_, rest| {
        if !is_word(&rest[0].token, "json_table")
            || rest.get(1).is_none_or(|it| it.token != Token::LParen)
        {
            return Ok(None);
        }
        let Some(end) = closing(rest, 1) else { return Ok(None) };
        let table = Table {
            reader: Reader { tokens: &rest[2..end], at: 0, span: rest[0].span },
            is_strict: false,
            passing: Vec::new(),
            has_own_type: false,
        };
        Ok(Some((end + 1, table.whole()?)))
    })?;
    sql_json_words::known_words(tokens)
}

type Tokens = Vec<TokenWithSpan>;

/// A column, or several of a path inside.
enum Column {
    One { called: TokenWithSpan, value: Tokens },
    Nested { path: Tokens, columns: Vec<Column> },
}

struct Table<'t> {
    reader: Reader<'t>,
    /// Whether errors are errors.
    is_strict: bool,
    /// The words of PASSING, for the paths of columns, too.
    passing: Tokens,
    /// Whether a column has a type that users made, whose name the text of the call would not keep.
    has_own_type: bool,
}

impl Table<'_> {
    fn is_token(&self, token: &Token) -> bool {
        self.reader.tokens.get(self.reader.at).is_some_and(|it| it.token == *token)
    }

    fn up_to(&mut self, words: &[&str]) -> SqlResult<Tokens> {
        let start = self.reader.at;
        let mut depth = 0usize;
        while let Some(it) = self.reader.tokens.get(self.reader.at) {
            match &it.token {
                Token::LParen | Token::LBracket => depth += 1,
                Token::RParen | Token::RBracket if depth == 0 => break,
                Token::RParen | Token::RBracket => depth -= 1,
                Token::Comma if depth == 0 => break,
                token if depth == 0 && words.iter().any(|it| is_word(token, it)) => break,
                _ => {}
            }
            self.reader.at += 1;
        }
        if self.reader.at == start {
            Err(self.reader.wrong())
        } else {
            Ok(self.reader.tokens[start..self.reader.at].to_vec())
        }
    }

    /// The tokens of a fixed text.
    fn sql(&self, text: &str) -> SqlResult<Tokens> {
        let tokens = Tokenizer::new(&Postgres::of(0), text).tokenize();
        let tokens = tokens.map_err(|it| SqlError::internal(it.to_string()))?;
        let tokens = tokens.into_iter().filter(|it| !matches!(it, Token::Whitespace(_)));
        Ok(tokens.map(|token| TokenWithSpan { token, span: self.reader.span }).collect())
    }

    fn named(&self, value: &str) -> TokenWithSpan {
        TokenWithSpan { token: name(value), span: self.reader.span }
    }

    fn whole(mut self) -> SqlResult<Tokens> {
        let json = self.up_to(&["format"])?;
        if self.reader.takes("format") {
            self.reader.expect("json")?;
        }
        if !self.is_token(&Token::Comma) {
            return Err(self.reader.wrong());
        }
        self.reader.at += 1;
        let path = self.up_to(&["as", "passing", "columns"])?;
        if self.reader.takes("as") {
            self.reader.at += 1;
        }
        if self.reader.is("passing") {
            let start = self.reader.at;
            while self.reader.at < self.reader.tokens.len() && !self.reader.is("columns") {
                self.reader.at += 1;
            }
            self.passing = self.reader.tokens[start..self.reader.at].to_vec();
        }
        // What is said of errors behind the columns is for the columns, too.
        self.is_strict = self.reader.tokens.windows(3).last().is_some_and(|it| {
            ["error", "on", "error"].iter().zip(it).all(|(word, it)| is_word(&it.token, word))
        });
        let words = &self.reader.tokens[self.reader.at..];
        self.reader.expect("columns")?;
        let columns = self.columns(0)?;
        if self.reader.at < self.reader.tokens.len() {
            if !(self.reader.takes("error") || self.reader.takes("empty")) {
                return Err(self.reader.wrong());
            }
            self.reader.takes("array");
            self.reader.expect("on")?;
            self.reader.expect("error")?;
        }
        if self.reader.at < self.reader.tokens.len() {
            return Err(self.reader.wrong());
        }
        let mut source = self.sql("CAST (")?;
        source.extend(json);
        source.extend(self.sql("AS JSONB)")?);
        let mut out = self.sql("LATERAL (")?;
        out.extend(self.select(source, path, &columns, 0)?);
        if let Some(text) = text_of(words).filter(|_| !self.has_own_type) {
            out.extend(self.sql("WHERE")?);
            out.push(self.reader.text(&format!("{TABLE_COLUMNS}{text}")));
            out.extend(self.sql("IS NOT NULL")?);
        }
        out.extend(self.sql(")")?);
        Ok(out)
    }

    fn columns(&mut self, depth: usize) -> SqlResult<Vec<Column>> {
        if depth > NESTED_MAX {
            return Err(SqlError::new(SqlState("54001"), "stack depth limit exceeded"));
        }
        if !self.is_token(&Token::LParen) {
            return Err(self.reader.wrong());
        }
        let mut columns = Vec::new();
        loop {
            self.reader.at += 1;
            columns.push(self.column(depth)?);
            match self.reader.tokens.get(self.reader.at).map(|it| &it.token) {
                Some(Token::Comma) => {}
                Some(Token::RParen) => {
                    self.reader.at += 1;
                    return Ok(columns);
                }
                _ => return Err(self.reader.wrong()),
            }
        }
    }

    fn column(&mut self, depth: usize) -> SqlResult<Column> {
        if self.reader.is("nested")
            && self.reader.tokens.get(self.reader.at + 1).is_some_and(|it| {
                is_word(&it.token, "path") || matches!(it.token, Token::SingleQuotedString(_))
            })
        {
            self.reader.at += 1;
            self.reader.takes("path");
            let path = self.up_to(&["as", "columns"])?;
            if self.reader.takes("as") {
                self.reader.at += 1;
            }
            self.reader.expect("columns")?;
            return Ok(Column::Nested { path, columns: self.columns(depth + 1)? });
        }
        let Some(called) = self.reader.tokens.get(self.reader.at).cloned() else {
            return Err(self.reader.wrong());
        };
        let Token::Word(word) = &called.token else { return Err(self.reader.wrong()) };
        let key = match word.quote_style {
            Some(_) => word.value.clone(),
            None => word.value.to_lowercase(),
        };
        self.reader.at += 1;
        let item = format!("\"j\n{depth}\"");
        if self.reader.takes("for") {
            self.reader.expect("ordinality")?;
            let value = self.sql(&format!("CAST({item}.\"n\" AS INTEGER)"))?;
            return Ok(Column::One { called, value });
        }
        let value = self.value(&item, &key)?;
        Ok(Column::One { called, value })
    }

    /// The value of a column with a type.
    fn value(&mut self, item: &str, key: &str) -> SqlResult<Tokens> {
        const WORDS: [&str; 12] = [
            "format", "exists", "path", "with", "without", "keep", "omit", "error", "null",
            "default", "true", "false",
        ];
        let data_type = self.up_to(&[&WORDS[..], &["unknown", "empty"]].concat())?;
        self.has_own_type |= !is_built_in(&data_type);
        let is_json = |it: &TokenWithSpan| {
            ["json", "jsonb"].iter().any(|word| is_word(&it.token, word))
                || matches!(it.token, Token::LBracket)
        };
        let mut is_query = data_type.iter().any(is_json);
        if self.reader.takes("format") {
            self.reader.expect("json")?;
            is_query = true;
        }
        let tests = self.reader.takes("exists");
        let path = match self.reader.takes("path") {
            true => self.up_to(
                &WORDS[3..].iter().chain(&["unknown", "empty"]).copied().collect::<Vec<_>>(),
            )?,
            false => {
                let path = format!("$.\"{}\"", key.replace('\\', "\\\\").replace('"', "\\\""));
                vec![TokenWithSpan {
                    token: Token::SingleQuotedString(path),
                    span: self.reader.span,
                }]
            }
        };
        let start = self.reader.at;
        while self.reader.at < self.reader.tokens.len()
            && !self.is_token(&Token::Comma)
            && !self.is_token(&Token::RParen)
        {
            match self.is_token(&Token::LParen) {
                true => {
                    self.reader.at = closing(self.reader.tokens, self.reader.at)
                        .ok_or_else(|| self.reader.wrong())?
                        + 1
                }
                false => self.reader.at += 1,
            }
        }
        let behind = self.reader.tokens[start..self.reader.at].to_vec();
        is_query |= behind
            .iter()
            .any(|it| ["wrapper", "quotes"].iter().any(|word| is_word(&it.token, word)));
        let function = match (tests, is_query) {
            (true, _) => "CAST(JSON_EXISTS(",
            (_, true) => "JSON_QUERY(",
            (_, false) => "JSON_VALUE(",
        };
        let mut out = self.sql(&format!("{function}{item}.\"v\","))?;
        out.extend(path);
        out.extend(self.passing.iter().cloned());
        if !tests {
            out.extend(self.sql("RETURNING")?);
            out.extend(data_type.iter().cloned());
        }
        out.extend(behind);
        out.extend(self.sql(")")?);
        if tests {
            out.extend(self.sql("AS")?);
            out.extend(data_type);
            out.extend(self.sql(")")?);
        }
        Ok(out)
    }

    /// The query of the rows of a path, with those of the paths inside.
    fn select(
        &self,
        source: Tokens,
        path: Tokens,
        columns: &[Column],
        depth: usize,
    ) -> SqlResult<Tokens> {
        let mut out = self.sql("SELECT")?;
        let all = names(columns);
        let mut is_first = true;
        let inner = format!("k\n{depth}");
        for column in columns {
            let each: Vec<(Tokens, TokenWithSpan)> = match column {
                Column::One { called, value } => vec![(value.clone(), called.clone())],
                Column::Nested { columns, .. } => {
                    let of = |it: TokenWithSpan| {
                        let period = TokenWithSpan { token: Token::Period, span: self.reader.span };
                        (vec![self.named(&inner), period, it.clone()], it)
                    };
                    names(columns).into_iter().map(of).collect()
                }
            };
            for (value, called) in each {
                if !is_first {
                    out.extend(self.sql(",")?);
                }
                is_first = false;
                out.extend(value);
                out.extend(self.sql("AS")?);
                out.push(called);
            }
        }
        debug_assert!(!all.is_empty(), "invariant: a table has columns");
        out.extend(self.sql("FROM jsonb_path_query(")?);
        out.extend(source);
        out.extend(self.sql(",")?);
        out.extend(path);
        out.extend(self.sql(",")?);
        out.extend(self.variables()?);
        let silent = if self.is_strict { "FALSE" } else { "TRUE" };
        out.extend(
            self.sql(&format!(", {silent}) WITH ORDINALITY AS \"j\n{depth}\" (\"v\", \"n\")"))?,
        );
        let siblings: Vec<(&Tokens, &[Column])> = columns
            .iter()
            .filter_map(|it| match it {
                Column::Nested { path, columns } => Some((path, &columns[..])),
                Column::One { .. } => None,
            })
            .collect();
        if !siblings.is_empty() {
            out.extend(self.sql("LEFT JOIN LATERAL (")?);
            out.extend(self.siblings(&siblings, depth)?);
            out.extend(self.sql(") AS")?);
            out.push(self.named(&inner));
            out.extend(self.sql("ON TRUE")?);
        }
        Ok(out)
    }

    fn siblings(&self, siblings: &[(&Tokens, &[Column])], depth: usize) -> SqlResult<Tokens> {
        let source = format!("\"j\n{depth}\".\"v\"");
        let mut out = Tokens::new();
        for (place, (path, columns)) in siblings.iter().enumerate() {
            let select = self.select(self.sql(&source)?, (*path).clone(), columns, depth + 1)?;
            if siblings.len() == 1 {
                return Ok(select);
            }
            if place > 0 {
                out.extend(self.sql("UNION ALL")?);
            }
            out.extend(self.sql("SELECT")?);
            let mut is_first = true;
            for (other, (_, columns)) in siblings.iter().enumerate() {
                for called in names(columns) {
                    if !is_first {
                        out.extend(self.sql(",")?);
                    }
                    is_first = false;
                    if other != place {
                        out.extend(self.sql("NULL AS")?);
                    }
                    out.push(called);
                }
            }
            out.extend(self.sql("FROM (")?);
            out.extend(select);
            out.extend(self.sql(&format!(") AS \"s\n{place}\""))?);
        }
        Ok(out)
    }

    /// The variables as an object.
    fn variables(&self) -> SqlResult<Tokens> {
        crate::sql_json_words::variables_of(&self.passing, self.reader.span)
    }
}

/// Whether tokens are a type that users did not make.
fn is_built_in(tokens: &[TokenWithSpan]) -> bool {
    let dialect = Postgres::of(tokens.len());
    let mut parser = Parser::new(&dialect).with_tokens_with_locations(tokens.to_vec());
    parser.parse_data_type().is_ok_and(|it| crate::type_names::said(&it).is_empty())
}

/// The columns of a call as text; `None` where there is more in them than names, types, words and constants.
fn text_of(tokens: &[TokenWithSpan]) -> Option<String> {
    let mut text = String::new();
    let mut tokens = tokens.iter().peekable();
    while let Some(it) = tokens.next() {
        let piece = match &it.token {
            Token::Word(it) if it.quote_style.is_some() => quoted_name(&it.value),
            Token::Word(it) => it.value.clone(),
            Token::SingleQuotedString(it) => format!("'{}'", it.replace('\'', "''")),
            Token::Number(..)
            | Token::Comma
            | Token::LParen
            | Token::RParen
            | Token::LBracket
            | Token::RBracket
            | Token::Minus => it.token.to_string(),
            _ => return None,
        };
        if is_word(&it.token, "default") {
            let next = tokens.peek().map(|it| &it.token);
            let is_word = |it: &Token| ["null", "true", "false"].iter().any(|of| is_word(it, of));
            let is_constant = |it: &&Token| {
                matches!(it, Token::Number(..) | Token::SingleQuotedString(_) | Token::Minus)
                    || is_word(it)
            };
            next.filter(is_constant)?;
        }
        let is_tight = piece == "," || piece == ")" || text.ends_with('(') || text.is_empty();
        if !is_tight {
            text.push(' ');
        }
        text.push_str(&piece);
    }
    Some(text)
}

/// The names of columns in the order in which they stand.
fn names(columns: &[Column]) -> Vec<TokenWithSpan> {
    columns
        .iter()
        .flat_map(|it| match it {
            Column::One { called, .. } => vec![called.clone()],
            Column::Nested { columns, .. } => names(columns),
        })
        .collect()
}
