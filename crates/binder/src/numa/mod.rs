//! Statements about nodes and parts, in SAP HANA's spelling, which the parser of SQL does not know.
//!
//! Key decision: the clauses are recognised among the tokens of a statement and cut out of it; the rest goes to the
//! parser as if they had never been there, so that all else about CREATE TABLE stays in one place.

mod clauses;

use std::ops::Range;

use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::{SqlError, SqlResult, SqlState};

use crate::cursor::Cursor;
use crate::design::{DesignClause, PlacedItem, TableChange};
use crate::statement::Statement;
use clauses::{nodes, partition, sees_nodes, sees_partition};

/// What became of the tokens of a statement.
pub enum Recognised {
    /// It is a statement of this module.
    Whole(Statement),
    /// It is a CREATE TABLE; these tokens are left of it for the parser.
    Rest(Vec<TokenWithSpan>, DesignClause),
    /// It is something else.
    Nothing,
}

/// Looks at the tokens of one statement.
pub fn recognise(tokens: &[TokenWithSpan]) -> SqlResult<Recognised> {
    let cursor = Cursor::new(tokens);
    if cursor.sees(&["CREATE"]) {
        create(tokens, cursor)
    } else if cursor.sees(&["ALTER", "TABLE"]) && !changes_rules(cursor) {
        alter(cursor).map(Recognised::Whole)
    } else if cursor.sees(&["CALL"]) {
        call(cursor).map(Recognised::Whole)
    } else {
        Ok(Recognised::Nothing)
    }
}

/// Cuts the clauses out of a CREATE TABLE.
fn create(tokens: &[TokenWithSpan], mut cursor: Cursor<'_>) -> SqlResult<Recognised> {
    let mut cuts: Vec<Range<usize>> = Vec::new();
    cursor.advance();
    cursor.take_all(&["OR", "REPLACE"]);
    let _ = cursor.take("LOCAL") || cursor.take("GLOBAL");
    let _ = cursor.take("TEMPORARY") || cursor.take("TEMP");
    // In HANA a table is of columns or of rows; here there is no choice.
    let begin = cursor.at();
    if cursor.sees(&["COLUMN", "TABLE"]) {
        cursor.advance();
        cuts.push(begin..cursor.at());
    }
    if !cursor.take("TABLE") {
        return Ok(Recognised::Nothing);
    }
    cursor.take_all(&["IF", "NOT", "EXISTS"]);
    if !matches!(cursor.peek(), Some(Token::Word(_))) {
        return Ok(Recognised::Nothing);
    }
    cursor.relation()?;
    let mut design = DesignClause::default();
    if cursor.peek() == Some(&Token::LParen) {
        columns(&mut cursor, &mut design, &mut cuts)?;
    }
    table_clauses(&mut cursor, &mut design, &mut cuts)?;
    if cursor.take("AS") {
        cursor.skip_to(|it| sees_nodes(it) || sees_partition(it));
        table_clauses(&mut cursor, &mut design, &mut cuts)?;
    }
    if cuts.is_empty() {
        return Ok(Recognised::Nothing);
    }
    let stays = |at: usize| cuts.iter().all(|it| !it.contains(&at));
    let rest = tokens.iter().enumerate().filter(|it| stays(it.0)).map(|it| it.1.clone());
    Ok(Recognised::Rest(rest.collect(), design))
}

/// Cuts the clauses out of a list of columns.
fn columns(
    cursor: &mut Cursor<'_>,
    design: &mut DesignClause,
    cuts: &mut Vec<Range<usize>>,
) -> SqlResult<()> {
    loop {
        // Past the bracket or the comma: the name comes next.
        cursor.advance();
        if cursor.take_sign(&Token::RParen) {
            return Ok(());
        }
        let named = *cursor;
        cursor.advance();
        loop {
            cursor.skip_to(|it| sees_nodes(it) || it.peek() == Some(&Token::Comma));
            if !sees_nodes(cursor) {
                break;
            }
            let begin = cursor.at();
            let clause = nodes(cursor)?;
            cuts.push(begin..cursor.at());
            design.columns.push((Cursor::name(&mut { named }, "the name of a column")?, clause));
        }
        if cursor.peek() != Some(&Token::Comma) {
            cursor.take_sign(&Token::RParen);
            return Ok(());
        }
    }
}

