//! Columns of the build side after all batches have been put one after the other; rows are found by `u32`.

use memory::{Placed, Scratch};
use types::{SqlError, SqlResult};

use super::NO_ROW;
use super::out::{Out, TextOut};
use crate::pieces::{PIECE_ROWS, Pieces, piece_rows, unspecified};
use crate::scan::Leaving;
use crate::scan::decode::Rows::Places;
use crate::{Bitmap, ColumnShape, Representation, Team, TextVector, Values, Vector};

/// One column.
pub(super) struct Stored {
    values: StoredValues,
    /// A bit per row; none where all are set.
    validity: Option<Placed<u64>>,
}

enum StoredValues {
    Codes(Placed<u32>),
    I64(Placed<i64>),
    I128(Placed<i128>),
    F64(Placed<f64>),
    Bool(Placed<bool>),
    Text(StoredText),
    /// Rows of a stored column, where they are: in the parts of the table and their deltas, each with the number of its first
    /// row.
    InParts(Vec<(u32, Leaving)>),
}

/// Values of a column whose order is that of integers.
#[derive(Clone, Copy)]
pub(super) enum Words<'a> {
    Integers(&'a [i64]),
    Floats(&'a [f64]),
    Codes(&'a [u32]),
    /// Of no such kind.
    None,
}

/// Texts one after the other, more of them than a batch may hold.
pub(super) struct StoredText {
    ends: Placed<u64>,
    bytes: Placed<u8>,
}

impl StoredText {
    /// A text as bytes.
    #[inline]
    pub(super) fn bytes_at(&self, row: usize) -> &[u8] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] as usize };
        &self.bytes[start..self.ends[row] as usize]
    }

    /// Puts all texts of another into this, in some order.
    fn put(&mut self, from: &Self, order: &[u32]) {
        let mut end = 0;
        for (to, &row) in self.ends.iter_mut().zip(order) {
            let text = from.bytes_at(row as usize);
            self.bytes[end..end + text.len()].copy_from_slice(text);
            end += text.len();
            *to = end as u64;
        }
    }

    /// Room for so many texts of so many bytes together.
    pub(super) fn sized(rows: usize, bytes: usize, scratch: &Scratch) -> SqlResult<Self> {
        Ok(Self { ends: scratch.unspecified(rows)?, bytes: scratch.unspecified(bytes)? })
    }

    /// Where they are written.
    pub(super) fn out(&mut self) -> Out<'_> {
        Out::Text(TextOut { ends: &mut self.ends, bytes: &mut self.bytes, base: 0 })
    }
}

/// Appends the first `rows` bits of `from` (all set when `None`) at bit `start` of zeroed words.
pub(super) fn append_bits(words: &mut [u64], start: usize, from: Option<&[u64]>, rows: usize) {
    for index in 0..rows.div_ceil(64) {
        let bits = (rows - index * 64).min(64);
        let word = from.map_or(u64::MAX, |it| it[index]) & (u64::MAX >> (64 - bits));
        let (at, shift) = ((start + index * 64) / 64, (start + index * 64) % 64);
        words[at] |= word << shift;
        if shift + bits > 64 {
            words[at + 1] |= word >> (64 - shift);
        }
    }
}

#[inline]
fn is_set(words: &[u64], row: usize) -> bool {
    words[row / 64] >> (row % 64) & 1 == 1
}

impl Stored {
    /// A column of so many rows, whose texts have so many bytes, still without its values.
    pub(super) fn sized(
        shape: &ColumnShape,
        (rows, bytes): (usize, usize),
        scratch: &Scratch,
    ) -> SqlResult<Self> {
        let values = match &shape.representation {
            Representation::Codes(_) => StoredValues::Codes(scratch.unspecified(rows)?),
            Representation::I64 => StoredValues::I64(scratch.unspecified(rows)?),
            Representation::I128 => StoredValues::I128(scratch.unspecified(rows)?),
            Representation::F64 => StoredValues::F64(scratch.unspecified(rows)?),
            Representation::Bool => StoredValues::Bool(scratch.zeroed(rows)?),
            Representation::Text => StoredValues::Text(StoredText::sized(rows, bytes, scratch)?),
        };
        Ok(Self { values, validity: None })
    }

    /// Whether the values of a shape are stored as texts.
    pub(super) fn is_text(shape: &ColumnShape) -> bool {
        matches!(shape.representation, Representation::Text)
    }

