//! SELECT: the select list, groups, DISTINCT and ORDER BY.

use datafusion_sql::sqlparser::ast::{self, OrderByExpr, SelectItem};
use plan::{Aggregate, Expr, ExprKind, SortKey};

use super::scope::{Meaning, Scope, is_named, normal};
use super::{Answer, Binder, Calls, OutputColumn};
use plan::relation::{Attr, AttrSet, Rel, bare, split_conjunction};

type Keys = Vec<(Attr, Expr)>;

/// An entry of the select list.
struct Item {
    name: String,
    /// Whether the name was given, or is a column's.
    is_named: bool,
    /// Whether the name was given.
    is_alias: bool,
    expr: Expr,
    nullable: bool,
}

/// What ORDER BY names.
enum Order {
    /// An output column by place.
    Place(usize),
    /// Anything else.
    By(Expr),
}

/// Everything of a SELECT but its relations and condition.
struct Parts {
    items: Vec<Item>,
    keys: Keys,
    having: Option<Expr>,
    order: Vec<(Order, ast::OrderByOptions)>,
    calls: Calls,
}

impl<'a> Binder<'a> {
    /// Binds a SELECT with the ORDER BY that follows it.
    pub(super) fn select(
        &mut self,
        select: &'a ast::Select,
        order: &'a [OrderByExpr],
        outer: Option<&Scope<'_>>,
        on: Option<&mut Vec<Expr>>,
    ) -> Option<Answer> {
        let is_distinct = match &select.distinct {
            None | Some(ast::Distinct::All) => false,
            Some(ast::Distinct::Distinct) => true,
            Some(ast::Distinct::On(_)) => return None,
        };
        if !is_plain(select) {
            return None;
        }
        let (mut rel, relations) = self.from(&select.from)?;
        let scope = Scope { relations, outer };
        let mut correlated = Vec::new();
        if let Some(condition) = &select.selection {
            let into = on.is_some().then_some(&mut correlated);
            rel = self.filter(rel, condition, &scope, into)?;
        }
        let mut parts = self.parts(select, order, &scope)?;
        let is_grouped = !parts.keys.is_empty() || !parts.calls.is_empty();
        if !correlated.is_empty() {
            if is_distinct || !order.is_empty() || !parts.keys.is_empty() || parts.having.is_some()
            {
                return None;
            }
            if is_grouped {
                let values: Vec<&Expr> = parts.items.iter().map(|it| &it.expr).collect();
                parts.keys = self.correlated_keys(&correlated, &parts.calls, &values, &scope)?;
            }
        }
        let rel = match is_grouped {
            true => grouped(rel, &mut parts)?,
            false if parts.having.is_some() => return None,
            false => rel,
        };
        if let Some(on) = on {
            *on = correlated;
        }
        self.projected(rel, parts, is_distinct, is_grouped)
    }

    /// Binds what stands over the rows: the order in which aggregates are met is the order in which they are made.
    fn parts(
        &mut self,
        select: &'a ast::Select,
        order: &'a [OrderByExpr],
        scope: &Scope<'_>,
    ) -> Option<Parts> {
        self.level.calls = Some(Calls::new());
        let mut items = Vec::with_capacity(select.projection.len());
        for item in &select.projection {
            self.item(item, scope, &mut items)?;
        }
        if !are_distinct(&items) {
            return None;
        }
        let aliases = items.iter().filter(|it| it.is_alias).map(|it| it.name.clone());
        self.level.doubtful = aliases.collect();
        let having = match &select.having {
            Some(it) => Some(self.predicate(it, scope)?),
            None => None,
        };
        let mut sort = Vec::with_capacity(order.len());
        for it in order {
            if it.with_fill.is_some() {
                return None;
            }
            sort.push((self.order(&it.expr, &items, scope)?, it.options));
        }
        let calls = self.level.calls.take()?;
        let ast::GroupByExpr::Expressions(groups, modifiers) = &select.group_by else {
            return None;
        };
        let mut keys = Keys::new();
        for group in groups {
            let expr = self.group_key(group, &items, scope)?;
            let used = AttrSet::of(&expr);
            let of_groups = calls.iter().any(|it| used.contains(it.0));
            if of_groups || matches!(expr.kind, ExprKind::Literal(_)) {
                return None;
            }
            if keys.iter().all(|it| it.1 != expr) {
                let attr = match bare(&expr) {
                    Some(attr) => attr,
                    None => self.attribute(expr.data_type, true),
                };
                keys.push((attr, expr));
            }
        }
        let plain =
            modifiers.is_empty() && self.level.outer_uses == 0 && self.level.pending.is_empty();
        plain.then_some(Parts { items, keys, having, order: sort, calls })
    }

