//! Copies and parts: when they are made, when not, and what becomes of them.

use hardware::{NodeId, Topology, samples};
use stdx::Nanos;
use types::{ColumnId, TableId};

use crate::constants::WINDOW;
use crate::{Action, Decision, Item, ItemWindow, Lookups, Placer, Window};

const COLUMN_BYTES: u64 = 250_000_000;
const TABLE_BYTES: u64 = 2_000_000_000;
/// More and less than a node has for a copy.
const LARGE: u64 = 1 << 40;
const SMALL: u64 = 1 << 20;

/// What is read of an item, and what it offers.
#[derive(Clone)]
struct Spec {
    table: u32,
    part: usize,
    column: Option<u16>,
    nodes: Vec<u16>,
    /// Bytes a second in all, of its nodes alike.
    rate: f64,
    looked_up: f64,
    remote: f64,
    lookups: Lookups,
    is_demanded: bool,
    most_nodes: usize,
}

/// A column on one node that is read as fast as that can, half of it from the dictionary, by its own node.
fn hot() -> Spec {
    let lookups =
        Lookups { copy_bytes: Some(LARGE), table_bytes: Some(TABLE_BYTES), ..Lookups::default() };
    Spec {
        table: 1,
        part: 0,
        column: Some(0),
        nodes: vec![1],
        rate: 36e9,
        looked_up: 0.5,
        remote: 0.0,
        lookups,
        is_demanded: false,
        most_nodes: 64,
    }
}

struct World {
    topology: Topology,
    placer: Placer,
    at: Nanos,
    items: Vec<Spec>,
    decisions: Vec<Decision>,
}

impl World {
    fn new(items: Vec<Spec>) -> Self {
        let mut topology = samples::four_sockets();
        topology.nodes.iter_mut().for_each(|it| it.read_bandwidth_mb_s = Some(40_000));
        let placer = Placer::new(&topology);
        Self { topology, placer, at: Nanos(0), items, decisions: Vec::new() }
    }

    fn window(&self) -> Window {
        let seconds = WINDOW.0 as f64 / 1e9;
        let mut busy = vec![0.0; self.topology.nodes.len()];
        let mut item = |it: &Spec| {
            let mut read = vec![0; busy.len()];
            for node in &it.nodes {
                let rate = it.rate / it.nodes.len() as f64;
                read[usize::from(*node)] = (rate * seconds) as u64;
                busy[usize::from(*node)] += rate / 40e9;
            }
            let part = |share: f64| (it.rate * share * seconds) as u64;
            let lookups = Lookups {
                bytes: part(it.looked_up),
                remote: part(it.remote),
                ..it.lookups.clone()
            };
            ItemWindow {
                item: Item {
                    table: TableId(it.table),
                    part: it.part,
                    column: it.column.map(ColumnId),
                },
                nodes: it.nodes.iter().map(|it| NodeId(*it)).collect(),
                bytes: COLUMN_BYTES,
                read,
                is_demanded: it.is_demanded,
                lookups,
                most_nodes: it.most_nodes,
            }
        };
        let items = self.items.iter().map(&mut item).collect();
        Window { at: self.at, span: WINDOW, busy, free: Vec::new(), items }
    }

    /// Lets time go on; what is decided is done by `act`.
    fn run(&mut self, seconds: u64, act: impl Fn(&mut Vec<Spec>, &Decision)) {
        for _ in 0..seconds * 1_000_000_000 / WINDOW.0 {
            self.at += WINDOW;
            let decisions = self.placer.observe(&self.window());
            decisions.iter().for_each(|it| act(&mut self.items, it));
            self.decisions.extend(decisions);
        }
    }

    fn acts(&self) -> Vec<Action> {
        self.decisions.iter().map(|it| it.action).collect()
    }
}

