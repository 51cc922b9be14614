//! Descriptions that are kept once each for as long as the process runs, so that a type that has one stays a small value to copy.
//!
//! Key decision: never given back. A type may stand in any plan, row or file, and who counts uses of it everywhere pays more
//! than the few descriptions that a database has; what a client may make on its own is bounded.

use std::collections::HashSet;
use std::hash::Hash;

use stdx::sync::{Mutex, OnceLock};

use crate::{SqlError, SqlResult, SqlState};

/// Bytes that all descriptions of a kind may take.
const BYTES_MAX: usize = 256 << 20;

/// The descriptions of a kind.
#[derive(Debug)]
pub(crate) struct Interned<T: 'static>(OnceLock<Mutex<Known<T>>>);

#[derive(Debug)]
struct Known<T: 'static> {
    all: HashSet<&'static T>,
    bytes: usize,
}

impl<T: Eq + Hash> Interned<T> {
    /// None yet.
    pub(crate) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// The one description that is equal to this one, which takes about so many bytes.
    ///
    /// # Errors
    /// 54000 for more than there is room for.
    pub(crate) fn keep(&self, description: T, bytes: usize) -> SqlResult<&'static T> {
        let none = || Mutex::new(Known { all: HashSet::new(), bytes: 0 });
        let mut known = self.0.get_or_init(none).lock();
        if let Some(kept) = known.all.get(&description) {
            return Ok(kept);
        }
        if known.bytes.saturating_add(bytes) > BYTES_MAX {
            let message = "there are too many different types, or states of errors";
            return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message));
        }
        let kept: &'static T = Box::leak(Box::new(description));
        known.bytes += bytes;
        known.all.insert(kept);
        Ok(kept)
    }
}
