//! From codes to values: sorted distinct values.

use std::ops::Range;

use memory::{Pod, Segment};
use stdx::sync::Arc;
use types::{DataType, SqlResult, Value};

use crate::word::value_of_int;

/// What makes the next segment of each component of a column: the same one moved, or a copy of it.
pub(crate) type Move<'a> = dyn FnMut(&'static str, &Arc<Segment>) -> SqlResult<Arc<Segment>> + 'a;

/// Sorted distinct numbers in a placed segment.
#[derive(Clone, Debug)]
pub struct Sorted<T> {
    segment: Arc<Segment>,
    len: usize,
    values: std::marker::PhantomData<T>,
}

impl<T: Pod> Sorted<T> {
    pub(crate) fn new(segment: Segment, len: usize) -> Self {
        Self { segment: Arc::new(segment), len, values: std::marker::PhantomData }
    }

    fn moved(&self, body: &mut Move<'_>) -> SqlResult<Self> {
        Ok(Self { segment: body("dictionary", &self.segment)?, ..*self })
    }

    /// The values, ascending.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        &self.segment.as_slice()[..self.len]
    }
}

/// Where the texts of a heap end.
#[derive(Clone, Debug)]
enum Ends {
    Narrow(Arc<Segment>),
    Wide(Arc<Segment>),
}

/// Texts one after the other, with the place where each ends.
#[derive(Clone, Debug)]
pub struct StringHeap {
    ends: Ends,
    bytes: Arc<Segment>,
    len: usize,
    used: u64,
}

impl StringHeap {
    /// A heap whose ends have four bytes (`wide`: eight) each; `used` is the last of them.
    pub(crate) fn new(ends: Segment, wide: bool, bytes: Segment, len: usize, used: u64) -> Self {
        let ends = Arc::new(ends);
        let ends = if wide { Ends::Wide(ends) } else { Ends::Narrow(ends) };
        Self { ends, bytes: Arc::new(bytes), len, used }
    }

    /// The same texts in other segments with the same bytes.
    pub(crate) fn moved(&self, body: &mut Move<'_>) -> SqlResult<Self> {
        let ends = match &self.ends {
            Ends::Narrow(ends) => Ends::Narrow(body("ends", ends)?),
            Ends::Wide(ends) => Ends::Wide(body("ends", ends)?),
        };
        Ok(Self { ends, bytes: body("texts", &self.bytes)?, ..*self })
    }

