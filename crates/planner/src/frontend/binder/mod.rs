//! Binding without the library: plain statements go from parsed text straight to our relations.
//!
//! Key decision: the library builds, checks, renames and rewrites a tree with a schema in every node, which is most of
//! the time of planning. Attributes need no schemas, and subqueries of the usual forms become joins as they are met.
//! Everything else is left to the library, and so is every error: `None` means "not plain", whatever the reason, and the
//! library then binds the statement or says what is wrong with it.
//!
//! - Invariant: what is bound here is bound to what the library would make of it; where the two could differ (names
//!   that mean several things, constants to fold, NULLs that comparisons may see), it is `None`.

mod conditions;
mod constants;
mod expressions;
mod numbers;
mod scope;
mod select;
mod subqueries;
mod tables;
#[cfg(test)]
mod tests;

use std::cell::Cell;

use datafusion_sql::sqlparser::ast;
use plan::{Aggregate, Expr};
use types::{CatalogView, DataType};

use plan::relation::{Attr, Attribute, Query, Rel, ScalarQuery};
use scope::{Scope, is_named, normal};

/// Binds a query, if it is plain.
pub(super) fn bind(query: &ast::Query, catalog: &dyn CatalogView) -> Option<Query> {
    let mut binder = Binder::new(catalog);
    let answer = binder.query(query, None, None)?;
    let output = answer.columns.into_iter().map(|it| (it.name, it.attr)).collect();
    let Binder { attributes, scalars, .. } = binder;
    Some(Query { attributes, scalars, shared: Vec::new(), root: answer.rel, output })
}

/// Aggregates and their attributes.
type Calls = Vec<(Attr, Aggregate)>;

/// The state of binding one statement.
struct Binder<'a> {
    catalog: &'a dyn CatalogView,
    attributes: Vec<Attribute>,
    scalars: Vec<ScalarQuery>,
    /// The WITH queries in view, the innermost last.
    with: Vec<WithQuery<'a>>,
    /// What belongs to the SELECT that is being bound.
    level: Level,
}

/// What belongs to one SELECT while it is bound.
#[derive(Default)]
struct Level {
    /// Columns of the query around it that were used so far.
    outer_uses: usize,
    /// Correlated scalar subqueries and the conditions under which they belong to a row; to be joined.
    pending: Vec<(Rel, Vec<Expr>)>,
    /// The aggregates met so far, where there may be some.
    calls: Option<Calls>,
    /// Names that could mean an output column as well as an input column.
    doubtful: Vec<String>,
}

/// A query of a WITH clause.
struct WithQuery<'a> {
    cte: &'a ast::Cte,
    is_used: Cell<bool>,
}

/// A bound SELECT.
struct Answer {
    rel: Rel,
    columns: Vec<OutputColumn>,
    /// Whether it is made of groups.
    is_grouped: bool,
}

/// A column of a bound SELECT.
struct OutputColumn {
    /// What the client sees.
    name: String,
    /// Whether the query around it can use that name: it was given, or is a column's.
    is_named: bool,
    attr: Attr,
    nullable: bool,
}

impl<'a> Binder<'a> {
    fn new(catalog: &'a dyn CatalogView) -> Self {
        let (attributes, scalars, with) = (Vec::new(), Vec::new(), Vec::new());
        Self { catalog, attributes, scalars, with, level: Level::default() }
    }

    fn attribute(&mut self, data_type: DataType, nullable: bool) -> Attr {
        self.attributes.push(Attribute { data_type, nullable });
        self.attributes.len() - 1
    }

    fn column_expr(&self, attr: Attr) -> Expr {
        Expr::column(attr, self.attributes[attr].data_type)
    }

    /// Binds something that has a level of its own.
    fn nested<T>(&mut self, bind: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let outside = std::mem::take(&mut self.level);
        let bound = bind(self)?;
        self.level = outside;
        Some(bound)
    }

    /// Binds a query inside a scope. Conjuncts of its WHERE that use columns of that scope are put into `on`.
    fn query(
        &mut self,
        query: &'a ast::Query,
        outer: Option<&Scope<'_>>,
        mut on: Option<&mut Vec<Expr>>,
    ) -> Option<Answer> {
        let ast::Query {
            with,
            body,
            order_by,
            limit_clause,
            fetch: None,
            locks,
            for_clause: None,
            settings: None,
            format_clause: None,
            pipe_operators,
        } = query
        else {
            return None;
        };
        if !locks.is_empty() || !pipe_operators.is_empty() {
            return None;
        }
        let ast::SetExpr::Select(select) = &**body else { return None };
        let known = self.with.len();
        if let Some(with) = with {
            self.add_with(with)?;
        }
        let order: &[ast::OrderByExpr] = match order_by {
            None => &[],
            Some(ast::OrderBy { kind: ast::OrderByKind::Expressions(it), interpolate: None }) => it,
            Some(_) => return None,
        };
        let mut answer =
            self.nested(|this| this.select(select, order, outer, on.as_deref_mut()))?;
        if let Some(limits) = limit_clause {
            if on.is_some_and(|it| !it.is_empty()) {
                return None;
            }
            answer.rel = limited(answer.rel, limits)?;
        }
        // What nobody uses would go unchecked.
        let all_used = self.with[known..].iter().all(|it| it.is_used.get());
        self.with.truncate(known);
        all_used.then_some(answer)
    }

    fn add_with(&mut self, with: &'a ast::With) -> Option<()> {
        let first = self.with.len();
        for cte in &with.cte_tables {
            let name = normal(&cte.alias.name);
            let again = self.with[first..].iter().any(|it| is_named(&it.cte.alias.name, &name));
            if with.recursive || cte.from.is_some() || cte.materialized.is_some() || again {
                return None;
            }
            self.with.push(WithQuery { cte, is_used: Cell::new(false) });
        }
        Some(())
    }
}

/// LIMIT and OFFSET; right after a sort they are the sort's.
fn limited(rel: Rel, limits: &ast::LimitClause) -> Option<Rel> {
    let ast::LimitClause::LimitOffset { limit, offset, limit_by } = limits else { return None };
    if !limit_by.is_empty() {
        return None;
    }
    let rows = |it: &ast::Expr| match it {
        ast::Expr::Value(it) => match &it.value {
            ast::Value::Number(text, _) => text.parse::<u32>().ok().map(u64::from),
            _ => None,
        },
        _ => None,
    };
    let limit = match limit {
        Some(it) => Some(rows(it)?),
        None => None,
    };
    let offset = match offset {
        Some(it) => rows(&it.value)?,
        None => 0,
    };
    Some(match rel {
        Rel::Sort { input, partition, keys, offset: 0, limit: None } => {
            Rel::Sort { input, partition, keys, offset, limit }
        }
        input => Rel::Limit { input: Box::new(input), offset, limit },
    })
}
