//! Texts made of the entries of a small dictionary: they have a dictionary of their own, and travel as its codes, so that groups,
//! joins and orders go by integers (docs/design/04-execution.md, "work on codes").

use stdx::sync::Arc;

use super::entries::{Coded, of_entries};
use super::node::{Kernel, Node};
use crate::{Batch, Bitmap, ColumnShape, Representation, Values, Vector};
use types::SqlResult;

/// Bytes of texts up to which they are put into a dictionary.
const BYTES_MAX: usize = 1 << 20;

/// The code of what each entry of a column becomes.
#[derive(Debug)]
struct Derived {
    column: usize,
    /// By entry; the last one is for NULL.
    codes: Vec<u32>,
    /// Which of them are no NULL, if some are.
    valid: Option<Bitmap>,
    /// Whether no entry becomes NULL; NULL itself may.
    entries_known: bool,
}

/// A node for texts that gives codes in their place; `None` where it gives none, or an entry, perhaps one that no row has, raises
/// an error.
pub(super) fn texts(inner: &Node, of: &Coded) -> Option<Node> {
    let data_type = inner.shape.data_type;
    let is_text = data_type.is_text()
        && !data_type.is_blank_padded()
        && matches!(inner.shape.representation, Representation::Text);
    if !is_text {
        return None;
    }
    let made = of_entries(inner, of.place, 0..of.entries + 1, of.entries).ok()?;
    let Values::Text(texts) = &made.values else { return None };
    if texts.bytes.len() > BYTES_MAX {
        return None;
    }
    let valid = |entry: &usize| made.is_valid(*entry);
    let mut sorted: Vec<&[u8]> =
        (0..=of.entries).filter(valid).map(|it| texts.bytes_at(it)).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let code = |entry: usize| match made.is_valid(entry) {
        true => sorted.partition_point(|it| *it < texts.bytes_at(entry)) as u32,
        false => 0,
    };
    let codes = (0..=of.entries).map(code).collect();
    let column = of.column.derived(inner.shape.data_type, &sorted).ok()?;
    let shape = ColumnShape {
        representation: Representation::Codes(Arc::new(column)),
        ..inner.shape.clone()
    };
    let valid = made.validity.clone().filter(|it| it.count(of.entries + 1) <= of.entries);
    let entries_known = (0..of.entries).all(|it| made.is_valid(it));
    let kernel = Derived { column: of.place, codes, valid, entries_known };
    Some(Node::new(shape, inner.facts.clone(), kernel))
}

impl Kernel for Derived {
    fn evaluate(&self, batch: &Batch) -> SqlResult<Vector> {
        let vector = &batch.columns[self.column];
        let Values::Codes(entries) = &vector.values else {
            unreachable!("invariant: a dictionary column travels as codes");
        };
        let null = self.codes.len() - 1;
        let entries = entries[..batch.rows].iter().enumerate();
        let places: Vec<u32> = match &vector.validity {
            None => entries.map(|it| *it.1).collect(),
            Some(known) => {
                entries.map(|(row, it)| if known.get(row) { *it } else { null as u32 }).collect()
            }
        };
        let codes = places.iter().map(|it| self.codes[*it as usize]).collect();
        let may_be_null = vector.validity.is_some() || !self.entries_known;
        let validity = (self.valid.as_ref().filter(|_| may_be_null))
            .map(|it| Bitmap::from_bits(places.iter().map(|place| it.get(*place as usize))));
        Ok(Vector { values: Values::Codes(codes), validity })
    }
}
