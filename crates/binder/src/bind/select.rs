//! SELECT: the select list, DISTINCT, and the ORDER BY that follows.

use plan::relation::{Apply, Attr, AttrSet, Rel, split_conjunction};
use plan::{Expr, SortKey};
use sqlparser::ast::{self, SelectItem, SelectItemQualifiedWildcardKind};
use types::{DataType, SqlError, SqlResult, SqlState};

use super::errors::{Name, at, no_column, unsupported, windowing};
use super::late_rows::LateRows;
use super::level::{Clause, Level, apply};
use super::order::{Entry, Ordering, place};
use super::query::sorted;
use super::scope::{Frame, Meaning, Named, is_named};
use super::upper::{Item, OrderKey, Upper};
use super::window::part_of_windows;
use super::{Answer, Binder, OutputColumn, mapped};
use crate::syntax::ident;

impl<'a> Binder<'a> {
    /// Binds a SELECT with the ORDER BY that follows it.
    pub(super) fn select(
        &mut self,
        select: &'a ast::Select,
        ordering: &Ordering<'a>,
    ) -> SqlResult<Answer> {
        refuse_rare(select)?;
        let (rel, frame) = self.from(&select.from)?;
        let level = Level::new(frame, rel, Clause::Where);
        let (answer, _) = self.in_level(level, |this| {
            if let Some(condition) = &select.selection {
                this.listed.push((this.levels.len(), &select.projection));
                let filtered = this.filter(condition);
                this.listed.pop();
                filtered?;
            }
            this.upper(select, ordering)
        })?;
        Ok(answer)
    }

    /// What stands over the rows of the level.
    fn upper(&mut self, select: &'a ast::Select, ordering: &Ordering<'a>) -> SqlResult<Answer> {
        let mut upper = Upper::default();
        let rows = std::mem::replace(&mut self.level().input, super::level::one_row());
        let early = self.early_keys(&select.group_by)?;
        let subqueries = std::mem::replace(&mut self.level().input, rows);
        let mut below = super::repeated::chain(subqueries)?;
        self.named_windows(&select.named_window)?;
        self.in_clause(Clause::Select, |this| this.select_list(select, &mut upper.items))?;
        if let Some(having) = &select.having {
            upper.having = Some(self.in_clause(Clause::Having, |this| this.condition(having))?);
        }
        self.order_keys(select, ordering, &mut upper)?;
        if let Some(condition) = &select.qualify {
            upper.qualify = Some(self.qualify(condition, &upper.items)?);
        }
        self.decide_ordered(&mut upper)?;
        (upper.keys, upper.sets) = self.group_keys(&select.group_by, early, &upper.items)?;
        let is_grouped = !upper.keys.is_empty()
            || upper.having.is_some()
            || !self.level().calls.is_empty()
            || !self.level().groupings.is_empty()
            || matches!(&select.group_by, ast::GroupByExpr::Expressions(it, _) if !it.is_empty());
        self.check_recursive()?;
        self.check_locking(select, is_grouped)?;
        let is_tested = self.is_tested(select, is_grouped, &upper);
        if is_tested && !is_grouped {
            self.level().pending.clear();
            below.clear();
        }
        let level = self.level();
        let input = std::mem::replace(&mut level.input, super::level::one_row());
        let pending = std::mem::take(&mut level.pending);
        upper.windows = std::mem::take(&mut level.windows);
        // What the keys are made of must be there before the groups.
        let used = AttrSet::of_all(&upper.keys.iter().map(|it| &it.expr).collect::<Vec<_>>());
        let is_used = |it: &(Rel, Apply)| it.1.made().is_some_and(|it| used.contains(it));
        let (of_keys, mut pending): (Vec<_>, Vec<_>) = pending.into_iter().partition(is_used);
        below.extend(of_keys);
        if !below.is_empty() {
            self.share_repeated(&below, &mut pending, &mut upper)?;
        }
        let series = self.late_rows(&mut pending, &upper);
        let (pending, mut above) = part_of_windows(pending, &upper.windows);
        let has_series = series.is_some();
        above.extend(series);
        let joined = |rel, all: Vec<(Rel, Apply)>| {
            all.into_iter().fold(rel, |left, it| apply(left, it.0, it.1))
        };
        let input = joined(input, below);
        let rel = match is_grouped {
            true => self.grouped(input, pending, &mut above, &mut upper)?,
            false => joined(input, pending),
        };
        let series = if has_series { above.pop().map(|it| LateRows::new(it.0)) } else { None };
        let windows = std::mem::take(&mut upper.windows);
        let rel = joined(self.windowed(rel, windows), above);
        let mut conditions = Vec::new();
        if let Some(qualify) = upper.qualify.take() {
            split_conjunction(qualify, &mut conditions);
        }
        let rel = rel.filtered(conditions);
        let distinct = is_distinct(select)?;
        match is_tested {
            true => self.tested_rows(rel, upper, distinct, select),
            false => self.projected((rel, series), upper, distinct, select),
        }
    }

