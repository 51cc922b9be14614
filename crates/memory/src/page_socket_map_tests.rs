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
    let subset = map.subset(0x5000, 0x4001);
    assert_eq!(subset.summary(), [(NodeId(1), 1), (NodeId(2), 2)]);
    assert_eq!(subset.ranges()[1], range(0x8000, 2, deal(&[1, 2], 1, 0)));
}

#[derive(Clone, Debug)]
enum Change {
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
            assert!(pair[0].base + pair[0].pages * PAGE <= pair[1].base);
        }
    }
}

fn apply(
    machine: &FakeMachine,
    base: NonNull<u8>,
    map: &mut PageSocketMap,
    oracle: &mut Oracle,
    change: Change,
) {
    let clip = |at: usize, bytes: usize| bytes.min(PAGES * PAGE - at);
    // SAFETY: all changes stay inside the mapping.
    let at_byte = |at: usize| unsafe { base.add(at) };
    match change {
        Change::Move(at, bytes, node) => {
            let bytes = clip(at, bytes);
            map.move_to(machine, at_byte(at), bytes, NodeId(node)).unwrap();
            oracle.known.extend(oracle.pages(at, bytes).map(|it| (it, NodeId(node))));
        }
        Change::Interleave(at, bytes, nodes) => {
            let bytes = clip(at, bytes);
            let nodes: Vec<NodeId> = nodes.into_iter().map(NodeId).collect();
            map.interleave(machine, at_byte(at), bytes, &nodes).unwrap();
            let deal = oracle.pages(at, bytes).zip(nodes.iter().copied().cycle());
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
            let subset = map.subset(oracle.base + at, bytes);
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
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { 128 }, failure_persistence: None, ..ProptestConfig::default() })]

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
