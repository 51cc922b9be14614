//! What the calling thread takes, and for whom: counters of a statement, and of the whole heap.
//!
//! - Invariant: nothing here takes memory; the program's allocator counts by it.
#![expect(unsafe_code, reason = "pointers that a guard keeps alive; see each block")]

use std::cell::Cell;
use std::ptr;

use stdx::Bytes;
use stdx::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use stdx::sync::{Apart, Arc, OnceLock, lane};

/// Bytes that a thread counts by itself before it tells others.
const TOLD_FROM: i64 = 64 << 10;

/// Bytes that a thread has told statements before it tells the whole heap.
const HEAPED_FROM: i64 = 32 << 10;

/// Bytes of the heap that a thread has told a statement before it tells the operator that it works for. Batches come and go in
/// these bounds, so that an operator's counter is written about once a morsel, when the thread settles.
const SETTLED_FROM: i64 = 256 << 10;

/// Bytes of the whole heap, as far as threads have told.
static HEAP: Apart<AtomicI64> = Apart(AtomicI64::new(0));
/// Pieces above [`crate::PLACED_BYTES`] that threads took of the system.
pub(crate) static UNPLACED: AtomicU64 = AtomicU64::new(0);

/// Bytes that a statement holds, or an operator of it.
pub(crate) struct Held {
    /// Of the heap, as far as threads have told.
    heap: AtomicI64,
    /// In blocks.
    blocks: AtomicI64,
    /// In blocks, by node of the topology in its order, and at last what is spread over them.
    places: Box<[AtomicI64]>,
    peak: AtomicI64,
    /// In temporary files, and written to such in all.
    files: AtomicI64,
    written: AtomicU64,
    above: Above,
    /// Who has taken over what an operator held, and counts what of that is given back.
    heir: OnceLock<Arc<Held>>,
}

/// How many places all statements are counted in.
const LANES: usize = 16;

/// Bytes of all statements. They are counted much more often than they are asked for, by all threads.
#[derive(Default)]
pub(crate) struct Total([Apart<AtomicI64>; LANES]);

impl Total {
    fn add(&self, change: i64) {
        if change != 0 {
            self.0[lane(LANES)].fetch_add(change, Ordering::Relaxed);
        }
    }

    /// All of them.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.iter().map(|it| it.load(Ordering::Relaxed)).sum::<i64>().max(0) as u64
    }
}

/// Who counts the same bytes too.
enum Above {
    /// Of a statement: all statements.
    All(Arc<Total>),
    /// Of an operator: its statement.
    Statement(Arc<Held>),
}

impl Held {
    /// Nothing yet in so many places.
    pub(crate) fn new(places: usize, all: Arc<Total>) -> Self {
        Self::below(places, Above::All(all))
    }

    /// Nothing yet, of an operator of a statement.
    pub(crate) fn of_operator(statement: &Arc<Self>) -> Self {
        Self::below(statement.places.len(), Above::Statement(statement.clone()))
    }

