//! Owned memory with a known place.
//!
//! A segment is moved through a shared reference, while others read it: its addresses stay. Its map is replaced as a
//! whole after the move, so that who looks meanwhile sees the old one and never waits for the kernel.

use std::mem::size_of;
use std::ops::Range;
use std::ptr::NonNull;
use std::slice;

use hardware::{MachineError, NodeId, PagePolicy};
use stdx::sync::{Arc, RwLock};

use crate::free_lists::{Extent, Memory};
use crate::mapped::{FilePages, unwind};
use crate::region::Backing;
use crate::{CHUNK_BYTES, Checksums, MappedFile, Misplaced, PageSocketMap, Pod};

/// Owned bytes, aligned to 64, whose pages are placed. Dropping it gives them back to the allocator.
pub struct Segment {
    base: NonNull<u8>,
    bytes: usize,
    backing: Backing,
    /// Of a piece of a chunk only once somebody has asked: most pieces are gone before.
    map: RwLock<Option<Arc<PageSocketMap>>>,
    memory: Arc<Memory>,
}

// SAFETY: a segment is the only owner of its bytes, as a Vec is: access follows the borrow of the segment.
unsafe impl Send for Segment {}
// SAFETY: shared access to a segment only reads.
unsafe impl Sync for Segment {}

impl Segment {
    /// A segment of unspecified, initialised contents.
    pub(crate) fn of(
        memory: &Arc<Memory>,
        bytes: usize,
        policy: PagePolicy,
    ) -> Result<Self, MachineError> {
        // SAFETY: what is taken is initialised, aligned, and nobody else's.
        Ok(unsafe { Self::new(memory.take(bytes, policy)?, memory.clone()) })
    }

    /// # Safety
    /// The extent is what it says: initialised bytes, aligned to 64, that belong to the new segment alone as long as its
    /// backing lives, and are part of it.
    pub(crate) unsafe fn new(extent: Extent, memory: Arc<Memory>) -> Self {
        let Extent { base, bytes, backing, map } = extent;
        Self { base, bytes, backing, map: RwLock::new(map.map(Arc::new)), memory }
    }

    /// See [`crate::Allocator::segment_of_file`].
    pub(crate) fn of_file(
        memory: &Arc<Memory>,
        file: &Arc<MappedFile>,
        range: Range<usize>,
        checksums: Checksums,
        places: Vec<(Range<usize>, PagePolicy)>,
    ) -> Self {
        let bytes = range.len();
        let pages = Box::new(FilePages::new(file, range, checksums, places));
        let (base, backing) = (pages.base(), Backing::File(pages));
        assert!(base.addr().get().is_multiple_of(64), "a segment of a file begins at a page");
        let map = Some(PageSocketMap::new(memory.machine().page_bytes()));
        // SAFETY: mapped bytes are initialised, and the backing keeps them; as nobody writes bytes of a file, they may be
        // shared with other segments.
        unsafe { Self::new(Extent { base, bytes, backing, map }, memory.clone()) }
    }

    /// Its length.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Where it begins, without a look at it.
    pub fn address(&self) -> usize {
        self.base.addr().get()
    }

    /// Whether its bytes are those of a file.
    pub fn is_mapped(&self) -> bool {
        matches!(self.backing, Backing::File(_))
    }

    /// The pieces of a mapped segment that nobody has looked at, each with the node whose workers shall be the first.
    pub fn unread_pieces(&self) -> Vec<(usize, Option<NodeId>)> {
        match &self.backing {
            Backing::File(pages) => pages.left(),
            Backing::Nothing | Backing::Whole(_) | Backing::Piece(_) => Vec::new(),
        }
    }

    /// Reads a piece of a mapped segment for the first time, on a worker of a node, and compares its checksum; what is
    /// wrong, which is counted as damage.
    pub fn read_piece(&self, piece: usize, node: NodeId) -> Result<(), String> {
        match &self.backing {
            Backing::File(pages) => {
                pages.compare(piece, Some(node)).inspect_err(|it| self.memory.damage.note(it))
            }
            Backing::Nothing | Backing::Whole(_) | Backing::Piece(_) => Ok(()),
        }
    }

