//! Nested loops over single values: what every join must come to.

use plan::JoinKind;

use crate::{Batch, Layout, Representation, Values};

/// A value in a form that has an order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cell {
    Null,
    Number(i128),
    Float(u64),
    Bool(bool),
    Text(String),
}

/// The rows of batches.
pub(super) fn cells(layout: &Layout, batches: &[Batch]) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for batch in batches {
        for row in 0..batch.rows {
            let cell = |column: usize| {
                let vector = &batch.columns[column];
                if !vector.is_valid(row) {
                    return Cell::Null;
                }
                match (&vector.values, &layout[column].representation) {
                    (Values::Codes(it), Representation::Codes(column)) => {
                        Cell::Text(super::keys::text_of(column, it[row]))
                    }
                    (Values::I64(it), Representation::I64) => Cell::Number(it[row].into()),
                    (Values::I128(it), Representation::I128) => Cell::Number(it[row]),
                    (Values::F64(it), Representation::F64) => Cell::Float(it[row].to_bits()),
                    (Values::Bool(it), Representation::Bool) => Cell::Bool(it[row]),
                    (Values::Text(it), Representation::Text) => Cell::Text(it.get(row).to_owned()),
                    (values, shape) => panic!("{values:?} are not {shape:?}"),
                }
            };
            rows.push((0..layout.len()).map(cell).collect());
        }
    }
    rows
}

/// Whether two keys are equal as SQL sees them; neither is NULL.
fn is_equal(a: &Cell, b: &Cell) -> bool {
    match (a, b) {
        (Cell::Float(a), Cell::Float(b)) => {
            let (a, b) = (f64::from_bits(*a), f64::from_bits(*b));
            a == b || a.is_nan() && b.is_nan()
        }
        _ => a == b,
    }
}

/// A join by definition.
pub(super) struct NaiveJoin<'a> {
    pub(super) kind: JoinKind,
    pub(super) probe_keys: &'a [usize],
    pub(super) build_keys: &'a [usize],
    pub(super) payload: &'a [usize],
    /// Over a row of the probe side and a row of the build side.
    pub(super) residual: &'a dyn Fn(&[Cell], &[Cell]) -> bool,
}

impl NaiveJoin<'_> {
    /// The rows of the join, and for each build row whether it found a partner.
    pub(super) fn run(
        &self,
        probe: &[Vec<Cell>],
        build: &[Vec<Cell>],
    ) -> (Vec<Vec<Cell>>, Vec<bool>) {
        let mut out = Vec::new();
        let mut matched = vec![false; build.len()];
        for left in probe {
            let (mut found, mut unknown) = (false, false);
            for (index, right) in build.iter().enumerate() {
                if !(self.residual)(left, right) {
                    continue;
                }
                match self.compare(left, right) {
                    Some(true) => {}
                    Some(false) => continue,
                    None => {
                        unknown = true;
                        continue;
                    }
                }
                (found, matched[index]) = (true, true);
                if matches!(self.kind, JoinKind::Inner | JoinKind::Left) {
                    let payload = self.payload.iter().map(|&it| right[it].clone());
                    out.push(left.iter().cloned().chain(payload).collect());
                }
            }
            let mark = match (found, unknown) {
                (true, _) => Cell::Bool(true),
                (false, true) => Cell::Null,
                (false, false) => Cell::Bool(false),
            };
            let with = |beyond: Vec<Cell>| left.iter().cloned().chain(beyond).collect();
            match self.kind {
                JoinKind::Left if !found => {
                    out.push(with(self.payload.iter().map(|_| Cell::Null).collect()));
                }
                JoinKind::Semi if found => out.push(left.clone()),
                JoinKind::Anti if !found => out.push(left.clone()),
                JoinKind::AntiNullAware if mark == Cell::Bool(false) => out.push(left.clone()),
                JoinKind::Mark { null_aware: true } => out.push(with(vec![mark])),
                JoinKind::Mark { null_aware: false } => out.push(with(vec![Cell::Bool(found)])),
                _ => {}
            }
        }
        (out, matched)
    }

    /// Equality of all keys with three values.
    fn compare(&self, left: &[Cell], right: &[Cell]) -> Option<bool> {
        let mut result = Some(true);
        for (&probe, &build) in self.probe_keys.iter().zip(self.build_keys) {
            match (&left[probe], &right[build]) {
                (Cell::Null, _) | (_, Cell::Null) => result = result.and(None),
                (a, b) if !is_equal(a, b) => return Some(false),
                _ => {}
            }
        }
        result
    }
}
