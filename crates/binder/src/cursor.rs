//! A place in a statement's tokens, and what can be asked of it.

use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::{DataType, SqlError, SqlResult, SqlState, names};

use crate::user_types::TypeName;

/// Walks over tokens, past white space and comments.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    tokens: &'a [TokenWithSpan],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(tokens: &'a [TokenWithSpan]) -> Self {
        let mut cursor = Self { tokens, at: 0 };
        cursor.skip_blanks();
        cursor
    }

    /// The index of the token that comes next.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.at == self.tokens.len()
    }

    pub(crate) fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.at).map(|it| &it.token)
    }

    /// Goes past one token.
    pub(crate) fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len());
        self.skip_blanks();
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(Token::Whitespace(_))) {
            self.at += 1;
        }
    }

    /// Whether the next words are these, none of them quoted.
    pub(crate) fn sees(&self, words: &[&str]) -> bool {
        let mut ahead = *self;
        words.iter().all(|it| ahead.take(it))
    }

    /// Goes past a word if it comes next.
    pub(crate) fn take(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(it))
            if it.quote_style.is_none() && it.value.eq_ignore_ascii_case(word));
        if found {
            self.advance();
        }
        found
    }

    /// Goes past words if all of them come next.
    pub(crate) fn take_all(&mut self, words: &[&str]) -> bool {
        let found = self.sees(words);
        if found {
            words.iter().for_each(|_| self.advance());
        }
        found
    }

    /// Goes past a sign if it comes next.
    pub(crate) fn take_sign(&mut self, sign: &Token) -> bool {
        let found = self.peek() == Some(sign);
        if found {
            self.advance();
        }
        found
    }

    pub(crate) fn expect(&mut self, word: &str) -> SqlResult<()> {
        if self.take(word) { Ok(()) } else { Err(self.expected(word)) }
    }

    pub(crate) fn expect_sign(&mut self, sign: &Token) -> SqlResult<()> {
        if self.take_sign(sign) { Ok(()) } else { Err(self.expected(&sign.to_string())) }
    }

    pub(crate) fn expect_end(&self) -> SqlResult<()> {
        if self.is_at_end() { Ok(()) } else { Err(self.expected("the end of the statement")) }
    }

    /// A name: as it is when it is quoted, in lower case when not.
    pub(crate) fn name(&mut self, what: &str) -> SqlResult<String> {
        let Some(Token::Word(word)) = self.peek() else { return Err(self.expected(what)) };
        self.advance();
        Ok(match word.quote_style {
            Some(_) => word.value.clone(),
            None => word.value.to_lowercase(),
        })
    }

    /// `t ALTER [COLUMN] a` behind ALTER TABLE: the table and the column; nothing of another change.
    pub(crate) fn altered_column(&mut self) -> Option<(String, String)> {
        let table = self.relation().ok()?;
        if !self.take("ALTER") {
            return None;
        }
        self.take("COLUMN");
        let column = self.name("the name of a column").ok()?;
        Some((table, column))
    }

    /// The name of a relation as it is said, with its schema if that is said, too (`types::names::written`).
    pub(crate) fn relation(&mut self) -> SqlResult<String> {
        let mut parts = vec![self.name("a name")?];
        while self.take_sign(&Token::Period) {
            parts.push(self.name("a name")?);
        }
        Ok(names::written(&parts))
    }

    /// A whole number, perhaps in quotes as HANA writes it.
    pub(crate) fn number(&mut self, what: &str) -> SqlResult<u64> {
        let (Some(Token::Number(text, _)) | Some(Token::SingleQuotedString(text))) = self.peek()
        else {
            return Err(self.expected(what));
        };
        let number = text.parse().map_err(|_| self.expected(what))?;
        self.advance();
        Ok(number)
    }

    /// What a list in brackets holds: items that `item` reads, separated by commas.
    pub(crate) fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<Vec<T>> {
        self.expect_sign(&Token::LParen)?;
        let mut items = vec![item(self)?];
        while self.take_sign(&Token::Comma) {
            items.push(item(self)?);
        }
        if !self.take_sign(&Token::RParen) {
            return Err(self.expected(", or )"));
        }
        Ok(items)
    }

    /// Goes past all tokens up to the first outside of brackets for which `stop` holds, a bracket too many, or the end.
    pub(crate) fn skip_to(&mut self, stop: impl Fn(&Self) -> bool) {
        let mut depth = 0usize;
        while let Some(token) = self.peek() {
            if depth == 0 && (stop(self) || *token == Token::RParen) {
                return;
            }
            match token {
                Token::LParen => depth += 1,
                Token::RParen => depth -= 1,
                _ => {}
            }
            self.advance();
        }
    }

    /// The text of an expression that ends where `stop` holds.
    pub(crate) fn expression(&mut self, stop: impl Fn(&Self) -> bool) -> SqlResult<String> {
        let start = *self;
        self.skip_to(stop);
        let mut parser = self.parser(start.at, self.at);
        let parsed = parser.parse_expr().map_err(|it| crate::syntax::syntax(&it))?;
        if parser.peek_token_ref().token != Token::EOF {
            let mut rest = start;
            while rest.at < start.at + parser.index() {
                rest.advance();
            }
            return Err(rest.expected("one value"));
        }
        Ok(crate::written::written(&parsed))
    }

    /// A type, if one comes before the tokens for which `stop` holds.
    pub(crate) fn data_type(
        &mut self,
        stop: impl Fn(&Self) -> bool,
    ) -> SqlResult<Option<DataType>> {
        let start = self.at;
        self.skip_to(stop);
        if start == self.at {
            return Ok(None);
        }
        let mut parser = self.parser(start, self.at);
        let parsed = parser.parse_data_type().map_err(|it| crate::syntax::syntax(&it))?;
        crate::data_types::data_type(&parsed).map(Some)
    }

    /// A type, among those that users made, too, if one comes before the tokens for which `stop` holds.
    pub(crate) fn any_type(
        &mut self,
        stop: impl Fn(&Self) -> bool,
    ) -> SqlResult<Option<(DataType, Option<TypeName>)>> {
        let start = self.at;
        self.skip_to(stop);
        if start == self.at {
            return Ok(None);
        }
        let mut parser = self.parser(start, self.at);
        let parsed = parser.parse_data_type().map_err(|it| crate::syntax::syntax(&it))?;
        TypeName::read(&parsed).map(Some)
    }

    fn parser(&self, start: usize, end: usize) -> Parser<'static> {
        let tokens = self.tokens[start..end].to_vec();
        Parser::new(&PostgreSqlDialect {}).with_tokens_with_locations(tokens)
    }

    /// A type of one word.
    pub(crate) fn type_word(&mut self) -> SqlResult<DataType> {
        let start = *self;
        self.name("a type")?;
        let data_type = self.parser(start.at, start.at + 1).parse_data_type();
        let data_type = data_type.map_err(|it| crate::syntax::syntax(&it))?;
        crate::data_types::data_type(&data_type)
    }

    /// The error that something else was expected here.
    pub(crate) fn expected(&self, what: &str) -> SqlError {
        let message = match self.tokens.get(self.at) {
            Some(it) => format!(
                "syntax error at line {}, column {}: expected {what}, found {}",
                it.span.start.line, it.span.start.column, it.token
            ),
            None => format!("syntax error: expected {what}, found the end"),
        };
        self.placed(SqlError::new(SqlState::SYNTAX, message))
    }

    fn placed(&self, error: SqlError) -> SqlError {
        match self.tokens.get(self.at) {
            Some(it) => error.at(it.span.start.line as u32, it.span.start.column as u32),
            None => error,
        }
    }

    /// An error about what comes next.
    pub(crate) fn error(&self, state: SqlState, what: &str) -> SqlError {
        let place = match self.tokens.get(self.at) {
            Some(it) => format!(" at line {}, column {}", it.span.start.line, it.span.start.column),
            None => String::new(),
        };
        self.placed(SqlError::new(state, format!("{what}{place}")))
    }
}
