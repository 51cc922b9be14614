//! Segments that are bytes of files (docs/design/10-files.md, "mapped").
//!
//! Key decision: opening reads nothing, so checksums are compared when a segment is looked at first, by whoever does, and
//! before anybody sees a byte. Who wants that done by many workers, each on its node, does it piece by piece before. A look
//! has no way to return an error: it unwinds, after the damage was counted, so that whoever runs statements can tell
//! damage from a bug. What fails while a segment is being read is counted by the machine.

use std::ops::Range;
use std::panic::resume_unwind;
use std::ptr::NonNull;

use hardware::{FileMapping, NodeId, PagePolicy};
use stdx::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use stdx::sync::{Arc, Mutex};

/// A file in memory.
pub struct MappedFile {
    mapping: Arc<dyn FileMapping>,
    name: Arc<str>,
}

impl MappedFile {
    pub(crate) fn new(mapping: Arc<dyn FileMapping>, name: String) -> Self {
        Self { mapping, name: name.into() }
    }

    /// Its length.
    pub fn bytes(&self) -> usize {
        self.mapping.bytes()
    }
}

/// CRC-32C of pieces of a segment.
#[derive(Clone, Debug)]
pub struct Checksums {
    /// Bytes of a piece; the last one may be shorter.
    pub piece: usize,
    /// In order.
    pub sums: Vec<u32>,
}

/// What of mapped files was found damaged.
#[derive(Default)]
pub(crate) struct Damage {
    count: AtomicU64,
    last: Mutex<Option<String>>,
    /// Flags of files that are mapped, or were.
    watched: Mutex<Vec<(Arc<AtomicBool>, String)>>,
}

impl Damage {
    pub(crate) fn watch(&self, name: &str, failed: &Arc<AtomicBool>) {
        let mut watched = self.watched.lock();
        watched.retain(|it| Arc::strong_count(&it.0) > 1);
        watched.push((failed.clone(), name.to_owned()));
    }

    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::SeqCst)
    }

    pub(crate) fn note(&self, what: &str) {
        *self.last.lock() = Some(what.to_owned());
        self.count.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn text(&self) -> String {
        match self.watched.lock().iter().find(|it| it.0.load(Ordering::SeqCst)) {
            Some((_, name)) => unreadable(name),
            None => self.last.lock().clone().unwrap_or_else(|| "a mapped file is damaged".into()),
        }
    }
}

fn unreadable(name: &str) -> String {
    format!("{name} cannot be read any more: it was cut, or its disk fails")
}

/// Not all of it has been compared.
const NEW: u8 = 0;
/// All checksums are right.
const RIGHT: u8 = 1;
/// One is not.
const WRONG: u8 = 2;

/// The bytes of a file that are a segment.
pub(crate) struct FilePages {
    file: Arc<MappedFile>,
    range: Range<usize>,
    checksums: Checksums,
    places: Vec<(Range<usize>, PagePolicy)>,
    compared: Vec<AtomicBool>,
    left: AtomicUsize,
    state: AtomicU8,
    /// That of the file, close at hand.
    failed: Arc<AtomicBool>,
}

impl FilePages {
    pub(crate) fn new(
        file: &Arc<MappedFile>,
        range: Range<usize>,
        checksums: Checksums,
        places: Vec<(Range<usize>, PagePolicy)>,
    ) -> Self {
        let pieces = range.len().div_ceil(checksums.piece);
        assert!(range.end <= file.bytes() && checksums.sums.len() == pieces, "{range:?}");
        let compared = (0..pieces).map(|_| AtomicBool::new(false)).collect();
        let (left, state) = (AtomicUsize::new(pieces), AtomicU8::new(NEW));
        let (file, failed) = (file.clone(), file.mapping.failed().clone());
        Self { file, range, checksums, places, compared, left, state, failed }
    }

    /// The first byte.
    pub(crate) fn base(&self) -> NonNull<u8> {
        // SAFETY: the range lies inside the mapping, as was asserted.
        unsafe { self.file.mapping.base().add(self.range.start) }
    }

    /// Whether its bytes are what was written.
    #[inline]
    pub(crate) fn is_right(&self) -> bool {
        self.state.load(Ordering::Acquire) == RIGHT && !self.failed.load(Ordering::Relaxed)
    }

    /// The pieces that nobody has compared, each with the node whose workers shall.
    pub(crate) fn left(&self) -> Vec<(usize, Option<NodeId>)> {
        if self.state.load(Ordering::Acquire) != NEW {
            return Vec::new();
        }
        let left = self.compared.iter().enumerate().filter(|it| !it.1.load(Ordering::Acquire));
        left.map(|(piece, _)| (piece, self.node_of(piece))).collect()
    }

    /// Pages of files cannot be dealt one by one, so pieces are.
    fn node_of(&self, piece: usize) -> Option<NodeId> {
        let start = piece * self.checksums.piece;
        match &self.places.iter().find(|it| it.0.contains(&start))?.1 {
            PagePolicy::Node(node) => Some(*node),
            PagePolicy::Interleave(nodes) => nodes.get(piece % nodes.len().max(1)).copied(),
            PagePolicy::FirstTouch => None,
        }
    }

