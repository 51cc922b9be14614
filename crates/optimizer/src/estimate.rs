//! Cardinalities from exact statistics: ranges as a fraction of the domain, equality by distinct counts.

use plan::{BinaryOperator, Expr, ExprKind, UnaryOperator};
use types::{ColumnId, ColumnInfo, Value};

use crate::tuning::UNKNOWN_SHARE as UNKNOWN;
use plan::relation::{Attr, AttrSet, Rel, RelJoin, ScanRel, bare};

/// The column that an attribute of a scan is.
pub fn column(scan: &ScanRel, attr: Attr) -> Option<(ColumnId, &ColumnInfo)> {
    let place = attr.checked_sub(scan.base)?;
    scan.table.columns.get(place).map(|it| (ColumnId(place as u16), it))
}

/// A value as a number, for fractions of a domain.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Float(it) => Some(*it),
        Value::Decimal { unscaled, scale } => {
            Some(*unscaled as f64 / 10f64.powi(i32::from(*scale)))
        }
        Value::Text(text) => {
            // The first bytes as digits of a fraction: enough to place a constant between min and max.
            let bytes = text.bytes().chain(std::iter::repeat(0)).take(6);
            Some(bytes.fold(0.0, |sum, byte| sum * 256.0 + f64::from(byte)))
        }
        other => other.as_i128().map(|it| it as f64),
    }
}

/// The share of a scan's rows for which a predicate holds.
pub fn selectivity(scan: &ScanRel, expr: &Expr) -> f64 {
    match &expr.kind {
        ExprKind::Literal(Value::Boolean(it)) => f64::from(u8::from(*it)),
        ExprKind::Binary { operator: BinaryOperator::And, left, right } => {
            selectivity(scan, left) * selectivity(scan, right)
        }
        ExprKind::Binary { operator: BinaryOperator::Or, left, right } => {
            let (a, b) = (selectivity(scan, left), selectivity(scan, right));
            a + b - a * b
        }
        ExprKind::Binary { operator, left, right } => comparison(scan, *operator, left, right),
        ExprKind::Unary { operator, operand } => unary(scan, *operator, operand),
        ExprKind::InList { operand, list, negated } => {
            let distinct = distinct_of_expr(scan, operand).unwrap_or(20.0);
            let share = (list.len() as f64 / distinct).min(1.0);
            if *negated { 1.0 - share } else { share }
        }
        ExprKind::Like { pattern, negated, .. } => {
            // More fixed characters are rarer; an anchored beginning is rarer than a needle anywhere.
            let fixed = pattern.chars().filter(|it| !matches!(it, '%' | '_')).count().min(6);
            let share: f64 = match (fixed, pattern.starts_with('%')) {
                (0, _) => 1.0,
                (_, true) => 0.07,
                (_, false) => 0.2 / fixed as f64 + 0.01,
            };
            if *negated { 1.0 - share } else { share }
        }
        _ => UNKNOWN,
    }
}

fn unary(scan: &ScanRel, operator: UnaryOperator, operand: &Expr) -> f64 {
    let nulls = bare(operand)
        .and_then(|it| column(scan, it))
        .map_or(0.05, |it| it.1.statistics.nulls as f64 / (scan.table.rows as f64).max(1.0));
    match operator {
        UnaryOperator::Not | UnaryOperator::IsFalse => 1.0 - selectivity(scan, operand),
        UnaryOperator::IsTrue => selectivity(scan, operand),
        UnaryOperator::IsNull => nulls,
        UnaryOperator::IsNotNull => 1.0 - nulls,
        _ => UNKNOWN,
    }
}

fn distinct_of_expr(scan: &ScanRel, expr: &Expr) -> Option<f64> {
    match &expr.kind {
        ExprKind::Column(attr) => {
            column(scan, *attr).map(|it| (it.1.statistics.distinct as f64).max(1.0))
        }
        ExprKind::Cast(inner) => distinct_of_expr(scan, inner),
        ExprKind::Substring { operand, .. } => {
            distinct_of_expr(scan, operand).map(|it| it.min(30.0))
        }
        ExprKind::Extract { operand, .. } => distinct_of_expr(scan, operand).map(|it| it.min(12.0)),
        _ => None,
    }
}

