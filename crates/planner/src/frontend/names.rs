//! Names of result columns as Postgres gives them: the alias, the column, the function, or `?column?`.

use datafusion_common::Column;
use datafusion_expr::{Expr, LogicalPlan};

/// The names of a plan that has just been bound.
pub fn of_output(plan: &LogicalPlan) -> Vec<String> {
    match plan {
        LogicalPlan::Sort(it) => of_prefix(plan, &it.input),
        LogicalPlan::Limit(it) => of_output(&it.input),
        LogicalPlan::Distinct(it) => of_output(it.input()),
        LogicalPlan::Projection(it) => it.expr.iter().map(|e| of_expr(e, &it.input)).collect(),
        other => other.schema().fields().iter().map(|it| it.name().clone()).collect(),
    }
}

/// The names of a plan whose input may have columns more.
fn of_prefix(plan: &LogicalPlan, input: &LogicalPlan) -> Vec<String> {
    let mut names = of_output(input);
    names.truncate(plan.schema().fields().len());
    names
}

/// The name of an expression over an input.
fn of_expr(expr: &Expr, input: &LogicalPlan) -> String {
    match expr {
        // DataFusion itself writes count(1) AS "count(*)".
        Expr::Alias(it) if it.name == "count(*)" => "count".to_owned(),
        Expr::Alias(it) => it.name.clone(),
        Expr::Column(it) if it.relation.is_some() => it.name.clone(),
        Expr::Column(it) => computed_below(it, input),
        Expr::Cast(it) => of_expr(&it.expr, input),
        Expr::Case(_) => "case".to_owned(),
        Expr::ScalarFunction(it) => it.func.name().to_owned(),
        Expr::AggregateFunction(it) => it.func.name().to_owned(),
        Expr::Exists(_) => "exists".to_owned(),
        Expr::ScalarSubquery(it) => match of_output(&it.subquery).into_iter().next() {
            Some(name) => name,
            None => "?column?".to_owned(),
        },
        _ => "?column?".to_owned(),
    }
}

/// What was computed below arrives as a column under DataFusion's text for it: an aggregate, or the select list under a
/// sort by something else.
fn computed_below(column: &Column, input: &LogicalPlan) -> String {
    match input {
        LogicalPlan::Sort(it) => computed_below(column, &it.input),
        LogicalPlan::Projection(it) => match it.schema.maybe_index_of_column(column) {
            Some(place) => of_expr(&it.expr[place], &it.input),
            None => readable(&column.name),
        },
        _ => readable(&column.name),
    }
}

/// A function's name for the text of its call; other names as they are.
fn readable(name: &str) -> String {
    match name.split_once('(') {
        Some((function, rest))
            if rest.contains(')')
                && !function.is_empty()
                && function.chars().all(|it| it.is_ascii_alphanumeric() || it == '_') =>
        {
            function.to_lowercase()
        }
        _ => name.to_owned(),
    }
}
