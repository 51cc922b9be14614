//! Where expressions that are kept as text name columns: CHECK constraints, when a column or its table gets another name.

use std::ops::ControlFlow;

use sqlparser::ast::{self, Expr, Ident};
use types::SqlResult;

use crate::syntax::ident;
use crate::walk::{self, any_expression};

/// Whether an expression names a column.
pub fn names_column(expression: &str, column: &str) -> SqlResult<bool> {
    Ok(which_named(expression, &[column])?[0])
}

/// Which of the columns an expression names.
pub fn which_named(expression: &str, columns: &[&str]) -> SqlResult<Vec<bool>> {
    let expr = crate::parse::expression(expression)?;
    let mut named = vec![false; columns.len()];
    any_expression(&expr, |it| {
        let name = match it {
            Expr::Identifier(it) => Some(it),
            Expr::CompoundIdentifier(parts) => parts.last(),
            _ => None,
        };
        if let Some(name) = name.map(ident) {
            for (named, column) in named.iter_mut().zip(columns) {
                *named |= name.eq_ignore_ascii_case(column);
            }
        }
        false
    });
    Ok(named)
}

/// The expression with another name for a column.
pub fn with_column_renamed(expression: &str, from: &str, to: &str) -> SqlResult<String> {
    renamed(
        expression,
        &|expr| match expr {
            Expr::Identifier(it) => Some(it),
            Expr::CompoundIdentifier(parts) => parts.last_mut(),
            _ => None,
        },
        (from, to),
    )
}

/// The expression with another name for the table whose columns it names.
pub fn with_table_renamed(expression: &str, from: &str, to: &str) -> SqlResult<String> {
    renamed(
        expression,
        &|expr| match expr {
            Expr::CompoundIdentifier(parts) => {
                let before = parts.len().checked_sub(2)?;
                parts.get_mut(before)
            }
            _ => None,
        },
        (from, to),
    )
}

fn renamed(
    expression: &str,
    place: &dyn for<'a> Fn(&'a mut Expr) -> Option<&'a mut Ident>,
    (from, to): (&str, &str),
) -> SqlResult<String> {
    let mut expr = crate::parse::expression(expression)?;
    let walked: ControlFlow<()> = walk::expressions_mut(&mut expr, |it| {
        if let Some(name) = place(it)
            && ident(name).eq_ignore_ascii_case(from)
        {
            *name = Ident::with_quote('"', to);
        }
        ControlFlow::Continue(())
    });
    debug_assert!(walked.is_continue());
    Ok(crate::written::written(&expr))
}

/// Whether an expression is a text in quotes or NULL, which is of whatever type is wanted.
pub fn is_untyped(expression: &str) -> SqlResult<bool> {
    let mut expr = crate::parse::expression(expression)?;
    while let Expr::Nested(inner) = expr {
        expr = *inner;
    }
    Ok(match expr {
        Expr::Value(it) => {
            matches!(it.value, ast::Value::Null | ast::Value::SingleQuotedString(_))
        }
        _ => false,
    })
}

/// Whether an expression has a query in it.
pub fn has_subquery(expression: &str) -> SqlResult<bool> {
    let expr = crate::parse::expression(expression)?;
    Ok(any_expression(&expr, |it| {
        matches!(it, Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. })
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_replaced_where_they_are_columns() {
        let text = "t.a > 1 AND b < upper('a') || a";
        assert!(names_column(text, "A").unwrap() && !names_column(text, "upper").unwrap());
        assert_eq!(
            with_column_renamed(text, "a", "c d").unwrap(),
            "t.\"c d\" > 1 AND b < upper('a') || \"c d\""
        );
        assert_eq!(
            with_table_renamed(text, "t", "u").unwrap(),
            "\"u\".a > 1 AND b < upper('a') || a"
        );
        assert!(is_untyped("(NULL)").unwrap() && is_untyped("'5'").unwrap());
        assert!(!is_untyped("5").unwrap());
        assert!(has_subquery("a + (SELECT 1)").unwrap() && !has_subquery("a + 1").unwrap());
    }
}
