//! Waiting for the advisory locks that calls of a statement have asked for ([`crate::session_locks`]).

use types::SqlResult;

use crate::locks::Locks;
use crate::session_locks::Wanted;
use crate::{CancelToken, Session};

impl Session {
    /// Waits for the advisory locks that calls of the statement have asked for and others have.
    ///
    /// Errors: as of [`Session::wait_for_locks`].
    pub(crate) fn wait_for_advisory(&self, cancel: &CancelToken) -> SqlResult<()> {
        let advisory = &self.session_locks;
        for it in advisory.take_wanted() {
            match it {
                Wanted::Unlock(lock) => advisory.let_go(lock),
                Wanted::Lock { lock, of_transaction } => {
                    let owner = advisory.owner_of(of_transaction);
                    let take = |locks: &Locks, owner: u64| locks.take(owner, &[lock]);
                    self.wait_for((owner, Some(lock)), cancel, take)?;
                    advisory.has_got(lock, of_transaction);
                }
            }
        }
        Ok(())
    }

    /// Forgets what the statement that has failed was to wait for.
    pub(crate) fn forget_advisory(&self) {
        self.session_locks.forget_wanted();
    }
}
