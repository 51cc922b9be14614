//! Views: bound as their queries where they are used, and made.

use sqlparser::ast;
use types::{DataType, SqlError, SqlResult, SqlState, UsedRelation, ViewDefinition, names};

use super::changed_view::VIEWS_MAX;
use super::{Answer, Asked, Binder, Environment, OutputColumn};
use crate::resolved::Resolved;
use crate::syntax::quoted_name;
use crate::view_text;

/// What a view is made of, by its query.
#[derive(Debug)]
pub struct BoundView {
    /// The query, with all names resolved.
    pub query: String,
    /// Levels of its tree.
    pub levels: usize,
    /// Names and types of its columns.
    pub columns: Vec<(String, DataType)>,
    /// The relations that it names.
    pub uses: Vec<UsedRelation>,
    /// The schemas that who makes it says; its relations are asked of its owner when it is used.
    pub asked: Asked,
}

/// Binds the query of a new view, whose first columns have other names.
///
/// Errors: beside those of the query, 42601 and 42701 for names of columns, 42P02 for a parameter, 54001 for too many views in one
/// another.
pub fn bind_view(
    query: &ast::Query,
    names: &[String],
    environment: &Environment<'_>,
) -> SqlResult<BoundView> {
    let expanded = crate::macros::expanded(query, environment.catalog)?;
    let mut tree = expanded.map_or_else(|| query.clone(), |it| *it);
    let Kept { mut columns, resolved, bound, asked } = kept(&tree, environment)?;
    view_text::resolve(&mut tree, &resolved);
    let text = crate::written::written(&tree);
    // It is to mean the same when it is read back.
    let again = view_text::parsed(&text)?;
    let same = again.walk(|it| kept(it, environment));
    if !same.is_ok_and(|it| it.bound == bound) {
        let message = "this query cannot be kept as a view: it does not mean the same when it is \
                       written out";
        return Err(SqlError::unsupported(message).with_hint(format!("it is written as {text}")));
    }
    if names.len() > columns.len() {
        let message = "CREATE VIEW specifies more column names than columns";
        return Err(SqlError::new(SqlState::SYNTAX, message));
    }
    for (column, name) in columns.iter_mut().zip(names) {
        column.0.clone_from(name);
    }
    for (place, (name, _)) in columns.iter().enumerate() {
        if columns[..place].iter().any(|it| it.0 == *name) {
            let message = format!("column \"{name}\" specified more than once");
            return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, message));
        }
    }
    let (levels, uses) = (again.levels(), resolved.uses());
    Ok(BoundView { query: text, levels, columns, uses, asked })
}

/// A query that was bound to be kept.
struct Kept {
    /// Names and types of its columns.
    columns: Vec<(String, DataType)>,
    /// What its names mean.
    resolved: Box<Resolved>,
    /// All that it is bound to.
    bound: String,
    asked: Asked,
}

/// Binds a query, with notes of what its names mean.
fn kept(query: &ast::Query, environment: &Environment<'_>) -> SqlResult<Kept> {
    let mut binder = Binder::new(environment, &[]);
    binder.resolved = Some(Box::default());
    let mut answer = binder.query(query)?;
    binder.decide_types(&mut answer)?;
    if !binder.parameters.types.is_empty() {
        let message = format!("there is no parameter ${}", binder.parameters.types.len());
        return Err(SqlError::new(SqlState::UNDEFINED_PARAMETER, message));
    }
    let of = |it: &OutputColumn| (it.name.clone(), binder.attributes[it.attr].data_type);
    let columns = answer.columns.iter().map(of).collect();
    // What clients are told of columns is no part of what it means.
    answer.columns.iter_mut().for_each(|it| it.origin = None);
    let parts = (&binder.shared, &binder.recursions);
    let bound = format!("{:?} {:?} {:?}", answer, binder.attributes, parts);
    let resolved = binder.resolved.take().unwrap_or_default();
    let asked = Asked { relations: Vec::new(), ..binder.all_asked() };
    Ok(Kept { columns, resolved, bound, asked })
}

impl Binder<'_> {
    /// The rows of a view, whose query sees nothing of the statement that uses it.
    pub(super) fn view(&mut self, view: &ViewDefinition) -> SqlResult<Answer> {
        if self.views == VIEWS_MAX {
            let message = format!("more than {VIEWS_MAX} views are made of one another");
            return Err(SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, message));
        }
        let query = match &view.materialized {
            None => view_text::parsed(&view.query)?,
            Some(rows) if rows.is_populated => {
                let (schema, table) = names::split(&rows.table);
                let (schema, table) = (quoted_name(&schema), quoted_name(&table));
                view_text::parsed(&format!("SELECT * FROM {schema}.{table}"))?
            }
            Some(_) => {
                let name = names::bare(&view.name);
                let message = format!("materialized view \"{name}\" has not been populated");
                return Err(SqlError::new(SqlState::NOT_IN_STATE, message)
                    .with_hint("Use the REFRESH MATERIALIZED VIEW command."));
            }
        };
        let bound = query.walk(|query| {
            let mut inner = Binder::new(self.environment, &[]);
            inner.views = self.views + 1;
            self.lend(&mut inner);
            let around = inner.begin_view(&view.name);
            let answer = inner.query(query).and_then(|mut answer| {
                inner.decide_types(&mut answer)?;
                Ok(answer)
            });
            inner.end_view(around);
            let (views, is_stable) = (self.views, inner.is_stable);
            inner.lend(self);
            self.views = views;
            self.is_stable &= is_stable;
            answer
        });
        let mut answer = bound.map_err(|it| SqlError { position: None, ..it })?;
        let is_same = |(now, then): (&OutputColumn, &(String, DataType))| {
            ViewDefinition::is_same_type(self.attributes[now.attr].data_type, then.1)
        };
        let is_as_wide = answer.columns.len() == view.columns.len();
        if !is_as_wide || !answer.columns.iter().zip(&view.columns).all(is_same) {
            let message = format!("the columns of view \"{}\" are not what they were", view.name);
            return Err(SqlError::new(SqlState("42P16"), message));
        }
        for (column, (name, _)) in answer.columns.iter_mut().zip(&view.columns) {
            column.name.clone_from(name);
        }
        let columns = answer.columns.iter().map(|it| (it.name.clone(), it.attr));
        let columns: Vec<_> = columns.collect();
        self.note_used(&view.name, columns.into_iter());
        Ok(answer)
    }

    /// Hands what all parts of a statement share over to another binder.
    pub(super) fn lend(&mut self, to: &mut Binder<'_>) {
        to.attributes = std::mem::take(&mut self.attributes);
        to.unread = std::mem::take(&mut self.unread);
        to.names_of_functions = std::mem::take(&mut self.names_of_functions);
        to.shared = std::mem::take(&mut self.shared);
        to.recursions = std::mem::take(&mut self.recursions);
        to.unstored_tables = self.unstored_tables;
        to.asking = std::mem::take(&mut self.asking);
        to.nodes = self.nodes;
        to.views = to.views.max(self.views);
    }
}
