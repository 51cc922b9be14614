//! Words and constants of VALUES: DEFAULT, and numbers with the minuses before them.

use sqlparser::ast::{Expr, UnaryOperator, Value};

/// Whether an expression is the word DEFAULT.
pub(crate) fn is_default(expr: &Expr) -> bool {
    matches!(expr, Expr::Identifier(it)
        if it.quote_style.is_none() && it.value.eq_ignore_ascii_case("default"))
}

/// A number and the minuses before it, of which two are none; parentheses mean nothing.
pub(crate) fn signed(expr: &Expr) -> Option<String> {
    let (mut minus, mut expr) = (false, expr);
    loop {
        match expr {
            Expr::Nested(it) => expr = it,
            Expr::UnaryOp { op: UnaryOperator::Minus, expr: operand } => {
                (minus, expr) = (!minus, operand);
            }
            Expr::Value(it) => {
                let Value::Number(text, _) = &it.value else { return None };
                return Some(format!("{}{text}", if minus { "-" } else { "" }));
            }
            _ => return None,
        }
    }
}
