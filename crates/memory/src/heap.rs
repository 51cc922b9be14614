//! The heap of workers: whose account its pieces count to, and the node that the large ones lie on.
//!
//! Key decision: most of what a query makes is in vectors of libraries and of our own that know nothing of places. So a thread
//! that works for a statement says so ([`Workspace::enter`]), and the program's allocator serves its pieces above
//! [`PLACED_BYTES`] from the blocks of the thread's node, as it serves [`crate::Scratch`], and counts all others. What a
//! worker writes lies on its node then (P-HYPER 4.1), in pages that are touched and used again, and one that grows does so by
//! moving its pages.
//!
//! - Invariant: a block goes back to the shelf that it came from, by whichever thread and however late: a table tells by
//!   address which that is.
//! - Invariant: what shelves keep for themselves comes from the system's allocator.
//! - Limit: nothing is placed or counted in a program whose allocator is another.
#![expect(unsafe_code, reason = "pointers that a guard keeps alive; see each block")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use hardware::NodeId;
use stdx::sync::Arc;
use stdx::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::counting::{Held, Mapping, UNPLACED, WORKING, Working, count_block, settle};
use crate::free_lists::{LINE_BYTES, Memory};
use crate::shelf::block_bytes;
use crate::{CHUNK_BYTES, PLACED_BYTES, Workspace};

/// Until it is dropped, what its thread takes counts to an account and lies in a place.
pub struct Entered<'a> {
    held: *const Held,
    memory: *const (),
    shelf: usize,
    workspace: PhantomData<&'a Workspace>,
}

impl Workspace {
    /// From now on this thread works for the statement of this workspace, on a node or, as one that coordinates, on none.
    pub fn enter(&self, node: Option<NodeId>) -> Entered<'_> {
        let place = node.map_or(self.spread(), |it| self.on(it)).place();
        WORKING.with(|working| {
            settle(working);
            let (memory, shelf) =
                place.map_or((ptr::null(), 0), |it| (Arc::as_ptr(it.0).cast(), it.1));
            Entered {
                held: working.held.replace(Arc::as_ptr(self.held())),
                memory: working.memory.replace(memory),
                shelf: working.shelf.replace(shelf),
                workspace: PhantomData,
            }
        })
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        WORKING.with(|working| {
            settle(working);
            working.held.set(self.held);
            working.memory.set(self.memory);
            working.shelf.set(self.shelf);
        });
    }
}

/// Whether a layout is one that has a place, if its thread has one.
#[inline]
pub(crate) fn is_large(layout: Layout) -> bool {
    layout.size() > PLACED_BYTES && layout.align() <= LINE_BYTES
}

/// A block of the calling thread's place; `None` when it has none, or there is no memory for it there.
pub(crate) fn take(size: usize) -> Option<NonNull<u8>> {
    WORKING.try_with(|it| take_for(it, size)).ok().flatten()
}

fn take_for(working: &Working, size: usize) -> Option<NonNull<u8>> {
    if working.maps.get() {
        return None;
    }
    let memory: *const Memory = working.memory.get().cast();
    let shelf = working.shelf.get();
    // SAFETY: the workspace that the guard borrows keeps it alive.
    let known = unsafe { memory.as_ref() };
    let block = known.and_then(|known| {
        let block = known.take_block(shelf, size).ok()?;
        if owner(block.as_ptr(), size).is_none() {
            known.give_back_block(shelf, block, size);
            return None;
        }
        Some(block)
    });
    match block {
        Some(_) => {
            // The table of owners keeps the address alone; with this it stands for the whole `Arc`.
            memory.expose_provenance();
            // SAFETY: it came from an `Arc`; the block holds on to its shelf until it is given back.
            unsafe { Arc::increment_strong_count(memory) }
        }
        None => _ = UNPLACED.fetch_add(1, Ordering::Relaxed),
    }
    if block.is_some() {
        count_block(working, shelf, size as i64);
    }
    block
}

/// Where a large piece came from.
#[derive(Clone, Copy)]
pub(crate) struct Owner {
    memory: *const Memory,
    shelf: usize,
}

impl Owner {
    /// Takes a block back.
    ///
    /// # Safety
    /// The block was taken of this owner by [`take`], has so many bytes, and nobody uses it.
    pub(crate) unsafe fn give_back(self, block: NonNull<u8>, size: usize) {
        // SAFETY: the count that the block held; it is dropped at the end.
        let memory = unsafe { Arc::from_raw(self.memory) };
        let _ = WORKING.try_with(|it| count_block(it, self.shelf, -(size as i64)));
        memory.give_back_block(self.shelf, block, size);
        // The last one unmaps all there is.
        let _mapping = Mapping::begin();
        drop(memory);
    }