    /// How many texts.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    fn end(&self, index: usize) -> usize {
        match &self.ends {
            Ends::Narrow(ends) => ends.as_slice::<u32>()[index] as usize,
            Ends::Wide(ends) => ends.as_slice::<u64>()[index] as usize,
        }
    }

    /// Where a text stands in the memory of the texts; past the end an empty range.
    #[inline]
    pub fn range(&self, index: usize) -> Range<usize> {
        if index >= self.len {
            return self.used as usize..self.used as usize;
        }
        let start = if index == 0 { 0 } else { self.end(index - 1) };
        start..self.end(index)
    }

    /// A text as bytes: valid UTF-8, unless they are those of a compressed text. Past the end it is empty.
    #[inline]
    pub fn bytes_at(&self, index: usize) -> &[u8] {
        &self.bytes.as_bytes()[self.range(index)]
    }

    /// A text. Past the end it is empty.
    #[inline]
    pub fn get(&self, index: usize) -> &str {
        std::str::from_utf8(self.bytes_at(index)).expect("invariant: only whole texts are stored")
    }

    /// All texts as one run of bytes, each beginning where the one before it ends.
    pub fn all_bytes(&self) -> &[u8] {
        &self.bytes.as_bytes()[..self.used as usize]
    }

    /// The ends of all texts in [`StringHeap::all_bytes`], when there are less than 4 GiB of them.
    pub fn narrow_ends(&self) -> Option<&[u32]> {
        match &self.ends {
            Ends::Narrow(ends) => Some(&ends.as_slice()[..self.len]),
            Ends::Wide(_) => None,
        }
    }

    /// Bytes of texts and ends.
    pub fn memory_bytes(&self) -> u64 {
        self.used + self.ends_segment().bytes() as u64
    }

    /// The memory of the texts.
    pub fn bytes_segment(&self) -> &Arc<Segment> {
        &self.bytes
    }

    /// The memory of the ends.
    pub fn ends_segment(&self) -> &Arc<Segment> {
        match &self.ends {
            Ends::Narrow(ends) | Ends::Wide(ends) => ends,
        }
    }

    /// Whether it has the memory of another.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.bytes, &other.bytes)
    }

    /// The place of a text; the heap is sorted.
    pub(crate) fn find(&self, text: &[u8]) -> Option<usize> {
        let place = self.rank(text, false);
        (place < self.len && self.bytes_at(place) == text).then_some(place)
    }

    /// How many texts come before `text` (with `or_equal`: or equal it); the heap is sorted.
    fn rank(&self, text: &[u8], or_equal: bool) -> usize {
        let (mut low, mut high) = (0, self.len);
        while low < high {
            let middle = low.midpoint(high);
            let before = match self.bytes_at(middle).cmp(text) {
                std::cmp::Ordering::Less => true,
                std::cmp::Ordering::Equal => or_equal,
                std::cmp::Ordering::Greater => false,
            };
            if before {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

/// The sorted distinct values of a column; the code of a value is its place.
#[derive(Clone, Debug)]
pub enum Dictionary {
    /// Integers, days, microseconds, unscaled decimals of up to 64 bits.
    Int(Sorted<i64>),
    /// Unscaled decimals that need more.
    Wide(Sorted<i128>),
    /// Floats; NaN last.
    Float(Sorted<f64>),
    /// Texts, ordered by their bytes.
    Text(StringHeap),
}

impl Dictionary {
    /// How many values.
    pub fn len(&self) -> usize {
        match self {
            Self::Int(it) => it.len,
            Self::Wide(it) => it.len,
            Self::Float(it) => it.len,
            Self::Text(it) => it.len(),
        }
    }

    /// Whether there is no value: all rows are NULL.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a code in a column of a type.
    pub fn value(&self, data_type: DataType, code: u32) -> Value {
        let code = code as usize;
        match self {
            Self::Int(it) => value_of_int(data_type, i128::from(it.as_slice()[code])),
            Self::Wide(it) => value_of_int(data_type, it.as_slice()[code]),
            Self::Float(it) => Value::Float(it.as_slice()[code]),
            Self::Text(it) => Value::Text(it.get(code).into()),
        }
    }

    /// The text of a code; empty past the end, so that what stands at a NULL can be looked up.
    #[inline]
    pub fn as_str(&self, code: u32) -> &str {
        match self {
            Self::Text(it) => it.get(code as usize),
            _ => "",
        }
    }

    /// The text of a code as bytes; empty past the end.
    #[inline]
    pub fn as_bytes(&self, code: u32) -> &[u8] {
        match self {
            Self::Text(it) => it.bytes_at(code as usize),
            _ => &[],
        }
    }

    /// The values of [`Dictionary::Int`]; empty for the others.
    #[inline]
    pub fn ints(&self) -> &[i64] {
        match self {
            Self::Int(it) => it.as_slice(),
            _ => &[],
        }
    }

    /// The values of [`Dictionary::Wide`]; empty for the others.
    #[inline]
    pub fn wides(&self) -> &[i128] {
        match self {
            Self::Wide(it) => it.as_slice(),
            _ => &[],
        }
    }

    /// The values of [`Dictionary::Float`]; empty for the others.
    #[inline]
    pub fn floats(&self) -> &[f64] {
        match self {
            Self::Float(it) => it.as_slice(),
            _ => &[],
        }
    }

    /// How many texts come before `text` (with `or_equal`: or equal it).
    pub(crate) fn rank_text(&self, text: &str, or_equal: bool) -> usize {
        match self {
            Self::Text(it) => it.rank(text.as_bytes(), or_equal),
            _ => 0,
        }
    }

    /// Its bytes.
    pub fn memory_bytes(&self) -> u64 {
        match self {
            Self::Int(it) => it.len as u64 * 8,
            Self::Wide(it) => it.len as u64 * 16,
            Self::Float(it) => it.len as u64 * 8,
            Self::Text(it) => it.memory_bytes(),
        }
    }

    /// The memory behind it, for its page-socket maps.
    pub fn segments(&self) -> Vec<&Arc<Segment>> {
        match self {
            Self::Int(it) => vec![&it.segment],
            Self::Wide(it) => vec![&it.segment],
            Self::Float(it) => vec![&it.segment],
            Self::Text(it) => vec![it.ends_segment(), it.bytes_segment()],
        }
    }

    /// The same values in other segments with the same bytes.
    pub(crate) fn moved(&self, body: &mut Move<'_>) -> SqlResult<Self> {
        Ok(match self {
            Self::Int(it) => Self::Int(it.moved(body)?),
            Self::Wide(it) => Self::Wide(it.moved(body)?),
            Self::Float(it) => Self::Float(it.moved(body)?),
            Self::Text(it) => Self::Text(it.moved(&mut |_, it| body("dictionary", it))?),
        })
    }
}
