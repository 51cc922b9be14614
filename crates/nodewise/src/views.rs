//! The system views of schema `nodewise`, each made anew from what the parts of the database know about themselves.

use arrow_array::builder::{BooleanBuilder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use stdx::sync::Arc;
use types::{SqlError, SqlResult};

use crate::settings::Settings;
use crate::{Database, index_view};

/// The schema that holds the views.
pub const SCHEMA: &str = "nodewise";

/// The names of all views.
pub const NAMES: [&str; 9] = [
    "tables",
    "columns",
    index_view::NAME,
    "nodes",
    "cpus",
    "workers",
    "jobs",
    "traffic",
    "settings",
];

/// The rows of a view; `None` when there is no such view.
pub fn rows_of(
    name: &str,
    database: &Database,
    settings: &Settings,
) -> Option<SqlResult<RecordBatch>> {
    Some(match name {
        "tables" => tables(database),
        "columns" => columns(database),
        index_view::NAME => index_view::rows(database),
        "nodes" => nodes(database),
        "cpus" => cpus(database),
        "workers" => workers(database),
        "jobs" => jobs(database),
        "traffic" => traffic(database),
        "settings" => all_settings(database, settings),
        _ => return None,
    })
}

/// Collects a view row by row.
struct ViewBuilder {
    fields: Vec<Field>,
    columns: Vec<Cells>,
}

enum Cells {
    Text(StringBuilder),
    Integer(Int64Builder),
    Boolean(BooleanBuilder),
}

/// One cell of a view.
enum Cell {
    Text(String),
    Integer(Option<i64>),
    Boolean(bool),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}
impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}
impl From<u64> for Cell {
    fn from(value: u64) -> Self {
        Self::Integer(i64::try_from(value).ok())
    }
}
impl From<Option<u64>> for Cell {
    fn from(value: Option<u64>) -> Self {
        Self::Integer(value.and_then(|it| i64::try_from(it).ok()))
    }
}
impl From<bool> for Cell {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl ViewBuilder {
    /// Columns by name; `t` text, `i` integer, `b` Boolean.
    fn new(columns: &[(&str, char)]) -> Self {
        let field = |&(name, kind): &(&str, char)| {
            let data_type = match kind {
                'i' => DataType::Int64,
                'b' => DataType::Boolean,
                _ => DataType::Utf8,
            };
            Field::new(name, data_type, true)
        };
        let cells = |&(_, kind): &(&str, char)| match kind {
            'i' => Cells::Integer(Int64Builder::new()),
            'b' => Cells::Boolean(BooleanBuilder::new()),
            _ => Cells::Text(StringBuilder::new()),
        };
        Self {
            fields: columns.iter().map(field).collect(),
            columns: columns.iter().map(cells).collect(),
        }
    }

    fn row<const N: usize>(&mut self, row: [Cell; N]) {
        for (cells, cell) in self.columns.iter_mut().zip(row) {
            match (cells, cell) {
                (Cells::Text(it), Cell::Text(text)) => it.append_value(text),
                (Cells::Integer(it), Cell::Integer(value)) => it.append_option(value),
                (Cells::Boolean(it), Cell::Boolean(value)) => it.append_value(value),
                _ => unreachable!("invariant: a view writes the columns that it declares"),
            }
        }
    }