    fn below(places: usize, above: Above) -> Self {
        Self {
            heap: AtomicI64::new(0),
            blocks: AtomicI64::new(0),
            places: (0..places).map(|_| AtomicI64::new(0)).collect(),
            peak: AtomicI64::new(0),
            files: AtomicI64::new(0),
            written: AtomicU64::new(0),
            above,
            heir: OnceLock::new(),
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

    /// Those in temporary files.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.files.load(Ordering::Relaxed).max(0) as u64
    }

    /// Those that were ever written to temporary files.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Whoever counts for an operator: itself, or who has taken over from it.
    fn counting(&self) -> &Self {
        let mut this = self;
        while let Some(heir) = this.heir.get() {
            this = heir;
        }
        this
    }

    /// Counts pieces of the heap for a statement; tells whether there is an operator that has not counted them yet.
    fn count_for_statement(&self, change: i64) -> bool {
        match &self.above {
            Above::All(_) => {
                self.count_own(change);
                false
            }
            Above::Statement(it) => {
                it.count_own(change);
                true
            }
        }
    }

    /// Counts pieces of the heap that its statement has counted, if it has one.
    fn count_own(&self, change: i64) {
        let this = self.counting();
        this.heap.fetch_add(change, Ordering::Relaxed);
        this.changed(change);
    }

    /// Counts pieces of the heap at once.
    #[cfg(test)]
    pub(crate) fn count_heap(&self, change: i64) {
        if self.count_for_statement(change) {
            self.count_own(change);
        }
    }

    /// Counts a block of a place.
    pub(crate) fn count_block(&self, place: usize, change: i64) {
        let this = self.counting();
        this.add_block(place, change);
        if let Above::Statement(it) = &this.above {
            it.count_block(place, change);
        }
        this.changed(change);
    }

    fn add_block(&self, place: usize, change: i64) {
        self.blocks.fetch_add(change, Ordering::Relaxed);
        if let Some(counter) = self.places.get(place) {
            counter.fetch_add(change, Ordering::Relaxed);
        }
    }

    /// Counts bytes written to a temporary file, or gone with it.
    pub(crate) fn count_file(&self, change: i64) {
        let this = self.counting();
        this.files.fetch_add(change, Ordering::Relaxed);
        this.written.fetch_add(change.max(0) as u64, Ordering::Relaxed);
        if let Above::Statement(it) = &this.above {
            it.count_file(change);
        }
    }

    fn changed(&self, change: i64) {
        if let Above::All(all) = &self.above {
            all.add(change);
        }
        if change > 0 {
            self.peak.fetch_max(self.bytes() as i64, Ordering::Relaxed);
        }
    }

    /// Leaves what an operator still holds to another one of its statement, which counts it from now on. Once; nothing when
    /// the other has left to this one.
    pub(crate) fn leave_to(&self, heir: &Arc<Self>) {
        let is_own = std::ptr::eq(heir.counting(), self.counting());
        if is_own || self.heir.set(heir.clone()).is_err() {
            return;
        }
        let heir = heir.counting();
        let heap = self.heap.swap(0, Ordering::Relaxed);
        heir.heap.fetch_add(heap, Ordering::Relaxed);
        let mut left = heap;
        for (place, counter) in self.places.iter().enumerate() {
            let bytes = counter.swap(0, Ordering::Relaxed);
            heir.add_block(place, bytes);
            left += bytes;
        }
        self.blocks.store(0, Ordering::Relaxed);
        heir.files.fetch_add(self.files.swap(0, Ordering::Relaxed), Ordering::Relaxed);
        heir.changed(left);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // What is left belongs to nobody any more, as the rows of an answer do.
        let left = self.heap.load(Ordering::Relaxed) + self.blocks.load(Ordering::Relaxed);
        if let Above::All(all) = &self.above {
            all.add(-left);
        }
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
    /// What its statement was told and its operator was not.
    unsettled: Cell<i64>,
    /// What statements were told and the heap was not.
    unheaped: Cell<i64>,
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
            unsettled: Cell::new(0),
            unheaped: Cell::new(0),
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
fn tell(working: &Working) {
    let untold = working.untold.take();
    if untold == 0 {
        return;
    }
    // Statements settle often, and mostly give back what they took.
    let unheaped = working.unheaped.get() + untold;
    working.unheaped.set(unheaped);
    if !(-HEAPED_FROM..=HEAPED_FROM).contains(&unheaped) {
        HEAP.fetch_add(working.unheaped.take(), Ordering::Relaxed);
    }
    // SAFETY: the account lives as long as the workspace that the guard borrows.
    if let Some(held) = unsafe { working.held.get().as_ref() }
        && held.count_for_statement(untold)
    {
        let unsettled = working.unsettled.get() + untold;
        working.unsettled.set(unsettled);
        if !(-SETTLED_FROM..=SETTLED_FROM).contains(&unsettled) {
            held.count_own(working.unsettled.take());
        }
    }
}

/// Tells all that a thread has counted by itself, to its operator too: before it works for somebody else.
pub(crate) fn settle(working: &Working) {
    tell(working);
    let unsettled = working.unsettled.take();
    if unsettled == 0 {
        return;
    }
    // SAFETY: as in `tell`.
    if let Some(held) = unsafe { working.held.get().as_ref() } {
        held.count_own(unsettled);
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
