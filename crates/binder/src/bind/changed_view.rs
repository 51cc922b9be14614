//! Views whose rows are changed: where each row of a view is a row of one table, or of another such view, what is done to it is
//! done to that row, as in PostgreSQL.
//!
//! Key decision: the target is the table. The statement sees its rows, those that are there and the new ones, through what the
//! views make of them: columns of the table under other names, and what is computed of them. Rows that a view leaves out are left
//! out before anything else is asked of them.

use plan::relation::{Attr, Rel};
use plan::{Expr, ExprKind};
use sqlparser::ast::{self, SelectItem, SetExpr, TableFactor};
use stdx::stack::Deep;
use stdx::sync::Arc;
use types::{
    CatalogView, CheckOption, DataType, SqlError, SqlResult, SqlState, TableInfo, Value,
    ViewDefinition, names,
};

use super::change::Target;
use super::domain_rules::RowCheck;
use super::from::Source;
use super::level::{Clause, Level};
use super::scope::{Columns, Frame, Named, Relation, is_named};
use super::view::{VIEWS_MAX, no_change};
use super::{Binder, OutputColumn, mapped};
use crate::syntax::ident;
use crate::view_text;

/// A view between a statement and the table that it changes.
#[derive(Debug)]
pub(super) struct ChangedView {
    pub(super) view: Arc<ViewDefinition>,
    query: Deep<Box<ast::Query>>,
    /// The relation that it is made of: its schema, and its name.
    pub(super) of: (Option<String>, String),
    /// The name of that in its query.
    called: String,
    /// By column, which of the columns of that relation it is; `None` of what is computed.
    pub(super) places: Vec<Option<usize>>,
}

/// What is asked of rows on their way through views.
#[derive(Clone, Copy)]
enum Asks {
    Nothing,
    /// Whether the views show them: others are left out.
    Rows,
    /// Whether those show them that want to be asked, as a value.
    New,
}

impl ChangedView {
    fn of(view: Arc<ViewDefinition>) -> SqlResult<Self> {
        if view.materialized.is_some() {
            return Err(no_change(&view));
        }
        let query = view_text::parsed(&view.query)?;
        let (of, called) = query.walk(|it| relation_of(it)).ok_or_else(|| no_change(&view))?;
        Ok(Self { view, query, of, called, places: Vec::new() })
    }

    fn select(&self) -> Option<&ast::Select> {
        match &*self.query.body {
            SetExpr::Select(select) => Some(select),
            _ => None,
        }
    }

    fn items(&self) -> impl Iterator<Item = &ast::Expr> {
        self.select().into_iter().flat_map(|it| &it.projection).filter_map(expression_of)
    }

    /// Finds its columns among those below.
    fn find(&mut self, below: &[String]) {
        let place = |it: &ast::Expr| {
            let name = match it {
                ast::Expr::Identifier(name) => name,
                ast::Expr::CompoundIdentifier(parts) => parts.last()?,
                _ => return None,
            };
            below.iter().position(|it| is_named(name, it))
        };
        self.places = self.items().map(place).collect();
    }

    /// The place of a column in the table, by its own.
    fn place_of_name(&self, name: &ast::Ident) -> Option<usize> {
        self.view.columns.iter().position(|it| is_named(name, &it.0))
    }
}

/// The views between a name and the table that it is changed by, the one of that name first; none where it is a table.
///
/// # Errors
/// 55000 and 42809 for a view whose rows are rows of no table, 54001 for too many of them.
pub(super) fn views_of(
    schema: Option<&str>,
    name: &str,
    catalog: &dyn CatalogView,
) -> SqlResult<(Vec<ChangedView>, Option<Arc<TableInfo>>)> {
    let mut views: Vec<ChangedView> = Vec::new();
    let mut next = (schema.map(str::to_owned), name.to_owned());
    let table = loop {
        let (schema, name) = (next.0.as_deref(), next.1.as_str());
        let Some(view) = catalog.view(schema, name) else { break catalog.table(schema, name) };
        if views.len() == VIEWS_MAX {
            let message = format!("more than {VIEWS_MAX} views are made of one another");
            return Err(SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, message));
        }
        let view = ChangedView::of(view)?;
        next.clone_from(&view.of);
        views.push(view);
    };
    let stored = table.iter().flat_map(|it| &it.columns).map(|it| it.name.clone());
    let mut below: Vec<String> = stored.collect();
    for view in views.iter_mut().rev() {
        view.find(&below);
        below = view.view.columns.iter().map(|it| it.0.clone()).collect();
    }
    // PostgreSQL wants one column at least that can be changed.
    match views.iter().find(|it| it.places.iter().all(Option::is_none)) {
        Some(view) => Err(no_change(&view.view)),
        None => Ok((views, table)),
    }
}

/// Of the columns of a view whether they can be changed; `None` where its rows cannot.
pub fn changeable_columns(name: &str, catalog: &dyn CatalogView) -> Option<Vec<bool>> {
    let (schema, own) = names::split(name);
    let (views, table) = views_of(Some(&schema), &own, catalog).ok()?;
    let places = places_in_table(&views);
    table.is_some().then(|| places.into_iter().map(|it| it.1.is_some()).collect())
}

