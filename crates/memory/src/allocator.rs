//! The one source of segments: their placement, the limit of their bytes, and how many there are.

use std::ops::Range;
use std::path::PathBuf;

use hardware::{FileMapping, Machine, MachineError, NodeId, PagePolicy};
use stdx::Bytes;
use stdx::sync::Arc;
use stdx::sync::atomic::Ordering;

use crate::free_lists::{Memory, whole};
use crate::{Checksums, MappedFile, Segment};

/// The one source of segments. Clones share everything.
#[derive(Clone)]
pub struct Allocator(Arc<Memory>);

/// How much memory is mapped, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Usage {
    /// Bytes per node of the topology, in its order.
    pub nodes: Vec<(NodeId, Bytes)>,
    /// Bytes whose node is not known: first-touch memory.
    pub unplaced: Bytes,
    /// Bytes of all these that no segment uses and the next one may have.
    pub retained: Bytes,
}

impl Usage {
    /// All mapped bytes.
    pub fn total(&self) -> Bytes {
        self.nodes.iter().map(|it| it.1).sum::<Bytes>() + self.unplaced
    }
}

impl Allocator {
    /// An allocator on a machine, without a limit.
    pub fn new(machine: Arc<dyn Machine>) -> Self {
        Self(Arc::new(Memory::new(machine)))
    }

    pub(crate) fn memory(&self) -> &Arc<Memory> {
        &self.0
    }

    /// The machine it maps from.
    pub fn machine(&self) -> &Arc<dyn Machine> {
        &self.0.machine
    }

    /// A segment with unspecified, initialised contents: zero when fresh, old when recycled.
    pub fn allocate(&self, bytes: usize, policy: PagePolicy) -> Result<Segment, MachineError> {
        Segment::of(&self.0, bytes, policy)
    }

    /// A segment full of zeros.
    pub fn allocate_zeroed(
        &self,
        bytes: usize,
        policy: PagePolicy,
    ) -> Result<Segment, MachineError> {
        let mut segment = Segment::of(&self.0, bytes, policy)?;
        segment.as_bytes_mut().fill(0);
        Ok(segment)
    }

    /// A segment whose byte ranges live in different places (IVP). The ranges ascend and begin at page boundaries of
    /// the segment; what they leave out goes where it is touched first. Contents as for [`Allocator::allocate`].
    pub fn allocate_placed(
        &self,
        bytes: usize,
        places: &[(Range<usize>, PagePolicy)],
    ) -> Result<Segment, MachineError> {
        if let [(range, policy)] = places
            && *range == (0..bytes)
        {
            return self.allocate(bytes, policy.clone());
        }
        // Small pieces would share pages, so such a segment has a mapping of its own whatever its size.
        let page = self.0.machine.page_bytes();
        if bytes == 0 {
            return self.allocate(0, PagePolicy::FirstTouch);
        }
        let mut region = self.0.map(bytes.next_multiple_of(page), PagePolicy::FirstTouch)?;
        for (range, policy) in places {
            assert_eq!(range.start % page, 0, "a placed range begins inside a page");
            let range = range.start..range.end.min(bytes);
            if let Err(error) = self.0.place_untouched(&mut region, range, policy) {
                self.0.unmap(region);
                return Err(error);
            }
        }
        // SAFETY: the region is ours, and longer than `bytes`.
        Ok(unsafe { Segment::new(whole(region, bytes), self.0.clone()) })
    }

    /// A file whose bytes segments may be; errors call it by this name.
    pub fn mapped_file(&self, mapping: Arc<dyn FileMapping>, name: String) -> Arc<MappedFile> {
        self.0.damage.watch(&name, mapping.failed());
        Arc::new(MappedFile::new(mapping, name))
    }

    /// A segment of bytes of a mapped file, that begin at a page. Nothing of it is read now. Whoever looks at it first
    /// compares its checksums; if they are others, this look and all later ones unwind, and [`Allocator::damages`] rises.
    /// `places` are the nodes whose workers shall be the first to read ranges of it, as for
    /// [`Allocator::allocate_placed`].
    pub fn segment_of_file(
        &self,
        file: &Arc<MappedFile>,
        range: Range<usize>,
        checksums: Checksums,
        places: Vec<(Range<usize>, PagePolicy)>,
    ) -> Result<Segment, MachineError> {
        if range.is_empty() {
            return self.allocate(0, PagePolicy::FirstTouch);
        }
        Ok(Segment::of_file(&self.0, file, range, checksums, places))
    }

    /// How often something was read of a mapped file that is damaged, or could not be read. Who has looked at tables while
    /// it rose has seen what is not so.
    pub fn damages(&self) -> u64 {
        self.0.damage.count() + self.0.machine.failed_file_reads()
    }

    /// What is damaged, newest first of what was seen by checksums.
    pub fn damage(&self) -> String {
        self.0.damage.text()
    }

    /// Limits the mapped bytes; allocating past it fails with [`MachineError::OutOfMemory`].
    pub fn set_limit(&self, limit: Option<Bytes>) {
        self.0.limit.store(limit.map_or(u64::MAX, |it| it.0), Ordering::Relaxed);
    }

    /// The limit of the mapped bytes and the heap; `None` without one.
    pub fn limit(&self) -> Option<Bytes> {
        let limit = self.0.limit.load(Ordering::Relaxed);
        (limit != u64::MAX).then_some(Bytes(limit))
    }

    /// Has statements put what they have no memory for into a folder; where the machine puts such files when not given.
    pub fn set_temporary_folder(&self, folder: Option<PathBuf>) {
        *self.0.temporary_folder.write() = folder;
    }

    /// That folder.
    pub fn temporary_folder(&self) -> Option<PathBuf> {
        self.0.temporary_folder.read().clone()
    }

    /// Whether the statements that work leave memory for another one.
    pub fn has_room(&self) -> bool {
        self.0.has_room()
    }

    /// How many unused bytes the list of each node may keep mapped.
    pub fn set_retained(&self, bytes: Bytes) {
        self.0.retained_max.store(bytes.0, Ordering::Relaxed);
    }

    /// Gives all unused memory back to the machine.
    pub fn trim(&self) {
        self.0.trim();
    }

    /// Mapped bytes per node.
    pub fn usage(&self) -> Usage {
        let nodes = &self.0.machine.topology().nodes;
        let mapped = |index: usize| Bytes(self.0.mapped[index].load(Ordering::Relaxed));
        Usage {
            nodes: nodes.iter().enumerate().map(|(index, it)| (it.id, mapped(index))).collect(),
            unplaced: mapped(nodes.len()),
            retained: self.0.retained(),
        }
    }
}

#[cfg(test)]
#[path = "allocator_tests.rs"]
mod tests;
