//! Numbers of more digits than a DECIMAL has. Beside a float every number is one, and so is such a number; elsewhere it is
//! refused, 22003.

use plan::Expr;
use sqlparser::ast;
use types::numeric;
use types::{DataType, SqlResult, Value};

use super::Binder;
use super::errors::at;
use crate::values::long_number;

impl<'a> Binder<'a> {
    /// The operands of an operator.
    pub(super) fn operands(
        &mut self,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
    ) -> SqlResult<(Expr, Expr)> {
        if long_number(left).is_some() {
            let right = self.expr(right)?;
            Ok((self.beside(right.data_type, left)?, right))
        } else {
            let left = self.expr(left)?;
            let right = self.beside(left.data_type, right)?;
            Ok((left, right))
        }
    }

    /// An expression that meets a value of a type.
    pub(super) fn beside(&mut self, other: DataType, expr: &'a ast::Expr) -> SqlResult<Expr> {
        match long_number(expr) {
            Some(text) if is_float(other) => float(&text, DataType::Double, expr),
            _ => self.expr(expr),
        }
    }

    /// Expressions of which one type is made: of REAL and an exact number that is REAL.
    pub(super) fn together(&mut self, exprs: &[&'a ast::Expr]) -> SqlResult<Vec<Expr>> {
        let bound = exprs.iter().map(|it| self.unless_long(it)).collect::<SqlResult<_>>()?;
        self.with_long(bound, exprs)
    }

    /// An expression, unless what stands beside it has to be known before.
    pub(super) fn unless_long(&mut self, expr: &'a ast::Expr) -> SqlResult<Option<Expr>> {
        match long_number(expr) {
            Some(_) => Ok(None),
            None => self.expr(expr).map(Some),
        }
    }

    /// The expressions of which [`Binder::unless_long`] gave `bound`.
    pub(super) fn with_long(
        &mut self,
        bound: Vec<Option<Expr>>,
        exprs: &[&'a ast::Expr],
    ) -> SqlResult<Vec<Expr>> {
        let types = || bound.iter().flatten().map(|it| it.data_type).filter(|it| is_float(*it));
        let to = types().find(|it| *it == DataType::Double).or_else(|| types().next());
        let each = bound.into_iter().zip(exprs);
        each.map(|(bound, expr)| match (bound, to, long_number(expr)) {
            (Some(bound), ..) => Ok(bound),
            (None, Some(to), Some(text)) => float(&text, to, expr),
            _ => self.expr(expr),
        })
        .collect()
    }
}

fn float(text: &str, to: DataType, expr: &ast::Expr) -> SqlResult<Expr> {
    let text = Value::Text(text.replace('_', "").as_str().into());
    let value = numeric::cast(&text, DataType::Text, to).map_err(|it| at(it, expr))?;
    Ok(Expr::literal(value, to))
}

fn is_float(data_type: DataType) -> bool {
    matches!(data_type, DataType::Real | DataType::Double)
}
