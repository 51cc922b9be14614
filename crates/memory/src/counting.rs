//! What the calling thread takes, and for whom: counters of a statement, and of the whole heap.
//!
//! - Invariant: nothing here takes memory; the program's allocator counts by it.
#![expect(unsafe_code, reason = "pointers that a guard keeps alive; see each block")]

use std::cell::Cell;
use std::ptr;

use stdx::Bytes;
use stdx::sync::Arc;
use stdx::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// Bytes that a thread counts by itself before it tells others.
const TOLD_FROM: i64 = 64 << 10;

/// Bytes of the whole heap, as far as threads have told.
static HEAP: AtomicI64 = AtomicI64::new(0);
/// Pieces above [`crate::PLACED_BYTES`] that threads took of the system.
pub(crate) static UNPLACED: AtomicU64 = AtomicU64::new(0);

/// Bytes that a statement holds.
pub(crate) struct Held {
    /// Of the heap, as far as threads have told.
    heap: AtomicI64,
    /// In blocks.
    blocks: AtomicI64,
    /// In blocks, by node of the topology in its order, and at last what is spread over them.
    places: Box<[AtomicI64]>,
    peak: AtomicI64,
    /// What all statements hold.
    all: Arc<AtomicI64>,
}

impl Held {
    /// Nothing yet in so many places.
    pub(crate) fn new(places: usize, all: Arc<AtomicI64>) -> Self {
        Self {
            heap: AtomicI64::new(0),
            blocks: AtomicI64::new(0),
            places: (0..places).map(|_| AtomicI64::new(0)).collect(),
            peak: AtomicI64::new(0),
            all,
        }
    }

    /// All.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.heap_bytes() + self.blocks.load(Ordering::Relaxed).max(0) as u64
    }

    /// Those in small pieces of the heap.
    #[inline]
    pub(crate) fn heap_bytes(&self) -> u64 {
        self.heap.load(Ordering::Relaxed).max(0) as u64
    }

    /// The most that there were.
    pub(crate) fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed).max(0) as u64
    }

    /// Those in blocks by place.
    pub(crate) fn places(&self) -> Vec<Bytes> {
        self.places.iter().map(|it| Bytes(it.load(Ordering::Relaxed).max(0) as u64)).collect()
    }

    fn count_heap(&self, change: i64) {
        self.heap.fetch_add(change, Ordering::Relaxed);
        self.changed(change);
    }

    /// Counts a block of a place.
    pub(crate) fn count_block(&self, place: usize, change: i64) {
        self.blocks.fetch_add(change, Ordering::Relaxed);
        if let Some(counter) = self.places.get(place) {
            counter.fetch_add(change, Ordering::Relaxed);
        }
        self.changed(change);
    }

    fn changed(&self, change: i64) {
        self.all.fetch_add(change, Ordering::Relaxed);
        if change > 0 {
            self.peak.fetch_max(self.bytes() as i64, Ordering::Relaxed);
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // What is left belongs to nobody any more, as the rows of an answer do.
        let left = self.heap.load(Ordering::Relaxed) + self.blocks.load(Ordering::Relaxed);
        self.all.fetch_sub(left, Ordering::Relaxed);
    }
}

/// What a thread is doing, as far as the allocator wants to know.
pub(crate) struct Working {
    /// Whose statement it works for.
    pub(crate) held: Cell<*const Held>,
    /// Where its large pieces come from: a [`crate::free_lists::Memory`], and which shelf of it.
    pub(crate) memory: Cell<*const ()>,
    pub(crate) shelf: Cell<usize>,
    /// Bytes taken less bytes given back that nobody was told of.
    untold: Cell<i64>,
    /// Whether it maps memory or looks for a block: what that needs for itself is neither placed nor counted.
    pub(crate) maps: Cell<bool>,
}

thread_local! {
    pub(crate) static WORKING: Working = const {
        Working {
            held: Cell::new(ptr::null()),
            memory: Cell::new(ptr::null()),
            shelf: Cell::new(0),
            untold: Cell::new(0),
            maps: Cell::new(false),
        }
    };
}

/// Bytes of the heap of this program that are not in blocks; zero in one whose allocator does not count.
pub fn heap_bytes() -> Bytes {
    Bytes(HEAP.load(Ordering::Relaxed).max(0) as u64)
}

/// Pieces above [`crate::PLACED_BYTES`] that the system's allocator had to give, as their threads worked for no statement or
/// there was no memory in their place; what mapping memory needs for itself is not among them.
pub fn unplaced_pieces() -> u64 {
    UNPLACED.load(Ordering::Relaxed)
}

/// Counts bytes that the calling thread took of the system's allocator, or gave back.
#[inline]
pub(crate) fn count(change: i64) {
    // A thread that is about to end has no such state any more: its last pieces do not count.
    let _ = WORKING.try_with(|working| {
        if working.maps.get() {
            return;
        }
        let untold = working.untold.get() + change;
        working.untold.set(untold);
        if !(-TOLD_FROM..=TOLD_FROM).contains(&untold) {
            tell(working);
        }
    });
}

/// Tells what a thread has counted by itself.
#[cold]
pub(crate) fn tell(working: &Working) {
    let untold = working.untold.take();
    if untold == 0 {
        return;
    }
    HEAP.fetch_add(untold, Ordering::Relaxed);
    // SAFETY: the account lives as long as the workspace that the guard borrows.
    if let Some(held) = unsafe { working.held.get().as_ref() } {
        held.count_heap(untold);
    }
}

/// Counts a block of a place for the statement that a thread works for.
pub(crate) fn count_block(working: &Working, place: usize, change: i64) {
    // SAFETY: as in `tell`.
    if let Some(held) = unsafe { working.held.get().as_ref() } {
        held.count_block(place, change);
    }
}

/// Until it is dropped, its thread takes what it needs of the system's allocator, and nobody counts that. Whoever holds a lock
/// of the shelves or maps pages has one, as serving it from there would wait for itself.
pub(crate) struct Mapping(bool);

impl Mapping {
    pub(crate) fn begin() -> Self {
        Self(WORKING.try_with(|it| it.maps.replace(true)).unwrap_or(true))
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let _ = WORKING.try_with(|it| it.maps.set(self.0));
    }
}
