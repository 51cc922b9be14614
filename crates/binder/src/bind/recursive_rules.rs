//! What a query that is made of itself may be: PostgreSQL's rules, on the parser's tree.

use std::collections::{BTreeMap, BTreeSet};

use sqlparser::ast::{
    self, Cte, JoinOperator, Query, Select, SetExpr, SetOperator, SetQuantifier, TableFactor,
    TableWithJoins,
};
use types::{SqlError, SqlResult, SqlState};

use super::errors::{Name, at, unsupported};
use super::scope::is_named;
use crate::syntax::ident;
use crate::walk::Uses;

/// 42P19: a recursive query that cannot be.
pub(super) const INVALID_RECURSION: SqlState = SqlState("42P19");

/// The terms of a recursive query.
pub(super) struct Parts<'a> {
    pub first: &'a SetExpr,
    pub step: &'a SetExpr,
    /// UNION ALL: whether rows come as often as they are made.
    pub all: bool,
}

/// The order in which WITH RECURSIVE makes its queries: each behind those that it is made of.
///
/// Errors: 0A000 where two are made of one another.
pub(super) fn order(queries: &[Cte]) -> SqlResult<Vec<usize>> {
    let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, query) in queries.iter().enumerate() {
        places.entry(ident(&query.alias.name)).or_default().push(place);
    }
    let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); queries.len()];
    let mut missing = vec![0; queries.len()];
    for (of, query) in queries.iter().enumerate() {
        let uses = Uses::of(&query.query);
        let others = uses.names().filter_map(|it| places.get(it)).flatten().filter(|it| **it != of);
        for other in others {
            needed_by[*other].push(of);
            missing[of] += 1;
        }
    }
    let mut ready: BTreeSet<usize> = (0..queries.len()).filter(|it| missing[*it] == 0).collect();
    let mut order: Vec<usize> = Vec::with_capacity(queries.len());
    while let Some(next) = ready.pop_first() {
        order.push(next);
        for of in &needed_by[next] {
            missing[*of] -= 1;
            if missing[*of] == 0 {
                ready.insert(*of);
            }
        }
    }
    if let Some(left) = missing.iter().position(|it| *it > 0) {
        let message = "mutual recursion between WITH items is not implemented";
        return Err(at(SqlError::unsupported(message), &Name(&queries[left].alias.name)));
    }
    Ok(order)
}

/// The terms of a query that is made of itself, if it is one that can be.
pub(super) fn parts(cte: &Cte) -> SqlResult<Parts<'_>> {
    let name = ident(&cte.alias.name);
    let invalid =
        |message: String| at(SqlError::new(INVALID_RECURSION, message), &Name(&cte.alias.name));
    let query = &*cte.query;
    let form = || {
        invalid(format!(
            "recursive query \"{name}\" does not have the form non-recursive-term UNION [ALL] recursive-term"
        ))
    };
    let SetExpr::SetOperation { left, op: SetOperator::Union, set_quantifier, right } =
        &*query.body
    else {
        return Err(form());
    };
    let all = match set_quantifier {
        SetQuantifier::All => true,
        SetQuantifier::None | SetQuantifier::Distinct => false,
        _ => return Err(unsupported("BY NAME", &**right)),
    };
    let rare = [
        (query.order_by.is_some(), "ORDER BY"),
        (query.limit_clause.is_some() || query.fetch.is_some(), "LIMIT or OFFSET"),
    ];
    if let Some((_, what)) = rare.iter().find(|it| it.0) {
        let message = format!("{what} in a recursive query is not implemented");
        return Err(at(SqlError::unsupported(message), &Name(&cte.alias.name)));
    }
    if query
        .with
        .as_ref()
        .is_some_and(|with| with.cte_tables.iter().any(|it| Uses::of(&it.query).count(&name) > 0))
    {
        return Err(invalid(within(&name, "a subquery")));
    }
    if Uses::of(&**left).count(&name) > 0 {
        return Err(invalid(within(&name, "its non-recursive term")));
    }
    let mut walk = Walk { name: &name, found: 0 };
    walk.body(right, None).map_err(&invalid)?;
    match walk.found {
        1 => Ok(Parts { first: left, step: right, all }),
        0 => Err(form()),
        _ => Err(invalid(format!(
            "recursive reference to query \"{name}\" must not appear more than once"
        ))),
    }
}

