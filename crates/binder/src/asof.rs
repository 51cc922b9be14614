//! DuckDB's `t ASOF [LEFT] JOIN s ON t.k = s.k AND t.at >= s.at`: to each row of `t` the row of `s` that is nearest in the order of
//! the one inequality.
//!
//! Key decision: it becomes the first row of a lateral subquery in that order, so that all that is known of those holds. The
//! parser reads Snowflake's form of it, whose MATCH_CONDITION says here whether rows without a partner stay.

use std::ops::ControlFlow;

use sqlparser::ast::{
    self, BinaryOperator, Expr, Ident, Join, JoinConstraint, JoinOperator, Query, SetExpr,
    TableFactor, TableWithJoins, VisitMut,
};
use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};
use types::{SqlError, SqlResult, SqlState};

use crate::dialect::Postgres;
use crate::steering::is_word;
use crate::syntax::{NESTED_MAX, ident, syntax, unsupported};
use crate::walk::{self, Editor};

/// Whether a statement with such a token may have such a join: the walk is for those alone.
pub(crate) fn is_about(token: &Token) -> bool {
    is_word(token, "match_condition")
}

/// Brings the words of the join to what the parser knows; the tokens have no blanks.
pub(crate) fn known_words(tokens: &mut Vec<TokenWithSpan>) {
    let mut at = 0;
    while at < tokens.len() {
        if begins_filter(&tokens[at..]) {
            // A partner that is nearest is there where any is.
            tokens.remove(at);
        }
        let joins = is_word(&tokens[at].token, "asof")
            && tokens.get(at + 1).is_some_and(|it| {
                ["left", "inner", "join"].iter().any(|word| is_word(&it.token, word))
            });
        at += 1;
        if !joins {
            continue;
        }
        let is_left = is_word(&tokens[at].token, "left");
        while tokens.get(at).is_some_and(|it| {
            ["left", "outer", "inner"].iter().any(|word| is_word(&it.token, word))
        }) {
            tokens.remove(at);
        }
        let Some(condition) = condition_after(tokens, at) else { return };
        let span = tokens[condition].span;
        let word = |value: &str, keyword| {
            Token::Word(Word { value: value.to_owned(), quote_style: None, keyword })
        };
        let keeps = match is_left {
            true => word("TRUE", Keyword::TRUE),
            false => word("FALSE", Keyword::FALSE),
        };
        let words = [
            word("MATCH_CONDITION", Keyword::MATCH_CONDITION),
            Token::LParen,
            keeps,
            Token::RParen,
        ];
        tokens.splice(condition..condition, words.map(|token| TokenWithSpan { token, span }));
    }
}

/// Whether the tokens are `ASOF SEMI | ANTI JOIN` with ON.
fn begins_filter(tokens: &[TokenWithSpan]) -> bool {
    let is = |at: usize, wanted: &str| tokens.get(at).is_some_and(|it| is_word(&it.token, wanted));
    is(0, "asof")
        && (is(1, "semi") || is(1, "anti"))
        && is(2, "join")
        && condition_after(tokens, 2).is_some_and(|it| is(it, "on"))
}

/// The place of the ON or USING of the join whose JOIN stands at a place.
fn condition_after(tokens: &[TokenWithSpan], from: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        match &token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.checked_sub(1)?,
            it if depth == 0 && (is_word(it, "on") || is_word(it, "using")) => return Some(at),
            _ => {}
        }
    }
    None
}

/// Puts lateral subqueries in the places of such joins.
pub(crate) fn expanded(statement: &mut impl VisitMut) -> SqlResult<()> {
    walk::edit(statement, &mut Expanding).break_value().map_or(Ok(()), Err)
}

struct Expanding;

impl Editor for Expanding {
    fn pre_query(&mut self, query: &mut Query) -> ControlFlow<SqlError> {
        match of_body(&mut query.body) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }
}

fn of_body(body: &mut SetExpr) -> SqlResult<()> {
    match body {
        SetExpr::Select(select) => select.from.iter_mut().try_for_each(of_joins),
        SetExpr::SetOperation { left, right, .. } => {
            of_body(left)?;
            of_body(right)
        }
        // Queries are met by themselves.
        _ => Ok(()),
    }
}

