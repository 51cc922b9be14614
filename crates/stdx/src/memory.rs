//! Memory that may not be there: the error of a refusal, and the sign that the system has none left.
//!
//! Key decision: an allocation that fails ends the process, and most of them are in libraries. So large pieces of queries
//! come from `memory::Scratch`, where a refusal is an error of one statement; and small ones are served from a reserve that
//! the allocator of the program keeps (`memory::ReservingAllocator`), while [`is_short`] ends statements until there is
//! enough.
//!
//! - Invariant: nothing here allocates.

use crate::Bytes;

#[cfg(not(loom))]
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the allocator is on its reserve.
#[cfg(not(loom))]
static SHORT: AtomicBool = AtomicBool::new(false);

/// So much memory is not there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutOfMemory(pub Bytes);

/// Whether memory runs short: statements that work on rows end then.
#[inline]
pub fn is_short() -> bool {
    #[cfg(not(loom))]
    {
        SHORT.load(Ordering::Relaxed)
    }
    #[cfg(loom)]
    {
        false
    }
}

/// Told by the allocator when it goes to its reserve, and when that is whole again.
#[cfg(not(loom))]
pub fn set_short(short: bool) {
    SHORT.store(short, Ordering::Relaxed);
}
