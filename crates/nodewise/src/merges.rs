//! The newest merges: rows that came later put together with others.

use std::collections::VecDeque;

use stdx::Nanos;
use stdx::sync::{Arc, Mutex};
use storage::{Part, Table};

/// Merges that are kept.
const KEPT: usize = 1000;

/// A merge of parts of a table.
#[derive(Clone)]
pub(crate) struct Merge {
    pub(crate) table: String,
    /// Parts that were put together.
    pub(crate) parts: u64,
    /// Rows that were in them.
    pub(crate) rows: u64,
    pub(crate) started: Nanos,
    pub(crate) duration: Nanos,
}

/// The newest merges, oldest first.
#[derive(Default)]
pub(crate) struct Merges(Mutex<VecDeque<Merge>>);

impl Merges {
    /// Notes a merge, if a new version of a table lacks parts of the old one whose rows it has.
    pub(crate) fn note(&self, old: &Table, new: &Table, started: Nanos, ended: Nanos) {
        // A tail that is longer is none.
        if new.parts().len() >= old.parts().len() {
            return;
        }
        let mains = old.partitioning().parts();
        let is_same = |a: &Part, b: &Part| match (a.columns.first(), b.columns.first()) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        let deltas = old.parts().iter().skip(mains);
        let gone: Vec<&Part> =
            deltas.filter(|part| !new.parts().iter().any(|it| is_same(part, it))).collect();
        if gone.is_empty() || new.rows() == 0 {
            return;
        }
        let (parts, rows) = (gone.len() as u64, gone.iter().map(|it| it.live_rows() as u64).sum());
        let (table, duration) = (old.name.clone(), ended - started);
        let mut kept = self.0.lock();
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(Merge { table, parts, rows, started, duration });
    }

    /// All that are kept.
    pub(crate) fn list(&self) -> Vec<Merge> {
        self.0.lock().iter().cloned().collect()
    }
}
