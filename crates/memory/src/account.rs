//! What a statement holds, and how much it may: the grants of working memory (docs/design/02-memory-and-placement.md,
//! "Grants").
//!
//! Key decision: bytes are counted where they are taken, in blocks ([`crate::Scratch`]) and on the heap
//! ([`crate::ReservingAllocator`]), so that nobody has to ask the system how large the process is. A statement may take what
//! is free; when memory is short, each may keep an equal share of what tables and caches leave, and whoever holds more has
//! to spill or to end.
//!
//! - Invariant: when all that is taken passes the limit, some account is past its share, so that somebody makes room.
//! - Limit: pieces of the heap that are taken under one account and given back under another count wrongly for both until
//!   they end. In all they count right.

use stdx::Bytes;
use stdx::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use stdx::sync::{Arc, Mutex};

use crate::counting::Held;
use crate::free_lists::Memory;
use crate::operators::{OperatorAccount, OperatorBytes, held_within};

/// The part of a statement's own limit, counted in sixteenths, from which operators that can spill do so. The rest is for what
/// is on its way, for tables that double, and for putting partitions together at the end: half of it was too much for a
/// grouping of nine times its limit by four workers.
const SPILL_FROM: u64 = 6;
/// The same of what all statements share, of which most are not at their peak at a time.
const SPILL_FROM_SHARED: u64 = 12;
/// The part, counted in sixteenths, past which a statement ends that has not spilled enough.
const END_FROM: u64 = 18;
/// The part, counted in sixteenths, that what is made at once may fill.
const FULL: u64 = 15;
/// Bytes that a statement keeps whatever its limit says: what workers have in their hands, not what operators collect.
const FLOOR: Bytes = Bytes(1 << 20);

/// The bytes of one statement.
pub struct Account {
    memory: Option<Arc<Memory>>,
    counters: Arc<Held>,
    /// Those of its operators, in the order in which they began.
    operators: Mutex<Vec<Arc<OperatorAccount>>>,
    /// What the statement may hold by its own setting.
    limit: AtomicU64,
    /// Whether it works on rows, and shares memory with others that do.
    works: AtomicBool,
}

impl Account {
    pub(crate) fn new(memory: Option<Arc<Memory>>) -> Arc<Self> {
        let places = memory.as_ref().map_or(0, |it| it.shelves.len());
        let all = memory.as_ref().map_or_else(Arc::default, |it| it.held.clone());
        Arc::new(Self {
            memory,
            counters: Arc::new(Held::new(places, all)),
            operators: Mutex::new(Vec::new()),
            limit: AtomicU64::new(u64::MAX),
            works: AtomicBool::new(false),
        })
    }

    pub(crate) fn counters(&self) -> &Arc<Held> {
        &self.counters
    }

    /// Bytes that the statement holds.
    pub fn held(&self) -> Bytes {
        Bytes(self.counters.bytes())
    }

    /// The most that it held.
    pub fn peak(&self) -> Bytes {
        Bytes(self.counters.peak())
    }

    /// Bytes that it has written to temporary files.
    pub fn spilled(&self) -> Bytes {
        Bytes(self.counters.written())
    }

    /// Bytes in temporary files.
    pub fn file_bytes(&self) -> Bytes {
        Bytes(self.counters.file_bytes())
    }

    /// An operator begins.
    pub(crate) fn begin_operator(&self, pipeline: u32, kind: &'static str) -> Arc<OperatorAccount> {
        let operator = OperatorAccount::new(pipeline, kind, &self.counters);
        self.operators.lock().push(operator.clone());
        operator
    }

    /// What each operator holds that has begun, never more together than `places` and `heap` say of the statement.
    pub fn operators(&self, places: &[Bytes], heap: Bytes) -> Vec<OperatorBytes> {
        held_within(&self.operators.lock(), places, heap)
    }

    /// Bytes that the operators of a pipeline have written to temporary files.
    pub fn spilled_by(&self, pipeline: u32) -> Bytes {
        // Plans of thousands of pipelines ask for each of them, and few ever spill.
        if self.spilled().0 == 0 {
            return Bytes(0);
        }
        let operators = self.operators.lock();
        let own = operators.iter().filter(|it| it.pipeline() == pipeline);
        Bytes(own.map(|it| it.spilled().0).sum())
    }

    /// Bytes in blocks by node of the topology in its order, what is spread over them at last.
    pub fn places(&self) -> Vec<Bytes> {
        self.counters.places()
    }

    /// Bytes in small pieces of the heap.
    pub fn heap_bytes(&self) -> Bytes {
        Bytes(self.counters.heap_bytes())
    }

    /// Limits what the statement holds.
    pub fn set_limit(&self, limit: Option<Bytes>) {
        self.limit.store(limit.map_or(u64::MAX, |it| it.0.max(FLOOR.0)), Ordering::Relaxed);
    }

    /// What the statement may hold by its own setting.
    pub fn limit(&self) -> Option<Bytes> {
        let limit = self.limit.load(Ordering::Relaxed);
        (limit != u64::MAX).then_some(Bytes(limit))
    }

