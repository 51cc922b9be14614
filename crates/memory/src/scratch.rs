//! Memory of queries: what outlives a batch, on a node or spread over all of them, in blocks that are used again
//! (docs/design/02-memory-and-placement.md, "intermediates"; P-HYPER 4.1 for hash tables that are interleaved).
//!
//! Key decision: a place is an allocator, and what a query keeps is an ordinary vector with that allocator. So everything
//! that grows, is cut and is borrowed as a vector is keeps doing so, and knows its place by its type.
//!
//! - Invariant: blocks of one place are never used for another.
//! - Invariant: memory for a query counts against the allocator's limit, and unused blocks go before it is reached.

use std::alloc::Layout;
use std::ptr::NonNull;

use allocator_api2::alloc::{AllocError, Allocator as RawAllocator, Global};
use hardware::NodeId;
use stdx::Bytes;
use stdx::memory::OutOfMemory;
use stdx::sync::Arc;
#[cfg(not(loom))]
use stdx::sync::atomic::{AtomicU32, AtomicU64};

use crate::counting::Held;
use crate::free_lists::Memory;
use crate::operators::OperatorAccount;
use crate::{Account, Allocator, Pod};

/// A vector whose memory has a place.
pub type Placed<T> = allocator_api2::vec::Vec<T, Scratch>;

/// Bytes from which a piece has a place; smaller ones come from the heap, whose threads keep their own.
pub const PLACED_BYTES: usize = 64 << 10;

/// A source of memory with one place, for one account or an operator of it. Clones share it.
#[derive(Clone)]
pub struct Scratch(Option<Arc<Source>>);

/// Where blocks come from, and who holds them.
struct Source {
    memory: Arc<Memory>,
    shelf: usize,
    account: Arc<Account>,
    held: Arc<Held>,
}

impl Scratch {
    /// So many zeros, or what else the type begins with.
    pub fn zeroed<T: Clone + Default>(&self, len: usize) -> Result<Placed<T>, OutOfMemory> {
        let mut values = self.with_capacity(len)?;
        values.resize(len, T::default());
        Ok(values)
    }

    /// So many zeros that many workers may write at once.
    #[cfg(not(loom))]
    pub fn atomics<A: Atomic>(&self, len: usize) -> Result<Placed<A>, OutOfMemory> {
        Ok(shared(self.zeroed(len)?))
    }

    /// So many values of whatever stood in their memory before, for those who write all of them: nothing is touched here, so
    /// that it is they who bring fresh pages, each its part.
    pub fn unspecified<T: Pod + Default>(&self, len: usize) -> Result<Placed<T>, OutOfMemory> {
        let is_block = Layout::array::<T>(len).is_ok_and(|it| self.shelf(it).is_some());
        if !is_block {
            return self.zeroed(len);
        }
        let mut values = self.with_capacity(len)?;
        // SAFETY: there is room for so many, and the bytes of a block are initialised, which the type takes whatever they are.
        unsafe { values.set_len(len) };
        Ok(values)
    }

    /// So many values, made one by one.
    pub fn filled<T>(
        &self,
        len: usize,
        value: impl FnMut() -> T,
    ) -> Result<Placed<T>, OutOfMemory> {
        let mut values = self.with_capacity(len)?;
        values.resize_with(len, value);
        Ok(values)
    }

    /// An empty vector with room for `len` values.
    pub fn with_capacity<T>(&self, len: usize) -> Result<Placed<T>, OutOfMemory> {
        let mut values = Placed::new_in(self.clone());
        let bytes = len.saturating_mul(size_of::<T>()) as u64;
        values.try_reserve_exact(len).map_err(|_| OutOfMemory(Bytes(bytes)))?;
        Ok(values)
    }
}

/// A word that many workers write at once.
///
/// # Safety
/// `Plain` has the same size, alignment and bytes.
#[cfg(not(loom))]
pub unsafe trait Atomic {
    /// What is left when they have finished.
    type Plain: Pod + Default;
}

// SAFETY: an atomic is its number in memory.
#[cfg(not(loom))]
unsafe impl Atomic for AtomicU32 {
    type Plain = u32;
}

// SAFETY: an atomic is its number in memory.
#[cfg(not(loom))]
unsafe impl Atomic for AtomicU64 {
    type Plain = u64;
}

/// The same words, for many workers to write at once.
#[cfg(not(loom))]
pub fn shared<A: Atomic>(words: Placed<A::Plain>) -> Placed<A> {
    let (base, len, capacity, scratch) = words.into_raw_parts_with_alloc();
    // SAFETY: the trait promises that atomics are the same in memory, and the words belong to us alone.
    unsafe { Placed::from_raw_parts_in(base.cast(), len, capacity, scratch) }
}

