//! Indexes on expressions, and on the rows of a WHERE alone: how they are kept, and how ON CONFLICT finds them.
//!
//! Key decision: what such an index is of is a column that is generated and that no text can spell, NULL in rows that the index
//! does not have. So keys, locks, files and the log know columns alone, and what is NULL is like nothing.

use std::ops::ControlFlow;

use sqlparser::ast::{self, Expr};
use types::SqlResult;

use crate::constraint::IndexItem;
use crate::syntax::{bare, ident};
use crate::walk;

/// The expression of the column of an item: of the rows for which a condition holds, if there is one.
pub fn kept(item: &str, predicate: Option<&str>) -> String {
    match predicate {
        Some(it) => format!("CASE WHEN ({it}) THEN ({item}) END"),
        None => format!("({item})"),
    }
}

/// What [`kept`] has made an expression of: the item and the condition.
pub fn kept_parts(expression: &str) -> SqlResult<(IndexItem, Option<String>)> {
    let expr = crate::parse::expression(expression)?;
    let (item, predicate) = parts(&expr);
    let item = match item {
        Expr::Identifier(it) => IndexItem::Column(ident(it)),
        other => IndexItem::Expression(crate::written::written(other)),
    };
    Ok((item, predicate.map(crate::written::written)))
}

/// An expression of an index as it is written among its columns: calls stand for themselves, all else in parentheses.
pub fn written(expression: &str) -> SqlResult<String> {
    Ok(match crate::parse::expression(expression)? {
        Expr::Function(_) => expression.to_owned(),
        _ => format!("({expression})"),
    })
}

/// Whether an expression is a call alone.
pub fn is_call(expression: &str) -> bool {
    matches!(crate::parse::expression(expression), Ok(Expr::Function(_)))
}

/// A condition or an expression as PostgreSQL's catalog tells it: operators in parentheses, but for the AND or OR of several
/// that stand in one, and columns, constants and calls without.
pub fn told(expression: &str) -> SqlResult<String> {
    let mut expr = crate::parse::expression(expression)?;
    let walked: ControlFlow<()> = walk::expressions_mut(&mut expr, |it| {
        told_part(it);
        ControlFlow::Continue(())
    });
    debug_assert!(walked.is_continue());
    Ok(crate::written::written(&expr))
}

/// The same of one node, whose parts are so already.
pub(crate) fn told_part(expr: &mut Expr) {
    match expr {
        Expr::Nested(inner) => {
            if matches!(**inner, Expr::Nested(_) | Expr::Function(_) | Expr::Value(_)) {
                let inner = taken(inner);
                *expr = inner;
            }
            return;
        }
        Expr::BinaryOp { left, op, .. }
            if matches!(*op, ast::BinaryOperator::And | ast::BinaryOperator::Or) =>
        {
            if let Expr::Nested(inner) = &mut **left
                && let Expr::BinaryOp { op: of_left, .. } = &**inner
                && *of_left == *op
            {
                let inner = taken(inner);
                **left = inner;
            }
        }
        Expr::UnaryOp { expr: of, .. } if matches!(**of, Expr::Value(_)) => return,
        Expr::BinaryOp { .. }
        | Expr::UnaryOp { .. }
        | Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::IsTrue(_)
        | Expr::IsNotTrue(_)
        | Expr::IsFalse(_)
        | Expr::IsNotFalse(_)
        | Expr::IsDistinctFrom(..)
        | Expr::IsNotDistinctFrom(..)
        | Expr::Between { .. }
        | Expr::InList { .. }
        | Expr::Like { .. }
        | Expr::ILike { .. } => {}
        _ => return,
    }
    let own = taken(expr);
    *expr = Expr::Nested(Box::new(own));
}

/// A node out of its place.
fn taken(expr: &mut Expr) -> Expr {
    std::mem::replace(expr, Expr::Identifier(ast::Ident::new("")))
}

/// What the name of an index calls an expression.
pub fn called(expression: &str) -> SqlResult<String> {
    let expr = crate::parse::expression(expression)?;
    Ok(match bare(&expr) {
        Expr::Function(it) => it.name.0.last().and_then(|it| it.as_ident()).map(ident),
        _ => None,
    }
    .unwrap_or_else(|| "expr".to_owned()))
}

/// The item and the condition of the expression of a column.
pub(crate) fn parts(expr: &Expr) -> (&Expr, Option<&Expr>) {
    match expr {
        Expr::Case { operand: None, conditions, else_result: None, .. }
            if conditions.len() == 1 =>
        {
            (bare(&conditions[0].result), Some(bare(&conditions[0].condition)))
        }
        other => (bare(other), None),
    }
}

/// A text that is the same for expressions that are written alike but for case, parentheses around them and the name of their table.
pub(crate) fn normalized(expr: &Expr) -> String {
    let mut expr = bare(expr).clone();
    let walked: ControlFlow<()> = walk::expressions_mut(&mut expr, |it| {
        let named = match it {
            Expr::Identifier(name) => Some(ident(name)),
            Expr::CompoundIdentifier(parts) => parts.last().map(ident),
            Expr::Function(call) => {
                for part in call.name.0.iter_mut() {
                    if let ast::ObjectNamePart::Identifier(name) = part {
                        *name = ast::Ident::with_quote('"', ident(name));
                    }
                }
                None
            }
            _ => None,
        };
        if let Some(name) = named {
            *it = Expr::Identifier(ast::Ident::with_quote('"', name));
        }
        ControlFlow::Continue(())
    });
    debug_assert!(walked.is_continue());
    expr.to_string()
}

/// What must all hold for a condition to hold.
pub(crate) fn conjuncts(expr: &Expr) -> Vec<String> {
    match bare(expr) {
        Expr::BinaryOp { left, op: ast::BinaryOperator::And, right } => {
            let mut all = conjuncts(left);
            all.extend(conjuncts(right));
            all
        }
        other => vec![normalized(other)],
    }
}

/// What [`crate::conflict_words`] has made a column of: the items and the condition.
pub(crate) fn inferred(column: &ast::Ident) -> SqlResult<Option<(Vec<Expr>, Option<Expr>)>> {
    let Some(said) = column.value.strip_prefix('\0') else { return Ok(None) };
    let Some((items, condition)) = said.split_once('\0') else { return Ok(None) };
    let items = match crate::parse::expression(&format!("({items})"))? {
        Expr::Tuple(items) => items,
        Expr::Nested(only) => vec![*only],
        other => vec![other],
    };
    let condition = match condition.is_empty() {
        true => None,
        false => Some(crate::parse::expression(condition)?),
    };
    Ok(Some((items, condition)))
}
