//! Machine models: what a machine's data sheet and its published latency and bandwidth tables say, as data
//! (docs/design/06-proof-without-hardware.md, "modelled machines").
//!
//! Key decision: a model holds nothing else. Each file names the source of each number, and no number was ever changed
//! to make a figure come out.

use std::collections::BTreeMap;

use hardware::topology::{Cpu, Node};
use hardware::{CpuId, Latency, LlcId, NodeId, Performance, SocketId, Topology};
use serde_json::Value;
use stdx::Bytes;

use crate::fields::{Fields, FileError, parse};

const GIB: f64 = (1_u64 << 30) as f64;
const GB: f64 = 1e9;

/// The models that come with the program: names and files.
const FILES: [(&str, &str); 11] = [
    ("4x-ivybridge-ex", include_str!("../models/4x-ivybridge-ex.json")),
    ("16x-ivybridge-ex", include_str!("../models/16x-ivybridge-ex.json")),
    ("32x-ivybridge-ex", include_str!("../models/32x-ivybridge-ex.json")),
    ("8x-westmere-ex", include_str!("../models/8x-westmere-ex.json")),
    ("nehalem-ex", include_str!("../models/nehalem-ex.json")),
    ("sandy-bridge-ep", include_str!("../models/sandy-bridge-ep.json")),
    ("broadwell", include_str!("../models/broadwell.json")),
    ("broadwell-cod", include_str!("../models/broadwell-cod.json")),
    ("skylake", include_str!("../models/skylake.json")),
    ("skylake-snc", include_str!("../models/skylake-snc.json")),
    ("e5-4657l-v2", include_str!("../models/e5-4657l-v2.json")),
];

/// How sockets keep their caches coherent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coherence {
    /// A directory in memory: no snoops, but a remote read of a line that was last read locally writes its entry.
    Directory,
    /// Every line read asks all other sockets.
    Broadcast,
    /// Not known: no traffic.
    Unknown,
}

/// How the sockets are connected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Each socket with each other.
    Full,
    /// Each with the next, the last with the first.
    Ring,
    /// Two fully linked halves; each socket has a link to its twin in the other half.
    Twins,
    /// Blades of so many fully linked sockets, every blade one hop from every other.
    Blades(usize),
}

/// A machine as its published figures describe it. Bandwidths are in bytes per second, latencies in nanoseconds.
#[derive(Clone, PartialEq, Debug)]
pub struct MachineModel {
    /// The name by which experiments ask for it.
    pub name: String,
    /// What it is, for people.
    pub title: String,
    /// Where the numbers come from: field and source.
    pub sources: Vec<(String, String)>,
    /// What the database sees.
    pub topology: Topology,
    /// Core clock in cycles per nanosecond.
    pub ghz: f64,
    /// Hardware threads of a core.
    pub threads_per_core: usize,
    /// `latency[i][k]`: idle read latency from CPUs of node `i` to memory of node `k`.
    pub latency: Vec<Vec<f64>>,
    /// `bandwidth[i][k]`: what all CPUs of node `i` together read from memory of node `k`.
    pub bandwidth: Vec<Vec<f64>>,
    /// Latency of the last-level cache.
    pub llc_latency: f64,
    /// Lines that a core has under way when the hardware fetches ahead.
    pub stream_lines: f64,
    /// Lines that a core has under way when it does not.
    pub random_lines: f64,
    /// How caches are kept coherent.
    pub coherence: Coherence,
    /// How the sockets are connected.
    pub shape: Shape,
    /// Bandwidth of a link per direction; `None` where it is not published.
    pub link: Option<f64>,
    /// Published: what all sockets together read locally. A check, not a parameter.
    pub total_local: Option<f64>,
    /// Published: what all sockets together read from everywhere evenly. A check, not a parameter.
    pub total_mix: Option<f64>,
}

/// The names of the models that come with the program.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|it| it.0)
}

impl MachineModel {
    /// The model of that name.
    pub fn by_name(name: &str) -> Result<Self, FileError> {
        match FILES.iter().find(|it| it.0 == name) {
            Some((file, text)) => Self::parse(file, text),
            None => {
                let known: Vec<&str> = names().collect();
                let what = format!("there is no such machine; known are {}", known.join(", "));
                Err(FileError::new("machine", name, what))
            }
        }
    }

