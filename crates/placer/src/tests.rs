//! Loads of an hour in a millisecond: a machine whose nodes read as fast as they can, and items that are asked for.

use hardware::topology::Cpu;
use hardware::{NodeId, Topology, samples};
use stdx::{Nanos, Prng};
use types::{ColumnId, TableId};

use crate::constants::WINDOW;
use crate::{Action, Decision, Item, ItemWindow, Lookups, Placer, Window};

/// Columns of some size, the demand for each changing with time, on a machine that carries decisions out.
struct Model {
    topology: Topology,
    placer: Placer,
    nodes: Vec<Vec<NodeId>>,
    demanded: Vec<usize>,
    at: Nanos,
    decisions: Vec<Decision>,
    prng: Prng,
    /// The error of what is read of a column in a window.
    noise: f64,
}

/// Bytes per second that a node reads of its memory.
const BANDWIDTH: f64 = 40e9;
const COLUMN_BYTES: u64 = 250_000_000;

fn item(column: usize) -> Item {
    Item { table: TableId(1), part: 0, column: Some(ColumnId(column as u16)) }
}

impl Model {
    /// So many columns, dealt round the nodes.
    fn dealt(mut topology: Topology, columns: usize) -> Self {
        topology.nodes.iter_mut().for_each(|it| it.read_bandwidth_mb_s = Some(40_000));
        let width = topology.nodes.len();
        let nodes = (0..columns).map(|it| vec![NodeId((it % width) as u16)]).collect();
        let placer = Placer::new(&topology);
        let (demanded, decisions) = (Vec::new(), Vec::new());
        let (at, prng, noise) = (Nanos(0), Prng::new(9), 0.02);
        Self { topology, placer, nodes, demanded, at, decisions, prng, noise }
    }

    /// What is read of each column in a second when clients without thinking times want columns with these weights, and
    /// wait for the busiest node.
    fn rate(&self, weights: &[f64]) -> f64 {
        let mut loads = vec![0.0; self.topology.nodes.len()];
        for (weight, nodes) in weights.iter().zip(&self.nodes) {
            for node in nodes {
                loads[usize::from(node.0)] += weight / nodes.len() as f64;
            }
        }
        BANDWIDTH / loads.iter().copied().fold(f64::MIN_POSITIVE, f64::max)
    }

    /// A window of a load; the decisions of it are carried out.
    fn window(&mut self, weights: &[f64]) {
        self.at += WINDOW;
        let seconds = WINDOW.0 as f64 / 1e9;
        let rate = if weights.iter().any(|it| *it > 0.0) { self.rate(weights) } else { 0.0 };
        let width = self.topology.nodes.len();
        let mut busy = vec![0.0; width];
        let mut items = Vec::new();
        for (column, nodes) in self.nodes.iter().enumerate() {
            let error = 1.0 + self.noise * (self.prng.below(2001) as f64 / 1000.0 - 1.0);
            let each = rate * weights[column] * error / nodes.len() as f64;
            let mut read = vec![0; width];
            for node in nodes {
                read[usize::from(node.0)] = (each * seconds) as u64;
                busy[usize::from(node.0)] += each / BANDWIDTH;
            }
            let is_demanded = self.demanded.contains(&column);
            let (item, nodes) = (item(column), nodes.clone());
            items.push(ItemWindow {
                item,
                nodes,
                bytes: COLUMN_BYTES,
                read,
                is_demanded,
                lookups: Lookups::default(),
                most_nodes: 64,
            });
        }
        let window = Window { at: self.at, span: WINDOW, busy, free: Vec::new(), items };
        let decisions = self.placer.observe(&window);
        for decision in &decisions {
            let column = decision.item.column.unwrap();
            assert_eq!(self.nodes[column.index()], decision.from);
            assert!(!self.demanded.contains(&column.index()));
            assert!(decision.action == Action::Shrink || decision.gain > decision.cost);
            self.nodes[column.index()].clone_from(&decision.to);
        }
        self.decisions.extend(decisions);
    }

    fn run(&mut self, seconds: u64, weights: &[f64]) {
        for _ in 0..seconds * 1_000_000_000 / WINDOW.0 {
            self.window(weights);
        }
    }

    fn actions_of(&self, column: usize) -> usize {
        self.decisions.iter().filter(|it| it.item == self::item(column)).count()
    }
}

fn hot(columns: usize, which: &[usize]) -> Vec<f64> {
    (0..columns).map(|it| f64::from(u8::from(which.contains(&it)))).collect()
}

