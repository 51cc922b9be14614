//! Statements with others inside: WITH queries that change rows, and queries inside of a statement that lock rows. They are taken
//! out of it as steps that run before; what is left reads their rows like those of a file. So are WITH queries that several others
//! read, which must all see the same of random() and nextval().
//!
//! Key decision: steps are told apart by the parser's tree alone, so that binding knows statements of one change only.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{self, Expr, SelectItem, SetExpr, TableFactor};
use types::{SqlError, SqlResult, SqlState};

use crate::fragments::read;
use crate::parsed_query::{ParsedQuery, Step};
use crate::row_changes::checked_change;
use crate::syntax::{ident, twice_named};
use crate::walk::{self, Editor, Uses};

/// What the name of the rows of a step begins with.
const ROWS: &str = "rows\nof step ";

/// Whether a file is the rows of a step.
pub(crate) fn is_rows(file: &str) -> bool {
    file.starts_with(ROWS)
}

/// The names of the columns of a step as those of a table, which has each once.
pub fn names_of_columns<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut made: Vec<String> = Vec::new();
    for name in names {
        let is_known = made.iter().any(|it| it == name) || name_of_column(name) != name;
        let own = if is_known { format!("{name}\n{}", made.len()) } else { name.to_owned() };
        made.push(own);
    }
    made
}

/// The name that a column of a step was given.
pub(crate) fn name_of_column(name: &str) -> &str {
    match name.rsplit_once('\n') {
        Some((own, number)) if number.bytes().all(|it| it.is_ascii_digit()) => own,
        _ => name,
    }
}

/// The steps of a statement and what is left, or the statement as it is.
type Split = Result<(Vec<Step>, Box<ast::Query>), Box<ast::Query>>;

/// The steps of a statement, or the statement that has one alone.
///
/// Errors: 0A000 where rows are read of a change that gives none.
pub(crate) fn steps_of(mut query: Box<ast::Query>) -> SqlResult<Split> {
    if !has_steps(&mut query) {
        return Ok(Err(query));
    }
    let mut taken = Taken { with: None, first: Vec::new() };
    if let Some(with) = query.with.take() {
        taken.of_with(with, &query)?;
    }
    taken.of_body(&mut query.body)?;
    let Taken { with, first } = taken;
    query.with = with;
    Ok(Ok((first, query)))
}

fn has_steps(query: &mut ast::Query) -> bool {
    let with = query.with.iter_mut().flat_map(|it| &mut it.cte_tables);
    let mut queries = with.map(|it| &mut *it.query);
    queries.any(|it| is_change(&it.body) || !it.locks.is_empty() || locks_inside(&mut it.body))
        || locks_inside(&mut query.body)
}

fn is_change(body: &SetExpr) -> bool {
    matches!(body, SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_))
}

/// Whether a change gives rows.
fn returns(body: &SetExpr) -> bool {
    match body {
        SetExpr::Insert(ast::Statement::Insert(it)) => it.returning.is_some(),
        SetExpr::Update(ast::Statement::Update(it)) => it.returning.is_some(),
        SetExpr::Delete(ast::Statement::Delete(it)) => it.returning.is_some(),
        SetExpr::Merge(ast::Statement::Merge(it)) => it.output.is_some(),
        _ => true,
    }
}

/// Whether a query inside of a body locks rows, where such may stand.
fn locks_inside(body: &mut SetExpr) -> bool {
    let mut found = false;
    let looked = inner_queries(body, &mut |it| {
        found |= !it.locks.is_empty();
        Ok(())
    });
    looked.is_ok() && found
}

/// What was taken out of a statement.
struct Taken {
    /// The WITH queries in view.
    with: Option<ast::With>,
    first: Vec<Step>,
}

