//! Throughput by the number of query streams (P-HYPER figure 12): many workers for few queries, or few for many, must
//! do the same work in the same time.

use nodewise::tpch::queries;
use nodewise::{Database, SqlResult};
use stdx::sync::atomic::{AtomicUsize, Ordering};
use stdx::sync::{Arc, Mutex, thread};
use stdx::{Nanos, Prng};

/// What some streams did together.
#[derive(Clone, Copy, Debug)]
pub struct Throughput {
    /// Streams.
    pub streams: usize,
    /// Queries that they ran.
    pub queries: usize,
    /// The time from the first to the last.
    pub time: Nanos,
}

impl Throughput {
    /// Queries in a second.
    pub fn per_second(&self) -> f64 {
        self.queries as f64 * 1e9 / self.time.0.max(1) as f64
    }
}

/// Lets streams run random permutations of the 22 queries, until all have run `total` together. TPC-H must be loaded.
pub fn run(database: &Arc<Database>, streams: usize, total: usize) -> SqlResult<Throughput> {
    let begun = AtomicUsize::new(0);
    let failed = Mutex::new(None);
    let machine = database.machine().clone();
    let started = machine.now();
    thread::scope(|scope| {
        for stream in 0..streams {
            let (begun, failed) = (&begun, &failed);
            scope.spawn(move || {
                let mut session = database.session();
                let mut prng = Prng::new(stream as u64 + 1);
                let mut order: Vec<usize> = Vec::new();
                while begun.fetch_add(1, Ordering::Relaxed) < total {
                    if order.is_empty() {
                        order = permutation(queries().len(), &mut prng);
                    }
                    let query = order.pop().map_or("", |it| queries()[it].1);
                    if let Err(error) = session.query(query) {
                        failed.lock().get_or_insert(error);
                        return;
                    }
                }
            });
        }
    });
    let time = machine.now() - started;
    match failed.into_inner() {
        Some(error) => Err(error),
        None => Ok(Throughput { streams, queries: total, time }),
    }
}

/// The numbers below `count` in random order.
fn permutation(count: usize, prng: &mut Prng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for at in (1..count).rev() {
        order.swap(at, prng.below(at as u64 + 1) as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutations_hold_every_number_and_differ() {
        let mut prng = Prng::new(1);
        let (one, two) = (permutation(22, &mut prng), permutation(22, &mut prng));
        assert_ne!(one, two);
        for mut order in [one, two] {
            order.sort_unstable();
            assert_eq!(order, (0..22).collect::<Vec<_>>());
        }
    }
}