    /// The keys of ORDER BY and of DISTINCT ON.
    fn order_keys(
        &mut self,
        select: &'a ast::Select,
        ordering: &Ordering<'a>,
        upper: &mut Upper,
    ) -> SqlResult<()> {
        for entry in ordering.expressions(upper.items.len()) {
            let key = self.in_clause(Clause::OrderBy, |this| {
                this.order_key(&entry, &upper.items, "ORDER BY")
            })?;
            upper.order.push(key);
        }
        if let Some(ast::Distinct::On(exprs)) = &select.distinct {
            for entry in Ordering::plain(exprs) {
                let key = self.in_clause(Clause::OrderBy, |this| {
                    this.order_key(&entry, &upper.items, "DISTINCT ON")
                })?;
                upper.distinct_on.push(key);
            }
        }
        Ok(())
    }

    /// What is left of a SELECT of which only is asked whether it has rows; what is wrong with its list is told.
    fn tested_rows(
        &mut self,
        rel: Rel,
        upper: Upper,
        distinct: bool,
        select: &ast::Select,
    ) -> SqlResult<Answer> {
        self.projected((super::level::one_row(), None), upper, distinct, select)?;
        self.projected((rel, None), Upper::of_rows(), false, select)
    }

    /// Whether a SELECT is one of EXISTS that has rows just when the rows below it are some: then nothing of its list, its
    /// groups and its order is computed, as PostgreSQL does, so that what has effects has none.
    fn is_tested(&mut self, select: &ast::Select, is_grouped: bool, upper: &Upper) -> bool {
        let is_of_exists = self.tested.iter().any(|it| std::ptr::eq(*it, select));
        let has_keys_alone = !upper.keys.is_empty() || !is_grouped;
        let level = self.level();
        is_of_exists
            && has_keys_alone
            && upper.sets.is_none()
            && upper.having.is_none()
            && upper.qualify.is_none()
            && level.calls.is_empty()
            && level.groupings.is_empty()
            && level.windows.is_empty()
            && level.series.is_none()
    }

    /// QUALIFY: a condition on window functions, which may name entries of the select list.
    fn qualify(&mut self, condition: &'a ast::Expr, items: &[Item]) -> SqlResult<Expr> {
        let aliases = items.iter().map(|it| (it.name.clone(), it.expr.clone())).collect();
        self.level().aliases = aliases;
        let bound = self.in_clause(Clause::Qualify, |this| this.condition(condition))?;
        let level = self.level();
        if level.windows.is_empty() {
            let message = "QUALIFY needs a window function in the select list or in its condition";
            return Err(at(windowing(message), condition));
        }
        Ok(bound)
    }

    /// Entries of the select list that decide an order are text if nothing else tells their type, also for a UNION around.
    fn decide_ordered(&mut self, upper: &mut Upper) -> SqlResult<()> {
        for order in upper.order.iter_mut().chain(&mut upper.distinct_on) {
            let OrderKey::Place(place, key) = order else { continue };
            if upper.items[*place].expr.data_type == DataType::Null {
                let unknown = upper.items[*place].expr.clone();
                upper.items[*place].expr = self.coerce_unknown(unknown, DataType::Text)?;
            }
            key.expr.clone_from(&upper.items[*place].expr);
        }
        Ok(())
    }

    /// The entries of a select list: all columns where there is none.
    fn select_list(&mut self, select: &'a ast::Select, items: &mut Vec<Item>) -> SqlResult<()> {
        if select.flavor == ast::SelectFlavor::FromFirstNoSelect {
            let all = self.level().frame.all();
            return self.starred((None, None), all, None, items);
        }
        self.listed(&select.projection, !select.from.is_empty(), items)
    }

