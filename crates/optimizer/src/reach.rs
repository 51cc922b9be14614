//! Keys that reach further than what they are joined with: a table of dates has those of two centuries, sales are of five
//! years. Rows with keys beyond the others find no partner, and conditions may have left out just those.
//!
//! Key decision: a condition on a column that rises from row to row together with the key chooses a piece of the rows, so it
//! chooses a piece of the keys (a year of dates). Other conditions are taken to hold as often for one key as for another.

use plan::relation::{Attr, Rel, ScanRel, bare};
use plan::{BinaryOperator, Expr, ExprKind};
use types::Value;

use crate::estimate;
use crate::rewrite::origin;

/// Values from the first to the second.
pub(crate) type Span = (f64, f64);

/// The values of a column that an expression is, when they are numbers.
pub(crate) fn span(rel: &Rel, expr: &Expr) -> Option<Span> {
    let (scan, attr) = origin::of(rel, bare(expr)?)?;
    values_of(scan, attr).map(|it| (it.0, it.1))
}

/// The shares of the rows of a relation, and of the values that its conditions on the key leave, whose keys are within a span.
pub(crate) fn shares(rel: &Rel, key: &Expr, within: Span) -> Option<(f64, f64)> {
    let (scan, key) = origin::of(rel, bare(key)?)?;
    let within = places(scan, key, within.0, within.1)?;
    let rises = origin::rises(scan, key);
    let (mut rows, mut values) = (vec![ALL], vec![ALL]);
    for filter in &scan.filters {
        let Some((attr, chosen)) = chosen(scan, filter) else { continue };
        if attr == key {
            values = common(&values, &chosen);
        }
        if attr == key || rises && origin::rises(scan, attr) {
            rows = common(&rows, &chosen);
        }
    }
    let share = |of: &[Span]| {
        let (all, inside) = (length(of), length(&common(of, &[within])));
        if all > 0.0 { inside / all } else { 1.0 }
    };
    Some((share(&rows), share(&values)))
}

/// All rows of a table, in the order of a column.
const ALL: Span = (0.0, 1.0);

/// The least and the greatest value of a column of numbers, and a step between values.
fn values_of(scan: &ScanRel, attr: Attr) -> Option<(f64, f64, f64)> {
    let statistics = &estimate::column(scan, attr)?.1.statistics;
    let number = |it: &Option<Value>| it.as_ref()?.as_i128().map(|it| it as f64);
    let (low, high) = (number(&statistics.min)?, number(&statistics.max)?);
    let step = (high - low) / (statistics.distinct as f64 - 1.0).max(1.0);
    Some((low, high, step))
}

/// Where values from one to another are among all of a column, which lie evenly.
fn places(scan: &ScanRel, attr: Attr, from: f64, to: f64) -> Option<Span> {
    let (low, high, step) = values_of(scan, attr)?;
    let all = (high - low + step).max(f64::MIN_POSITIVE);
    let place = |it: f64| ((it - low) / all).clamp(0.0, 1.0);
    Some((place(from), place(to + step)))
}

/// The column that a condition is on, and the places of the values for which it holds.
fn chosen(scan: &ScanRel, filter: &Expr) -> Option<(Attr, Vec<Span>)> {
    match &filter.kind {
        ExprKind::Binary { operator: BinaryOperator::Or, left, right } => {
            let (one, other) = (chosen(scan, left)?, chosen(scan, right)?);
            let all = one.1.into_iter().chain(other.1).collect();
            (one.0 == other.0).then_some((one.0, all))
        }
        ExprKind::Binary { operator: BinaryOperator::And, left, right } => {
            let (one, other) = (chosen(scan, left)?, chosen(scan, right)?);
            (one.0 == other.0).then(|| (one.0, common(&one.1, &other.1)))
        }
        ExprKind::Binary { operator, left, right } => {
            let (attr, ExprKind::Literal(value)) = (bare(left)?, &right.kind) else { return None };
            let value = value.as_i128()? as f64;
            let (low, high, step) = values_of(scan, attr)?;
            let (from, to) = match operator {
                BinaryOperator::Equal => (value, value),
                BinaryOperator::Less => (low, value - step),
                BinaryOperator::LessEqual => (low, value),
                BinaryOperator::Greater => (value + step, high),
                BinaryOperator::GreaterEqual => (value, high),
                _ => return None,
            };
            places(scan, attr, from, to).map(|it| (attr, vec![it]))
        }
        ExprKind::InList { operand, list, negated: false } => {
            let attr = bare(operand)?;
            let place = |it: &Value| {
                let value = it.as_i128()? as f64;
                places(scan, attr, value, value)
            };
            list.iter().map(place).collect::<Option<_>>().map(|it| (attr, it))
        }
        _ => None,
    }
}

/// What is in pieces of both.
fn common(one: &[Span], other: &[Span]) -> Vec<Span> {
    let pairs = one.iter().flat_map(|a| other.iter().map(move |b| (a.0.max(b.0), a.1.min(b.1))));
    pairs.filter(|it| it.0 < it.1).collect()
}

fn length(of: &[Span]) -> f64 {
    of.iter().map(|it| it.1 - it.0).sum()
}
