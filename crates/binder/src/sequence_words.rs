//! CREATE SEQUENCE, ALTER SEQUENCE, and what is said of columns that are numbered by themselves: the parser reads options in one
//! order only, and PostgreSQL in any.

use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::{SqlError, SqlResult, SqlState, names};

use crate::column_definition::Numbering;
use crate::cursor::Cursor;
use crate::design::{IdentityChange, RuleChange, TableChange};
use crate::sequence::{SequenceChange, SequenceOptions};
use crate::statement::Statement;
use crate::steering::{sees_words, take_group};
use crate::syntax::unsupported;

/// The statement, if the tokens are one about sequences, or about the identity of a column.
pub(crate) fn recognise(tokens: &[TokenWithSpan]) -> SqlResult<Option<Statement>> {
    let mut cursor = Cursor::new(tokens);
    let is_temporary = cursor.take_all(&["CREATE", "TEMPORARY", "SEQUENCE"])
        || cursor.take_all(&["CREATE", "TEMP", "SEQUENCE"]);
    if is_temporary || cursor.take_all(&["CREATE", "SEQUENCE"]) {
        let if_not_exists = cursor.take_all(&["IF", "NOT", "EXISTS"]);
        let name = crate::temporary::within(cursor.relation()?, is_temporary)?;
        let options = options(&mut cursor, false)?;
        cursor.expect_end()?;
        return Ok(Some(Statement::CreateSequence { name, options, if_not_exists }));
    }
    if cursor.take_all(&["ALTER", "SEQUENCE"]) {
        let if_exists = cursor.take_all(&["IF", "EXISTS"]);
        let name = cursor.relation()?;
        let change = if cursor.take_all(&["RENAME", "TO"]) {
            SequenceChange::Rename(names::written(&[cursor.name("the name of a sequence")?]))
        } else if cursor.sees(&["SET"]) {
            return Err(unsupported("ALTER SEQUENCE .. SET"));
        } else {
            SequenceChange::Options(options(&mut cursor, true)?)
        };
        cursor.expect_end()?;
        return Ok(Some(Statement::AlterSequence { name, change, if_exists }));
    }
    match cursor.take_all(&["ALTER", "TABLE"]) {
        true => identity_of_column(cursor),
        false => Ok(None),
    }
}

/// `t ALTER [COLUMN] a ADD GENERATED ..`, `SET GENERATED ..`, `SET INCREMENT ..`, `RESTART`, `DROP IDENTITY`.
fn identity_of_column(mut cursor: Cursor<'_>) -> SqlResult<Option<Statement>> {
    let if_exists = cursor.take_all(&["IF", "EXISTS"]);
    let Some((table, column)) = cursor.altered_column() else { return Ok(None) };
    let change = if cursor.take_all(&["DROP", "IDENTITY"]) {
        IdentityChange::Drop { if_exists: cursor.take_all(&["IF", "EXISTS"]) }
    } else if cursor.take_all(&["ADD", "GENERATED"]) {
        let (always, options) = identity(&mut cursor)?;
        IdentityChange::Add { always, options }
    } else if cursor.sees(&["RESTART"]) || cursor.sees(&["SET"]) && sets_identity(cursor) {
        let (mut always, mut said) = (None, SequenceOptions::default());
        while !cursor.is_at_end() {
            if cursor.take_all(&["SET", "GENERATED"]) {
                let is_always = always_or_default(&mut cursor)?;
                if always.replace(is_always).is_some() {
                    return Err(twice(&cursor));
                }
                continue;
            }
            cursor.take("SET");
            if !option(&mut cursor, &mut said, true)? {
                return Err(cursor.expected("an option of a sequence"));
            }
        }
        IdentityChange::Set { always, options: said }
    } else {
        return Ok(None);
    };
    cursor.expect_end()?;
    let change = TableChange::Rules(vec![RuleChange::Identity { column, change }]);
    Ok(Some(Statement::AlterTable { table, change, if_exists }))
}

/// Whether SET says something of an identity: `SET DEFAULT` and `SET NOT NULL` are for others.
fn sets_identity(cursor: Cursor<'_>) -> bool {
    let words = ["GENERATED", "INCREMENT", "MINVALUE", "MAXVALUE", "START", "CACHE", "CYCLE"];
    let after_no = ["MINVALUE", "MAXVALUE", "CYCLE"];
    words.iter().any(|it| cursor.sees(&["SET", it]))
        || after_no.iter().any(|it| cursor.sees(&["SET", "NO", it]))
}

fn always_or_default(cursor: &mut Cursor<'_>) -> SqlResult<bool> {
    if cursor.take("ALWAYS") {
        return Ok(true);
    }
    match cursor.take_all(&["BY", "DEFAULT"]) {
        true => Ok(false),
        false => Err(cursor.expected("ALWAYS or BY DEFAULT")),
    }
}

/// `ALWAYS AS IDENTITY (..)`, `BY DEFAULT AS IDENTITY`.
fn identity(cursor: &mut Cursor<'_>) -> SqlResult<(bool, SequenceOptions)> {
    let always = always_or_default(cursor)?;
    cursor.expect("AS")?;
    cursor.expect("IDENTITY")?;
    if !cursor.take_sign(&Token::LParen) {
        return Ok((always, SequenceOptions::default()));
    }
    let options = options(cursor, false)?;
    cursor.expect_sign(&Token::RParen)?;
    Ok((always, options))
}