    /// The entries of a list; `has_from`: whether there are tables that `*` may stand for.
    pub(super) fn listed(
        &mut self,
        list: &'a [SelectItem],
        has_from: bool,
        items: &mut Vec<Item>,
    ) -> SqlResult<()> {
        for item in list {
            let known = self.level().left_out.len();
            match item {
                SelectItem::UnnamedExpr(
                    expr @ ast::Expr::CompoundFieldAccess { root, access_chain },
                ) if super::structs::means_all(access_chain) => {
                    let before = &access_chain[..access_chain.len() - 1];
                    let value = self.subscripted(root, before, expr)?;
                    items.extend(self.fields_as_items(value, expr)?);
                }
                SelectItem::UnnamedExpr(expr)
                    if let Some(of) = super::structs::unnested(expr)
                        && let value = self.expr(of)?
                        && matches!(value.data_type, DataType::Struct(_)) =>
                {
                    items.extend(self.fields_as_items(value, expr)?);
                }
                SelectItem::UnnamedExpr(expr) if self.each_column(expr, None, items)? => {}
                SelectItem::ExprWithAlias { expr, alias }
                    if self.each_column(expr, Some(alias), items)? => {}
                SelectItem::UnnamedExpr(expr) => {
                    let name = super::names::of_expression(expr);
                    let bound = self.alone(expr)?;
                    let origin = self.origin(expr, &bound);
                    items.push(Item { name, expr: bound, origin });
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    super::names::no_constant(alias)?;
                    let bound = self.alone(expr)?;
                    let origin = self.origin(expr, &bound);
                    self.level().aliases.push((ident(alias), bound.clone()));
                    items.push(Item { name: ident(alias), expr: bound, origin });
                }
                SelectItem::Wildcard(options) => {
                    if !has_from {
                        let message = "SELECT * with no tables specified is not valid";
                        return Err(at(SqlError::new(SqlState::SYNTAX, message), item));
                    }
                    let all = self.level().frame.all();
                    self.starred((Some(item), None), all, Some(options), items)?;
                }
                SelectItem::QualifiedWildcard(of, options) => {
                    self.all_of(item, of, options, items)?;
                }
                SelectItem::ExprWithAliases { expr, .. } => {
                    return Err(unsupported("several aliases", expr));
                }
            }
            self.note_left_out(known, items.len());
        }
        Ok(())
    }

    /// `t.*`
    fn all_of(
        &mut self,
        item: &'a SelectItem,
        of: &'a SelectItemQualifiedWildcardKind,
        options: &'a ast::WildcardAdditionalOptions,
        items: &mut Vec<Item>,
    ) -> SqlResult<()> {
        let name = match of {
            SelectItemQualifiedWildcardKind::ObjectName(name) => name,
            SelectItemQualifiedWildcardKind::Expr(expr) => {
                return Err(unsupported("* behind this expression", expr));
            }
        };
        if self.whole_row(name).is_err()
            && let Some(fields) = self.fields_of_name(name)
        {
            items.extend(fields?);
            return Ok(());
        }
        let (columns, relation): (Vec<Named>, _) = {
            let relation = self.whole_row(name)?;
            (relation.columns.named().collect(), relation.name.clone())
        };
        self.starred((Some(item), relation.as_deref()), columns, Some(options), items)
    }

    /// What an entry of ORDER BY names: an output column by place or name, else any expression.
    fn order_key(
        &mut self,
        entry: &Entry<'a>,
        items: &[Item],
        clause: &str,
    ) -> SqlResult<OrderKey> {
        let Some(expr) = entry.expr else {
            let key = entry.key(items[entry.place].expr.clone(), self.order_defaults());
            return Ok(OrderKey::Place(entry.place, key));
        };
        let found = match place(expr, items.len(), clause)? {
            Some(place) => Some(place),
            None => output_named(expr, items)?,
        };
        if let Some(place) = found {
            let key = entry.key(items[place].expr.clone(), self.order_defaults());
            return Ok(OrderKey::Place(place, key));
        }
        let known = self.level().pending.len();
        let mut bound = self.declared(expr)?;
        self.share_known(known, &mut bound)?;
        let bound = match bound.kind {
            // A parameter is a value, never a place; of a type that nothing tells it is text.
            plan::ExprKind::Parameter(_) if bound.data_type == DataType::Null => {
                self.coerce_unknown(bound, DataType::Text)?
            }
            _ => bound,
        };
        if bound.data_type == DataType::Null {
            let message = "non-integer constant in ORDER BY";
            return Err(at(SqlError::new(SqlState::SYNTAX, message), expr));
        }
        let same = items.iter().position(|it| it.expr == bound && super::is_repeatable(&bound));
        let key = entry.key(bound, self.order_defaults());
        Ok(match same {
            Some(place) => OrderKey::Place(place, key),
            None => OrderKey::By(key),
        })
    }

