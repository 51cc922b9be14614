//! Owned memory with a known place.

use std::mem::size_of;
use std::ops::Range;
use std::ptr::NonNull;
use std::slice;

use hardware::{MachineError, PagePolicy};
use stdx::sync::Arc;

use crate::allocator::{Chunk, Inner, Region};
use crate::{PageSocketMap, Pod};

/// What backs a segment.
pub(crate) enum Backing {
    /// No bytes, no memory.
    Nothing,
    /// A mapping of its own.
    Whole(Region),
    /// A piece of a chunk that small segments share.
    Piece(Arc<Chunk>),
}

/// Owned bytes, aligned to 64, whose pages are placed. Dropping it gives them back to the allocator.
pub struct Segment {
    base: NonNull<u8>,
    bytes: usize,
    backing: Backing,
    map: PageSocketMap,
    allocator: Arc<Inner>,
}

// SAFETY: a segment is the only owner of its bytes, as a Vec is: access follows the borrow of the segment.
unsafe impl Send for Segment {}
// SAFETY: shared access to a segment only reads.
unsafe impl Sync for Segment {}

impl Segment {
    /// # Safety
    /// `bytes` initialised bytes from `base` on, aligned to 64, belong to the new segment alone as long as `backing`
    /// lives, and are part of it.
    pub(crate) unsafe fn new(
        base: NonNull<u8>,
        bytes: usize,
        backing: Backing,
        map: PageSocketMap,
        allocator: Arc<Inner>,
    ) -> Self {
        Self { base, bytes, backing, map, allocator }
    }

    /// Its length.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        self.as_slice()
    }

    /// The bytes, to write.
    #[inline]
    pub fn as_bytes_mut(&mut self) -> &mut [u8] {
        self.as_mut_slice()
    }

    /// The bytes as values of a type; a rest that makes no whole value is left out.
    #[inline]
    pub fn as_slice<T: Pod>(&self) -> &[T] {
        const { assert!(align_of::<T>() <= 64 && size_of::<T>() > 0) };
        // SAFETY: the bytes are initialised, aligned to 64 and owned; any bytes are values of a Pod.
        unsafe { slice::from_raw_parts(self.base.as_ptr().cast(), self.bytes / size_of::<T>()) }
    }

    /// The bytes as values of a type, to write; a rest that makes no whole value is left out.
    #[inline]
    pub fn as_mut_slice<T: Pod>(&mut self) -> &mut [T] {
        const { assert!(align_of::<T>() <= 64 && size_of::<T>() > 0) };
        // SAFETY: as in `as_slice`; the segment is borrowed exclusively, and Pod has no padding to un-initialise.
        unsafe { slice::from_raw_parts_mut(self.base.as_ptr().cast(), self.bytes / size_of::<T>()) }
    }

    /// The pieces between ascending byte offsets, for several threads to fill: one more than there are offsets.
    pub fn split_mut(&mut self, offsets: &[usize]) -> Vec<&mut [u8]> {
        let mut pieces = Vec::with_capacity(offsets.len() + 1);
        let (mut rest, mut at) = (self.as_bytes_mut(), 0);
        for &offset in offsets {
            assert!(offset >= at, "the offsets of a split ascend");
            let (piece, tail) = rest.split_at_mut(offset - at);
            pieces.push(piece);
            (rest, at) = (tail, offset);
        }
        pieces.push(rest);
        pieces
    }

    /// Where its pages live: what the policy promised, or what [`Segment::locate`] found.
    pub fn page_map(&self) -> &PageSocketMap {
        &self.map
    }

    /// Asks the machine where the pages are.
    pub fn locate(&mut self) -> Result<&PageSocketMap, MachineError> {
        let mut map = PageSocketMap::new(self.map.page_bytes());
        map.add(self.allocator.machine(), self.base, self.bytes)?;
        self.map = map;
        Ok(&self.map)
    }

    /// Places all pages anew, moving those that are touched. A segment below one page moves its neighbours with it.
    pub fn place(&mut self, policy: &PagePolicy) -> Result<(), MachineError> {
        self.place_range(0..self.bytes, policy)
    }

    /// Places the pages under a range of bytes anew, moving those that are touched. Concurrent readers may go on.
    pub fn place_range(
        &mut self,
        range: Range<usize>,
        policy: &PagePolicy,
    ) -> Result<(), MachineError> {
        assert!(range.start <= range.end && range.end <= self.bytes, "{range:?} of {}", self.bytes);
        if range.is_empty() {
            return Ok(());
        }
        // SAFETY: the range lies inside the segment.
        let base = unsafe { self.base.add(range.start) };
        self.map.place(self.allocator.machine(), base, range.len(), policy)?;
        if let Backing::Whole(region) = &mut self.backing {
            self.allocator.replaced(region, &self.map, range.len() == self.bytes, policy);
        }
        Ok(())
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        match std::mem::replace(&mut self.backing, Backing::Nothing) {
            Backing::Nothing => {}
            Backing::Whole(region) => self.allocator.give_back(region),
            Backing::Piece(chunk) => self.allocator.give_back_piece(chunk),
        }
    }
}

impl std::fmt::Debug for Segment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Segment({} bytes on {:?})", self.bytes, self.map.summary())
    }
}