    /// A model from the text of a data file; `file` names it in errors.
    pub fn parse(file: &str, text: &str) -> Result<Self, FileError> {
        let value = parse(file, text)?;
        let fields = Fields::new(file, "", &value)?;
        let sources = sources(&fields)?;
        let size = Size::read(&fields)?;
        let unit = match fields.text("unit")? {
            "GiB/s" => GIB,
            "GB/s" => GB,
            other => {
                let what = format!("{other} is no unit; known are GiB/s, GB/s");
                return Err(fields.error("unit", what));
            }
        };
        let (shape, link) = interconnect(&fields)?;
        let level = |i: usize, k: usize| size.level(shape, i, k);
        let latency = matrix(&fields, "latency_ns", size.nodes(), &level, 1.0)?;
        let bandwidth = matrix(&fields, "bandwidth", size.nodes(), &level, unit)?;
        let coherence = match fields.text("coherence")? {
            "directory" => Coherence::Directory,
            "broadcast" => Coherence::Broadcast,
            other => {
                let what = format!("{other} is not known; known are directory, broadcast");
                return Err(fields.error("coherence", what));
            }
        };
        let name = fields.text("name")?.to_owned();
        let memory = Bytes((fields.number("memory_gib_per_node")? * GIB) as u64);
        let llc = Bytes((fields.number("llc_mib")? * 1024.0 * 1024.0) as u64);
        let model = Self {
            title: fields.text("title")?.to_owned(),
            sources,
            topology: size.topology(&name, memory, llc, &latency),
            name,
            ghz: fields.number("ghz")?,
            threads_per_core: size.threads_per_core,
            latency,
            bandwidth,
            llc_latency: fields.number("llc_latency_ns")?,
            stream_lines: fields.number("stream_lines")?,
            random_lines: fields.number("random_lines")?,
            coherence,
            shape,
            link: link.map(|it| it * unit),
            total_local: fields.maybe_number("total_local")?.map(|it| it * unit),
            total_mix: fields.maybe_number("total_mix")?.map(|it| it * unit),
        };
        fields.close()?;
        model.topology.learn(model.figures());
        Ok(model)
    }

    /// A model of a machine at hand: its topology and what the probe measured there. A pair that was not measured is as
    /// far as its distance says and as fast as the slowest that was. Links and coherence traffic are not known; what
    /// they cost is in the measured pairs.
    pub fn measured(topology: Topology, probe: &Performance, ghz: f64) -> Result<Self, FileError> {
        let refuse = |what: &str| FileError::new(&topology.name, "probe", what);
        let local = probe.local_ns().ok_or_else(|| refuse("it measured no latency"))?;
        let speeds = probe.read_mb_s.iter().flatten().flatten().copied();
        let slowest = speeds.min().filter(|it| *it > 0);
        let slowest = slowest.ok_or_else(|| refuse("it measured no bandwidth"))?;
        if !probe.fits(&topology) {
            return Err(refuse("it was made on another machine"));
        }
        let nodes: Vec<NodeId> = topology.nodes.iter().map(|it| it.id).collect();
        let latency = |from: NodeId, to: NodeId| {
            let far = || local * topology.relative_cost(from, to);
            probe.latency_ns(from, to).unwrap_or_else(far)
        };
        let bandwidth = |from, to| probe.read_mb_s(from, to).unwrap_or(slowest) as f64 * 1e6;
        let matrix = |cell: &dyn Fn(NodeId, NodeId) -> f64| {
            nodes.iter().map(|&from| nodes.iter().map(|&to| cell(from, to)).collect()).collect()
        };
        let (latency, bandwidth): (Vec<Vec<f64>>, Vec<Vec<f64>>) =
            (matrix(&latency), matrix(&bandwidth));
        let mut threads = BTreeMap::new();
        topology.cpus.iter().for_each(|it| *threads.entry((it.node, it.core)).or_insert(0) += 1);
        // By Little's law a bandwidth at a latency needs so many lines under way; the cores had them when it was measured.
        let cores = |node| threads.keys().filter(|it: &&(NodeId, u32)| it.0 == node).count().max(1);
        let lines = (nodes.iter().zip(latency.iter().zip(&bandwidth))).flat_map(|(&node, rows)| {
            let cores = cores(node) as f64;
            rows.0.iter().zip(rows.1).map(move |(ns, bytes)| bytes * ns / 1e9 / 64.0 / cores)
        });
        let stream_lines = lines.fold(16.0, f64::max);
        topology.learn(probe.clone());
        Ok(Self {
            name: topology.name.clone(),
            title: topology.name.clone(),
            sources: vec![("all".into(), "measured by nodewise probe".into())],
            threads_per_core: threads.into_values().max().unwrap_or(1),
            topology,
            ghz,
            latency,
            bandwidth,
            llc_latency: 15.0,
            stream_lines,
            random_lines: 10.0,
            coherence: Coherence::Unknown,
            shape: Shape::Full,
            link: None,
            total_local: None,
            total_mix: None,
        })
    }