/// The same words, once nobody else writes them.
#[cfg(not(loom))]
pub fn plain<A: Atomic>(words: Placed<A>) -> Placed<A::Plain> {
    let (base, len, capacity, scratch) = words.into_raw_parts_with_alloc();
    // SAFETY: the trait promises that the plain words are the same in memory, and they belong to us alone.
    unsafe { Placed::from_raw_parts_in(base.cast(), len, capacity, scratch) }
}

/// The memory of queries on a machine, place by place.
#[derive(Debug)]
pub struct Workspace {
    /// By node of the topology; of one without memory that of the nearest which has some.
    nodes: Vec<(NodeId, Scratch)>,
    spread: Scratch,
    account: Arc<Account>,
    /// Whose bytes it counts, if it is an operator's.
    operator: Option<Arc<OperatorAccount>>,
}

impl Workspace {
    /// The places of an allocator's machine, for one statement.
    pub fn new(allocator: &Allocator) -> Self {
        let memory = allocator.memory();
        let account = Account::new(Some(memory.clone()));
        let topology = allocator.machine().topology();
        let shelves: Vec<Scratch> = (0..=topology.nodes.len())
            .map(|shelf| Scratch::new(memory, shelf, &account, account.counters()))
            .collect();
        let with_memory = topology.memory_nodes();
        let own = |node: NodeId| {
            let nearest =
                topology.nearest_first(node).into_iter().find(|it| with_memory.contains(it));
            let index = nearest.and_then(|it| topology.node_index(it)).unwrap_or_default();
            (node, shelves[index].clone())
        };
        let nodes = topology.nodes.iter().map(|it| own(it.id)).collect();
        Self { nodes, spread: shelves[topology.nodes.len()].clone(), account, operator: None }
    }

    /// Memory of no known place, from the heap: for what runs without a machine.
    pub fn heap() -> Arc<Self> {
        let (nodes, spread) = (Vec::new(), Scratch(None));
        Arc::new(Self { nodes, spread, account: Account::new(None), operator: None })
    }

    /// The same with a node in place of all: for what belongs to data of that node.
    pub fn at(&self, node: NodeId) -> Self {
        let (nodes, spread) = (self.nodes.clone(), self.on(node).clone());
        Self { nodes, spread, account: self.account.clone(), operator: self.operator.clone() }
    }

    /// The same for an operator of the statement, whose bytes are counted apart too; `kind` is the word for it in plans, and
    /// `pipeline` the number of the pipeline that it ends or is part of.
    pub fn of_operator(&self, pipeline: u32, kind: &'static str) -> Arc<Self> {
        let operator = self.account.begin_operator(pipeline, kind);
        let own = |it: &Scratch| match it.0.as_deref() {
            Some(it) => Scratch::new(&it.memory, it.shelf, &it.account, operator.held()),
            None => it.clone(),
        };
        let nodes = self.nodes.iter().map(|it| (it.0, own(&it.1))).collect();
        let (spread, account) = (own(&self.spread), self.account.clone());
        Arc::new(Self { nodes, spread, account, operator: Some(operator) })
    }

    /// The account of the operator that it is for, if it is for one.
    pub fn operator(&self) -> Option<&Arc<OperatorAccount>> {
        self.operator.as_ref()
    }

    /// Who counts what is taken.
    pub(crate) fn held(&self) -> &Arc<Held> {
        self.operator.as_ref().map_or(self.account.counters(), |it| it.held())
    }

    /// What its statement holds.
    pub fn account(&self) -> &Arc<Account> {
        &self.account
    }

    /// Memory of a node; of one that the machine lacks, spread.
    pub fn on(&self, node: NodeId) -> &Scratch {
        self.nodes.iter().find(|it| it.0 == node).map_or(&self.spread, |it| &it.1)
    }

    /// Memory that is interleaved over all nodes that have memory and processors.
    pub fn spread(&self) -> &Scratch {
        &self.spread
    }
}

