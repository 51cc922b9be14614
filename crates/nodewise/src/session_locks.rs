//! What a session and its transaction lock beside what they write: advisory locks (docs/design/08-transactions.md, "advisory locks"),
//! and tables that are read ([`crate::read_locks`]).
//!
//! Key decision: calls are made by workers, which never wait. A call takes what nobody is in the way of; what it must wait for
//! is noted, and the session waits when the workers have done their part, before anything is changed by what they gave.

use std::collections::HashMap;

use functions::{AdvisoryKey, AdvisoryLock};
use stdx::sync::atomic::{AtomicBool, Ordering};
use stdx::sync::{Arc, Mutex};
use types::{LockMode, TableId};

use crate::locks::{HolderKind, Lock, Locked, Locks, Owner};

/// What a session and its transaction hold that has nothing to do with what they write.
pub(crate) struct SessionLocks {
    locks: Arc<Locks>,
    session: u64,
    /// Whether something is to be waited for.
    waits: AtomicBool,
    inside: Mutex<Inside>,
}

#[derive(Default)]
struct Inside {
    /// Holds the locks of the session.
    of_session: Option<Owner>,
    /// How often the session holds each.
    counts: HashMap<Lock, u32>,
    /// Holds those of the transaction.
    of_transaction: Option<Owner>,
    /// What calls have asked for and others have, in order.
    wanted: Vec<Wanted>,
}

/// What is done when those in the way are gone.
pub(crate) enum Wanted {
    /// The lock is taken, for the session or for its transaction.
    Lock { lock: Lock, of_transaction: bool },
    /// The session lets go of the lock, once.
    Unlock(Lock),
}

impl SessionLocks {
    pub(crate) fn new(locks: &Arc<Locks>, session: u64) -> Arc<Self> {
        let (waits, inside) = (AtomicBool::new(false), Mutex::default());
        Arc::new(Self { locks: locks.clone(), session, waits, inside })
    }

    /// Takes a lock if nobody is in the way; whether it has it, or is to wait for it.
    pub(crate) fn ask(&self, key: AdvisoryKey, asked: AdvisoryLock) -> bool {
        let AdvisoryLock { shared, of_transaction, wait } = asked;
        let lock = lock_of(key, shared);
        let mut inside = self.inside.lock();
        let owner = self.owner(&mut inside, of_transaction);
        if self.locks.take(owner, &[lock]).is_ok() {
            inside.hold(lock, of_transaction);
            return true;
        }
        if wait {
            inside.wanted.push(Wanted::Lock { lock, of_transaction });
            self.waits.store(true, Ordering::Release);
        }
        wait
    }

    /// Lets go of a lock of the session, once; whether it had it.
    pub(crate) fn unlock(&self, key: AdvisoryKey, shared: bool) -> bool {
        let lock = lock_of(key, shared);
        let mut inside = self.inside.lock();
        self.release(&mut inside, lock) || inside.unlocks_wanted(lock)
    }

    /// Lets go of all locks of the session.
    pub(crate) fn unlock_all(&self) {
        let mut inside = self.inside.lock();
        inside.wanted.retain(|it| matches!(it, Wanted::Lock { of_transaction: true, .. }));
        inside.counts.clear();
        let owner = inside.of_session.take();
        drop(inside);
        drop(owner);
    }

    /// The transaction has ended.
    pub(crate) fn end_transaction(&self) {
        let owner = self.inside.lock().of_transaction.take();
        drop(owner);
    }

    /// How much the transaction has locked.
    pub(crate) fn mark(&self) -> usize {
        let inside = self.inside.lock();
        inside.of_transaction.as_ref().map_or(0, |it| self.locks.mark(it.number()))
    }

    /// Lets go of what the transaction has locked since a mark.
    pub(crate) fn release_behind(&self, mark: usize) {
        let owner = self.inside.lock().of_transaction.as_ref().map(Owner::number);
        owner.into_iter().for_each(|it| self.locks.release_behind(it, mark));
    }

    /// What calls have asked for and others have, in order; it is nobody's any more.
    pub(crate) fn take_wanted(&self) -> Vec<Wanted> {
        match self.waits.swap(false, Ordering::Acquire) {
            true => std::mem::take(&mut self.inside.lock().wanted),
            false => Vec::new(),
        }
    }

    /// Who holds the locks of the session, or of its transaction.
    pub(crate) fn owner_of(&self, of_transaction: bool) -> u64 {
        self.owner(&mut self.inside.lock(), of_transaction)
    }

    /// A lock was taken that had been wanted.
    pub(crate) fn has_got(&self, lock: Lock, of_transaction: bool) {
        self.inside.lock().hold(lock, of_transaction);
    }

    /// Lets go of a lock of the session, once.
    pub(crate) fn let_go(&self, lock: Lock) {
        self.release(&mut self.inside.lock(), lock);
    }

    /// Forgets what a statement that has failed was to wait for.
    pub(crate) fn forget_wanted(&self) {
        self.waits.store(false, Ordering::Release);
        self.inside.lock().wanted.clear();
    }

    fn owner(&self, inside: &mut Inside, of_transaction: bool) -> u64 {
        let (place, kind) = match of_transaction {
            true => (&mut inside.of_transaction, HolderKind::Transaction),
            false => (&mut inside.of_session, HolderKind::Session),
        };
        place.get_or_insert_with(|| self.locks.owner(self.session, kind)).number()
    }

    /// Lets go of a lock, once; whether the session held it.
    fn release(&self, inside: &mut Inside, lock: Lock) -> bool {
        let Some(count) = inside.counts.get_mut(&lock) else { return false };
        *count -= 1;
        if *count == 0 {
            inside.counts.remove(&lock);
            let owner = self.owner(inside, false);
            self.locks.release(owner, lock);
        }
        true
    }
}

impl Inside {
    fn hold(&mut self, lock: Lock, of_transaction: bool) {
        if !of_transaction {
            *self.counts.entry(lock).or_default() += 1;
        }
    }

    /// Lets go of a lock as soon as the statement has it, if it waits for it; whether it does.
    fn unlocks_wanted(&mut self, wanted: Lock) -> bool {
        let balance = self.wanted.iter().fold(0, |balance, it| match it {
            Wanted::Lock { lock, of_transaction: false } if *lock == wanted => balance + 1,
            Wanted::Unlock(lock) if *lock == wanted => balance - 1,
            _ => balance,
        });
        if balance > 0 {
            self.wanted.push(Wanted::Unlock(wanted));
        }
        balance > 0
    }
}

/// The lock of a key.
fn lock_of(key: AdvisoryKey, shared: bool) -> Lock {
    let (is_pair, number) = match key {
        AdvisoryKey::One(number) => (false, number as u64),
        AdvisoryKey::Pair(first, second) => {
            (true, u64::from(first as u32) << 32 | u64::from(second as u32))
        }
    };
    let mode = if shared { LockMode::Share } else { LockMode::Exclusive };
    ((TableId(0), Locked::Advisory(is_pair), number), mode)
}
