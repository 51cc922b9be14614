//! Partitions for whose rows there is no memory: where all functions only look back (numbers, ranks, and aggregates from the
//! first row of the partition to the current one), the partition is cut into segments between peers. They are computed one
//! after the other, and each begins with what those before it have left.

use plan::{AggregateFunction, Exclusion, FrameUnit, WindowFunction};
use types::SqlResult;

use super::bounds::{Bound, KnownFrame};
use super::call::CompiledCall;
use super::keys::Begins;
use super::states::FrameStates;
use super::sums::FrameSums;
use super::unit::{Common, Piece};
use crate::WorkContext;
use crate::aggregate::Wide;
use crate::sort::KeyEncoder;

/// What a function has of the rows of a partition that are in segments before.
pub(super) struct Before {
    pub(super) rows: usize,
    /// Groups of its peers.
    pub(super) groups: usize,
    /// Rows that an aggregate counts.
    pub(super) counted: usize,
    pub(super) exact: Wide,
    pub(super) floats: FrameSums,
    pub(super) states: Option<FrameStates>,
}

impl Default for Before {
    fn default() -> Self {
        let (exact, floats) = (Wide { low: 0, carry: 0 }, FrameSums::default());
        Self { rows: 0, groups: 0, counted: 0, exact, floats, states: None }
    }
}

/// Whether a row's value depends on no row behind its peers, and what is before can be told in short.
fn looks_back(call: &CompiledCall, frame: &KnownFrame) -> bool {
    use AggregateFunction::{AnyValue, Max, Min};
    match call.function {
        WindowFunction::RowNumber | WindowFunction::Rank | WindowFunction::DenseRank => true,
        WindowFunction::Aggregate(function) => {
            let grows = matches!((frame.start, frame.end), (Bound::Unbounded, Bound::CurrentRow));
            let is_whole = frame.exclusion == Exclusion::Nothing;
            grows && is_whole && !matches!(function, AnyValue | Max | Min)
        }
        _ => false,
    }
}

/// Whether peers have one value, and have to be in one segment.
fn is_of_peers(call: &CompiledCall, frame: &KnownFrame) -> bool {
    match call.function {
        WindowFunction::RowNumber => false,
        WindowFunction::Aggregate(_) => frame.unit != FrameUnit::Rows,
        _ => true,
    }
}

/// The leading keys of the order between whose groups a partition may be cut: none where it may be cut between any rows.
/// `None` if it cannot be cut.
pub(super) fn order_of_segments(common: &Common<'_>) -> Option<Option<usize>> {
    let calls = || common.calls.iter().zip(common.frames);
    if !calls().all(|it| looks_back(it.0, it.1)) {
        return None;
    }
    let order = calls().filter(|it| is_of_peers(it.0, it.1)).map(|it| it.0.order).min();
    // Without an order all rows are peers.
    (order != Some(0)).then_some(order)
}

/// Cuts the pieces of a partition into segments of about so many rows, each of which begins with a group by `keys`.
pub(super) fn segments(
    pieces: &[Piece],
    rows: usize,
    keys: Option<&KeyEncoder>,
    common: &Common<'_>,
    context: &WorkContext,
) -> SqlResult<Vec<Vec<Piece>>> {
    let mut segments: Vec<Vec<Piece>> = vec![Vec::new()];
    let mut count = 0;
    for piece in pieces {
        let mut begin = piece.rows.start;
        if count >= rows {
            let place = match keys {
                None => Some(0),
                Some(keys) => Begins::of(keys, &piece.read(common.sorted, context)?)?.inside(),
            };
            if let Some(place) = place {
                let cut = begin + place as usize;
                push(&mut segments, piece.batch, begin..cut, count);
                segments.push(Vec::new());
                (begin, count) = (cut, 0);
            }
        }
        push(&mut segments, piece.batch, begin..piece.rows.end, count);
        count += piece.rows.end - begin;
    }
    Ok(segments)
}

/// Adds rows of a batch to the last segment, which has so many before them.
fn push(segments: &mut [Vec<Piece>], batch: usize, rows: std::ops::Range<usize>, first: usize) {
    if let Some(segment) = segments.last_mut().filter(|_| !rows.is_empty()) {
        segment.push(Piece { batch, rows, first });
    }
}
