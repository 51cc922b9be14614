//! What a query tells of itself when it is done.

use stdx::{Bytes, Nanos};

use crate::StepReport;

/// What a pipeline did.
#[derive(Clone, Debug, Default)]
pub struct PipelineReport {
    /// Rows that reached the sink.
    pub rows: u64,
    /// From submission to the end of the finish of its sink; pipelines that ran at once overlap.
    pub time: Nanos,
    /// Morsels run.
    pub morsels: u64,
    /// Morsels run away from the node of their data.
    pub stolen: u64,
    /// Bytes of the source on the node of the worker that read them.
    pub bytes_local: u64,
    /// Bytes of the source on other nodes.
    pub bytes_remote: u64,
    /// Bytes of all other items ([`crate::Item`]) on the node of the worker that read or wrote them, as [`crate::Accesses`]
    /// counts.
    pub kept_local: u64,
    /// The same on other nodes.
    pub kept_remote: u64,
    /// The most memory that was held for what it ends in, with what its workers had in their hands.
    pub memory_peak: Bytes,
    /// Written to temporary files, in what it ends in and where its rows waited.
    pub spilled: Bytes,
    /// What the adaptive strategy has learned of its morsels: whether they are bound by memory, so that they stay on their nodes,
    /// and bytes per second of a worker. `None` under other strategies, and where there was too little to learn from.
    pub learned: Option<(bool, u64)>,
    /// What the source learned, a line.
    pub source: String,
    /// Where the time went; empty when the query is not profiled.
    pub steps: Vec<StepReport>,
}

impl PipelineReport {
    /// Adds what the pipeline did with more of its rows.
    pub(crate) fn add(&mut self, more: Self) {
        self.rows += more.rows;
        self.time += more.time;
        self.morsels += more.morsels;
        self.stolen += more.stolen;
        self.bytes_local += more.bytes_local;
        self.bytes_remote += more.bytes_remote;
        self.kept_local += more.kept_local;
        self.kept_remote += more.kept_remote;
        // These are told of all rows so far.
        self.memory_peak = more.memory_peak;
        self.spilled = more.spilled;
        self.source = more.source;
        self.steps = more.steps;
        self.learned = more.learned.or(self.learned);
    }
}