/// The tokens of `GENERATED .. AS IDENTITY (..)`, if these come next in a definition of a column.
pub(crate) fn identity_tokens(parser: &mut Parser<'_>) -> Option<Vec<Token>> {
    let (always, by_default) = (
        &["GENERATED", "ALWAYS", "AS", "IDENTITY"][..],
        &["GENERATED", "BY", "DEFAULT", "AS", "IDENTITY"][..],
    );
    let words = [always, by_default].into_iter().find(|it| sees_words(parser, it))?;
    let mut tokens: Vec<Token> = words.iter().map(|_| parser.next_token().token).collect();
    if parser.peek_token_ref().token != Token::LParen {
        return Some(tokens);
    }
    take_group(parser, &mut tokens);
    Some(tokens)
}

/// As the dialect is asked for it.
pub(crate) fn column_option(
    parser: &mut Parser<'_>,
) -> Result<Option<Result<Option<sqlparser::ast::ColumnOption>, ParserError>>, ParserError> {
    if let Some(key) = crate::keys::unique_of_nulls(parser)? {
        return Ok(Some(Ok(Some(key))));
    }
    let option = |it| Ok(Some(sqlparser::ast::ColumnOption::DialectSpecific(it)));
    let tokens = identity_tokens(parser);
    Ok(tokens.or_else(|| crate::generated_words::tokens(parser)).map(option))
}

/// What [`identity_tokens`] say.
pub(crate) fn numbering(tokens: &[Token]) -> SqlResult<Numbering> {
    let tokens = crate::generated_words::placed(tokens);
    let mut cursor = Cursor::new(&tokens);
    cursor.expect("GENERATED")?;
    let (always, options) = identity(&mut cursor)?;
    cursor.expect_end()?;
    Ok(Numbering::Identity { always, options })
}

/// All options that stand here.
fn options(cursor: &mut Cursor<'_>, alters: bool) -> SqlResult<SequenceOptions> {
    let mut said = SequenceOptions::default();
    while option(cursor, &mut said, alters)? {}
    match alters && said == SequenceOptions::default() {
        true => Err(cursor.expected("an option of a sequence")),
        false => Ok(said),
    }
}

/// Reads an option, if one stands here.
fn option(cursor: &mut Cursor<'_>, said: &mut SequenceOptions, alters: bool) -> SqlResult<bool> {
    let begin = *cursor;
    let is_new = if cursor.take("AS") {
        let data_type = cursor.type_word()?;
        said.data_type.replace(data_type).is_none()
    } else if cursor.take("INCREMENT") {
        cursor.take("BY");
        said.increment.replace(number(cursor)?).is_none()
    } else if cursor.take("MINVALUE") {
        said.min.replace(Some(number(cursor)?)).is_none()
    } else if cursor.take_all(&["NO", "MINVALUE"]) {
        said.min.replace(None).is_none()
    } else if cursor.take("MAXVALUE") {
        said.max.replace(Some(number(cursor)?)).is_none()
    } else if cursor.take_all(&["NO", "MAXVALUE"]) {
        said.max.replace(None).is_none()
    } else if cursor.take("START") {
        cursor.take("WITH");
        said.start.replace(number(cursor)?).is_none()
    } else if alters && cursor.take("RESTART") {
        let has_number = cursor.take("WITH") || is_number(cursor);
        let at = if has_number { Some(number(cursor)?) } else { None };
        said.restart.replace(at).is_none()
    } else if cursor.take("CACHE") {
        said.cache.replace(number(cursor)?).is_none()
    } else if cursor.take("CYCLE") {
        said.cycles.replace(true).is_none()
    } else if cursor.take_all(&["NO", "CYCLE"]) {
        said.cycles.replace(false).is_none()
    } else if cursor.take_all(&["SEQUENCE", "NAME"]) {
        let name = cursor.relation()?;
        said.name.replace(name).is_none()
    } else if cursor.take_all(&["OWNED", "BY"]) {
        let owner = match cursor.take("NONE") {
            true => None,
            false => Some(owner(cursor)?),
        };
        said.owner.replace(owner).is_none()
    } else {
        return Ok(false);
    };
    match is_new {
        true => Ok(true),
        false => Err(twice(&begin)),
    }
}

fn twice(cursor: &Cursor<'_>) -> SqlError {
    cursor.error(SqlState::SYNTAX, "conflicting or redundant options")
}

/// `table.column`, with a schema before it or without.
fn owner(cursor: &mut Cursor<'_>) -> SqlResult<(String, String)> {
    let begin = *cursor;
    let mut parts = vec![cursor.name("the name of a table")?];
    while cursor.take_sign(&Token::Period) {
        parts.push(cursor.name("the name of a column")?);
    }
    let column = parts.pop().unwrap_or_default();
    match parts.len() {
        1 | 2 => Ok((names::written(&parts), column)),
        _ => Err(begin
            .error(SqlState::SYNTAX, "invalid OWNED BY option")
            .with_hint("Specify OWNED BY table.column or OWNED BY NONE.")),
    }
}

fn is_number(cursor: &Cursor<'_>) -> bool {
    matches!(cursor.peek(), Some(Token::Number(..) | Token::Minus | Token::Plus))
}

/// A whole number with its sign.
fn number(cursor: &mut Cursor<'_>) -> SqlResult<i64> {
    let minus = cursor.take_sign(&Token::Minus);
    if !minus {
        cursor.take_sign(&Token::Plus);
    }
    let Some(Token::Number(text, false)) = cursor.peek() else {
        return Err(cursor.expected("a whole number"));
    };
    let text = if minus { format!("-{text}") } else { text.clone() };
    let number = text.parse().map_err(|_| match text.parse::<f64>() {
        Ok(_) if !text.contains(['.', 'e', 'E']) => {
            let message = format!("value \"{text}\" is out of range for type bigint");
            SqlError::new(SqlState::NUMERIC_OUT_OF_RANGE, message)
        }
        _ => cursor.expected("a whole number"),
    })?;
    cursor.advance();
    Ok(number)
}
