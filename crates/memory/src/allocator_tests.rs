use super::*;
use crate::CHUNK_BYTES;
use crate::fake::{FakeMachine, PAGE};
use crate::free_lists::LINE_BYTES;

const HERE: PagePolicy = PagePolicy::Node(NodeId(0));

fn two_nodes() -> (Arc<FakeMachine>, Allocator) {
    let machine = FakeMachine::with_nodes(2);
    (machine.clone(), Allocator::new(machine))
}

#[test]
fn large_segments_are_recycled_per_node_and_policy() {
    let (machine, allocator) = two_nodes();
    let mut segment = allocator.allocate(5 << 20, HERE).unwrap();
    assert!(segment.as_bytes().iter().step_by(PAGE).all(|&it| it == 0));
    segment.as_mut_slice::<u64>()[7] = 42;
    let address = segment.as_bytes().as_ptr() as usize;
    drop(segment);
    assert_eq!(allocator.usage().retained, allocator.usage().total());
    let there = allocator.allocate(5 << 20, PagePolicy::Node(NodeId(1))).unwrap();
    assert_ne!(there.as_bytes().as_ptr() as usize, address);
    // A little less falls into the same size class.
    let again = allocator.allocate((5 << 20) - 100, HERE).unwrap();
    assert_eq!(again.as_bytes().as_ptr() as usize, address);
    assert_eq!(again.as_slice::<u64>()[7], 42);
    drop(again);
    let zeroed = allocator.allocate_zeroed(5 << 20, HERE).unwrap();
    assert_eq!(zeroed.as_slice::<u64>()[7], 0);
    drop((there, zeroed));
    allocator.trim();
    assert_eq!((allocator.usage().total(), machine.mapped()), (Bytes(0), 0));
}

#[test]
fn small_segments_share_a_chunk_and_never_a_byte() {
    let (machine, allocator) = two_nodes();
    let sizes = [1, 63, 64, 100, PAGE, PAGE + 1, 3, 300_000];
    let mut segments: Vec<Segment> =
        sizes.iter().map(|&it| allocator.allocate(it, HERE).unwrap()).collect();
    assert_eq!(machine.mapped(), CHUNK_BYTES);
    for (index, segment) in segments.iter_mut().enumerate() {
        assert_eq!(segment.as_bytes().as_ptr() as usize % LINE_BYTES, 0);
        segment.as_bytes_mut().fill(index as u8 + 1);
    }
    for (index, segment) in segments.iter().enumerate() {
        assert_eq!(segment.bytes(), sizes[index]);
        let (step, last) = (if cfg!(miri) { 997 } else { 1 }, segment.as_bytes().last());
        assert_eq!(last, Some(&(index as u8 + 1)));
        assert!(segment.as_bytes().iter().step_by(step).all(|it| Some(it) == last));
        assert_eq!(segment.page_map().majority(), Some(NodeId(0)));
    }
    // A full chunk is left to its pieces; a second one is opened.
    let more = allocator.allocate(CHUNK_BYTES - 1, HERE).unwrap();
    assert_eq!(machine.mapped(), 2 * CHUNK_BYTES);
    drop(more);
    let address = segments[0].as_bytes().as_ptr() as usize;
    drop(segments);
    // The open chunk starts over when it is empty, and the closed one went to the free list.
    assert_eq!(allocator.usage().retained, Bytes(CHUNK_BYTES as u64));
    let a = allocator.allocate(CHUNK_BYTES - 1, HERE).unwrap();
    let b = allocator.allocate(CHUNK_BYTES - 1, HERE).unwrap();
    assert_eq!(machine.mapped(), 2 * CHUNK_BYTES);
    assert_eq!(b.as_bytes().as_ptr() as usize, address);
    drop(allocator);
    drop((a, b));
    assert_eq!(machine.mapped(), 0);
}

#[test]
fn a_split_gives_disjoint_pieces_to_threads() {
    let (_, allocator) = two_nodes();
    let mut segment = allocator.allocate_zeroed(1000, HERE).unwrap();
    let pieces = segment.split_mut(&[0, 100, 100, 999]);
    assert_eq!(pieces.iter().map(|it| it.len()).collect::<Vec<_>>(), [0, 100, 0, 899, 1]);
    std::thread::scope(|scope| {
        for (index, piece) in pieces.into_iter().enumerate() {
            scope.spawn(move || piece.fill(index as u8));
        }
    });
    assert_eq!(segment.as_bytes().iter().map(|&it| u32::from(it)).sum::<u32>(), 100 + 899 * 3 + 4);
    assert_eq!(segment.as_slice::<i128>().len(), 62);
}

