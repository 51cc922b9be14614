//! Building an inverted index: a counting sort of positions by value, in parallel.
//!
//! Keys are dealt into at most 1,024 partitions of neighbouring buckets: each chunk of rows counts, then writes into its
//! own places of each partition, so no two tasks share a byte. A partition is then counted and sorted by one task within
//! the cache, and is contiguous in both result vectors.

use std::ops::Range;

use memory::Segment;
use stdx::sync::Mutex;
use types::SqlResult;

use super::keys::Keys;
use crate::build::pack::bits_for;
use crate::parallel::{for_each, map};
use crate::{BLOCK_ROWS, BuildContext, Column, IndexVector};

/// Partitions at most: their write cursors stay in the first-level cache.
const PARTITIONS: usize = 1024;

/// Rows of a partition, where there are not too many: so few that sorting them stays in a near cache, and so many that what a
/// partition costs by itself does not count.
const PARTITION_ROWS: usize = 2048;

/// How the rows of a column fall into buckets.
pub(crate) struct Order {
    pub(crate) least: u64,
    pub(crate) shift: u32,
    buckets: usize,
    /// Whether equal buckets are equal values.
    exact: bool,
}

/// A row and what decides its order.
type Entry = (u64, u32);

/// The two vectors of an index before they are packed.
pub(crate) struct Sorted {
    pub(crate) starts: Vec<u32>,
    pub(crate) positions: Vec<u32>,
}

impl Order {
    pub(crate) fn of(keys: &Keys<'_>, context: &BuildContext<'_>) -> SqlResult<Self> {
        let range = match keys {
            // Known without a look at the rows.
            Keys::Codes(column) => (column.code_count() as u64).checked_sub(1).map(|it| (0, it)),
            _ => range_of(keys, context)?,
        };
        let Some((least, greatest)) = range else {
            return Ok(Self { least: 0, shift: 0, buckets: 0, exact: true });
        };
        let span = greatest - least;
        // Some codes may stand for no row; beyond twice the rows, a directory of all of them does not pay.
        let rows = keys.rows() as u64;
        let dense = matches!(keys, Keys::Codes(_)) && span <= 2 * rows + 64;
        let bound = rows.max(64);
        let mut shift = 0;
        while !dense && span >> shift >= bound {
            shift += 1;
        }
        let exact = shift == 0 && !matches!(keys, Keys::Texts(..));
        Ok(Self { least, shift, buckets: (span >> shift) as usize + 1, exact })
    }

    fn bucket(&self, key: u64) -> usize {
        ((key - self.least) >> self.shift) as usize
    }
}

fn chunk_of(rows: usize, chunks: usize, chunk: usize) -> Range<usize> {
    let blocks = rows.div_ceil(BLOCK_ROWS);
    let at = |chunk: usize| (blocks * chunk / chunks * BLOCK_ROWS).min(rows);
    at(chunk)..at(chunk + 1)
}

fn chunks_of(rows: usize, context: &BuildContext<'_>) -> usize {
    rows.div_ceil(BLOCK_ROWS).clamp(1, 2 * context.parallel.width().max(1))
}

/// The least and the greatest key of the rows that are not NULL.
fn range_of(keys: &Keys<'_>, context: &BuildContext<'_>) -> SqlResult<Option<(u64, u64)>> {
    let chunks = chunks_of(keys.rows(), context);
    let ranges = map(context.parallel, chunks, |chunk| {
        let mut range: Option<(u64, u64)> = None;
        each_key(keys, chunk_of(keys.rows(), chunks, chunk), |key, _| {
            let (low, high) = range.unwrap_or((key, key));
            range = Some((low.min(key), high.max(key)));
        });
        range
    })?;
    Ok(ranges.into_iter().flatten().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))))
}

/// Calls `body` with the key and the position of each row that is not NULL.
fn each_key(keys: &Keys<'_>, rows: Range<usize>, mut body: impl FnMut(u64, u32)) {
    match keys {
        Keys::Codes(column) => each_code(column, rows, body),
        Keys::Words(column) | Keys::Texts(column, _) => {
            let some_null = column.statistics.nulls > 0;
            for row in rows.filter(|&row| !(some_null && column.is_null(row))) {
                body(keys.key(row), row as u32);
            }
        }
        Keys::Hashes(hashes) => {
            for row in rows.filter(|&row| hashes[row] != u64::MAX) {
                body(hashes[row], row as u32);
            }
        }
    }
}

fn each_code(column: &Column, rows: Range<usize>, mut body: impl FnMut(u64, u32)) {
    // A code past the values is NULL's.
    let values = column.code_count() as u64;
    let mut buffer = [0u32; 4096];
    for first in rows.clone().step_by(buffer.len()) {
        let step = first..(first + buffer.len()).min(rows.end);
        let codes = &mut buffer[..step.len()];
        bitpack::unpack_u32(column.packed(), column.bits(), first, codes);
        for (&code, row) in codes.iter().zip(step) {
            if u64::from(code) < values {
                body(u64::from(code), row as u32);
            }
        }
    }
}

