//! Where the bytes of a column's segments shall be, and where they are.

use std::ops::Range;

use hardware::PagePolicy;
use memory::{Location, PageSocketMap, Segment};
use placement::{ColumnPlacement, ColumnShape};
use stdx::sync::Arc;

use crate::place::ColumnPlace;
use crate::{Column, Encoding, PlainStrings};

/// Where the bytes of a segment shall be; what no range covers stays.
pub(super) type Places = Vec<(Range<usize>, PagePolicy)>;

/// What is decided for a column as a whole.
pub(super) fn decided_for(place: &ColumnPlace<'_>, column: &Column) -> ColumnPlacement {
    let bytes_iv = bytes_of_rows_segment(column);
    let bits = if column.bits() == 0 { 8 } else { column.bits() };
    place.decide(&ColumnShape { bits, bytes_iv, bytes_dictionary: 0 })
}

/// Bytes of what belongs to rows: codes, or the texts of a plain column.
pub(super) fn bytes_of_rows_segment(column: &Column) -> usize {
    match &column.encoding {
        Encoding::Plain(PlainStrings::Own(texts)) => texts.stored().bytes_segment().bytes(),
        _ => column.iv().segment().bytes(),
    }
}

/// Where a segment of a column goes, as when it is built.
pub(super) fn places_of(
    place: &ColumnPlace<'_>,
    column: &Column,
    name: &str,
    segment: &Segment,
) -> Places {
    let bytes = segment.bytes();
    let bits = match name {
        "iv" => column.bits(),
        "nulls" => 1,
        "texts" => 8,
        "ends" => (bytes / column.rows().max(1) * 8) as u32,
        _ => return vec![(0..bytes, decided_for(place, column).dictionary)],
    };
    place.decide(&ColumnShape { bits, bytes_iv: bytes, bytes_dictionary: 0 }).iv
}

/// The bytes that a segment holds of some rows; `None` when what it holds does not belong to rows.
pub(super) fn bytes_of_rows(
    column: &Column,
    name: &str,
    segment: &Segment,
    rows: &Range<usize>,
) -> Option<Range<usize>> {
    let bits = match (name, &column.encoding) {
        ("iv", _) => column.bits(),
        ("nulls", _) => 1,
        ("ends", _) => (segment.bytes() / column.rows().max(1) * 8) as u32,
        ("texts", Encoding::Plain(PlainStrings::Own(texts))) => {
            let start = texts.stored().range(rows.start).start;
            let end = texts.stored().range(rows.end - 1).end;
            return (start < end).then_some(whole(start..end, segment));
        }
        _ => return None,
    };
    let bytes = bitpack::byte_range(rows.start, rows.len(), bits);
    (!bytes.is_empty()).then_some(whole(bytes, segment))
}

/// A range of bytes grown to whole pages of a segment.
fn whole(bytes: Range<usize>, segment: &Segment) -> Range<usize> {
    let page = segment.page_map().page_bytes();
    bytes.start / page * page..bytes.end.next_multiple_of(page).min(segment.bytes())
}

/// Ranges whose cuts fall on pages.
pub(super) fn whole_pages(places: Places, segment: &Segment) -> Places {
    let page = segment.page_map().page_bytes();
    let last = places.last().map_or(0, |it| it.0.end);
    let round = |at: usize| if at == last { at } else { at / page * page };
    let cut = places.into_iter().map(|(it, policy)| (round(it.start)..round(it.end), policy));
    cut.filter(|it| !it.0.is_empty()).collect()
}

/// Some places with others laid over them.
pub(super) fn overlay(under: Places, over: Places) -> Places {
    let mut result = Places::new();
    for (range, policy) in under {
        let mut rest = vec![range];
        for (hole, _) in &over {
            let cut = |it: Range<usize>| {
                [it.start..it.end.min(hole.start), it.start.max(hole.end)..it.end]
            };
            rest = rest.into_iter().flat_map(cut).filter(|it| it.start < it.end).collect();
        }
        result.extend(rest.into_iter().map(|it| (it, policy.clone())));
    }
    result.extend(over);
    result.sort_by_key(|it| it.0.start);
    result
}

/// Where the pages of a segment are, as places.
pub(super) fn places_now(segment: &Segment) -> Places {
    let map: Arc<PageSocketMap> = segment.page_map();
    let base = segment.address();
    let ranges = map.ranges().into_iter().map(|it| {
        let start = it.base.saturating_sub(base);
        let end = (it.base + it.pages * map.page_bytes() - base).min(segment.bytes());
        let policy = match &it.location {
            Location::Node(node) => PagePolicy::Node(*node),
            Location::Interleaved { nodes, .. } => PagePolicy::Interleave(nodes.clone()),
        };
        (start..end, policy)
    });
    ranges.filter(|it| !it.0.is_empty()).collect()
}

/// Whether a segment is where it shall be, as far as that can be told.
pub(super) fn is_there(segment: &Segment, places: &Places) -> bool {
    let map = segment.page_map();
    let base = segment.address();
    places.iter().all(|(range, policy)| {
        let PagePolicy::Node(node) = policy else { return false };
        let under = map.subset(base + range.start, range.len());
        let first = (base + range.start) / map.page_bytes();
        let pages = (base + range.end).div_ceil(map.page_bytes()) - first;
        under.summary() == [(*node, pages)]
    })
}
