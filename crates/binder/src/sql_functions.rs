//! What calls of functions that users wrote in SQL stand for (`crate::function_words`).
//!
//! Key decision: arguments are values. A body that is an expression has them in the places of its parameters, each with the
//! type of its parameter; any other has them as columns of a relation that is named as the function, from which its query is joined
//! laterally. So a column of a table of the body hides the parameter of its name, as in PostgreSQL, and none hides what an argument means.

use std::ops::ControlFlow;

use sqlparser::ast::{
    self, Expr, Ident, Query, SelectItem, SetExpr, TableFactor, Value, Visit, VisitMut,
};
use types::{MacroForm, SqlFunction, SqlResult};

use crate::bind::aggregate_names;
use crate::fragments::read;
use crate::parsed_query::ParsedQuery;
use crate::syntax::{ident, unsupported};
use crate::walk::{self, Looker};

/// What stands for argument number so many until it is put there; no name of a user's begins so.
const PLACE: &str = "\u{1}argument ";

/// A column that tells a relation of arguments from those that users name: aggregates of the body are of the body. It is there where
/// the body has any, and stands in the texts of views.
pub(crate) const PARAMETERS: &str = "the parameters";

/// A value that a call gives: of a function with a body, whose own calls are expanded, and some arguments.
pub(crate) fn value(
    name: &str,
    (form, function): (&MacroForm, &SqlFunction),
    (body, arguments): (Box<ast::Query>, Vec<Expr>),
) -> SqlResult<Expr> {
    let typed = typed(function, &arguments)?;
    let returns = function.returns.first().map_or("text", |it| &it.1);
    if let Some(own) = plain_expression(&body) {
        let mut own = own.clone();
        let counts = parameters_in(&mut own, (name, form), None);
        let often = |place: usize| counts[place] + usize::from(function.is_strict) != 1;
        let may_repeat = |place: usize| !often(place) || !is_volatile(&arguments[place]);
        if (0..arguments.len()).all(may_repeat) {
            parameters_in(&mut own, (name, form), Some(&typed));
            let mut whole = read(&format!("CAST(body AS {returns})"), |it| it.parse_expr())?;
            put(&mut whole, "body", &own);
            return match function.is_strict && !typed.is_empty() {
                true => null_of_nulls(&whole, &typed),
                false => Ok(whole),
            };
        }
    }
    let conditions =
        (0..typed.len()).map(|it| format!("{}.{} IS NOT NULL", quoted(name), column(form, it)));
    let conditions: Vec<String> = conditions.collect();
    let strict = match function.is_strict && !typed.is_empty() {
        true => format!("WHERE {}", conditions.join(" AND ")),
        false => String::new(),
    };
    let text = format!(
        "(SELECT CAST(b.v AS {returns}) FROM {}LATERAL (SELECT 1) AS b (v) {strict} LIMIT 1)",
        relation(name, form, &body)
    );
    let mut whole = read(&text, |it| it.parse_expr())?;
    let Expr::Subquery(query) = &mut whole else {
        return Err(unsupported("this call of a function"));
    };
    complete(query, (name, form), body, &typed)?;
    Ok(whole)
}

/// A query of one row of one value.
pub(crate) fn row_of(value: Expr, column: &str) -> SqlResult<Box<ast::Query>> {
    let mut query = read(&format!("SELECT body AS {}", quoted(column)), |it| it.parse_query())?;
    put(&mut query, "body", &value);
    Ok(query)
}

/// The rows that a call in FROM gives.
pub(crate) fn rows(
    name: &str,
    (form, function): (&MacroForm, &SqlFunction),
    (body, arguments): (Box<ast::Query>, Vec<Expr>),
) -> SqlResult<Box<ast::Query>> {
    let typed = typed(function, &arguments)?;
    let columns: Vec<String> = (1..=function.returns.len()).map(|it| format!("c{it}")).collect();
    let cast = |(column, (name, data_type)): (&String, &(String, String))| {
        format!("CAST(b.{column} AS {data_type}) AS {}", quoted(name))
    };
    let items: Vec<String> = columns.iter().zip(&function.returns).map(cast).collect();
    let text = format!(
        "SELECT {} FROM {}LATERAL (SELECT 1) AS b ({})",
        items.join(", "),
        relation(name, form, &body),
        columns.join(", ")
    );
    let mut query = read(&text, |it| it.parse_query())?;
    complete(&mut query, (name, form), body, &typed)?;
    Ok(query)
}

