//! Views of tables, their columns and their parts.

use arrow_array::RecordBatch;
use stdx::sync::Arc;
use storage::{Column, Part, Partitioning, Table};
use types::{DataType, SqlResult, Value, names, numeric};

use super::placement::{bytes_per_node, list};
use super::{Columns, ViewBuilder, Viewer};
use crate::Database;

/// The columns of [`tables`].
pub(super) const TABLES: Columns = &[
    ("table_name", 't'),
    ("rows", 'i'),
    ("columns", 'i'),
    ("bytes", 'i'),
    ("parts", 'i'),
    ("partitioning", 't'),
];

pub(super) fn tables(database: &Database) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(TABLES);
    for table in database.tables() {
        view.row([
            table.name.as_str().into(),
            table.rows().into(),
            (shown_columns(&table).count() as u64).into(),
            table.memory_bytes().into(),
            (table.parts().len() as u64).into(),
            partitioning(&table).into(),
        ]);
    }
    view.finish()
}

/// How a table is cut, as the statement says it; nothing for a table in one piece.
pub(crate) fn partitioning(table: &Table) -> Option<String> {
    let name = |it: &types::ColumnId| table.column(*it).name.as_str();
    match table.partitioning() {
        Partitioning::None => None,
        Partitioning::Hash { columns, parts } => {
            let names: Vec<&str> = columns.iter().map(name).collect();
            Some(format!("HASH ({}) PARTITIONS {parts}", names.join(", ")))
        }
        Partitioning::Range { column, .. } => Some(format!("RANGE ({})", name(column))),
        Partitioning::RoundRobin { parts } => Some(format!("ROUNDROBIN PARTITIONS {parts}")),
    }
}

/// The columns that people see, with their places.
fn shown_columns(table: &Table) -> impl Iterator<Item = (usize, &Arc<Column>)> {
    table.columns.iter().enumerate().filter(|it| !names::is_hidden(&it.1.name))
}

/// The columns of [`columns`].
pub(super) const COLUMNS: Columns = &[
    ("table_name", 't'),
    ("column_name", 't'),
    ("position", 'i'),
    ("data_type", 't'),
    ("nullable", 'b'),
    ("encoding", 't'),
    ("bitcase", 'i'),
    ("bytes", 'i'),
    ("node", 't'),
    ("rows", 'i'),
    ("nulls", 'i'),
    ("distinct_values", 'i'),
    ("distinct_exact", 'b'),
    ("min", 't'),
    ("max", 't'),
    ("sorted", 'b'),
];

pub(super) fn columns(database: &Database, viewer: &dyn Viewer) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(COLUMNS);
    for table in database.tables() {
        let reads = viewer.reads_table(&table.name);
        for (position, column) in shown_columns(&table) {
            let statistics = &column.statistics;
            // Arrays and numbers of any scale as they are written, not as they are held.
            let text = |it: &Value| {
                let written = || numeric::cast(it, column.data_type, DataType::Text);
                match (column.data_type, column.data_type.element()) {
                    (DataType::Numeric | DataType::Range(_) | DataType::Multirange(_), _) => {
                        match written() {
                            Ok(Value::Text(text)) => text.to_string(),
                            _ => it.to_string(),
                        }
                    }
                    (_, Some(_)) => written().map_or_else(|_| it.to_string(), |it| it.to_string()),
                    _ => it.to_string(),
                }
            };
            let bound = |it: &Option<Value>| match it {
                Some(it) if reads => text(it),
                _ => String::new(),
            };
            let mut nodes = Vec::new();
            let mut bytes = 0;
            for it in table.components().iter().filter(|it| it.column.index() == position) {
                bytes += it.segment.bytes() as u64;
                nodes.extend(bytes_per_node(it.segment).into_iter().map(|it| it.0));
            }
            nodes.sort_unstable();
            nodes.dedup();
            let bits = table.parts().iter().map(|it| it.columns[position].bits()).max();
            view.row([
                table.name.as_str().into(),
                column.name.as_str().into(),
                (position as u64 + 1).into(),
                column.data_type.to_string().into(),
                column.nullable.into(),
                column.encoding_name().into(),
                u64::from(bits.unwrap_or(0)).into(),
                bytes.into(),
                list(&nodes, ",").into(),
                table.rows().into(),
                statistics.nulls.into(),
                statistics.distinct.into(),
                statistics.distinct_exact.into(),
                bound(&statistics.min).into(),
                bound(&statistics.max).into(),
                statistics.sorted.into(),
            ]);
        }
    }
    view.finish()
}

/// The columns of [`parts`].
pub(super) const PARTS: Columns = &[
    ("table_name", 't'),
    ("part", 'i'),
    ("contents", 't'),
    ("first_row", 'i'),
    ("rows", 'i'),
    ("bytes", 'i'),
    ("nodes", 't'),
];

pub(super) fn parts(database: &Database) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(PARTS);
    for table in database.tables() {
        let components = table.components();
        let mut first = 0;
        for (number, part) in table.parts().iter().enumerate() {
            let (mut bytes, mut nodes) = (0, Vec::new());
            for it in components.iter().filter(|it| it.part == Some(number)) {
                bytes += it.segment.bytes() as u64;
                nodes.extend(bytes_per_node(it.segment).into_iter().map(|it| it.0));
            }
            nodes.sort_unstable();
            nodes.dedup();
            view.row([
                table.name.as_str().into(),
                (number as u64).into(),
                contents(&table, number).into(),
                first.into(),
                (part.live_rows() as u64).into(),
                bytes.into(),
                list(&nodes, ",").into(),
            ]);
            first += part.live_rows() as u64;
        }
    }
    view.finish()
}

/// The columns of [`deltas`].
pub(super) const DELTAS: Columns = &[
    ("table_name", 't'),
    ("part", 'i'),
    ("main_rows", 'i'),
    ("deleted_rows", 'i'),
    ("deltas", 'i'),
    ("delta_rows", 'i'),
    ("delta_deleted_rows", 'i'),
];

/// What has changed of each part since it was put together.
pub(super) fn deltas(database: &Database) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(DELTAS);
    for table in database.tables() {
        let (mains, others) = table.parts().split_at(table.partitioning().parts());
        for main in mains {
            let deltas = || others.iter().filter(|it| it.number() == main.number());
            let deleted = |it: &Part| (it.rows() - it.live_rows()) as u64;
            view.row([
                table.name.as_str().into(),
                (main.number() as u64).into(),
                (main.rows() as u64).into(),
                deleted(main).into(),
                (deltas().count() as u64).into(),
                deltas().map(|it| it.rows() as u64).sum::<u64>().into(),
                deltas().map(deleted).sum::<u64>().into(),
            ]);
        }
    }
    view.finish()
}

/// What rows a part holds.
fn contents(table: &Table, place: usize) -> String {
    let part = table.parts()[place].number();
    if place >= table.partitioning().parts() {
        return format!("delta of part {part}");
    }
    match table.partitioning() {
        Partitioning::None => "all rows".into(),
        Partitioning::Hash { parts, .. } => format!("hash {part} of {parts}"),
        Partitioning::RoundRobin { parts } => format!("turn {part} of {parts}"),
        Partitioning::Range { bounds, .. } => {
            match (part.checked_sub(1).map(|it| &bounds[it]), bounds.get(part)) {
                (Some(from), Some(to)) => format!("{from} <= VALUES < {to}"),
                (Some(from), None) => format!("{from} <= VALUES"),
                (None, Some(to)) => format!("VALUES < {to}, and NULL"),
                (None, None) => "all rows".into(),
            }
        }
    }
}