impl Taken {
    /// Takes steps out of a WITH; what is left of it is in view of what follows.
    fn of_with(&mut self, with: ast::With, last: &ast::Query) -> SqlResult<()> {
        let ast::With { with_token, recursive, cte_tables } = with;
        let names: Vec<String> = cte_tables.iter().map(|it| ident(&it.alias.name)).collect();
        distinct(&cte_tables)?;
        let mut unread: Vec<&str> = Vec::new();
        // By the places of the queries that read them, a recursive one itself.
        let uses: Vec<Uses> = cte_tables.iter().map(|it| Uses::of(&it.query)).collect();
        let last = Uses::of(last);
        let mut all = last.clone();
        uses.iter().for_each(|it| all.add(it));
        let shared: Vec<bool> = (uses.iter().zip(&names))
            .map(|(own, name)| own.count(name) == 0 && all.count(name) > 1)
            .collect();
        for (place, mut cte) in cte_tables.into_iter().enumerate() {
            let is_read = returns(&cte.query.body);
            let read = unread.iter().find(|it| uses[place].count(it) > 0);
            read.map_or(Ok(()), |it| Err(no_rows(it)))?;
            self.of_body(&mut cte.query.body)?;
            if is_change(&cte.query.body) || !cte.query.locks.is_empty() || shared[place] {
                self.take(&mut cte.query, is_read)?;
            }
            if !is_read {
                unread.push(&names[place]);
                continue;
            }
            let known = self.with.get_or_insert_with(|| ast::With {
                with_token: with_token.clone(),
                recursive,
                cte_tables: Vec::new(),
            });
            known.cte_tables.push(cte);
        }
        let read = unread.iter().find(|it| last.count(it) > 0);
        read.map_or(Ok(()), |it| Err(no_rows(it)))
    }

    /// Makes a query a step, and a query of its rows.
    fn take(&mut self, query: &mut ast::Query, is_read: bool) -> SqlResult<()> {
        let rows = format!("{ROWS}{}", self.first.len());
        let mut step = std::mem::replace(query, reading(&rows)?);
        let own = step.with.take();
        let in_view =
            self.with.as_ref().map(|it| needed(it, &step)).filter(|it| !it.cte_tables.is_empty());
        step.with = match (in_view, own) {
            (Some(mut known), Some(own)) => {
                known.cte_tables.extend(own.cte_tables);
                known.recursive |= own.recursive;
                Some(known)
            }
            (known, own) => known.or(own),
        };
        let rows = is_read.then_some(rows);
        let query = match is_change(&step.body) || !step.locks.is_empty() {
            true => checked_change(Box::new(step))?,
            false => ParsedQuery(Box::new(step)),
        };
        self.first.push(Step { rows, query });
        Ok(())
    }

    fn of_body(&mut self, body: &mut SetExpr) -> SqlResult<()> {
        inner_queries(body, &mut |query| match query.locks.is_empty() {
            true => Ok(()),
            false => self.take(query, true),
        })
    }
}

/// That no two queries of a WITH have one name.
fn distinct(queries: &[ast::Cte]) -> SqlResult<()> {
    let mut known = BTreeSet::new();
    match queries.iter().find(|it| !known.insert(ident(&it.alias.name))) {
        Some(again) => Err(twice_named(&again.alias.name)),
        None => Ok(()),
    }
}

/// Those of the queries in view that a step names, and that they name.
fn needed(known: &ast::With, step: &ast::Query) -> ast::With {
    let mut names = Uses::of(step);
    let mut needed = Vec::new();
    for cte in known.cte_tables.iter().rev() {
        // One of WITH RECURSIVE may name later ones.
        if known.recursive || names.count(&ident(&cte.alias.name)) > 0 {
            names.add(&Uses::of(&cte.query));
            needed.push(cte.clone());
        }
    }
    needed.reverse();
    ast::With { cte_tables: needed, ..known.clone() }
}

/// The query of all rows of a file.
fn reading(file: &str) -> SqlResult<ast::Query> {
    read(&format!("SELECT * FROM '{file}'"), |it| it.parse_query()).map(|it| *it)
}

fn no_rows(name: &str) -> SqlError {
    let message = format!("WITH query \"{name}\" does not have a RETURNING clause");
    SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message)
}

