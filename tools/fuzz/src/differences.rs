//! The differences to PostgreSQL that are meant, each with its reason. What is not listed here is a defect.

use crate::ast::{Expr, Form, Query};
use crate::kind::Kind;
use crate::peers::reply::Reply;
use crate::walk;

/// A difference that is meant.
pub struct Meant {
    /// Why it is so, for the report.
    pub reason: &'static str,
    /// Whether a case is one of them.
    pub applies: fn(&Query, &Reply, &Reply) -> bool,
}

/// All of them.
pub const MEANT: &[Meant] = &[
    Meant {
        reason: "decimals have 38 digits here, and any number there; what does not fit is 22003",
        applies: |query, ours, theirs| {
            ours.state() == Some("22003")
                && theirs.state().is_none()
                && names(query, |kind| matches!(kind, Kind::Decimal(38, _)))
        },
    },
    Meant {
        reason: "months of an interval are below 2^24 here, its time below 292 years",
        applies: |query, ours, theirs| {
            ours.state() == Some("22008")
                && theirs.state().is_none()
                && names(query, |kind| kind == Kind::Interval)
        },
    },
    Meant {
        reason: "intermediate sums of REAL are kept in double precision",
        applies: |query, ours, theirs| {
            theirs.state() == Some("22003")
                && ours.state().is_none()
                && names(query, |kind| kind == Kind::Real)
        },
    },
    Meant {
        reason: "what is wrong with a constant is told there when the statement is planned, here when a row has it",
        applies: |_, ours, theirs| {
            let is_empty = matches!(ours, Reply::Rows(ours) if ours.rows.is_empty());
            is_empty && theirs.is_value_error()
        },
    },
    Meant {
        reason: "sums of DOUBLE PRECISION are exact until they are rounded once, and by the order of rows there",
        applies: |query, ours, theirs| {
            ours.state().is_none() && theirs.state().is_none() && walk::any(query, sums_floats)
        },
    },
];

/// The reason why a difference is meant, if it is.
pub fn meant(query: &Query, ours: &Reply, theirs: &Reply) -> Option<&'static str> {
    MEANT.iter().find(|it| (it.applies)(query, ours, theirs)).map(|it| it.reason)
}

/// Whether it is a sum or an average of floats, whose intermediate sums may cancel.
fn sums_floats(expr: &Expr) -> bool {
    let argument = expr.parts.first().map(|it| it.kind);
    let is_sum = |name: &str| matches!(name, "sum" | "avg" | "var_pop" | "stddev");
    matches!(expr.form, Form::Aggregate { name, .. } | Form::Window { name, .. } if is_sum(name))
        && matches!(argument, Some(Kind::Real | Kind::Double))
}

/// Whether a query names a type, in a column or a cast.
pub fn names(query: &Query, kind: impl Fn(Kind) -> bool) -> bool {
    walk::any(query, |expr| kind(expr.kind))
}

/// Whether every expression of a query must be computed for every row of its one table, so that an error about a value is
/// no matter of order.
pub fn computes_all(query: &Query) -> bool {
    let plain = |select: &crate::ast::Select| {
        let one = matches!(select.from, None | Some(crate::ast::From::Table(..)));
        let all = select.filter.is_none() && select.having.is_none() && select.group.is_empty();
        one && all && !select.distinct
    };
    let crate::ast::Body::Select(select) = &query.body else { return false };
    let whole = query.with.is_empty() && query.limit.is_none() && query.offset.is_none();
    whole && plain(select) && !walk::any(query, may_skip)
}

/// Whether a form may leave a part uncomputed.
fn may_skip(expr: &Expr) -> bool {
    match &expr.form {
        Form::Case { .. } | Form::In { .. } | Form::Between { .. } | Form::Aggregate { .. } => true,
        Form::Call(name) => matches!(*name, "coalesce" | "nullif" | "greatest" | "least"),
        Form::Infix(operator) => matches!(*operator, "AND" | "OR"),
        _ => expr.query.is_some(),
    }
}
