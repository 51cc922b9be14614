//! Each primitive by itself: rows a second, and the share of what memory can deliver.
//!
//! Key decision: kernels on packed codes are called as they are, on one thread and the range on all; what has a state (hash tables, groups)
//! runs as a query made for it, of which the one step is taken that the primitive is, so that it is measured where users
//! meet it. Times of queries are those of all workers together, so figures of both kinds are per worker.

pub mod packed;
pub mod steps;

use stdx::Nanos;

/// The best of some passes over a primitive.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// What it is.
    pub name: String,
    /// Rows of a pass.
    pub rows: u64,
    /// Time of a pass, of all workers together.
    pub time: Nanos,
    /// Bytes of packed columns that a pass reads; zero where its input comes from the step before.
    pub bytes: u64,
}

impl Measured {
    /// Millions of rows in a second.
    pub fn millions_per_second(&self) -> f64 {
        self.rows as f64 * 1e3 / self.time.0.max(1) as f64
    }

    /// Bytes a nanosecond; `None` where none are read.
    pub fn gigabytes_per_second(&self) -> Option<f64> {
        (self.bytes > 0).then(|| self.bytes as f64 / self.time.0.max(1) as f64)
    }
}
