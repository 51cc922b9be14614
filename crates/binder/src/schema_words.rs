//! CREATE, ALTER and DROP SCHEMA, and of what is in one ALTER .. SET SCHEMA and ALTER INDEX.

use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::{SqlError, SqlResult, SqlState, names};

use crate::cursor::Cursor;
use crate::design::TableChange;
use crate::role_statement::NamedRole;
use crate::sequence::SequenceChange;
use crate::statement::Statement;
use crate::steering::is_word;
use crate::syntax::unsupported;

/// The statement, if the tokens are one about schemas.
pub(crate) fn recognise(tokens: &[TokenWithSpan]) -> SqlResult<Option<Statement>> {
    let mut cursor = Cursor::new(tokens);
    if cursor.take_all(&["CREATE", "SCHEMA"]) {
        return create(&mut cursor).map(Some);
    }
    if cursor.take_all(&["DROP", "SCHEMA"]) {
        let if_exists = cursor.take_all(&["IF", "EXISTS"]);
        let mut names = vec![cursor.name("the name of a schema")?];
        while cursor.take_sign(&Token::Comma) {
            names.push(cursor.name("the name of a schema")?);
        }
        let cascade = cursor.take("CASCADE");
        if !cascade {
            cursor.take("RESTRICT");
        }
        cursor.expect_end()?;
        return Ok(Some(Statement::DropSchema { names, if_exists, cascade }));
    }
    if cursor.take_all(&["ALTER", "SCHEMA"]) {
        let name = cursor.name("the name of a schema")?;
        cursor.expect("RENAME")?;
        cursor.expect("TO")?;
        let to = cursor.name("the name of a schema")?;
        cursor.expect_end()?;
        return Ok(Some(Statement::RenameSchema { name, to }));
    }
    if !cursor.take("ALTER") {
        return Ok(None);
    }
    match rename_index(cursor)? {
        Some(statement) => Ok(Some(statement)),
        None => set_schema(cursor),
    }
}

/// `[IF NOT EXISTS] name [AUTHORIZATION role]`, or only the role, whose name it then has.
fn create(cursor: &mut Cursor<'_>) -> SqlResult<Statement> {
    let if_not_exists = cursor.take_all(&["IF", "NOT", "EXISTS"]);
    let said = match cursor.sees(&["AUTHORIZATION"]) {
        true => None,
        false => Some(cursor.name("the name of a schema")?),
    };
    let owner = match cursor.take("AUTHORIZATION") {
        true => Some(crate::role_words::role(cursor)?),
        false => None,
    };
    cursor.expect_end()?;
    let name = match (said, &owner) {
        (Some(name), _) => name,
        (None, Some(NamedRole::Name(name))) => name.clone(),
        _ => return Err(cursor.expected("the name of a schema")),
    };
    Ok(Statement::CreateSchema { name, owner, if_not_exists, elements: Vec::new() })
}

/// Where the statements inside of CREATE SCHEMA begin; nothing where there is none, and of any other statement.
pub(crate) fn elements_at(tokens: &[TokenWithSpan]) -> Vec<usize> {
    if !Cursor::new(tokens).sees(&["CREATE", "SCHEMA"]) {
        return Vec::new();
    }
    let (mut depth, mut all) = (0usize, Vec::new());
    for (at, it) in tokens.iter().enumerate().skip(2) {
        match &it.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            token if depth == 0 => {
                let begins = is_word(token, "create")
                    || is_word(token, "grant") && !is_word(&tokens[at - 1].token, "with");
                if begins {
                    all.push(at);
                }
            }
            _ => {}
        }
    }
    all
}

/// CREATE SCHEMA with statements inside, which are done in PostgreSQL's order.
pub(crate) fn with_elements(schema: Statement, mut all: Vec<Statement>) -> SqlResult<Statement> {
    let Statement::CreateSchema { name, owner, if_not_exists, .. } = schema else {
        return Err(SqlError::internal("no schema around what is made in it"));
    };
    if if_not_exists {
        let message = "CREATE SCHEMA IF NOT EXISTS cannot include schema elements";
        return Err(SqlError::unsupported(message));
    }
    for it in &all {
        let Some((_, made)) = rank(it) else {
            let message = "syntax error: a statement that makes nothing in a schema";
            return Err(SqlError::new(SqlState::SYNTAX, message));
        };
        if let Some(said) = made
            && let (Some(other), _) = names::said(said, "")?
            && other != name
        {
            let message = format!(
                "CREATE specifies a schema ({other}) different from the one being created ({name})"
            );
            return Err(SqlError::new(SqlState("42P15"), message));
        }
    }
    all.sort_by_key(|it| rank(it).map(|it| it.0));
    Ok(Statement::CreateSchema { name, owner, if_not_exists, elements: all })
}

/// When a statement is done among those of CREATE SCHEMA, and the name of what it makes.
fn rank(statement: &Statement) -> Option<(usize, Option<&str>)> {
    Some(match statement {
        Statement::CreateSequence { name, .. } => (0, Some(name)),
        Statement::CreateTable { name, .. } => (1, Some(name)),
        Statement::CreateView { name, materialized: None, .. } => (2, Some(name)),
        Statement::CreateIndex { table, .. } => (3, Some(table)),
        Statement::Roles(_) => (4, None),
        _ => return None,
    })
}

/// `ALTER INDEX i RENAME TO j`
fn rename_index(mut cursor: Cursor<'_>) -> SqlResult<Option<Statement>> {
    if !cursor.take("INDEX") {
        return Ok(None);
    }
    let if_exists = cursor.take_all(&["IF", "EXISTS"]);
    let name = cursor.relation()?;
    if !cursor.take_all(&["RENAME", "TO"]) {
        return Err(unsupported("ALTER INDEX other than RENAME TO"));
    }
    let to = cursor.name("the name of an index")?;
    cursor.expect_end()?;
    Ok(Some(Statement::RenameIndex { name, to, if_exists }))
}

/// `ALTER TABLE | VIEW | SEQUENCE x SET SCHEMA s` gives x a name in s.
fn set_schema(mut cursor: Cursor<'_>) -> SqlResult<Option<Statement>> {
    cursor.take("MATERIALIZED");
    let kinds = ["TABLE", "VIEW", "SEQUENCE"];
    let Some(kind) = kinds.into_iter().find(|it| cursor.take(it)) else { return Ok(None) };
    let if_exists = cursor.take_all(&["IF", "EXISTS"]);
    let Ok(name) = cursor.relation() else { return Ok(None) };
    if !cursor.take_all(&["SET", "SCHEMA"]) {
        return Ok(None);
    }
    let schema = cursor.name("the name of a schema")?;
    cursor.expect_end()?;
    let to = names::written(&[schema, names::bare(&name)]);
    Ok(Some(match kind {
        "TABLE" => {
            Statement::AlterTable { table: name, change: TableChange::Rename(to), if_exists }
        }
        "VIEW" => Statement::RenameView { name, to, if_exists },
        _ => Statement::AlterSequence { name, change: SequenceChange::Rename(to), if_exists },
    }))
}