    /// What `nodewise probe` would find there: scheduler and placement go by it as they do on a real machine.
    fn figures(&self) -> Performance {
        let each = |it: &f64| Some(Latency { least: *it, mean: *it, greatest: *it });
        let megabytes = |it: &f64| Some((it / 1e6).round() as u64);
        Performance {
            idle_ns: self.latency.iter().map(|row| row.iter().map(each).collect()).collect(),
            read_mb_s: self
                .bandwidth
                .iter()
                .map(|row| row.iter().map(megabytes).collect())
                .collect(),
            ..Performance::unknown(&self.topology)
        }
    }
}

fn sources(fields: &Fields<'_>) -> Result<Vec<(String, String)>, FileError> {
    let sources = fields.value("sources")?.as_object();
    let sources = sources.ok_or_else(|| fields.error("sources", "an object is needed"))?;
    let text = |(key, it): (&String, &Value)| {
        let text = it.as_str().filter(|it| !it.is_empty());
        let text = text.ok_or_else(|| fields.error("sources", format!("{key} needs a text")));
        Ok((key.clone(), text?.to_owned()))
    };
    let sources: Vec<(String, String)> = sources.iter().map(text).collect::<Result<_, _>>()?;
    for needed in ["shape", "latency_ns", "bandwidth", "coherence"] {
        if !sources.iter().any(|it| it.0 == needed) {
            return Err(fields.error("sources", format!("the source of {needed} is missing")));
        }
    }
    Ok(sources)
}

fn interconnect(fields: &Fields<'_>) -> Result<(Shape, Option<f64>), FileError> {
    let connect = fields.object("interconnect")?;
    let shape = match connect.text("shape")? {
        "full" => Shape::Full,
        "ring" => Shape::Ring,
        "twins" => Shape::Twins,
        "blades" => Shape::Blades(connect.count("size")? as usize),
        other => {
            let what = format!("{other} is no shape; known are full, ring, twins, blades");
            return Err(connect.error("shape", what));
        }
    };
    let link = connect.maybe_number("link")?;
    connect.close()?;
    Ok((shape, link))
}

/// A square of numbers above zero: written out, or by the level of a pair (itself, one hop, two hops).
fn matrix(
    fields: &Fields<'_>,
    field: &str,
    nodes: usize,
    level: &dyn Fn(usize, usize) -> usize,
    unit: f64,
) -> Result<Vec<Vec<f64>>, FileError> {
    let value = fields.value(field)?;
    let numbers = |value: &Value| -> Option<Vec<f64>> {
        let sound = |it: &Value| it.as_f64().filter(|it| it.is_finite() && *it > 0.0);
        value.as_array()?.iter().map(sound).collect()
    };
    if value.is_object() {
        let object = fields.object(field)?;
        let levels = numbers(object.value("levels")?);
        object.close()?;
        let highest = (0..nodes).map(|it| level(0, it)).max().unwrap_or(0);
        let levels = levels.filter(|it| it.len() == highest + 1);
        let levels = levels.ok_or_else(|| {
            fields.error(field, format!("{} numbers above zero are needed", highest + 1))
        })?;
        let row = |i| (0..nodes).map(|k| levels[level(i, k)] * unit).collect();
        return Ok((0..nodes).map(row).collect());
    }
    let rows: Option<Vec<Vec<f64>>> =
        value.as_array().and_then(|it| it.iter().map(numbers).collect());
    let rows = rows.filter(|it| it.len() == nodes && it.iter().all(|row| row.len() == nodes));
    let rows = rows.ok_or_else(|| {
        fields.error(field, format!("{nodes} rows of {nodes} numbers above zero are needed"))
    })?;
    Ok(rows.into_iter().map(|row| row.into_iter().map(|it| it * unit).collect()).collect())
}

