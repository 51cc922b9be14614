//! Reads made-up machines: each test writes the files that such a kernel shows into a folder of its own.

use std::fs;
use std::path::{Path, PathBuf};

use hardware::{LlcId, NodeId, SocketId, Topology};
use hardware_linux::{TopologyError, read_advice, read_topology};
use stdx::sync::atomic::{AtomicUsize, Ordering};
use stdx::{Bytes, Prng};

/// A folder that stands for `/`, removed at the end.
struct Tree(PathBuf);

impl Tree {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("nodewise-tree-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn put(&self, path: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn remove(&self, path: &str) {
        let path = self.0.join(path);
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap()
        } else {
            fs::remove_file(path).unwrap()
        }
    }

    fn read(&self) -> Topology {
        read_topology(&self.0).unwrap()
    }

    fn problem(&self) -> String {
        read_topology(&self.0).unwrap_err().to_string()
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A regular machine: what the compact description leaves out is 4 GiB per node and a 16 MiB level-3 cache.
#[derive(Clone)]
struct Shape {
    sockets: usize,
    nodes: usize,
    cores_per_node: usize,
    threads: usize,
    cores_per_cache: usize,
    distance: fn(usize, usize) -> u32,
}

const CPU: &str = "sys/devices/system/cpu";
const NODE: &str = "sys/devices/system/node";

fn list(numbers: impl IntoIterator<Item = usize>) -> String {
    numbers.into_iter().map(|it| it.to_string()).collect::<Vec<_>>().join(",")
}

impl Shape {
    fn cores(&self) -> usize {
        self.nodes * self.cores_per_node
    }

    /// The hardware threads of some cores: first all first ones, then the siblings.
    fn threads_of(&self, cores: std::ops::Range<usize>) -> String {
        list(
            (0..self.threads)
                .flat_map(|it| cores.clone().map(move |core| core + it * self.cores())),
        )
    }

    fn tree(&self) -> Tree {
        let tree = Tree::new();
        let cores = self.cores();
        let last = cores * self.threads - 1;
        tree.put("proc/cpuinfo", "processor\t: 0\nmodel name\t: Made-up CPU @ 3 GHz\n");
        let whole = (4 * self.nodes) << 20;
        tree.put("proc/meminfo", format!("MemTotal: {whole} kB\nMemFree: {} kB\n", whole / 2));
        tree.put("proc/self/status", "Name:\tx\nVmHWM:\t 20 kB\nVmRSS:\t 10 kB\n");
        tree.put(&format!("{CPU}/online"), format!("0-{last}\n"));
        for cpu in 0..=last {
            let core = cpu % cores;
            let folder = format!("{CPU}/cpu{cpu}");
            let package = core / (cores / self.sockets);
            tree.put(&format!("{folder}/topology/physical_package_id"), package.to_string());
            // Unique within the package only, as on real machines.
            tree.put(
                &format!("{folder}/topology/core_id"),
                (core % (cores / self.sockets)).to_string(),
            );
            tree.put(
                &format!("{folder}/topology/thread_siblings_list"),
                self.threads_of(core..core + 1),
            );
            self.caches(&tree, &folder, core);
        }
        for node in 0..self.nodes {
            let folder = format!("{NODE}/node{node}");
            let first = node * self.cores_per_node;
            tree.put(
                &format!("{folder}/cpulist"),
                self.threads_of(first..first + self.cores_per_node),
            );
            tree.put(
                &format!("{folder}/meminfo"),
                format!("Node {node} MemTotal:  4194304 kB\nNode {node} MemFree:   2097152 kB\n"),
            );
            let row =
                (0..self.nodes).map(|to| if to == node { 10 } else { (self.distance)(node, to) });
            let row: Vec<String> = row.map(|it| it.to_string()).collect();
            tree.put(&format!("{folder}/distance"), row.join(" ") + "\n");
        }
        tree.put(&format!("{NODE}/online"), format!("0-{}\n", self.nodes - 1));
        tree
    }

    fn caches(&self, tree: &Tree, folder: &str, core: usize) {
        let start = core / self.cores_per_cache * self.cores_per_cache;
        let own = self.threads_of(core..core + 1);
        let shared = self.threads_of(start..start + self.cores_per_cache);
        let levels = [("1", "Data", &own), ("1", "Instruction", &own), ("3", "Unified", &shared)];
        for (index, (level, kind, cpus)) in levels.into_iter().enumerate() {
            let cache = format!("{folder}/cache/index{index}");
            tree.put(&format!("{cache}/level"), level);
            tree.put(&format!("{cache}/type"), kind);
            tree.put(&format!("{cache}/shared_cpu_list"), cpus);
            tree.put(&format!("{cache}/size"), "16384K\n");
        }
    }
}

fn one_node() -> Shape {
    Shape {
        sockets: 1,
        nodes: 1,
        cores_per_node: 2,
        threads: 2,
        cores_per_cache: 2,
        distance: |_, _| 10,
    }
}

fn four_sockets() -> Shape {
    Shape {
        sockets: 4,
        nodes: 4,
        cores_per_node: 4,
        threads: 1,
        cores_per_cache: 4,
        distance: |_, _| 21,
    }
}

fn cpus(machine: &Topology) -> Vec<u32> {
    machine.cpus.iter().map(|it| it.id.0).collect()
}

#[test]
fn one_node_with_siblings() {
    let machine = one_node().tree().read();
    assert_eq!(machine.name, "Made-up CPU @ 3 GHz");
    assert_eq!(machine.distances, [[10]]);
    assert_eq!(machine.nodes[0].memory_total, Bytes(4 << 30));
    assert_eq!(machine.nodes[0].memory_free, Bytes(2 << 30));
    assert_eq!(machine.cpus.iter().map(|it| it.core).collect::<Vec<_>>(), [0, 1, 0, 1]);
    assert!(machine.cpus.iter().all(|it| it.llc == LlcId(0)));
    assert_eq!(machine.llc_bytes, Bytes(16 << 20));
    assert_eq!((machine.cpu_quota, machine.memory_limit, machine.cpus_excluded), (None, None, 0));
}

#[test]
fn four_sockets_have_cores_of_their_own() {
    let machine = four_sockets().tree().read();
    assert_eq!(machine.nodes.iter().map(|it| it.socket.0).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(machine.distances[2], [21, 21, 10, 21]);
    assert_eq!(
        machine.cpus.iter().map(|it| it.core).collect::<Vec<_>>(),
        (0..16).collect::<Vec<_>>()
    );
    assert_eq!(machine.cpus_of(NodeId(3)).map(|it| it.id.0).collect::<Vec<_>>(), [12, 13, 14, 15]);
    assert_eq!(machine.cpus[15].llc, LlcId(3));
}

#[test]
fn cores_are_told_apart_without_sibling_lists() {
    let tree = four_sockets().tree();
    for cpu in 0..16 {
        tree.remove(&format!("{CPU}/cpu{cpu}/topology/thread_siblings_list"));
    }
    let machine = tree.read();
    assert_eq!(
        machine.cpus.iter().map(|it| it.core).collect::<Vec<_>>(),
        (0..16).collect::<Vec<_>>()
    );
}

#[test]
fn sub_numa_clusters_split_a_shared_cache() {
    let shape = Shape {
        sockets: 2,
        nodes: 4,
        cores_per_node: 4,
        threads: 1,
        cores_per_cache: 8,
        distance: |from, to| if from / 2 == to / 2 { 12 } else { 21 },
    };
    let machine = shape.tree().read();
    assert_eq!(machine.nodes.iter().map(|it| it.socket.0).collect::<Vec<_>>(), [0, 0, 1, 1]);
    assert_eq!(machine.distances[0], [10, 12, 21, 21]);
    assert_eq!(machine.cpus[3].llc, LlcId(0));
    assert_eq!(machine.cpus[4].llc, LlcId(1), "a group of each node, though the cache is one");
}

#[test]
fn a_socket_of_four_nodes_with_chiplets() {
    let shape = Shape {
        sockets: 1,
        nodes: 4,
        cores_per_node: 8,
        threads: 2,
        cores_per_cache: 4,
        distance: |_, _| 12,
    };
    let tree = shape.tree();
    for node in 0..4 {
        let folder = format!("{NODE}/node{node}/access0/initiators");
        tree.put(&format!("{folder}/read_bandwidth"), "76800\n");
        tree.put(&format!("{folder}/read_latency"), "0\n");
    }
    let machine = tree.read();
    assert!(machine.nodes.iter().all(|it| it.socket == SocketId(0)));
    assert_eq!((machine.cpus.len(), machine.cpus_of(NodeId(2)).count()), (64, 16));
    assert_eq!((machine.cpus[4].llc, machine.cpus[36].llc), (LlcId(1), LlcId(1)));
    assert_eq!((machine.cpus[36].core, machine.cpus[36].node), (4, NodeId(0)));
    assert_eq!(machine.nodes[1].read_bandwidth_mb_s, Some(76_800));
    assert_eq!(machine.nodes[1].read_latency_ns, None, "zero says that firmware does not know");
}

#[test]
fn nodes_without_cpus_or_memory_and_gaps_in_the_numbers() {
    let tree = four_sockets().tree();
    tree.remove(&format!("{NODE}/node2"));
    tree.put(&format!("{NODE}/online"), "0-1,3,8");
    tree.put(&format!("{NODE}/node8/cpulist"), "\n");
    tree.put(&format!("{NODE}/node8/meminfo"), "Node 8 MemTotal: 1024 kB\nNode 8 MemFree: 1 kB");
    tree.put(&format!("{NODE}/node8/distance"), "28 14 28 10");
    tree.put(&format!("{NODE}/node3/meminfo"), "Node 3 MemTotal: 0 kB\nNode 3 MemFree: 0 kB");
    for (node, row) in [(0, "10 21 21 28"), (1, "21 10 21 14"), (3, "21 21 10 28")] {
        tree.put(&format!("{NODE}/node{node}/distance"), row);
    }
    let machine = tree.read();
    assert_eq!(machine.nodes.iter().map(|it| it.id.0).collect::<Vec<_>>(), [0, 1, 3, 8]);
    assert_eq!(machine.nodes[3].socket, SocketId(1), "the nearest that has CPUs");
    assert_eq!(machine.memory_nodes(), [NodeId(0), NodeId(1), NodeId(8)]);
    assert_eq!(machine.distance(NodeId(1), NodeId(8)), 14);
    assert_eq!(machine.cpus[8].node, NodeId(0), "a CPU that no node lists");
}

#[test]
fn offline_cpus_are_not_there() {
    let tree = one_node().tree();
    tree.put(&format!("{CPU}/online"), "0,2-3");
    assert_eq!(cpus(&tree.read()), [0, 2, 3]);
    tree.remove(&format!("{CPU}/online"));
    tree.put(&format!("{CPU}/cpu3/online"), "0\n");
    let machine = tree.read();
    assert_eq!((cpus(&machine), machine.cpus_excluded), (vec![0, 1, 2], 0));
}

#[test]
fn a_cpuset_excludes_cpus_and_a_node() {
    let tree = four_sockets().tree();
    tree.put("proc/self/status", "Cpus_allowed_list:\t4-8\nMems_allowed_list:\t0-2\n");
    let machine = tree.read();
    assert_eq!(cpus(&machine), [4, 5, 6, 7, 8]);
    assert_eq!(machine.cpus_excluded, 11);
    assert_eq!(machine.cpus.iter().map(|it| it.llc.0).collect::<Vec<_>>(), [0, 0, 0, 0, 1]);
    assert_eq!(machine.memory_nodes(), [NodeId(0), NodeId(1), NodeId(2)]);
    assert_eq!(machine.nodes[3].socket, SocketId(3), "known though its CPUs are closed to us");
    tree.put("proc/self/status", "Cpus_allowed_list:\t99\n");
    let error = read_topology(&tree.0).unwrap_err();
    assert_eq!(error, TopologyError::NoCpus { root: tree.0.clone() });
}

const V2_MOUNT: &str =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

/// The subjects of the advice on a captured machine.
fn advice(tree: &Tree) -> Vec<&'static str> {
    read_advice(&tree.0, &tree.read()).iter().map(|it| it.subject).collect()
}

#[test]
fn kernel_settings_that_work_against_placement_are_told() {
    let tree = four_sockets().tree();
    assert!(advice(&tree).is_empty(), "what is not there is harmless");
    const HUGE: &str = "sys/kernel/mm/transparent_hugepage/enabled";
    tree.put("proc/sys/kernel/numa_balancing", "0\n");
    tree.put("proc/sys/vm/zone_reclaim_mode", "0\n");
    tree.put(HUGE, "always [madvise] never\n");
    assert!(advice(&tree).is_empty());
    tree.put("proc/sys/kernel/numa_balancing", "2\n");
    tree.put("proc/sys/vm/zone_reclaim_mode", "1\n");
    tree.put(HUGE, "always madvise [never]\n");
    assert_eq!(advice(&tree), ["numa_balancing", "zone_reclaim_mode", "huge_pages"]);
    let list = read_advice(&tree.0, &tree.read());
    assert!(list[0].finding.contains("kernel.numa_balancing is 2"), "{list:?}");
    assert_eq!(list[0].remedy, "sysctl kernel.numa_balancing=0");
    // With one node there is nothing to balance and nothing to reclaim early.
    let small = one_node().tree();
    small.put("proc/sys/kernel/numa_balancing", "1\n");
    small.put("proc/sys/vm/zone_reclaim_mode", "1\n");
    small.put(HUGE, "[never]");
    assert_eq!(advice(&small), ["huge_pages"]);
}

#[test]
fn a_cpuset_that_splits_memory_from_cpus_is_told() {
    let tree = four_sockets().tree();
    let status = |cpus: &str, mems: &str| {
        let text = format!("Cpus_allowed_list:\t{cpus}\nMems_allowed_list:\t{mems}\n");
        tree.put("proc/self/status", text);
        read_advice(&tree.0, &tree.read())
    };
    assert!(status("0-7", "0-1").is_empty());
    let both = status("0-11", "0,3");
    assert_eq!(both.iter().map(|it| it.subject).collect::<Vec<_>>(), ["cpuset", "cpuset"]);
    assert!(both[0].finding.starts_with("of nodes 1, 2 this process may use the CPUs"), "{both:?}");
    assert!(both[1].finding.starts_with("of node 3 this process may use the memory"), "{both:?}");
    // A memory expander has no CPUs to be split from.
    tree.put(&format!("{NODE}/node3/cpulist"), "\n");
    assert!(status("0-11", "0-3").is_empty());
}

#[test]
fn a_node_without_free_memory_is_told() {
    let tree = four_sockets().tree();
    let put = |free: u64, cached: u64| {
        tree.put(
            &format!("{NODE}/node2/meminfo"),
            format!(
                "Node 2 MemTotal: 4194304 kB\nNode 2 MemFree: {free} kB\n\
                 Node 2 Inactive(file): {cached} kB\n"
            ),
        );
        read_advice(&tree.0, &tree.read())
    };
    assert!(put(30_000, 500_000).is_empty(), "cached files make room");
    let full = put(30_000, 0);
    assert_eq!((full.len(), full[0].subject), (1, "memory"));
    assert!(full[0].finding.starts_with("node 2 has 29.3 MiB of 4.0 GiB left"), "{full:?}");
}

#[test]
fn version_2_limits_are_the_least_over_the_ancestors() {
    let tree = one_node().tree();
    tree.put("proc/self/mountinfo", V2_MOUNT).put("proc/self/cgroup", "0::/a/b\n");
    tree.put("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    tree.put("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    tree.put("sys/fs/cgroup/a/b/memory.max", "max");
    tree.put("sys/fs/cgroup/a/memory.max", "1073741824\n");
    tree.put("sys/fs/cgroup/a/memory.high", "536870912\n");
    let machine = tree.read();
    assert_eq!(machine.cpu_quota, Some(1.5));
    assert_eq!(machine.memory_limit, Some(Bytes(512 << 20)));
    tree.put("sys/fs/cgroup/a/b/cpu.max", "50000 100000");
    tree.put("sys/fs/cgroup/a/b/memory.max", "1048576");
    let machine = tree.read();
    assert_eq!((machine.cpu_quota, machine.memory_limit), (Some(0.5), Some(Bytes(1 << 20))));
    tree.put("sys/fs/cgroup/a/b/cpu.max", "400000 100000");
    tree.put("sys/fs/cgroup/a/cpu.max", "max");
    assert_eq!(tree.read().cpu_quota, None, "as much as there are hardware threads is no limit");
}

#[test]
fn a_container_sees_its_group_as_the_mount() {
    for path in ["0::/docker/0815", "0::/../..", "0::/"] {
        let tree = one_node().tree();
        let shown = V2_MOUNT.replace(" / ", " /docker/0815 ");
        tree.put("proc/self/mountinfo", shown).put("proc/self/cgroup", path);
        tree.put("sys/fs/cgroup/cpu.max", "150000 100000");
        assert_eq!(tree.read().cpu_quota, Some(1.5), "{path}");
    }
}

#[test]
fn version_1_limits() {
    let tree = one_node().tree();
    tree.put(
        "proc/self/mountinfo",
        "1 0 0:1 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
         2 0 0:2 / /sys/fs/cgroup/my\\040memory rw - cgroup cgroup rw,memory\n",
    );
    tree.put("proc/self/cgroup", "4:memory:/a/b\n3:cpu,cpuacct:/a\n0::/x\n");
    tree.put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    tree.put("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "75000\n");
    tree.put("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "50000\n");
    tree.put("sys/fs/cgroup/my memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
    tree.put("sys/fs/cgroup/my memory/a/memory.limit_in_bytes", "2147483648\n");
    let machine = tree.read();
    assert_eq!(machine.cpu_quota, Some(1.5));
    assert_eq!(machine.memory_limit, Some(Bytes(2 << 30)));
    tree.put(
        "sys/fs/cgroup/my memory/a/b/memory.stat",
        "cache 7\nhierarchical_memory_limit 1048576\n",
    );
    assert_eq!(tree.read().memory_limit, Some(Bytes(1 << 20)));
    tree.remove("proc/self/mountinfo");
    assert_eq!(tree.read().cpu_quota, Some(1.5), "mounted at the usual place");
}

#[test]
fn a_container_that_hides_sysfs_is_one_node() {
    let tree = Tree::new();
    tree.put("proc/cpuinfo", "processor : 0\n\nprocessor : 1\nModel : Board\n");
    tree.put("proc/meminfo", "MemTotal: 1024 kB\n");
    let machine = tree.read();
    assert_eq!(
        (cpus(&machine), machine.nodes.len(), machine.name.as_str()),
        (vec![0, 1], 1, "Board")
    );
    assert_eq!(machine.nodes[0].memory_total, Bytes(1 << 20));
    assert_ne!(machine.cpus[0].core, machine.cpus[1].core);
    tree.remove("proc/cpuinfo");
    assert!(tree.problem().contains("no CPU"));
    tree.put("proc/self/status", "Cpus_allowed_list: 5\n");
    assert_eq!(cpus(&tree.read()), [5]);
    assert!(read_topology(Path::new("/nowhere/at/all")).is_err());
}

#[test]
fn private_second_level_caches_are_no_groups() {
    let tree = four_sockets().tree();
    for cpu in 0..16 {
        tree.put(&format!("{CPU}/cpu{cpu}/cache/index2/level"), "2");
        tree.put(&format!("{CPU}/cpu{cpu}/cache/index2/shared_cpu_list"), cpu.to_string());
    }
    let machine = tree.read();
    assert_eq!(machine.cpus[3].llc, LlcId(0));
    assert_eq!(machine.cpus[4].llc, LlcId(1));
    assert_eq!(machine.llc_bytes, Bytes(0));
}

#[test]
fn missing_distances_are_assumed() {
    let tree = four_sockets().tree();
    for node in 0..4 {
        tree.remove(&format!("{NODE}/node{node}/distance"));
    }
    assert_eq!(tree.read().distances[1], [20, 10, 20, 20]);
}

#[test]
fn damage_is_named() {
    let cases: [(&str, &str, &str); 9] = [
        ("sys/devices/system/cpu/online", "many", "online"),
        ("sys/devices/system/node/node0/cpulist", "0-99999999999", "cpulist"),
        ("sys/devices/system/node/node1/cpulist", "0-3", "also in node 0"),
        ("sys/devices/system/node/node1/distance", "10 21", "2 distances for 4 nodes"),
        ("sys/devices/system/node/node1/distance", "10 21 x 21", "row of numbers"),
        ("sys/devices/system/node/node1/meminfo", "Node 1 MemTotal: lots", "MemTotal"),
        ("sys/devices/system/cpu/cpu2/topology/physical_package_id", "?", "no number"),
        ("sys/devices/system/cpu/cpu2/cache/index2/size", "big", "no size"),
        ("proc/self/status", "Mems_allowed_list: 3-1", "Mems_allowed_list"),
    ];
    for (path, text, problem) in cases {
        let tree = four_sockets().tree();
        tree.put(path, text);
        let message = tree.problem();
        assert!(message.contains(problem), "{path}: {message}");
    }
    let tree = one_node().tree();
    tree.put("proc/self/mountinfo", V2_MOUNT).put("proc/self/cgroup", "0::/\nnonsense\n1:\n");
    for (text, problem) in [("", "empty"), ("0 0", "no quota"), ("-5 x", "no quota")] {
        tree.put("sys/fs/cgroup/cpu.max", text);
        assert!(tree.problem().contains(problem), "{text}");
    }
}

#[test]
fn random_damage_never_panics() {
    let shape = one_node();
    let paths = [
        "proc/cpuinfo",
        "proc/meminfo",
        "proc/self/status",
        "proc/self/cgroup",
        "proc/self/mountinfo",
        "sys/devices/system/cpu/online",
        "sys/devices/system/cpu/cpu1/topology/thread_siblings_list",
        "sys/devices/system/cpu/cpu1/topology/physical_package_id",
        "sys/devices/system/cpu/cpu1/cache/index2/level",
        "sys/devices/system/cpu/cpu1/cache/index2/shared_cpu_list",
        "sys/devices/system/node/online",
        "sys/devices/system/node/node0/cpulist",
        "sys/devices/system/node/node0/distance",
        "sys/fs/cgroup/cpu.max",
        "sys/fs/cgroup/memory.max",
    ];
    let alphabet = b"0123456789-,:/ \n\xffabMem.l_";
    let mut prng = Prng::new(7);
    let tree = shape.tree();
    tree.put("proc/self/mountinfo", V2_MOUNT).put("proc/self/cgroup", "0::/");
    for _ in 0..120 {
        let path = paths[prng.below(paths.len() as u64) as usize];
        let before = fs::read(tree.0.join(path)).ok();
        let letters =
            (0..prng.below(24)).map(|_| alphabet[prng.below(alphabet.len() as u64) as usize]);
        tree.put(path, letters.collect::<Vec<u8>>());
        if let Ok(machine) = read_topology(&tree.0) {
            assert!(!machine.cpus.is_empty() && machine.distances.len() == machine.nodes.len());
            let _ = machine.to_tree();
        }
        match before {
            Some(before) => {
                tree.put(path, before);
            }
            None => tree.remove(path),
        }
    }
}
