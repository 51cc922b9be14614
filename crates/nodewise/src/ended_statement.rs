//! What is told of single statements to who serves their session, as for traces.

use stdx::Nanos;
use types::SqlState;

/// Is asked when a statement of a session begins, with its whole text: who is told of it when it has ended, if anybody is.
pub type Follow = Box<dyn Fn(&str) -> Option<Told> + Send + Sync>;

/// Is told of a statement that has ended, by the thread of its session, so it is not to take long.
pub type Told = Box<dyn FnOnce(EndedStatement) + Send>;

/// A statement that has ended. Times are of the machine's clock.
#[derive(Clone, Debug)]
pub struct EndedStatement {
    /// The beginning of its text; of one that has a password in it, or that could not be read or prepared, without its constants.
    pub text: String,
    /// What it is, in a word: *select*, *insert*, *prepare*, *commit*; *other* where that says little.
    pub kind: &'static str,
    /// What its client calls the database.
    pub database: String,
    /// When it began, its parsing included.
    pub began: Nanos,
    /// When it had ended, its commit included.
    pub ended: Nanos,
    /// How long the database worked for it, and waited for others; not for its client.
    pub worked: Nanos,
    /// Rows that it gave or changed, where they are counted.
    pub rows: Option<u64>,
    /// Why it failed, if it did.
    pub error: Option<SqlState>,
    /// What it did, by time. Pipelines may overlap.
    pub steps: Vec<StatementStep>,
}

/// Something that a statement did.
#[derive(Clone, Debug)]
pub struct StatementStep {
    /// What: *parse*, *bind*, *plan*, *commit*, or what a pipeline reads and makes.
    pub name: String,
    /// When it began.
    pub began: Nanos,
    /// When it had ended.
    pub ended: Nanos,
    /// Of a pipeline, what it did.
    pub pipeline: Option<PipelineWork>,
}

/// What a pipeline did. Numbers are zero where the statement ended before they were known.
#[derive(Clone, Copy, Debug, Default)]
pub struct PipelineWork {
    /// Its number in the plan.
    pub number: u32,
    /// Rows that reached its end.
    pub rows: u64,
    /// Pieces in which it ran.
    pub morsels: u64,
    /// Those of them that ran away from the node of their rows.
    pub stolen: u64,
    /// Bytes of its source on the nodes of the workers that read them.
    pub bytes_local: u64,
    /// The same on other nodes.
    pub bytes_remote: u64,
    /// Bytes written to temporary files.
    pub spilled: u64,
}