/// Counts of a regular machine.
struct Size {
    sockets: usize,
    nodes_per_socket: usize,
    cores_per_node: usize,
    threads_per_core: usize,
}

impl Size {
    fn read(fields: &Fields<'_>) -> Result<Self, FileError> {
        let count = |field| {
            let count = fields.count(field)?;
            if count > 1024 {
                Err(fields.error(field, "more than 1024"))
            } else {
                Ok(count as usize)
            }
        };
        let size = Self {
            sockets: count("sockets")?,
            nodes_per_socket: count("nodes_per_socket")?,
            cores_per_node: count("cores_per_node")?,
            threads_per_core: count("threads_per_core")?,
        };
        if size.nodes() * size.cores_per_node * size.threads_per_core > 65_536 {
            return Err(fields.error("sockets", "more than 65536 hardware threads in all"));
        }
        Ok(size)
    }

    fn nodes(&self) -> usize {
        self.sockets * self.nodes_per_socket
    }

    /// Links between the sockets of two nodes; on blades whether they share one.
    fn level(&self, shape: Shape, from: usize, to: usize) -> usize {
        let (a, b) = (from / self.nodes_per_socket, to / self.nodes_per_socket);
        if from == to {
            return 0;
        }
        match shape {
            Shape::Full => 1,
            Shape::Ring => (a.abs_diff(b)).min(self.sockets - a.abs_diff(b)),
            Shape::Twins => {
                let half = (self.sockets / 2).max(1);
                if a / half == b / half || a % half == b % half { 1 } else { 2 }
            }
            Shape::Blades(size) => 1 + usize::from(a / size != b / size),
        }
    }