    fn item(
        &mut self,
        item: &'a SelectItem,
        scope: &Scope<'_>,
        items: &mut Vec<Item>,
    ) -> Option<()> {
        let (expr, alias) = match item {
            SelectItem::UnnamedExpr(expr) => (expr, None),
            SelectItem::ExprWithAlias { expr, alias } => (expr, Some(alias)),
            SelectItem::Wildcard(options) if *options == Default::default() => {
                return self.all_columns(scope, items);
            }
            _ => return None,
        };
        let bound = self.expr(expr, scope)?;
        let nullable = self.nullable(&bound, scope);
        let (name, is_named) = match alias {
            Some(alias) => (normal(alias), true),
            None => shown_name(expr)?,
        };
        items.push(Item { name, is_named, is_alias: alias.is_some(), expr: bound, nullable });
        Some(())
    }

    fn all_columns(&self, scope: &Scope<'_>, items: &mut Vec<Item>) -> Option<()> {
        for relation in &scope.relations {
            for (name, attr) in relation.columns() {
                items.push(Item {
                    name: name?.to_owned(),
                    is_named: true,
                    is_alias: false,
                    expr: self.column_expr(attr),
                    nullable: scope.nullable(attr, &self.attributes),
                });
            }
        }
        Some(())
    }

    /// A column of the input comes before one of the output.
    fn group_key(
        &mut self,
        expr: &'a ast::Expr,
        items: &[Item],
        scope: &Scope<'_>,
    ) -> Option<Expr> {
        if let Some(place) = place_of(expr) {
            return items.get(place.checked_sub(1)?).map(|it| it.expr.clone());
        }
        if let ast::Expr::Identifier(name) = expr {
            match scope.find(None, name) {
                Meaning::Column(attr) => return Some(self.column_expr(attr)),
                Meaning::Several => return None,
                Meaning::Nothing => {}
            }
            let meant = items.iter().find(|it| it.is_alias && is_named(name, &it.name))?;
            return Some(meant.expr.clone());
        }
        self.expr(expr, scope)
    }

    /// A column of the output comes before one of the input, unless it is the same.
    fn order(&mut self, expr: &'a ast::Expr, items: &[Item], scope: &Scope<'_>) -> Option<Order> {
        if let Some(place) = place_of(expr) {
            return (1..=items.len()).contains(&place).then(|| Order::Place(place - 1));
        }
        if let ast::Expr::Identifier(name) = expr
            && let Some(place) = items.iter().position(|it| it.is_named && is_named(name, &it.name))
        {
            let own = bare(&items[place].expr);
            return match scope.find(None, name) {
                Meaning::Nothing => Some(Order::Place(place)),
                Meaning::Column(attr) if own == Some(attr) => Some(Order::Place(place)),
                _ => None,
            };
        }
        let bound = self.expr(expr, scope)?;
        if matches!(bound.kind, ExprKind::Literal(_)) {
            return None;
        }
        Some(match items.iter().position(|it| it.expr == bound) {
            Some(place) => Order::Place(place),
            None => Order::By(bound),
        })
    }

    /// The select list over the rows, each value made once; then DISTINCT, then ORDER BY.
    fn projected(
        &mut self,
        rel: Rel,
        parts: Parts,
        is_distinct: bool,
        is_grouped: bool,
    ) -> Option<Answer> {
        let mut made: Vec<(Attr, Expr)> = Vec::new();
        let mut columns = Vec::with_capacity(parts.items.len());
        for Item { name, is_named, expr, nullable, .. } in parts.items {
            let known = made.iter().find(|it| it.1 == expr).map(|it| it.0);
            let attr = match known.or(bare(&expr)) {
                Some(attr) => attr,
                None => {
                    let attr = self.attribute(expr.data_type, nullable);
                    made.push((attr, expr));
                    attr
                }
            };
            columns.push(OutputColumn { name, is_named, attr, nullable });
        }
        let mut rel = match made.is_empty() {
            true => rel,
            false => Rel::Map { input: Box::new(rel), exprs: made },
        };
        if is_distinct {
            let keys = columns.iter().map(|it| (it.attr, self.column_expr(it.attr))).collect();
            rel = groups(rel, keys, Vec::new());
        }
        if !parts.order.is_empty() {
            let mut keys = Vec::with_capacity(parts.order.len());
            for (order, options) in parts.order {
                let expr = match order {
                    Order::Place(place) => self.column_expr(columns[place].attr),
                    Order::By(_) if is_distinct => return None,
                    Order::By(expr) => expr,
                };
                // NULL is greater than any value.
                let descending = !options.asc.unwrap_or(true);
                let nulls_first = options.nulls_first.unwrap_or(descending);
                keys.push(SortKey { expr, descending, nulls_first });
            }
            rel = Rel::Sort {
                input: Box::new(rel),
                partition: Vec::new(),
                keys,
                offset: 0,
                limit: None,
            };
        }
        Some(Answer { rel, columns, is_grouped })
    }
}

