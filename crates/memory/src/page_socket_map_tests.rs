use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::fake::{FakeMachine, PAGE};

const PAGES: usize = 256;

fn range(base: usize, pages: usize, location: Location) -> PageRange {
    PageRange { base, pages, location }
}

fn deal(nodes: &[u16], stride: usize, start: usize) -> Location {
    let nodes = nodes.iter().map(|&it| NodeId(it)).collect();
    Location::Interleaved { nodes, stride, start }
}

#[test]
fn runs_and_patterns_are_found() {
    let machine = FakeMachine::with_nodes(4);
    let mapping = machine.map(64 * PAGE, &PagePolicy::FirstTouch).unwrap();
    let base = mapping.base.as_ptr() as usize;
    let nodes = |text: &str| -> Vec<Option<NodeId>> {
        text.bytes().map(|it| it.is_ascii_digit().then(|| NodeId(u16::from(it - b'0')))).collect()
    };
    let check = |text: &str, expect: &[(usize, usize, Location)]| {
        machine.put(base, &nodes(text));
        let mut map = PageSocketMap::new(PAGE);
        map.add(&*machine, mapping.base, text.len() * PAGE).unwrap();
        let expect: Vec<_> =
            expect.iter().map(|it| range(base + it.0 * PAGE, it.1, it.2.clone())).collect();
        assert_eq!(map.ranges(), expect, "{text}");
    };
    let node = |it| Location::Node(NodeId(it));
    check("0000", &[(0, 4, node(0))]);
    check("0011", &[(0, 2, node(0)), (2, 2, node(1))]);
    check("--11--", &[(2, 2, node(1))]);
    check("01230123", &[(0, 8, deal(&[0, 1, 2, 3], 1, 0))]);
    check(
        "2301230",
        &[
            (0, 1, node(2)),
            (1, 1, node(3)),
            (2, 1, node(0)),
            (3, 1, node(1)),
            (4, 1, node(2)),
            (5, 1, node(3)),
            (6, 1, node(0)),
        ],
    );
    check("10101", &[(0, 5, deal(&[0, 1], 1, 1))]);
    check("001100110", &[(0, 9, deal(&[0, 1], 2, 0))]);
    check("0101333", &[(0, 4, deal(&[0, 1], 1, 0)), (4, 3, node(3))]);
    check(
        "01020102",
        &[
            (0, 1, node(0)),
            (1, 1, node(1)),
            (2, 1, node(0)),
            (3, 1, node(2)),
            (4, 1, node(0)),
            (5, 1, node(1)),
            (6, 1, node(0)),
            (7, 1, node(2)),
        ],
    );
    check("01", &[(0, 1, node(0)), (1, 1, node(1))]);
    machine.unmap(mapping);
}

#[test]
fn the_figure_of_the_paper() {
    // P-HANA figure 5: an IV split over two sockets, and a dictionary interleaved over both.
    let mut map = PageSocketMap::new(0x1000);
    map.insert(0x2000, 2, Location::Node(NodeId(1)));
    map.insert(0x4000, 2, Location::Node(NodeId(2)));
    map.insert(0x8000, 3, deal(&[1, 2], 1, 0));
    assert_eq!(map.summary(), [(NodeId(1), 4), (NodeId(2), 3)]);
    assert_eq!(map.majority(), Some(NodeId(1)));
    assert_eq!(map.node_of(0x5fff), Some(NodeId(2)));
    assert_eq!(map.node_of(0x9000), Some(NodeId(2)));
    assert_eq!(map.node_of(0xa123), Some(NodeId(1)));
    assert_eq!((map.node_of(0x6000), map.node_of(0x1fff), map.node_of(0xb000)), (None, None, None));
    assert_eq!(map.node_of_all(0x2800, 0x1800), Some(NodeId(1)));
    assert_eq!([0x2800, 0x1fff, 0x8000].map(|it| map.node_of_all(it, 0x1801)), [None; 3]);
    let subset = map.subset(0x5000, 0x4001);
    assert_eq!(subset.summary(), [(NodeId(1), 1), (NodeId(2), 2)]);
    assert_eq!(subset.ranges()[1], range(0x8000, 2, deal(&[1, 2], 1, 0)));
}