    /// Makes a block longer without a copy, where that is possible; the old one is gone then.
    ///
    /// # Safety
    /// As for [`Owner::give_back`].
    pub(crate) unsafe fn grow(
        self,
        block: NonNull<u8>,
        size: usize,
        wanted: usize,
    ) -> Option<NonNull<u8>> {
        // SAFETY: the block's count keeps it alive.
        let memory = unsafe { &*self.memory };
        let longer = memory.grow_block(self.shelf, block, size, wanted)?;
        let more = (wanted - size) as i64;
        let _ = WORKING.try_with(|it| count_block(it, self.shelf, more));
        Some(longer)
    }
}

/// Addresses that one entry of [`OWNERS`] stands for.
const GRANULE: usize = CHUNK_BYTES;
const LEAF_ENTRIES: usize = 1 << 13;
/// Covers the 2^47 addresses of a process.
const LEAVES: usize = (1 << 47) / GRANULE / LEAF_ENTRIES;

/// By granule: the memory whose block begins in it, with the shelf in the upper bits.
type Leaf = [AtomicU64; LEAF_ENTRIES];

/// Which granules belong to blocks. Regions of blocks begin at granules of their own, so that nothing else begins in one.
static OWNERS: [AtomicPtr<Leaf>; LEAVES] = [const { AtomicPtr::new(ptr::null_mut()) }; LEAVES];

const SHELF_SHIFT: u32 = 48;

/// The entry of an address, where its leaf is there or `make` is set.
fn entry(address: usize, make: bool) -> Option<&'static AtomicU64> {
    let granule = address / GRANULE;
    let slot = OWNERS.get(granule / LEAF_ENTRIES)?;
    let mut leaf = slot.load(Ordering::Acquire);
    if leaf.is_null() {
        if !make {
            return None;
        }
        // SAFETY: the layout is not empty. All zeros are entries of nobody.
        let fresh = unsafe { System.alloc_zeroed(Layout::new::<Leaf>()) }.cast::<Leaf>();
        if fresh.is_null() {
            return None;
        }
        let (set, seen) = (Ordering::AcqRel, Ordering::Acquire);
        leaf = match slot.compare_exchange(ptr::null_mut(), fresh, set, seen) {
            Ok(_) => fresh,
            Err(other) => {
                // SAFETY: ours alone, by the layout it was taken with.
                unsafe { System.dealloc(fresh.cast(), Layout::new::<Leaf>()) };
                other
            }
        };
    }
    // SAFETY: a leaf that is there stays for good.
    Some(&unsafe { &*leaf }[granule % LEAF_ENTRIES])
}

/// Whose block a piece of the heap is; `None` for one of the system's.
#[inline]
pub(crate) fn owner(place: *mut u8, size: usize) -> Option<Owner> {
    let word = entry(place.addr(), false)?.load(Ordering::Acquire);
    let memory = (word & ((1 << SHELF_SHIFT) - 1)) as usize;
    // Small blocks lie anywhere in their granule, others where theirs begins.
    let begins = block_bytes(size) < CHUNK_BYTES || place.addr().is_multiple_of(GRANULE);
    (memory != 0 && begins).then(|| Owner {
        memory: ptr::with_exposed_provenance(memory),
        shelf: (word >> SHELF_SHIFT) as usize,
    })
}

impl Memory {
    /// Notes that blocks of a shelf begin at an address, before any of them is used; tells whether it could.
    pub(crate) fn own(&self, base: NonNull<u8>, shelf: usize) -> bool {
        let memory = ptr::from_ref(self).expose_provenance() as u64;
        let is_known = memory >> SHELF_SHIFT == 0 && base.addr().get().is_multiple_of(GRANULE);
        entry(base.addr().get(), true).filter(|_| is_known).is_some_and(|it| {
            it.store(memory | (shelf as u64) << SHELF_SHIFT, Ordering::Release);
            true
        })
    }

