//! WHERE: conjuncts, and the joins that subqueries in them become.

use datafusion_sql::sqlparser::ast;
use plan::{Expr, ExprKind};
use types::DataType;

use super::Binder;
use super::scope::Scope;
use super::tables::join;
use plan::relation::{Rel, RelJoin, split_conjunction};

/// The conjuncts of a condition as it is written.
fn conjuncts(mut condition: &ast::Expr) -> Vec<&ast::Expr> {
    let mut found = Vec::new();
    loop {
        match condition {
            ast::Expr::Nested(inner) => condition = inner,
            ast::Expr::BinaryOp { left, op: ast::BinaryOperator::And, right } => {
                found.extend(conjuncts(right).into_iter().rev());
                condition = left;
            }
            other => {
                found.push(other);
                found.reverse();
                return found;
            }
        }
    }
}

impl<'a> Binder<'a> {
    /// Puts a condition over a relation. Conjuncts that use columns of the query around go to `correlated`.
    pub(super) fn filter(
        &mut self,
        mut rel: Rel,
        condition: &'a ast::Expr,
        scope: &Scope<'_>,
        mut correlated: Option<&mut Vec<Expr>>,
    ) -> Option<Rel> {
        let mut plain = Vec::new();
        for conjunct in conjuncts(condition) {
            let uses = self.level.outer_uses;
            match conjunct {
                ast::Expr::Exists { subquery, negated } => {
                    rel = self.exists(rel, subquery, *negated, scope)?;
                }
                ast::Expr::InSubquery { expr, subquery, negated } => {
                    rel = self.membership(rel, expr, subquery, *negated, scope)?;
                    if self.level.outer_uses > uses {
                        return None;
                    }
                }
                other => {
                    let pending = self.level.pending.len();
                    let predicate = self.predicate(other, scope)?;
                    if self.level.outer_uses == uses {
                        split_conjunction(predicate, &mut plain);
                        continue;
                    }
                    if self.level.pending.len() > pending {
                        return None;
                    }
                    self.level.outer_uses = uses;
                    split_conjunction(predicate, correlated.as_deref_mut()?);
                }
            }
        }
        for (right, on) in std::mem::take(&mut self.level.pending) {
            rel = Rel::Join(Box::new(join(RelJoin::Left, rel, right, on)));
        }
        Some(rel.filtered(plain))
    }

    /// A Boolean expression that is no constant.
    pub(super) fn predicate(&mut self, expr: &'a ast::Expr, scope: &Scope<'_>) -> Option<Expr> {
        let bound = self.expr(expr, scope)?;
        let is_constant = matches!(bound.kind, ExprKind::Literal(_));
        (bound.data_type == DataType::Boolean && !is_constant).then_some(bound)
    }
}

#[cfg(test)]
mod tests {
    use datafusion_sql::sqlparser::dialect::PostgreSqlDialect;
    use datafusion_sql::sqlparser::parser::Parser;

    use super::*;

    #[test]
    fn conjuncts_keep_their_order() {
        let parse = |sql| {
            let mut parser = Parser::new(&PostgreSqlDialect {}).try_with_sql(sql).unwrap();
            parser.parse_expr().unwrap()
        };
        let texts =
            |sql| conjuncts(&parse(sql)).iter().map(|it| it.to_string()).collect::<Vec<_>>();
        assert_eq!(texts("a AND b AND c"), ["a", "b", "c"]);
        assert_eq!(texts("a AND ((b AND c) AND d) AND (e OR f)"), ["a", "b", "c", "d", "e OR f"]);
        assert_eq!(texts("(a)"), ["a"]);
    }
}