fn of_joins(tables: &mut TableWithJoins) -> SqlResult<()> {
    if let TableFactor::NestedJoin { table_with_joins, .. } = &mut tables.relation {
        of_joins(table_with_joins)?;
    }
    let mut left = name_of(&tables.relation);
    for join in &mut tables.joins {
        if let TableFactor::NestedJoin { table_with_joins, .. } = &mut join.relation {
            of_joins(table_with_joins)?;
        }
        if let JoinOperator::AsOf { match_condition, constraint } = &join.join_operator {
            let keeps =
                matches!(match_condition, Expr::Value(it) if it.value == ast::Value::Boolean(true));
            *join = lateral(&join.relation, constraint, left.as_ref(), keeps)?;
        }
        // Columns of several relations have no one name.
        left = None;
    }
    Ok(())
}

/// The name by which the columns of a relation are meant.
fn name_of(relation: &TableFactor) -> Option<Ident> {
    match relation {
        TableFactor::Table { name, alias, .. } => match alias {
            Some(alias) => Some(alias.name.clone()),
            None => name.0.last()?.as_ident().cloned(),
        },
        TableFactor::Derived { alias, .. } => alias.as_ref().map(|it| it.name.clone()),
        _ => None,
    }
}

fn lateral(
    relation: &TableFactor,
    constraint: &JoinConstraint,
    left: Option<&Ident>,
    keeps: bool,
) -> SqlResult<Join> {
    let refused = |what: &str| unsupported(format!("an ASOF join {what}"));
    let right = name_of(relation).ok_or_else(|| refused("with a relation without a name"))?;
    let (columns, condition, order) = match constraint {
        JoinConstraint::On(condition) => {
            let order = order_of(condition, &right)?;
            ("*".to_owned(), condition.to_string(), order)
        }
        JoinConstraint::Using(columns) => {
            let left = left.ok_or_else(|| refused("of several relations with USING"))?;
            let columns: Vec<String> = columns.iter().map(ToString::to_string).collect();
            let Some((last, equal)) = columns.split_last() else {
                return Err(refused("without a column"));
            };
            let mut all: Vec<String> =
                equal.iter().map(|it| format!("{left}.{it} = {right}.{it}")).collect();
            all.push(format!("{left}.{last} >= {right}.{last}"));
            let listed = format!("* EXCLUDE ({})", columns.join(", "));
            (listed, all.join(" AND "), format!("{right}.{last} DESC"))
        }
        _ => return Err(refused("without a condition")),
    };
    let keyword = if keeps { "LEFT JOIN" } else { "JOIN" };
    let text = format!(
        "SELECT 1 FROM x {keyword} LATERAL (SELECT {columns} FROM {relation} WHERE {condition} \
         ORDER BY {order} LIMIT 1) AS {right} ON TRUE"
    );
    let dialect = Postgres::of(text.len());
    let parser = Parser::new(&dialect).with_recursion_limit(NESTED_MAX);
    let query = parser.try_with_sql(&text).and_then(|mut it| it.parse_query());
    let join = match *query.map_err(|it| syntax(&it))?.body {
        SetExpr::Select(mut select) => select.from.pop().and_then(|mut it| it.joins.pop()),
        _ => None,
    };
    join.ok_or_else(|| SqlError::internal("an ASOF join is no join"))
}

/// The order of the rows of the right side in which the first is wanted: by the only inequality of a condition.
fn order_of(condition: &Expr, right: &Ident) -> SqlResult<String> {
    let mut found = Vec::new();
    inequalities(condition, &mut found);
    let [(a, operator, b)] = &found[..] else {
        let message = "an ASOF join needs one inequality beside equalities";
        return Err(SqlError::new(SqlState::SYNTAX, message));
    };
    let is_of = |it: &Expr| match it {
        Expr::CompoundIdentifier(parts) => Some(ident(&parts[0]) == ident(right)),
        _ => None,
    };
    // `b` is of the right side unless the names say otherwise.
    let turned = is_of(a) == Some(true) || is_of(b) == Some(false);
    let below = matches!(operator, BinaryOperator::GtEq | BinaryOperator::Gt) != turned;
    let (column, direction) = (if turned { a } else { b }, if below { "DESC" } else { "ASC" });
    Ok(format!("{column} {direction}"))
}

fn inequalities<'a>(
    condition: &'a Expr,
    found: &mut Vec<(&'a Expr, &'a BinaryOperator, &'a Expr)>,
) {
    match condition {
        Expr::Nested(inner) => inequalities(inner, found),
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
            inequalities(left, found);
            inequalities(right, found);
        }
        Expr::BinaryOp { left, op, right }
            if matches!(
                op,
                BinaryOperator::Gt
                    | BinaryOperator::GtEq
                    | BinaryOperator::Lt
                    | BinaryOperator::LtEq
            ) =>
        {
            found.push((left, op, right));
        }
        _ => {}
    }
}
