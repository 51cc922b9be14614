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

/// Mutual exclusion.
#[derive(Debug, Default)]
pub struct Mutex<T>(imp::Mutex<T>);

impl<T> Mutex<T> {
    /// A lock around `value`.
    pub fn new(value: T) -> Self {
        Self(imp::Mutex::new(value))
    }

    /// Waits for the lock.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The lock, if nobody holds it.
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
