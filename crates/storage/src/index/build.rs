//! The index of a column, sorted and packed on the nodes of its codes.

use hardware::{NodeId, PagePolicy};
use memory::Segment;
use types::SqlResult;

use super::InvertedIndex;
use super::keys::Keys;
use super::sort::{Order, pack, sort};
use crate::{BuildContext, Column};

impl InvertedIndex {
    /// Builds the index of a column that holds rows, by a counting sort over the workers of `context`. `None` when the
    /// column has no rows of its own.
    pub fn build(column: &Column, context: &BuildContext<'_>) -> SqlResult<Option<Self>> {
        let Some(keys) = Keys::of(column) else { return Ok(None) };
        let place = |bytes: usize| {
            let segment = context.allocator.allocate(bytes, policy_of(column.iv().segment()));
            segment.map_err(crate::place::out_of_memory)
        };
        let order = Order::of(&keys, context)?;
        let sorted = sort(&keys, &order, context)?;
        let starts = pack(&sorted.starts, context, &place)?;
        let positions = pack(&sorted.positions, context, &place)?;
        let (least, shift, prefix) = (order.least, order.shift, keys.prefix());
        Ok(Some(Self { least, shift, prefix, starts, positions }))
    }
}

/// Where an index goes: on the nodes of the index vector, as its dictionary does.
fn policy_of(segment: &Segment) -> PagePolicy {
    let nodes: Vec<NodeId> = segment.page_map().summary().iter().map(|it| it.0).collect();
    match nodes[..] {
        [] => PagePolicy::FirstTouch,
        [node] => PagePolicy::Node(node),
        _ => PagePolicy::Interleave(nodes),
    }
}
