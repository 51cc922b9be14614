//! What happened when a plan ran, as EXPLAIN ANALYZE tells it.

use crate::PipelineId;

/// What happened in one pipeline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PipelineActuals {
    /// Rows that reached the sink.
    pub rows: u64,
    /// Time from its first task to its end, in nanoseconds.
    pub nanos: u64,
    /// Morsels.
    pub morsels: u64,
    /// Morsels that a worker of another node took.
    pub stolen: u64,
    /// Bytes of columns that scans read on the node that ran the morsel.
    pub local_bytes: u64,
    /// The same on other nodes.
    pub remote_bytes: u64,
    /// Bytes of all other items (joins, groups, sorts, bitmaps, dictionaries, results), read and written, on the node that ran
    /// the morsel or task.
    pub kept_local_bytes: u64,
    /// The same on other nodes.
    pub kept_remote_bytes: u64,
    /// The most bytes of memory that were held for what it ends in, with what its workers had in their hands.
    pub memory_peak_bytes: u64,
    /// Bytes written to temporary files.
    pub spilled_bytes: u64,
    /// What the adaptive strategy has learned: whether it is bound by memory, and bytes per second of a worker.
    pub learned: Option<(bool, u64)>,
    /// What the source learned, a line; empty when it has nothing to say.
    pub source: String,
    /// Where the time went, step by step.
    pub steps: Vec<StepActuals>,
}

impl PipelineActuals {
    /// Its memory intensity: bytes from and to memory for each cycle of its workers, where cycles are known.
    pub fn bytes_per_cycle(&self) -> Option<f64> {
        let cycles: f64 = self.steps.iter().map(|it| it.cycles).sum::<Option<f64>>()?;
        let bytes =
            self.local_bytes + self.remote_bytes + self.kept_local_bytes + self.kept_remote_bytes;
        (cycles > 0.0).then(|| bytes as f64 / cycles)
    }
}

/// What one step of a pipeline took, all workers together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepActuals {
    /// What it does.
    pub name: String,
    /// Time, in nanoseconds.
    pub nanos: u64,
    /// Rows that it was given.
    pub rows: u64,
    /// Rows that it handed on, where they are counted.
    pub rows_out: Option<u64>,
    /// Bytes of columns that it read.
    pub bytes: u64,
    /// Clock cycles, counted or estimated.
    pub cycles: Option<f64>,
    /// Bytes a nanosecond as a share of what the machine can read, where that is known.
    pub bandwidth: Option<f64>,
}

/// What is said of a pipeline beside its steps.
pub trait Remarks {
    /// What happened, if it has run.
    fn actuals(&self, pipeline: PipelineId) -> Option<PipelineActuals>;
    /// Where what it leaves will lie, a line.
    fn placement(&self, pipeline: PipelineId) -> Option<String>;
}

/// Nothing is said.
impl Remarks for () {
    fn actuals(&self, _: PipelineId) -> Option<PipelineActuals> {
        None
    }

    fn placement(&self, _: PipelineId) -> Option<String> {
        None
    }
}
