//! PIVOTs whose columns are the values that are in tables: `PIVOT t ON a USING sum(b)`.
//!
//! Key decision: their values are asked for by queries of their own before the statement is bound, and then stand in it as if a user had
//! listed them. So it is bound as any other, and what it reads can differ from what its columns are named after only where the tables
//! change in between.

use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName, Query, SelectItem,
    SetExpr, TableFactor, Value, With,
};
use sqlparser::tokenizer::{Token, TokenWithSpan};
use types::{SqlError, SqlResult};

use crate::fragments::read;
use crate::own_names::{PIVOT_OPEN, PIVOT_VALUES, own_call};
use crate::parsed_query::ParsedQuery;
use crate::statement::{CursorStatement, Statement, TypeBody};
use crate::syntax::{bare_query, unsupported};
use crate::walk::{self, Editor, Looker};

/// The most columns that the values of a PIVOT become.
pub(crate) const COLUMNS_MAX: usize = 10_000;

/// Whether one of the tokens begins such a PIVOT.
pub(crate) fn is_about(token: &TokenWithSpan) -> bool {
    matches!(&token.token, Token::Word(it) if it.value == PIVOT_OPEN)
}

/// A statement with such PIVOTs.
///
/// Errors: 0A000 for one that keeps its text, as a view does.
pub(crate) fn over(mut statement: Statement) -> SqlResult<Statement> {
    if let Statement::Prepare { name, types, statement } = statement {
        return Ok(Statement::Prepare { name, types, statement: Box::new(over(*statement)?) });
    }
    match queries(&mut statement).is_empty() {
        true => Err(no_values()),
        false => Ok(Statement::OverPivots(Box::new(statement))),
    }
}

/// What a text says that has no values for its PIVOT, and is kept.
pub(crate) fn no_values() -> SqlError {
    unsupported("PIVOT without the values that become columns, but in a statement that runs,")
        .with_hint("List them: ON a IN (1, 2).")
}

/// The queries that a statement runs.
fn queries(statement: &mut Statement) -> Vec<&mut ParsedQuery> {
    match statement {
        Statement::Query { query }
        | Statement::Change { query }
        | Statement::Explain { query, .. }
        | Statement::Describe { query, .. }
        | Statement::Summarize { query }
        | Statement::CreateTableAs { query, .. }
        | Statement::CopyTo { query, .. }
        | Statement::SetVariable { query: Some(query), .. }
        | Statement::CreateType { body: TypeBody::LabelsOf(query), .. }
        | Statement::Cursor(CursorStatement::Declare { query, .. }) => vec![query],
        Statement::InSteps { first, last } => {
            let mut all: Vec<_> = first.iter_mut().map(|it| &mut it.query).collect();
            all.extend(queries(last));
            all
        }
        _ => Vec::new(),
    }
}

/// The query whose only column has the values of the first such PIVOT of a statement, as texts; `None` where all have theirs.
///
/// # Errors
/// Those of a fault of ours alone.
pub fn next(statement: &mut Statement) -> SqlResult<Option<ParsedQuery>> {
    for query in queries(statement) {
        let mut finding = Finding::default();
        walk::look(&*query.0, &mut finding);
        if let Some(found) = finding.found {
            return found.map(|it| Some(ParsedQuery(it)));
        }
    }
    Ok(None)
}

/// Puts the values of that PIVOT in their place.
pub fn fill(statement: &mut Statement, values: &[String]) {
    for query in queries(statement) {
        let ended = walk::edit(&mut query.0, &mut Filling { values });
        if ended.is_break() {
            return;
        }
    }
}

/// The arguments of an open column: the column, and perhaps the query of its values.
fn open(expr: &Expr) -> Option<Vec<&Expr>> {
    own_call(expr).filter(|it| it.0 == PIVOT_OPEN).map(|it| it.1)
}

/// A query around, and what it says in WITH.
struct Around {
    with: Option<With>,
    /// Where the queries of WITH are, by which they are known.
    places: Vec<usize>,
    /// How many of them what stands in it now can name.
    seen: usize,
}

#[derive(Default)]
struct Finding {
    around: Vec<Around>,
    found: Option<SqlResult<Box<Query>>>,
}

