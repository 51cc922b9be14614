//! What ALTER TABLE says of pages and of statistics: `SET (fillfactor = 70)`, `RESET (..)`, `ALTER a SET STATISTICS 100`, `SET STORAGE`,
//! `SET WITHOUT CLUSTER`. It is read and checked as PostgreSQL does, and means nothing here.

use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::{SqlError, SqlResult, SqlState};

use crate::cursor::Cursor;
use crate::design::{RuleChange, TableChange};
use crate::statement::Statement;

/// What a storage parameter takes.
enum Takes {
    /// A number of a range.
    Number(f64, f64),
    Truth,
}

/// The parameters of a table, those that begin with `autovacuum_` and the like among them.
fn of_table(name: &str) -> Option<Takes> {
    let name = name.strip_prefix("toast.").unwrap_or(name);
    Some(match name {
        "fillfactor" => Takes::Number(10.0, 100.0),
        "toast_tuple_target" => Takes::Number(128.0, 8_160.0),
        "parallel_workers" => Takes::Number(0.0, 1_024.0),
        "autovacuum_enabled" | "user_catalog_table" | "vacuum_truncate" => Takes::Truth,
        "vacuum_index_cleanup" | "log_autovacuum_min_duration" => Takes::Number(f64::MIN, f64::MAX),
        "vacuum_max_eager_freeze_failure_rate" => Takes::Number(0.0, 1.0),
        "autovacuum_vacuum_scale_factor"
        | "autovacuum_vacuum_insert_scale_factor"
        | "autovacuum_analyze_scale_factor" => Takes::Number(0.0, 100.0),
        it if it.starts_with("autovacuum_") => Takes::Number(-1.0, f64::MAX),
        _ => return None,
    })
}

fn of_column(name: &str) -> Option<Takes> {
    ["n_distinct", "n_distinct_inherited"].contains(&name).then_some(Takes::Number(-1.0, f64::MAX))
}

/// One of these statements, if the tokens are one.
pub(crate) fn recognise(tokens: &[TokenWithSpan]) -> SqlResult<Option<Statement>> {
    let mut cursor = Cursor::new(tokens);
    if !cursor.take_all(&["ALTER", "TABLE"]) {
        return Ok(None);
    }
    let if_exists = cursor.take_all(&["IF", "EXISTS"]);
    let Ok(table) = cursor.relation() else { return Ok(None) };
    let column = match cursor.take("ALTER") {
        true => {
            cursor.take("COLUMN");
            match cursor.name("the name of a column") {
                Ok(it) => Some(it),
                Err(_) => return Ok(None),
            }
        }
        false => None,
    };
    let is_one = match &column {
        None => about_table(&mut cursor)?,
        Some(_) => about_column(&mut cursor)?,
    };
    if !is_one {
        return Ok(None);
    }
    cursor.expect_end()?;
    let change = TableChange::Rules(vec![RuleChange::Parameters { column }]);
    Ok(Some(Statement::AlterTable { table, change, if_exists }))
}

fn about_table(cursor: &mut Cursor<'_>) -> SqlResult<bool> {
    if cursor.take_all(&["SET", "WITHOUT", "CLUSTER"])
        || cursor.take_all(&["SET", "WITHOUT", "OIDS"])
    {
        return Ok(true);
    }
    options(cursor, of_table)
}

fn about_column(cursor: &mut Cursor<'_>) -> SqlResult<bool> {
    if cursor.take_all(&["SET", "STATISTICS"]) {
        let is_negative = cursor.take_sign(&Token::Minus);
        if cursor.take("DEFAULT") {
            return Ok(true);
        }
        let target = cursor.number("how much is told of a column")?;
        if is_negative && target > 1 {
            let message = format!("statistics target -{target} is too low");
            return Err(SqlError::new(SqlState::INVALID_PARAMETER, message));
        }
        return Ok(true);
    }
    if cursor.take_all(&["SET", "STORAGE"]) {
        let known = ["PLAIN", "EXTERNAL", "EXTENDED", "MAIN", "DEFAULT"];
        if known.iter().any(|it| cursor.take(it)) {
            return Ok(true);
        }
        let said = cursor.name("a way of storing")?;
        let message = format!("invalid storage type \"{said}\"");
        return Err(SqlError::new(SqlState::INVALID_PARAMETER, message));
    }
    options(cursor, of_column)
}

/// `SET (name = value, ..)` or `RESET (name, ..)`.
fn options(cursor: &mut Cursor<'_>, takes: fn(&str) -> Option<Takes>) -> SqlResult<bool> {
    let sets = cursor.sees(&["SET"]);
    let mut ahead = *cursor;
    if !(ahead.take("SET") || ahead.take("RESET")) || ahead.peek() != Some(&Token::LParen) {
        return Ok(false);
    }
    *cursor = ahead;
    cursor.list(|it| option(it, sets, takes))?;
    Ok(true)
}

fn option(cursor: &mut Cursor<'_>, sets: bool, takes: fn(&str) -> Option<Takes>) -> SqlResult<()> {
    let mut name = cursor.name("the name of a parameter")?;
    if cursor.take_sign(&Token::Period) {
        name = format!("{name}.{}", cursor.name("the name of a parameter")?);
    }
    let Some(takes) = takes(&name) else {
        let message = format!("unrecognized parameter \"{name}\"");
        return Err(SqlError::new(SqlState::INVALID_PARAMETER, message));
    };
    if !sets {
        return Ok(());
    }
    let value = match cursor.take_sign(&Token::Eq) {
        true => value(cursor)?,
        false => "true".to_owned(),
    };
    let wrong = |message: String| Err(SqlError::new(SqlState::INVALID_PARAMETER, message));
    match takes {
        Takes::Truth if !is_truth(&value) => {
            wrong(format!("invalid value for boolean option \"{name}\": {value}"))
        }
        Takes::Truth => Ok(()),
        // It takes words, too.
        Takes::Number(f64::MIN, _) => Ok(()),
        Takes::Number(least, most) => match value.parse::<f64>() {
            Ok(it) if (least..=most).contains(&it) => Ok(()),
            Ok(_) => wrong(format!("value {value} out of bounds for option \"{name}\"")),
            Err(_) => wrong(format!("invalid value for integer option \"{name}\": {value}")),
        },
    }
}

fn is_truth(value: &str) -> bool {
    ["true", "false", "on", "off", "yes", "no", "1", "0"].contains(&&*value.to_lowercase())
}

fn value(cursor: &mut Cursor<'_>) -> SqlResult<String> {
    let sign = if cursor.take_sign(&Token::Minus) { "-" } else { "" };
    let value = match cursor.peek() {
        Some(Token::Number(it, _) | Token::SingleQuotedString(it)) => it.clone(),
        Some(Token::Word(it)) => it.value.clone(),
        _ => return Err(cursor.expected("the value of a parameter")),
    };
    cursor.advance();
    Ok(format!("{sign}{value}"))
}
