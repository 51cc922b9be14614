//! Conditions of domains, in which a value has a name of its own.

use std::ops::ControlFlow;

use sqlparser::ast;
use types::SqlResult;

use crate::syntax::ident;
use crate::walk;

/// What a value is called in the conditions of domains.
pub(crate) const VALUE: &str = "value";

/// A condition of a domain with something else in the place of its value.
pub(crate) fn with_value(condition: &str, value: &ast::Expr) -> SqlResult<ast::Expr> {
    let mut expr = crate::parse::expression(condition)?;
    let ended: ControlFlow<()> = walk::expressions_mut(&mut expr, |it| {
        if matches!(it, ast::Expr::Identifier(name) if ident(name) == VALUE) {
            *it = value.clone();
        }
        ControlFlow::Continue(())
    });
    debug_assert!(ended.is_continue());
    Ok(expr)
}

/// A condition of a domain of a column.
///
/// # Errors
/// Those of parsing it.
pub fn condition_of_column(condition: &str, column: &str) -> SqlResult<String> {
    let column = ast::Expr::Identifier(ast::Ident::with_quote('"', column));
    with_value(condition, &column).map(|it| crate::written::written(&it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_of_a_domain_has_other_names() {
        let of = |condition| condition_of_column(condition, "a b").unwrap();
        assert_eq!(of("VALUE > 0 AND value < 9"), "\"a b\" > 0 AND \"a b\" < 9");
        assert_eq!(of("length(Value) = 'value'::text"), "length(\"a b\") = 'value'::TEXT");
    }
}