/// Whether the rows of a query, if it is a view, can be changed.
///
/// # Errors
/// XX000 for a text that is no query.
pub fn is_changeable(query: &str, catalog: &dyn CatalogView) -> SqlResult<bool> {
    let query = view_text::parsed(query)?;
    let found = query.walk(|it| relation_of(it));
    let below = found.map(|it| views_of(it.0.0.as_deref(), &it.0.1, catalog));
    Ok(matches!(below, Some(Ok((_, Some(_))))))
}

/// The place of a column of the first view in the table: nothing where it is none, and no place where it is computed.
pub(super) fn place_in_table(views: &[ChangedView], name: &ast::Ident) -> Option<Option<usize>> {
    let mut place = Some(views.first()?.place_of_name(name)?);
    for view in views {
        place = place.and_then(|it| view.places.get(it).copied().flatten());
    }
    Some(place)
}

/// The columns of the first view, with their places in the table.
pub(super) fn places_in_table(views: &[ChangedView]) -> Vec<(String, Option<usize>)> {
    let Some((first, rest)) = views.split_first() else { return Vec::new() };
    let below = |place: Option<usize>, view: &ChangedView| {
        place.and_then(|it| view.places.get(it).copied().flatten())
    };
    let places = first.places.iter().map(|it| rest.iter().fold(*it, below));
    first.view.columns.iter().map(|it| it.0.clone()).zip(places).collect()
}

fn expression_of(item: &SelectItem) -> Option<&ast::Expr> {
    match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    }
}

/// The one relation whose rows are the rows of a query, by schema and name, and how it is called there.
fn relation_of(query: &ast::Query) -> Option<((Option<String>, String), String)> {
    let SetExpr::Select(select) = &*query.body else { return None };
    let is_plain = query.with.is_none()
        && query.limit_clause.is_none()
        && query.fetch.is_none()
        && select.distinct.is_none()
        && select.having.is_none()
        && select.qualify.is_none()
        && matches!(&select.group_by, ast::GroupByExpr::Expressions(it, _) if it.is_empty())
        && select.projection.iter().all(|it| expression_of(it).is_some_and(is_of_row));
    let [from] = &select.from[..] else { return None };
    let TableFactor::Table { name, alias, args: None, sample: None, .. } = &from.relation else {
        return None;
    };
    let renames = alias.as_ref().is_some_and(|it| !it.columns.is_empty());
    if !is_plain || renames || !from.joins.is_empty() {
        return None;
    }
    let parts: Option<Vec<_>> = name.0.iter().map(|it| it.as_ident().map(ident)).collect();
    let (schema, name) = match &parts?[..] {
        [name] => (None, name.clone()),
        [schema, name] => (Some(schema.clone()), name.clone()),
        _ => return None,
    };
    let called = alias.as_ref().map_or_else(|| name.clone(), |it| ident(&it.name));
    Some(((schema, name), called))
}

