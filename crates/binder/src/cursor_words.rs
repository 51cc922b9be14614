//! `DECLARE name [BINARY] [INSENSITIVE] [[NO] SCROLL] CURSOR [{WITH | WITHOUT} HOLD] FOR query`, FETCH, MOVE and CLOSE.

use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::{SqlError, SqlResult, SqlState};

use crate::cursor::Cursor;
use crate::parsed_query::ParsedQuery;
use crate::session_statement::CursorStep;
use crate::statement::{CursorStatement, Statement};
use crate::syntax::unsupported;

/// A statement about a cursor, as far as it is read here.
pub(crate) enum Recognised {
    /// All of it.
    Whole(Box<Statement>),
    /// DECLARE: its query begins with a token, and the statement is made of that.
    Declares(usize, Declared),
}

/// What DECLARE says before its query.
pub(crate) struct Declared {
    name: String,
    scroll: bool,
    hold: bool,
}

/// The statement, if the tokens are one about cursors.
pub(crate) fn recognise(tokens: &[TokenWithSpan]) -> SqlResult<Option<Recognised>> {
    let mut cursor = Cursor::new(tokens);
    if cursor.take("DECLARE") {
        return declare(&mut cursor).map(|it| Some(Recognised::Declares(cursor.at(), it)));
    }
    let is_move = cursor.sees(&["MOVE"]);
    if is_move || cursor.sees(&["FETCH"]) {
        cursor.advance();
        let (step, name) = step(&mut cursor)?;
        cursor.expect_end()?;
        return whole(CursorStatement::Fetch { name, step, is_move });
    }
    if cursor.take("CLOSE") {
        let name = match cursor.take("ALL") {
            true => None,
            false => Some(cursor.name("the name of a cursor")?),
        };
        cursor.expect_end()?;
        return whole(CursorStatement::Close { name });
    }
    Ok(None)
}

fn whole(statement: CursorStatement) -> SqlResult<Option<Recognised>> {
    Ok(Some(Recognised::Whole(Box::new(Statement::Cursor(statement)))))
}

fn declare(cursor: &mut Cursor<'_>) -> SqlResult<Declared> {
    let name = cursor.name("the name of a cursor")?;
    let mut scroll = None;
    while !cursor.take("CURSOR") {
        let said = match () {
            // The client says by itself in which format it wants values.
            () if cursor.sees(&["BINARY"]) => return Err(unsupported("DECLARE .. BINARY")),
            () if cursor.take("INSENSITIVE") => continue,
            // Its rows are those of the moment when it is opened.
            () if cursor.take("ASENSITIVE") => continue,
            () if cursor.take_all(&["NO", "SCROLL"]) => false,
            () if cursor.take("SCROLL") => true,
            () => return Err(cursor.expected("CURSOR")),
        };
        if scroll.replace(said).is_some_and(|it| it != said) {
            let message = "cannot specify both SCROLL and NO SCROLL";
            return Err(SqlError::new(SqlState("42P11"), message));
        }
    }
    let hold = match cursor.take_all(&["WITH", "HOLD"]) {
        true => true,
        false => {
            cursor.take_all(&["WITHOUT", "HOLD"]);
            false
        }
    };
    cursor.expect("FOR")?;
    Ok(Declared { name, scroll: scroll.unwrap_or(false), hold })
}

/// 0A000: rows of a cursor that stay, or are come back to, are not locked.
fn not_locked(what: &str, which: &str) -> SqlError {
    unsupported(format!("DECLARE {what} ... FOR UPDATE/SHARE"))
        .with_hint(format!("{which} cursors must be READ ONLY."))
}

impl Declared {
    /// The statement, of what its query came to.
    pub(crate) fn of(self, query: Vec<Statement>) -> SqlResult<Statement> {
        let Self { name, scroll, hold } = self;
        let query: ParsedQuery = match query.into_iter().next() {
            Some(Statement::Query { query }) => query,
            Some(Statement::Change { query }) if query.locks_rows() => match (scroll, hold) {
                (false, false) => query,
                (true, _) => return Err(not_locked("SCROLL CURSOR", "Scrollable")),
                (false, true) => return Err(not_locked("CURSOR WITH HOLD", "Holdable")),
            },
            Some(Statement::InSteps { .. }) => {
                let message = "DECLARE CURSOR must not contain data-modifying statements in WITH";
                return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
            }
            _ => {
                return Err(SqlError::new(SqlState::SYNTAX, "syntax error: DECLARE takes a query"));
            }
        };
        Ok(Statement::Cursor(CursorStatement::Declare { name, scroll, hold, query }))
    }
}

/// `[direction] [FROM | IN] name`.
fn step(cursor: &mut Cursor<'_>) -> SqlResult<(CursorStep, String)> {
    let step = direction(cursor)?;
    let _ = cursor.take("FROM") || cursor.take("IN");
    let name = cursor.name("the name of a cursor")?;
    Ok((step, name))
}

fn direction(cursor: &mut Cursor<'_>) -> SqlResult<CursorStep> {
    // A cursor may be called as a direction is: that is a name where nothing stands behind it.
    let mut ahead = *cursor;
    ahead.advance();
    if ahead.is_at_end() {
        return Ok(CursorStep::Forward(1));
    }
    for (word, step) in [
        ("NEXT", CursorStep::Forward(1)),
        ("PRIOR", CursorStep::Forward(-1)),
        ("FIRST", CursorStep::Absolute(1)),
        ("LAST", CursorStep::Absolute(-1)),
        ("ALL", CursorStep::ForwardAll),
    ] {
        if cursor.take(word) {
            return Ok(step);
        }
    }
    if cursor.take("ABSOLUTE") {
        return expected_count(cursor).map(CursorStep::Absolute);
    }
    if cursor.take("RELATIVE") {
        return expected_count(cursor).map(CursorStep::Relative);
    }
    if cursor.take("FORWARD") {
        return Ok(match cursor.take("ALL") {
            true => CursorStep::ForwardAll,
            false => CursorStep::Forward(count(cursor)?.unwrap_or(1)),
        });
    }
    if cursor.take("BACKWARD") {
        return Ok(match cursor.take("ALL") {
            true => CursorStep::BackwardAll,
            false => CursorStep::Forward(-count(cursor)?.unwrap_or(1)),
        });
    }
    Ok(CursorStep::Forward(count(cursor)?.unwrap_or(1)))
}

fn expected_count(cursor: &mut Cursor<'_>) -> SqlResult<i64> {
    count(cursor)?.ok_or_else(|| cursor.expected("a number of rows"))
}

/// A number of rows with a sign or without, of 32 bits as PostgreSQL has it; `None` where there is none.
fn count(cursor: &mut Cursor<'_>) -> SqlResult<Option<i64>> {
    let is_negative = cursor.take_sign(&Token::Minus);
    let is_signed = is_negative || cursor.take_sign(&Token::Plus);
    if !is_signed && !matches!(cursor.peek(), Some(Token::Number(..))) {
        return Ok(None);
    }
    let most = u64::from(i32::MAX.unsigned_abs());
    let number = cursor.number("a number of rows")?;
    let number = i64::try_from(number.min(most + 1)).unwrap_or(i64::MAX);
    if number > i64::from(i32::MAX) {
        return Err(cursor.expected("a number of rows of 32 bits"));
    }
    Ok(Some(if is_negative { -number } else { number }))
}