/// Miri would take minutes to zero the memory of large segments.
const LARGEST: u64 = if cfg!(miri) { 100_000 } else { 3 << 20 };

#[test]
fn segments_come_and_go_on_many_threads() {
    let (machine, allocator) = two_nodes();
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let allocator = allocator.clone();
            scope.spawn(move || {
                let mut prng = stdx::Prng::new(seed);
                let mut held = Vec::new();
                for _ in 0..if cfg!(miri) { 8 } else { 200 } {
                    let bytes = 1 + prng.below(LARGEST) as usize;
                    let node = PagePolicy::Node(NodeId(prng.below(2) as u16));
                    let mut segment = allocator.allocate(bytes, node).unwrap();
                    segment.as_bytes_mut()[bytes - 1] = seed as u8;
                    held.push(segment);
                    if prng.below(2) == 0 {
                        let segment = held.swap_remove(prng.below(held.len() as u64) as usize);
                        assert_eq!(segment.as_bytes()[segment.bytes() - 1], seed as u8);
                    }
                }
            });
        }
    });
    let usage = allocator.usage();
    assert_eq!(usage.total().0 as usize, machine.mapped());
    drop(allocator);
    assert_eq!(machine.mapped(), 0);
}

#[test]
fn a_limit_holds_after_unused_memory_was_given_up() {
    let (_, allocator) = two_nodes();
    allocator.set_limit(Some(Bytes(8 << 20)));
    drop(allocator.allocate(6 << 20, HERE).unwrap());
    // Fits only because the six are given up.
    let kept = allocator.allocate(7 << 20, HERE).unwrap();
    let error = allocator.allocate(3 << 20, HERE).unwrap_err();
    assert!(matches!(error, MachineError::OutOfMemory { .. }), "{error}");
    drop(kept);
    assert!(allocator.allocate(3 << 20, HERE).is_ok());
    allocator.set_limit(None);
    allocator.set_retained(Bytes(0));
    drop(allocator.allocate(20 << 20, HERE).unwrap());
    assert!(allocator.usage().retained.0 < 20 << 20);
    let missing = allocator.allocate(1, PagePolicy::Node(NodeId(9)));
    assert_eq!(missing.unwrap_err(), MachineError::NoSuchNode(NodeId(9)));
}

#[test]
fn placed_ranges_are_mapped_counted_and_moved() {
    let (machine, allocator) = two_nodes();
    let (zero, one) = (NodeId(0), NodeId(1));
    let half = 2 << 20;
    let places = [(0..half, HERE), (half..2 * half, PagePolicy::Node(one))];
    let segment = allocator.allocate_placed(2 * half, &places).unwrap();
    let base = segment.as_bytes().as_ptr() as usize;
    assert_eq!(segment.page_map().node_of(base + half - 1), Some(zero));
    assert_eq!(segment.page_map().node_of(base + half), Some(one));
    assert_eq!(allocator.usage().nodes, [(zero, Bytes(2 << 20)), (one, Bytes(2 << 20))]);
    let planned = segment.page_map();
    assert_eq!(segment.locate().unwrap(), planned);
    segment.place(&PagePolicy::Interleave(vec![zero, one])).unwrap();
    assert_eq!(segment.page_map().ranges().len(), 1);
    segment.place_range(0..half, &PagePolicy::Node(one)).unwrap();
    assert_eq!(allocator.usage().nodes, [(zero, Bytes(1 << 20)), (one, Bytes(3 << 20))]);
    drop(segment);
    assert_eq!((machine.mapped(), allocator.usage().total()), (0, Bytes(0)));
    // First touch: nothing is promised, and the memory is not handed to others.
    let untouched = allocator.allocate(100, PagePolicy::FirstTouch).unwrap();
    assert_eq!(untouched.page_map().pages(), 0);
    assert_eq!(untouched.locate().unwrap().pages(), 0);
    drop(untouched);
    assert_eq!(machine.mapped(), 0);
    let mut empty = allocator.allocate(0, HERE).unwrap();
    assert!(empty.as_mut_slice::<i128>().is_empty() && empty.split_mut(&[]).len() == 1);
    empty.place(&HERE).unwrap();
    assert!(allocator.allocate_placed(0, &places[..0]).is_ok());
}