    /// Where its values are written.
    pub(super) fn out(&mut self) -> SqlResult<Out<'_>> {
        Ok(match &mut self.values {
            StoredValues::Codes(out) => Out::Codes(out),
            StoredValues::I64(out) => Out::I64(out),
            StoredValues::I128(out) => Out::I128(out),
            StoredValues::F64(out) => Out::F64(out),
            StoredValues::Bool(out) => Out::Bool(out),
            StoredValues::Text(out) => out.out(),
            StoredValues::InParts(_) => {
                return Err(SqlError::internal("rows that stay where they are cannot be written"));
            }
        })
    }

    /// Notes which rows are not NULL, by a bit for each.
    pub(super) fn set_validity(&mut self, bits: Placed<u64>) {
        self.validity = Some(bits);
    }

    /// The rows of a column, by their numbers over all parts: of each part how it leaves a scan, and the number of its first
    /// row.
    pub(super) fn in_parts(parts: Vec<(u32, Leaving)>) -> Self {
        Self { values: StoredValues::InParts(parts), validity: None }
    }

    /// The same rows in another order.
    pub(super) fn in_order(self, order: &[u32], team: &dyn Team) -> SqlResult<Self> {
        let mut values = self.alike(team.workspace().spread())?;
        let mut validity: Option<Placed<u64>> = match &self.validity {
            None => None,
            Some(from) => Some(unspecified(from.len(), team)?),
        };
        let mut pieces = Pieces::new();
        if let (Some(from), Some(to)) = (&self.validity, &mut validity) {
            pick_bits(from, order, to, team.width() * 4, &mut pieces);
        }
        match (&self.values, &mut values) {
            (StoredValues::Codes(from), StoredValues::Codes(to)) => {
                pick_into(from, order, to, &mut pieces);
            }
            (StoredValues::I64(from), StoredValues::I64(to)) => {
                pick_into(from, order, to, &mut pieces);
            }
            (StoredValues::I128(from), StoredValues::I128(to)) => {
                pick_into(from, order, to, &mut pieces);
            }
            (StoredValues::F64(from), StoredValues::F64(to)) => {
                pick_into(from, order, to, &mut pieces);
            }
            (StoredValues::Bool(from), StoredValues::Bool(to)) => {
                pick_into(from, order, to, &mut pieces);
            }
            (StoredValues::Text(from), StoredValues::Text(to)) => to.put(from, order),
            _ => return Err(SqlError::internal("rows that stay where they are have an order")),
        }
        pieces.run(team)?;
        Ok(Self { values, validity })
    }

    /// Room for as many values.
    fn alike(&self, scratch: &Scratch) -> SqlResult<StoredValues> {
        Ok(match &self.values {
            StoredValues::Codes(it) => StoredValues::Codes(scratch.unspecified(it.len())?),
            StoredValues::I64(it) => StoredValues::I64(scratch.unspecified(it.len())?),
            StoredValues::I128(it) => StoredValues::I128(scratch.unspecified(it.len())?),
            StoredValues::F64(it) => StoredValues::F64(scratch.unspecified(it.len())?),
            StoredValues::Bool(it) => StoredValues::Bool(scratch.zeroed(it.len())?),
            StoredValues::Text(it) => {
                StoredValues::Text(StoredText::sized(it.ends.len(), it.bytes.len(), scratch)?)
            }
            StoredValues::InParts(_) => {
                return Err(SqlError::internal("rows that stay where they are have an order"));
            }
        })
    }

    /// The values where they are in one piece.
    pub(super) fn words(&self) -> Words<'_> {
        match &self.values {
            StoredValues::Codes(it) => Words::Codes(it),
            StoredValues::I64(it) => Words::Integers(it),
            StoredValues::F64(it) => Words::Floats(it),
            _ => Words::None,
        }
    }

    /// Whether a row is not NULL; of a column that is not a stored one.
    pub(super) fn is_valid(&self, row: usize) -> bool {
        self.validity.as_ref().is_none_or(|it| is_set(it, row))
    }

    /// The values of rows; NULL where the row is [`NO_ROW`], which is looked for only when `outer`.
    pub(super) fn gather(&self, rows: &[u32], outer: bool) -> Vector {
        let values = match &self.values {
            StoredValues::InParts(parts) => return gather_parts(parts, rows, outer),
            StoredValues::Codes(it) => Values::Codes(pick(it, rows, outer)),
            StoredValues::I64(it) => Values::I64(pick(it, rows, outer)),
            StoredValues::I128(it) => Values::I128(pick(it, rows, outer)),
            StoredValues::F64(it) => Values::F64(pick(it, rows, outer)),
            StoredValues::Bool(it) => Values::Bool(pick(it, rows, outer)),
            StoredValues::Text(it) => {
                let mut out = TextVector::default();
                out.ends.reserve(rows.len());
                for &row in rows {
                    if row != NO_ROW {
                        out.bytes.extend_from_slice(it.bytes_at(row as usize));
                    }
                    out.ends.push(out.bytes.len() as u32);
                }
                Values::Text(out)
            }
        };
        let validity = match (&self.validity, outer) {
            (None, false) => None,
            (map, _) => Some(Bitmap::from_bits(rows.iter().map(|&row| {
                row != NO_ROW && map.as_ref().is_none_or(|map| is_set(map, row as usize))
            }))),
        };
        Vector { values, validity }
    }
}

