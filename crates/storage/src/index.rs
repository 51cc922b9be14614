//! The inverted index (IX): from a value to the positions that hold it (P-HANA 4.1; docs/design/01-storage.md,
//! "inverted index").
//!
//! Two bit-packed vectors in placed segments. *Positions* holds every row that is not NULL, in the order of
//! (value, position). *Starts* says where the run of each bucket of values begins. A bucket is one code as long as the
//! codes are dense, and then the index is the paper's: vid -> run of positions. Where the codes of an offset column are
//! far more than its rows, and in columns without codes, a bucket is 2^shift neighbouring keys: there are never more
//! buckets than rows, and the few positions of a bucket are told apart by a binary search over the column itself. So
//! one form serves all encodings, a lookup touches one entry of starts and a handful of positions, and the size is bounded
//! by the rows. Texts without codes are keyed by the eight bytes behind the prefix that all of them share.

use std::borrow::Cow;
use std::ops::{Bound, Range};

use hardware::{NodeId, PagePolicy};
use memory::Segment;
use stdx::sync::Arc;
use types::{DataType, SqlResult, Value};

use crate::dictionary::Move;
use crate::index_build::{self, Order};
use crate::{BuildContext, CodeRange, Column, Encoding, IndexVector, PlainStrings};

/// From values to the positions that hold them. NULL is in no run.
#[derive(Debug)]
pub struct InvertedIndex {
    /// The least key that a row has.
    least: u64,
    /// A bucket is this many bits of keys wide.
    shift: u32,
    /// Bytes that all texts begin with; they are no part of a key.
    prefix: usize,
    /// For each bucket the first slot of its run, and the end of the last.
    starts: IndexVector,
    /// Positions by (value, position).
    positions: IndexVector,
}

