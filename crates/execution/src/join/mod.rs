//! Hash join (P-HYPER 4.1 and 4.2): one table per join, per part or per node, built in two phases,
//! probed by every worker.
//!
//! Key decision: the structure is chosen at run time, when the keys are known (docs/design/04-execution.md, "structures
//! of a join"): an array indexed by key for dense integers, with a bitmap for mere existence, else the tagged lock-free
//! table. Keys of the probe side are brought to the form of the build side per batch, so no structure knows SQL types.
//!
//! Reading order: `build` (sink) with `chunk`, `recipe` and `columns`, `table` with `direct` and `hashed`, `build_side`, `probe_key` with `known`,
//! `lookup`, `probe` and `operator`, `extremes` with `comparison`, `rows`, `fetch`, `sent` (rows that go to the node of
//! their key), `spilled` (what does not fit).
//!
//! - Invariant: a row with a NULL key stands behind all others and in no structure.
//! - Invariant: probes begin after the build has finished, so lookups need no ordering of their own.

mod build;
mod build_side;
mod chunk;
mod columns;
mod comparison;
mod dictionary;
mod direct;
mod extremes;
mod fetch;
mod hash;
mod hashed;
mod in_place;
mod key;
mod known;
mod lookup;
mod operator;
mod out;
mod packing;
mod probe;
mod probe_key;
mod recipe;
mod rising;
mod row_numbers;
mod rows;
mod sent;
mod spilled;
mod stored;
mod table;
#[cfg(test)]
mod tests;

pub use build::BuildSink;
pub use build_side::BuildSide;
pub use fetch::FetchOperator;
pub use in_place::InPlace;
pub use operator::ProbeOperator;
pub use rows::rows_by_match;
pub use spilled::SpillingJoins;
pub use table::{JoinTable, KeyFilter, Structure};

/// In place of a build row: none.
const NO_ROW: u32 = u32::MAX;

/// Rows of the two sides that belong together.
#[derive(Default)]
struct Pairs {
    probe: Vec<u32>,
    build: Vec<u32>,
}

impl Pairs {
    fn len(&self) -> usize {
        self.probe.len()
    }

    #[inline]
    fn push(&mut self, probe: u32, build: u32) {
        self.probe.push(probe);
        self.build.push(build);
    }

    fn resize(&mut self, len: usize) {
        self.probe.resize(len, 0);
        self.build.resize(len, 0);
    }

    /// Keeps the pairs for which `keep` holds.
    fn retain(&mut self, keep: impl Fn(u32, u32) -> bool) {
        let mut kept = 0;
        for index in 0..self.len() {
            let (probe, build) = (self.probe[index], self.build[index]);
            (self.probe[kept], self.build[kept]) = (probe, build);
            kept += usize::from(keep(probe, build));
        }
        self.resize(kept);
    }

    fn clear(&mut self) {
        self.probe.clear();
        self.build.clear();
    }
}
