//! Equations between queries: two lists whose rows, put together, are the same.

use crate::ast::{Body, Expr, Form, Item, Query, Select};
use crate::case::Case;
use crate::compare::{self, Tolerance};
use crate::differences;
use crate::kind::Kind;
use crate::peers::nodewise::Nodewise;
use crate::peers::reply::{Peer, Reply, Rows};
use crate::reduce::Check;
use crate::stage::Stage;
use crate::verdict::Verdict;

/// Two lists of queries that give the same rows.
#[derive(Clone, Debug)]
pub struct Equation {
    pub left: Vec<Query>,
    pub right: Vec<Query>,
}

/// A way to make an equation of a query; none where the rule does not apply.
pub struct Rule {
    pub name: &'static str,
    pub make: fn(&Query) -> Option<Equation>,
}

impl Equation {
    /// Two queries that say the same, unless they are the same text.
    pub fn between(one: &Query, other: Query) -> Option<Self> {
        (*one != other).then(|| Self { left: vec![one.clone()], right: vec![other] })
    }
}

/// Nodewise asked by one rule.
pub struct RuleCheck<'a> {
    pub stage: &'a mut Stage<Nodewise>,
    pub rule: &'static Rule,
}

impl Check for RuleCheck<'_> {
    fn verdict(&mut self, case: &Case) -> Verdict {
        let Some(equation) = (self.rule.make)(&case.query) else {
            return Verdict::Skipped("the rule does not apply".to_owned());
        };
        if let Err((_, reply)) = self.stage.load(&case.world) {
            return of_error(&reply);
        }
        let left = match self.rows(&equation.left) {
            Ok(rows) => rows,
            Err(reply) => return of_error(&reply),
        };
        let right = match self.rows(&equation.right) {
            Ok(rows) => rows,
            Err(reply) => return of_error(&reply),
        };
        let real = differences::names(&case.query, |kind| kind == Kind::Real);
        let near = if real { Tolerance::REAL } else { Tolerance::DOUBLE };
        match compare::difference(&left, &right, false, near) {
            None => Verdict::Same,
            Some(what) => Verdict::Wrong(what),
        }
    }
}

impl RuleCheck<'_> {
    /// The rows of some queries put together, or the first error.
    fn rows(&mut self, queries: &[Query]) -> Result<Rows, Reply> {
        let mut all: Option<Rows> = None;
        for query in queries {
            match self.stage.peer.run(&query.to_string()) {
                Reply::Rows(rows) => match &mut all {
                    None => all = Some(rows),
                    Some(all) => all.rows.extend(rows.rows),
                },
                other => {
                    if other == Reply::Stuck {
                        self.stage.forget();
                    }
                    return Err(other);
                }
            }
        }
        Ok(all.unwrap_or_default())
    }

    /// Both sides with their rows, for a person.
    pub fn describe(&mut self, case: &Case) -> Vec<String> {
        let Some(equation) = (self.rule.make)(&case.query) else { return Vec::new() };
        let mut lines = vec![format!("rule: {}", self.rule.name)];
        if self.stage.load(&case.world).is_err() {
            return lines;
        }
        for (side, queries) in [("left", &equation.left), ("right", &equation.right)] {
            for query in queries {
                lines.push(format!("{side}: {query}"));
                lines.push(format!("  {}", self.stage.peer.run(&query.to_string()).describe()));
            }
        }
        lines
    }
}

/// What an error says. Values that are computed in one text and not in the other may fail there alone.
pub fn of_error(reply: &Reply) -> Verdict {
    match reply {
        Reply::Error { state, message } if state.starts_with("XX") => {
            Verdict::Broken(message.clone())
        }
        Reply::Error { state, .. } if reply.is_value_error() => {
            Verdict::Skipped(format!("ERROR {state}"))
        }
        Reply::Error { state, message } => {
            Verdict::Refused { state: state.clone(), sentence: message.clone() }
        }
        _ => Verdict::Broken("the statement did not end".to_owned()),
    }
}

/// The select of a query that has no order and no limit.
pub fn plain(query: &Query) -> Option<&Select> {
    let bare = query.order.is_empty() && query.limit.is_none() && query.offset.is_none();
    match &query.body {
        Body::Select(select) if bare => Some(select),
        _ => None,
    }
}

/// The select of a query each of whose rows is one of FROM.
pub fn row_by_row(query: &Query) -> Option<&Select> {
    let select = plain(query)?;
    let grouped = !select.group.is_empty() || select.having.is_some();
    let aggregated =
        select.items.iter().any(|item| matches!(item, Item::Named(expr, _) if has_aggregate(expr)));
    (!grouped && !aggregated && !select.distinct && select.from.is_some()).then_some(select)
}

/// Whether an expression has an aggregate of its own query, or a window over its rows.
pub fn has_aggregate(expr: &Expr) -> bool {
    matches!(expr.form, Form::Aggregate { .. } | Form::Window { .. })
        || expr.parts.iter().any(has_aggregate)
}

/// Whether an expression has a window over the rows or groups of its own query.
pub fn has_window(expr: &Expr) -> bool {
    matches!(expr.form, Form::Window { .. }) || expr.parts.iter().any(has_window)
}

/// The same query with another select.
pub fn with_select(query: &Query, change: impl FnOnce(&mut Select)) -> Query {
    let mut query = query.clone();
    if let Body::Select(select) = &mut query.body {
        change(select);
    }
    query
}

/// `count(*)`
pub fn count() -> Expr {
    let form = Form::Aggregate { name: "count", distinct: false, filter: false };
    Expr::new(form, Kind::BigInt, Vec::new())
}

/// A constant integer.
pub fn integer(text: &str) -> Expr {
    Expr::literal(text, Kind::Integer)
}

/// An output column.
pub fn item(expr: Expr, name: &str) -> Item {
    Item::Named(expr, name.to_owned())
}
