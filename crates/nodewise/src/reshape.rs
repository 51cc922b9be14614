//! What ALTER TABLE does to the parts and places of a table, step by step, once names and nodes are found. The log keeps
//! these steps, and replays them by the same function.

use storage::{BuildContext, Partitioning, PlaceTarget, Placement, Table};
use types::{SqlResult, Value};

use hardware::NodeId;

/// One step.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Reshape {
    /// Places a part of it, or all.
    Place { target: PlaceTarget, placement: Placement, deferred: bool },
    /// Does what was deferred.
    FollowDeferred,
    /// Cuts it into other parts, on these nodes; none for all.
    Partition { partitioning: Partitioning, nodes: Vec<NodeId> },
    /// Makes one part of this and the next.
    MergePart { first: usize },
    /// Cuts a part of ranges in two.
    SplitPart { at: Value },
    /// Puts it together anew.
    Merge,
}

impl Reshape {
    fn apply(&self, table: &Table, context: &BuildContext<'_>) -> SqlResult<Table> {
        let topology = context.allocator.machine().topology();
        match self {
            Self::Place { target, placement, deferred: true } => {
                table.deferred(target, placement, topology)
            }
            Self::Place { target, placement, deferred: false } => {
                table.placed(target, placement, context)
            }
            Self::FollowDeferred => table.follow_deferred(context),
            Self::Partition { partitioning, nodes } => {
                table.repartitioned(partitioning, nodes, context)
            }
            Self::MergePart { first } => table.merge_parts(*first, context),
            Self::SplitPart { at } => table.split_part(at, context),
            Self::Merge => table.merged(context),
        }
    }
}

/// What some steps make of a table; nothing when there are none.
pub(crate) fn reshaped(
    table: &Table,
    steps: &[Reshape],
    context: &BuildContext<'_>,
) -> SqlResult<Option<Table>> {
    let mut made = None;
    for step in steps {
        made = Some(step.apply(made.as_ref().unwrap_or(table), context)?);
    }
    Ok(made)
}