fn within(name: &str, what: &str) -> String {
    format!("recursive reference to query \"{name}\" must not appear within {what}")
}

/// Looks for the places where a recursive term names its query; `context` is what may not hold one.
struct Walk<'a> {
    name: &'a str,
    found: usize,
}

type Context = Option<&'static str>;

impl Walk<'_> {
    fn query(&mut self, query: &Query, context: Context) -> Result<(), String> {
        if let Some(with) = &query.with {
            for cte in &with.cte_tables {
                self.query(&cte.query, context)?;
            }
            if with.cte_tables.iter().any(|it| is_named(&it.alias.name, self.name)) {
                return Ok(());
            }
        }
        let body = self.body(&query.body, context);
        let beside = [uses(self.name, &query.order_by), uses(self.name, &query.limit_clause)];
        body.and_then(|()| self.nowhere(beside.iter().any(|it| *it)))
    }

    fn body(&mut self, body: &SetExpr, context: Context) -> Result<(), String> {
        match body {
            SetExpr::Select(select) => self.select(select, context),
            SetExpr::Query(query) => self.query(query, context),
            SetExpr::SetOperation { left, op, set_quantifier, right } => {
                let all = *set_quantifier == SetQuantifier::All;
                let (of_left, of_right) = match op {
                    SetOperator::Intersect if all => (Some("INTERSECT"), Some("INTERSECT")),
                    SetOperator::Except | SetOperator::Minus if all => {
                        (Some("EXCEPT"), Some("EXCEPT"))
                    }
                    SetOperator::Except | SetOperator::Minus => (None, Some("EXCEPT")),
                    _ => (None, None),
                };
                self.body(left, of_left.or(context))?;
                self.body(right, of_right.or(context))
            }
            other => self.nowhere(uses(self.name, other)),
        }
    }

    fn select(&mut self, select: &Select, context: Context) -> Result<(), String> {
        for table in &select.from {
            self.joined(table, context)?;
        }
        let ast::Select {
            distinct,
            projection,
            selection,
            group_by,
            having,
            named_window,
            qualify,
            ..
        } = select;
        let used = [
            uses(self.name, distinct),
            uses(self.name, projection),
            uses(self.name, selection),
            uses(self.name, group_by),
            uses(self.name, having),
            uses(self.name, named_window),
            uses(self.name, qualify),
        ];
        self.nowhere(used.iter().any(|it| *it))
    }

    /// Tables of a join: on a side that an outer join extends by NULL none may be the query itself.
    fn joined(&mut self, table: &TableWithJoins, context: Context) -> Result<(), String> {
        use JoinOperator as On;
        let extends_left = |it: &ast::Join| {
            matches!(it.join_operator, On::Right(_) | On::RightOuter(_) | On::FullOuter(_))
        };
        let outer = Some("an outer join");
        let of = |place: usize| match table.joins[place..].iter().any(extends_left) {
            true => outer,
            false => context,
        };
        self.factor(&table.relation, of(0))?;
        for (place, join) in table.joins.iter().enumerate() {
            let is_right =
                matches!(join.join_operator, On::Left(_) | On::LeftOuter(_) | On::FullOuter(_));
            let own = if is_right { outer } else { of(place + 1) };
            self.factor(&join.relation, own)?;
            self.nowhere(uses(self.name, &join.join_operator))?;
        }
        Ok(())
    }

    fn factor(&mut self, factor: &TableFactor, context: Context) -> Result<(), String> {
        match factor {
            TableFactor::Derived { subquery, .. } => self.query(subquery, context),
            TableFactor::NestedJoin { table_with_joins, .. } => {
                self.joined(table_with_joins, context)
            }
            other if uses(self.name, other) => match context {
                Some(what) => Err(within(self.name, what)),
                None => {
                    self.found += 1;
                    Ok(())
                }
            },
            _ => Ok(()),
        }
    }

    /// Refuses the query itself in an expression.
    fn nowhere(&self, is_used: bool) -> Result<(), String> {
        if is_used { Err(within(self.name, "a subquery")) } else { Ok(()) }
    }
}

fn uses(name: &str, part: &impl ast::Visit) -> bool {
    Uses::of(part).count(name) > 0
}