/// Sorts the rows of a column that are not NULL by (value, position).
pub(crate) fn sort(
    keys: &Keys<'_>,
    order: &Order,
    context: &BuildContext<'_>,
) -> SqlResult<Sorted> {
    // Buckets per partition are a power of two, so that a partition is found by a shift.
    let wanted = keys.rows().div_ceil(PARTITION_ROWS).clamp(1, PARTITIONS);
    let width_bits = order.buckets.div_ceil(wanted).max(1).next_power_of_two().trailing_zeros();
    let partitions = order.buckets.div_ceil(1 << width_bits);
    let chunks = chunks_of(keys.rows(), context);
    let counts = map(context.parallel, chunks, |chunk| {
        let mut counts = vec![0usize; partitions];
        each_key(keys, chunk_of(keys.rows(), chunks, chunk), |key, _| {
            counts[order.bucket(key) >> width_bits] += 1;
        });
        counts
    })?;
    context.check_cancelled()?;
    let sizes: Vec<usize> =
        (0..partitions).map(|it| counts.iter().map(|counts| counts[it]).sum()).collect();
    let total = sizes.iter().sum();
    let mut entries: Vec<Entry> = vec![(0, 0); total];
    let places = deal(&mut entries, &counts, partitions);
    for_each(context.parallel, places, |chunk, mut places| {
        each_key(keys, chunk_of(keys.rows(), chunks, chunk), |key, row| {
            let place = &mut places[order.bucket(key) >> width_bits];
            if let Some((first, rest)) = std::mem::take(place).split_first_mut() {
                *first = (key, row);
                *place = rest;
            }
        });
    })?;
    context.check_cancelled()?;
    let mut sorted = Sorted { starts: vec![0; order.buckets + 1], positions: vec![0; total] };
    if let Some(end) = sorted.starts.last_mut() {
        *end = total as u32;
    }
    let parts = cut(&mut entries, &mut sorted, &sizes, 1 << width_bits);
    for_each(context.parallel, parts, |index, part| {
        part.sort(keys, order, index << width_bits);
    })?;
    context.check_cancelled()?;
    Ok(sorted)
}

/// For each chunk its own places of each partition: partitions one after the other, within each the chunks in order.
fn deal<'a>(
    mut entries: &'a mut [Entry],
    counts: &[Vec<usize>],
    partitions: usize,
) -> Vec<Vec<&'a mut [Entry]>> {
    let mut places: Vec<Vec<&mut [Entry]>> =
        counts.iter().map(|_| Vec::with_capacity(partitions)).collect();
    for partition in 0..partitions {
        for (chunk, counts) in counts.iter().enumerate() {
            let (own, rest) = entries.split_at_mut(counts[partition]);
            places[chunk].push(own);
            entries = rest;
        }
    }
    places
}

/// Neighbouring buckets and their rows.
struct Part<'a> {
    entries: &'a mut [Entry],
    starts: &'a mut [u32],
    positions: &'a mut [u32],
    /// Rows in the partitions before.
    base: usize,
}

fn cut<'a>(
    mut entries: &'a mut [Entry],
    sorted: &'a mut Sorted,
    sizes: &[usize],
    width: usize,
) -> Vec<Part<'a>> {
    let (mut starts, mut positions) = (&mut sorted.starts[..], &mut sorted.positions[..]);
    let mut base = 0;
    let mut parts = Vec::with_capacity(sizes.len());
    for &size in sizes {
        let own = entries.split_at_mut(size);
        // The last entry is the end of all runs, and nobody's.
        let own_starts = starts.split_at_mut(width.min(starts.len() - 1));
        let own_positions = positions.split_at_mut(size);
        let (entries_here, starts_here, positions_here) = (own.0, own_starts.0, own_positions.0);
        (entries, starts, positions) = (own.1, own_starts.1, own_positions.1);
        parts.push(Part {
            entries: entries_here,
            starts: starts_here,
            positions: positions_here,
            base,
        });
        base += size;
    }
    parts
}

impl Part<'_> {
    /// Counts the buckets and puts the positions in order; `first` is its first bucket.
    fn sort(self, keys: &Keys<'_>, order: &Order, first: usize) {
        let Self { entries, starts, positions, base } = self;
        let bucket = |key: u64| order.bucket(key) - first;
        if !order.exact {
            entries.sort_unstable_by(|a, b| {
                let tie = || keys.tie(a.1 as usize).cmp(&keys.tie(b.1 as usize));
                a.0.cmp(&b.0).then_with(tie).then(a.1.cmp(&b.1))
            });
        }
        let mut next = vec![0u32; starts.len()];
        for &(key, _) in entries.iter() {
            next[bucket(key)] += 1;
        }
        let mut start = 0;
        for (place, next) in starts.iter_mut().zip(&mut next) {
            *place = base as u32 + start;
            start += std::mem::replace(next, start);
        }
        // Entries of one bucket stand in the order they shall have, so the pass is stable for them.
        for &(key, row) in entries.iter() {
            let next = &mut next[bucket(key)];
            positions[*next as usize] = row;
            *next += 1;
        }
    }
}

/// Numbers into an index vector as narrow as they allow, blocks in parallel.
pub(crate) fn pack(
    numbers: &[u32],
    context: &BuildContext<'_>,
    place: &dyn Fn(usize) -> SqlResult<Segment>,
) -> SqlResult<IndexVector> {
    let bits = bits_for(numbers.iter().copied().max().unwrap_or(0) as usize);
    let mut segment = place(bitpack::packed_bytes(numbers.len(), bits))?;
    let blocks: Vec<&[u32]> = numbers.chunks(BLOCK_ROWS).collect();
    let end = |it: usize| ((it + 1) * BLOCK_ROWS).min(numbers.len());
    let ends: Vec<usize> =
        (0..blocks.len()).map(|it| bitpack::byte_range(0, end(it), bits).end).collect();
    let mut parts = segment.split_mut(&ends);
    if let Some(padding) = parts.pop() {
        padding.fill(0);
    }
    let work = blocks.into_iter().zip(parts).map(|it| Mutex::new(Some(it))).collect::<Vec<_>>();
    map(context.parallel, work.len(), |index| {
        if let Some((numbers, bytes)) = work[index].lock().take() {
            bitpack::pack(numbers, bits, bytes, 0);
        }
    })?;
    drop(work);
    Ok(IndexVector::new(segment, bits, numbers.len()))
}
