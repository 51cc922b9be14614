//! The distinct values of each group, for COUNT, SUM and AVG over DISTINCT: a grouping by (group number, value).

use stdx::sync::Arc;
use types::DataType;

use super::index::GroupIndex;
use super::key::{KeyLayout, Keys};
use crate::{Bitmap, ColumnShape, Representation, Values, Vector};

/// Values by group.
pub struct DistinctSet {
    layout: KeyLayout,
    index: GroupIndex,
    keys: Keys,
    ids: Vec<u32>,
}

impl DistinctSet {
    /// No values yet of a shape; without group keys there is only group 0.
    pub fn new(shape: &ColumnShape, is_keyed: bool) -> Self {
        let group = ColumnShape {
            data_type: DataType::BigInt,
            representation: Representation::I64,
            bounds: Some((0, if is_keyed { u32::MAX.into() } else { 0 })),
            nullable: false,
        };
        let value = ColumnShape { nullable: false, ..shape.clone() };
        let layout = KeyLayout::new(&[group, value]);
        let (index, keys) = (GroupIndex::new(&layout), layout.no_keys());
        Self { layout, index, keys, ids: Vec::new() }
    }

    /// Bytes that its keys take when they are no words.
    pub fn key_bytes(&self) -> usize {
        self.index.keys().variable_bytes()
    }

    /// How many values, over all groups.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Adds the values of a batch; only rows of `valid` count.
    pub fn add(&mut self, column: &Arc<Vector>, groups: &[u32], valid: Option<&Bitmap>) {
        let (groups, values): (Vec<i64>, Arc<Vector>) = match valid {
            None => (groups.iter().map(|&it| it.into()).collect(), column.clone()),
            Some(valid) => {
                let rows: Vec<u32> =
                    (0..groups.len() as u32).filter(|&it| valid.get(it as usize)).collect();
                let groups = rows.iter().map(|&it| groups[it as usize].into()).collect();
                (groups, Arc::new(Vector { validity: None, ..column.take(&rows) }))
            }
        };
        let rows = groups.len();
        let groups = Arc::new(Vector::new(Values::I64(groups)));
        self.layout.encode(&[groups, values], rows, &mut self.keys);
        self.index.find_or_insert(&self.keys, &mut self.ids);
    }

    /// The group of a value.
    pub fn group(&self, value: usize) -> u32 {
        self.layout.first_number(self.index.keys(), value) as u32
    }

    /// Adds some values of another set, with other group numbers.
    pub fn merge(&mut self, other: &Self, values: &[u32], group: impl Fn(u32) -> u32) {
        let mut keys = other.index.keys().take(values);
        other.layout.map_first(&mut keys, |it| group(it as u32).into());
        self.index.find_or_insert(&keys, &mut self.ids);
    }

    /// The distinct values as rows: group numbers and a vector, ready for an ordinary accumulator.
    pub fn rows(&self) -> (Vec<u32>, Vector) {
        let mut columns = self.layout.decode(self.index.keys()).into_iter();
        let (groups, values) = (columns.next(), columns.next());
        match (groups.map(|it| it.values), values) {
            (Some(Values::I64(groups)), Some(values)) => {
                (groups.into_iter().map(|it| it as u32).collect(), values)
            }
            _ => unreachable!("invariant: a key is a group and a value"),
        }
    }
}