/// Rows of a stored column; NULL where the row is [`NO_ROW`], which is looked for only when `outer`.
fn gather_parts(parts: &[(u32, Leaving)], rows: &[u32], outer: bool) -> Vector {
    let (_, main) = &parts[0];
    let end = parts.get(1).map_or(NO_ROW, |it| it.0);
    if rows.iter().all(|it| *it < end) {
        return main.pick(0, main.rows(), &Places(rows));
    }
    // There is some row: a table without rows is not found in place.
    let (_, filled) = parts.iter().find(|it| it.1.rows() > 0).unwrap_or(&parts[0]);
    let mut vector = filled.pick(0, filled.rows(), &Places(&[0])).repeated(rows.len());
    for (part, places) in by_part(parts, rows, outer) {
        let (first, part) = &parts[part];
        let own: Vec<u32> = places.iter().map(|it| rows[*it as usize] - first).collect();
        vector.put(&places, &part.pick(0, part.rows(), &Places(&own)));
    }
    if outer {
        let known = |place: usize| vector.validity.as_ref().is_none_or(|it| it.get(place));
        let bits = rows.iter().enumerate().map(|(place, &row)| row != NO_ROW && known(place));
        vector.validity = Some(Bitmap::from_bits(bits));
    }
    vector
}

/// Parts up to which that of a row is found by comparing with all of them.
const COMPARED_PARTS_MAX: usize = 16;

/// The places of rows by the part that they are of, as far as a part has any; with `outer` those of [`NO_ROW`] are left out.
fn by_part(parts: &[(u32, Leaving)], rows: &[u32], outer: bool) -> Vec<(usize, Vec<u32>)> {
    let firsts: Vec<u32> = parts[1..].iter().map(|it| it.0).collect();
    let mut of = vec![0u16; rows.len()];
    match firsts.len() < COMPARED_PARTS_MAX {
        true => firsts.iter().for_each(|first| {
            of.iter_mut().zip(rows).for_each(|(of, row)| *of += u16::from(row >= first));
        }),
        false => {
            let part = |row: &u32| firsts.partition_point(|it| it <= row) as u16;
            of.iter_mut().zip(rows).for_each(|(of, row)| *of = part(row));
        }
    }
    let mut counts = vec![0; parts.len()];
    of.iter().for_each(|it| counts[usize::from(*it)] += 1);
    let mut places: Vec<Vec<u32>> = counts.into_iter().map(Vec::with_capacity).collect();
    for (place, (&of, &row)) in of.iter().zip(rows).enumerate() {
        if !outer || row != NO_ROW {
            places[usize::from(of)].push(place as u32);
        }
    }
    places.into_iter().enumerate().filter(|it| !it.1.is_empty()).collect()
}

/// Adds the pieces of work that write the bits of rows, about so many of them.
fn pick_bits<'a>(
    from: &'a [u64],
    rows: &'a [u32],
    to: &'a mut [u64],
    most: usize,
    pieces: &mut Pieces<'a>,
) {
    let piece = piece_rows(rows.len(), most);
    for (to, rows) in to.chunks_mut(piece / 64).zip(rows.chunks(piece)) {
        pieces.add(rows.len(), move || {
            for (word, rows) in to.iter_mut().zip(rows.chunks(64)) {
                let bit = |(at, row): (usize, &u32)| u64::from(is_set(from, *row as usize)) << at;
                *word = rows.iter().enumerate().map(bit).fold(0, |word, bit| word | bit);
            }
        });
    }
}

/// Adds the pieces of work that write the values of rows.
fn pick_into<'a, T: Copy + Send + Sync>(
    from: &'a [T],
    rows: &'a [u32],
    to: &'a mut [T],
    pieces: &mut Pieces<'a>,
) {
    for (to, rows) in to.chunks_mut(PIECE_ROWS).zip(rows.chunks(PIECE_ROWS)) {
        pieces.add(rows.len(), move || {
            to.iter_mut().zip(rows).for_each(|(to, row)| *to = from[*row as usize]);
        });
    }
}

fn pick<T: Copy + Default>(from: &[T], rows: &[u32], outer: bool) -> Vec<T> {
    if !outer {
        return rows.iter().map(|&row| from[row as usize]).collect();
    }
    // What stands at a NULL must be a valid code, so take one that is there.
    let filler = from.first().copied().unwrap_or_default();
    rows.iter().map(|&row| from.get(row as usize).copied().unwrap_or(filler)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_appended_at_any_offset() {
        let mut prng = stdx::Prng::new(3);
        let parts: Vec<(usize, Option<Bitmap>)> = (0..40)
            .map(|_| {
                let rows = prng.below(200) as usize;
                let bits: Vec<bool> = (0..rows).map(|_| prng.below(2) == 0).collect();
                (rows, (prng.below(4) > 0).then(|| Bitmap::from_bits(bits.into_iter())))
            })
            .collect();
        let total: usize = parts.iter().map(|it| it.0).sum();
        let mut map = Bitmap::filled(total, false);
        let mut start = 0;
        for (rows, bits) in &parts {
            append_bits(&mut map.0, start, bits.as_ref().map(|it| &it.0[..]), *rows);
            start += rows;
        }
        let mut row = 0;
        for (rows, bits) in &parts {
            for at in 0..*rows {
                assert_eq!(map.get(row), bits.as_ref().is_none_or(|it| it.get(at)));
                row += 1;
            }
        }
    }
}