// SAFETY: a block is mapped memory that `Memory` hands to one holder at a time and keeps mapped until it is given back; the
// same layout tells both times whether it is a block or a piece of the heap, and clones give back to the same shelf.
unsafe impl RawAllocator for Scratch {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        match self.shelf(layout) {
            Some(Source { memory, shelf, account, held }) => {
                let size = layout.size();
                if account.refuses(size) {
                    return Err(AllocError);
                }
                let block = memory.take_block(*shelf, size).map_err(|_| AllocError)?;
                held.count_block(*shelf, size as i64);
                Ok(NonNull::slice_from_raw_parts(block, size))
            }
            None => Global.allocate(layout),
        }
    }

    unsafe fn grow(
        &self,
        block: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        if let (Some(Source { memory, shelf, account, held }), Some(_)) =
            (self.shelf(old), self.shelf(new))
            && !account.refuses(new.size() - old.size())
            && let Some(longer) = memory.grow_block(*shelf, block, old.size(), new.size())
        {
            held.count_block(*shelf, (new.size() - old.size()) as i64);
            return Ok(NonNull::slice_from_raw_parts(longer, new.size()));
        }
        if self.shelf(new).is_none() {
            // SAFETY: what is not for a shelf when it is longer came from the heap, by the caller's promise.
            return unsafe { Global.grow(block, old, new) };
        }
        let longer = self.allocate(new)?;
        // SAFETY: the old block has so many bytes, the new one more, and they are apart; the old one is the caller's to
        // give up.
        unsafe {
            longer.cast::<u8>().copy_from_nonoverlapping(block, old.size());
            self.deallocate(block, old);
        }
        Ok(longer)
    }

    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        match self.shelf(layout) {
            Some(Source { memory, shelf, held, .. }) => {
                memory.give_back_block(*shelf, block, layout.size());
                held.count_block(*shelf, -(layout.size() as i64));
            }
            // SAFETY: the caller's promise, for what `Global` gave by the same layout.
            None => unsafe { Global.deallocate(block, layout) },
        }
    }
}

impl Scratch {
    fn new(memory: &Arc<Memory>, shelf: usize, account: &Arc<Account>, held: &Arc<Held>) -> Self {
        let (memory, account, held) = (memory.clone(), account.clone(), held.clone());
        Self(Some(Arc::new(Source { memory, shelf, account, held })))
    }

    /// What serves a layout, if it is not the heap. Blocks are aligned to pages.
    fn shelf(&self, layout: Layout) -> Option<&Source> {
        let placed =
            layout.size() >= PLACED_BYTES && layout.align() <= crate::free_lists::LINE_BYTES;
        self.0.as_deref().filter(|_| placed)
    }

