//! A transaction that is about to commit, and where those that do are brought together ([`crate::commits`]).

use journal::Lsn;
use scheduler::Combining;
use types::SqlResult;

use crate::transaction_state::Writing;

/// Transactions that are about to commit.
pub(crate) type Commits = Combining<Commit, (Writing, SqlResult<Lsn>)>;

/// A transaction that is about to commit.
pub(crate) struct Commit {
    pub(crate) writing: Writing,
    /// Whether it is answered when it is durable.
    pub(crate) synchronous: bool,
}
