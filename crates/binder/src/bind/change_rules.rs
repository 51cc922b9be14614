//! What the table that a statement changes asks of its rows: defaults and CHECK constraints, parsed anew for each statement,
//! so that they are bound as the statement's own expressions are.

use std::ops::ControlFlow;

use sqlparser::ast::{self, SetExpr};
use types::numeric::interval_text::Fields;
use types::{
    CatalogView, ColumnId, DomainColumn, FieldsColumn, Generated, Identity, SqlError, SqlResult,
    SqlState, TableInfo, UniqueKey, names,
};

use super::changed_view::{ChangedView, place_in_table, places_in_table, views_of};
use super::domain_rules::{DomainRules, RowCheck};
use super::scope::is_named;
use crate::domain_value::with_value;
use crate::index_words;
use crate::overriding::Overriding;
use crate::parse::expression;
use crate::sequence_names::kept_expression as kept;
use crate::syntax::ident;
use crate::values::is_default;
use crate::walk;

/// A key of new rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyOfRow {
    /// How many columns it has.
    pub columns: usize,
    /// Whether NULL is like NULL in it.
    pub nulls_equal: bool,
}

/// The rules of a table.
pub(super) struct TargetRules {
    /// By column; none at all where no column has one.
    defaults: Vec<Option<ast::Expr>>,
    pub(super) checks: Vec<(RowCheck, ast::Expr)>,
    pub(super) keys: Vec<UniqueKey>,
    identities: Vec<Identity>,
    generated: Vec<Generated>,
    fields: Vec<FieldsColumn>,
    domains: Vec<DomainColumn>,
    /// The places in the lists of VALUES where all rows say DEFAULT.
    all_default: Vec<usize>,
    /// The views through which the table is changed, the one that the statement names first.
    pub(super) views: Vec<ChangedView>,
}

/// Those of a table without rules.
pub(super) static NOTHING: TargetRules = TargetRules {
    defaults: Vec::new(),
    checks: Vec::new(),
    keys: Vec::new(),
    identities: Vec::new(),
    generated: Vec::new(),
    fields: Vec::new(),
    domains: Vec::new(),
    all_default: Vec::new(),
    views: Vec::new(),
};

impl TargetRules {
    /// The default of a column, if it is not NULL. A column that is generated has none.
    pub(super) fn default_of(&self, place: usize) -> Option<&ast::Expr> {
        if self.is_generated(place) { None } else { self.defaults.get(place)?.as_ref() }
    }

    /// Whether a column is generated of others.
    pub(super) fn is_generated(&self, place: usize) -> bool {
        self.generated.iter().any(|it| it.column.index() == place)
    }

    /// What columns get that are given nothing.
    pub(super) fn all_defaults(&self) -> impl Iterator<Item = &ast::Expr> {
        self.defaults.iter().flatten()
    }

    /// The columns that are generated of others, with the expressions.
    pub(super) fn generations(&self) -> impl Iterator<Item = (usize, &ast::Expr)> {
        let places = self.generated.iter().map(|it| it.column.index());
        places.filter_map(|it| Some((it, self.defaults.get(it)?.as_ref()?)))
    }

    /// What the keys are of, as ON CONFLICT names it: a text for each item, and what must hold of the rows that they have.
    pub(super) fn inferred(
        &self,
        key: &UniqueKey,
        table: &TableInfo,
    ) -> (Vec<String>, Vec<String>) {
        let mut condition = Vec::new();
        let item = |it: &ColumnId| {
            let name = &table.column(*it).name;
            let generated = self.defaults.get(it.index()).and_then(Option::as_ref);
            match generated.filter(|_| names::is_hidden(name)) {
                Some(expr) => {
                    let (item, predicate) = index_words::parts(expr);
                    condition.extend(predicate.into_iter().flat_map(index_words::conjuncts));
                    index_words::normalized(item)
                }
                None => index_words::normalized(&named(name)),
            }
        };
        let items = key.columns.iter().map(item).collect();
        (items, condition)
    }

    /// What a column keeps of times or intervals, if its type says it.
    pub(super) fn fields(&self, place: usize) -> Option<Fields> {
        self.fields.iter().find(|it| it.column.index() == place).map(|it| it.fields)
    }

    /// The domain of a column.
    pub(super) fn domain(&self, place: usize) -> Option<&str> {
        self.domains.iter().find(|it| it.column.index() == place).map(|it| &*it.domain)
    }

    /// The identity of a column.
    pub(super) fn identity(&self, place: usize) -> Option<Identity> {
        self.identities.iter().copied().find(|it| it.column.index() == place)
    }

