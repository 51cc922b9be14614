//! Batches of rows as they travel through a pipeline.
//!
//! A batch is always dense: who drops rows compacts, so no operator needs a selection vector. Vectors are shared, so
//! handing a column on costs a reference count.

use std::ops::Range;

use stdx::sync::Arc;

/// Rows that a batch holds at most.
pub const BATCH_ROWS: usize = 4096;

/// Rows on their way through a pipeline.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// How many rows; columns have this length.
    pub rows: usize,
    /// The columns, described by the [`crate::Layout`] of the place where the batch is.
    pub columns: Vec<Arc<Vector>>,
    /// Where the first row stood in the source: restores the source's order in a result.
    pub sequence: u64,
}

/// One column of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    /// The values; what stands at a NULL is arbitrary, but a valid code or text.
    pub values: Values,
    /// Which rows are not NULL; `None` when none is.
    pub validity: Option<Bitmap>,
}

/// How values are held; always the [`crate::Representation`] of the column's shape.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Codes of a dictionary column, or positions (row numbers) of a plain one; the column is in the shape.
    Codes(Vec<u32>),
    /// Integers, days, microseconds, unscaled decimals.
    I64(Vec<i64>),
    /// Unscaled decimals that may not fit 64 bits.
    I128(Vec<i128>),
    /// Floats; REAL is widened.
    F64(Vec<f64>),
    /// Booleans.
    Bool(Vec<bool>),
    /// Text that is not in a column.
    Text(TextVector),
}

/// Bytes that are copied at once where a text is no longer: a copy of a known length is no call.
pub(crate) const WINDOW: usize = 16;

/// Texts one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextVector {
    /// End of each text in `bytes`; the first begins at 0.
    pub ends: Vec<u32>,
    /// UTF-8.
    pub bytes: Vec<u8>,
}

/// A bit per row, 64 to a word; bits past the last row are unspecified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bitmap(pub Vec<u64>);

impl Bitmap {
    /// `rows` bits of one value.
    pub fn filled(rows: usize, value: bool) -> Self {
        Self(vec![if value { u64::MAX } else { 0 }; rows.div_ceil(64)])
    }

    /// A bit.
    #[inline]
    pub fn get(&self, row: usize) -> bool {
        self.0[row / 64] >> (row % 64) & 1 == 1
    }

    /// Sets a bit.
    #[inline]
    pub fn set(&mut self, row: usize, value: bool) {
        let word = &mut self.0[row / 64];
        *word = *word & !(1 << (row % 64)) | u64::from(value) << (row % 64);
    }

    /// Bits set among the first `rows`.
    pub fn count(&self, rows: usize) -> usize {
        let whole = rows / 64;
        let rest = match rows % 64 {
            0 => 0,
            bits => (self.0[whole] & ((1 << bits) - 1)).count_ones() as usize,
        };
        self.0[..whole].iter().map(|it| it.count_ones() as usize).sum::<usize>() + rest
    }

    /// Collects bits.
    pub fn from_bits(bits: impl ExactSizeIterator<Item = bool>) -> Self {
        let mut map = Self::filled(bits.len(), false);
        for (row, bit) in bits.enumerate() {
            map.0[row / 64] |= u64::from(bit) << (row % 64);
        }
        map
    }
}

impl Vector {
    /// The only value of a vector of numbers or codes, so many times.
    pub(crate) fn repeated(&self, rows: usize) -> Self {
        let values = match &self.values {
            Values::Codes(it) => Values::Codes(vec![it[0]; rows]),
            Values::I64(it) => Values::I64(vec![it[0]; rows]),
            Values::I128(it) => Values::I128(vec![it[0]; rows]),
            Values::F64(it) => Values::F64(vec![it[0]; rows]),
            Values::Bool(it) => Values::Bool(vec![it[0]; rows]),
            Values::Text(_) => unreachable!("invariant: no column is held as texts"),
        };
        let validity = self.validity.as_ref().map(|it| Bitmap::filled(rows, it.get(0)));
        Self { values, validity }
    }

    /// Puts the values of another vector of numbers or codes at some places.
    pub(crate) fn put(&mut self, places: &[u32], from: &Self) {
        fn put<T: Copy>(to: &mut [T], places: &[u32], from: &[T]) {
            places.iter().zip(from).for_each(|(place, it)| to[*place as usize] = *it);
        }
        match (&mut self.values, &from.values) {
            (Values::Codes(to), Values::Codes(from)) => put(to, places, from),
            (Values::I64(to), Values::I64(from)) => put(to, places, from),
            (Values::I128(to), Values::I128(from)) => put(to, places, from),
            (Values::F64(to), Values::F64(from)) => put(to, places, from),
            (Values::Bool(to), Values::Bool(from)) => put(to, places, from),
            _ => unreachable!("invariant: vectors of one column are held alike, and not as texts"),
        }
        if self.validity.is_some() || from.validity.is_some() {
            let rows = self.values.len();
            let bits = self.validity.get_or_insert_with(|| Bitmap::filled(rows, true));
            places
                .iter()
                .enumerate()
                .for_each(|(it, place)| bits.set(*place as usize, from.is_valid(it)));
        }
    }

