//! One column of many batches, from which single rows are collected in any order.
//!
//! Key decision: where the values of each batch are is found once for all rows. A row then takes one look at a short list and
//! one at its value, which is mostly far: the processor waits for many of those at once.

use crate::{Bitmap, ColumnShape, TextVector, Values, Vector};

/// A column of many batches.
pub(crate) struct Sources<'a> {
    values: Slices<'a>,
    /// Which rows of each are not NULL; none at all where no batch has NULL.
    validity: Vec<Option<&'a Bitmap>>,
}

/// The values, batch by batch.
enum Slices<'a> {
    Codes(Vec<&'a [u32]>),
    I64(Vec<&'a [i64]>),
    I128(Vec<&'a [i128]>),
    F64(Vec<&'a [f64]>),
    Bool(Vec<&'a [bool]>),
    Text(Vec<&'a TextVector>),
}

fn texts_of(vector: &Vector) -> &TextVector {
    match &vector.values {
        Values::Text(texts) => texts,
        _ => unreachable!("invariant: a vector is held as its shape says"),
    }
}

/// The values at some places (batch, row).
fn copied<T: Copy>(from: &[&[T]], rows: &[(u32, u32)]) -> Vec<T> {
    rows.iter().map(|&(batch, row)| from[batch as usize][row as usize]).collect()
}

impl<'a> Sources<'a> {
    /// A column, held as its shape says.
    pub(crate) fn new(
        shape: &ColumnShape,
        batches: impl Iterator<Item = &'a Vector> + Clone,
    ) -> Self {
        macro_rules! slices {
            ($kind:ident) => {
                Slices::$kind(
                    (batches.clone())
                        .map(|it| match &it.values {
                            Values::$kind(it) => &**it,
                            _ => unreachable!("invariant: a vector is held as its shape says"),
                        })
                        .collect(),
                )
            };
        }
        let values = match Values::none_of(&shape.representation) {
            Values::Codes(_) => slices!(Codes),
            Values::I64(_) => slices!(I64),
            Values::I128(_) => slices!(I128),
            Values::F64(_) => slices!(F64),
            Values::Bool(_) => slices!(Bool),
            Values::Text(_) => Slices::Text(batches.clone().map(texts_of).collect()),
        };
        let mut validity: Vec<Option<&Bitmap>> = batches.map(|it| it.validity.as_ref()).collect();
        if validity.iter().all(Option::is_none) {
            validity.clear();
        }
        Self { values, validity }
    }

    /// The rows at some places (batch, row), in that order.
    pub(crate) fn collect(&self, rows: &[(u32, u32)]) -> Vector {
        let values = match &self.values {
            Slices::Codes(it) => Values::Codes(copied(it, rows)),
            Slices::I64(it) => Values::I64(copied(it, rows)),
            Slices::I128(it) => Values::I128(copied(it, rows)),
            Slices::F64(it) => Values::F64(copied(it, rows)),
            Slices::Bool(it) => Values::Bool(copied(it, rows)),
            Slices::Text(it) => {
                let mut texts = TextVector::default();
                for &(batch, row) in rows {
                    texts.push_bytes(it[batch as usize].bytes_at(row as usize));
                }
                Values::Text(texts)
            }
        };
        if self.validity.is_empty() {
            return Vector::new(values);
        }
        let is_valid = |&(batch, row): &(u32, u32)| {
            self.validity[batch as usize].is_none_or(|it| it.get(row as usize))
        };
        let valid = Bitmap::from_bits(rows.iter().map(is_valid));
        let some_null = valid.count(rows.len()) < rows.len();
        Vector { values, validity: some_null.then_some(valid) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{KINDS, token};

    #[test]
    fn rows_are_collected_from_batches_of_any_kind() {
        let mut prng = stdx::Prng::new(3);
        for kind in KINDS {
            for nullable in [false, true] {
                let sample = kind.sample(500, 40, nullable, &mut prng);
                let batches: Vec<Vector> = (0..500u32)
                    .step_by(90)
                    .map(|it| sample.vector.take(&(it..500.min(it + 90)).collect::<Vec<_>>()))
                    .collect();
                let sources = Sources::new(&sample.shape, batches.iter());
                let places: Vec<u32> = (0..300).map(|_| prng.below(500) as u32).collect();
                let rows: Vec<(u32, u32)> = places.iter().map(|it| (it / 90, it % 90)).collect();
                let found = sources.collect(&rows);
                for (place, row) in places.iter().enumerate() {
                    let expected = &sample.values[*row as usize];
                    let found = found.value(&sample.shape, place);
                    assert_eq!(token(&found), token(expected));
                }
                assert!(sources.collect(&[]).values.is_empty());
            }
        }
    }
}