fn place(query: &Query) -> usize {
    std::ptr::from_ref(query).addr()
}

impl Looker for Finding {
    fn pre_query(&mut self, query: &Query) {
        if let Some(around) = self.around.last_mut() {
            // A query of WITH names those before it.
            let own = around.places.iter().position(|it| *it == place(query));
            around.seen = own.unwrap_or(around.places.len());
        }
        let with = query.with.clone();
        let listed = query.with.iter().flat_map(|it| &it.cte_tables);
        let places: Vec<usize> = listed.map(|it| place(&it.query)).collect();
        self.around.push(Around { with, seen: places.len(), places });
    }

    fn post_query(&mut self) {
        self.around.pop();
        if let Some(around) = self.around.last_mut() {
            around.seen = around.places.len();
        }
    }

    fn post_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        let TableFactor::Pivot { table, value_column, .. } = factor else {
            return ControlFlow::Continue(());
        };
        let Some(said) = value_column.iter().find_map(open) else {
            return ControlFlow::Continue(());
        };
        self.found = Some(values_of(&said, table).map(|query| self.named(query)));
        ControlFlow::Break(())
    }
}

impl Finding {
    /// A query with all that can be named where it stood.
    fn named(&self, mut query: Box<Query>) -> Box<Query> {
        for around in self.around.iter().rev() {
            let Some(mut with) = around.with.clone() else { continue };
            with.cte_tables.truncate(around.seen);
            if with.cte_tables.is_empty() {
                continue;
            }
            let inner = SetExpr::Query(query);
            query = Box::new(Query { with: Some(with), ..bare_query(inner) });
        }
        query
    }
}

/// The texts of the values of an open column, or of a query, in the order of the values, and one more than can become columns.
fn values_of(said: &[&Expr], table: &TableFactor) -> SqlResult<Box<Query>> {
    let lost = || SqlError::internal("a PIVOT without its column");
    let limit = COLUMNS_MAX + 1;
    let text = format!(
        "SELECT CAST(v AS TEXT) FROM (SELECT DISTINCT v FROM t) AS q (v) WHERE v IS NOT NULL ORDER BY v LIMIT {limit}"
    );
    let mut query = read(&text, |it| it.parse_query())?;
    let distinct = of_relation(&mut query).ok_or_else(lost)?;
    match said {
        [_, Expr::Subquery(listed)] => {
            let mut all =
                read("SELECT DISTINCT v FROM (SELECT 1) AS s (v)", |it| it.parse_query())?;
            *of_relation(&mut all).ok_or_else(lost)? = listed.clone();
            *distinct = all;
        }
        [column] => {
            let SetExpr::Select(select) = &mut *distinct.body else { return Err(lost()) };
            select.projection = vec![SelectItem::UnnamedExpr((*column).clone())];
            select.from.iter_mut().for_each(|it| it.relation = table.clone());
        }
        _ => return Err(lost()),
    }
    Ok(query)
}

/// The derived table that a query reads.
fn of_relation(query: &mut Query) -> Option<&mut Box<Query>> {
    let SetExpr::Select(select) = &mut *query.body else { return None };
    match &mut select.from.first_mut()?.relation {
        TableFactor::Derived { subquery, .. } => Some(subquery),
        _ => None,
    }
}

struct Filling<'a> {
    values: &'a [String],
}

impl Editor for Filling<'_> {
    fn post_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<SqlError> {
        let TableFactor::Pivot { value_column, .. } = factor else {
            return ControlFlow::Continue(());
        };
        let Some(column) = value_column.iter_mut().find(|it| open(it).is_some()) else {
            return ControlFlow::Continue(());
        };
        if let Expr::Function(call) = column
            && let FunctionArguments::List(list) = &mut call.args
        {
            call.name = ObjectName::from(vec![Ident::with_quote('"', PIVOT_VALUES)]);
            list.args.truncate(1);
            let value = |it: &String| {
                let constant = Value::SingleQuotedString(it.clone());
                FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::value(constant)))
            };
            list.args.extend(self.values.iter().map(value));
        }
        // What ends the walk is no error.
        ControlFlow::Break(SqlError::internal("a PIVOT has its values"))
    }
}