/// Calls `each` for the queries in the select list, in FROM and in the condition of a body, or of the parts of a set operation, that
/// name nothing around them.
fn inner_queries(
    body: &mut SetExpr,
    each: &mut dyn FnMut(&mut ast::Query) -> SqlResult<()>,
) -> SqlResult<()> {
    let (from, selection) = match body {
        SetExpr::Select(it) => {
            for item in &mut it.projection {
                if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item
                {
                    in_condition(expr, each)?;
                }
            }
            (&mut it.from[..], it.selection.as_mut())
        }
        // What stands in the FROM of its parts; they themselves lock no rows, as in PostgreSQL.
        SetExpr::SetOperation { left, right, .. } => {
            inner_queries(left, each)?;
            return inner_queries(right, each);
        }
        SetExpr::Update(ast::Statement::Update(it)) => {
            let from = match &mut it.from {
                Some(ast::UpdateTableFromKind::AfterSet(from)) => &mut from[..],
                _ => &mut [],
            };
            (from, it.selection.as_mut())
        }
        SetExpr::Delete(ast::Statement::Delete(it)) => {
            (it.using.as_deref_mut().unwrap_or_default(), it.selection.as_mut())
        }
        SetExpr::Insert(ast::Statement::Insert(it)) => {
            return match &mut it.source {
                Some(source) if !source.locks.is_empty() => each(source),
                _ => Ok(()),
            };
        }
        _ => return Ok(()),
    };
    for joined in from {
        let joins = joined.joins.iter_mut().map(|it| &mut it.relation);
        for factor in std::iter::once(&mut joined.relation).chain(joins) {
            if let TableFactor::Derived { subquery, lateral: false, .. } = factor {
                each(subquery)?;
            }
        }
    }
    selection.map_or(Ok(()), |it| in_condition(it, each))
}

/// In no recursion, as chains of operators may be long.
fn in_condition(
    condition: &mut Expr,
    each: &mut dyn FnMut(&mut ast::Query) -> SqlResult<()>,
) -> SqlResult<()> {
    let mut left = vec![condition];
    while let Some(next) = left.pop() {
        match next {
            Expr::BinaryOp { left: first, right: last, .. } => left.extend([&mut **last, first]),
            Expr::Nested(inner) | Expr::UnaryOp { expr: inner, .. } => left.push(inner),
            Expr::Subquery(query)
            | Expr::InSubquery { subquery: query, .. }
            | Expr::Exists { subquery: query, .. }
                if !is_correlated(query) =>
            {
                each(query)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether a query that locks rows names a relation that is none of its own.
fn is_correlated(query: &ast::Query) -> bool {
    if query.locks.is_empty() {
        return false;
    }
    let mut names = Names::default();
    let walked = walk::edit(&mut query.clone(), &mut names);
    debug_assert!(walked.is_continue());
    names.used.iter().any(|it| !names.own.contains(it))
}

/// The relations of a query, and those that its columns are said to be of.
#[derive(Default)]
struct Names {
    own: Vec<String>,
    used: Vec<String>,
}

impl Editor for Names {
    fn pre_expr(&mut self, expr: &mut Expr) -> ControlFlow<SqlError> {
        if let Expr::CompoundIdentifier(parts) = expr
            && let [.., relation, _] = &parts[..]
        {
            self.used.push(ident(relation));
        }
        ControlFlow::Continue(())
    }

    fn pre_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<SqlError> {
        match factor {
            TableFactor::Table { alias: Some(it), .. }
            | TableFactor::Derived { alias: Some(it), .. }
            | TableFactor::Function { alias: Some(it), .. }
            | TableFactor::NestedJoin { alias: Some(it), .. } => self.own.push(ident(&it.name)),
            TableFactor::Table { name, .. } | TableFactor::Function { name, .. } => {
                self.own.extend(name.0.last().and_then(|it| it.as_ident()).map(ident));
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}
