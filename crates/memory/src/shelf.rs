//! Blocks of one place: those in use, and those that the next query may have, touched and placed already.
//!
//! Key decision: sizes go by eighths of a power of two, so that a block fits again, and a block may serve what is up to a
//! quarter smaller. Small blocks are cut from chunks, each of one size of block as long as any of them is in use. When a shelf
//! is full, what has lain there longest goes: were it the newcomer, a shelf full of sizes that nobody asks for any more would
//! have every query map, touch and unmap its own.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;
use std::ptr::NonNull;

use hardware::PagePolicy;
use stdx::Bytes;

use crate::CHUNK_BYTES;
use crate::region::Region;

/// Unused bytes that a shelf keeps in any case.
const KEPT_BYTES: u64 = 1 << 30;
/// What part of the memory of its place it keeps at most, where that is more: what each of many workers has is as much.
const KEPT_PART: u64 = 32;

/// Blocks of one place.
pub(crate) struct Shelf {
    pub(crate) policy: PagePolicy,
    /// Regions in use that are one block, by address.
    used: HashMap<usize, Region>,
    /// Unused ones by size, those of each in the order in which they came.
    unused: BTreeMap<usize, Vec<Unused>>,
    /// Regions that are cut into small blocks, by address.
    chunks: BTreeMap<usize, Chunk>,
    /// Unused small blocks by size.
    small: BTreeMap<usize, Vec<Piece>>,
    /// Bytes of unused regions, and of unused small blocks.
    kept: u64,
    /// How many of them there may be.
    kept_max: u64,
    /// Regions that were put back so far.
    came: u64,
}

/// A region that nobody uses, and when it came.
struct Unused {
    region: Region,
    came: u64,
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
    /// An empty one for a place with so much memory.
    pub(crate) fn new(policy: PagePolicy, memory: Bytes) -> Self {
        Self {
            kept_max: (memory.0 / KEPT_PART).max(KEPT_BYTES),
            came: 0,
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
        let region = self.unused.range_mut(sizes).find(|it| !it.1.is_empty())?.1.pop()?.region;
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

    /// Takes a block back; regions that are too much to keep are handed on.
    pub(crate) fn put(&mut self, block: NonNull<u8>, size: usize) -> Vec<Region> {
        if size < CHUNK_BYTES {
            self.chunk_of(block).taken -= 1;
            self.small.entry(size).or_default().push(Piece(block));
            self.kept += size as u64;
            return Vec::new();
        }
        self.recall(block).map_or_else(Vec::new, |it| self.keep(it))
    }

    /// Keeps a region for the next one, and hands on those that are too much then.
    pub(crate) fn keep(&mut self, region: Region) -> Vec<Region> {
        let (bytes, mut surplus) = (region.bytes() as u64, Vec::new());
        if bytes > self.kept_max {
            return vec![region];
        }
        while self.kept + bytes > self.kept_max {
            match self.take_oldest() {
                Some(oldest) => surplus.push(oldest),
                None => {
                    surplus.push(region);
                    return surplus;
                }
            }
        }
        self.kept += bytes;
        self.came += 1;
        let unused = Unused { came: self.came, region };
        self.unused.entry(bytes as usize).or_default().push(unused);
        surplus
    }

    /// Takes out the unused region that came first.
    fn take_oldest(&mut self) -> Option<Region> {
        let of_size = self.unused.values_mut().filter(|it| !it.is_empty());
        let region = of_size.min_by_key(|it| it[0].came)?.remove(0).region;
        self.kept -= region.bytes() as u64;
        Some(region)
    }

    /// The regions that nobody uses any part of.
    pub(crate) fn trim(&mut self) -> Vec<Region> {
        let mut regions: Vec<Region> =
            std::mem::take(&mut self.unused).into_values().flatten().map(|it| it.region).collect();
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

#[cfg(test)]
mod tests {
    use hardware::{Mapping, NodeId};

    use super::*;
    use crate::PageSocketMap;

    /// A region at an address where no memory is: a shelf looks at none of it.
    fn region(place: usize, bytes: usize) -> Region {
        let base = NonNull::new(std::ptr::without_provenance_mut(place * CHUNK_BYTES)).unwrap();
        let mapping = Mapping { base, bytes };
        Region { mapping, map: PageSocketMap::new(4096), policy: None }
    }

    #[test]
    fn a_full_shelf_gives_up_what_came_first() {
        let mut shelf = Shelf::new(PagePolicy::Node(NodeId(0)), Bytes(0));
        let quarter = (KEPT_BYTES / 4) as usize;
        for place in 1..=4 {
            assert!(shelf.keep(region(place, quarter)).is_empty());
        }
        // Used again, and so the last that came.
        let again = shelf.take_unused(quarter..=quarter).unwrap();
        assert_eq!(again.mapping.base.addr().get(), 4 * CHUNK_BYTES);
        assert!(shelf.keep(again).is_empty());
        let surplus = shelf.keep(region(5, 2 * quarter));
        let gone: Vec<usize> =
            surplus.iter().map(|it| it.mapping.base.addr().get() / CHUNK_BYTES).collect();
        assert_eq!((gone, shelf.kept()), (vec![1, 2], KEPT_BYTES));
        let surplus = shelf.keep(region(6, 5 * quarter));
        let bytes: Vec<usize> = surplus.iter().map(Region::bytes).collect();
        assert_eq!(bytes, [5 * quarter], "larger than a shelf");
    }
}