    /// Bytes of its values.
    pub(crate) fn value_bytes(&self) -> u64 {
        let bytes = match &self.values {
            Values::Codes(it) => it.len() * 4,
            Values::I64(it) => it.len() * 8,
            Values::I128(it) => it.len() * 16,
            Values::F64(it) => it.len() * 8,
            Values::Bool(it) => it.len(),
            Values::Text(it) => it.ends.len() * 4 + it.bytes.len(),
        };
        bytes as u64
    }
}

impl TextVector {
    /// How many texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Appends a text.
    pub fn push(&mut self, text: &str) {
        self.push_bytes(text.as_bytes());
    }

    /// Appends a whole text as bytes.
    #[inline]
    pub(crate) fn push_bytes(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.end();
    }

    /// Appends a whole text that is the first bytes of a window.
    #[inline]
    pub(crate) fn push_window(&mut self, window: &[u8; WINDOW], len: usize) {
        let end = self.bytes.len() + len;
        self.bytes.extend_from_slice(window);
        self.bytes.truncate(end);
        self.end();
    }

    /// Ends a text with the last byte.
    #[inline]
    fn end(&mut self) {
        self.ends.push(
            u32::try_from(self.bytes.len()).expect("invariant: a batch holds less than 4 GiB"),
        );
    }

    /// A text as bytes.
    #[inline]
    pub fn bytes_at(&self, row: usize) -> &[u8] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] as usize };
        &self.bytes[start..self.ends[row] as usize]
    }

    /// A text.
    #[inline]
    pub fn get(&self, row: usize) -> &str {
        std::str::from_utf8(self.bytes_at(row)).expect("invariant: only whole texts are pushed")
    }
}

impl Values {
    /// How many rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Codes(it) => it.len(),
            Self::I64(it) => it.len(),
            Self::I128(it) => it.len(),
            Self::F64(it) => it.len(),
            Self::Bool(it) => it.len(),
            Self::Text(it) => it.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn take_copy<T: Copy>(from: &[T], rows: &[u32]) -> Vec<T> {
    rows.iter().map(|&row| from[row as usize]).collect()
}

impl Vector {
    /// A vector without NULL.
    pub fn new(values: Values) -> Self {
        Self { values, validity: None }
    }

    /// Whether a row is not NULL.
    #[inline]
    pub fn is_valid(&self, row: usize) -> bool {
        self.validity.as_ref().is_none_or(|it| it.get(row))
    }