    /// From now on it works on rows, or no longer.
    pub fn set_working(&self, works: bool) {
        if self.works.swap(works, Ordering::Relaxed) != works
            && let Some(memory) = &self.memory
        {
            let change = if works { 1 } else { -1 };
            memory.working.fetch_add(change, Ordering::Relaxed);
        }
    }

    /// Whether operators that can spill shall do so now.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.is_past(SPILL_FROM, SPILL_FROM_SHARED)
    }

    /// Bytes that it may take until operators that can spill do so.
    pub fn room(&self) -> Bytes {
        let held = self.held().0;
        let own = of(self.limit.load(Ordering::Relaxed), SPILL_FROM).saturating_sub(held);
        let shared = |it: &Arc<Memory>| {
            let limit = of(it.limit.load(Ordering::Relaxed), SPILL_FROM_SHARED);
            let share = it.share(SPILL_FROM_SHARED).saturating_sub(held);
            limit.saturating_sub(it.taken()).max(share)
        };
        Bytes(self.memory.as_ref().map_or(own, |it| own.min(shared(it))))
    }

    /// Bytes that it may hold as things are: its own limit, or what the others leave, at least its share of all.
    pub fn allowance(&self) -> Bytes {
        let own = self.limit.load(Ordering::Relaxed);
        let shared = |it: &Arc<Memory>| {
            let free = it.limit.load(Ordering::Relaxed).saturating_sub(it.taken());
            free.saturating_add(self.held().0).max(it.share(16))
        };
        Bytes(self.memory.as_ref().map_or(own, |it| own.min(shared(it))))
    }

    /// Whether so many bytes more leave a little of what the statement may hold.
    pub fn has_room_for(&self, bytes: Bytes) -> bool {
        let wanted = self.held().0.saturating_add(bytes.0);
        let shared = |it: &Arc<Memory>| {
            let limit = of(it.limit.load(Ordering::Relaxed), FULL);
            it.taken().saturating_add(bytes.0) <= limit || wanted <= it.share(FULL)
        };
        wanted <= of(self.limit.load(Ordering::Relaxed), FULL)
            && self.memory.as_ref().is_none_or(shared)
    }

    /// Whether the statement holds so much that it has to end.
    #[inline]
    pub fn is_exceeded(&self) -> bool {
        self.is_past(END_FROM, END_FROM)
    }

    /// Whether it is past so many sixteenths of its own limit, or of its share when that much of all is taken.
    #[inline]
    fn is_past(&self, own: u64, shared: u64) -> bool {
        let held = self.held().0;
        if held > of(self.limit.load(Ordering::Relaxed), own) {
            return true;
        }
        self.memory.as_ref().is_some_and(|it| it.is_tight(shared) && held > it.share(shared))
    }

    /// Whether so many bytes more are too many for good: not even giving back all that lies idle would make room.
    pub(crate) fn refuses(&self, bytes: usize) -> bool {
        let wanted = self.held().0.saturating_add(bytes as u64);
        wanted > of(self.limit.load(Ordering::Relaxed), END_FROM)
    }
}

impl std::fmt::Debug for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Account({})", self.held())
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.set_working(false);
    }
}

/// So many sixteenths of a limit.
fn of(limit: u64, sixteenths: u64) -> u64 {
    (limit / 16).saturating_mul(sixteenths).max(limit.min(FLOOR.0))
}

impl Memory {
    /// Bytes of tables, statements and the heap, without blocks that nobody uses.
    pub(crate) fn taken(&self) -> u64 {
        self.all().saturating_sub(self.retained().0)
    }

    /// The same with these blocks.
    fn all(&self) -> u64 {
        self.mapped_total.load(Ordering::Relaxed) + crate::counting::heap_bytes().0
    }

    /// Whether statements leave a part of what tables and caches leave.
    pub(crate) fn has_room(&self) -> bool {
        let (limit, all) = (self.limit.load(Ordering::Relaxed), self.all());
        // Each statement asks this: where there is plenty nothing else is looked at.
        if all <= limit / 4 {
            return true;
        }
        let held = self.held.bytes();
        let fits = |taken: u64| {
            let base = taken.saturating_sub(held);
            held <= of(limit.saturating_sub(base), SPILL_FROM_SHARED)
        };
        // What nobody uses is counted under locks, and matters only where the rest is not enough.
        fits(all) || fits(self.taken())
    }

    /// Whether so many sixteenths of the limit are taken; a limit that has been passed is tight in any case.
    fn is_tight(&self, sixteenths: u64) -> bool {
        let limit = self.limit.load(Ordering::Relaxed);
        let from = of(limit, sixteenths.min(16));
        self.all() > from && self.taken() > from
    }

    /// What each working statement may keep when memory is short.
    pub(crate) fn share(&self, sixteenths: u64) -> u64 {
        let limit = of(self.limit.load(Ordering::Relaxed), sixteenths.min(16));
        let working = self.working.load(Ordering::Relaxed).max(1) as u64;
        let held = self.held.bytes();
        limit.saturating_sub(self.taken().saturating_sub(held)) / working
    }
}
