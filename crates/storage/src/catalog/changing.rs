//! Changing a catalog: whoever does leaves its new version where those look who take no lock.

use std::ops::{Deref, DerefMut};

use stdx::sync::RwLockWriteGuard;
use stdx::sync::atomic::{AtomicU64, Ordering};

/// What has a version.
pub(super) trait HasVersion {
    fn version(&self) -> u64;
}

/// The state of a catalog while it is changed: when that is done its version is told.
pub(super) struct Changing<'a, S: HasVersion> {
    state: RwLockWriteGuard<'a, S>,
    current: &'a AtomicU64,
}

impl<'a, S: HasVersion> Changing<'a, S> {
    pub(super) fn new(state: RwLockWriteGuard<'a, S>, current: &'a AtomicU64) -> Self {
        Self { state, current }
    }
}

impl<S: HasVersion> Deref for Changing<'_, S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.state
    }
}

impl<S: HasVersion> DerefMut for Changing<'_, S> {
    fn deref_mut(&mut self) -> &mut S {
        &mut self.state
    }
}

impl<S: HasVersion> Drop for Changing<'_, S> {
    fn drop(&mut self) {
        self.current.store(self.state.version(), Ordering::Release);
    }
}