/// Cuts out the clauses that stand here.
fn table_clauses(
    cursor: &mut Cursor<'_>,
    design: &mut DesignClause,
    cuts: &mut Vec<Range<usize>>,
) -> SqlResult<()> {
    loop {
        let begin = *cursor;
        let twice = |what: &str| begin.error(SqlState::SYNTAX, &format!("{what} is said twice"));
        if sees_partition(cursor) {
            let clause = partition(cursor)?;
            if design.partition.replace(clause).is_some() {
                return Err(twice("PARTITION BY"));
            }
        } else if sees_nodes(cursor) {
            let clause = nodes(cursor)?;
            if design.nodes.replace(clause).is_some() {
                return Err(twice("NUMA NODE"));
            }
        } else {
            return Ok(());
        }
        cuts.push(begin.at()..cursor.at());
    }
}

/// `ALTER TABLE t ..`.
fn alter(mut cursor: Cursor<'_>) -> SqlResult<Statement> {
    cursor.advance();
    cursor.advance();
    let table = cursor.relation()?;
    let change = if sees_nodes(&cursor) {
        place(PlacedItem::Table, &mut cursor)?
    } else if sees_partition(&cursor) {
        let partition = partition(&mut cursor)?;
        let nodes = if sees_nodes(&cursor) { Some(nodes(&mut cursor)?) } else { None };
        TableChange::Partition { partition, nodes }
    } else if cursor.take_all(&["MERGE", "PARTITIONS"]) {
        TableChange::Merge { parts: part_range(&mut cursor)? }
    } else if cursor.take_all(&["SPLIT", "PARTITION"]) {
        split(&mut cursor)?
    } else if cursor.take_all(&["ALTER", "PARTITION"]) || cursor.take("PARTITION") {
        let part = cursor.number("the number of a part, or BY")?;
        place(PlacedItem::Part(part), &mut cursor)?
    } else if cursor.take("ROWS") {
        let begin = cursor;
        let first = cursor.number("the number of a row")?;
        cursor.expect("TO")?;
        let last = cursor.number("the number of a row")?;
        if last < first {
            let message = format!("rows {first} TO {last} are in the wrong order");
            return Err(begin.error(SqlState::SYNTAX, &message));
        }
        place(PlacedItem::Rows { first, last }, &mut cursor)?
    } else if cursor.take("ALTER") {
        alter_columns(&mut cursor)?
    } else {
        return Err(no_such_change(&cursor));
    };
    cursor.expect_end()?;
    Ok(Statement::AlterTable { table, change, if_exists: false })
}

/// Whether an ALTER TABLE is about what the table holds, and not about parts and nodes.
fn changes_rules(mut cursor: Cursor<'_>) -> bool {
    cursor.advance();
    cursor.advance();
    if cursor.take_all(&["IF", "EXISTS"]) || cursor.sees(&["ONLY"]) {
        return true;
    }
    if cursor.relation().is_err() {
        return false;
    }
    if ["ADD", "DROP", "RENAME", "VALIDATE"].iter().any(|it| cursor.sees(&[it])) {
        return true;
    }
    if !cursor.take("ALTER") || cursor.peek() == Some(&Token::LParen) {
        return false;
    }
    let mut after = cursor;
    after.advance();
    let says = |it: &Cursor<'_>| ["SET", "DROP", "TYPE"].iter().any(|word| it.sees(&[word]));
    cursor.take("COLUMN");
    cursor.advance();
    says(&after) || says(&cursor)
}

