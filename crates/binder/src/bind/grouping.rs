//! GROUP BY: the keys, and everything above the groups said in terms of them.

use std::collections::BTreeSet;

use plan::relation::{Apply, Attr, AttrSet, Rel, bare, split_conjunction, substitute};
use plan::{Aggregate, BinaryOperator, Expr, ExprKind};
use sqlparser::ast::{self, GroupByExpr};
use types::{DataType, SqlError, SqlResult, SqlState, Value};

use super::errors::{at, unsupported, windowing};
use super::grouping_sets::{self, Groupings, Sets};
use super::level::{Clause, apply};
use super::order::place;
use super::set_operation::Unique;
use super::upper::{Item, Key, Upper};
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
    /// GROUP BY DISTINCT: equal sets are one.
    is_distinct: bool,
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
            for (place, expr) in exprs.iter().enumerate() {
                let (expr, is_distinct) = match crate::dialect::distinct_sets(expr) {
                    Some(inner) if place == 0 => (inner, true),
                    _ => (expr, false),
                };
                early.is_distinct |= is_distinct;
                self.in_clause(Clause::GroupBy, |this| this.early_entry(expr, &mut early))?;
            }
        }
        Ok(early)
    }

    fn early_entry(&mut self, expr: &'a ast::Expr, early: &mut Early<'a>) -> SqlResult<()> {
        let sets = match says_sets(expr) {
            true => {
                early.has_sets = true;
                self.early_sets(expr, &mut early.keys)?
            }
            false => vec![self.early_set(std::slice::from_ref(expr), &mut early.keys)?],
        };
        early.entries.push(sets);
        Ok(())
    }

    /// The sets of GROUPING SETS, ROLLUP or CUBE; in the first, others of these stand for theirs.
    fn early_sets(&mut self, expr: &'a ast::Expr, keys: &mut Vec<EarlyKey<'a>>) -> SqlResult<Sets> {
        let (ast::Expr::GroupingSets(elements)
        | ast::Expr::Cube(elements)
        | ast::Expr::Rollup(elements)) = expr
        else {
            return Err(unsupported("this in GROUP BY", expr));
        };
        let mut sets = Vec::with_capacity(elements.len());
        for element in elements {
            match &element[..] {
                [inner] if says_sets(inner) && matches!(expr, ast::Expr::GroupingSets(_)) => {
                    sets.extend(self.early_sets(inner, keys)?);
                }
                parts => sets.push(self.early_set(parts, keys)?),
            }
            grouping_sets::check_count(sets.len())?;
        }
        Ok(match expr {
            ast::Expr::Rollup(_) => grouping_sets::rollup(&sets),
            ast::Expr::Cube(_) => grouping_sets::cube(&sets, expr)?,
            _ => sets,
        })
    }

    fn early_set(
        &mut self,
        parts: &'a [ast::Expr],
        keys: &mut Vec<EarlyKey<'a>>,
    ) -> SqlResult<Vec<usize>> {
        let first = keys.len();
        parts.iter().try_for_each(|it| self.early_key(it, keys))?;
        Ok((first..keys.len()).collect())
    }

    fn early_key(&mut self, expr: &'a ast::Expr, keys: &mut Vec<EarlyKey<'a>>) -> SqlResult<()> {
        match expr {
            ast::Expr::Tuple(parts) => {
                return parts.iter().try_for_each(|it| self.early_key(it, keys));
            }
            ast::Expr::Nested(inner) => return self.early_key(inner, keys),
            _ if super::order::is_constant(expr) => keys.push(EarlyKey::Named(expr)),
            ast::Expr::Identifier(_) => keys.push(EarlyKey::Named(expr)),
            _ => {
                let bound = self.declared(expr)?;
                let key = match bound.data_type {
                    DataType::Null => self.coerce(bound, DataType::Text, expr)?,
                    _ => bound,
                };
                // What equals a constant is one, and no key.
                let is_plain = bare(&key).is_some() || super::coercion::has_key(key.data_type);
                let is_constant = super::constant(&key).is_some();
                if !is_plain && !is_constant && super::is_repeatable(&key) {
                    let attr = self.attribute(key.data_type, true);
                    self.level().keys.push((attr, key.clone()));
                }
                keys.push(EarlyKey::Bound(key));
            }
        }
        Ok(())
    }

    /// The keys of GROUP BY over the input, each once, and the sets of them if there are several.
    pub(super) fn group_keys(
        &mut self,
        clause: &'a GroupByExpr,
        early: Early<'a>,
        items: &[Item],
    ) -> SqlResult<(Vec<Key>, Option<Sets>)> {
        let mut keys: Vec<Key> = Vec::new();
        if let GroupByExpr::All(modifiers) = clause {
            refuse_modifiers(modifiers)?;
            let level = self.level();
            let windows = level.windows.iter().map(|it| it.0);
            let calls: AttrSet = level.calls.iter().map(|it| it.0).chain(windows).collect();
            let of_rows = |it: &&Item| !AttrSet::of(&it.expr).intersects(&calls);
            for (place, item) in items.iter().enumerate().filter(|it| of_rows(&it.1)) {
                self.group_left_out(place);
                keys.push(Key { expr: item.expr.clone(), item: None });
            }
        }
        for key in early.keys {
            let mut key = match key {
                EarlyKey::Bound(expr) => Key { expr, item: None },
                EarlyKey::Named(expr) => {
                    self.in_clause(Clause::GroupBy, |this| this.named_key(expr, items))?
                }
            };
            match early.has_sets {
                true if key.item.is_none() => key.item = self.item_of(&key.expr, items),
                true => {}
                false => key.item = None,
            }
            keys.push(key);
        }
        let mut unique: Vec<Key> = Vec::with_capacity(keys.len());
        let mut numbers = Vec::with_capacity(keys.len());
        for key in keys {
            let is_same = |it: &Key| it.expr == key.expr && it.item == key.item;
            let known = unique.iter().position(|it| super::is_repeatable(&key.expr) && is_same(it));
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
        let mut sets = grouping_sets::product(&entries)?;
        if early.is_distinct {
            let mut seen = BTreeSet::new();
            sets.retain(|it| seen.insert(it.clone()));
        }
        Ok((unique, Some(sets)))
    }

    /// The first entry of the select list that a key is.
    fn item_of(&mut self, key: &Expr, items: &[Item]) -> Option<usize> {
        let keys = &self.level().keys;
        let is_key = |it: &Item| {
            // The select list may stand above the groups already.
            let mut expr = it.expr.clone();
            substitute(&mut expr, keys);
            expr == *key
        };
        items.iter().position(|it| super::is_repeatable(key) && is_key(it))
    }

    /// A key that is a column, or an entry of the select list by its place or name.
    fn named_key(&mut self, expr: &'a ast::Expr, items: &[Item]) -> SqlResult<Key> {
        let item = match expr {
            ast::Expr::Identifier(name) => self.group_name(name, items)?,
            _ => place(expr, items.len(), "GROUP BY")?,
        };
        let mut key = match item {
            Some(item) => {
                self.group_left_out(item);
                items[item].expr.clone()
            }
            None => self.declared(expr)?,
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
        let expr = match key.data_type {
            DataType::Null => self.coerce(key, DataType::Text, expr)?,
            _ => key,
        };
        Ok(Key { expr, item })
    }

    /// Groups of the level's rows, and what stands above them over their keys and aggregates. The subqueries `above` are
    /// left to be joined later.
    pub(super) fn grouped(
        &mut self,
        input: Rel,
        mut pending: Vec<(Rel, Apply)>,
        above: &mut [(Rel, Apply)],
        upper: &mut Upper,
    ) -> SqlResult<Rel> {
        let sets = upper.sets.take();
        let own = std::mem::take(&mut upper.keys);
        let dependents = match sets {
            Some(_) => Vec::new(),
            None => self.dependents(&input, &own, upper, &[&pending, above]),
        };
        self.spell_keys(upper, pending.iter_mut().chain(above.iter_mut()));
        let attrs = self.key_attrs(&own, sets.is_some());
        let mut unique = Unique { keys: Vec::new(), aggregates: Vec::new() };
        let (mut shown, mut all) = (Vec::new(), Vec::with_capacity(own.len()));
        for (number, (Key { expr, item }, mut attr)) in own.into_iter().zip(attrs).enumerate() {
            super::json::check_equality(expr.data_type)?;
            match super::coercion::has_key(expr.data_type) {
                true => {
                    let least = self.unpadded(expr.clone(), None, &mut unique);
                    match sets {
                        Some(_) => shown.push((attr, number, least)),
                        None => attr = least,
                    }
                }
                false => unique.keys.push((attr, expr.clone())),
            }
            if let Some(item) = item {
                upper.items[item].expr = Expr::column(attr, expr.data_type);
            }
            all.push((attr, expr, item));
        }
        let groupings = self.groupings(&all)?;
        name_constants(sets.as_ref().map_or(&[], |_| &all), upper);
        let mut keys = in_order_of_items(all);
        let mut aggregates = std::mem::take(&mut self.level().calls);
        for (attr, call, column) in dependents {
            aggregates.push((attr, call));
            keys.push((attr, column));
        }
        aggregates.append(&mut unique.aggregates);
        let level = self.level();
        let (left_out, of_keys) =
            (std::mem::take(&mut level.left_out), std::mem::take(&mut level.left_out_of_keys));
        let same = of_keys.iter().map(|it| (it, self.column_expr(it)));
        let known: Keys = keys.iter().cloned().chain(same).collect();
        left_out.into_iter().try_for_each(|mut it| self.over_groups(&mut it, &known))?;
        upper.expressions_mut().try_for_each(|it| self.over_groups(it, &keys))?;
        let mut conditions = Vec::new();
        if let Some(mut having) = upper.having.take() {
            self.over_groups(&mut having, &keys)?;
            split_conjunction(having, &mut conditions);
        }
        let mut rel = match sets {
            Some(sets) => {
                let own = (unique.keys, shown);
                self.sets_shown(input, own, aggregates, &sets, groupings)?
            }
            None => groups(input, unique.keys, aggregates, groupings),
        };
        for (mut right, mut kind) in pending {
            self.subquery_over_groups(&mut right, &mut kind, &keys)?;
            rel = apply(rel, right, kind);
        }
        above.iter_mut().try_for_each(|(it, kind)| self.subquery_over_groups(it, kind, &keys))?;
        Ok(rel.filtered(conditions))
    }

    /// Puts what keys are made of back in their place above the groups: it may be a part of another key.
    fn spell_keys<'b>(
        &mut self,
        upper: &mut Upper,
        subqueries: impl Iterator<Item = &'b mut (Rel, Apply)>,
    ) {
        let level = self.level();
        for (_, kind) in subqueries {
            if let Apply::Any { condition, .. } = kind {
                substitute(condition, &level.keys);
            }
        }
        let having = upper.having.iter_mut();
        having.for_each(|it| substitute(it, &level.keys));
        upper.expressions_mut().for_each(|it| substitute(it, &level.keys));
        level.left_out.iter_mut().for_each(|it| substitute(it, &level.keys));
        let groupings = level.groupings.iter_mut().flat_map(|it| &mut it.1);
        groupings.for_each(|it| substitute(it, &level.keys));
    }

    /// The attributes that keys have above the groups.
    fn key_attrs(&mut self, keys: &[Key], has_sets: bool) -> Vec<Attr> {
        let mut attrs = vec![0; keys.len()];
        let mut taken = AttrSet::default();
        for place in item_order(keys.iter().map(|it| it.item)) {
            let expr = &keys[place].expr;
            // A column of a query around is one value here, and keeps its name outside.
            // In sets it may be NULL where the column is not.
            let own = bare(expr).filter(|it| !has_sets && self.level().frame.contains(*it));
            let early = self.level().keys.iter().find(|it| it.1 == *expr).map(|it| it.0);
            let known = own.or(early).filter(|it| !taken.contains(*it));
            let attr = known.unwrap_or_else(|| self.attribute(expr.data_type, true));
            taken.insert(attr);
            attrs[place] = attr;
        }
        attrs
    }

    /// Grouping sets where some keys are shown by the least of the values that are alike, which a set without the key has
    /// not: their attributes, numbers, and the least values.
    fn sets_shown(
        &mut self,
        input: Rel,
        (keys, shown): (Keys, Vec<(Attr, usize, Attr)>),
        aggregates: Vec<(Attr, Aggregate)>,
        sets: &Sets,
        mut groupings: Groupings,
    ) -> SqlResult<Rel> {
        let mut made = Vec::with_capacity(shown.len());
        for (attr, number, least) in shown {
            let missing = self.attribute(DataType::Integer, false);
            groupings.push((missing, vec![number]));
            let zero = Expr::literal(Value::Integer(0), DataType::Integer);
            let is_key =
                plan::build::compare(BinaryOperator::Equal, self.column_expr(missing), zero);
            let least = self.column_expr(least);
            let data_type = least.data_type;
            let kind = ExprKind::Case { branches: vec![(is_key, least)], otherwise: None };
            made.push((attr, Expr { kind, data_type }));
        }
        Ok(mapped(self.sets(input, keys, aggregates, sets, &groupings)?, made))
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
        let bound = arguments.iter().map(|it| self.declared(it)).collect::<SqlResult<Vec<_>>>()?;
        let attr = self.attribute(DataType::Integer, false);
        self.level().groupings.push((attr, bound));
        Ok(Expr::column(attr, DataType::Integer))
    }

    /// The calls of grouping(), with their arguments by number among the keys.
    fn groupings(&mut self, keys: &[(Attr, Expr, Option<usize>)]) -> SqlResult<Groupings> {
        let known = |argument: &Expr| {
            // Behind the key that it stands for there may be another like it.
            let key = keys.iter().find(|it| bare(argument) == Some(it.0)).map(|it| &it.1);
            let place = keys.iter().position(|it| it.1 == *key.unwrap_or(argument));
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

    /// The same for a subquery that stands above groups and uses their rows.
    fn subquery_over_groups(
        &mut self,
        right: &mut Rel,
        kind: &mut Apply,
        keys: &Keys,
    ) -> SqlResult<()> {
        let columns: Keys = keys.iter().filter(|it| bare(&it.1).is_some()).cloned().collect();
        let mut result = Ok(());
        let ungrouped =
            |name| format!("subquery uses ungrouped column \"{name}\" from outer query");
        let mut replace = |expr: &mut Expr| {
            if result.is_ok() {
                result = self.grouped_value(expr, &columns, &ungrouped);
            }
        };
        right.visit_mut(&mut |rel| rel.expressions_mut().into_iter().for_each(&mut replace));
        result?;
        // What is compared with the subquery stands outside of it.
        match kind {
            Apply::Any { condition, .. } => self.over_groups(condition, keys),
            Apply::Join { on, .. } => on.iter_mut().try_for_each(|it| self.over_groups(it, keys)),
            Apply::Scalar { .. } => Ok(()),
        }
    }
}

/// The groups of one set of keys.
fn groups(input: Rel, keys: Keys, aggregates: Vec<(Attr, Aggregate)>, groupings: Groupings) -> Rel {
    let all: Vec<usize> = (0..keys.len()).collect();
    let bits = |(attr, of): (Attr, Vec<usize>)| (attr, grouping_sets::bits(&of, &all));
    let made = groupings.into_iter().map(bits).collect();
    mapped(Rel::Aggregate { input: Box::new(input), keys, aggregates, rows: 0.0 }, made)
}

/// Whether an entry of GROUP BY stands for several sets of keys.
fn says_sets(expr: &ast::Expr) -> bool {
    matches!(expr, ast::Expr::GroupingSets(_) | ast::Expr::Cube(_) | ast::Expr::Rollup(_))
}

/// The places of keys in the order of the entries of the select list that they are, those that are none last.
fn item_order(items: impl Iterator<Item = Option<usize>>) -> Vec<usize> {
    let mut order: Vec<(usize, usize)> =
        items.enumerate().map(|(place, it)| (it.unwrap_or(usize::MAX), place)).collect();
    order.sort_unstable();
    order.into_iter().map(|it| it.1).collect()
}

/// Puts the keys of sets that are constants in the place of what orders or parts rows by one: a set without the key has NULL
/// there.
fn name_constants(keys: &[(Attr, Expr, Option<usize>)], upper: &mut Upper) {
    let all = item_order(keys.iter().map(|it| it.2)).into_iter().map(|it| &keys[it]);
    let constants: Vec<_> = all.filter(|it| super::constant(&it.1).is_some()).collect();
    for expr in upper.orders_mut() {
        if let Some((attr, _, _)) = constants.iter().find(|it| it.1 == *expr) {
            *expr = Expr::column(*attr, expr.data_type);
        }
    }
}

/// The keys as what stands above the groups finds them: of keys that are alike the one of the first entry of the select
/// list, and none by a constant.
fn in_order_of_items(all: Vec<(Attr, Expr, Option<usize>)>) -> Keys {
    let order = item_order(all.iter().map(|it| it.2));
    let keys = order.into_iter().map(|it| (all[it].0, all[it].1.clone()));
    keys.filter(|it| super::constant(&it.1).is_none()).collect()
}

fn refuse_modifiers(modifiers: &[ast::GroupByWithModifier]) -> SqlResult<()> {
    match modifiers {
        [] => Ok(()),
        _ => Err(SqlError::unsupported("a modifier of GROUP BY is not supported")),
    }
}
