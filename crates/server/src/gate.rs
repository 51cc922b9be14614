//! How many sessions run at a time.
//!
//! Key decision: the threads of the pool are bounded by a gate, and a session in the middle of a transaction passes it by: all
//! in front of it may wait for what it holds. Threads that wait for the next request of a client are bounded, too.

use nodewise::WORKERS_MAX;
use stdx::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Sessions outside of a transaction that run at once, for each worker: many, as most of them wait for one another.
const PER_WORKER: usize = 16;
const LEAST: usize = 64;

/// Threads that wait for the next request of their client: each may save a client the way through the runtime, and costs a stack.
const DIRECT: usize = 128;

/// The gate.
#[derive(Clone)]
pub struct Gate {
    steps: Arc<Semaphore>,
    direct: Arc<Semaphore>,
}

impl Gate {
    /// For a pool of so many workers.
    pub fn new(workers: usize) -> Self {
        let steps = (workers.min(WORKERS_MAX) * PER_WORKER).max(LEAST);
        Self { steps: Arc::new(Semaphore::new(steps)), direct: Arc::new(Semaphore::new(DIRECT)) }
    }

    /// Waits for a place; one in a transaction needs none.
    pub async fn enter(&self, in_transaction: bool) -> Option<OwnedSemaphorePermit> {
        match in_transaction {
            true => None,
            false => self.steps.clone().acquire_owned().await.ok(),
        }
    }

    /// A place, if there is one at once.
    pub fn try_enter(&self, in_transaction: bool) -> Option<Option<OwnedSemaphorePermit>> {
        match in_transaction {
            true => Some(None),
            false => self.steps.clone().try_acquire_owned().ok().map(Some),
        }
    }

    /// A place for a thread that waits for its client.
    pub fn try_direct(&self) -> Option<OwnedSemaphorePermit> {
        self.direct.clone().try_acquire_owned().ok()
    }
}