/// Groups, with everything above them said in terms of them.
fn grouped(rel: Rel, parts: &mut Parts) -> Option<Rel> {
    let keys = std::mem::take(&mut parts.keys);
    let calls = std::mem::take(&mut parts.calls);
    for item in &mut parts.items {
        over_groups(&mut item.expr, &keys, &calls)?;
    }
    for (order, _) in &mut parts.order {
        if let Order::By(expr) = order {
            over_groups(expr, &keys, &calls)?;
        }
    }
    let mut conditions = Vec::new();
    if let Some(mut having) = parts.having.take() {
        over_groups(&mut having, &keys, &calls)?;
        split_conjunction(having, &mut conditions);
    }
    Some(groups(rel, keys, calls).filtered(conditions))
}

fn groups(input: Rel, keys: Keys, aggregates: Vec<(Attr, Aggregate)>) -> Rel {
    Rel::Aggregate { input: Box::new(input), keys, aggregates, rows: 0.0 }
}

/// Puts group keys in the place of the expressions they are; `None` when a column is left that is neither.
fn over_groups(expr: &mut Expr, keys: &Keys, calls: &Calls) -> Option<()> {
    if let Some((attr, _)) = keys.iter().find(|it| it.1 == *expr) {
        *expr = Expr::column(*attr, expr.data_type);
        return Some(());
    }
    if let ExprKind::Column(attr) = expr.kind {
        return calls.iter().any(|it| it.0 == attr).then_some(());
    }
    expr.children_mut().into_iter().try_for_each(|it| over_groups(it, keys, calls))
}

/// Whether no two entries have one name, and none is there twice.
fn are_distinct(items: &[Item]) -> bool {
    let same = |a: &Item, b: &Item| match (a.is_named, b.is_named) {
        (true, true) => a.name == b.name,
        (false, false) => a.expr == b.expr,
        _ => false,
    };
    (1..items.len()).all(|it| items[..it].iter().all(|other| !same(other, &items[it])))
}

/// The place in the select list that a number in GROUP BY or ORDER BY means.
fn place_of(expr: &ast::Expr) -> Option<usize> {
    match expr {
        ast::Expr::Value(it) => match &it.value {
            ast::Value::Number(text, _) => text.parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

/// The name of an output column without alias, and whether it is a column's.
fn shown_name(expr: &ast::Expr) -> Option<(String, bool)> {
    use ast::Expr as Ast;
    let shown = match expr {
        Ast::Nested(inner) => return shown_name(inner),
        Ast::Identifier(name) => return Some((normal(name), true)),
        Ast::CompoundIdentifier(parts) => return Some((normal(parts.last()?), true)),
        Ast::Function(it) => return Some((it.name.to_string().to_ascii_lowercase(), false)),
        Ast::Cast { expr, .. } => return shown_name(expr),
        Ast::Subquery(_) => return None,
        Ast::Extract { .. } => "date_part",
        Ast::Substring { .. } => "substr",
        Ast::Case { .. } => "case",
        _ => "?column?",
    };
    Some((shown.to_owned(), false))
}

fn is_plain(select: &ast::Select) -> bool {
    let ast::Select {
        optimizer_hints,
        select_modifiers: None,
        top: None,
        exclude: None,
        into: None,
        lateral_views,
        prewhere: None,
        connect_by,
        cluster_by,
        distribute_by,
        sort_by,
        named_window,
        qualify: None,
        value_table_mode: None,
        flavor: ast::SelectFlavor::Standard,
        ..
    } = select
    else {
        return false;
    };
    optimizer_hints.is_empty()
        && lateral_views.is_empty()
        && connect_by.is_empty()
        && cluster_by.is_empty()
        && distribute_by.is_empty()
        && sort_by.is_empty()
        && named_window.is_empty()
}
