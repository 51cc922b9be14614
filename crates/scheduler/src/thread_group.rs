//! A thread group (P-HANA 5.1): the workers of one node that share a last-level cache, with their queues.

use hardware::LlcId;
use stdx::sync::Arc;

use crate::lifecycle::JobState;
use crate::queue::JobQueues;

/// An entry of a queue: a job and the cursor that is at home here.
pub(crate) struct Ticket {
    pub(crate) job: Arc<JobState>,
    pub(crate) cursor: usize,
}

/// Workers that share a cache, and the jobs that are at home with them.
pub(crate) struct ThreadGroup {
    /// The index of its place.
    pub(crate) place: usize,
    pub(crate) llc: LlcId,
    pub(crate) queues: JobQueues<Ticket>,
}