/// What the paper gives a map of some ranges on a machine of some nodes: a summary of 32 bits a node, and in a range a
/// mask of the nodes. It counts with 256 nodes, where this is `360 r + 8192`.
fn paper_bits(ranges: usize, nodes: usize) -> usize {
    (104 + nodes.max(256)) * ranges + 32 * nodes.max(256)
}

#[test]
fn the_size_stays_within_the_formula_of_the_paper() {
    let nodes = |count: u16| (0..count).collect::<Vec<u16>>();
    let round_robin = |map: &mut PageSocketMap, _: u16| {
        map.insert(0, 1 << 20, Location::Node(NodeId(0)));
    };
    let split = |map: &mut PageSocketMap, count: u16| {
        let part = |it: u16| range(usize::from(it) << 30, 1 << 18, Location::Node(NodeId(it)));
        map.insert_all((0..count).map(part));
    };
    let interleaved = |map: &mut PageSocketMap, count: u16| {
        map.insert(0, 1 << 24, deal(&nodes(count), 512, 512));
    };
    // IVP over sockets of two sub-NUMA nodes each: as many deals as sockets.
    let clusters = |map: &mut PageSocketMap, count: u16| {
        let part =
            |it: u16| range(usize::from(it) << 30, 1 << 18, deal(&[2 * it, 2 * it + 1], 512, 0));
        map.insert_all((0..count / 2).map(part));
    };
    // Every other node of four sockets in a scattered order.
    let scattered = |map: &mut PageSocketMap, count: u16| {
        let some: Vec<u16> = (0..count.div_ceil(8)).map(|it| it * 8).collect();
        map.insert(0, 1 << 24, deal(&some, 1, 3));
    };
    type Build<'a> = &'a dyn Fn(&mut PageSocketMap, u16);
    let all: [Build<'_>; 5] = [&round_robin, &split, &interleaved, &clusters, &scattered];
    let counts: &[u16] = if cfg!(miri) { &[2, 4, 8] } else { &[2, 4, 8, 32, 256, 1024] };
    for &count in counts {
        for (index, build) in all.iter().enumerate() {
            let mut map = PageSocketMap::new(4096);
            build(&mut map, count);
            let (bits, ranges) = (map.size_bits(), map.ranges().len());
            assert!(
                bits <= 360 * ranges + 8192,
                "{index} on {count}: {bits} bits, {ranges} ranges"
            );
            assert!(bits <= paper_bits(ranges, usize::from(count)));
        }
    }
    // The paper's example: a column on a 32-socket machine has IV, dictionary and the two vectors of the IX.
    let mut iv = PageSocketMap::new(4096);
    split(&mut iv, 32);
    let mut other = PageSocketMap::new(4096);
    interleaved(&mut other, 32);
    assert!(iv.size_bits() + 3 * other.size_bits() <= 37_176);
    assert_eq!((iv.size_bits(), other.size_bits()), (640 + 32 * 192, 640 + 192 + 96 + 32));
}

#[test]
fn deals_that_nothing_follows_are_forgotten() {
    let mut map = PageSocketMap::new(4096);
    for first in 0..200u16 {
        map.insert(0, 100, deal(&[first, first + 1], 1, 0));
        assert_eq!(map.node_of(4096), Some(NodeId(first + 1)));
        map.insert(200 * 4096, 100, deal(&[first, 1000], 1, 1));
    }
    assert_eq!(map.ranges()[1], range(200 * 4096, 100, deal(&[199, 1000], 1, 1)));
    assert!(map.size_bits() < 6000, "{}", map.size_bits());
}

#[test]
fn pieces_of_a_deal_become_one_again() {
    let whole = deal(&[0, 1, 2], 4, 5);
    let mut map = PageSocketMap::new(4096);
    map.insert(0, 100, whole.clone());
    let once = map.clone();
    for page in [0, 3, 4, 50, 98, 99] {
        let piece = map.subset(page * 4096, 4096);
        assert_eq!(piece.ranges(), [range(page * 4096, 1, Location::Node(whole.node_of(page)))]);
        map.remove(page * 4096, 4096);
        assert_eq!(map.pages(), 99);
        map.add_map(&piece);
        assert_eq!(map.ranges(), [range(0, 100, whole.clone())], "after page {page}");
    }
    let (front, back) = (map.subset(0, 13 * 4096), map.subset(13 * 4096, 87 * 4096));
    let mut joined = PageSocketMap::new(4096);
    joined.add_map(&back);
    joined.add_map(&front);
    assert_eq!(joined, once);
    // Equal to one whose deals were met in another order.
    let mut other = PageSocketMap::new(4096);
    other.insert(1 << 30, 10, deal(&[4, 5], 1, 0));
    other.add_map(&once);
    assert_ne!(other, once);
    other.remove(1 << 30, 10 * 4096);
    assert_eq!(other, once);
    map.subtract_map(&once);
    assert_eq!((map.pages(), map.majority(), map.summary()), (0, None, vec![]));
}

#[test]
fn more_pages_than_a_counter_holds_and_addresses_at_the_end() {
    let mut map = PageSocketMap::new(4096);
    let pages = (1 << 33) + 5;
    map.insert(0, pages, deal(&[0, 1, 2], 1, 0));
    assert_eq!((map.pages(), map.ranges().len()), (pages, 3));
    for page in [0, u32::MAX as usize, 1 << 33, pages - 1] {
        assert_eq!(map.node_of(page * 4096), Some(NodeId((page % 3) as u16)));
    }
    assert_eq!(map.node_of(pages * 4096), None);
    assert_eq!(map.subset(1 << 40, usize::MAX).pages(), pages - (1 << 28));
    map.remove(0, usize::MAX);
    assert_eq!(map, PageSocketMap::new(4096));
}

#[test]
fn many_ranges_are_built_at_once() {
    let count = if cfg!(miri) { 300 } else { 200_000 };
    let at = |it: usize| range(it * 3 * 4096, 1, Location::Node(NodeId((it % 7) as u16)));
    let mut map = PageSocketMap::new(4096);
    map.insert_all((0..count).map(at));
    let mut twice = map.clone();
    twice.add_map(&map);
    assert_eq!(twice, map);
    assert_eq!((map.ranges().len(), map.pages()), (count, count));
    for it in [0, 1, count / 2, count - 1] {
        assert_eq!(map.node_of(it * 3 * 4096), Some(NodeId((it % 7) as u16)));
        assert_eq!(map.node_of((it * 3 + 1) * 4096), None);
    }
    // Half of it from the middle, in one pass.
    let middle = map.subset(count / 4 * 3 * 4096, count / 2 * 3 * 4096);
    twice.subtract_map(&middle);
    assert_eq!(twice.pages(), count - middle.pages());
}

#[derive(Clone, Debug)]
enum Change {
    Turn(usize),
    Stop(usize, usize, u16, usize, bool),
    Insert(Vec<(usize, usize, u16)>),
    Verify(usize, usize),
    Move(usize, usize, u16),
    Interleave(usize, usize, Vec<u16>),
    Behind(usize, Vec<Option<u16>>),
    Add(usize, usize),
    Remove(usize, usize),
    Subtract(usize, usize),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let span = || (0..PAGES * PAGE, 0..64 * PAGE);
    let deal = Just(vec![0u16, 1, 2, 3])
        .prop_shuffle()
        .prop_flat_map(|it| (1..=4usize).prop_map(move |count| it[..count].to_vec()));
    let pages = proptest::collection::vec(proptest::option::of(0..3u16), 1..40);
    let change = prop_oneof![
        (1..4usize).prop_map(Change::Turn),
        (span(), 0..4u16, 0..40usize, any::<bool>()).prop_map(
            |((at, bytes), node, most, fails)| Change::Stop(at, bytes, node, most, fails)
        ),
        proptest::collection::vec((0..PAGES, 1..9usize, 0..4u16), 0..20).prop_map(Change::Insert),
        span().prop_map(|(at, bytes)| Change::Verify(at, bytes)),
        (span(), 0..4u16).prop_map(|((at, bytes), node)| Change::Move(at, bytes, node)),
        (span(), deal).prop_map(|((at, bytes), nodes)| Change::Interleave(at, bytes, nodes)),
        (0..PAGES, pages).prop_map(|(at, nodes)| Change::Behind(at, nodes)),
        span().prop_map(|(at, bytes)| Change::Add(at, bytes)),
        span().prop_map(|(at, bytes)| Change::Remove(at, bytes)),
        span().prop_map(|(at, bytes)| Change::Subtract(at, bytes)),
    ];
    proptest::collection::vec(change, 1..20)
}

/// What the map should say, page by page.
struct Oracle {
    base: usize,
    known: BTreeMap<usize, NodeId>,
}

impl Oracle {
    fn pages(&self, at: usize, bytes: usize) -> std::ops::Range<usize> {
        if bytes == 0 { 0..0 } else { at / PAGE..(at + bytes).div_ceil(PAGE) }
    }

    fn check(&self, map: &PageSocketMap) {
        let mut summary: BTreeMap<NodeId, usize> = BTreeMap::new();
        for page in 0..PAGES {
            let address = self.base + page * PAGE;
            let expect = self.known.get(&page).copied();
            assert_eq!(map.node_of(address), expect, "page {page} of {:?}", map.ranges());
            assert_eq!(map.node_of(address + PAGE - 1), expect);
            if let Some(node) = expect {
                *summary.entry(node).or_default() += 1;
            }
        }
        assert_eq!(map.summary(), summary.clone().into_iter().collect::<Vec<_>>());
        assert_eq!(map.pages(), self.known.len());
        let most = summary.values().max();
        assert_eq!(map.majority().map(|it| summary[&it]), most.copied());
        for pair in map.ranges().windows(2) {
            let end = pair[0].base + pair[0].pages * PAGE;
            assert!(end <= pair[1].base && pair[0].pages > 0);
            let same = matches!(pair[0].location, Location::Node(_))
                && pair[0].location == pair[1].location;
            assert!(end < pair[1].base || !same, "could be one");
        }
    }
}

/// A move that ends after `most` pages, with an error or without a word.
fn stop(
    machine: &FakeMachine,
    base: NonNull<u8>,
    map: &mut PageSocketMap,
    oracle: &mut Oracle,
    (at, bytes, node): (usize, usize, NodeId),
    (most, fails): (usize, bool),
) {
    let pages: Vec<_> = oracle.pages(at, bytes).collect();
    machine.stop_moves_after(Some(most), fails);
    let moved = map.move_to(machine, at_byte(base, at), bytes, node);
    machine.stop_moves_after(None, false);
    assert_eq!(moved.is_err(), fails && !pages.is_empty());
    let promised = if fails { None } else { Some(node) };
    for page in pages {
        if let Some(node) = real(machine, base, page).or(promised) {
            oracle.known.insert(page, node);
        }
    }
}

/// Many ranges at once; the oracle gets them one by one.
fn insert(map: &mut PageSocketMap, oracle: &mut Oracle, mut pieces: Vec<(usize, usize, u16)>) {
    pieces.sort_unstable();
    let mut end = 0;
    pieces.retain(|&(first, pages, _)| {
        let fits = first >= end && first + pages <= PAGES;
        end = if fits { first + pages } else { end };
        fits
    });
    let place = |&(first, pages, node): &(usize, usize, u16)| {
        range(oracle.base + first * PAGE, pages, Location::Node(NodeId(node)))
    };
    map.insert_all(pieces.iter().map(place));
    for (first, pages, node) in pieces {
        oracle.known.extend((first..first + pages).map(|it| (it, NodeId(node))));
    }
}

/// What is elsewhere than recorded.
fn verify(
    machine: &FakeMachine,
    base: NonNull<u8>,
    map: &PageSocketMap,
    oracle: &Oracle,
    at: usize,
    bytes: usize,
) {
    let mut found = PageSocketMap::new(PAGE);
    found.add(machine, base, PAGES * PAGE).unwrap();
    let mut wrong = BTreeMap::new();
    for it in map.differences(&found, oracle.base + at, bytes) {
        let first = (it.base - oracle.base) / PAGE;
        let pages = (first..first + it.pages).map(|page| (page, (it.recorded, it.found)));
        wrong.extend(pages);
    }
    let both = |page| (page, (oracle.known.get(&page).copied(), real(machine, base, page)));
    let expect = oracle.pages(at, bytes).map(both).filter(|it| it.1.0 != it.1.1);
    assert_eq!(wrong, expect.collect());
}

fn at_byte(base: NonNull<u8>, at: usize) -> NonNull<u8> {
    assert!(at <= PAGES * PAGE);
    // SAFETY: inside the mapping, or its end.
    unsafe { base.add(at) }
}

fn real(machine: &FakeMachine, base: NonNull<u8>, page: usize) -> Option<NodeId> {
    machine.locate(at_byte(base, page * PAGE), 1).unwrap()[0]
}

/// A subset, of which the map tells the node, where all of it is on one.
fn subset_of(map: &PageSocketMap, oracle: &Oracle, at: usize, bytes: usize) -> PageSocketMap {
    let subset = map.subset(oracle.base + at, bytes);
    let of_all = map.node_of_all(oracle.base + at, bytes);
    let pages = oracle.pages(at, bytes).count();
    assert!(of_all.is_none_or(|it| subset.summary() == [(it, pages)]));
    subset
}

fn apply(
    machine: &FakeMachine,
    base: NonNull<u8>,
    map: &mut PageSocketMap,
    oracle: &mut Oracle,
    change: Change,
) {
    let clip = |at: usize, bytes: usize| bytes.min(PAGES * PAGE - at);
    let at_byte = |at: usize| at_byte(base, at);
    match change {
        Change::Turn(pages) => machine.set_turn(pages),
        Change::Stop(at, bytes, node, most, fails) => {
            stop(machine, base, map, oracle, (at, clip(at, bytes), NodeId(node)), (most, fails));
        }
        Change::Insert(pieces) => insert(map, oracle, pieces),
        Change::Verify(at, bytes) => verify(machine, base, map, oracle, at, clip(at, bytes)),
        Change::Move(at, bytes, node) => {
            let bytes = clip(at, bytes);
            map.move_to(machine, at_byte(at), bytes, NodeId(node)).unwrap();
            oracle.known.extend(oracle.pages(at, bytes).map(|it| (it, NodeId(node))));
        }
        Change::Interleave(at, bytes, nodes) => {
            let bytes = clip(at, bytes);
            let nodes: Vec<NodeId> = nodes.into_iter().map(NodeId).collect();
            map.interleave(machine, at_byte(at), bytes, &nodes).unwrap();
            let turn = machine.interleave_bytes(bytes, nodes.len()) / PAGE;
            let turns = nodes.iter().flat_map(|it| std::iter::repeat_n(*it, turn));
            let turns: Vec<NodeId> = turns.collect();
            let deal = oracle.pages(at, bytes).zip(turns.into_iter().cycle());
            oracle.known.extend(deal);
        }
        Change::Behind(page, nodes) => {
            let count = nodes.len().min(PAGES - page);
            let nodes: Vec<_> = nodes[..count].iter().map(|it| it.map(NodeId)).collect();
            machine.put(oracle.base + page * PAGE, &nodes);
        }
        Change::Add(at, bytes) => {
            let bytes = clip(at, bytes);
            map.add(machine, at_byte(at), bytes).unwrap();
            for page in oracle.pages(at, bytes) {
                let real = machine.locate(at_byte(page * PAGE), 1).unwrap()[0];
                if let Some(real) = real {
                    oracle.known.entry(page).or_insert(real);
                }
            }
        }
        Change::Remove(at, bytes) => {
            let bytes = clip(at, bytes);
            map.remove(oracle.base + at, bytes);
            oracle.pages(at, bytes).for_each(|it| {
                oracle.known.remove(&it);
            });
        }
        Change::Subtract(at, bytes) => {
            let bytes = clip(at, bytes);
            let subset = subset_of(map, oracle, at, bytes);
            let before = map.clone();
            map.subtract_map(&subset);
            let mut whole = map.clone();
            whole.add_map(&subset);
            oracle.check(&whole);
            assert_eq!(whole.summary(), before.summary());
            oracle.pages(at, bytes).for_each(|it| {
                oracle.known.remove(&it);
            });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 1 } else { 128 }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_map_knows_what_a_page_by_page_oracle_knows(changes in changes()) {
        let machine = FakeMachine::with_nodes(4);
        let mapping = machine.map(PAGES * PAGE, &PagePolicy::FirstTouch).unwrap();
        let base = mapping.base.as_ptr() as usize;
        let mut map = PageSocketMap::new(PAGE);
        let mut oracle = Oracle { base, known: BTreeMap::new() };
        for change in changes {
            apply(&machine, mapping.base, &mut map, &mut oracle, change);
            oracle.check(&map);
        }
        machine.unmap(mapping);
    }
}