fn comparison(scan: &ScanRel, operator: BinaryOperator, left: &Expr, right: &Expr) -> f64 {
    use BinaryOperator::*;
    let ExprKind::Literal(value) = &right.kind else {
        return match operator {
            Equal | IsNotDistinctFrom => {
                let distinct = distinct_of_expr(scan, left).or(distinct_of_expr(scan, right));
                1.0 / distinct.unwrap_or(10.0)
            }
            NotEqual | IsDistinctFrom => 0.9,
            Less | LessEqual | Greater | GreaterEqual => 0.4,
            _ => UNKNOWN,
        };
    };
    match operator {
        Equal | IsNotDistinctFrom => match distinct_of_expr(scan, left) {
            Some(distinct) if in_domain(scan, left, value) => 1.0 / distinct,
            Some(_) => 0.0,
            None => 0.1,
        },
        NotEqual | IsDistinctFrom => 1.0 - 1.0 / distinct_of_expr(scan, left).unwrap_or(10.0),
        Less | LessEqual | Greater | GreaterEqual => {
            range(scan, operator, left, value).unwrap_or(UNKNOWN)
        }
        _ => UNKNOWN,
    }
}

fn interval(scan: &ScanRel, expr: &Expr) -> Option<(f64, f64, f64)> {
    let info = column(scan, bare(expr)?)?.1;
    let low = number(info.statistics.min.as_ref()?)?;
    let high = number(info.statistics.max.as_ref()?)?;
    Some((low, high, (info.statistics.distinct as f64).max(1.0)))
}

fn in_domain(scan: &ScanRel, expr: &Expr, value: &Value) -> bool {
    match (interval(scan, expr), number(value)) {
        (Some((low, high, _)), Some(it)) => low <= it && it <= high,
        _ => true,
    }
}