fn no_such_change(cursor: &Cursor<'_>) -> SqlError {
    let Some(Token::Word(word)) = cursor.peek() else {
        return cursor.expected("NUMA NODE, PARTITION, ALTER, ROWS, MERGE or SPLIT");
    };
    let message = format!("ALTER TABLE .. {} is not supported,", word.value.to_uppercase());
    cursor.error(SqlState::FEATURE_NOT_SUPPORTED, &message).with_hint(
        "ALTER TABLE places and partitions: NUMA NODE, PARTITION BY, MERGE PARTITIONS, \
         SPLIT PARTITION, ALTER COLUMN c NUMA NODE, PARTITION n NUMA NODE, ROWS a TO b NUMA NODE",
    )
}

fn place(item: PlacedItem, cursor: &mut Cursor<'_>) -> SqlResult<TableChange> {
    Ok(TableChange::Place(vec![(item, nodes(cursor)?)]))
}

/// `ALTER [COLUMN] c NUMA NODE ..`, or as in HANA `ALTER (c INTEGER NUMA NODE .., d NUMA NODE ..)`.
fn alter_columns(cursor: &mut Cursor<'_>) -> SqlResult<TableChange> {
    fn column(cursor: &mut Cursor<'_>) -> SqlResult<(PlacedItem, crate::design::NodeClause)> {
        let name = cursor.name("the name of a column")?;
        let data_type =
            cursor.data_type(|it| sees_nodes(it) || it.peek() == Some(&Token::Comma))?;
        if !sees_nodes(cursor) {
            return Err(cursor.expected("NUMA NODE"));
        }
        Ok((PlacedItem::Column { name, data_type }, nodes(cursor)?))
    }
    if cursor.peek() == Some(&Token::LParen) {
        return Ok(TableChange::Place(cursor.list(column)?));
    }
    // A column may be called "column".
    if !cursor.sees(&["COLUMN", "NUMA", "NODE"]) {
        cursor.take("COLUMN");
    }
    Ok(TableChange::Place(vec![column(cursor)?]))
}

/// `[a TO b]`.
fn part_range(cursor: &mut Cursor<'_>) -> SqlResult<Option<(u64, u64)>> {
    if cursor.is_at_end() {
        return Ok(None);
    }
    let begin = *cursor;
    let first = cursor.number("the number of a part")?;
    cursor.expect("TO")?;
    let last = cursor.number("the number of a part")?;
    if last <= first {
        let message = format!("parts {first} TO {last} are not several in order");
        return Err(begin.error(SqlState::SYNTAX, &message));
    }
    Ok(Some((first, last)))
}

/// `[n] AT (value)`.
fn split(cursor: &mut Cursor<'_>) -> SqlResult<TableChange> {
    let part = if cursor.sees(&["AT"]) {
        None
    } else {
        Some(cursor.number("the number of a part, or AT")?)
    };
    cursor.expect("AT")?;
    cursor.expect_sign(&Token::LParen)?;
    let at = cursor.expression(|_| false)?;
    cursor.expect_sign(&Token::RParen)?;
    Ok(TableChange::Split { part, at })
}

/// `CALL schema.procedure(a, 'b')`.
fn call(mut cursor: Cursor<'_>) -> SqlResult<Statement> {
    cursor.advance();
    let mut procedure = cursor.name("the name of a procedure")?;
    while cursor.take_sign(&Token::Period) {
        procedure = format!("{procedure}.{}", cursor.name("the name of a procedure")?);
    }
    let mut arguments = Vec::new();
    if cursor.peek() == Some(&Token::LParen) {
        let mut ahead = cursor;
        ahead.advance();
        if ahead.take_sign(&Token::RParen) {
            cursor = ahead;
        } else {
            arguments = cursor.list(|it| match it.peek() {
                Some(Token::SingleQuotedString(text) | Token::Number(text, _)) => {
                    it.advance();
                    Ok(text.clone())
                }
                Some(Token::Word(_)) => it.relation(),
                _ => Err(it.expected("a text, a number or a name")),
            })?;
        }
    }
    cursor.expect_end()?;
    Ok(Statement::Call { procedure, arguments })
}
