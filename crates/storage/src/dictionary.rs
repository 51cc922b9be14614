//! From codes to values: sorted distinct values, and the texts of plain columns.

use memory::{Pod, Segment};
use types::{DataType, Value};

use crate::word::value_of_int;

/// Sorted distinct numbers in a placed segment.
#[derive(Debug)]
pub struct Sorted<T> {
    segment: Segment,
    len: usize,
    values: std::marker::PhantomData<T>,
}

impl<T: Pod> Sorted<T> {
    pub(crate) fn new(segment: Segment, len: usize) -> Self {
        Self { segment, len, values: std::marker::PhantomData }
    }

    /// The values, ascending.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        &self.segment.as_slice()[..self.len]
    }
}

/// Where the texts of a heap end.
#[derive(Debug)]
enum Ends {
    Narrow(Segment),
    Wide(Segment),
}

/// Texts one after the other, with the place where each ends.
#[derive(Debug)]
pub struct StringHeap {
    ends: Ends,
    bytes: Segment,
    len: usize,
    used: u64,
}

impl StringHeap {
    /// A heap whose ends have four bytes (`wide`: eight) each; `used` is the last of them.
    pub(crate) fn new(ends: Segment, wide: bool, bytes: Segment, len: usize, used: u64) -> Self {
        let ends = if wide { Ends::Wide(ends) } else { Ends::Narrow(ends) };
        Self { ends, bytes, len, used }
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

    /// A text as bytes: always valid UTF-8. Past the end it is empty.
    #[inline]
    pub fn bytes_at(&self, index: usize) -> &[u8] {
        if index >= self.len {
            return &[];
        }
        let start = if index == 0 { 0 } else { self.end(index - 1) };
        &self.bytes.as_bytes()[start..self.end(index)]
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
    pub fn bytes_segment(&self) -> &Segment {
        &self.bytes
    }

    /// The memory of the ends.
    pub fn ends_segment(&self) -> &Segment {
        match &self.ends {
            Ends::Narrow(ends) | Ends::Wide(ends) => ends,
        }
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
#[derive(Debug)]
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
    pub fn segments(&self) -> Vec<&Segment> {
        match self {
            Self::Int(it) => vec![&it.segment],
            Self::Wide(it) => vec![&it.segment],
            Self::Float(it) => vec![&it.segment],
            Self::Text(it) => vec![it.ends_segment(), it.bytes_segment()],
        }
    }
}

/// The texts of a plain column in row order; a NULL row has an empty one.
#[derive(Debug)]
pub struct PlainStrings(pub(crate) StringHeap);

impl PlainStrings {
    /// The text of a row.
    #[inline]
    pub fn get(&self, row: usize) -> &str {
        self.0.get(row)
    }

    /// The text of a row as bytes.
    #[inline]
    pub fn bytes_at(&self, row: usize) -> &[u8] {
        self.0.bytes_at(row)
    }

    /// The texts behind the rows.
    pub fn heap(&self) -> &StringHeap {
        &self.0
    }
}
