//! CREATE, ALTER and DROP DOMAIN.

use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::{SqlError, SqlResult, SqlState};

use crate::cursor::Cursor;
use crate::statement::Statement;
use crate::user_types::{DomainBody, DomainChange};

/// The words that end an expression among the clauses of a domain.
const CLAUSES: [&[&str]; 7] = [
    &["CONSTRAINT"],
    &["NOT", "NULL"],
    &["NULL"],
    &["CHECK"],
    &["DEFAULT"],
    &["COLLATE"],
    &["NOT", "VALID"],
];

/// The statement, if the tokens are one about domains.
pub(crate) fn recognise(tokens: &[TokenWithSpan]) -> SqlResult<Option<Statement>> {
    let mut cursor = Cursor::new(tokens);
    if cursor.take_all(&["CREATE", "DOMAIN"]) {
        let name = cursor.relation()?;
        let body = body(&mut cursor)?;
        return Ok(Some(Statement::CreateDomain { name, body: Box::new(body) }));
    }
    if cursor.take_all(&["ALTER", "DOMAIN"]) {
        let name = cursor.relation()?;
        if cursor.sees(&["OWNER", "TO"]) {
            // A statement about roles.
            return Ok(None);
        }
        let change = change(&mut cursor, &name)?;
        cursor.expect_end()?;
        return Ok(Some(Statement::AlterDomain { name, change }));
    }
    Ok(None)
}

fn body(cursor: &mut Cursor<'_>) -> SqlResult<DomainBody> {
    cursor.take("AS");
    let sees_clause = |it: &Cursor<'_>| CLAUSES.iter().any(|words| it.sees(words));
    let of = cursor.any_type(sees_clause)?;
    let (data_type, type_name) = of.ok_or_else(|| cursor.expected("a type"))?;
    let nothing = (None, None, Vec::new());
    let (default, not_null, checks) = nothing;
    let mut body = DomainBody { data_type, type_name, of: None, default, not_null, checks };
    while !cursor.is_at_end() {
        let name = match cursor.take("CONSTRAINT") {
            true => Some(cursor.name("the name of a constraint")?),
            false => None,
        };
        if cursor.take_all(&["NOT", "NULL"]) {
            set_null(&mut body, true)?;
        } else if cursor.take("NULL") {
            set_null(&mut body, false)?;
        } else if cursor.sees(&["CHECK"]) {
            body.checks.push((name, check(cursor)?));
        } else if name.is_none() && cursor.take("DEFAULT") {
            if body.default.is_some() {
                return Err(wrong("multiple default expressions"));
            }
            body.default = Some(cursor.expression(sees_clause)?);
        } else if cursor.take("COLLATE") {
            crate::collations::check_next(cursor)?;
        } else {
            return Err(cursor.expected("DEFAULT, NOT NULL, NULL or CHECK"));
        }
    }
    Ok(body)
}

fn set_null(body: &mut DomainBody, not_null: bool) -> SqlResult<()> {
    if body.not_null.is_some_and(|it| it != not_null) {
        return Err(wrong("conflicting NULL/NOT NULL constraints"));
    }
    body.not_null = Some(not_null);
    Ok(())
}

fn wrong(message: &str) -> SqlError {
    SqlError::new(SqlState::SYNTAX, message)
}

/// `CHECK (condition)`.
fn check(cursor: &mut Cursor<'_>) -> SqlResult<String> {
    cursor.expect("CHECK")?;
    cursor.expect_sign(&Token::LParen)?;
    let condition = cursor.expression(|_| false)?;
    cursor.expect_sign(&Token::RParen)?;
    Ok(condition)
}

fn change(cursor: &mut Cursor<'_>, name: &str) -> SqlResult<DomainChange> {
    if cursor.take_all(&["SET", "DEFAULT"]) {
        return Ok(DomainChange::Default(Some(cursor.expression(|_| false)?)));
    }
    if cursor.take_all(&["DROP", "DEFAULT"]) {
        return Ok(DomainChange::Default(None));
    }
    if cursor.take_all(&["SET", "NOT", "NULL"]) {
        return Ok(DomainChange::NotNull(true));
    }
    if cursor.take_all(&["DROP", "NOT", "NULL"]) {
        return Ok(DomainChange::NotNull(false));
    }
    if cursor.take("ADD") {
        let name = match cursor.take("CONSTRAINT") {
            true => Some(cursor.name("the name of a constraint")?),
            false => None,
        };
        if cursor.take_all(&["NOT", "NULL"]) {
            return Ok(DomainChange::NotNull(true));
        }
        let condition = check(cursor)?;
        let is_valid = !cursor.take_all(&["NOT", "VALID"]);
        return Ok(DomainChange::Add { name, condition, is_valid });
    }
    if cursor.take_all(&["DROP", "CONSTRAINT"]) {
        let if_exists = cursor.take_all(&["IF", "EXISTS"]);
        let name = cursor.name("the name of a constraint")?;
        if !cursor.take("CASCADE") {
            cursor.take("RESTRICT");
        }
        return Ok(DomainChange::Drop { name, if_exists });
    }
    if cursor.take_all(&["VALIDATE", "CONSTRAINT"]) {
        return Ok(DomainChange::Validate(cursor.name("the name of a constraint")?));
    }
    if cursor.take_all(&["RENAME", "CONSTRAINT"]) {
        let name = cursor.name("the name of a constraint")?;
        cursor.expect("TO")?;
        let to = cursor.name("the name of a constraint")?;
        return Ok(DomainChange::RenameConstraint { name, to });
    }
    match crate::type_words::other_name(cursor, name)? {
        Some(it) => Ok(DomainChange::Type(it)),
        None => Err(cursor.expected("SET, DROP, ADD, VALIDATE, RENAME or OWNER TO")),
    }
}