    /// The select list over the rows, each value made once; then DISTINCT, then ORDER BY.
    fn projected(
        &mut self,
        (rel, series): (Rel, Option<LateRows>),
        upper: Upper,
        distinct: bool,
        select: &ast::Select,
    ) -> SqlResult<Answer> {
        let mut made: Vec<(Attr, Expr)> = Vec::new();
        let mut columns = Vec::with_capacity(upper.items.len());
        for Item { name, expr, origin } in upper.items {
            let attr = self.name_expr(expr, &mut made);
            columns.push(OutputColumn { name, attr, origin });
        }
        let is_plain = upper.distinct_on.is_empty() && !distinct;
        let (rel, series) = match series {
            Some(it) if is_plain && it.may_follow(&upper.order) => (rel, Some(it)),
            Some(it) => (it.of(rel), None),
            None => (rel, None),
        };
        let has_early_series = series.is_none() && self.level().series.is_some();
        let late = match !upper.order.is_empty() && is_plain && !has_early_series {
            true => late_values(&mut made, &columns, (&upper.order, series.as_ref())),
            false => Vec::new(),
        };
        let mut rel = mapped(rel, made);
        let mut answer_columns = columns;
        if distinct {
            let mut answer = Answer { rel, columns: answer_columns };
            self.decide_types(&mut answer)?;
            Answer { rel, columns: answer_columns } = answer;
            Answer { rel, columns: answer_columns } =
                self.distinct_rows(Answer { rel, columns: answer_columns })?;
        }
        let mut keys = Vec::with_capacity(upper.order.len());
        for order in upper.order {
            keys.push(match order {
                OrderKey::Place(place, key) => {
                    SortKey { expr: self.column_expr(answer_columns[place].attr), ..key }
                }
                OrderKey::By(_) if distinct => {
                    let message =
                        "for SELECT DISTINCT, ORDER BY expressions must appear in select list";
                    return Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message));
                }
                OrderKey::By(key) => key,
            });
        }
        if !upper.distinct_on.is_empty() {
            if self.level().series.is_some() {
                let what = "a series in the select list of DISTINCT ON";
                return Err(SqlError::unsupported(format!("{what} is not supported")));
            }
            return self.distinct_on(rel, upper.distinct_on, keys, answer_columns, select);
        }
        let rel = sorted(rel, keys)?;
        let rel = if let Some(it) = series { it.of(rel) } else { rel };
        Ok(Answer { rel: mapped(rel, late), columns: answer_columns })
    }

    /// DISTINCT ON: the first row of each group of equal values, in the order of ORDER BY.
    fn distinct_on(
        &mut self,
        rel: Rel,
        on: Vec<OrderKey>,
        keys: Vec<SortKey>,
        columns: Vec<OutputColumn>,
        select: &ast::Select,
    ) -> SqlResult<Answer> {
        let (mut made, mut named, mut by) = (Vec::new(), Vec::new(), Vec::new());
        for key in on {
            let expr = match key {
                OrderKey::Place(place, _) => self.column_expr(columns[place].attr),
                OrderKey::By(key) => key.expr,
            };
            super::json::check_equality(expr.data_type)?;
            let attr = self.name_expr(expr, &mut made);
            if !named.contains(&attr) {
                named.push(attr);
            }
        }
        let first = |it: &SortKey| plan::relation::bare(&it.expr);
        let leading = keys.iter().take(named.len());
        let made_of = |it: &SortKey| made.iter().find(|made| made.1 == it.expr).map(|it| it.0);
        let matches = leading
            .map(|it| first(it).or_else(|| made_of(it)))
            .all(|it| it.is_some_and(|it| named.contains(&it)));
        if !matches {
            let message = "SELECT DISTINCT ON expressions must match initial ORDER BY expressions";
            let error = SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message);
            return Err(select.projection.first().map_or(error.clone(), |it| at(error, it)));
        }
        let mut partition = Vec::with_capacity(named.len());
        for attr in named {
            let key = super::coercion::key_of(self.column_expr(attr));
            partition.push(self.name_expr(key, &mut by));
        }
        let input = Box::new(mapped(mapped(rel, made), by));
        let order = super::query::compared(keys.clone())?;
        let first = Rel::Sort { input, keys: order, offset: 0, limit: Some(1), partition };
        Ok(Answer { rel: sorted(first, keys)?, columns })
    }

    /// The relation that `t` in `t.*` or count(t.*) names.
    pub(super) fn whole_row(&self, name: &ast::ObjectName) -> SqlResult<&super::scope::Relation> {
        let parts = name.0.iter().map(|it| it.as_ident()).collect::<Option<Vec<_>>>();
        let (schema, table) = match parts.as_deref() {
            Some([table]) => (None, *table),
            Some([schema, table]) => (Some(*schema), *table),
            Some([database, schema, table]) if self.is_own_database(database) => {
                (Some(*schema), *table)
            }
            _ => return Err(unsupported("a name of more than two parts", name)),
        };
        let frames = self.levels.iter().rev().map(|it| &it.frame);
        let mut found = frames.filter_map(|it| it.relation(schema, table));
        found.next().ok_or_else(|| {
            let message = format!("missing FROM-clause entry for table \"{}\"", ident(table));
            at(SqlError::new(SqlState::UNDEFINED_TABLE, message), name)
        })
    }

    /// The entry of the select list that a name of GROUP BY means; none where it is a column of the input.
    pub(super) fn group_name(
        &mut self,
        name: &'a ast::Ident,
        items: &[Item],
    ) -> SqlResult<Option<usize>> {
        let frame: &Frame = &self.level().frame;
        if frame.find(name) != Meaning::Nothing {
            return Ok(None);
        }
        let mut named = (0..items.len()).filter(|it| is_named(name, &items[*it].name));
        match (named.next(), named.next()) {
            (Some(item), None) => Ok(Some(item)),
            (Some(first), Some(second)) if items[first].expr == items[second].expr => {
                Ok(Some(first))
            }
            (Some(_), Some(_)) => Err(super::errors::ambiguous(name)),
            // It may be a column of a query around.
            (None, _) => match self.levels.len() {
                1 => Err(no_column(&ident(name), name)),
                _ => Ok(None),
            },
        }
    }
}