fn range(scan: &ScanRel, operator: BinaryOperator, expr: &Expr, value: &Value) -> Option<f64> {
    let (low, high, distinct) = interval(scan, expr)?;
    let it = number(value)?;
    // One step more than the span, so that `<` and `<=` of a small domain differ.
    let step = (high - low) / (distinct - 1.0).max(1.0);
    let below = |it: f64| ((it - low) / (high - low + step).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
    Some(match operator {
        BinaryOperator::Less => below(it),
        BinaryOperator::LessEqual => below(it + step),
        BinaryOperator::Greater => 1.0 - below(it + step),
        _ => 1.0 - below(it),
    })
}

/// The rows of a scan that pass its filters. A lower and an upper bound on one column are one range, not two
/// independent chances.
pub fn scan_rows(scan: &ScanRel) -> f64 {
    let mut share = 1.0;
    let mut ranges: Vec<(Attr, f64)> = Vec::new();
    for filter in &scan.filters {
        let own = selectivity(scan, filter);
        let ranged = match &filter.kind {
            ExprKind::Binary { operator, left, right }
                if matches!(
                    operator,
                    BinaryOperator::Less
                        | BinaryOperator::LessEqual
                        | BinaryOperator::Greater
                        | BinaryOperator::GreaterEqual
                ) && matches!(right.kind, ExprKind::Literal(_)) =>
            {
                bare(left)
            }
            _ => None,
        };
        match ranged {
            Some(attr) => match ranges.iter_mut().find(|it| it.0 == attr) {
                Some(entry) => entry.1 = (entry.1 + own - 1.0).max(1e-6),
                None => ranges.push((attr, own)),
            },
            None => share *= own,
        }
    }
    share *= ranges.iter().map(|it| it.1).product::<f64>();
    (scan.table.rows as f64 * share).max(1.0)
}

/// The distinct values of an attribute in a relation.
pub fn distinct(rel: &Rel, attr: Attr) -> f64 {
    distinct_in(rel, attr).unwrap_or_else(|| rel.rows().max(1.0))
}

/// The same; `None` where the relation does not have the attribute.
fn distinct_in(rel: &Rel, attr: Attr) -> Option<f64> {
    let rows = rel.rows().max(1.0);
    let all = |output: &[Attr]| output.contains(&attr).then_some(rows);
    let of = match rel {
        Rel::Scan(scan) => scan_domain(scan, attr)?,
        Rel::Filter { input, .. }
        | Rel::Sort { input, .. }
        | Rel::Limit { input, .. }
        | Rel::Repeat { input, .. } => distinct_in(input, attr)?,
        Rel::Map { input, exprs } => match exprs.iter().find(|it| it.0 == attr) {
            Some((_, expr)) => distinct_of(input, expr),
            None => distinct_in(input, attr)?,
        },
        Rel::Window { input, functions, .. } => match functions.iter().any(|it| it.0 == attr) {
            true => rows,
            false => distinct_in(input, attr)?,
        },
        Rel::Join(join) if join.mark == Some(attr) => 2.0,
        Rel::Join(join) => match distinct_in(&join.left, attr) {
            Some(it) => it,
            None if matches!(join.kind, RelJoin::Semi | RelJoin::Anti) => return None,
            None => distinct_in(&join.right, attr)?,
        },
        Rel::Aggregate { input, keys, aggregates, .. } => {
            match keys.iter().find(|it| it.0 == attr) {
                Some((_, expr)) => distinct_of(input, expr),
                None => aggregates.iter().any(|it| it.0 == attr).then_some(rows)?,
            }
        }
        Rel::Union { inputs, output } => {
            let place = output.iter().position(|it| *it == attr)?;
            inputs.iter().map(|(input, attrs)| distinct(input, attrs[place])).sum()
        }
        Rel::Values { output, .. } => all(output)?,
        Rel::Shared { output, distinct, .. } => {
            let place = output.iter().position(|it| it.0 == attr)?;
            distinct.get(place).copied().unwrap_or(rows)
        }
        Rel::Apply(_) => rows,
    };
    Some(of.clamp(1.0, rows))
}

/// The distinct values of an expression over a relation.
pub fn distinct_of(rel: &Rel, expr: &Expr) -> f64 {
    match &expr.kind {
        ExprKind::Column(attr) => distinct(rel, *attr),
        ExprKind::Literal(_) | ExprKind::Parameter(_) | ExprKind::Scalar(_) => 1.0,
        ExprKind::Extract { operand, .. } => distinct_of(rel, operand).min(12.0),
        ExprKind::Substring { operand, .. } => distinct_of(rel, operand).min(30.0),
        _ => expr
            .children()
            .into_iter()
            .map(|it| distinct_of(rel, it))
            .product::<f64>()
            .clamp(1.0, rel.rows().max(1.0)),
    }
}

/// The distinct values that an attribute had before other conditions than those on itself: what a join on it chooses
/// from, whatever else has left rows out.
pub fn domain(rel: &Rel, attr: Attr) -> f64 {
    domain_in(rel, attr).unwrap_or_else(|| distinct(rel, attr)).max(1.0)
}

/// The same; `None` where the relation does not have the attribute.
fn domain_in(rel: &Rel, attr: Attr) -> Option<f64> {
    match rel {
        Rel::Scan(scan) => scan_domain(scan, attr),
        Rel::Filter { input, .. } | Rel::Sort { input, .. } | Rel::Limit { input, .. } => {
            domain_in(input, attr)
        }
        Rel::Map { input, exprs } => match exprs.iter().find(|it| it.0 == attr) {
            Some((_, expr)) => Some(domain_of(input, expr)),
            None => domain_in(input, attr),
        },
        Rel::Aggregate { input, keys, .. } => match keys.iter().find(|it| it.0 == attr) {
            Some((_, expr)) => Some(domain_of(input, expr)),
            None => distinct_in(rel, attr),
        },
        Rel::Join(join) if join.mark != Some(attr) => {
            domain_in(&join.left, attr).or_else(|| domain_in(&join.right, attr))
        }
        _ => distinct_in(rel, attr),
    }
}

/// The values of a column that conditions on it alone keep.
fn scan_domain(scan: &ScanRel, attr: Attr) -> Option<f64> {
    let all = column(scan, attr)?.1.statistics.distinct as f64;
    let own = scan.filters.iter().filter(|it| AttrSet::of(it).iter().eq([attr]));
    Some(all * own.map(|it| selectivity(scan, it)).product::<f64>())
}

/// [`domain`] of a column, else the distinct values of an expression.
pub fn domain_of(rel: &Rel, expr: &Expr) -> f64 {
    bare(expr).map_or_else(|| distinct_of(rel, expr), |it| domain(rel, it))
}

/// The groups of keys over a relation.
pub fn groups(rel: &Rel, keys: &[(Attr, Expr)]) -> f64 {
    let product: f64 = keys.iter().map(|it| distinct_of(rel, &it.1)).product();
    product.clamp(1.0, rel.rows().max(1.0))
}
