//! Columns that are generated of others: `GENERATED ALWAYS AS (a * 2) STORED`, VIRTUAL where nothing is said, and DuckDB's
//! `AS (a * 2)`. The parser knows only those that are STORED.

use sqlparser::ast;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::{SqlError, SqlResult, SqlState};

use crate::column_definition::Generation;
use crate::cursor::Cursor;
use crate::design::{ExpressionChange, RuleChange, TableChange};
use crate::dialect::Postgres;
use crate::generated_words;
use crate::statement::Statement;
use crate::steering::is_word;
use crate::syntax::{NESTED_MAX, syntax};

/// Whether a column is generated of others.
pub(crate) fn is_generated(column: &ast::ColumnDef) -> bool {
    column.options.iter().any(|it| match &it.option {
        ast::ColumnOption::DialectSpecific(tokens) => generated_words::is_one(tokens),
        _ => false,
    })
}

/// The expression, and how the column is kept.
pub(crate) fn read(tokens: &[Token]) -> SqlResult<(String, Generation)> {
    if tokens.get(1).is_some_and(|it| is_word(it, "by")) {
        let message = "for a generated column, GENERATED ALWAYS must be specified";
        return Err(SqlError::new(SqlState::SYNTAX, message));
    }
    let open = tokens.iter().position(|it| *it == Token::LParen).unwrap_or(0);
    let (rest, generation) = match tokens.split_last() {
        Some((last, rest)) if is_word(last, "stored") => (rest, Generation::Stored),
        Some((last, rest)) if is_word(last, "virtual") => (rest, Generation::Virtual),
        _ => (tokens, Generation::Virtual),
    };
    let [Token::LParen, inner @ .., Token::RParen] = &rest[open..] else {
        let message =
            "syntax error: expected an expression in parentheses that a column is generated of";
        return Err(SqlError::new(SqlState::SYNTAX, message));
    };
    Ok((expression(inner)?, generation))
}

/// The text of an expression.
fn expression(tokens: &[Token]) -> SqlResult<String> {
    let dialect = Postgres::of(tokens.len());
    let parser = Parser::new(&dialect).with_recursion_limit(NESTED_MAX);
    let mut parser = parser.with_tokens(tokens.to_vec());
    let expr = parser.parse_expr().map_err(|it| syntax(&it))?;
    parser.expect_token(&Token::EOF).map_err(|it| syntax(&it))?;
    Ok(crate::written::written(&expr))
}

/// `ALTER TABLE t ALTER a SET EXPRESSION AS (..)` and `DROP EXPRESSION`, if the tokens are one of these.
pub(crate) fn recognise(tokens: &[TokenWithSpan]) -> SqlResult<Option<Statement>> {
    let mut cursor = Cursor::new(tokens);
    if !cursor.take_all(&["ALTER", "TABLE"]) {
        return Ok(None);
    }
    let if_exists = cursor.take_all(&["IF", "EXISTS"]);
    let Some((table, column)) = cursor.altered_column() else { return Ok(None) };
    let change = if cursor.take_all(&["DROP", "EXPRESSION"]) {
        let change = ExpressionChange::Drop { if_exists: cursor.take_all(&["IF", "EXISTS"]) };
        cursor.expect_end()?;
        change
    } else if cursor.take_all(&["SET", "EXPRESSION", "AS"]) {
        let rest: Vec<Token> = tokens[cursor.at()..].iter().map(|it| it.token.clone()).collect();
        let [Token::LParen, inner @ .., Token::RParen] = &rest[..] else {
            return Err(cursor.expected("an expression in parentheses"));
        };
        ExpressionChange::Set(expression(inner)?)
    } else {
        return Ok(None);
    };
    let change = TableChange::Rules(vec![RuleChange::Expression { column, change }]);
    Ok(Some(Statement::AlterTable { table, change, if_exists }))
}
