//! Queries that are kept as text: written with all names resolved, and with other names of what they are of.

use std::ops::ControlFlow;

use sqlparser::ast::{
    self, Ident, JoinConstraint, JoinOperator, ObjectName, ObjectNamePart, Select, SelectItem,
    SetExpr, TableFactor,
};
use stdx::stack::Deep;
use types::{SqlError, SqlResult, names};

use crate::overloads;
use crate::resolved::{Qualified, Resolved, place};
use crate::statement::Statement;
use crate::syntax::{ident, quoted_name};
use crate::type_names::{put_full, type_said};
use crate::walk::{self, Editor};

/// The query of a text that was made of one.
pub(crate) fn parsed(text: &str) -> SqlResult<Deep<Box<ast::Query>>> {
    let statements = crate::parse::parse(text)?;
    let levels = statements.levels();
    let mut statements = stdx::stack::with_levels(levels, || statements.into_tree().into_iter());
    match (statements.next(), statements.next()) {
        (Some(Statement::Query { query }), None) => Ok(Deep::new(query.0, levels)),
        _ => Err(SqlError::internal(format!("{text} is no query any more"))),
    }
}

/// Levels of the tree of a kept query.
pub fn levels_of(text: &str) -> SqlResult<usize> {
    crate::parse::parse(text).map(|it| it.levels())
}

/// Writes names into a query for what they were found to mean.
pub(crate) fn resolve(query: &mut ast::Query, resolved: &Resolved) {
    let ended = walk::edit(query, &mut Resolve(resolved));
    debug_assert!(ended.is_continue());
}

/// A name as SQL reads it back.
fn named(name: &str) -> Ident {
    match quoted_name(name) {
        plain if plain == name || name == names::PUBLIC => Ident::new(name),
        _ => Ident::with_quote('"', name),
    }
}

fn column_expr(column: &Qualified) -> ast::Expr {
    match &column.relation {
        Some(relation) => {
            ast::Expr::CompoundIdentifier(vec![named(relation), named(&column.column)])
        }
        None => ast::Expr::Identifier(named(&column.column)),
    }
}

struct Resolve<'a>(&'a Resolved);

