//! Items come and go on a machine of two sockets with a node of memory alone, whose nodes have room for some of them.

use hardware::{NodeId, Topology, samples};
use types::{ColumnId, TableId};

use super::*;
use crate::constants::WINDOW;
use crate::{Item, ItemWindow, Lookups, Placer, Window};

/// Bytes of an item: an eighth of a near node's memory.
const GIB: u64 = 1 << 30;
const BYTES: u64 = 4 * GIB;

struct Model {
    topology: Topology,
    placer: Placer,
    at: Nanos,
    nodes: Vec<NodeId>,
    demanded: Vec<usize>,
    decisions: Vec<Decision>,
}

impl Model {
    /// So many items on the first node.
    fn new(items: usize) -> Self {
        let topology = samples::cpuless();
        let placer = Placer::new(&topology);
        let nodes = vec![NodeId(0); items];
        let (demanded, decisions) = (Vec::new(), Vec::new());
        Self { topology, placer, at: Nanos(0), nodes, demanded, decisions }
    }

    /// Items that are read from start to end so many times a minute each, one item a window in its turn.
    fn run(&mut self, seconds: u64, per_minute: &[u64]) {
        for _ in 0..seconds * 1_000_000_000 / WINDOW.0 {
            self.at += WINDOW;
            let window = self.window(per_minute);
            let decisions = self.placer.observe(&window);
            for it in &decisions {
                let place = it.item.column.unwrap().index();
                assert!(!self.demanded.contains(&place));
                assert_eq!(vec![self.nodes[place]], it.from);
                self.nodes[place] = it.to[0];
            }
            self.decisions.extend(decisions);
        }
    }

    fn window(&self, per_minute: &[u64]) -> Window {
        let items = (0..self.nodes.len()).map(|place| {
            let mut read = vec![0; 3];
            let every = per_minute[place];
            let number = self.at.0 / WINDOW.0 + place as u64;
            let is_read = every > 0 && number.is_multiple_of(120 / every);
            read[usize::from(self.nodes[place].0)] = if is_read { BYTES } else { 0 };
            let item = Item { table: TableId(1), part: 0, column: Some(ColumnId(place as u16)) };
            let is_demanded = self.demanded.contains(&place);
            ItemWindow {
                item,
                nodes: vec![self.nodes[place]],
                bytes: BYTES,
                read,
                is_demanded,
                lookups: Lookups::default(),
                most_nodes: 64,
            }
        });
        let used = |node: NodeId| self.nodes.iter().filter(|it| **it == node).count() as u64;
        let free = |it: &hardware::topology::Node| it.memory_total.0 - used(it.id) * BYTES;
        let free = self.topology.nodes.iter().map(free).collect();
        Window {
            at: self.at,
            span: WINDOW,
            busy: vec![0.1, 0.1, 0.0],
            free,
            items: items.collect(),
        }
    }

    fn actions(&self) -> Vec<Action> {
        self.decisions.iter().map(|it| it.action).collect()
    }
}

#[test]
fn the_coldest_goes_when_memory_beside_cpus_is_short() {
    let mut model = Model::new(8);
    // All of 32 GiB is taken; the sixth and the eighth are read in the first minute only, the others on and on.
    let busy = [2, 2, 2, 2, 2, 1, 2, 0];
    model.run(60, &busy);
    model.run(530, &[2, 2, 2, 2, 2, 0, 2, 0]);
    assert_eq!(model.actions(), [], "for ten minutes nothing is cold");
    model.run(120, &[2, 2, 2, 2, 2, 0, 2, 0]);
    assert_eq!(model.actions(), [Action::Demote], "an eighth is free then");
    let demotion = &model.decisions[0];
    assert_eq!(
        (model.nodes[7], demotion.coldest, demotion.hottest),
        (NodeId(2), NodeId(2), NodeId(0))
    );
    assert_eq!(demotion.copy_bytes, BYTES);
    assert!(demotion.load > 0.99 && demotion.load_after < 0.9, "{demotion:?}");
    model.run(3600, &[2, 2, 2, 2, 2, 0, 2, 0]);
    assert_eq!(model.decisions.len(), 1, "there is room");
}

#[test]
fn nothing_goes_while_there_is_room_and_what_a_user_placed_never() {
    let mut model = Model::new(7);
    model.run(3600, &[0; 7]);
    assert_eq!(model.actions(), []);
    let mut model = Model::new(8);
    model.demanded = (0..8).collect();
    model.run(3600, &[0; 8]);
    assert_eq!(model.actions(), []);
}

#[test]
fn what_is_read_again_comes_back_and_what_is_seldom_read_does_not() {
    let mut model = Model::new(2);
    model.nodes = vec![NodeId(2); 2];
    model.run(3600, &[1, 0]);
    assert_eq!(model.decisions, [], "its copy takes longer than a read a minute");
    model.run(120, &[8, 0]);
    assert_eq!(model.actions(), [Action::Promote]);
    let promotion = &model.decisions[0];
    assert!(promotion.gain > promotion.cost && model.nodes[0] != NodeId(2), "{promotion:?}");
    model.run(3600, &[8, 0]);
    assert_eq!(model.decisions.len(), 1);
}

#[test]
fn what_comes_and_goes_every_quarter_of_an_hour_is_not_carried_about_without_need() {
    let mut model = Model::new(8);
    for _ in 0..8 {
        model.run(900, &[8, 8, 8, 8, 8, 8, 0, 0]);
        model.run(900, &[8, 8, 8, 8, 8, 0, 8, 0]);
    }
    // The one that nobody ever reads has gone; that leaves the room that is asked for.
    assert_eq!(model.actions(), [Action::Demote]);
    assert_eq!(model.nodes[7], NodeId(2));
}

#[test]
fn hot_items_are_never_spread_over_a_node_without_cpus() {
    let mut model = Model::new(2);
    model.run(60, &[120, 120]);
    assert!(model.nodes.iter().all(|it| *it != NodeId(2)), "{:?}", model.nodes);
    let placer = Placer::new(&model.topology);
    let hot =
        ItemWindow { read: vec![40_000_000_000, 0, 0], ..model.window(&[1; 2]).items[0].clone() };
    let window = Window { span: Nanos(1_000_000_000), items: vec![hot], ..model.window(&[1; 2]) };
    let advice = placer.advise(&window);
    assert_eq!(advice.len(), 1, "over two nodes: {advice:?}");
    assert_eq!(advice[0].coldest, NodeId(1));
}

#[test]
fn advice_tells_what_would_go_until_there_is_room() {
    let model = Model::new(8);
    let placer = Placer::new(&model.topology);
    let advice = placer.advise(&model.window(&[0; 8]));
    let kinds: Vec<Action> = advice.iter().map(|it| it.action).collect();
    assert_eq!(kinds, [Action::Demote], "one is enough");
}