    /// Compares a piece, by a worker of a node if that is known; what is wrong.
    pub(crate) fn compare(&self, piece: usize, node: Option<NodeId>) -> Result<(), String> {
        let start = self.range.start + piece * self.checksums.piece;
        let end = self.range.end.min(start + self.checksums.piece);
        // SAFETY: the bytes lie inside the mapping, which lives as long as this; they are only read. What another process
        // writes to the file meanwhile, or what cannot be read, may change them: the checksum tells.
        let bytes = unsafe {
            std::slice::from_raw_parts(self.file.mapping.base().add(start).as_ptr(), end - start)
        };
        let sum = crc32c::crc32c(bytes);
        if let Some(node) = node {
            self.file.mapping.touched(start..end, node);
        }
        if self.failed.load(Ordering::SeqCst) {
            return Err(unreadable(&self.file.name));
        }
        if sum != self.checksums.sums[piece] {
            self.state.store(WRONG, Ordering::Release);
            let name = &self.file.name;
            let what = format!("the checksum of bytes {start} to {end} is another one");
            return Err(format!("{name} is damaged: {what}"));
        }
        if !self.compared[piece].swap(true, Ordering::AcqRel)
            && self.left.fetch_sub(1, Ordering::AcqRel) == 1
        {
            let _ = self.state.compare_exchange(NEW, RIGHT, Ordering::AcqRel, Ordering::Acquire);
        }
        Ok(())
    }

    /// Compares what is left; what is wrong.
    pub(crate) fn compare_all(&self) -> Result<(), String> {
        for (piece, _) in self.left() {
            self.compare(piece, None)?;
        }
        match (self.failed.load(Ordering::SeqCst), self.state.load(Ordering::Acquire)) {
            (true, _) => Err(unreadable(&self.file.name)),
            (false, WRONG) => Err(format!("{} is damaged", self.file.name)),
            (false, _) => Ok(()),
        }
    }
}

/// Ends the work of whoever needed some bytes.
#[cold]
pub(crate) fn unwind(what: String) -> ! {
    resume_unwind(Box::new(what))
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use stdx::sync::atomic::AtomicPtr;

    use super::*;
    use crate::Allocator;
    use crate::fake::FakeMachine;

    #[repr(align(64))]
    struct Aligned([u8; 192]);

    /// A file in memory of three lines.
    struct Lines {
        base: AtomicPtr<u8>,
        failed: Arc<AtomicBool>,
    }

    impl FileMapping for Lines {
        fn base(&self) -> NonNull<u8> {
            NonNull::new(self.base.load(Ordering::Relaxed)).unwrap()
        }

        fn bytes(&self) -> usize {
            192
        }

        fn failed(&self) -> &Arc<AtomicBool> {
            &self.failed
        }
    }

    fn looks(segment: &crate::Segment) -> bool {
        catch_unwind(AssertUnwindSafe(|| segment.as_bytes().len())).is_ok()
    }

    #[test]
    fn no_byte_is_seen_before_its_checksum_was_compared() {
        let mut lines = Aligned([1; 192]);
        lines.0[64..128].fill(2);
        lines.0[128..].fill(3);
        let base = AtomicPtr::new(lines.0.as_mut_ptr());
        let mapping = Arc::new(Lines { base, failed: Arc::default() });
        let allocator = Allocator::new(FakeMachine::with_nodes(2));
        let file = allocator.mapped_file(mapping.clone(), "f".to_owned());
        let sum = |byte: u8, len: usize| crc32c::crc32c(&vec![byte; len]);
        let segment = |range: Range<usize>, sums: Vec<u32>| {
            let places = vec![(0..64, PagePolicy::Node(NodeId(1)))];
            let checksums = Checksums { piece: 64, sums };
            allocator.segment_of_file(&file, range, checksums, places).unwrap()
        };
        let right = segment(0..100, vec![sum(1, 64), sum(2, 36)]);
        let wrong = segment(64..192, vec![sum(2, 64), sum(4, 64)]);
        assert_eq!(right.unread_pieces(), [(0, Some(NodeId(1))), (1, None)]);
        right.read_piece(1, NodeId(0)).unwrap();
        assert_eq!(right.unread_pieces(), [(0, Some(NodeId(1)))]);
        assert_eq!((right.as_bytes()[0], right.as_bytes()[99]), (1, 2));
        assert!(right.unread_pieces().is_empty() && right.is_mapped() && !right.is_movable());
        assert!(right.place(&PagePolicy::Node(NodeId(1))).is_err());
        assert_eq!(allocator.damages(), 0);
        assert!(!looks(&wrong) && !looks(&wrong));
        assert_eq!(allocator.damages(), 2);
        assert!(allocator.damage().contains("f is damaged"), "{}", allocator.damage());
        assert!(looks(&right) && right.check_file().is_ok());
        // What was right can be read no more.
        mapping.failed.store(true, Ordering::SeqCst);
        assert!(!looks(&right) && right.check_file().is_err());
        assert!(allocator.damage().contains("f cannot be read"), "{}", allocator.damage());
        let mut nothing = segment(0..0, Vec::new());
        assert!(looks(&nothing) && nothing.as_bytes_mut().is_empty());
        let mut right = right;
        assert!(catch_unwind(AssertUnwindSafe(|| right.as_bytes_mut().len())).is_err());
    }
}
