//! Domains that tell the types of parameters.

use plan::{Expr, ExprKind};
use sqlparser::ast;
use types::SqlResult;

use super::Binder;

impl Binder<'_> {
    /// Notes that a value becomes one of a domain, if it is a parameter of which nothing is known yet.
    pub(super) fn note_domain(&mut self, value: &Expr, domain: Option<&str>) {
        if let (ExprKind::Parameter(number), Some(domain)) = (&value.kind, domain) {
            self.parameters.put_domain(*number, domain);
        }
    }

    /// The same of a value that is not bound yet.
    pub(super) fn note_domain_of(&mut self, value: &ast::Expr, domain: &str) -> SqlResult<()> {
        match value {
            ast::Expr::Nested(inner) => self.note_domain_of(inner, domain),
            ast::Expr::Value(ast::ValueWithSpan { value: ast::Value::Placeholder(id), .. }) => {
                let number = crate::parameters::number(id)?;
                self.parameters.put_domain(number, domain);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
