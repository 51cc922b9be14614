//! GROUP BY: the keys, and everything above the groups said in terms of them.

use plan::relation::{Apply, Attr, AttrSet, Rel, bare, split_conjunction};
use plan::{Expr, ExprKind};
use sqlparser::ast::{self, GroupByExpr};
use types::{DataType, SqlError, SqlResult, SqlState};

use super::Binder;
use super::errors::{at, unsupported};
use super::level::{Clause, apply};
use super::order::place;
use super::set_operation::Unique;
use super::select::{Item, OrderKey, Upper};

type Keys = Vec<(Attr, Expr)>;

impl<'a> Binder<'a> {
    /// The expressions of GROUP BY over the input, each once.
    pub(super) fn group_keys(
        &mut self,
        clause: &'a GroupByExpr,
        items: &[Item],
    ) -> SqlResult<Vec<Expr>> {
        let mut keys: Vec<Expr> = Vec::new();
        match clause {
            GroupByExpr::All(modifiers) => {
                refuse_modifiers(modifiers)?;
                let calls: AttrSet = self.level().calls.iter().map(|it| it.0).collect();
                let of_rows = |it: &&Item| !AttrSet::of(&it.expr).intersects(&calls);
                keys.extend(items.iter().filter(of_rows).map(|it| it.expr.clone()));
            }
            GroupByExpr::Expressions(exprs, modifiers) => {
                refuse_modifiers(modifiers)?;
                for expr in exprs {
                    self.in_clause(Clause::GroupBy, |this| this.group_key(expr, items, &mut keys))?;
                }
            }
        }
        let mut unique: Vec<Expr> = Vec::with_capacity(keys.len());
        for key in keys {
            if !(super::is_repeatable(&key) && unique.contains(&key)) {
                unique.push(key);
            }
        }
        Ok(unique)
    }

    fn group_key(
        &mut self,
        expr: &'a ast::Expr,
        items: &[Item],
        keys: &mut Vec<Expr>,
    ) -> SqlResult<()> {
        match expr {
            ast::Expr::GroupingSets(_) | ast::Expr::Cube(_) | ast::Expr::Rollup(_) => {
                return Err(unsupported("GROUPING SETS, CUBE or ROLLUP", expr));
            }
            ast::Expr::Tuple(parts) => {
                return parts.iter().try_for_each(|it| self.group_key(it, items, keys));
            }
            _ => {}
        }
        let named = match expr {
            ast::Expr::Identifier(name) => self.group_name(name, items)?,
            _ => place(expr, items.len())?.map(|it| items[it].expr.clone()),
        };
        let key = match named {
            Some(key) => key,
            None => self.expr(expr)?,
        };
        let calls: AttrSet = self.level().calls.iter().map(|it| it.0).collect();
        if AttrSet::of(&key).intersects(&calls) {
            let message = "aggregate functions are not allowed in GROUP BY";
            return Err(at(SqlError::new(SqlState::GROUPING_ERROR, message), expr));
        }
        keys.push(match key.data_type {
            DataType::Null => self.coerce(key, DataType::Text, expr)?,
            _ => key,
        });
        Ok(())
    }

    /// Groups of the level's rows, and what stands above them over their keys and aggregates.
    pub(super) fn grouped(
        &mut self,
        input: Rel,
        pending: Vec<(Rel, Apply)>,
        upper: &mut Upper,
    ) -> SqlResult<Rel> {
        let mut keys: Keys = Vec::new();
        let mut unique = Unique { keys: Vec::new(), aggregates: Vec::new() };
        for expr in std::mem::take(&mut upper.keys) {
            if expr.data_type == DataType::Bpchar {
                keys.push((self.unpadded(expr.clone(), &mut unique), expr));
                continue;
            }
            // A column of a query around is one value here, and keeps its name outside.
            let own = bare(&expr).filter(|it| self.level().frame.contains(*it));
            let attr = match own {
                Some(attr) => attr,
                None => self.attribute(expr.data_type, true),
            };
            unique.keys.push((attr, expr.clone()));
            keys.push((attr, expr));
        }
        let mut aggregates = std::mem::take(&mut self.level().calls);
        aggregates.append(&mut unique.aggregates);
        for item in &mut upper.items {
            self.over_groups(&mut item.expr, &keys)?;
        }
        for order in upper.order.iter_mut().chain(&mut upper.distinct_on) {
            let (OrderKey::By(key) | OrderKey::Place(_, key)) = order;
            self.over_groups(&mut key.expr, &keys)?;
        }
        let mut conditions = Vec::new();
        if let Some(mut having) = upper.having.take() {
            self.over_groups(&mut having, &keys)?;
            split_conjunction(having, &mut conditions);
        }
        let mut rel =
            Rel::Aggregate { input: Box::new(input), keys: unique.keys, aggregates, rows: 0.0 };
        for (mut right, mut kind) in pending {
            self.subquery_over_groups(&mut right, &mut kind, &keys)?;
            rel = apply(rel, right, kind);
        }
        Ok(rel.filtered(conditions))
    }

    /// Puts group keys in the place of the expressions they are; an error when a column is left that is neither.
    fn over_groups(&mut self, expr: &mut Expr, keys: &Keys) -> SqlResult<()> {
        if let Some((attr, _)) = keys.iter().find(|it| it.1 == *expr) {
            *expr = Expr::column(*attr, expr.data_type);
            return Ok(());
        }
        if let ExprKind::Column(attr) = expr.kind {
            return match self.level().frame.describe(attr) {
                Some(name) if keys.iter().all(|it| it.0 != attr) => {
                    let message = format!(
                        "column \"{name}\" must appear in the GROUP BY clause or be used in an \
                         aggregate function"
                    );
                    Err(SqlError::new(SqlState::GROUPING_ERROR, message))
                }
                _ => Ok(()),
            };
        }
        expr.children_mut().into_iter().try_for_each(|it| self.over_groups(it, keys))
    }

    /// The same for a subquery that stands above groups and uses their rows.
    fn subquery_over_groups(
        &mut self,
        right: &mut Rel,
        kind: &mut Apply,
        keys: &Keys,
    ) -> SqlResult<()> {
        let mut result = Ok(());
        let mut replace = |expr: &mut Expr| {
            if result.is_ok() {
                result = self.over_groups(expr, keys);
            }
        };
        right.visit_mut(&mut |rel| rel.expressions_mut().into_iter().for_each(&mut replace));
        match kind {
            Apply::Any { condition, .. } => replace(condition),
            Apply::Join { on, .. } => on.iter_mut().for_each(replace),
            Apply::Scalar { .. } => {}
        }
        result
    }
}

fn refuse_modifiers(modifiers: &[ast::GroupByWithModifier]) -> SqlResult<()> {
    match modifiers {
        [] => Ok(()),
        _ => Err(SqlError::unsupported("a modifier of GROUP BY is not supported")),
    }
}