    /// Whether INSERT may give a column what stands at a place of its lists: not to one that is GENERATED ALWAYS, unless all
    /// rows say DEFAULT there.
    pub(super) fn check_given(&self, column: &str, place: usize, at: usize) -> SqlResult<()> {
        if self.all_default.contains(&at) {
            return Ok(());
        }
        let message = format!("cannot insert a non-DEFAULT value into column \"{column}\"");
        let refused = SqlError::new(GENERATED_ALWAYS, message);
        match self.identity(place) {
            Some(identity) if identity.always => {
                Err(refused.with_hint("Use OVERRIDING SYSTEM VALUE to override."))
            }
            _ if self.is_generated(place) => {
                Err(refused.with_hint("it is a generated column: leave it out, or say DEFAULT"))
            }
            _ => Ok(()),
        }
    }

    /// Whether a column may be set to a value that is computed.
    pub(super) fn check_computed(&self, column: &str, place: usize) -> SqlResult<()> {
        match self.identity(place).is_some_and(|it| it.always) || self.is_generated(place) {
            true => {
                let message = format!("column \"{column}\" can only be updated to DEFAULT");
                Err(SqlError::new(GENERATED_ALWAYS, message))
            }
            false => Ok(()),
        }
    }

    /// Whether a column may be set to a value.
    pub(super) fn check_set(&self, column: &str, place: usize, value: &ast::Expr) -> SqlResult<()> {
        if is_default(value) { Ok(()) } else { self.check_computed(column, place) }
    }

    /// Those of the table that a statement changes; nothing where there is none, of which binding will tell.
    pub(super) fn of(statement: &ast::Query, catalog: &dyn CatalogView) -> SqlResult<Self> {
        let (defaults, checks, identities) = (Vec::new(), Vec::new(), Vec::new());
        let all_default = values_of(statement).map_or_else(Vec::new, all_default);
        let (keys, generated) = (Vec::new(), Vec::new());
        let (views, fields, domains) = (Vec::new(), Vec::new(), Vec::new());
        let mut nothing = Self {
            defaults,
            checks,
            keys,
            identities,
            generated,
            fields,
            domains,
            all_default,
            views,
        };
        let Some((schema, table)) = target_name(statement) else { return Ok(nothing) };
        let (views, table) = views_of(schema.as_deref(), &table, catalog)?;
        nothing.views = views;
        let Some(info) = table else { return Ok(nothing) };
        let keys = catalog.unique_keys(info.id);
        let Some(rules) = catalog.row_rules(info.id) else { return Ok(Self { keys, ..nothing }) };
        let default = |it: &Option<std::sync::Arc<str>>| it.as_deref().map(kept).transpose();
        let mut defaults = rules.defaults.iter().map(default).collect::<SqlResult<Vec<_>>>()?;
        let mut checks = Vec::new();
        for it in &rules.domains {
            let (column, place) = (&info.column(it.column).name, it.column.index());
            let of = DomainRules::of(&it.domain, catalog)?;
            let domain = &of.name;
            if of.not_null {
                let is_there = ast::Expr::IsNotNull(Box::new(named(column)));
                checks.push((RowCheck::NotNull { domain: domain.clone() }, is_there));
            }
            for check in &of.checks {
                let (domain, constraint) = (domain.clone(), check.name.clone());
                let condition = with_value(&check.condition, &named(column))?;
                checks.push((RowCheck::Domain { domain, constraint }, condition));
            }
            if let Some(text) = &of.default {
                defaults.resize_with(defaults.len().max(place + 1), || None);
                let own = &mut defaults[place];
                *own = own.take().map_or_else(|| kept(text), Ok).map(Some)?;
            }
        }
        for it in &rules.checks {
            checks.push((RowCheck::Table(it.name.to_string()), expression(&it.condition)?));
        }
        Ok(Self {
            defaults,
            checks,
            keys,
            identities: rules.identities.clone(),
            generated: rules.generated.clone(),
            fields: rules.fields.clone(),
            domains: rules.domains.clone(),
            all_default: nothing.all_default,
            views: nothing.views,
        })
    }