/// Takes out the values that are other ones each time they are asked for, as `nextval`, and that an order does not need: they are
/// made of the rows in that order, and of no row that LIMIT cuts off. So are values of rows that come behind the order.
fn late_values(
    made: &mut Vec<(Attr, Expr)>,
    columns: &[OutputColumn],
    (order, series): (&[OrderKey], Option<&LateRows>),
) -> Vec<(Attr, Expr)> {
    let place = |it: &OrderKey| match it {
        OrderKey::Place(place, _) => Some(columns[*place].attr),
        OrderKey::By(_) => None,
    };
    let keys: Vec<Attr> = order.iter().filter_map(place).collect();
    let is_late = |it: &(Attr, Expr)| {
        let follows = series.is_some_and(|series| series.makes(&it.1));
        follows || !keys.contains(&it.0) && !super::is_repeatable(&it.1)
    };
    made.extract_if(.., |it| is_late(it)).collect()
}

/// The output column of a bare name, if there is one.
fn output_named(expr: &ast::Expr, items: &[Item]) -> SqlResult<Option<usize>> {
    let ast::Expr::Identifier(name) = expr else { return Ok(None) };
    let mut found = None;
    for (place, item) in items.iter().enumerate() {
        if !is_named(name, &item.name) {
            continue;
        }
        match found {
            None => found = Some(place),
            Some(known) if items[known].expr == item.expr => {}
            Some(_) => {
                let message = format!("ORDER BY \"{}\" is ambiguous", name.value);
                return Err(at(SqlError::new(SqlState::AMBIGUOUS_COLUMN, message), &Name(name)));
            }
        }
    }
    Ok(found)
}

/// What the parser accepts and nobody here does.
fn refuse_rare(select: &ast::Select) -> SqlResult<()> {
    let rare = [
        (select.into.is_some(), "SELECT INTO"),
        (select.top.is_some(), "TOP"),
        (!select.lateral_views.is_empty(), "LATERAL VIEW"),
        (!select.connect_by.is_empty(), "CONNECT BY"),
        (select.prewhere.is_some(), "PREWHERE"),
        (!select.cluster_by.is_empty(), "CLUSTER BY"),
        (!select.distribute_by.is_empty(), "DISTRIBUTE BY"),
        (!select.sort_by.is_empty(), "SORT BY"),
        (select.exclude.is_some(), "EXCLUDE"),
        (select.value_table_mode.is_some(), "SELECT AS"),
        (select.select_modifiers.is_some(), "this modifier of SELECT"),
    ];
    match rare.into_iter().find(|it| it.0) {
        Some((_, what)) => Err(unsupported(what, select)),
        None => Ok(()),
    }
}

/// Whether a SELECT gives each row once. Errors: 42601 of rows without columns.
fn is_distinct(select: &ast::Select) -> SqlResult<bool> {
    let is_distinct = matches!(select.distinct, Some(ast::Distinct::Distinct));
    match is_distinct && select.projection.is_empty() {
        true => {
            let message = "SELECT DISTINCT must have at least one column";
            Err(SqlError::new(SqlState::SYNTAX, message))
        }
        false => Ok(is_distinct),
    }
}
