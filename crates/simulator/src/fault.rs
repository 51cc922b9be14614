//! What may go wrong on a modelled machine.

use hardware::{CpuId, NodeId};
use stdx::Nanos;

/// A fault, injected when the machine is made.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fault {
    /// A core whose clock runs at a share of what it should.
    SlowCore {
        /// One of its hardware threads.
        cpu: CpuId,
        /// The share, above zero.
        speed: f64,
    },
    /// A worker that takes no step for a while, as one that the OS does not let run.
    StalledWorker {
        /// The worker, in the order in which they are started.
        worker: usize,
        /// From when on.
        from: Nanos,
        /// For how long.
        span: Nanos,
    },
    /// A node whose memory is gone.
    NoMemory {
        /// The node.
        node: NodeId,
    },
    /// Another process that keeps a hardware thread busy and reads memory.
    Interference {
        /// The thread that it shares with whoever else runs there.
        cpu: CpuId,
        /// The node whose memory it reads.
        node: NodeId,
        /// Bytes per second that it reads.
        bandwidth: f64,
    },
}
