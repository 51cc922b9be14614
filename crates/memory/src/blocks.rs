//! Blocks of queries: from the shelf of their place, else mapped.

use std::ptr::NonNull;

use hardware::MachineError;

use crate::free_lists::Memory;
use crate::region::Region;
use crate::shelf::block_bytes;
use crate::{CHUNK_BYTES, counting};

/// How much longer a region may be than what grows into it: it will grow on, and the region lies idle.
const GROWN_TIMES_MAX: usize = 16;

impl Memory {
    /// A block for so many bytes, with unspecified, initialised contents.
    pub(crate) fn take_block(
        &self,
        shelf: usize,
        size: usize,
    ) -> Result<NonNull<u8>, MachineError> {
        let _mapping = counting::Mapping::begin();
        let (index, shelf, block) = (shelf, &self.shelves[shelf], block_bytes(size));
        let mut locked = shelf.lock();
        let is_small = block < CHUNK_BYTES;
        let found = if is_small { locked.take_small(block) } else { locked.take_large(block) };
        if let Some(found) = found {
            return Ok(found);
        }
        let policy = locked.policy.clone();
        // Mapping may trim all shelves, so that no lock is held meanwhile.
        drop(locked);
        let bytes = block.max(CHUNK_BYTES);
        let region = self.map(bytes, policy)?;
        self.own(region.mapping.base, index);
        let mut locked = shelf.lock();
        if !is_small {
            return Ok(locked.lend(region));
        }
        locked.add_chunk(region, block);
        Ok(locked.take_small(block).expect("invariant: a new chunk has blocks"))
    }

    /// Makes a block longer: in place, where its region is long enough; in a longer one that is unused, which has been
    /// touched already; or by moving its pages, where the machine has a way.
    pub(crate) fn grow_block(
        &self,
        shelf: usize,
        block: NonNull<u8>,
        size: usize,
        wanted: usize,
    ) -> Option<NonNull<u8>> {
        if block_bytes(size) < CHUNK_BYTES {
            return None;
        }
        let _mapping = counting::Mapping::begin();
        let (mut locked, bytes) = (self.shelves[shelf].lock(), block_bytes(wanted));
        let region = locked.recall(block)?;
        if region.bytes() >= wanted {
            return Some(locked.lend(region));
        }
        if let Some(longer) = locked.take_unused(bytes..=bytes.saturating_mul(GROWN_TIMES_MAX)) {
            let to = locked.lend(longer);
            // SAFETY: both blocks have so many bytes, are mapped, and are apart.
            unsafe { to.copy_from_nonoverlapping(block, size) };
            let surplus = locked.keep(region);
            drop(locked);
            surplus.into_iter().for_each(|it| self.unmap(it));
            return Some(to);
        }
        let policy = locked.policy.clone();
        drop(locked);
        let lend = |region: Region| {
            self.own(region.mapping.base, shelf);
            self.shelves[shelf].lock().lend(region)
        };
        match self.extend(region, bytes, &policy) {
            Ok(longer) => Some(lend(longer)),
            Err(as_before) => {
                lend(as_before);
                None
            }
        }
    }

    /// Takes back a block of so many bytes.
    pub(crate) fn give_back_block(&self, shelf: usize, block: NonNull<u8>, size: usize) {
        let _mapping = counting::Mapping::begin();
        let surplus = self.shelves[shelf].lock().put(block, block_bytes(size));
        surplus.into_iter().for_each(|it| self.unmap(it));
    }
}