/// The parts of the first item's table, one for each node.
fn cut(items: &mut Vec<Spec>, decision: &Decision) {
    let column = items.remove(0);
    let part = |(part, node): (usize, &NodeId)| Spec {
        part,
        column: None,
        nodes: vec![node.0],
        rate: column.rate / decision.to.len() as f64,
        lookups: Lookups { copy_bytes: None, table_bytes: None, ..column.lookups.clone() },
        ..column.clone()
    };
    items.extend(decision.to.iter().enumerate().map(part));
}

/// Carries out what is decided of the first item.
fn act(items: &mut Vec<Spec>, decision: &Decision) {
    match decision.action {
        Action::Partition => cut(items, decision),
        Action::Merge => *items = vec![Spec { rate: 0.0, ..hot() }],
        action => {
            // Who reads it reads as fast as its nodes can.
            if action == Action::Split {
                items[0].rate *= decision.to.len() as f64 / decision.from.len() as f64;
            }
            items[0].nodes = decision.to.iter().map(|it| it.0).collect();
            items[0].lookups.has_copies = action == Action::Replicate;
        }
    }
}

#[test]
fn what_is_looked_up_is_cut_by_its_key_once_and_put_together_when_nobody_reads_it() {
    let mut world = World::new(vec![hot()]);
    world.run(600, act);
    assert_eq!(world.acts(), [Action::Partition]);
    let decision = &world.decisions[0];
    assert_eq!((decision.copy_bytes, decision.to.len()), (TABLE_BYTES, 4));
    assert!(decision.gain > decision.cost && decision.load > 2.0 * decision.load_after);
    assert!(decision.at < Nanos(5_000_000_000), "{decision:?}");
    world.items.iter_mut().for_each(|it| it.rate = 0.0);
    world.run(620, act);
    assert_eq!(world.acts(), [Action::Partition, Action::Merge]);
    world.run(1200, act);
    assert_eq!(world.decisions.len(), 2);
}

#[test]
fn what_is_mostly_scanned_is_split_and_not_cut() {
    let mut world = World::new(vec![Spec { looked_up: 0.1, ..hot() }]);
    world.run(60, act);
    assert_eq!(world.acts(), [Action::Split; 3]);
}

#[test]
fn a_small_dictionary_is_copied_where_there_is_no_key_until_nobody_reads_it() {
    let lookups = Lookups { copy_bytes: Some(SMALL), table_bytes: None, ..hot().lookups };
    let mut world = World::new(vec![Spec { lookups, ..hot() }]);
    world.run(300, act);
    assert_eq!(world.acts(), [Action::Replicate]);
    assert_eq!(world.items[0].nodes, [0, 1, 2, 3]);
    world.items[0].rate = 0.0;
    world.run(620, act);
    assert_eq!(world.acts(), [Action::Replicate, Action::Shrink]);
    assert_eq!(world.items[0].nodes, [1], "where it was");
    world.run(1200, act);
    assert_eq!(world.decisions.len(), 2);
}

#[test]
fn a_large_dictionary_without_a_key_is_split() {
    let lookups = Lookups { table_bytes: None, ..hot().lookups };
    let mut world = World::new(vec![Spec { lookups, ..hot() }]);
    world.run(60, act);
    assert_eq!(world.acts(), [Action::Split; 3]);
}

#[test]
fn a_table_that_is_too_small_to_be_split_is_copied() {
    let lookups = Lookups { copy_bytes: Some(SMALL), ..hot().lookups };
    let mut world = World::new(vec![Spec { looked_up: 0.0, most_nodes: 1, lookups, ..hot() }]);
    world.run(60, act);
    assert_eq!(world.acts(), [Action::Replicate]);
    let large = Spec { looked_up: 0.0, most_nodes: 1, ..hot() };
    let mut world = World::new(vec![large]);
    world.run(60, act);
    assert_eq!(world.acts(), [], "nothing helps");
}