/// The machines with their sockets: of four and of eight.
fn machines() -> [(Topology, f64); 2] {
    [(samples::four_sockets(), 4.0), (eight_sockets(), 8.0)]
}

/// Twice the machine with four sockets.
fn eight_sockets() -> Topology {
    let mut topology = samples::four_sockets();
    let half = topology.nodes.len();
    for at in 0..half {
        let mut node = topology.nodes[at].clone();
        node.id = NodeId((half + at) as u16);
        topology.nodes.push(node);
        let cpus: Vec<Cpu> = topology.cpus_of(NodeId(at as u16)).cloned().collect();
        let moved = |it: Cpu| Cpu { node: NodeId((half + at) as u16), ..it };
        topology.cpus.extend(cpus.into_iter().map(moved));
    }
    let far = topology.distances[0][half - 1];
    topology.distances = (0..2 * half)
        .map(|from| (0..2 * half).map(|to| if from == to { 10 } else { far }).collect())
        .collect();
    topology
}

#[test]
fn one_hot_column_is_split_over_all_nodes_within_thirty_seconds() {
    for (topology, sockets) in machines() {
        let mut model = Model::dealt(topology, 16);
        let weights = hot(16, &[5]);
        let before = model.rate(&weights);
        model.run(30, &weights);
        assert_eq!(model.rate(&weights), before * sockets, "{:?}", model.nodes[5]);
        let kinds: Vec<Action> = model.decisions.iter().map(|it| it.action).collect();
        assert_eq!(kinds, vec![Action::Split; sockets as usize - 1], "one more at a time");
        model.run(300, &weights);
        assert_eq!(model.decisions.len(), sockets as usize - 1, "then nothing more");
    }
}

#[test]
fn two_hot_columns_of_one_node_are_taken_apart_and_then_split() {
    for (topology, sockets) in machines() {
        let columns = sockets as usize * 2;
        let mut model = Model::dealt(topology, columns);
        let weights = hot(columns, &[1, 1 + sockets as usize]);
        let before = model.rate(&weights);
        model.run(30, &weights);
        assert_eq!(model.decisions[0].action, Action::Move);
        let reached = model.rate(&weights) / before / sockets;
        assert!(reached > 0.95, "{reached:.2} {:?}", model.nodes);
    }
}

#[test]
fn forty_hot_columns_on_two_of_four_nodes_are_spread_in_few_rounds() {
    let mut model = Model::dealt(samples::four_sockets(), 160);
    // P-HANA 6.2.1: the second half of the columns, with four fifths of the statements, is on two sockets.
    for column in 0..160 {
        let half = if column < 80 { 0 } else { 2 };
        model.nodes[column] = vec![NodeId((half + column % 2) as u16)];
    }
    let weights: Vec<f64> = (0..160).map(|it| if it < 80 { 0.2 } else { 0.8 }).collect();
    let best = BANDWIDTH / (weights.iter().sum::<f64>() / 4.0);
    assert!(model.rate(&weights) < 0.7 * best);
    model.run(30, &weights);
    let reached = model.rate(&weights) / best;
    assert!(reached > 0.95, "{reached:.2}");
    assert!((0..160).all(|it| model.actions_of(it) <= 1));
}

#[test]
fn a_load_that_moves_every_minute_is_followed_each_time() {
    let mut model = Model::dealt(samples::four_sockets(), 8);
    for turn in 0..8 {
        let weights = hot(8, &[turn]);
        model.run(30, &weights);
        assert_eq!(model.rate(&weights), 4.0 * BANDWIDTH, "turn {turn}");
        model.run(30, &weights);
    }
    assert!((0..8).all(|it| model.actions_of(it) == 3));
}

#[test]
fn a_load_that_moves_every_minute_beside_others_is_followed_each_time() {
    let runs = (1..4).flat_map(|seed| machines().map(|it| (seed, it)));
    for (seed, (topology, sockets)) in runs {
        let columns = sockets as usize * 8;
        let mut model = Model::dealt(topology, columns);
        (model.prng, model.noise) = (Prng::new(seed), 0.2);
        for turn in 0..12 {
            // P-HANA 6.2: of five statements one is on any column.
            let mut weights = vec![0.2 / columns as f64; columns];
            weights[turn] += 0.8;
            model.run(30, &weights);
            let reached = model.rate(&weights) / BANDWIDTH / sockets;
            assert!(
                reached > 0.95,
                "{sockets} sockets, seed {seed}, turn {turn}: {reached:.4} {:?}",
                model.nodes[turn]
            );
            model.run(30, &weights);
        }
        let most = (0..columns).map(|it| model.actions_of(it)).max();
        assert!(most < Some(2 * sockets as usize), "{most:?}");
    }
}