    /// The rows at the given places, in that order.
    pub fn take(&self, rows: &[u32]) -> Self {
        let values = match &self.values {
            Values::Codes(it) => Values::Codes(take_copy(it, rows)),
            Values::I64(it) => Values::I64(take_copy(it, rows)),
            Values::I128(it) => Values::I128(take_copy(it, rows)),
            Values::F64(it) => Values::F64(take_copy(it, rows)),
            Values::Bool(it) => Values::Bool(take_copy(it, rows)),
            Values::Text(it) => {
                let mut out = TextVector::default();
                for &row in rows {
                    out.bytes.extend_from_slice(it.bytes_at(row as usize));
                    out.ends.push(out.bytes.len() as u32);
                }
                Values::Text(out)
            }
        };
        let validity = self
            .validity
            .as_ref()
            .map(|map| Bitmap::from_bits(rows.iter().map(|&row| map.get(row as usize))));
        Self { values, validity }
    }
}

impl Vector {
    /// The rows of a range that begins at a multiple of 64.
    pub fn slice(&self, rows: Range<usize>) -> Self {
        let values = match &self.values {
            Values::Codes(it) => Values::Codes(it[rows.clone()].to_vec()),
            Values::I64(it) => Values::I64(it[rows.clone()].to_vec()),
            Values::I128(it) => Values::I128(it[rows.clone()].to_vec()),
            Values::F64(it) => Values::F64(it[rows.clone()].to_vec()),
            Values::Bool(it) => Values::Bool(it[rows.clone()].to_vec()),
            Values::Text(_) => {
                let places: Vec<u32> = (rows.start as u32..rows.end as u32).collect();
                return self.take(&places);
            }
        };
        let words = rows.start / 64..rows.end.div_ceil(64);
        let validity = self.validity.as_ref().map(|it| Bitmap(it.0[words].to_vec()));
        Self { values, validity }
    }
}

impl Vector {
    /// The rows of vectors of one kind, one vector after the other. `None` where their texts are more than one vector holds.
    pub(crate) fn concatenated(parts: &[&Self]) -> Option<Self> {
        macro_rules! copies {
            ($kind:ident) => {{
                let mut all = Vec::with_capacity(parts.iter().map(|it| it.values.len()).sum());
                for part in parts {
                    match &part.values {
                        Values::$kind(it) => all.extend_from_slice(it),
                        _ => unreachable!("invariant: vectors that become one are of one kind"),
                    }
                }
                Values::$kind(all)
            }};
        }
        let values = match parts.first().map(|it| &it.values)? {
            Values::Codes(_) => copies!(Codes),
            Values::I64(_) => copies!(I64),
            Values::I128(_) => copies!(I128),
            Values::F64(_) => copies!(F64),
            Values::Bool(_) => copies!(Bool),
            Values::Text(_) => Values::Text(TextVector::concatenated(parts)?),
        };
        if parts.iter().all(|it| it.validity.is_none()) {
            return Some(Self::new(values));
        }
        let mut validity = Bitmap::filled(values.len(), true);
        let mut begin = 0;
        for part in parts {
            for row in (0..part.values.len()).filter(|row| !part.is_valid(*row)) {
                validity.set(begin + row, false);
            }
            begin += part.values.len();
        }
        Some(Self { values, validity: Some(validity) })
    }
}

impl TextVector {
    fn concatenated(parts: &[&Vector]) -> Option<Self> {
        let mut all = Self::default();
        for part in parts {
            let Values::Text(it) = &part.values else {
                unreachable!("invariant: vectors that become one are of one kind");
            };
            let begin = u32::try_from(all.bytes.len()).ok()?;
            begin.checked_add(u32::try_from(it.bytes.len()).ok()?)?;
            all.bytes.extend_from_slice(&it.bytes);
            all.ends.extend(it.ends.iter().map(|end| begin + end));
        }
        Some(all)
    }
}

impl Batch {
    /// The rows at the given places, in that order.
    pub fn take(&self, rows: &[u32]) -> Self {
        Self {
            rows: rows.len(),
            columns: self.columns.iter().map(|it| Arc::new(it.take(rows))).collect(),
            sequence: self.sequence,
        }
    }
}

impl Values {
    /// None of the kind that a representation holds.
    pub(crate) fn none_of(representation: &crate::Representation) -> Self {
        use crate::Representation;
        match representation {
            Representation::Codes(_) => Self::Codes(Vec::new()),
            Representation::I64 => Self::I64(Vec::new()),
            Representation::I128 => Self::I128(Vec::new()),
            Representation::F64 => Self::F64(Vec::new()),
            Representation::Bool => Self::Bool(Vec::new()),
            Representation::Text => Self::Text(TextVector::default()),
        }
    }
}

impl Vector {
    /// Single rows of many vectors of one shape, in order.
    pub fn collect<'a>(
        shape: &crate::ColumnShape,
        rows: impl Iterator<Item = (&'a Vector, u32)> + Clone,
    ) -> Self {
        Self::collect_like(&Values::none_of(&shape.representation), rows)
    }

    /// Single rows of many vectors that hold values of the kind of `like`, in order.
    pub fn collect_like<'a>(
        like: &Values,
        rows: impl Iterator<Item = (&'a Vector, u32)> + Clone,
    ) -> Self {
        macro_rules! copies {
            ($kind:ident) => {
                Values::$kind(
                    rows.clone()
                        .map(|(vector, row)| match &vector.values {
                            Values::$kind(it) => it[row as usize],
                            _ => unreachable!("invariant: a vector is held as its shape says"),
                        })
                        .collect(),
                )
            };
        }
        let values = match like {
            Values::Codes(_) => copies!(Codes),
            Values::I64(_) => copies!(I64),
            Values::I128(_) => copies!(I128),
            Values::F64(_) => copies!(F64),
            Values::Bool(_) => copies!(Bool),
            Values::Text(_) => {
                let mut texts = TextVector::default();
                for (vector, row) in rows.clone() {
                    match &vector.values {
                        Values::Text(it) => texts.push_bytes(it.bytes_at(row as usize)),
                        _ => unreachable!("invariant: a vector is held as its shape says"),
                    }
                }
                Values::Text(texts)
            }
        };
        if rows.clone().all(|(vector, _)| vector.validity.is_none()) {
            return Self::new(values);
        }
        let valid: Vec<bool> = rows.map(|(vector, row)| vector.is_valid(row as usize)).collect();
        let validity = valid.contains(&false).then(|| Bitmap::from_bits(valid.into_iter()));
        Self { values, validity }
    }
}
