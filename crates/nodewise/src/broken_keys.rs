//! UNIQUE and PRIMARY KEY that are DEFERRABLE: broken in a transaction until it ends (docs/design/08-transactions.md, "deferrable keys").
//!
//! Key decision: a change asks of all keys as ever. If a key that may be broken is, that is noted and no more; only then all rows of
//! the tables that the transaction has changed are asked at its end. Keys are locked as ever, so that nobody brings one meanwhile.

use stdx::sync::Mutex;
use stdx::sync::atomic::{AtomicBool, Ordering};
use storage::{BrokenKeys, TableIndex};

use crate::transaction_state::ConstraintModes;

/// Whether keys are broken that may be until the transaction ends.
#[derive(Default)]
pub(crate) struct BrokenUntilCommit {
    /// What SET CONSTRAINTS has said; nothing where a statement is a transaction.
    modes: Mutex<Option<ConstraintModes>>,
    is_any: AtomicBool,
}

impl BrokenUntilCommit {
    /// The same in a transaction in which that has been said.
    pub(crate) fn of(&self, modes: Option<&ConstraintModes>) -> &Self {
        *self.modes.lock() = modes.cloned();
        self
    }

    /// Whether any is.
    pub(crate) fn is_any(&self) -> bool {
        self.is_any.load(Ordering::Relaxed)
    }

    /// A transaction begins.
    pub(crate) fn forget(&self) {
        self.is_any.store(false, Ordering::Relaxed);
    }
}

impl BrokenKeys for BrokenUntilCommit {
    fn is_put_off(&self, rule: &TableIndex) -> bool {
        let is_deferred =
            self.modes.lock().as_ref().is_some_and(|it| it.defer(&rule.name, rule.deferral));
        if is_deferred {
            self.is_any.store(true, Ordering::Relaxed);
        }
        is_deferred
    }
}