    /// Notes that no block begins at an address any more, before its pages go.
    pub(crate) fn disown(base: NonNull<u8>) {
        if let Some(entry) = entry(base.addr().get(), false) {
            entry.store(0, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use stdx::Bytes;

    use super::*;
    use crate::fake::FakeMachine;
    use crate::{Allocator, ReservingAllocator};
    use hardware::Machine;

    const HEAP: ReservingAllocator = ReservingAllocator;

    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size, 8).unwrap()
    }

    fn node_of(machine: &FakeMachine, byte: *mut u8) -> Option<NodeId> {
        let page = NonNull::new((byte.addr() & !(machine.page_bytes() - 1)) as *mut u8).unwrap();
        machine.locate(page, 1).unwrap()[0]
    }

    #[test]
    fn large_pieces_of_a_thread_lie_on_its_node_and_count_to_its_statement() {
        let machine = FakeMachine::with_nodes(2);
        let allocator = Allocator::new(machine.clone());
        let (mine, other) = (Workspace::new(&allocator), Workspace::new(&allocator));
        let entered = mine.enter(Some(NodeId(1)));
        let size = 3 * PLACED_BYTES;
        // SAFETY: each piece is used by its layout, and given back once.
        let piece = unsafe { HEAP.alloc(layout(size)) };
        assert_eq!(node_of(&machine, piece), Some(NodeId(1)));
        assert_eq!(mine.account().places()[1], Bytes(size as u64));
        let grown = {
            let _inner = other.enter(Some(NodeId(0)));
            // SAFETY: as above; whoever grows it, it stays where it is or comes to the node of who does.
            let grown = unsafe { HEAP.realloc(piece, layout(size), CHUNK_BYTES * 2) };
            // SAFETY: as above.
            unsafe { grown.add(CHUNK_BYTES * 2 - 1).write(7) };
            grown
        };
        // SAFETY: as above.
        let zeroed = unsafe { HEAP.alloc_zeroed(layout(size)) };
        // SAFETY: so many bytes are there, and pieces begin at a page.
        let words = unsafe { std::slice::from_raw_parts(zeroed.cast::<u64>(), size / 8) };
        assert!(words.iter().all(|&it| it == 0));
        drop(entered);
        assert!(owner(zeroed, size).is_some() && owner(grown, CHUNK_BYTES * 2).is_some());
        // SAFETY: as above.
        let system = unsafe { HEAP.alloc(layout(size)) };
        assert!(owner(system, size).is_none(), "no statement, no place");
        let addresses = [grown, zeroed].map(<*mut u8>::expose_provenance);
        drop((mine, other));
        // Pieces outlive the statement and the allocator, and may be given back by anybody.
        drop(allocator);
        assert!(machine.mapped() > 0);
        stdx::sync::thread::scope(|scope| {
            scope.spawn(|| {
                for (address, size) in addresses.into_iter().zip([CHUNK_BYTES * 2, size]) {
                    // SAFETY: as above.
                    unsafe {
                        HEAP.dealloc(ptr::with_exposed_provenance_mut(address), layout(size))
                    };
                }
            });
        });
        // SAFETY: as above.
        unsafe { HEAP.dealloc(system, layout(size)) };
        assert_eq!(machine.mapped(), 0, "the last piece took the rest with it");
    }

    #[test]
    fn small_pieces_count_once_they_are_many() {
        let allocator = Allocator::new(FakeMachine::with_nodes(1));
        let workspace = Workspace::new(&allocator);
        let small = layout(1000);
        let entered = workspace.enter(None);
        // SAFETY: each piece is used by its layout, and given back once.
        let pieces: Vec<*mut u8> = (0..200).map(|_| unsafe { HEAP.alloc(small) }).collect();
        drop(entered);
        assert_eq!(workspace.account().held(), Bytes(200_000));
        let entered = workspace.enter(None);
        // SAFETY: as above.
        pieces.iter().for_each(|it| unsafe { HEAP.dealloc(*it, small) });
        drop(entered);
        let account = workspace.account();
        assert_eq!((account.held(), account.peak()), (Bytes(0), Bytes(200_000)));
    }

    /// So large that eight of them are past what a statement keeps in any case.
    const UNIT: usize = 1 << 17;

    #[test]
    #[cfg_attr(miri, ignore = "takes megabytes, and with them minutes")]
    fn who_holds_more_than_a_share_of_scarce_memory_has_to_make_room() {
        let allocator = Allocator::new(FakeMachine::with_nodes(1));
        // Threads of other tests may have left a little untold.
        allocator.set_limit(Some(Bytes(64 * UNIT as u64 + (256 << 10))));
        let statements = [Workspace::new(&allocator), Workspace::new(&allocator)];
        statements.iter().for_each(|it| it.account().set_working(true));
        let [large, small] = &statements;
        let piece = |it: &Workspace, units: usize| it.spread().zeroed::<u8>(units * UNIT);
        let held = [piece(large, 32).unwrap(), piece(small, 12).unwrap()];
        assert!(!large.account().is_over(), "there is enough for both");
        let more = piece(large, 8).unwrap();
        assert!(large.account().is_over() && !small.account().is_over());
        assert!(!large.account().is_exceeded());
        assert!(piece(small, 16).is_err(), "past the limit of all");
        small.account().set_limit(Some(Bytes(8 * UNIT as u64)));
        assert!(small.account().is_exceeded() && piece(small, 1).is_err());
        drop((held, more));
        assert!(!large.account().is_over() && !small.account().is_over());
    }
}
