//! An allocator for programs that must outlive a shortage: it keeps a reserve, so that an allocation which the system
//! refuses (an address space limit, no overcommit) is served all the same while statements end.
//!
//! Key decision: Rust ends the process when an allocation fails, and offers no way out of that. So it may not fail: the
//! first refusal gives the reserve back to the system's allocator and tells [`stdx::memory::is_short`], by which every
//! statement ends at its next batch; then the reserve is taken anew. Large pieces are asked for before they are taken
//! ([`stdx::memory::ask`]), so what comes here without asking is small.
//!
//! - Invariant: where nothing is refused an allocation costs one comparison more.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::time::Duration;

use stdx::memory::set_short;
use stdx::sync::atomic::{AtomicPtr, Ordering};
use stdx::sync::thread;

/// Bytes of the reserve: what some workers allocate in small pieces until they look whether to go on. Addresses only, until
/// they are needed.
const RESERVE: usize = 64 << 20;

/// How often, and how far apart, an allocation is tried that the reserve does not cover any more: two seconds.
const TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(10);

/// The reserve is larger than anything the allocator has lying about, so it is a mapping of its own, and whole pages.
const LAYOUT: Layout = match Layout::from_size_align(RESERVE, 4096) {
    Ok(layout) => layout,
    Err(_) => panic!("a size that fits"),
};

static RESERVED: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

/// The system's allocator with a reserve; to be the global allocator of a program.
pub struct ReservingAllocator;

/// Takes the reserve, or takes it anew after it was used. Tells whether it is whole. For programs whose allocator is a
/// [`ReservingAllocator`].
pub fn take_reserve() -> bool {
    if !RESERVED.load(Ordering::Acquire).is_null() {
        return true;
    }
    // SAFETY: the layout is not empty.
    let taken = unsafe { System.alloc(LAYOUT) };
    if taken.is_null() {
        return false;
    }
    let before = RESERVED.swap(taken, Ordering::AcqRel);
    if !before.is_null() {
        // SAFETY: somebody else took it at the same time; the swap made it ours, and it came from `System` by this layout.
        unsafe { System.dealloc(before, LAYOUT) };
    }
    set_short(false);
    true
}

/// Gives the reserve to the system's allocator; false when it is gone already.
#[cold]
fn release() -> bool {
    set_short(true);
    let reserved = RESERVED.swap(ptr::null_mut(), Ordering::AcqRel);
    if reserved.is_null() {
        return false;
    }
    // SAFETY: the swap made it ours alone, and it came from `System` by this layout.
    unsafe { System.dealloc(reserved, LAYOUT) };
    true
}

/// Tries an allocation that was refused again: with the reserve, and when that is used up as well, while statements of other
/// threads end and give back what they had.
#[cold]
fn after_refusal(again: impl Fn() -> *mut u8) -> *mut u8 {
    release();
    for _ in 0..TRIES {
        let taken = again();
        if !taken.is_null() {
            return taken;
        }
        thread::sleep(PAUSE);
    }
    ptr::null_mut()
}

// SAFETY: all memory comes from `System`, by its rules; what is added is only to try again.
unsafe impl GlobalAlloc for ReservingAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is passed on, here and below.
        let taken = unsafe { System.alloc(layout) };
        if taken.is_null() && layout.size() < RESERVE / 2 {
            // SAFETY: as above.
            return after_refusal(|| unsafe { System.alloc(layout) });
        }
        taken
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        let taken = unsafe { System.alloc_zeroed(layout) };
        if taken.is_null() && layout.size() < RESERVE / 2 {
            // SAFETY: as in `alloc`.
            return after_refusal(|| unsafe { System.alloc_zeroed(layout) });
        }
        taken
    }

    #[inline]
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on; the place came from `System`.
        unsafe { System.dealloc(place, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise is passed on; after a failure the place is as it was.
        let taken = unsafe { System.realloc(place, layout, size) };
        if taken.is_null() && size < RESERVE / 2 {
            // SAFETY: as above.
            return after_refusal(|| unsafe { System.realloc(place, layout, size) });
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserve_is_used_once_and_taken_anew() {
        assert!(take_reserve() && take_reserve());
        assert!(!stdx::memory::is_short());
        assert!(release() && stdx::memory::is_short());
        assert!(!release(), "it is gone");
        assert!(take_reserve() && !stdx::memory::is_short());
        // What is not refused comes from the system as ever.
        let layout = Layout::from_size_align(100, 8).unwrap();
        // SAFETY: each piece is used by its layout, and given back once.
        unsafe {
            let piece = ReservingAllocator.alloc_zeroed(layout);
            assert_eq!(*piece.add(99), 0);
            *piece.add(99) = 7;
            let larger = ReservingAllocator.realloc(piece, layout, 200);
            assert_eq!(*larger.add(99), 7);
            ReservingAllocator.dealloc(larger, Layout::from_size_align(200, 8).unwrap());
        }
    }
}
