//! The one door to atomics and locks: std's own, or loom's when a model check is built with `--cfg loom`.
//!
//! [`Mutex`] and [`RwLock`] hand out guards without a poison result: a panic in this code base is a bug that ends the
//! query, and the data behind a lock stays readable for the others.

#[cfg(loom)]
pub use loom::{
    hint,
    sync::{Arc, Condvar, atomic},
    thread,
};
/// A value that is set once. A model check takes std's, too: nothing waits for it.
pub use std::sync::OnceLock;
#[cfg(not(loom))]
pub use std::{
    hint,
    sync::{Arc, Condvar, Weak, atomic},
    thread,
};

use std::sync::TryLockError;

#[cfg(loom)]
use loom::sync as imp;
#[cfg(not(loom))]
use std::sync as imp;

/// The guard of a [`Mutex`].
pub type MutexGuard<'a, T> = imp::MutexGuard<'a, T>;
/// A shared guard of a [`RwLock`].
pub type RwLockReadGuard<'a, T> = imp::RwLockReadGuard<'a, T>;
/// The exclusive guard of a [`RwLock`].
pub type RwLockWriteGuard<'a, T> = imp::RwLockWriteGuard<'a, T>;

/// How often one looks whether a lock is free before one sleeps, with pauses that double up to two to the power of
/// [`LONGEST_PAUSE`] hints to the processor: some microseconds in all.
#[cfg(not(loom))]
const LOOKS: u32 = 12;
#[cfg(not(loom))]
const LONGEST_PAUSE: u32 = 5;

/// Mutual exclusion.
#[derive(Debug, Default)]
pub struct Mutex<T>(imp::Mutex<T>);

impl<T> Mutex<T> {
    /// A lock around `value`.
    pub fn new(value: T) -> Self {
        Self(imp::Mutex::new(value))
    }

    /// Waits for the lock.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        #[cfg(not(loom))]
        return self.try_lock().unwrap_or_else(|| self.lock_later());
        #[cfg(loom)]
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Waits for a lock that somebody holds: looking again for some time first, whoever else sleeps for it. Locks are held for less
    /// time than a thread takes to wake up, and where one that sleeps makes all who come sleep as well, as std's locks do, none gets the
    /// lock sooner than a thread wakes up.
    #[cfg(not(loom))]
    #[cold]
    fn lock_later(&self) -> MutexGuard<'_, T> {
        for round in 0..LOOKS {
            for _ in 0..1 << round.min(LONGEST_PAUSE) {
                hint::spin_loop();
            }
            if let Some(guard) = self.try_lock() {
                return guard;
            }
        }
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The lock, if nobody holds it.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The value, when nobody else can hold the lock.
    pub fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Many readers or one writer.
#[derive(Debug, Default)]
pub struct RwLock<T>(imp::RwLock<T>);

impl<T> RwLock<T> {
    /// A lock around `value`.
    pub fn new(value: T) -> Self {
        Self(imp::RwLock::new(value))
    }

    /// Waits until no writer holds the lock.
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Waits until nobody holds the lock.
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// A value alone on its cache lines, which processors fetch in pairs: so who writes it takes nothing else from others.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Apart<T>(pub T);

impl<T> std::ops::Deref for Apart<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// A number of the calling thread below `lanes`: threads that count at once do so in as many places, which are summed up when
/// somebody asks.
#[inline]
pub fn lane(lanes: usize) -> usize {
    #[cfg(not(loom))]
    {
        use std::cell::Cell;

        static NEXT: atomic::AtomicUsize = atomic::AtomicUsize::new(0);
        thread_local! {
            static OWN: Cell<usize> = const { Cell::new(usize::MAX) };
        }
        let own = OWN.get();
        if own != usize::MAX {
            return own % lanes;
        }
        let new = NEXT.fetch_add(1, atomic::Ordering::Relaxed) % (usize::MAX >> 1);
        OWN.set(new);
        new % lanes
    }
    // A model has few threads, and no state of theirs.
    #[cfg(loom)]
    return 0 % lanes;
}
