//! Spans that wait to be sent.

use stdx::sync::Mutex;
use stdx::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Notify;

use super::messages::Span;

/// Spans that may wait: some megabytes.
const WAITING_MAX: usize = 8192;
/// Spans that are sent at once.
pub const BATCH: usize = 512;

/// Spans that wait to be sent, and what became of those before.
#[derive(Default)]
pub struct Queue {
    waiting: Mutex<Vec<Span>>,
    /// Wakes who sends when there is a batch.
    full: Notify,
    exported: AtomicU64,
    dropped: AtomicU64,
}

impl Queue {
    /// Adds the spans of a statement; all or none of them. Waits for nothing.
    pub fn push(&self, spans: Vec<Span>) {
        let mut waiting = self.waiting.lock();
        if waiting.len() + spans.len() > WAITING_MAX {
            drop(waiting);
            return self.count_dropped(spans.len());
        }
        waiting.extend(spans);
        let is_full = waiting.len() >= BATCH;
        drop(waiting);
        if is_full {
            self.full.notify_one();
        }
    }

    /// The oldest, as many as are sent at once.
    pub fn take(&self) -> Vec<Span> {
        let mut waiting = self.waiting.lock();
        let count = waiting.len().min(BATCH);
        waiting.drain(..count).collect()
    }

    /// Waits until there are as many as are sent at once.
    pub async fn filled(&self) {
        self.full.notified().await;
    }

    pub fn count_exported(&self, spans: usize) {
        self.exported.fetch_add(spans as u64, Ordering::Relaxed);
    }

    pub fn count_dropped(&self, spans: usize) {
        self.dropped.fetch_add(spans as u64, Ordering::Relaxed);
    }

    /// How many were taken by the collector, and how many were not.
    pub fn counts(&self) -> (u64, u64) {
        (self.exported.load(Ordering::Relaxed), self.dropped.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_finds_no_room_is_counted_and_the_oldest_go_first() {
        let queue = Queue::default();
        let named = |name: usize| Span { name: name.to_string(), ..Span::default() };
        (0..WAITING_MAX - 1).for_each(|it| queue.push(vec![named(it)]));
        queue.push(vec![named(0), named(0)]);
        assert_eq!(queue.counts(), (0, 2));
        queue.push(vec![named(0)]);
        assert_eq!(queue.counts(), (0, 2));
        let batch = queue.take();
        assert_eq!((batch.len(), &*batch[0].name, &*batch[BATCH - 1].name), (BATCH, "0", "511"));
        queue.push(vec![named(0); BATCH]);
        assert_eq!(queue.counts(), (0, 2));
    }
}
