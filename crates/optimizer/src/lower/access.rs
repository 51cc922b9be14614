//! Whether a scan looks its rows up in an index, by estimated selectivity (P-HANA 5.2). Execution knows the exact
//! number of matches and has the last word, so a bound that is not known yet does not speak against the index.

use plan::{BinaryOperator, Expr, ExprKind};
use stdx::sync::Arc;

use crate::estimate;
use crate::tuning::INDEX_SHARE_MAX;
use plan::relation::{Attr, ScanRel, bare};

/// The index that keeps the fewest rows: its name, and the attribute that it is on.
pub(super) fn index_for(scan: &ScanRel) -> Option<(Arc<str>, Attr)> {
    let mut best: Option<(f64, Arc<str>, Attr)> = None;
    for (place, column) in scan.table.columns.iter().enumerate() {
        let Some(name) = &column.index else { continue };
        let attr = scan.base + place;
        let mut share: Option<f64> = None;
        let mut unknown = false;
        for filter in scan.filters.iter().filter(|it| can_be_looked_up(it, attr)) {
            share = Some(share.unwrap_or(1.0) * estimate::selectivity(scan, filter));
            unknown |= is_open(filter);
        }
        let Some(share) = share.filter(|it| *it <= INDEX_SHARE_MAX || unknown) else { continue };
        if best.as_ref().is_none_or(|it| share < it.0) {
            best = Some((share, name.clone(), attr));
        }
    }
    best.map(|it| (it.1, it.2))
}

fn is_constant(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(_) | ExprKind::Parameter(_) | ExprKind::Scalar(_))
}

fn is_range(operator: BinaryOperator) -> bool {
    use BinaryOperator::{Greater, GreaterEqual, Less, LessEqual};
    matches!(operator, Less | LessEqual | Greater | GreaterEqual)
}

fn can_be_looked_up(filter: &Expr, attr: Attr) -> bool {
    match &filter.kind {
        ExprKind::InList { operand, negated: false, .. } => bare(operand) == Some(attr),
        ExprKind::Binary { operator, left, right } => {
            (is_range(*operator) || *operator == BinaryOperator::Equal)
                && (bare(left) == Some(attr) && is_constant(right)
                    || bare(right) == Some(attr) && is_constant(left))
        }
        _ => false,
    }
}

/// Whether it is a range whose bound is known only when the plan runs.
fn is_open(filter: &Expr) -> bool {
    match &filter.kind {
        ExprKind::Binary { operator, left, right } if is_range(*operator) => {
            !matches!(left.kind, ExprKind::Literal(_))
                && !matches!(right.kind, ExprKind::Literal(_))
        }
        _ => false,
    }
}
