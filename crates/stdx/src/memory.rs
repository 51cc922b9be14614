//! Memory that may not be there: asking before a large piece is taken, and the sign that it runs short.
//!
//! Key decision: an allocation that fails ends the process, and most of them are in libraries. So large pieces are asked
//! for here first, where a refusal is an error of one statement; and small ones are served from a reserve that the
//! allocator of the program keeps (`memory::ReservingAllocator`), while [`is_short`] ends statements until there is enough.
//!
//! - Invariant: nothing here allocates, except for the trial that [`ask`] gives back at once.

use crate::Bytes;

#[cfg(not(loom))]
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

/// Pieces below this are not asked for: the reserve covers them.
const LARGE: usize = 1 << 20;

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

/// Fails when a piece of so many bytes is not to be had now: by the limit of the process, or because the system refuses it.
/// To be called before a piece is taken whose size a statement chooses.
pub fn ask(bytes: usize) -> Result<(), OutOfMemory> {
    if bytes < LARGE {
        return Ok(());
    }
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
    let mut trial: Vec<u8> = Vec::new();
    trial.try_reserve_exact(bytes).map_err(|_| OutOfMemory(Bytes(bytes as u64)))
}

/// [`ask`] for what `vec` takes to grow by `more` elements, if it has to.
#[inline]
pub fn ask_growth<T>(vec: &Vec<T>, more: usize) -> Result<(), OutOfMemory> {
    if vec.capacity() - vec.len() >= more {
        return Ok(());
    }
    // A vector doubles; the old piece is there until the new one is filled.
    let grown = (vec.capacity() * 2).max(vec.len().saturating_add(more));
    ask(grown.saturating_mul(size_of::<T>()))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_had_is_refused_and_small_pieces_are_not_asked_for() {
        assert_eq!(ask(0), Ok(()));
        assert_eq!(ask(64 << 20), Ok(()));
        let all = isize::MAX as usize;
        assert_eq!(ask(all), Err(OutOfMemory(Bytes(all as u64))));
        let vec: Vec<u64> = Vec::with_capacity(10);
        assert_eq!(ask_growth(&vec, 10), Ok(()));
        assert!(ask_growth(&vec, all / 8).is_err());
        assert!(ask_growth(&vec, usize::MAX).is_err(), "no overflow on the way");
    }
}
