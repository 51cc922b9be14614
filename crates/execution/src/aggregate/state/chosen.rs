//! One row of each group: the first or the last of an order.

use std::any::Any;

use plan::AggregateFunction;
use stdx::sync::Arc;
use storage::Check;
use types::SqlResult;

use super::interface::{GroupStates, same_kind};
use super::rows::StateRows;
use super::spec::StateSpec;
use crate::Vector;
use crate::expression::null_vector;
use crate::sort::RowKey;

/// Rows that are kept beyond one for each group before those that nobody wants any more are dropped.
const IDLE_ROWS_MAX: usize = 8192;

/// Where a row stands: its key, and of equal ones its place in the source.
type Standing<K> = (K, (u64, u64), u32);

/// The row chosen for a group: where it stands, and where its value is.
#[derive(Clone)]
struct Best<K> {
    standing: Standing<K>,
    vector: u32,
    row: u32,
}

/// The chosen row of each group.
pub(super) struct Chosen<K> {
    spec: StateSpec,
    best: Vec<Option<Best<K>>>,
    /// The values of rows that were chosen once.
    vectors: Vec<Arc<Vector>>,
    /// How many those are.
    rows: usize,
}

impl<K: RowKey> Chosen<K> {
    pub(super) fn new(spec: &StateSpec) -> Self {
        Self { spec: spec.clone(), best: Vec::new(), vectors: Vec::new(), rows: 0 }
    }

    /// Whether a row comes before what a group has.
    fn is_better(&self, group: usize, new: &Standing<K>) -> bool {
        let last = self.spec.function == AggregateFunction::Last;
        match &self.best[group] {
            None => true,
            Some(old) if last => *new > old.standing,
            Some(old) => *new < old.standing,
        }
    }

    /// Drops values that no group wants any more, when they are many.
    fn compact(&mut self) {
        if self.rows > 2 * self.best.len() + IDLE_ROWS_MAX {
            let wanted: Vec<(u32, u32)> =
                self.best.iter().flatten().map(|it| (it.vector, it.row)).collect();
            let source = wanted.iter().map(|it| (&*self.vectors[it.0 as usize], it.1));
            let kept = Vector::collect(&self.spec.result, source);
            self.rows = wanted.len();
            self.vectors = vec![Arc::new(kept)];
            for (row, best) in self.best.iter_mut().flatten().enumerate() {
                (best.vector, best.row) = (0, row as u32);
            }
        }
    }
}

impl<K: RowKey> GroupStates for Chosen<K> {
    fn resize(&mut self, groups: usize) {
        self.best.resize(groups, None);
    }

    fn take(&self, places: &[u32]) -> Box<dyn GroupStates> {
        let best = places.iter().map(|&it| self.best[it as usize].clone()).collect();
        let (spec, vectors) = (self.spec.clone(), self.vectors.clone());
        Box::new(Self { spec, best, vectors, rows: self.rows })
    }

    fn update(&mut self, rows: &StateRows<'_>) {
        let keys: Vec<K> = self.spec.keys(rows);
        let vector = self.vectors.len() as u32;
        let mut improved = Vec::new();
        for (row, group) in rows.counted() {
            let standing = (keys[row].clone(), rows.position, row as u32);
            if self.is_better(group, &standing) {
                improved.push(group);
                self.best[group] = Some(Best { standing, vector, row: row as u32 });
            }
        }
        if improved.is_empty() {
            return;
        }
        improved.sort_unstable();
        improved.dedup();
        let mut places = Vec::with_capacity(improved.len());
        for group in improved {
            if let Some(best) = &mut self.best[group] {
                places.push(best.row);
                best.row = places.len() as u32 - 1;
                best.standing.0 = best.standing.0.detached();
            }
        }
        self.rows += places.len();
        self.vectors.push(Arc::new(rows.arguments[self.spec.arguments[0]].take(&places)));
        self.compact();
    }

    fn merge(&mut self, to: &[u32], other: &dyn GroupStates, from: &[u32]) {
        let other: &Self = same_kind(other);
        let first = self.vectors.len() as u32;
        self.vectors.extend(other.vectors.iter().cloned());
        for (&to, &from) in to.iter().zip(from) {
            let Some(new) = &other.best[from as usize] else { continue };
            if self.is_better(to as usize, &new.standing) {
                self.rows += 1;
                let vector = first + new.vector;
                self.best[to as usize] = Some(Best { vector, ..new.clone() });
            }
        }
        self.compact();
    }

    fn finish(&self, _: Check<'_>) -> SqlResult<Vector> {
        let nothing = null_vector(&self.spec.result, 1);
        let source = self.best.iter().map(|it| match it {
            Some(it) => (&*self.vectors[it.vector as usize], it.row),
            None => (&nothing, 0),
        });
        Ok(Vector::collect(&self.spec.result, source))
    }

    fn bytes(&self) -> u64 {
        let held: u64 = self.vectors.iter().map(|it| it.value_bytes()).sum();
        held + self.best.len() as u64 * size_of::<Option<Best<K>>>() as u64
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
