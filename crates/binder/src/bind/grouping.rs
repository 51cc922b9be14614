//! GROUP BY: the keys, and everything above the groups said in terms of them.

use plan::relation::{Apply, Attr, AttrSet, Rel, bare, split_conjunction, substitute};
use plan::{Expr, ExprKind};
use sqlparser::ast::{self, GroupByExpr};
use types::{DataType, SqlError, SqlResult, SqlState};

use super::errors::{at, unsupported, windowing};
use super::grouping_sets::{self, Groupings, Sets};
use super::level::{Clause, apply};
use super::order::place;
use super::set_operation::Unique;
use super::upper::{Item, Upper};
use super::{Binder, mapped};

type Keys = Vec<(Attr, Expr)>;

/// GROUP BY before the select list is bound.
#[derive(Default)]
pub(super) struct Early<'a> {
    keys: Vec<EarlyKey<'a>>,
    /// The sets that each entry of the clause is, of keys by number.
    entries: Vec<Sets>,
    /// Whether some entry says sets.
    has_sets: bool,
}

/// A key of GROUP BY before the select list is bound.
pub(super) enum EarlyKey<'a> {
    /// An expression.
    Bound(Expr),
    /// A name or a place, which may be one of the select list.
    Named(&'a ast::Expr),
}

impl<'a> Binder<'a> {
    /// Binds the keys of GROUP BY that are neither columns nor places in the select list, before what stands above the
    /// groups, so that they are known there however they are used.
    pub(super) fn early_keys(&mut self, clause: &'a GroupByExpr) -> SqlResult<Early<'a>> {
        let mut early = Early::default();
        if let GroupByExpr::Expressions(exprs, modifiers) = clause {
            refuse_modifiers(modifiers)?;
            for expr in exprs {
                self.in_clause(Clause::GroupBy, |this| this.early_entry(expr, &mut early))?;
            }
        }
        Ok(early)
    }

    fn early_entry(&mut self, expr: &'a ast::Expr, early: &mut Early<'a>) -> SqlResult<()> {
        let (ast::Expr::GroupingSets(elements)
        | ast::Expr::Cube(elements)
        | ast::Expr::Rollup(elements)) = expr
        else {
            let first = early.keys.len();
            self.early_key(expr, &mut early.keys)?;
            early.entries.push(vec![(first..early.keys.len()).collect()]);
            return Ok(());
        };
        let mut sets = Vec::with_capacity(elements.len());
        for element in elements {
            let first = early.keys.len();
            element.iter().try_for_each(|it| self.early_key(it, &mut early.keys))?;
            sets.push((first..early.keys.len()).collect());
        }
        early.has_sets = true;
        early.entries.push(match expr {
            ast::Expr::Rollup(_) => grouping_sets::rollup(&sets),
            ast::Expr::Cube(_) => grouping_sets::cube(&sets, expr)?,
            _ => sets,
        });
        Ok(())
    }

    fn early_key(&mut self, expr: &'a ast::Expr, keys: &mut Vec<EarlyKey<'a>>) -> SqlResult<()> {
        match expr {
            ast::Expr::GroupingSets(_) | ast::Expr::Cube(_) | ast::Expr::Rollup(_) => {
                return Err(unsupported("GROUPING SETS, CUBE or ROLLUP inside of others", expr));
            }
            ast::Expr::Tuple(parts) => {
                return parts.iter().try_for_each(|it| self.early_key(it, keys));
            }
            ast::Expr::Nested(inner) => return self.early_key(inner, keys),
            _ if super::order::is_constant(expr) => keys.push(EarlyKey::Named(expr)),
            ast::Expr::Identifier(_) => keys.push(EarlyKey::Named(expr)),
            _ => {
                let bound = self.expr(expr)?;
                let key = match bound.data_type {
                    DataType::Null => self.coerce(bound, DataType::Text, expr)?,
                    _ => bound,
                };
                let is_plain = bare(&key).is_some() || super::coercion::has_key(key.data_type);
                if !is_plain && super::is_repeatable(&key) {
                    let attr = self.attribute(key.data_type, true);
                    self.level().keys.push((attr, key.clone()));
                }
                keys.push(EarlyKey::Bound(key));
            }
        }
        Ok(())
    }

    /// The expressions of GROUP BY over the input, each once, and the sets of them if there are several.
    pub(super) fn group_keys(
        &mut self,
        clause: &'a GroupByExpr,
        early: Early<'a>,
        items: &[Item],
    ) -> SqlResult<(Vec<Expr>, Option<Sets>)> {
        let mut keys: Vec<Expr> = Vec::new();
        if let GroupByExpr::All(modifiers) = clause {
            refuse_modifiers(modifiers)?;
            let level = self.level();
            let windows = level.windows.iter().map(|it| it.0);
            let calls: AttrSet = level.calls.iter().map(|it| it.0).chain(windows).collect();
            let of_rows = |it: &&Item| !AttrSet::of(&it.expr).intersects(&calls);
            keys.extend(items.iter().filter(of_rows).map(|it| it.expr.clone()));
        }
        for key in early.keys {
            keys.push(match key {
                EarlyKey::Bound(key) => key,
                EarlyKey::Named(expr) => {
                    self.in_clause(Clause::GroupBy, |this| this.named_key(expr, items))?
                }
            });
        }
        let mut unique: Vec<Expr> = Vec::with_capacity(keys.len());
        let mut numbers = Vec::with_capacity(keys.len());
        for key in keys {
            let known = unique.iter().position(|it| super::is_repeatable(&key) && *it == key);
            numbers.push(known.unwrap_or(unique.len()));
            if known.is_none() {
                unique.push(key);
            }
        }
        if !early.has_sets {
            return Ok((unique, None));
        }
        let mut entries = early.entries;
        entries.iter_mut().flatten().flatten().for_each(|it| *it = numbers[*it]);
        Ok((unique, Some(grouping_sets::product(&entries)?)))
    }

    /// A key that is a column, or an entry of the select list by its place or name.
    fn named_key(&mut self, expr: &'a ast::Expr, items: &[Item]) -> SqlResult<Expr> {
        let named = match expr {
            ast::Expr::Identifier(name) => self.group_name(name, items)?,
            _ => place(expr, items.len(), "GROUP BY")?.map(|it| items[it].expr.clone()),
        };
        let mut key = match named {
            Some(key) => key,
            None => self.expr(expr)?,
        };
        // The select list may stand above the groups already.
        substitute(&mut key, &self.level().keys);
        let calls: AttrSet = self.level().calls.iter().map(|it| it.0).collect();
        if AttrSet::of(&key).intersects(&calls) {
            let message = "aggregate functions are not allowed in GROUP BY";
            return Err(at(SqlError::new(SqlState::GROUPING_ERROR, message), expr));
        }
        let windows: AttrSet = self.level().windows.iter().map(|it| it.0).collect();
        if AttrSet::of(&key).intersects(&windows) {
            let error = windowing("window functions are not allowed in GROUP BY");
            return Err(at(error, expr));
        }
        match key.data_type {
            DataType::Null => self.coerce(key, DataType::Text, expr),
            _ => Ok(key),
        }
    }

    /// Groups of the level's rows, and what stands above them over their keys and aggregates. The subqueries `above` are
    /// left to be joined later.
    pub(super) fn grouped(
        &mut self,
        input: Rel,
        pending: Vec<(Rel, Apply)>,
        above: &mut [(Rel, Apply)],
        upper: &mut Upper,
    ) -> SqlResult<Rel> {
        let sets = upper.sets.take();
        let mut keys: Keys = Vec::new();
        let mut unique = Unique { keys: Vec::new(), aggregates: Vec::new() };
        for expr in std::mem::take(&mut upper.keys) {
            if sets.is_some() && AttrSet::of(&expr).is_empty() {
                let what = "a constant as a key of GROUPING SETS";
                return Err(SqlError::unsupported(format!("{what} is not supported")));
            }
            if super::coercion::has_key(expr.data_type) {
                if sets.is_some() {
                    let what = match expr.data_type {
                        DataType::Bpchar => "GROUPING SETS of CHAR of no one length",
                        _ => "GROUPING SETS of an INTERVAL",
                    };
                    return Err(SqlError::unsupported(format!("{what} is not supported")));
                }
                keys.push((self.unpadded(expr.clone(), &mut unique), expr));
                continue;
            }
            // A column of a query around is one value here, and keeps its name outside.
            // In sets it may be NULL where the column is not.
            let own = bare(&expr).filter(|it| sets.is_none() && self.level().frame.contains(*it));
            let early = self.level().keys.iter().find(|it| it.1 == expr).map(|it| it.0);
            let attr = match own.or(early) {
                Some(attr) => attr,
                None => self.attribute(expr.data_type, true),
            };
            unique.keys.push((attr, expr.clone()));
            keys.push((attr, expr));
        }
        let mut aggregates = std::mem::take(&mut self.level().calls);
        aggregates.append(&mut unique.aggregates);
        for mut expr in std::mem::take(&mut self.level().left_out) {
            self.over_groups(&mut expr, &keys)?;
        }
        upper.expressions_mut().try_for_each(|it| self.over_groups(it, &keys))?;
        let mut conditions = Vec::new();
        if let Some(mut having) = upper.having.take() {
            self.over_groups(&mut having, &keys)?;
            split_conjunction(having, &mut conditions);
        }
        let groupings = self.groupings(&keys)?;
        let mut rel = match sets {
            Some(sets) => self.sets(input, unique.keys, aggregates, &sets, &groupings)?,
            None => {
                let (input, keys) = (Box::new(input), unique.keys);
                let all: Vec<usize> = (0..keys.len()).collect();
                let bits = |(attr, of): (Attr, Vec<usize>)| (attr, grouping_sets::bits(&of, &all));
                let made = groupings.into_iter().map(bits).collect();
                mapped(Rel::Aggregate { input, keys, aggregates, rows: 0.0 }, made)
            }
        };
        for (mut right, mut kind) in pending {
            self.subquery_over_groups(&mut right, &mut kind, &keys)?;
            rel = apply(rel, right, kind);
        }
        for (right, kind) in above {
            self.subquery_over_groups(right, kind, &keys)?;
        }
        Ok(rel.filtered(conditions))
    }

    /// grouping(..) of keys.
    pub(super) fn grouping_call(
        &mut self,
        arguments: &[&'a ast::Expr],
        whole: &'a ast::Expr,
    ) -> SqlResult<Expr> {
        if !self.level().clause.is_over_groups() {
            let name = self.level().clause.name();
            let message = format!("grouping operations are not allowed in {name}");
            return Err(at(SqlError::new(SqlState::GROUPING_ERROR, message), whole));
        }
        if arguments.len() > 31 {
            let message = "GROUPING must have fewer than 32 arguments";
            return Err(at(SqlError::new(SqlState("54023"), message), whole));
        }
        let bound = arguments.iter().map(|it| self.expr(it)).collect::<SqlResult<Vec<_>>>()?;
        let attr = self.attribute(DataType::Integer, false);
        self.level().groupings.push((attr, bound));
        Ok(Expr::column(attr, DataType::Integer))
    }

    /// The calls of grouping(), with their arguments by number among the keys.
    fn groupings(&mut self, keys: &Keys) -> SqlResult<Groupings> {
        let known = |argument: &Expr| {
            let place = keys.iter().position(|it| {
                it.1 == *argument || *argument == Expr::column(it.0, argument.data_type)
            });
            place.ok_or_else(|| {
                let message = "arguments to GROUPING must be grouping expressions of the \
                               associated query level";
                SqlError::new(SqlState::GROUPING_ERROR, message)
            })
        };
        let calls = std::mem::take(&mut self.level().groupings);
        let of = |(attr, arguments): (Attr, Vec<Expr>)| {
            Ok((attr, arguments.iter().map(known).collect::<SqlResult<_>>()?))
        };
        calls.into_iter().map(of).collect()
    }

    /// Puts group keys in the place of the expressions they are; an error when a column is left that is neither.
    fn over_groups(&mut self, expr: &mut Expr, keys: &Keys) -> SqlResult<()> {
        self.grouped_value(expr, keys, &|name| {
            format!(
                "column \"{name}\" must appear in the GROUP BY clause or be used in an aggregate \
                 function"
            )
        })
    }

    fn grouped_value(
        &mut self,
        expr: &mut Expr,
        keys: &Keys,
        ungrouped: &dyn Fn(String) -> String,
    ) -> SqlResult<()> {
        if let Some((attr, _)) = keys.iter().find(|it| it.1 == *expr) {
            *expr = Expr::column(*attr, expr.data_type);
            return Ok(());
        }
        if let ExprKind::Column(attr) = expr.kind {
            return match self.level().frame.describe(attr) {
                Some(name) if keys.iter().all(|it| it.0 != attr) => {
                    Err(SqlError::new(SqlState::GROUPING_ERROR, ungrouped(name)))
                }
                _ => Ok(()),
            };
        }
        let mut children = expr.children_mut().into_iter();
        children.try_for_each(|it| self.grouped_value(it, keys, ungrouped))
    }

    /// Takes the shared relations that a relation reads out of their places.
    fn take_shared(&mut self, rel: &Rel, taken: &mut Vec<(usize, Rel)>) {
        let mut ids = Vec::new();
        rel.visit(&mut |it| {
            if let Rel::Shared { id, .. } = it {
                ids.push(*id);
            }
        });
        for id in ids {
            if taken.iter().all(|it| it.0 != id) {
                let own = self.shared[id].take();
                let place = taken.len();
                taken.push((id, own));
                let own = taken[place].1.clone();
                self.take_shared(&own, taken);
            }
        }
    }

    /// The same for a subquery that stands above groups and uses their rows.
    fn subquery_over_groups(
        &mut self,
        right: &mut Rel,
        kind: &mut Apply,
        keys: &Keys,
    ) -> SqlResult<()> {
        let columns: Keys = keys.iter().filter(|it| bare(&it.1).is_some()).cloned().collect();
        // What it reads of relations that are computed once stands in those.
        let mut read = Vec::new();
        self.take_shared(right, &mut read);
        let mut result = Ok(());
        let ungrouped =
            |name| format!("subquery uses ungrouped column \"{name}\" from outer query");
        let mut replace = |expr: &mut Expr| {
            if result.is_ok() {
                result = self.grouped_value(expr, &columns, &ungrouped);
            }
        };
        right.visit_mut(&mut |rel| rel.expressions_mut().into_iter().for_each(&mut replace));
        for (_, rel) in &mut read {
            rel.visit_mut(&mut |rel| rel.expressions_mut().into_iter().for_each(&mut replace));
        }
        for (id, rel) in read {
            self.shared[id] = rel;
        }
        result?;
        // What is compared with the subquery stands outside of it.
        match kind {
            Apply::Any { condition, .. } => self.over_groups(condition, keys),
            Apply::Join { on, .. } => on.iter_mut().try_for_each(|it| self.over_groups(it, keys)),
            Apply::Scalar { .. } => Ok(()),
        }
    }
}

fn refuse_modifiers(modifiers: &[ast::GroupByWithModifier]) -> SqlResult<()> {
    match modifiers {
        [] => Ok(()),
        _ => Err(SqlError::unsupported("a modifier of GROUP BY is not supported")),
    }
}
