//! An allocator for programs that must outlive a shortage: it keeps a reserve, from which small allocations are served that
//! the system refuses (an address space limit, no overcommit) while statements end.
//!
//! Key decision: Rust ends the process when an allocation fails, and offers no way out of that. So one that is small may not
//! fail: it comes from the reserve, and [`stdx::memory::is_short`] tells every statement to end at its next batch. The reserve
//! is ours alone, in chunks that are used from front to back and are free again once all in them was given back; given to
//! the system's allocator it would go to whoever asks first, or into an arena that cannot grow. Large pieces of
//! queries have a way to fail ([`crate::Scratch`]).
//!
//! - Invariant: where nothing is refused an allocation costs a comparison more, and giving it back two.
//! - Limit: what is larger than `CHUNK` and comes from the heap still ends the process, and so does using up the whole
//!   reserve for two seconds.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::{self, NonNull};
use std::time::Duration;

use stdx::memory::set_short;
use stdx::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use stdx::sync::thread;

use crate::{counting, heap};

/// The largest allocation that the reserve serves.
const CHUNK: usize = 4 << 20;
/// Chunks of the reserve: 64 MiB, what some workers allocate in small pieces until they look whether to go on. Addresses only,
/// until they are needed.
const CHUNKS: usize = 16;
const RESERVE: usize = CHUNK * CHUNKS;

/// How often, and how far apart, an allocation is tried that finds the reserve used up: two seconds.
const TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(10);

/// The reserve is larger than anything the allocator has lying about, so it is a mapping of its own, and whole pages.
const LAYOUT: Layout = match Layout::from_size_align(RESERVE, 4096) {
    Ok(layout) => layout,
    Err(_) => panic!("a size that fits"),
};

static RESERVED: Reserve = Reserve {
    base: AtomicPtr::new(ptr::null_mut()),
    taken: AtomicBool::new(false),
    chunks: [const { Chunk { used: AtomicUsize::new(0), live: AtomicUsize::new(0) } }; CHUNKS],
};

/// A part of the reserve.
struct Chunk {
    /// Bytes handed out from its front.
    used: AtomicUsize,
    /// Pieces of them that are not given back.
    live: AtomicUsize,
}

/// The reserve. Its words change under a lock of its own: a lock that parks threads might allocate.
struct Reserve {
    base: AtomicPtr<u8>,
    /// Whether somebody has the lock.
    taken: AtomicBool,
    chunks: [Chunk; CHUNKS],
}

impl Reserve {
    fn locked<T>(&self, body: impl FnOnce() -> T) -> T {
        while self.taken.swap(true, Ordering::Acquire) {
            thread::yield_now();
        }
        let done = body();
        self.taken.store(false, Ordering::Release);
        done
    }

    /// Where a place is in the reserve; `None` for a place of the system's allocator.
    #[inline]
    fn offset(&self, place: *mut u8) -> Option<usize> {
        let base = self.base.load(Ordering::Relaxed).addr();
        let offset = place.addr().wrapping_sub(base);
        (offset < RESERVE && base != 0).then_some(offset)
    }

