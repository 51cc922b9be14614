//! Statements that took long, told to who wants to know.

use stdx::Nanos;
use types::SqlState;

/// A statement that took long.
#[derive(Clone, Debug)]
pub struct SlowStatement {
    /// Its text; one that has a password in it, without its constants.
    pub text: String,
    /// The number of its session.
    pub session: u64,
    /// How long the database worked for it, and waited for others; not for its client.
    pub took: Nanos,
    /// Rows that it gave or changed.
    pub rows: u64,
    /// Why it failed, if it did.
    pub error: Option<SqlState>,
    /// Its plan, where plans were asked for and it had one.
    pub plan: Option<String>,
}

/// Who is told, of what.
pub struct SlowStatements {
    /// How long a statement takes that is told.
    pub from: Nanos,
    /// Whether plans are told, too: the plan of each statement is then written when it begins.
    pub plans: bool,
    /// Is called by the thread of the session, so it is not to take long.
    pub tell: Box<dyn Fn(&SlowStatement) + Send + Sync>,
}

impl std::fmt::Debug for SlowStatements {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SlowStatements").field("from", &self.from).finish_non_exhaustive()
    }
}
