//! Which columns a query can mean. The library copies and merges the fields of every table in every step, so a table is
//! shown to it with the columns alone whose names occur in the query: a third of the time of planning, for wide tables.
//!
//! Names are taken from wherever they stand, so a table may keep a column too many, never one too few: where names do not
//! tell (`*`, NATURAL, column aliases of a table), all columns are shown, and a query that cannot be bound is bound once
//! more with all of them before anyone hears of an error.

use std::collections::HashSet;
use std::ops::ControlFlow;

use datafusion_sql::sqlparser::ast::{
    Expr, JoinConstraint, JoinOperator, Query, Select, SelectItem, SetExpr, TableFactor,
    TableWithJoins, Visit, Visitor,
};

/// The names in a query, in lower case; `None` when it may mean any column.
pub fn names_in(query: &Query) -> Option<HashSet<String>> {
    let mut collector = Collector::default();
    let flow = query.visit(&mut collector);
    (flow.is_continue() && collector.stars == 0).then_some(collector.names)
}

/// The names under which a query reads relations, anywhere in it, in lower case.
pub fn relations_in(query: &Query) -> HashSet<String> {
    let mut relations = Relations::default();
    // Nothing ends this search.
    let _ = query.visit(&mut relations);
    relations.0
}

#[derive(Default)]
struct Relations(HashSet<String>);

impl Visitor for Relations {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> Flow {
        let with = query.with.iter().flat_map(|it| &it.cte_tables);
        self.0.extend(with.map(|it| it.alias.name.value.to_lowercase()));
        Flow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> Flow {
        let (name, alias) = match factor {
            TableFactor::Table { name, alias, .. } => (name.0.last(), alias),
            TableFactor::Derived { alias, .. }
            | TableFactor::TableFunction { alias, .. }
            | TableFactor::Function { alias, .. }
            | TableFactor::UNNEST { alias, .. }
            | TableFactor::NestedJoin { alias, .. } => (None, alias),
            _ => (None, &None),
        };
        // An alias hides the name.
        let name = name.and_then(|it| it.as_ident());
        let shown = alias.as_ref().map(|it| &it.name).or(name);
        self.0.extend(shown.map(|it| it.value.to_lowercase()));
        Flow::Continue(())
    }
}

#[derive(Default)]
struct Collector {
    names: HashSet<String>,
    /// Stars that stand for columns, less those that nobody looks at.
    stars: isize,
}

/// Ends the search: any column may be meant.
type Flow = ControlFlow<()>;

impl Visitor for Collector {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> Flow {
        whole_tables(&query.body)
    }

    fn pre_visit_select(&mut self, select: &Select) -> Flow {
        if select.projection.is_empty() {
            return Flow::Break(());
        }
        self.stars += stars(select);
        select.from.iter().try_for_each(joins)
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> Flow {
        match factor {
            TableFactor::Table { alias: Some(alias), .. } if !alias.columns.is_empty() => {
                Flow::Break(())
            }
            TableFactor::NestedJoin { table_with_joins, .. } => joins(table_with_joins),
            _ => Flow::Continue(()),
        }
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> Flow {
        match expr {
            Expr::Identifier(it) => {
                self.names.insert(it.value.to_lowercase());
            }
            Expr::CompoundIdentifier(parts) => {
                self.names.extend(parts.iter().map(|it| it.value.to_lowercase()));
            }
            // EXISTS (SELECT * ..) asks for rows, not for columns.
            Expr::Exists { subquery, .. } => {
                if let SetExpr::Select(select) = &*subquery.body {
                    self.stars -= stars(select);
                }
            }
            Expr::CompoundFieldAccess { .. } => return Flow::Break(()),
            _ => {}
        }
        Flow::Continue(())
    }
}

/// `TABLE t`, alone or in a UNION, means all columns of t.
fn whole_tables(body: &SetExpr) -> Flow {
    match body {
        SetExpr::Table(_) => Flow::Break(()),
        SetExpr::SetOperation { left, right, .. } => {
            whole_tables(left)?;
            whole_tables(right)
        }
        _ => Flow::Continue(()),
    }
}

fn stars(select: &Select) -> isize {
    let star = |it: &&SelectItem| {
        matches!(it, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..))
    };
    select.projection.iter().filter(star).count() as isize
}

/// NATURAL joins tables on whatever columns they share.
fn joins(table: &TableWithJoins) -> Flow {
    use JoinOperator::{CrossJoin, FullOuter, Inner, Join, Left, LeftOuter, Right, RightOuter};
    table.joins.iter().try_for_each(|it| match &it.join_operator {
        Join(on) | Inner(on) | Left(on) | LeftOuter(on) | Right(on) | RightOuter(on)
        | FullOuter(on) | CrossJoin(on)
            if !matches!(on, JoinConstraint::Natural) =>
        {
            Flow::Continue(())
        }
        _ => Flow::Break(()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Statement;

    fn names(sql: &str) -> Option<Vec<String>> {
        let Statement::Query { query } = binder::parse::parse(sql).unwrap().remove(0) else {
            panic!("{sql}")
        };
        let mut names: Vec<String> = names_in(&query.0)?.into_iter().collect();
        names.sort();
        Some(names)
    }

    #[test]
    fn names_are_found_wherever_they_stand() {
        let found = names(
            "WITH w AS (SELECT a AS aa FROM t) SELECT count(*), x.B FROM w, u AS x JOIN v ON c = x.d \
             WHERE e IN (SELECT f FROM t WHERE EXISTS (SELECT * FROM t WHERE g = 1)) \
             GROUP BY B HAVING sum(h) > 0 ORDER BY i, 2",
        );
        let wanted = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "x"];
        assert_eq!(found.unwrap(), wanted);
        assert!(names("SELECT 1 FROM t").unwrap().is_empty());
    }

    #[test]
    fn where_names_do_not_tell_all_columns_are_meant() {
        for sql in [
            "SELECT * FROM t",
            "SELECT a, t.* FROM t",
            "SELECT a FROM t WHERE b IN (SELECT * FROM u)",
            "SELECT a FROM t NATURAL JOIN u",
            "SELECT a FROM (t NATURAL JOIN u)",
            "SELECT x FROM t AS s (x, y)",
            "SELECT a FROM (SELECT * FROM t) AS s",
            "SELECT a FROM t UNION SELECT * FROM u",
            "SELECT a FROM t UNION TABLE u",
            "SELECT FROM t",
            "SELECT a FROM t WHERE EXISTS (SELECT a FROM (SELECT * FROM u) AS s)",
        ] {
            assert_eq!(names(sql), None, "{sql}");
        }
    }
}
