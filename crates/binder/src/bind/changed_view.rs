//! Views whose rows are changed, as PostgreSQL changes them: which they are, and the columns of the table that theirs are.

use sqlparser::ast::{self, SelectItem, SetExpr, TableFactor};
use stdx::stack::Deep;
use stdx::sync::Arc;
use types::{CatalogView, SqlError, SqlResult, SqlState, TableInfo, ViewDefinition, names};

use super::scope::is_named;
use crate::syntax::ident;
use crate::view_text;
use crate::walk;

/// Views in one another; each is bound inside of the one that uses it.
pub(super) const VIEWS_MAX: usize = 100;

/// A view between a statement and the table that it changes.
#[derive(Debug)]
pub(super) struct ChangedView {
    pub(super) view: Arc<ViewDefinition>,
    pub(super) query: Deep<Box<ast::Query>>,
    /// The relation that it is made of: its schema, and its name.
    pub(super) of: (Option<String>, String),
    /// The name of that in its query.
    pub(super) called: String,
    /// By column, which of the columns of that relation it is; `None` of what is computed.
    pub(super) places: Vec<Option<usize>>,
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

    pub(super) fn select(&self) -> Option<&ast::Select> {
        match &*self.query.body {
            SetExpr::Select(select) => Some(select),
            _ => None,
        }
    }

    pub(super) fn items(&self) -> impl Iterator<Item = &ast::Expr> {
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
    let parts: Option<Vec<_>> = name.0.iter().map(|it| it.as_ident()).collect();
    // The rows of files and of the system's views are nobody's to change.
    let (schema, name) = match &parts?[..] {
        [name] if name.quote_style != Some('\'') => (None, ident(name)),
        [schema, name] if !names::SYSTEM.contains(&&*ident(schema)) => {
            (Some(ident(schema)), ident(name))
        }
        _ => return None,
    };
    let called = alias.as_ref().map_or_else(|| name.clone(), |it| ident(&it.name));
    Some(((schema, name), called))
}

/// Whether a value is computed of one row, to one value: no aggregates, window functions or series are in it, nor in its subqueries.
fn is_of_row(expr: &ast::Expr) -> bool {
    use std::ops::ControlFlow;
    let found = walk::expressions(expr, |it| match it {
        ast::Expr::Function(call) if call.over.is_some() => ControlFlow::Break(()),
        ast::Expr::Function(call) => {
            let name = call.name.0.last().and_then(|it| it.as_ident()).map(ident);
            let name = name.unwrap_or_default();
            let makes_rows =
                super::row_functions::is_series(&name) || super::row_functions::makes_rows(&name);
            match super::aggregate_names::by_name(&name).is_some() || makes_rows {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        }
        _ => ControlFlow::Continue(()),
    });
    found.is_continue()
}

/// That the rows of a view are not changed.
pub(super) fn no_change(view: &ViewDefinition) -> SqlError {
    let message = format!("cannot change {} \"{}\"", view.kind(), names::bare(&view.name));
    match view.materialized {
        Some(_) => SqlError::new(SqlState::WRONG_OBJECT_TYPE, message)
            .with_hint("REFRESH MATERIALIZED VIEW computes its rows anew"),
        None => SqlError::new(SqlState::NOT_IN_STATE, message)
            .with_detail("Its rows are not rows of one table.")
            .with_hint("change the tables that it is made of"),
    }
}