impl Editor for Resolve<'_> {
    fn pre_select(&mut self, select: &mut Select) -> ControlFlow<SqlError> {
        for table in &mut select.from {
            table.joins.iter_mut().for_each(|it| self.join(it));
        }
        ControlFlow::Continue(())
    }

    fn post_select(&mut self, select: &mut Select) -> ControlFlow<SqlError> {
        if !select.projection.iter().any(|it| self.0.stars.contains_key(&place(it))) {
            return ControlFlow::Continue(());
        }
        let star = |it: &SelectItem| self.0.stars.get(&place(it)).cloned();
        let stars: Vec<_> = select.projection.iter().map(star).collect();
        let items = std::mem::take(&mut select.projection);
        for (item, star) in items.into_iter().zip(stars) {
            match star {
                Some(columns) => {
                    let columns = columns.iter().map(column_expr).map(SelectItem::UnnamedExpr);
                    select.projection.extend(columns);
                }
                None => select.projection.push(item),
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<SqlError> {
        if let TableFactor::NestedJoin { table_with_joins, .. } = factor {
            table_with_joins.joins.iter_mut().for_each(|it| self.join(it));
        }
        ControlFlow::Continue(())
    }

    fn pre_query(&mut self, query: &mut ast::Query) -> ControlFlow<SqlError> {
        self.tables(&mut query.body);
        ControlFlow::Continue(())
    }

    fn pre_relation(&mut self, relation: &mut ObjectName) -> ControlFlow<SqlError> {
        if let Some(schema) = self.0.relations.get(&place(relation)) {
            let own = relation.0.pop();
            relation.0 = vec![ObjectNamePart::Identifier(named(schema))];
            relation.0.extend(own);
        }
        ControlFlow::Continue(())
    }

    fn post_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<SqlError> {
        if let TableFactor::Function { name, args, alias, .. } = factor
            && let Some(at) = self.0.functions.get(&place(name))
            && let Some(chosen) =
                overloads::choice(args).and_then(|it| it.candidates.into_iter().nth(*at))
            && let ast::Expr::Subquery(query) = chosen.body
        {
            let (subquery, alias) = (query.clone(), alias.take());
            *factor = TableFactor::Derived { lateral: true, subquery, alias, sample: None };
        }
        ControlFlow::Continue(())
    }

    fn post_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<SqlError> {
        if let Some((call, choice)) = overloads::of_expr(expr)
            && let Some(at) = self.0.functions.get(&place(&call.name))
            && let Some(chosen) = choice.candidates.into_iter().nth(*at)
        {
            *expr = ast::Expr::Nested(Box::new(chosen.body.clone()));
        }
        ControlFlow::Continue(())
    }

    fn pre_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<SqlError> {
        if let Some(said) = type_said(expr)
            && let Some(meant) = self.0.polymorphic.get(&place(said))
            && let Ok(meant) = crate::file_reference::written_type(meant)
        {
            *said = meant;
        }
        if let Some(said) = type_said(expr) {
            put_full(said, &|node, _| self.0.types.get(&place(node)).cloned());
        }
        if let ast::Expr::CompoundIdentifier(parts) = expr
            && parts.first().is_some_and(|it| self.0.databases.contains(&place(it)))
        {
            parts.remove(0);
        }
        if let ast::Expr::Identifier(name) = expr
            && let Some(relation) = self.0.columns.get(&place(name))
        {
            *expr = ast::Expr::CompoundIdentifier(vec![named(relation), name.clone()]);
        }
        ControlFlow::Continue(())
    }
}

impl Resolve<'_> {
    /// NATURAL joins by the columns that it found.
    fn join(&self, join: &mut ast::Join) {
        use JoinOperator as On;
        let Some(columns) = self.0.natural.get(&place(join)) else { return };
        let (On::Join(it)
        | On::Inner(it)
        | On::Left(it)
        | On::LeftOuter(it)
        | On::Right(it)
        | On::RightOuter(it)
        | On::FullOuter(it)) = &mut join.join_operator
        else {
            return;
        };
        *it = match columns.is_empty() {
            // Of no columns: all pairs.
            true => JoinConstraint::On(ast::Expr::Value(ast::Value::Boolean(true).into())),
            false => {
                let name = |it: &String| ObjectName::from(vec![named(it)]);
                JoinConstraint::Using(columns.iter().map(name).collect())
            }
        };
    }

    /// `TABLE t` is `SELECT .. FROM t`.
    fn tables(&self, body: &mut SetExpr) {
        match body {
            SetExpr::SetOperation { left, right, .. } => {
                self.tables(left);
                self.tables(right);
            }
            SetExpr::Table(table) => {
                let Some(columns) = self.0.stars.get(&place(&**table)) else { return };
                let list: Vec<String> = columns.iter().map(|it| quoted_name(&it.column)).collect();
                let resolved = self.0.relations.get(&place(&**table)).map(String::as_str);
                let said = table.schema_name.as_deref();
                let schema = resolved.or(said).unwrap_or(names::PUBLIC);
                let name = quoted_name(table.table_name.as_deref().unwrap_or_default());
                let text =
                    format!("SELECT {} FROM {}.{name}", list.join(", "), quoted_name(schema));
                if let Ok(query) = parsed(&text) {
                    *body = *query.into_tree().body;
                }
            }
            _ => {}
        }
    }
}

/// A kept query with another name of a relation in the place of one; what calls its columns by the old name still does.
pub fn with_relation_renamed(query: &str, from: &str, to: &str) -> SqlResult<String> {
    let ((schema, from), to) = (&names::split(from), &names::split(to));
    let parsed = parsed(query)?;
    let levels = parsed.levels();
    stdx::stack::with_levels(levels, || {
        let mut query = parsed.into_tree();
        let ended = walk::edit(&mut query, &mut Rename { schema, from, to });
        debug_assert!(ended.is_continue());
        Ok(crate::written::written(&*query))
    })
}

struct Rename<'a> {
    schema: &'a str,
    from: &'a str,
    to: &'a (String, String),
}

impl Editor for Rename<'_> {
    fn pre_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<SqlError> {
        let TableFactor::Table { name, alias, .. } = factor else {
            return ControlFlow::Continue(());
        };
        let parts: Option<Vec<String>> = name.0.iter().map(|it| it.as_ident().map(ident)).collect();
        match parts.as_deref() {
            Some([schema, own]) if schema == self.schema && own == self.from => {
                *name = ObjectName::from(vec![named(&self.to.0), named(&self.to.1)]);
                alias.get_or_insert_with(|| ast::TableAlias {
                    explicit: true,
                    name: named(self.from),
                    columns: Vec::new(),
                    at: None,
                });
                ControlFlow::Continue(())
            }
            _ => ControlFlow::Continue(()),
        }
    }
}