    /// A piece of the reserve, or null.
    fn alloc(&self, layout: Layout) -> *mut u8 {
        let base = self.base.load(Ordering::Acquire);
        if base.is_null() || layout.size() > CHUNK || layout.align() > LAYOUT.align() {
            return ptr::null_mut();
        }
        self.locked(|| {
            for (number, chunk) in self.chunks.iter().enumerate() {
                let start = chunk.used.load(Ordering::Relaxed).next_multiple_of(layout.align());
                if start + layout.size() <= CHUNK {
                    chunk.used.store(start + layout.size(), Ordering::Relaxed);
                    chunk.live.store(chunk.live.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                    return base.wrapping_add(number * CHUNK + start);
                }
            }
            ptr::null_mut()
        })
    }

    /// Takes a piece back.
    fn dealloc(&self, offset: usize) {
        let chunk = &self.chunks[offset / CHUNK];
        self.locked(|| {
            let live = chunk.live.load(Ordering::Relaxed) - 1;
            chunk.live.store(live, Ordering::Relaxed);
            if live == 0 {
                chunk.used.store(0, Ordering::Relaxed);
            }
        });
    }

    /// Chunks of which nothing is in use.
    fn free(&self) -> usize {
        self.chunks.iter().filter(|it| it.live.load(Ordering::Relaxed) == 0).count()
    }
}

/// The system's allocator with a reserve; to be the global allocator of a program.
pub struct ReservingAllocator;

/// Takes the reserve when the program begins, and later, once what was served from it is given back but for a few chunks, ends
/// the shortage. Tells whether the reserve can be relied on. For programs whose allocator is a [`ReservingAllocator`].
pub fn take_reserve() -> bool {
    if RESERVED.base.load(Ordering::Acquire).is_null() {
        // SAFETY: the layout is not empty.
        let taken = unsafe { System.alloc(LAYOUT) };
        let none = ptr::null_mut();
        let set = Ordering::AcqRel;
        if taken.is_null() {
            return false;
        }
        if RESERVED.base.compare_exchange(none, taken, set, Ordering::Acquire).is_err() {
            // SAFETY: somebody else was faster; this one is ours alone, and came from `System` by this layout.
            unsafe { System.dealloc(taken, LAYOUT) };
        }
    }
    let enough = RESERVED.free() >= CHUNKS * 3 / 4;
    if enough {
        set_short(false);
    }
    enough
}

/// Serves an allocation that was refused: from the reserve, and when that is used up once the statements of other threads
/// have given something back, to the system or to the reserve.
#[cold]
fn after_refusal(layout: Layout, again: impl Fn() -> *mut u8) -> *mut u8 {
    if layout.size() > CHUNK {
        return ptr::null_mut();
    }
    set_short(true);
    for _ in 0..TRIES {
        let taken = RESERVED.alloc(layout);
        if !taken.is_null() {
            return taken;
        }
        thread::sleep(PAUSE);
        let taken = again();
        if !taken.is_null() {
            return taken;
        }
    }
    ptr::null_mut()
}

// SAFETY: memory comes from `System`, by its rules, or from a part of the reserve that nobody else has: it is handed out once
// until its chunk is empty. Both are told apart by their addresses.
unsafe impl GlobalAlloc for ReservingAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if heap::is_large(layout)
            && let Some(block) = heap::take(layout.size())
        {
            return block.as_ptr();
        }
        counting::count(layout.size() as i64);
        // SAFETY: the caller's promise is passed on, here and below.
        let taken = unsafe { System.alloc(layout) };
        if taken.is_null() {
            // SAFETY: as above.
            return after_refusal(layout, || unsafe { System.alloc(layout) });
        }
        taken
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if heap::is_large(layout)
            && let Some(block) = heap::take(layout.size())
        {
            // SAFETY: the block has so many bytes.
            unsafe { block.write_bytes(0, layout.size()) };
            return block.as_ptr();
        }
        counting::count(layout.size() as i64);
        // SAFETY: as in `alloc`.
        let taken = unsafe { System.alloc_zeroed(layout) };
        if taken.is_null() {
            // SAFETY: as in `alloc`.
            let taken = after_refusal(layout, || unsafe { System.alloc(layout) });
            if !taken.is_null() {
                // SAFETY: so many bytes are ours.
                unsafe { taken.write_bytes(0, layout.size()) };
            }
            return taken;
        }
        taken
    }

    #[inline]
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        if heap::is_large(layout)
            && let Some(owner) = heap::owner(place, layout.size())
            && let Some(block) = NonNull::new(place)
        {
            // SAFETY: the caller's promise; the table of owners knows that it is a block.
            unsafe { owner.give_back(block, layout.size()) };
            return;
        }
        counting::count(-(layout.size() as i64));
        match RESERVED.offset(place) {
            Some(offset) => RESERVED.dealloc(offset),
            // SAFETY: the caller's promise is passed on; the place came from `System`.
            None => unsafe { System.dealloc(place, layout) },
        }
    }

    #[inline]
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises a size that makes a layout.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        let owner = heap::is_large(layout).then(|| heap::owner(place, layout.size())).flatten();
        if let (Some(owner), true, Some(block)) = (owner, size > layout.size(), NonNull::new(place))
        {
            // SAFETY: the caller's promise; the table of owners knows that it is a block.
            if let Some(longer) = unsafe { owner.grow(block, layout.size(), size) } {
                return longer.as_ptr();
            }
        }
        // What becomes large goes to its place at once.
        let moves = owner.is_some() || heap::is_large(wanted) && !heap::is_large(layout);
        if !moves && RESERVED.offset(place).is_none() {
            // SAFETY: the caller's promise is passed on; after a failure the place is as it was.
            let taken = unsafe { System.realloc(place, layout, size) };
            if !taken.is_null() {
                counting::count(size as i64 - layout.size() as i64);
                return taken;
            }
        }
        // SAFETY: both places have so many bytes, and the old one is given back once.
        unsafe {
            let moved = self.alloc(wanted);
            if !moved.is_null() {
                ptr::copy_nonoverlapping(place, moved, layout.size().min(size));
                self.dealloc(place, layout);
            }
            moved
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_comes_from_the_reserve_and_goes_back_there() {
        assert!(take_reserve() && take_reserve());
        assert!(!stdx::memory::is_short());
        let layout = Layout::from_size_align(3 << 20, 64).unwrap();
        let refused = || ptr::null_mut();
        let mut pieces: Vec<*mut u8> = (0..8).map(|_| after_refusal(layout, refused)).collect();
        assert!(stdx::memory::is_short());
        assert!(pieces.iter().all(|it| RESERVED.offset(*it).is_some_and(|it| it % 64 == 0)));
        assert!(!take_reserve() && stdx::memory::is_short(), "half of it is in use");
        // SAFETY: each piece is used by its layout, and given back once.
        unsafe {
            for it in &pieces {
                it.write_bytes(7, layout.size());
            }
            let grown = ReservingAllocator.realloc(pieces[0], layout, 5 << 20);
            assert!(RESERVED.offset(grown).is_none(), "there is enough for it");
            assert_eq!((*grown, *grown.add(layout.size() - 1)), (7, 7));
            ReservingAllocator.dealloc(grown, Layout::from_size_align(5 << 20, 64).unwrap());
            pieces.drain(1..).for_each(|it| ReservingAllocator.dealloc(it, layout));
        }
        assert!(take_reserve() && !stdx::memory::is_short());
        let large = Layout::from_size_align(CHUNK + 1, 8).unwrap();
        assert!(after_refusal(large, refused).is_null());
        // What is not refused comes from the system as ever.
        let layout = Layout::from_size_align(100, 8).unwrap();
        // SAFETY: as above.
        unsafe {
            let piece = ReservingAllocator.alloc_zeroed(layout);
            assert_eq!((RESERVED.offset(piece), *piece.add(99)), (None, 0));
            *piece.add(99) = 7;
            let larger = ReservingAllocator.realloc(piece, layout, 200);
            assert_eq!(*larger.add(99), 7);
            ReservingAllocator.dealloc(larger, Layout::from_size_align(200, 8).unwrap());
        }
    }
}