/// Whether a value is computed of one row, to one value: no aggregates, window functions or series are in it, nor in its subqueries.
fn is_of_row(expr: &ast::Expr) -> bool {
    use std::ops::ControlFlow;
    let found = ast::visit_expressions(expr, |it| match it {
        ast::Expr::Function(call) if call.over.is_some() => ControlFlow::Break(()),
        ast::Expr::Function(call) => {
            let name = call.name.0.last().and_then(|it| it.as_ident()).map(ident);
            let name = name.unwrap_or_default();
            let makes_rows = super::series::is_series(&name) || super::json_rows::makes_rows(&name);
            match super::aggregate_names::by_name(&name).is_some() || makes_rows {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        }
        _ => ControlFlow::Continue(()),
    });
    found.is_continue()
}

impl<'a> Binder<'a> {
    /// The columns by which the statement sees rows of its target: `row` are those of the table.
    pub(super) fn seen(
        &mut self,
        rel: Rel,
        target: &Target,
        row: &[Attr],
    ) -> SqlResult<(Rel, Columns)> {
        if target.views.is_empty() {
            return Ok((rel, target.columns(|place| row[place])));
        }
        let (rel, columns, _) = self.through_views(rel, target, row, Asks::Nothing)?;
        Ok((rel, columns))
    }

    /// The frame of the target alone, as the statement sees it.
    pub(super) fn seen_frame(
        &mut self,
        rel: Rel,
        target: &Target,
        row: &[Attr],
    ) -> SqlResult<(Rel, Frame)> {
        let (rel, columns) = self.seen(rel, target, row)?;
        Ok((rel, target.frame_of(columns)))
    }

    /// The rows of the target that its views show.
    pub(super) fn shown_rows(&mut self, target: &Target, source: Source) -> SqlResult<Source> {
        if target.views.is_empty() {
            return Ok(source);
        }
        let row = target.stored();
        let (rel, columns, _) = self.through_views(source.0, target, &row, Asks::Rows)?;
        Ok((rel, target.frame_of(columns)))
    }

    /// Adds to what is asked of new rows whether they are rows of the views that want that.
    pub(super) fn asked_by_views(
        &mut self,
        rel: Rel,
        target: &Target,
        row: &[Attr],
        mut checks: Vec<(RowCheck, OutputColumn)>,
    ) -> SqlResult<(Rel, Vec<(RowCheck, OutputColumn)>)> {
        let rules = self.rules;
        if target.views.is_empty() || rules.views.iter().all(|it| it.view.check.is_none()) {
            return Ok((rel, checks));
        }
        let (rel, _, asked) = self.through_views(rel, target, row, Asks::New)?;
        let mut made = Vec::with_capacity(asked.len());
        for (name, condition) in asked {
            let truth = |it| Expr::literal(Value::Boolean(it), DataType::Boolean);
            // What is unknown is no row of the view.
            let (branches, otherwise) = (vec![(condition, truth(true))], truth(false));
            let kind = ExprKind::Case { branches, otherwise: Some(Box::new(otherwise)) };
            let attr = self.attribute(DataType::Boolean, true);
            made.push((attr, Expr { kind, data_type: DataType::Boolean }));
            let column = OutputColumn { name: "check".to_owned(), attr };
            checks.push((RowCheck::View(name), column));
        }
        Ok((mapped(rel, made), checks))
    }

    /// What the views make of rows of the table, from the one that is made of it to the statement's.
    fn through_views(
        &mut self,
        mut rel: Rel,
        target: &Target,
        row: &[Attr],
        asks: Asks,
    ) -> SqlResult<(Rel, Columns, Vec<(String, Expr)>)> {
        let stored = target.table.columns.iter().zip(row);
        let mut below: Vec<Named> =
            stored.map(|(it, attr)| Named { name: it.name.clone(), attr: *attr }).collect();
        let rules = self.rules;
        // Who changes a view reads nothing of the table; its owner does.
        let asked = self.asking.target.take();
        let mut conditions = Vec::new();
        for (number, view) in rules.views.iter().enumerate().rev() {
            let is_asked = match asks {
                Asks::Nothing => false,
                Asks::Rows => true,
                Asks::New => {
                    let above = &rules.views[..number];
                    let cascades = |it: &ChangedView| it.view.check == Some(CheckOption::Cascaded);
                    view.view.check.is_some() || above.iter().any(cascades)
                }
            };
            let asks = if is_asked { asks } else { Asks::Nothing };
            let condition;
            (rel, below, condition) = self.through_view(rel, view, below, asks)?;
            conditions.extend(condition.map(|it| (names::bare(&view.view.name), it)));
        }
        self.asking.target = asked;
        let computed = below.iter().map(|it| it.attr).filter(|it| !row.contains(it));
        self.ask_computed(&below, computed.collect());
        Ok((rel, Columns::Made(below), conditions))
    }

    fn through_view(
        &mut self,
        rel: Rel,
        view: &ChangedView,
        below: Vec<Named>,
        asks: Asks,
    ) -> SqlResult<(Rel, Vec<Named>, Option<Expr>)> {
        let changed = || SqlError::internal("a view that is changed is no plain one any more");
        let select = view.select().ok_or_else(changed)?;
        let shown = below.iter().filter(|it| !names::is_hidden(&it.name)).cloned().collect();
        let relation = Relation {
            name: Some(view.called.clone()),
            schema: view.of.0.clone(),
            columns: Columns::Made(shown),
        };
        let level = Level::new(Frame::of(relation), rel, Clause::Where);
        let bound = view.query.walk(|_| {
            let mut inner = Binder::new(self.environment, &[]);
            inner.views = self.views + 1;
            self.lend(&mut inner);
            let around = inner.begin_view(&view.view.name);
            let bound = inner.in_level(level, |this| {
                let condition = match (asks, &select.selection) {
                    (Asks::Rows, Some(condition)) => {
                        this.filter(condition)?;
                        None
                    }
                    (Asks::New, Some(condition)) => Some(this.condition(condition)?),
                    _ => None,
                };
                let mut made = Vec::new();
                let mut columns = Vec::with_capacity(view.places.len());
                for ((item, place), (name, _)) in
                    view.items().zip(&view.places).zip(&view.view.columns)
                {
                    let attr = match place {
                        Some(place) => below[*place].attr,
                        None => {
                            let value = this.expr(item)?;
                            let value = match value.data_type {
                                DataType::Null => this.coerce_unknown(value, DataType::Text)?,
                                _ => value,
                            };
                            this.name_expr(value, &mut made)
                        }
                    };
                    columns.push(Named { name: name.clone(), attr });
                }
                Ok((made, columns, condition))
            });
            inner.end_view(around);
            let (views, is_stable) = (self.views, inner.is_stable);
            inner.lend(self);
            self.views = views;
            self.is_stable &= is_stable;
            bound
        });
        let ((made, columns, condition), level) =
            bound.map_err(|it| SqlError { position: None, ..it })?;
        Ok((mapped(level.input, made), columns, condition))
    }
}