    /// Its shelf, where it has a place.
    pub(crate) fn place(&self) -> Option<(&Arc<Memory>, usize)> {
        self.0.as_ref().map(|it| (&it.memory, it.shelf))
    }
}

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Scratch({:?})", self.0.as_ref().map(|it| it.shelf))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use hardware::Machine;

    use super::*;
    use crate::CHUNK_BYTES;
    use crate::fake::FakeMachine;

    /// Of the threads that compete; few and small in Miri, which takes a thousand times as long.
    const ROUNDS: usize = if cfg!(miri) { 4 } else { 200 };
    const LONGEST: u64 = if cfg!(miri) { 2_000 } else { 600_000 };
    /// What is too long for a small block.
    const LARGE: usize = if cfg!(miri) { 2 * PLACED_BYTES } else { CHUNK_BYTES };

    fn page_of<T>(values: &[T]) -> usize {
        values.as_ptr() as usize
    }

    fn node_of(machine: &FakeMachine, byte: usize) -> Option<NodeId> {
        let page = NonNull::new((byte & !(machine.page_bytes() - 1)) as *mut u8).unwrap();
        machine.locate(page, 1).unwrap()[0]
    }

    #[test]
    fn what_a_query_keeps_lies_where_it_was_asked_and_is_used_again() {
        let machine = FakeMachine::with_nodes(2);
        let allocator = Allocator::new(machine.clone());
        let workspace = Workspace::new(&allocator);
        let (first, second) = (workspace.on(NodeId(0)), workspace.on(NodeId(1)));
        let small: Placed<u8> = first.zeroed(PLACED_BYTES - 1).unwrap();
        assert_eq!((small.len(), machine.mapped()), (PLACED_BYTES - 1, 0), "from the heap");
        for count in [PLACED_BYTES / 4, LARGE / 4, 3 * LARGE / 4] {
            let mut values: Placed<u32> = second.zeroed(count).unwrap();
            assert!(values.iter().all(|&it| it == 0));
            values.fill(7);
            let base = page_of(&values);
            let end = base + values.len() * 4 - 1;
            for byte in [base, end] {
                assert_eq!(node_of(&machine, byte), Some(NodeId(1)), "{count} values");
            }
            drop(values);
            let elsewhere: Placed<u32> = first.zeroed(count).unwrap();
            assert_ne!(page_of(&elsewhere), base);
            let written: Placed<u32> = second.unspecified(count).unwrap();
            assert_eq!((page_of(&written), written.len()), (base, count));
            assert!(written.iter().all(|&it| it == 7), "nothing was touched");
            drop(written);
            let again: Placed<u32> = second.zeroed(count).unwrap();
            assert_eq!(page_of(&again), base);
            assert!(again.iter().all(|&it| it == 0), "old contents are gone");
        }
        let spread: Placed<u64> = workspace.spread().zeroed(LARGE).unwrap();
        let nodes =
            [0, 1, 2, 3].map(|it| node_of(&machine, page_of(&spread) + it * machine.page_bytes()));
        assert!(nodes.contains(&Some(NodeId(0))) && nodes.contains(&Some(NodeId(1))), "{nodes:?}");
        drop(spread);
        assert_eq!(allocator.usage().retained, allocator.usage().total());
        allocator.trim();
        assert_eq!(machine.mapped(), 0);
    }

    #[test]
    fn vectors_grow_and_words_of_many_writers_become_plain() {
        let machine = FakeMachine::with_nodes(1);
        let allocator = Allocator::new(machine.clone());
        let workspace = Workspace::new(&allocator);
        let mut values: Placed<u64> = workspace.spread().with_capacity(0).unwrap();
        let count = LARGE as u64 / 8 + 10_000;
        values.extend(0..count);
        assert!([0, 1, count / 2, count - 1].iter().all(|&it| values[it as usize] == it));
        let words = workspace.spread().filled(20_000, || AtomicU32::new(3)).unwrap();
        words[9].store(4, stdx::sync::atomic::Ordering::Relaxed);
        let words = plain(words);
        assert_eq!((words[8], words[9], words.len()), (3, 4, 20_000));
        let zeros: Placed<AtomicU32> = workspace.spread().atomics(20_000).unwrap();
        zeros[7].store(1, stdx::sync::atomic::Ordering::Relaxed);
        let zeros = plain(zeros);
        assert_eq!((zeros.len(), zeros.iter().sum::<u32>(), zeros[7]), (20_000, 1, 1));
        drop((values, words, zeros));
        allocator.trim();
        assert_eq!(machine.mapped(), 0);
        let heap: Placed<u64> = Workspace::heap().on(NodeId(3)).zeroed(1 << 16).unwrap();
        assert_eq!((heap.len(), machine.mapped()), (1 << 16, 0));
    }

    #[test]
    fn a_limit_refuses_and_unused_blocks_go_before_it_does() {
        let allocator = Allocator::new(FakeMachine::with_nodes(1));
        let scratch = Workspace::new(&allocator).on(NodeId(0)).clone();
        allocator.set_limit(Some(Bytes(16 << 20)));
        let half: Placed<u8> = scratch.with_capacity(8 << 20).unwrap();
        assert_eq!(
            scratch.with_capacity::<u8>(12 << 20).unwrap_err(),
            OutOfMemory(Bytes(12 << 20))
        );
        drop(half);
        assert!(allocator.usage().retained.0 >= 8 << 20);
        assert!(scratch.with_capacity::<u8>(12 << 20).is_ok(), "what was kept made room");
        assert!(scratch.with_capacity::<u64>(usize::MAX / 8).is_err(), "no overflow");
    }

    #[test]
    fn many_threads_take_and_give_back_at_once() {
        let machine = FakeMachine::with_nodes(2);
        let allocator = Allocator::new(machine.clone());
        let workspace = Workspace::new(&allocator);
        stdx::sync::thread::scope(|scope| {
            for thread in 0..4_u64 {
                let workspace = &workspace;
                scope.spawn(move || {
                    let mut prng = stdx::Prng::new(thread);
                    let mut held: Vec<Placed<u64>> = Vec::new();
                    for _ in 0..ROUNDS {
                        let scratch = workspace.on(NodeId(prng.below(2) as u16));
                        let len = 9_000 + prng.below(LONGEST) as usize;
                        let mut values: Placed<u64> = scratch.with_capacity(len).unwrap();
                        values.resize(len, thread);
                        held.push(values);
                        if held.len() > 4 {
                            let one = held.swap_remove(prng.below(4) as usize);
                            assert!(one.iter().all(|&it| it == thread), "shared by two");
                        }
                    }
                });
            }
        });
        allocator.trim();
        assert_eq!(machine.mapped(), 0);
    }
}