    /// Hardware threads are numbered as Linux does: one per core over the whole machine, then the siblings. Distances
    /// are the latencies with local as 10, as an SLIT should have them.
    fn topology(&self, name: &str, memory: Bytes, llc: Bytes, latency: &[Vec<f64>]) -> Topology {
        let cores = self.nodes() * self.cores_per_node;
        let cpu = |number: usize| {
            let node = number % cores / self.cores_per_node;
            Cpu {
                id: CpuId::from_index(number),
                node: NodeId::from_index(node),
                socket: SocketId::from_index(node / self.nodes_per_socket),
                core: (number % cores) as u32,
                llc: LlcId::from_index(node),
            }
        };
        let node = |number: usize| Node {
            id: NodeId::from_index(number),
            socket: SocketId::from_index(number / self.nodes_per_socket),
            memory_total: memory,
            memory_free: memory,
            allowed: true,
            read_bandwidth_mb_s: None,
            read_latency_ns: None,
        };
        let distance = |i: usize, k: usize| {
            if i == k { 10 } else { (10.0 * latency[i][k] / latency[i][i]).round() as u32 }
        };
        let nodes = self.nodes();
        Topology {
            name: name.to_owned(),
            nodes: (0..nodes).map(node).collect(),
            cpus: (0..cores * self.threads_per_core).map(cpu).collect(),
            distances: (0..nodes).map(|i| (0..nodes).map(|k| distance(i, k)).collect()).collect(),
            llc_bytes: llc,
            cpu_quota: None,
            memory_limit: None,
            cpus_excluded: 0,
            measured: Default::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_models_load_and_name_their_sources() {
        for name in names() {
            let model = MachineModel::by_name(name).unwrap();
            assert_eq!(model.name, name);
            let nodes = model.topology.nodes.len();
            assert_eq!((model.latency.len(), model.bandwidth.len()), (nodes, nodes));
            let local = |it: &[Vec<f64>]| it[0][0];
            assert!(local(&model.latency) < model.latency[0][nodes - 1]);
            assert!(local(&model.bandwidth) > model.bandwidth[0][nodes - 1]);
        }
        let rack = MachineModel::by_name("32x-ivybridge-ex").unwrap();
        assert_eq!(rack.topology.cpus.len(), 960);
        assert_eq!((rack.latency[0][3], rack.latency[0][4]), (193.0, 500.0));
        let known = rack.topology.performance().unwrap();
        assert_eq!(known.latency_ns(NodeId(0), NodeId(31)), Some(500.0));
        assert_eq!(known.read_mb_s(NodeId(3), NodeId(3)), Some(51_003));
        let ring = MachineModel::by_name("sandy-bridge-ep").unwrap();
        assert_eq!(ring.topology.distances[0], [10, 31, 31, 31]);
    }

    #[test]
    fn a_bad_file_says_what_is_wrong_and_where() {
        let good = FILES[0].1;
        let error = |text: &str| MachineModel::parse("m", text).unwrap_err().to_string();
        assert!(error("{").starts_with("m: not JSON"));
        assert!(error("[]").contains("the file: an object"));
        let replaced = |from: &str, to: &str| {
            assert!(good.contains(from), "{from}");
            error(&good.replace(from, to))
        };
        assert_eq!(replaced("\"sockets\": 4,", ""), "m: sockets: is missing");
        assert!(replaced("\"sockets\": 4,", "\"sockets\": 0,").contains("a whole number"));
        assert!(replaced("\"sockets\": 4,", "\"sockets\": 99999,").contains("more than 1024"));
        assert!(replaced("\"ghz\": 2.5", "\"ghz\": -1").contains("m: ghz: a number above zero"));
        assert!(replaced("[150, 240]", "[150]").contains("2 numbers above zero are needed"));
        assert!(replaced("\"full\"", "\"star\"").contains("interconnect.shape: star is no shape"));
        assert!(replaced("\"ghz\"", "\"gzh\"").contains("ghz: is missing"));
        assert!(replaced("\"total_local\"", "\"totl\"").contains("totl: there is no such field"));
        assert!(replaced("\"GiB/s\"", "\"B\"").contains("B is no unit"));
        assert!(
            replaced("\"latency_ns\": \"P-HANA", "\"x\": \"P-HANA").contains("source of latency")
        );
        let missing = MachineModel::by_name("pdp-11").unwrap_err().to_string();
        assert!(missing.contains("pdp-11") && missing.contains("4x-ivybridge-ex"));
    }

    #[test]
    fn a_machine_at_hand_is_modelled_by_its_probe() {
        let topology = hardware::samples::four_sockets();
        let mut probe = Performance::unknown(&topology);
        let error = MachineModel::measured(topology.clone(), &probe, 3.0).unwrap_err();
        assert!(error.to_string().contains("no latency"));
        let latency = |ns| Some(Latency { least: ns, mean: ns, greatest: ns });
        for (from, row) in probe.idle_ns.iter_mut().enumerate() {
            row[from] = latency(90.0);
        }
        assert!(MachineModel::measured(topology.clone(), &probe, 3.0).is_err());
        for (from, row) in probe.read_mb_s.iter_mut().enumerate() {
            row.iter_mut().enumerate().for_each(|(to, it)| {
                *it = Some(if from == to { 50_000 } else { 20_000 });
            });
        }
        let model = MachineModel::measured(topology, &probe, 3.0).unwrap();
        assert_eq!((model.latency[1][1], model.latency[1][2]), (90.0, 189.0));
        assert_eq!((model.bandwidth[2][2], model.bandwidth[2][0]), (50e9, 20e9));
        let measured = crate::probe(&model);
        assert!((measured.bandwidth[3][0] / 20e9 - 1.0).abs() < 0.03);
        let single = MachineModel::measured(few_cores(), &fast(&few_cores()), 3.0).unwrap();
        let read = crate::probe(&single).bandwidth[0][0];
        assert!((read / 60e9 - 1.0).abs() < 0.01, "by however few cores: {read}");
        let other = hardware::samples::laptop();
        assert!(MachineModel::measured(other, &probe, 3.0).is_err());
    }
    /// A machine of four nodes with one core each.
    fn few_cores() -> Topology {
        let mut topology = hardware::samples::four_sockets();
        let mut seen = std::collections::BTreeSet::new();
        topology.cpus.retain(|it| seen.insert(it.node));
        topology
    }

    /// A probe that read 60 GB/s at 100 ns everywhere.
    fn fast(topology: &Topology) -> Performance {
        let mut probe = Performance::unknown(topology);
        let latency = Latency { least: 100.0, mean: 100.0, greatest: 100.0 };
        probe.idle_ns.iter_mut().flatten().for_each(|it| *it = Some(latency));
        probe.read_mb_s.iter_mut().flatten().for_each(|it| *it = Some(60_000));
        probe
    }
}