    fn finish(self) -> SqlResult<RecordBatch> {
        let finish = |it: Cells| -> ArrayRef {
            match it {
                Cells::Text(mut it) => Arc::new(it.finish()),
                Cells::Integer(mut it) => Arc::new(it.finish()),
                Cells::Boolean(mut it) => Arc::new(it.finish()),
            }
        };
        let columns = self.columns.into_iter().map(finish).collect();
        RecordBatch::try_new(Arc::new(Schema::new(self.fields)), columns)
            .map_err(|error| SqlError::internal(format!("a view is malformed: {error}")))
    }
}

fn tables(database: &Database) -> SqlResult<RecordBatch> {
    let mut view =
        ViewBuilder::new(&[("table_name", 't'), ("rows", 'i'), ("columns", 'i'), ("bytes", 'i')]);
    for table in database.tables() {
        view.row([
            table.name.as_str().into(),
            table.rows().into(),
            (table.columns.len() as u64).into(),
            table.memory_bytes().into(),
        ]);
    }
    view.finish()
}

fn columns(database: &Database) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(&[
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
    ]);
    for table in database.tables() {
        for (position, column) in table.columns.iter().enumerate() {
            let statistics = &column.statistics;
            let bound =
                |it: &Option<types::Value>| it.as_ref().map_or(String::new(), |it| it.to_string());
            let nodes: Vec<String> =
                column.bytes_per_node().iter().map(|it| it.0.to_string()).collect();
            view.row([
                table.name.as_str().into(),
                column.name.as_str().into(),
                (position as u64 + 1).into(),
                column.data_type.to_string().into(),
                column.nullable.into(),
                column.encoding_name().into(),
                u64::from(column.bits()).into(),
                column.memory_bytes().into(),
                nodes.join(",").into(),
                (column.rows() as u64).into(),
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

fn nodes(database: &Database) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(&[
        ("node", 'i'),
        ("socket", 'i'),
        ("cpus", 'i'),
        ("memory_total", 'i'),
        ("memory_free", 'i'),
        ("memory_used", 'i'),
        ("allowed", 'b'),
        ("distances", 't'),
        ("read_bandwidth_mb_s", 'i'),
        ("read_latency_ns", 'i'),
    ]);
    let topology = database.machine.topology();
    let usage = database.allocator.usage();
    for (index, node) in topology.nodes.iter().enumerate() {
        let distances: Vec<String> =
            topology.distances[index].iter().map(ToString::to_string).collect();
        let used = usage.nodes.iter().find(|it| it.0 == node.id).map_or(0, |it| it.1.0);
        view.row([
            u64::from(node.id.0).into(),
            u64::from(node.socket.0).into(),
            (topology.cpus_of(node.id).count() as u64).into(),
            node.memory_total.0.into(),
            node.memory_free.0.into(),
            used.into(),
            node.allowed.into(),
            distances.join(" ").into(),
            node.read_bandwidth_mb_s.into(),
            node.read_latency_ns.into(),
        ]);
    }
    view.finish()
}

fn cpus(database: &Database) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(&[
        ("cpu", 'i'),
        ("node", 'i'),
        ("socket", 'i'),
        ("core", 'i'),
        ("llc", 'i'),
    ]);
    for cpu in &database.machine.topology().cpus {
        view.row([
            u64::from(cpu.id.0).into(),
            u64::from(cpu.node.0).into(),
            u64::from(cpu.socket.0).into(),
            u64::from(cpu.core).into(),
            u64::from(cpu.llc.0).into(),
        ]);
    }
    view.finish()
}

fn workers(database: &Database) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(&[
        ("worker", 'i'),
        ("cpu", 'i'),
        ("node", 'i'),
        ("llc", 'i'),
        ("state", 't'),
        ("morsels", 'i'),
        ("stolen", 'i'),
        ("busy_ns", 'i'),
    ]);
    for worker in database.scheduler.stats().workers {
        view.row([
            (worker.worker.index() as u64).into(),
            u64::from(worker.cpu.0).into(),
            u64::from(worker.node.0).into(),
            u64::from(worker.llc.0).into(),
            format!("{:?}", worker.state).to_lowercase().into(),
            worker.morsels.into(),
            worker.stolen.into(),
            worker.busy.0.into(),
        ]);
    }
    view.finish()
}

fn jobs(database: &Database) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(&[
        ("job", 'i'),
        ("class", 'i'),
        ("statement", 'i'),
        ("hard", 'b'),
        ("morsels", 'i'),
        ("rows_waiting", 'i'),
        ("workers", 'i'),
    ]);
    for job in database.scheduler.stats().jobs {
        view.row([
            job.job.0.into(),
            u64::from(job.class).into(),
            job.statement.into(),
            job.hard.into(),
            job.morsels.into(),
            job.waiting.into(),
            (job.workers as u64).into(),
        ]);
    }
    view.finish()
}

fn traffic(database: &Database) -> SqlResult<RecordBatch> {
    let mut view =
        ViewBuilder::new(&[("running_node", 'i'), ("memory_node", 'i'), ("bytes_read", 'i')]);
    for (running, memory, bytes) in database.traffic.snapshot() {
        view.row([u64::from(running.0).into(), u64::from(memory.0).into(), bytes.into()]);
    }
    view.finish()
}

fn all_settings(database: &Database, settings: &Settings) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(&[("name", 't'), ("value", 't'), ("description", 't')]);
    for setting in settings.list() {
        view.row([setting.name.into(), setting.value.into(), setting.description.into()]);
    }
    for restriction in database.machine.restrictions() {
        view.row([
            format!("machine.{}", restriction.call).into(),
            "refused".into(),
            restriction.consequence.into(),
        ]);
    }
    view.finish()
}
