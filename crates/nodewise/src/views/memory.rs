//! The view of who holds how much memory, and where: the process, its statements, and their operators.

use arrow_array::RecordBatch;
use hardware::NodeId;
use memory::{Account, OperatorBytes};
use stdx::Bytes;
use types::SqlResult;

use super::{Columns, ViewBuilder};
use crate::Database;

/// A row of the view.
#[derive(Default)]
struct Holding {
    holder: &'static str,
    statement: Option<u64>,
    pipeline: Option<u64>,
    operator: Option<&'static str>,
    node: Option<u64>,
    bytes: Bytes,
    peak: Option<u64>,
    limit: Option<u64>,
}

/// The columns of [`memory`].
pub(super) const MEMORY: Columns = &[
    ("holder", 't'),
    ("statement", 'i'),
    ("pipeline", 'i'),
    ("operator", 't'),
    ("node", 'i'),
    ("bytes", 'i'),
    ("peak", 'i'),
    ("memory_limit", 'i'),
];

pub(super) fn memory(database: &Database) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(MEMORY);
    let mut add = |it: Holding| {
        view.row([
            it.holder.into(),
            it.statement.into(),
            it.pipeline.into(),
            it.operator.map(str::to_owned).into(),
            it.node.into(),
            it.bytes.0.into(),
            it.peak.into(),
            it.limit.into(),
        ]);
    };
    let usage = database.allocator.usage();
    let limit = database.allocator.limit().map(|it| it.0);
    let mut all = |holder: &'static str, node: Option<u64>, bytes: Bytes| {
        add(Holding { holder, node, bytes, limit, ..Holding::default() });
    };
    let node_id = |it: NodeId| Some(u64::from(it.0));
    usage.nodes.iter().for_each(|&(node, bytes)| all("mapped", node_id(node), bytes));
    all("mapped", None, usage.unplaced);
    all("unused", None, usage.retained);
    all("heap", None, memory::heap_bytes());
    let nodes: Vec<_> = usage.nodes.iter().map(|it| node_id(it.0)).chain([None]).collect();
    for record in database.statements.list() {
        let account = record.workspace.account();
        of_statement(account, record.control.statement, &nodes, &mut add);
    }
    view.finish()
}

/// The rows of a statement and of its operators, whose sums are never more than those of the statement.
fn of_statement(
    account: &Account,
    statement: u64,
    nodes: &[Option<u64>],
    add: &mut impl FnMut(Holding),
) {
    let (places, heap) = (account.places(), account.heap_bytes());
    let operators = account.operators(&places, heap);
    let mut row = |holder: &'static str, node: Option<u64>, bytes: Bytes| {
        add(Holding {
            holder,
            statement: Some(statement),
            node,
            bytes,
            peak: Some(account.peak().0),
            limit: account.limit().map(|it| it.0),
            ..Holding::default()
        });
    };
    nodes.iter().zip(&places).for_each(|(node, bytes)| row("statement", *node, *bytes));
    row("statement heap", None, heap);
    row("statement files", None, account.file_bytes());
    for OperatorBytes { pipeline, kind, places, heap, files, peak, .. } in operators {
        let mut row = |holder: &'static str, node: Option<u64>, bytes: Bytes| {
            add(Holding {
                holder,
                statement: Some(statement),
                pipeline: Some(u64::from(pipeline)),
                operator: Some(kind),
                node,
                bytes,
                peak: Some(peak.0),
                ..Holding::default()
            });
        };
        let taken = nodes.iter().zip(&places).filter(|it| it.1.0 > 0);
        taken.for_each(|(node, bytes)| row("operator", *node, *bytes));
        row("operator heap", None, heap);
        row("operator files", None, files);
    }
}
