//! What indexes are of, as it was said, and as SQL.

use binder::IndexItem;
use binder::index_words::{called, kept_parts, written};
use storage::{Table, TableIndex};
use types::{ColumnId, SqlResult, names};

/// What an index is of, as it is said: its items and the rows that it has, if not all.
pub(crate) type Said = (Vec<IndexItem>, Option<String>);

/// What an index is of, as it was said.
pub(crate) fn said(table: &Table, index: &TableIndex) -> Said {
    let mut condition = None;
    let item = |it: &ColumnId| {
        let name = &table.column(*it).name;
        let expression = table.rules().rows.defaults.get(it.index()).and_then(Option::as_ref);
        match expression.filter(|_| names::is_hidden(name)).map(|it| kept_parts(it)) {
            Some(Ok((item, predicate))) => {
                condition = predicate.or(condition.take());
                item
            }
            _ => IndexItem::Column(name.to_string()),
        }
    };
    let items = index.columns.iter().map(item).collect();
    (items, condition)
}

/// The items of an index and its condition, as SQL with names that are written so.
pub(crate) fn sql_of(
    table: &Table,
    index: &TableIndex,
    name: impl Fn(&str) -> String,
) -> (String, String) {
    let (items, condition) = said(table, index);
    let item = |it: &IndexItem| match it {
        IndexItem::Column(column) => name(column),
        IndexItem::Expression(it) => sql_of_expression(it),
    };
    let items: Vec<String> = items.iter().map(item).collect();
    let condition = condition.map_or_else(String::new, |it| format!(" WHERE ({it})"));
    (items.join(", "), condition)
}

/// An expression of an index as SQL.
pub(crate) fn sql_of_expression(expression: &str) -> String {
    written(expression).unwrap_or_else(|_| format!("({expression})"))
}

/// What the name of an index calls its items.
pub(crate) fn names_of(items: &[IndexItem]) -> SqlResult<Vec<String>> {
    let name = |it: &IndexItem| match it {
        IndexItem::Column(name) => Ok(name.clone()),
        IndexItem::Expression(it) => called(it),
    };
    items.iter().map(name).collect()
}