#[test]
fn a_balanced_load_is_left_alone_for_an_hour() {
    let mut model = Model::dealt(samples::four_sockets(), 40);
    model.noise = 0.2;
    model.run(3600, &[1.0; 40]);
    assert_eq!(model.decisions, []);
}

#[test]
fn an_idle_machine_and_a_light_load_are_left_alone() {
    let mut model = Model::dealt(samples::four_sockets(), 4);
    model.run(600, &[0.0; 4]);
    let read = |node: usize, part: f64| {
        let mut read = vec![0; 4];
        read[node] = (BANDWIDTH * part * WINDOW.0 as f64 / 1e9) as u64;
        read
    };
    for turn in 1..100 {
        let nodes = vec![NodeId(0)];
        let seen = ItemWindow {
            item: item(0),
            nodes,
            bytes: 1,
            read: read(0, 0.3),
            is_demanded: false,
            lookups: Lookups::default(),
            most_nodes: 64,
        };
        let at = model.at + Nanos(turn * WINDOW.0);
        let window = Window {
            at,
            span: WINDOW,
            busy: vec![0.3, 0.0, 0.0, 0.0],
            free: Vec::new(),
            items: vec![seen],
        };
        assert_eq!(model.placer.observe(&window), []);
    }
    assert_eq!(model.decisions, []);
}

#[test]
fn a_load_that_comes_and_goes_moves_each_item_twice_at_most() {
    for half in [1, 2, 3, 5, 8] {
        let mut model = Model::dealt(samples::four_sockets(), 8);
        for turn in 0..600 / half as usize {
            model.run(half, &hot(8, &[turn % 2]));
        }
        let counts: Vec<usize> = (0..8).map(|it| model.actions_of(it)).collect();
        assert!(counts.iter().all(|it| *it <= 2), "every {half} s: {counts:?}");
    }
}

#[test]
fn what_a_user_placed_stays_and_others_make_room() {
    let mut model = Model::dealt(samples::four_sockets(), 8);
    model.demanded = vec![1];
    model.run(60, &hot(8, &[1]));
    assert_eq!(model.decisions, [], "the only hot column is the user's");
    model.run(60, &hot(8, &[1, 5]));
    assert_eq!(model.nodes[1], [NodeId(1)]);
    assert!(!model.nodes[5].contains(&NodeId(1)), "{:?}", model.nodes[5]);
}

#[test]
fn what_was_split_and_is_not_read_any_more_shrinks_back() {
    let mut model = Model::dealt(samples::four_sockets(), 8);
    model.run(60, &hot(8, &[6]));
    assert_eq!(model.nodes[6].len(), 4);
    let others = [1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0];
    model.run(590, &others);
    assert_eq!(model.nodes[6].len(), 4);
    model.run(30, &others);
    assert_eq!(model.nodes[6], [NodeId(2)]);
    assert_eq!(model.decisions.last().map(|it| it.action), Some(Action::Shrink));
    let count = model.decisions.len();
    model.run(1200, &others);
    assert_eq!(model.decisions.len(), count);
}

#[test]
fn a_copy_that_takes_longer_than_it_helps_is_not_made() {
    let topology = samples::four_sockets();
    let placer = Placer::new(&topology);
    let window = |bytes: u64| Window {
        at: Nanos(5),
        span: Nanos(1_000_000_000),
        busy: vec![1.0, 0.0, 0.0, 0.0],
        free: Vec::new(),
        items: vec![ItemWindow {
            item: item(0),
            nodes: vec![NodeId(0)],
            bytes,
            read: vec![1_000_000, 0, 0, 0],
            is_demanded: false,
            lookups: Lookups::default(),
            most_nodes: 64,
        }],
    };
    assert_eq!(placer.advise(&window(COLUMN_BYTES)).len(), 3, "each step until all nodes have it");
    assert_eq!(placer.advise(&window(1 << 42)), []);
}

#[test]
fn who_refuses_a_decision_is_not_asked_again_soon() {
    let mut model = Model::dealt(samples::four_sockets(), 8);
    let weights = hot(8, &[3]);
    while model.decisions.is_empty() {
        model.window(&weights);
    }
    let decision = model.decisions[0].clone();
    model.placer.refused(&decision);
    model.nodes[3].clone_from(&decision.from);
    model.run(300, &weights);
    assert_eq!(model.decisions.len(), 1);
    model.run(330, &weights);
    assert!(model.decisions.len() > 1);
}