/// A query of the columns of a function's body, as it is called with NULL: it can be bound if the function can be called.
///
/// # Errors
/// 42601 for a type or a body that is none.
pub fn check_query(name: &str, form: &MacroForm, function: &SqlFunction) -> SqlResult<ParsedQuery> {
    let nulls: Vec<Expr> = function.types.iter().map(|_| Expr::value(Value::Null)).collect();
    // Columns of the body may share a name.
    let columns: Vec<String> = (1..=function.returns.len()).map(|it| format!("c{it}")).collect();
    let columns = match columns.is_empty() {
        true => String::new(),
        false => format!(" ({})", columns.join(", ")),
    };
    let body = crate::parse::query(&form.body)?;
    let relation = relation(name, form, &body);
    let text = format!("SELECT b.* FROM {relation}LATERAL (SELECT 1) AS b{columns}");
    let mut query = read(&text, |it| it.parse_query())?;
    complete(&mut query, (name, form), body, &typed(function, &nulls)?)?;
    Ok(ParsedQuery(query))
}

/// Whether a column of a function's body may be a constant that has a type only where it is used.
pub fn may_be_untyped(form: &MacroForm, place: usize) -> SqlResult<bool> {
    let body = crate::parse::query(&form.body)?;
    let SetExpr::Select(select) = &*body.body else { return Ok(true) };
    fn expr(item: &SelectItem) -> Option<&Expr> {
        match item {
            SelectItem::UnnamedExpr(it) | SelectItem::ExprWithAlias { expr: it, .. } => Some(it),
            _ => None,
        }
    }

    let items: Option<Vec<&Expr>> = select.projection.iter().map(expr).collect();
    let items = items.unwrap_or_default();
    Ok(items.get(place).is_none_or(|it| matches!(it, Expr::Value(_))))
}

/// Arguments with the types of their parameters.
fn typed(function: &SqlFunction, arguments: &[Expr]) -> SqlResult<Vec<Expr>> {
    let cast = |(value, data_type): (&Expr, &String)| {
        let mut cast = read(&format!("CAST(value AS {data_type})"), |it| it.parse_expr())?;
        put(&mut cast, "value", value);
        Ok(cast)
    };
    arguments.iter().zip(&function.types).map(cast).collect()
}

/// `(SELECT ..) AS f, ` with a place for each argument; nothing without any.
fn relation(name: &str, form: &MacroForm, body: &ast::Query) -> String {
    let item = |place: usize| format!("\"{PLACE}{place}\" AS {}", column(form, place));
    let mut items: Vec<String> = (0..form.parameters.len()).map(item).collect();
    if items.is_empty() {
        return String::new();
    }
    if any(body, is_aggregate) {
        items.push(format!("NULL AS \"{PARAMETERS}\""));
    }
    format!("(SELECT {}) AS {}, ", items.join(", "), quoted(name))
}

fn column(form: &MacroForm, place: usize) -> String {
    quoted(&form.parameters[place].name)
}

fn quoted(name: &str) -> String {
    Ident::with_quote('"', name).to_string()
}

/// Puts the body and the arguments into a query that [`relation`] stands in.
fn complete(
    query: &mut ast::Query,
    (name, form): (&str, &MacroForm),
    mut body: Box<ast::Query>,
    typed: &[Expr],
) -> SqlResult<()> {
    // A window or an aggregate would be one of the relation of arguments.
    if typed.iter().any(has_aggregate) {
        return Err(unsupported(
            "an aggregate or a window as an argument of a function that is a query",
        ));
    }
    let _ = walk::expressions_mut(&mut body, |expr| {
        if let Some(place) = placeholder(expr).filter(|it| *it < form.parameters.len()) {
            let column = Ident::with_quote('"', &form.parameters[place].name);
            *expr = Expr::CompoundIdentifier(vec![Ident::with_quote('"', name), column]);
        }
        ControlFlow::<()>::Continue(())
    });
    for (place, value) in typed.iter().enumerate() {
        put(query, &format!("{PLACE}{place}"), value);
    }
    let SetExpr::Select(select) = &mut *query.body else { return Ok(()) };
    if let Some(TableFactor::Derived { subquery, .. }) =
        select.from.last_mut().map(|it| &mut it.relation)
    {
        *subquery = body;
    }
    Ok(())
}