/// What a column is ordered by, as far as 64 bits tell: codes, words, or the first bytes of texts.
pub(crate) enum Keys<'a> {
    /// The codes of a column, which decide its order.
    Codes(&'a Column),
    /// The words of a raw column, which decide its order.
    Words(&'a Column),
    /// The texts of a plain column behind their common prefix; equal keys are ordered by the whole texts.
    Texts(&'a Column, usize),
    /// Hashes of rows, to find equal rows; the greatest number marks rows to leave out.
    Hashes(&'a [u64]),
}

impl<'a> Keys<'a> {
    fn of(column: &'a Column) -> Option<Self> {
        match &column.encoding {
            Encoding::Offset { .. } | Encoding::Dictionary(_) => Some(Self::Codes(column)),
            Encoding::Raw => Some(Self::Words(column)),
            Encoding::Plain(_) => Some(Self::Texts(column, common_prefix(column))),
            Encoding::Parts => None,
        }
    }

    /// The key of a row that is not NULL.
    #[inline]
    pub(crate) fn key(&self, row: usize) -> u64 {
        match self {
            Self::Codes(column) | Self::Words(column) => column.iv().get(row),
            Self::Texts(column, prefix) => text_key(&text_at(column, row), *prefix),
            Self::Hashes(hashes) => hashes[row],
        }
    }

    /// The whole text of a row, where the key does not decide.
    #[inline]
    pub(crate) fn tie(&self, row: usize) -> Cow<'_, [u8]> {
        match self {
            Self::Codes(_) | Self::Words(_) | Self::Hashes(_) => Cow::Borrowed(&[]),
            Self::Texts(column, _) => text_at(column, row),
        }
    }

    /// All rows, those without a key included.
    pub(crate) fn rows(&self) -> usize {
        match self {
            Self::Codes(column) | Self::Words(column) | Self::Texts(column, _) => column.rows(),
            Self::Hashes(hashes) => hashes.len(),
        }
    }

    fn prefix(&self) -> usize {
        match self {
            Self::Texts(_, prefix) => *prefix,
            Self::Codes(_) | Self::Words(_) | Self::Hashes(_) => 0,
        }
    }
}

fn text_at(column: &Column, row: usize) -> Cow<'_, [u8]> {
    match &column.encoding {
        Encoding::Plain(PlainStrings::Own(texts)) => texts.bytes_at(row),
        _ => Cow::Borrowed(&[]),
    }
}

/// Eight bytes behind the prefix, whose order is that of the texts unless they are equal.
fn text_key(text: &[u8], prefix: usize) -> u64 {
    let rest = text.get(prefix..).unwrap_or_default();
    let mut bytes = [0; 8];
    let length = rest.len().min(8);
    bytes[..length].copy_from_slice(&rest[..length]);
    u64::from_be_bytes(bytes)
}

/// Bytes that the least and the greatest text share: all between share them too.
fn common_prefix(column: &Column) -> usize {
    match (&column.statistics.min, &column.statistics.max) {
        (Some(Value::Text(min)), Some(Value::Text(max))) => {
            min.bytes().zip(max.bytes()).take_while(|(a, b)| a == b).count()
        }
        _ => 0,
    }
}

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
        let sorted = index_build::sort(&keys, &order, context)?;
        let starts = index_build::pack(&sorted.starts, context, &place)?;
        let positions = index_build::pack(&sorted.positions, context, &place)?;
        let (least, shift, prefix) = (order.least, order.shift, keys.prefix());
        Ok(Some(Self { least, shift, prefix, starts, positions }))
    }

    /// Positions in all runs: the rows that are not NULL.
    pub fn len(&self) -> usize {
        self.positions.rows()
    }

    /// Whether all rows are NULL.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of both vectors.
    pub fn memory_bytes(&self) -> u64 {
        self.segments().iter().map(|it| it.1.bytes() as u64).sum()
    }

    /// Its segments with a name for each.
    pub fn segments(&self) -> [(&'static str, &Arc<Segment>); 2] {
        [("ix starts", self.starts.segment()), ("ix positions", self.positions.segment())]
    }

    /// The same index over other segments with the same bytes.
    pub(crate) fn moved(&self, body: &mut Move<'_>) -> SqlResult<Self> {
        let starts = self.starts.moved("ix starts", body)?;
        let positions = self.positions.moved("ix positions", body)?;
        Ok(Self { starts, positions, ..*self })
    }

    /// The slots whose rows hold a value between two bounds. `None` when the bounds are of a kind that does not compare
    /// with the column exactly: then the column has to be read.
    pub fn lookup(
        &self,
        column: &Column,
        low: Bound<&Value>,
        high: Bound<&Value>,
    ) -> Option<Range<usize>> {
        if matches!(column.encoding, Encoding::Plain(_)) {
            return self.lookup_text(column, low, high);
        }
        let keys = Keys::of(column)?;
        let (low, high) = match column.encode_range(low, high)? {
            CodeRange::None => return Some(0..0),
            CodeRange::Codes { low, high } => (u64::from(low), u64::from(high)),
            CodeRange::Words { low, high } => (low, high),
        };
        // Where a bucket is a key, its run is the answer; else the ends of the range lie within buckets.
        let (start, end) = match self.shift {
            0 => (
                self.first(low, |_| false),
                high.checked_add(1).map(|it| self.first(it, |_| false)),
            ),
            _ => {
                let start = self.first(low, |row| keys.key(row) < low);
                (start, Some(self.first(high, |row| keys.key(row) <= high)))
            }
        };
        let end = end.unwrap_or(self.len());
        Some(start..end.max(start))
    }

    fn lookup_text(
        &self,
        column: &Column,
        low: Bound<&Value>,
        high: Bound<&Value>,
    ) -> Option<Range<usize>> {
        let text = |value: &Value| match value {
            // Trailing blanks of CHAR(n) do not count, and are not stored.
            Value::Text(it) if matches!(column.data_type, DataType::Char(_)) => {
                Some(it.trim_end_matches(' ').as_bytes().to_vec())
            }
            Value::Text(it) => Some(it.as_bytes().to_vec()),
            _ => None,
        };
        let shared = column.statistics.min.as_ref().and_then(text).unwrap_or_default();
        let rank = |wanted: &[u8], or_equal: bool| {
            let before = |row: usize| match (*text_at(column, row)).cmp(wanted) {
                std::cmp::Ordering::Less => true,
                std::cmp::Ordering::Equal => or_equal,
                std::cmp::Ordering::Greater => false,
            };
            let length = self.prefix.min(wanted.len());
            // What does not begin as all texts do lies before or behind all of them.
            match wanted[..length].cmp(&shared[..length.min(shared.len())]) {
                std::cmp::Ordering::Less => 0,
                std::cmp::Ordering::Greater => self.len(),
                std::cmp::Ordering::Equal if length < self.prefix => 0,
                std::cmp::Ordering::Equal => self.first(text_key(wanted, self.prefix), before),
            }
        };
        let null = |it: &Bound<&Value>| {
            matches!(it, Bound::Included(Value::Null) | Bound::Excluded(Value::Null))
        };
        if null(&low) || null(&high) {
            return Some(0..0);
        }
        let start = match low {
            Bound::Unbounded => 0,
            Bound::Included(value) => rank(&text(value)?, false),
            Bound::Excluded(value) => rank(&text(value)?, true),
        };
        let end = match high {
            Bound::Unbounded => self.len(),
            Bound::Included(value) => rank(&text(value)?, true),
            Bound::Excluded(value) => rank(&text(value)?, false),
        };
        Some(start..end.max(start))
    }

    /// The first slot of the bucket of a key for which `before` does not hold; slots in lower buckets come before it.
    fn first(&self, key: u64, before: impl Fn(usize) -> bool) -> usize {
        let Some(distance) = key.checked_sub(self.least) else { return 0 };
        let Ok(bucket) = usize::try_from(distance >> self.shift) else { return self.len() };
        if bucket + 1 >= self.starts.rows() {
            return self.len();
        }
        let mut low = self.starts.get(bucket) as usize;
        let mut high = self.starts.get(bucket + 1) as usize;
        while low < high {
            let middle = low.midpoint(high);
            if before(self.positions.get(middle) as usize) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Appends the positions of some slots, in the order of (value, position).
    pub fn positions(&self, slots: Range<usize>, into: &mut Vec<u32>) {
        let start = into.len();
        into.resize(start + slots.len(), 0);
        let (packed, bits) = (self.positions.packed(), self.positions.bits());
        bitpack::unpack_u32(packed, bits, slots.start, &mut into[start..]);
    }

    /// Two rows that hold one value, if there are any: the first such value's first two.
    pub fn duplicate(&self, column: &Column) -> Option<(u32, u32)> {
        let facts = &column.statistics;
        if facts.distinct_exact && facts.distinct == self.len() as u64 {
            return None;
        }
        let keys = Keys::of(column)?;
        let mut last: Option<u32> = None;
        let mut buffer = Vec::new();
        for first in (0..self.len()).step_by(4096) {
            buffer.clear();
            self.positions(first..(first + 4096).min(self.len()), &mut buffer);
            for &row in &buffer {
                if let Some(before) = last {
                    let (a, b) = (before as usize, row as usize);
                    if keys.key(a) == keys.key(b) && keys.tie(a) == keys.tie(b) {
                        return Some((before, row));
                    }
                }
                last = Some(row);
            }
        }
        None
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
