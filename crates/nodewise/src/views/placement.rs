//! Views of where the bytes of columns are, as the page-socket maps know it (P-HANA 4.3).

use arrow_array::RecordBatch;
use hardware::NodeId;
use memory::{Location, PageRange, Segment};
use storage::{Component, PlaceTarget, Table};
use types::{SqlResult, names};

use super::{Columns, ViewBuilder};
use crate::Database;

/// The columns of [`column_placement`].
pub(super) const COLUMN_PLACEMENT: Columns = &[
    ("table_name", 't'),
    ("column_name", 't'),
    ("part", 'i'),
    ("component", 't'),
    ("copy", 'i'),
    ("node", 'i'),
    ("bytes", 'i'),
    ("placement", 't'),
];

pub(super) fn column_placement(database: &Database) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(COLUMN_PLACEMENT);
    for table in database.tables() {
        for component in placed(&table) {
            let placement = in_words(component.segment);
            let mut shares: Vec<(Option<NodeId>, u64)> = (bytes_per_node(component.segment)
                .into_iter())
            .map(|it| (Some(it.0), it.1))
            .collect();
            if shares.is_empty() {
                shares.push((None, component.segment.bytes() as u64));
            }
            for (node, bytes) in shares {
                view.row([
                    table.name.as_str().into(),
                    names::shown(&table.column(component.column).name).into(),
                    component.part.map(|it| it as u64).into(),
                    component.name.into(),
                    component.replica.map(|it| it as u64).into(),
                    node.map(|it| u64::from(it.0)).into(),
                    bytes.into(),
                    placement.as_str().into(),
                ]);
            }
        }
    }
    view.finish()
}

/// The columns of [`page_ranges`].
pub(super) const PAGE_RANGES: Columns = &[
    ("table_name", 't'),
    ("column_name", 't'),
    ("part", 'i'),
    ("component", 't'),
    ("copy", 'i'),
    ("first_page", 't'),
    ("pages", 'i'),
    ("node", 'i'),
    ("pattern", 't'),
    ("map_bits", 'i'),
];

pub(super) fn page_ranges(database: &Database) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(PAGE_RANGES);
    for table in database.tables() {
        for component in placed(&table) {
            let map = component.segment.page_map();
            for range in map.ranges() {
                let (node, pattern) = match &range.location {
                    Location::Node(node) => (Some(u64::from(node.0)), None),
                    location => (None, Some(location_in_words(location))),
                };
                view.row([
                    table.name.as_str().into(),
                    names::shown(&table.column(component.column).name).into(),
                    component.part.map(|it| it as u64).into(),
                    component.name.into(),
                    component.replica.map(|it| it as u64).into(),
                    format!("{:#x}", range.base).into(),
                    (range.pages as u64).into(),
                    node.into(),
                    pattern.into(),
                    (map.size_bits() as u64).into(),
                ]);
            }
        }
    }
    view.finish()
}

/// The columns of [`placement_demands`].
pub(super) const PLACEMENT_DEMANDS: Columns =
    &[("table_name", 't'), ("target", 't'), ("placement", 't'), ("nodes", 't'), ("deferred", 'b')];

pub(super) fn placement_demands(database: &Database) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(PLACEMENT_DEMANDS);
    for table in database.tables() {
        let base = table.preference().base();
        view.row([
            table.name.as_str().into(),
            "default".into(),
            base.name().into(),
            named(base.nodes()).into(),
            false.into(),
        ]);
        for wish in table.preference().wishes() {
            let target = match &wish.target {
                PlaceTarget::Table => "table".to_owned(),
                PlaceTarget::Column(it) => format!("column {}", table.column(*it).name),
                PlaceTarget::Part(it) => format!("part {it}"),
                PlaceTarget::Rows(it) => {
                    format!("rows {} to {}", it.start, it.end.saturating_sub(1))
                }
            };
            view.row([
                table.name.as_str().into(),
                target.into(),
                wish.placement.name().into(),
                named(wish.placement.nodes()).into(),
                wish.deferred.into(),
            ]);
        }
    }
    view.finish()
}

/// The components of a table that have bytes.
pub(crate) fn placed(table: &Table) -> Vec<Component<'_>> {
    let mut components = table.components();
    components.retain(|it| it.segment.bytes() > 0);
    components
}

/// Bytes of a segment on each node, ascending by node; they add up to its size when all of its pages are known.
pub(crate) fn bytes_per_node(segment: &Segment) -> Vec<(NodeId, u64)> {
    let map = segment.page_map();
    let (bytes, pages) = (segment.bytes() as u64, map.pages() as u64);
    let mut before = 0;
    let share = |(node, count): (NodeId, usize)| {
        // Small segments share pages, and the last page is rarely full.
        let end = before + count as u64;
        let share = bytes * end / pages - bytes * before / pages;
        before = end;
        (node, share)
    };
    map.summary().into_iter().map(share).collect()
}

/// Where a segment is, in words.
pub(crate) fn in_words(segment: &Segment) -> String {
    let ranges = segment.page_map().ranges();
    let apart = |it: &[PageRange]| it[0].location != it[1].location;
    let single = |it: &PageRange| matches!(it.location, Location::Node(_));
    match ranges.as_slice() {
        [] => "not touched yet".into(),
        [first, rest @ ..] if rest.iter().all(|it| it.location == first.location) => {
            location_in_words(&first.location)
        }
        all if all.iter().all(single) && all.windows(2).all(apart) && all.len() <= 64 => {
            let nodes: Vec<NodeId> = all.iter().map(|it| it.location.node_of(0)).collect();
            format!("split over nodes {}", list(&nodes, ", "))
        }
        all => format!("in {} ranges", all.len()),
    }
}

fn location_in_words(location: &Location) -> String {
    match location {
        Location::Node(node) => format!("node {node}"),
        Location::Interleaved { nodes, stride: 1, .. } => {
            format!("interleaved over nodes {}", list(nodes, ", "))
        }
        Location::Interleaved { nodes, stride, .. } => {
            format!("interleaved over nodes {} by {stride} pages", list(nodes, ", "))
        }
    }
}

/// Numbers of nodes as text.
pub(crate) fn list(nodes: &[NodeId], between: &str) -> String {
    nodes.iter().map(ToString::to_string).collect::<Vec<_>>().join(between)
}

fn named(nodes: &[NodeId]) -> Option<String> {
    (!nodes.is_empty()).then(|| list(nodes, ", "))
}