/// The expression that a query is, if it is one and has no queries within it.
fn plain_expression(query: &ast::Query) -> Option<&Expr> {
    let SetExpr::Select(select) = &*query.body else { return None };
    let [SelectItem::UnnamedExpr(own) | SelectItem::ExprWithAlias { expr: own, .. }] =
        &select.projection[..]
    else {
        return None;
    };
    let bare = format!("SELECT {}", select.projection[0]);
    let has_query = walk::expressions(own, |expr| match expr {
        Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    (query.to_string() == bare && has_query.is_continue() && !has_aggregate(own)).then_some(own)
}

/// How often each parameter stands in an expression; with values, these are put in their places.
fn parameters_in(
    own: &mut Expr,
    (name, form): (&str, &MacroForm),
    values: Option<&[Expr]>,
) -> Vec<usize> {
    let mut counts = vec![0; form.parameters.len()];
    let place_of = |it: &Ident| {
        let said = ident(it);
        form.parameters.iter().position(|it| it.name == said)
    };
    let _ = walk::expressions_mut(own, |expr| {
        let place = match &*expr {
            Expr::Identifier(it) => place_of(it),
            Expr::CompoundIdentifier(parts) => match &parts[..] {
                [function, it] if ident(function) == name => place_of(it),
                _ => None,
            },
            other => placeholder(other).filter(|it| *it < form.parameters.len()),
        };
        if let Some(place) = place {
            counts[place] += 1;
            if let Some(value) = values.map(|it| &it[place]) {
                *expr = Expr::Nested(Box::new(value.clone()));
            }
        }
        ControlFlow::<()>::Continue(())
    });
    counts
}

/// The place of the parameter that `$1` names.
fn placeholder(expr: &Expr) -> Option<usize> {
    let Expr::Value(value) = expr else { return None };
    let Value::Placeholder(text) = &value.value else { return None };
    text.strip_prefix('$')?.parse::<usize>().ok()?.checked_sub(1)
}

/// Puts an expression where a name stands.
fn put(within: &mut impl VisitMut, name: &str, value: &Expr) {
    let _ = walk::expressions_mut(within, |expr| {
        if matches!(expr, Expr::Identifier(it) if it.value == name) {
            *expr = Expr::Nested(Box::new(value.clone()));
        }
        ControlFlow::<()>::Continue(())
    });
}

fn null_of_nulls(whole: &Expr, typed: &[Expr]) -> SqlResult<Expr> {
    let nulls: Vec<String> =
        (0..typed.len()).map(|it| format!("\"{PLACE}{it}\" IS NULL")).collect();
    let text = format!("CASE WHEN {} THEN NULL ELSE body END", nulls.join(" OR "));
    let mut own = read(&text, |it| it.parse_expr())?;
    // Before the arguments, of which one may be a column of that name.
    put(&mut own, "body", whole);
    for (place, value) in typed.iter().enumerate() {
        put(&mut own, &format!("{PLACE}{place}"), value);
    }
    Ok(own)
}

/// Whether an expression may give another value each time, as far as can be told.
fn is_volatile(expr: &Expr) -> bool {
    any(expr, |it| match it {
        Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => true,
        Expr::Function(call) => {
            let name = call.name.to_string().to_lowercase();
            let is_plain = |it| functions::volatility(it) != functions::Volatility::Volatile;
            !functions::lookup(&name).is_some_and(is_plain)
                && !aggregate_names().any(|it| it == name)
        }
        _ => false,
    })
}

/// Whether an expression has an aggregate or a window that no query within it has.
fn has_aggregate(expr: &Expr) -> bool {
    walk::look(expr, &mut OwnAggregates { queries: 0 })
}

struct OwnAggregates {
    /// Queries that it is within.
    queries: usize,
}

impl Looker for OwnAggregates {
    fn pre_query(&mut self, _: &Query) {
        self.queries += 1;
    }

    fn post_query(&mut self) {
        self.queries -= 1;
    }

    fn pre_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match self.queries == 0 && is_aggregate(expr) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

/// Whether an expression is an aggregate or a window.
fn is_aggregate(expr: &Expr) -> bool {
    let Expr::Function(call) = expr else { return false };
    let name = call.name.to_string();
    call.over.is_some() || aggregate_names().any(|it| name.eq_ignore_ascii_case(it))
}

fn any(expr: &impl Visit, is_one: impl Fn(&Expr) -> bool) -> bool {
    walk::expressions(expr, |it| match is_one(it) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    })
    .is_break()
}
