//! How many sessions run at a time.
//!
//! Key decision: the threads of the pool are bounded by a gate, and a session in the middle of a transaction passes it by: all
//! in front of it may wait for what it holds.

use nodewise::WORKERS_MAX;
use stdx::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Sessions outside of a transaction that run at once, for each worker: many, as most of them wait for one another.
const PER_WORKER: usize = 16;
const LEAST: usize = 64;

/// The gate.
#[derive(Clone)]
pub struct Gate(Arc<Semaphore>);

impl Gate {
    /// For a pool of so many workers.
    pub fn new(workers: usize) -> Self {
        Self(Arc::new(Semaphore::new((workers.min(WORKERS_MAX) * PER_WORKER).max(LEAST))))
    }

    /// Waits for a place; one in a transaction needs none.
    pub async fn enter(&self, in_transaction: bool) -> Option<OwnedSemaphorePermit> {
        match in_transaction {
            true => None,
            false => self.0.clone().acquire_owned().await.ok(),
        }
    }
}
