//! The trace: what every morsel of a traced job did, kept in a ring per worker.
//!
//! A ring is behind a lock that only its worker takes until somebody reads, so a record costs some tens of nanoseconds,
//! on morsels of a hundred microseconds. Jobs that are not traced pay a look at a flag.

use hardware::{CpuId, NodeId};
use stdx::Nanos;
use stdx::sync::Mutex;

use crate::lifecycle::JobState;
use crate::morsel::{Morsel, MorselContext};
use crate::report::JobId;
use crate::report::WorkerId;

/// Events that a ring keeps: the newest.
const RING_EVENTS: usize = 1 << 15;

/// One morsel of a traced job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceEvent {
    /// The statement.
    pub statement: u64,
    /// The pipeline within it.
    pub pipeline: u32,
    /// Whether it was a task of the pipeline's finish, and no rows of its source.
    pub finishing: bool,
    /// The job.
    pub job: JobId,
    /// Who ran it; for a job run inline the slot of callers.
    pub worker: WorkerId,
    /// Where it ran.
    pub node: NodeId,
    /// Where its rows are at home; `None` where that does not matter.
    pub home: Option<NodeId>,
    /// The hardware threads on which it began and ended, as the OS tells them.
    pub cpus: (Option<CpuId>, Option<CpuId>),
    /// Whether the rows had their home on another node.
    pub stolen: bool,
    /// Rows of the morsel.
    pub rows: u64,
    /// Bytes read on the running node.
    pub bytes_local: u64,
    /// Bytes read on other nodes.
    pub bytes_remote: u64,
    /// When it began.
    pub start: Nanos,
    /// When it ended.
    pub end: Nanos,
}

/// Where and when a morsel ran.
pub(crate) struct Ran {
    pub(crate) home: Option<NodeId>,
    pub(crate) cpus: (Option<CpuId>, Option<CpuId>),
    pub(crate) start: Nanos,
    pub(crate) end: Nanos,
}

impl TraceEvent {
    pub(crate) fn new(
        job: &JobState,
        context: &MorselContext,
        morsel: Morsel,
        bytes: &[(NodeId, u64)],
        ran: Ran,
    ) -> Self {
        let all: u64 = bytes.iter().map(|it| it.1).sum();
        let local = bytes.iter().filter(|it| it.0 == context.node).map(|it| it.1).sum();
        Self {
            statement: job.statement,
            pipeline: job.label.pipeline,
            finishing: job.label.finishing,
            job: job.id,
            worker: context.worker,
            node: context.node,
            home: ran.home,
            cpus: ran.cpus,
            stolen: context.stolen,
            rows: morsel.end - morsel.start,
            bytes_local: local,
            bytes_remote: all - local,
            start: ran.start,
            end: ran.end,
        }
    }
}

/// The events of one worker, the newest [`RING_EVENTS`] of them.
pub(crate) struct TraceRing(Mutex<Ring>);

struct Ring {
    events: Vec<TraceEvent>,
    /// Where the next event goes once the ring is full.
    next: usize,
}

impl TraceRing {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Ring { events: Vec::new(), next: 0 }))
    }

    pub(crate) fn push(&self, event: TraceEvent) {
        let mut ring = self.0.lock();
        if ring.events.len() < RING_EVENTS {
            ring.events.push(event);
        } else {
            let at = ring.next;
            ring.events[at] = event;
            ring.next = (at + 1) % RING_EVENTS;
        }
    }

    pub(crate) fn events(&self) -> Vec<TraceEvent> {
        self.0.lock().events.clone()
    }

    pub(crate) fn clear(&self) {
        *self.0.lock() = Ring { events: Vec::new(), next: 0 };
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_full_ring_forgets_the_oldest() {
        let ring = TraceRing::new();
        let event = |number: u64| TraceEvent {
            statement: number,
            pipeline: 0,
            finishing: false,
            job: JobId(0),
            worker: WorkerId(0),
            node: NodeId(0),
            home: None,
            cpus: (None, None),
            stolen: false,
            rows: 1,
            bytes_local: 0,
            bytes_remote: 0,
            start: Nanos(number),
            end: Nanos(number + 1),
        };
        let all = RING_EVENTS as u64 + 10;
        (0..all).for_each(|it| ring.push(event(it)));
        let mut kept: Vec<u64> = ring.events().iter().map(|it| it.statement).collect();
        kept.sort_unstable();
        assert_eq!(kept, (10..all).collect::<Vec<_>>());
        ring.clear();
        assert_eq!(ring.events(), []);
    }
}
