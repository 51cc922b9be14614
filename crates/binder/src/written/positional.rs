//! Joins of rows by their places ([`crate::positional`]) as users write them.

use sqlparser::ast::{JoinOperator, ObjectName, TableFactor, TableWithJoins};

use super::parts::shown;

/// Puts what is joined so, up to the last of such joins, in the place of the first relation.
pub(super) fn of_tables(tables: &mut TableWithJoins) {
    let by_place = |tables: &TableWithJoins| {
        tables.joins.iter().position(|it| it.join_operator == JoinOperator::OuterApply)
    };
    while let Some(at) = by_place(tables) {
        let mut joins = tables.joins.split_off(at).into_iter();
        let Some(join) = joins.next() else { return };
        let words = format!("{tables} POSITIONAL JOIN {}", join.relation);
        tables.relation = TableFactor::Table {
            name: ObjectName::from(vec![shown(words)]),
            alias: None,
            args: None,
            with_hints: Vec::new(),
            version: None,
            with_ordinality: false,
            partitions: Vec::new(),
            json_path: None,
            sample: None,
            index_hints: Vec::new(),
        };
        tables.joins = joins.collect();
    }
}