    /// Compares the checksums of a mapped segment that nobody has compared, and says whether what was read of it is what was
    /// written; what is wrong, which is counted as damage. Then a look at it does not unwind.
    pub fn check_file(&self) -> Result<(), String> {
        match &self.backing {
            Backing::File(pages) if !pages.is_right() => self.compare_file(pages),
            _ => Ok(()),
        }
    }

    #[cold]
    fn compare_file(&self, pages: &FilePages) -> Result<(), String> {
        pages.compare_all().inspect_err(|it| self.memory.damage.note(it))?;
        // Where they are is good to know, and no more.
        let _ = self.locate();
        Ok(())
    }

    /// What every look at the bytes asks.
    #[inline]
    fn check_look(&self) {
        if let Backing::File(pages) = &self.backing
            && !pages.is_right()
            && let Err(what) = self.compare_file(pages)
        {
            unwind(what);
        }
    }

    /// Bytes of files are not written.
    #[inline]
    fn check_write(&self) {
        assert!(!self.is_mapped(), "a segment of a mapped file is not written");
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
        self.check_look();
        // SAFETY: the bytes are initialised, aligned to 64 and owned, or those of a file that is not written; any bytes are values of a Pod.
        unsafe { slice::from_raw_parts(self.base.as_ptr().cast(), self.bytes / size_of::<T>()) }
    }

