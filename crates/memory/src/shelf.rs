//! Blocks of one place: those in use, and those that the next query may have, touched and placed already.
//!
//! Key decision: sizes go by eighths of a power of two, so that a block fits again, and a block may serve what is up to a
//! quarter smaller. Small blocks are cut from chunks, each of one size of block as long as any of them is in use.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;
use std::ptr::NonNull;

use hardware::PagePolicy;

use crate::CHUNK_BYTES;
use crate::region::Region;

/// Unused bytes that a shelf keeps.
const KEPT_MAX: u64 = 1 << 30;

/// Blocks of one place.
pub(crate) struct Shelf {
    pub(crate) policy: PagePolicy,
    /// Regions in use that are one block, by address.
    used: HashMap<usize, Region>,
    /// Unused ones by size.
    unused: BTreeMap<usize, Vec<Region>>,
    /// Regions that are cut into small blocks, by address.
    chunks: BTreeMap<usize, Chunk>,
    /// Unused small blocks by size.
    small: BTreeMap<usize, Vec<Piece>>,
    /// Bytes of unused regions, and of unused small blocks.
    kept: u64,
}

/// A region of blocks of one size.
struct Chunk {
    region: Region,
    block: usize,
    /// Its blocks that are in use.
    taken: usize,
}

struct Piece(NonNull<u8>);
// SAFETY: an unused block belongs to its shelf alone.
unsafe impl Send for Piece {}

impl Shelf {
    pub(crate) fn new(policy: PagePolicy) -> Self {
        Self {
            policy,
            used: HashMap::new(),
            unused: BTreeMap::new(),
            chunks: BTreeMap::new(),
            small: BTreeMap::new(),
            kept: 0,
        }
    }

    /// Bytes that nobody uses.
    pub(crate) fn kept(&self) -> u64 {
        self.kept
    }

    pub(crate) fn take_small(&mut self, block: usize) -> Option<NonNull<u8>> {
        let piece = self.small.get_mut(&block)?.pop()?;
        self.kept -= block as u64;
        self.chunk_of(piece.0).taken += 1;
        Some(piece.0)
    }

    fn chunk_of(&mut self, block: NonNull<u8>) -> &mut Chunk {
        let before = self.chunks.range_mut(..=block.addr().get()).next_back();
        before.expect("invariant: a small block lies in a chunk").1
    }

    pub(crate) fn add_chunk(&mut self, region: Region, block: usize) {
        let base = region.mapping.base;
        let pieces = self.small.entry(block).or_default();
        for index in (0..CHUNK_BYTES / block).rev() {
            // SAFETY: the block lies inside the region.
            pieces.push(Piece(unsafe { base.add(index * block) }));
        }
        self.kept += (CHUNK_BYTES / block * block) as u64;
        self.chunks.insert(base.addr().get(), Chunk { region, block, taken: 0 });
    }

    pub(crate) fn take_large(&mut self, size: usize) -> Option<NonNull<u8>> {
        let region = self.take_unused(size..=size + size / 4)?;
        Some(self.lend(region))
    }

    pub(crate) fn take_unused(&mut self, sizes: RangeInclusive<usize>) -> Option<Region> {
        let region = self.unused.range_mut(sizes).find(|it| !it.1.is_empty())?.1.pop()?;
        self.kept -= region.bytes() as u64;
        Some(region)
    }

    /// Takes the region of a block in use out.
    pub(crate) fn recall(&mut self, block: NonNull<u8>) -> Option<Region> {
        self.used.remove(&block.addr().get())
    }

    pub(crate) fn lend(&mut self, region: Region) -> NonNull<u8> {
        let base = region.mapping.base;
        self.used.insert(base.addr().get(), region);
        base
    }

    /// Takes a block back; a region that is too much to keep is handed on.
    pub(crate) fn put(&mut self, block: NonNull<u8>, size: usize) -> Option<Region> {
        if size < CHUNK_BYTES {
            self.chunk_of(block).taken -= 1;
            self.small.entry(size).or_default().push(Piece(block));
            self.kept += size as u64;
            return None;
        }
        let region = self.recall(block)?;
        self.keep(region)
    }

    /// Keeps a region for the next one, or hands it on.
    pub(crate) fn keep(&mut self, region: Region) -> Option<Region> {
        let bytes = region.bytes();
        if self.kept + bytes as u64 > KEPT_MAX {
            return Some(region);
        }
        self.kept += bytes as u64;
        self.unused.entry(bytes).or_default().push(region);
        None
    }

    /// The regions that nobody uses any part of.
    pub(crate) fn trim(&mut self) -> Vec<Region> {
        let mut regions: Vec<Region> =
            std::mem::take(&mut self.unused).into_values().flatten().collect();
        self.kept -= regions.iter().map(|it| it.bytes() as u64).sum::<u64>();
        for (address, chunk) in self.chunks.extract_if(.., |_, it| it.taken == 0) {
            let pieces = self.small.entry(chunk.block).or_default();
            let (before, range) = (pieces.len(), address..address + chunk.region.bytes());
            pieces.retain(|it| !range.contains(&it.0.addr().get()));
            self.kept -= ((before - pieces.len()) * chunk.block) as u64;
            regions.push(chunk.region);
        }
        regions
    }
}

/// What a size is rounded up to: eighths of a power of two, and below a chunk the powers themselves.
pub(crate) fn block_bytes(size: usize) -> usize {
    match size.next_power_of_two() {
        small if small < CHUNK_BYTES => small,
        CHUNK_BYTES => CHUNK_BYTES,
        large => size.next_multiple_of(large / 16),
    }
}