#[test]
fn what_is_looked_up_from_other_nodes_is_brought_near_though_loads_are_equal() {
    let spread = Spec { nodes: vec![0, 1, 2, 3], rate: 60e9, remote: 0.3, ..hot() };
    let mut world = World::new(vec![spread.clone()]);
    world.run(60, act);
    assert_eq!(world.acts(), [Action::Partition]);
    let lookups = Lookups { copy_bytes: Some(SMALL), table_bytes: None, ..hot().lookups };
    let mut world = World::new(vec![Spec { lookups, ..spread.clone() }]);
    let near = |items: &mut Vec<Spec>, it: &Decision| {
        act(items, it);
        items[0].remote = 0.0;
    };
    world.run(60, near);
    assert_eq!(world.acts(), [Action::Replicate]);
    let mut world = World::new(vec![Spec { rate: 1e9, remote: 0.01, ..spread }]);
    world.run(600, act);
    assert_eq!(world.acts(), [], "that is not worth it");
}

#[test]
fn rows_that_come_and_go_are_neither_copied_nor_cut() {
    let lookups = Lookups { copy_bytes: Some(SMALL), ..hot().lookups };
    let mut world = World::new(vec![Spec { lookups, ..hot() }]);
    for _ in 0..60 {
        world.run(1, act);
        world.items[0].lookups.version += 1;
    }
    assert!(world.acts().iter().all(|it| *it == Action::Split), "{:?}", world.acts());
}

#[test]
fn what_a_user_has_placed_or_put_together_is_left_alone() {
    let mut world = World::new(vec![Spec { is_demanded: true, ..hot() }]);
    world.run(300, act);
    assert_eq!(world.acts(), []);
    let mut world = World::new(vec![hot()]);
    world.run(60, act);
    assert_eq!(world.acts(), [Action::Partition]);
    // A user makes one piece of it.
    world.items = vec![hot()];
    world.run(1300, act);
    let later = &world.acts()[1..];
    assert!(later.iter().all(|it| *it == Action::Split), "{later:?}");
}

#[test]
fn a_load_that_comes_and_goes_cuts_each_table_once() {
    for half in [1, 2, 3, 5, 8] {
        let other = Spec { table: 2, nodes: vec![2], rate: 0.0, ..hot() };
        let mut world = World::new(vec![hot(), other]);
        for turn in 0..600 / half {
            let now = 1 + turn as u32 % 2;
            for it in &mut world.items {
                let share = if it.column.is_some() { 1.0 } else { 0.25 };
                it.rate = if it.table == now { 36e9 * share } else { 0.0 };
            }
            let of = |items: &mut Vec<Spec>, decision: &Decision| {
                let table = decision.item.table;
                let (mut own, rest): (Vec<Spec>, Vec<Spec>) =
                    items.drain(..).partition(|it| TableId(it.table) == table);
                match decision.item.column {
                    Some(_) => act(&mut own, decision),
                    None => own[decision.item.part].nodes = vec![decision.to[0].0],
                }
                items.extend(own.into_iter().chain(rest));
            };
            world.run(half, of);
        }
        for table in [1, 2] {
            let of = |it: &&Decision| it.item.table == TableId(table);
            let count = world.decisions.iter().filter(of).count();
            assert!(count <= 2, "every {half} s: {:?}", world.acts());
        }
    }
}

#[test]
fn advice_tells_of_parts_and_copies_with_what_they_cost_and_gain() {
    let world = World::new(vec![hot()]);
    let placer = Placer::new(&world.topology);
    let advice = placer.advise(&world.window());
    assert_eq!(advice.len(), 1);
    assert_eq!(advice[0].action, Action::Partition);
    assert!(advice[0].gain > advice[0].cost && advice[0].cost > Nanos(0));
    let lookups = Lookups { copy_bytes: Some(SMALL), table_bytes: None, ..hot().lookups };
    let world = World::new(vec![Spec { lookups, ..hot() }]);
    let advice = placer.advise(&world.window());
    assert_eq!(advice.iter().map(|it| it.action).collect::<Vec<_>>(), [Action::Replicate]);
    assert_eq!(advice[0].copy_bytes, 3 * SMALL);
}
