//! Memory that may not be there: a claim before a large piece is taken, and the sign that it runs short.
//!
//! Key decision: an allocation that fails ends the process, and most of them are in libraries. So large pieces of queries
//! come from `memory::Scratch`, where a refusal is an error of one statement; and small ones are served from a reserve that
//! the allocator of the program keeps (`memory::ReservingAllocator`), while [`is_short`] ends statements until there is
//! enough.
//!
//! - Invariant: nothing here allocates.

use crate::Bytes;

#[cfg(not(loom))]
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

/// Whether the allocator is on its reserve.
#[cfg(not(loom))]
static SHORT: AtomicBool = AtomicBool::new(false);

/// Bytes that the process may still take, as far as is known; `i64::MAX` without a limit.
#[cfg(not(loom))]
static HEADROOM: AtomicI64 = AtomicI64::new(i64::MAX);

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

/// Told by who watches the limit of the process: how far it is away.
#[cfg(not(loom))]
pub fn set_headroom(bytes: Bytes) {
    HEADROOM.store(i64::try_from(bytes.0).unwrap_or(i64::MAX), Ordering::Relaxed);
}

/// Fails when the limit of the process leaves no room for a piece, which is to be mapped now.
pub fn claim(bytes: usize) -> Result<(), OutOfMemory> {
    #[cfg(not(loom))]
    {
        let wanted = i64::try_from(bytes).unwrap_or(i64::MAX);
        // What others ask for before the limit is looked at again counts, too.
        let left = HEADROOM.load(Ordering::Relaxed);
        if left != i64::MAX {
            if left < wanted {
                return Err(OutOfMemory(Bytes(bytes as u64)));
            }
            HEADROOM.fetch_sub(wanted, Ordering::Relaxed);
        }
    }
    #[cfg(loom)]
    let _ = bytes;
    Ok(())
}

/// Takes back a claim, or tells that so much was given back to the system.
pub fn unclaim(bytes: Bytes) {
    #[cfg(not(loom))]
    {
        let more = i64::try_from(bytes.0).unwrap_or(i64::MAX);
        let add = |left: i64| (left != i64::MAX).then(|| left.saturating_add(more));
        let _ = HEADROOM.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }
    #[cfg(loom)]
    let _ = bytes;
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_is_past_the_limit_is_refused() {
        assert_eq!(claim(usize::MAX), Ok(()), "without a limit");
        set_headroom(Bytes(100));
        assert_eq!(claim(101), Err(OutOfMemory(Bytes(101))));
        assert_eq!((claim(60), claim(60)), (Ok(()), Err(OutOfMemory(Bytes(60)))));
        unclaim(Bytes(20));
        assert_eq!(claim(60), Ok(()));
        set_headroom(Bytes(u64::MAX));
        assert_eq!(claim(60), Ok(()));
    }
}
