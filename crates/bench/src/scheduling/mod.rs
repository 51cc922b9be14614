//! The scheduler for real: what it costs, and the experiments of P-HYPER 3.3 and 5.4 on this machine.
//!
//! Every experiment compares variants in turns within one run, and reports ratios: the machine may be shared.

pub mod cost;
pub mod interference;
pub mod morsels;
pub mod streams;
pub mod trace;

use nodewise::{Session, SqlResult};
use stdx::Nanos;

use crate::record::geometric_mean;

/// The time of one statement.
fn timed(session: &mut Session, sql: &str) -> SqlResult<Nanos> {
    let machine = session.database().machine().clone();
    let started = machine.now();
    session.query(sql)?;
    Ok(machine.now() - started)
}

/// The least of each query's times, over rounds that take turns between variants: `times[variant][query]`.
struct Best(Vec<Vec<Option<Nanos>>>);

impl Best {
    fn new(variants: usize, queries: usize) -> Self {
        Self(vec![vec![None; queries]; variants])
    }

    fn add(&mut self, variant: usize, query: usize, time: Nanos) {
        let best = &mut self.0[variant][query];
        *best = Some(best.map_or(time, |it| it.min(time)));
    }

    /// The geometric mean over the queries of a variant.
    fn mean(&self, variant: usize) -> Nanos {
        geometric_mean(self.0[variant].iter().flatten().map(|it| Some(*it))).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_geometric_and_bests_are_least() {
        assert_eq!(geometric_mean([]), None);
        assert_eq!(geometric_mean([Some(Nanos(100)), Some(Nanos(10_000))]), Some(Nanos(1_000)));
        let mut best = Best::new(2, 2);
        for (variant, query, time) in [(0, 0, 400), (0, 0, 100), (0, 1, 900), (1, 1, 5)] {
            best.add(variant, query, Nanos(time));
        }
        assert_eq!((best.mean(0).0.abs_diff(300) <= 1, best.mean(1)), (true, Nanos(5)));
    }
}
