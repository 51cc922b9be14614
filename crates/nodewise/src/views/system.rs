//! Views of the machine and of who works on it.

use arrow_array::RecordBatch;
use hardware::{NodeId, Topology};
use types::SqlResult;

use super::{Columns, ViewBuilder};
use crate::Database;
use crate::database_settings::list_of_database;
use crate::settings::Settings;

/// The columns of [`nodes`].
pub(super) const NODES: Columns = &[
    ("node", 'i'),
    ("socket", 'i'),
    ("cpus", 'i'),
    ("memory_total", 'i'),
    ("memory_free", 'i'),
    ("memory_used", 'i'),
    ("allowed", 'b'),
    ("distances", 't'),
    ("read_bandwidth_mb_s", 'i'),
    ("read_latency_ns", 'i'),
    ("read_bandwidths_mb_s", 't'),
    ("read_latencies_ns", 't'),
];

pub(super) fn nodes(database: &Database) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(NODES);
    let topology = database.machine.topology();
    let usage = database.allocator.usage();
    let memory = database.memory.of(&*database.machine);
    let measured = topology.performance();
    let bandwidth = |to: NodeId| move |from: NodeId| measured?.read_mb_s(from, to);
    let latency =
        |to: NodeId| move |from: NodeId| measured?.latency_ns(from, to).map(|it| it.round() as u64);
    for (index, node) in topology.nodes.iter().enumerate() {
        let distances: Vec<String> =
            topology.distances[index].iter().map(ToString::to_string).collect();
        let used = usage.nodes.iter().find(|it| it.0 == node.id).map_or(0, |it| it.1.0);
        let memory = memory.iter().find(|it| it.0 == node.id).and_then(|it| it.1);
        view.row([
            u64::from(node.id.0).into(),
            u64::from(node.socket.0).into(),
            (topology.cpus_of(node.id).count() as u64).into(),
            memory.map_or(node.memory_total, |it| it.total).0.into(),
            memory.map_or(node.memory_free, |it| it.free).0.into(),
            used.into(),
            node.allowed.into(),
            distances.join(" ").into(),
            bandwidth(node.id)(node.id).or(node.read_bandwidth_mb_s).into(),
            latency(node.id)(node.id).or(node.read_latency_ns).into(),
            to_each(topology, |to| bandwidth(to)(node.id)).into(),
            to_each(topology, |to| latency(to)(node.id)).into(),
        ]);
    }
    view.finish()
}

/// Figures for all nodes in one text, `-` where there is none; nothing when there are none at all.
fn to_each(topology: &Topology, figure: impl Fn(NodeId) -> Option<u64>) -> Option<String> {
    let figures: Vec<Option<u64>> = topology.nodes.iter().map(|it| figure(it.id)).collect();
    figures.iter().any(Option::is_some).then(|| {
        let texts = figures.iter().map(|it| it.map_or_else(|| "-".to_owned(), |it| it.to_string()));
        texts.collect::<Vec<_>>().join(" ")
    })
}

/// The columns of [`cpus`].
pub(super) const CPUS: Columns =
    &[("cpu", 'i'), ("node", 'i'), ("socket", 'i'), ("core", 'i'), ("llc", 'i')];

pub(super) fn cpus(database: &Database) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(CPUS);
    for cpu in &database.machine.topology().cpus {
        view.row([
            u64::from(cpu.id.0).into(),
            u64::from(cpu.node.0).into(),
            u64::from(cpu.socket.0).into(),
            u64::from(cpu.core).into(),
            u64::from(cpu.llc.0).into(),
        ]);
    }
    view.finish()
}

/// The columns of [`all_settings`].
pub(super) const ALL_SETTINGS: Columns = &[("name", 't'), ("value", 't'), ("description", 't')];

pub(super) fn all_settings(database: &Database, settings: &Settings) -> SqlResult<RecordBatch> {
    let mut view = ViewBuilder::new(ALL_SETTINGS);
    let of_database = list_of_database(database);
    for setting in settings.list().into_iter().chain(of_database) {
        view.row([setting.name.into(), setting.value.into(), setting.description.into()]);
    }
    for restriction in database.machine.restrictions() {
        view.row([
            format!("machine.{}", restriction.call).into(),
            "refused".into(),
            restriction.consequence.into(),
        ]);
    }
    view.finish()
}