    /// The statement with the defaults of columns in the place of DEFAULT among its VALUES; `None` where there are none.
    pub(super) fn with_defaults(
        &self,
        statement: &ast::Query,
        catalog: &dyn CatalogView,
    ) -> SqlResult<Option<ast::Query>> {
        let has_default =
            |rows: &ast::Values| rows.rows.iter().any(|row| row.content.iter().any(is_default));
        if !values_of(statement).is_some_and(has_default) {
            return Ok(None);
        }
        let Some((schema, table)) = target_name(statement) else { return Ok(None) };
        let info = match self.views.last() {
            None => catalog.table(schema.as_deref(), &table),
            Some(view) => catalog.table(view.of.0.as_deref(), &view.of.1),
        };
        let mut statement = statement.clone();
        let SetExpr::Insert(ast::Statement::Insert(insert)) = &mut *statement.body else {
            return Ok(None);
        };
        let overriding = crate::overriding::of(insert);
        let named = insert.columns.iter().map(|it| {
            let name = it.0.last().and_then(|it| it.as_ident())?;
            if !self.views.is_empty() {
                return place_in_table(&self.views, name).flatten();
            }
            let columns = &info.as_ref()?.columns;
            columns.iter().position(|it| is_named(name, &it.name))
        });
        let places: Vec<Option<usize>> = named.collect();
        let Some(SetExpr::Values(rows)) = insert.source.as_mut().map(|it| &mut *it.body) else {
            return Ok(None);
        };
        let all = info.iter().flat_map(|it| it.columns.iter().enumerate());
        let shown: Vec<Option<usize>> = match self.views.is_empty() {
            true => all.filter(|it| !names::is_hidden(&it.1.name)).map(|it| Some(it.0)).collect(),
            false => places_in_table(&self.views).into_iter().map(|it| it.1).collect(),
        };
        let takes_next = overriding == Some(Overriding::User);
        for row in &mut rows.rows {
            for (at, value) in row.content.iter_mut().enumerate().filter(|it| is_default(it.1)) {
                let place = match places.is_empty() {
                    true => shown.get(at).copied().flatten(),
                    false => places.get(at).copied().flatten(),
                };
                // The value of an identity is not that of the row, and no number is taken for it.
                let is_given = |it: &usize| !takes_next || self.identity(*it).is_none();
                let default = place.filter(is_given).and_then(|it| self.default_of(it)).cloned();
                *value = default.unwrap_or_else(|| ast::Expr::Value(ast::Value::Null.into()));
            }
        }
        Ok(Some(statement))
    }
}

/// A column by its name.
pub(super) fn named(column: &str) -> ast::Expr {
    ast::Expr::Identifier(ast::Ident::with_quote('"', column))
}

/// A value for what makes its own.
const GENERATED_ALWAYS: SqlState = SqlState("428C9");

fn all_default(rows: &ast::Values) -> Vec<usize> {
    let width = rows.rows.iter().map(|it| it.content.len()).min().unwrap_or(0);
    (0..width).filter(|&at| rows.rows.iter().all(|it| is_default(&it.content[at]))).collect()
}

/// The rows of INSERT .. VALUES.
fn values_of(statement: &ast::Query) -> Option<&ast::Values> {
    let SetExpr::Insert(ast::Statement::Insert(insert)) = &*statement.body else { return None };
    match &*insert.source.as_ref()?.body {
        SetExpr::Values(rows) => Some(rows),
        _ => None,
    }
}

/// The schema and the name of the table that a statement changes.
fn target_name(statement: &ast::Query) -> Option<(Option<String>, String)> {
    let factor = |it: &ast::TableFactor| match it {
        ast::TableFactor::Table { name, .. } => Some(name.clone()),
        _ => None,
    };
    let name = match &*statement.body {
        SetExpr::Insert(ast::Statement::Insert(it)) => match &it.table {
            ast::TableObject::TableName(name) => Some(name.clone()),
            _ => None,
        },
        SetExpr::Update(ast::Statement::Update(it)) => factor(&it.table.relation),
        SetExpr::Merge(ast::Statement::Merge(it)) => factor(&it.table),
        SetExpr::Delete(ast::Statement::Delete(it)) => {
            let (ast::FromTable::WithFromKeyword(tables) | ast::FromTable::WithoutKeyword(tables)) =
                &it.from;
            tables.first().and_then(|it| factor(&it.relation))
        }
        _ => None,
    }?;
    let parts: Option<Vec<_>> = name.0.iter().map(|it| it.as_ident()).collect();
    match parts?.as_slice() {
        [table] => Some((None, ident(table))),
        [schema, table] => Some((Some(ident(schema)), ident(table))),
        _ => None,
    }
}

/// Refuses what a rule cannot have: subqueries, and parameters.
pub(super) fn check_plain(expr: &ast::Expr, what: &str) -> SqlResult<()> {
    let found = walk::expressions(expr, |it| match it {
        ast::Expr::Subquery(_) | ast::Expr::Exists { .. } | ast::Expr::InSubquery { .. } => {
            ControlFlow::Break(format!("cannot use subquery in {what}"))
        }
        ast::Expr::Value(it) if matches!(it.value, ast::Value::Placeholder(_)) => {
            ControlFlow::Break(format!("there is no parameter in {what}"))
        }
        _ => ControlFlow::Continue(()),
    });
    match found {
        ControlFlow::Break(message) => Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message)),
        ControlFlow::Continue(()) => Ok(()),
    }
}
