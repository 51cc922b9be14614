//! Memory whose place is known: segments bound to nodes, their page-socket maps, and blocks that queries re-use
//! (docs/design/02-memory-and-placement.md, "segments"; P-HANA 4.3 and 5.2).
//!
//! Key decision: a segment is the only owner of its bytes, and gives them back to the free list of its node when it is
//! dropped, so that the next query finds memory that is mapped, placed and touched already. The cost is memory kept
//! mapped: a cap per list, and [`Allocator::trim`], bound it.
//!
//! - Invariant: two segments never share a byte; they share a page only below one page of size.
//! - Invariant: dropping takes the lock of one node's list, never a global one.
//! - Invariant: all bytes handed out are initialised: zero when fresh, whatever was there before when recycled.
//! - Invariant: no byte of a mapped file is seen before its checksum was compared.
//! - Invariant: pages are mapped and moved through [`hardware::Machine`] only.
//!
//! Reading order: `counting`, [`location`], [`page_socket_map`], `region`, `shelf`, `free_lists`, `mapped`, [`segment`], [`allocator`], `blocks`, [`operators`], [`account`],
//! [`scratch`], `spill`, `heap`, [`reserve`].

pub mod account;
pub mod allocator;
mod blocks;
mod counting;
mod detect;
#[cfg(test)]
mod fake;
mod free_lists;
mod heap;
pub mod location;
mod mapped;
pub mod operators;
pub mod page_socket_map;
pub mod pod;
mod ranges;
mod region;
#[cfg(not(loom))]
pub mod reserve;
pub mod scratch;
pub mod segment;
mod shelf;
mod spill;

pub use account::Account;
pub use allocator::{Allocator, Usage};
pub use counting::{heap_bytes, unplaced_pieces};
pub use heap::Entered;
pub use location::{Location, Misplaced, PageRange};
pub use mapped::{Checksums, MappedFile};
pub use operators::{OperatorAccount, OperatorBytes};
pub use page_socket_map::PageSocketMap;
pub use pod::Pod;
#[cfg(not(loom))]
pub use reserve::{ReservingAllocator, take_reserve};
pub use scratch::{PLACED_BYTES, Placed, Scratch, Workspace};
#[cfg(not(loom))]
pub use scratch::{plain, shared};
pub use segment::Segment;
pub use spill::SpillFile;

/// The size of a chunk that small segments share, and of a huge page.
pub const CHUNK_BYTES: usize = 2 << 20;