#[test]
fn a_move_that_fails_or_stops_half_way_leaves_the_map_true() {
    let (machine, allocator) = two_nodes();
    let there = PagePolicy::Node(NodeId(1));
    let segment = allocator.allocate(2 * CHUNK_BYTES, HERE).unwrap();
    let pages = 2 * CHUNK_BYTES / PAGE;
    let before = segment.page_map();
    let on = |node| segment.page_map().summary().iter().find(|it| it.0 == NodeId(node)).unwrap().1;
    for error in [true, false] {
        segment.place(&HERE).unwrap();
        machine.stop_moves_after(Some(pages / 4), error);
        assert_eq!(segment.place(&there).is_err(), error);
        machine.stop_moves_after(None, false);
        assert_eq!((on(0), on(1)), (pages - pages / 4, pages / 4), "what really moved");
        let learned = segment.page_map();
        assert_eq!(segment.locate().unwrap(), learned);
        assert_eq!(segment.node_of(0), Some(NodeId(1)));
        assert_eq!(segment.node_of(segment.bytes() - 1), Some(NodeId(0)));
        let quarter = Bytes((CHUNK_BYTES / 2) as u64);
        assert_eq!(allocator.usage().nodes[1], (NodeId(1), quarter));
    }
    assert_eq!(before.summary(), [(NodeId(0), pages)], "a snapshot stays what it was");
    let nowhere = segment.place(&PagePolicy::Node(NodeId(7)));
    assert_eq!(nowhere.unwrap_err(), MachineError::NoSuchNode(NodeId(7)));
    assert_eq!(on(1), pages / 4);
    // Its pages are mixed, so that the next segment of either policy does not get them.
    drop(segment);
    assert_eq!(machine.mapped(), 0);
}

#[test]
fn readers_go_on_while_pages_move() {
    let (_, allocator) = two_nodes();
    let words = if cfg!(miri) { 2 * PAGE } else { CHUNK_BYTES } / 8 * 2;
    let mut segment = allocator.allocate_placed(words * 8, &[(0..words * 8 / 2, HERE)]).unwrap();
    let numbers = segment.as_mut_slice::<u64>();
    numbers.iter_mut().enumerate().for_each(|(at, it)| *it = at as u64);
    let total = words as u64 * (words as u64 - 1) / 2;
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..if cfg!(miri) { 2 } else { 4 } {
                    assert_eq!(segment.as_slice::<u64>().iter().sum::<u64>(), total);
                    let known = segment.page_map().pages() * PAGE;
                    assert!(known == words * 8 || known == words * 4, "never half a map: {known}");
                }
            });
        }
        for turn in 0..4 {
            segment.place(&PagePolicy::Node(NodeId(turn % 2))).unwrap();
        }
    });
    assert_eq!(segment.page_map().summary(), [(NodeId(1), words * 8 / PAGE)]);
}

#[test]
fn a_segment_that_shares_its_chunk_is_copied_and_not_moved() {
    let (_, allocator) = two_nodes();
    let mut small = allocator.allocate(100, HERE).unwrap();
    let neighbour = allocator.allocate(100, HERE).unwrap();
    small.as_bytes_mut().fill(7);
    assert!(!small.is_movable());
    small.place(&HERE).unwrap();
    let there = PagePolicy::Node(NodeId(1));
    let refused = small.place(&there).unwrap_err();
    assert!(refused.to_string().contains("has to be copied"), "{refused}");
    assert_eq!(neighbour.node_of(0), Some(NodeId(0)));
    let copy = small.copy(&there).unwrap();
    assert_eq!((copy.as_bytes(), copy.node_of(99)), (small.as_bytes(), Some(NodeId(1))));
    let large = allocator.allocate(CHUNK_BYTES, HERE).unwrap();
    assert!(large.is_movable());
    let empty = allocator.allocate(0, HERE).unwrap();
    assert!(empty.is_movable() && empty.copy(&there).unwrap().as_bytes().is_empty());
}
