//! Mapped memory and what is known of its place: what backs segments.

use hardware::{Mapping, PagePolicy};
use stdx::sync::{Arc, Mutex};

use crate::PageSocketMap;
use crate::mapped::FilePages;

/// A mapping and what is known of its place.
pub(crate) struct Region {
    pub(crate) mapping: Mapping,
    pub(crate) map: PageSocketMap,
    /// The policy of the whole mapping; `None` when its parts differ, which makes it useless to others.
    pub(crate) policy: Option<PagePolicy>,
}

// SAFETY: a region owns its mapping: the pointer is used by its holder only.
unsafe impl Send for Region {}
// SAFETY: a shared region only tells its place.
unsafe impl Sync for Region {}

/// A region that small segments share. It is cut from the front; space comes back when all pieces are dropped.
pub(crate) struct Chunk {
    pub(crate) region: Region,
}

impl Region {
    /// Bytes of the mapping.
    pub(crate) fn bytes(&self) -> usize {
        self.mapping.bytes
    }

    /// The policy of all its pages, if there is one.
    pub(crate) fn policy(&self) -> Option<&PagePolicy> {
        self.policy.as_ref()
    }
}

impl Chunk {
    /// The policy that all pieces live by.
    pub(crate) fn policy(&self) -> Option<&PagePolicy> {
        self.region.policy()
    }
}

/// What backs a segment.
pub(crate) enum Backing {
    /// No bytes, no memory.
    Nothing,
    /// A mapping of its own; the lock is held while its pages move.
    Whole(Box<Mutex<Region>>),
    /// A piece of a chunk that small segments share.
    Piece(Arc<Chunk>),
    /// Bytes of a file, which are only read.
    File(Box<FilePages>),
}