    /// The bytes as values of a type, to write; a rest that makes no whole value is left out.
    #[inline]
    pub fn as_mut_slice<T: Pod>(&mut self) -> &mut [T] {
        const { assert!(align_of::<T>() <= 64 && size_of::<T>() > 0) };
        self.check_write();
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

    /// Where its pages live: what the policy promised, or what [`Segment::locate`] or a move found. A snapshot: a move
    /// that ends later does not change it.
    pub fn page_map(&self) -> Arc<PageSocketMap> {
        let known = self.map.read().clone();
        known.unwrap_or_else(|| match &self.backing {
            Backing::Piece(chunk) => {
                let found = chunk.region.map.subset(self.base.addr().get(), self.bytes);
                self.map.write().get_or_insert_with(|| Arc::new(found)).clone()
            }
            _ => Arc::new(PageSocketMap::new(self.memory.machine().page_bytes())),
        })
    }

    /// The node that its byte at `offset` lives on, when that is known.
    pub fn node_of(&self, offset: usize) -> Option<NodeId> {
        let address = self.base.addr().get() + offset;
        match (&*self.map.read(), &self.backing) {
            (Some(map), _) => map.node_of(address),
            (None, Backing::Piece(chunk)) => chunk.region.map.node_of(address),
            (None, _) => None,
        }
    }

    /// The node of all pages under a range of its bytes; `None` where they live on several, or where one is not known.
    pub fn node_of_all(&self, range: Range<usize>) -> Option<NodeId> {
        let address = self.base.addr().get() + range.start;
        match (&*self.map.read(), &self.backing) {
            (Some(map), _) => map.node_of_all(address, range.len()),
            (None, Backing::Piece(chunk)) => chunk.region.map.node_of_all(address, range.len()),
            (None, _) => None,
        }
    }

    /// Whether [`Segment::place`] can move it. One that shares its chunk with other small segments stays where it is, and so
    /// does one of a file, whose pages no policy binds; [`Segment::copy`] makes another.
    pub fn is_movable(&self) -> bool {
        !matches!(self.backing, Backing::Piece(_) | Backing::File(_))
    }

    /// A segment of other bytes, as few, in the place of this one; `None` where this is not one of few bytes that lie
    /// wherever all of them are to lie.
    pub fn beside(&self, bytes: usize) -> Option<Result<Self, MachineError>> {
        match &self.backing {
            Backing::Piece(chunk) if bytes < CHUNK_BYTES => {
                let policy = chunk.policy()?.clone();
                Some(Self::of(&self.memory, bytes, policy))
            }
            _ => None,
        }
    }

    /// A segment of few bytes in the same memory, near to who writes it: for what a statement makes of what is stored.
    pub fn of_statement(&self, bytes: usize) -> Result<Self, MachineError> {
        Self::of(&self.memory, bytes, PagePolicy::FirstTouch)
    }

    /// A segment with the same bytes, placed by a policy of its own.
    pub fn copy(&self, policy: &PagePolicy) -> Result<Self, MachineError> {
        let mut copy = Self::of(&self.memory, self.bytes, policy.clone())?;
        copy.as_bytes_mut().copy_from_slice(self.as_bytes());
        Ok(copy)
    }

    /// Asks the machine where the pages are. What was promised for one that nobody has touched yet still holds.
    pub fn locate(&self) -> Result<Arc<PageSocketMap>, MachineError> {
        let region = match &self.backing {
            Backing::Whole(region) => Some(region.lock()),
            Backing::Nothing | Backing::Piece(_) | Backing::File(_) => None,
        };
        let known = self.page_map();
        let mut map = PageSocketMap::clone(&known);
        map.add_map(&self.found()?);
        if known.differences(&map, self.base.addr().get(), self.bytes).is_empty() {
            return Ok(known);
        }
        if let Some(mut region) = region {
            let policy = region.policy().cloned();
            self.memory.relocated(&mut region, self.bytes, &map, policy);
        }
        Ok(self.set_map(map))
    }

    /// The pages that are elsewhere than its map says, by asking the machine; the map stays as it is. What nobody has
    /// touched yet is nowhere, so not elsewhere. A move that goes
    /// on meanwhile is waited for.
    pub fn verify(&self) -> Result<Vec<Misplaced>, MachineError> {
        let _still = match &self.backing {
            Backing::Whole(region) => Some(region.lock()),
            Backing::Nothing | Backing::Piece(_) | Backing::File(_) => None,
        };
        let mut found = PageSocketMap::clone(&self.page_map());
        found.add_map(&self.found()?);
        Ok(self.page_map().differences(&found, self.base.addr().get(), self.bytes))
    }

    fn found(&self) -> Result<PageSocketMap, MachineError> {
        let mut map = PageSocketMap::new(self.memory.machine().page_bytes());
        map.add(self.memory.machine(), self.base, self.bytes)?;
        Ok(map)
    }

    /// Places all pages anew, moving those that are touched. See [`Segment::place_range`].
    pub fn place(&self, policy: &PagePolicy) -> Result<(), MachineError> {
        self.place_range(0..self.bytes, policy)
    }

    /// Places the pages under a range of bytes anew, moving those that are touched; who reads them reads on. Whether
    /// it succeeds or not, the map is what the machine says afterwards. A segment that shares its chunk cannot be
    /// placed by another policy than the chunk's.
    pub fn place_range(
        &self,
        range: Range<usize>,
        policy: &PagePolicy,
    ) -> Result<(), MachineError> {
        assert!(range.start <= range.end && range.end <= self.bytes, "{range:?} of {}", self.bytes);
        if range.is_empty() {
            return Ok(());
        }
        let region = match &self.backing {
            Backing::Nothing => return Ok(()),
            Backing::Piece(chunk) if chunk.policy() == Some(policy) => return Ok(()),
            Backing::Piece(_) => {
                let message = format!(
                    "a segment of {} bytes shares its pages with others and has to be copied",
                    self.bytes
                );
                return Err(MachineError::Os { call: "place", message });
            }
            Backing::File(_) => {
                let message = "pages of a mapped file lie where they were read".to_owned();
                return Err(MachineError::Os { call: "place", message });
            }
            Backing::Whole(region) => region,
        };
        let mut region = region.lock();
        let mut map = PageSocketMap::clone(&self.page_map());
        // SAFETY: the range lies inside the segment.
        let base = unsafe { self.base.add(range.start) };
        let placed = map.place(self.memory.machine(), base, range.len(), policy);
        let whole = placed.is_ok() && range.len() == self.bytes && region.bytes() == self.bytes;
        self.memory.relocated(&mut region, self.bytes, &map, whole.then(|| policy.clone()));
        self.set_map(map);
        placed
    }

    fn set_map(&self, map: PageSocketMap) -> Arc<PageSocketMap> {
        let map = Arc::new(map);
        *self.map.write() = Some(map.clone());
        map
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        match std::mem::replace(&mut self.backing, Backing::Nothing) {
            Backing::Nothing | Backing::File(_) => {}
            Backing::Whole(region) => self.memory.give_back(region.into_inner()),
            Backing::Piece(chunk) => self.memory.give_back_piece(chunk),
        }
    }
}

impl std::fmt::Debug for Segment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Segment({} bytes on {:?})", self.bytes, self.page_map().summary())
    }
}
