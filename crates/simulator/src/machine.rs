//! The virtual machine behind the trait.

use std::path::Path;
use std::ptr::NonNull;

use hardware::{
    Demand, FileError, Folder, FolderError, Machine, MachineError, Mapping, NodeId, NodeMemory,
    PagePolicy, Restriction, Step, TemporaryFile, Topology, WorkerSpec, WorkerTeam,
};
use stdx::sync::{Arc, Mutex};
use stdx::{Bytes, Nanos};

use crate::disk::Disk;
use crate::engine::Engine;
use crate::fault::Fault;
use crate::folder;
use crate::lasting::{DiskImage, Picture};
use crate::meters::Meters;
use crate::model::MachineModel;
use crate::pages::{PAGE_BYTES, PageTable, Refusals};
use crate::physics::Physics;
use crate::schedule::Schedule;
use crate::team::SimulatedTeam;
use crate::timed::{TimedTeam, Timing};

/// A machine that exists only as a topology and a seed, or as a model and a seed.
pub struct SimulatedMachine {
    topology: Topology,
    schedule: Arc<Schedule>,
    pages: Arc<Mutex<PageTable>>,
    disk: Arc<Mutex<Disk>>,
    /// What steps cost; `None` when each costs the same.
    timing: Option<Arc<Timing>>,
}

impl SimulatedMachine {
    /// A machine shaped as `topology` whose every choice follows from `seed`.
    pub fn new(topology: Topology, seed: u64) -> Arc<Self> {
        let pages = Arc::new(Mutex::new(PageTable::new(&topology)));
        let (schedule, disk) = (Arc::new(Schedule::new(seed)), Arc::default());
        Arc::new(Self { topology, schedule, pages, disk, timing: None })
    }

    /// A machine with what a crash has left on the disk of another.
    pub fn after_crash(topology: Topology, seed: u64, image: DiskImage) -> Arc<Self> {
        let machine = Self::new(topology, seed);
        machine.disk.lock().lasting = image.0;
        machine
    }

    /// What a loss of power at this moment would leave on the disk: all that was synced and, by the seed, any part of the
    /// rest, for seed 0 nothing of it.
    pub fn crash(&self, seed: u64) -> DiskImage {
        DiskImage(self.disk.lock().lasting.crashed(seed))
    }

    /// From now on keeps what lasts on the disk as it is before each change of it.
    pub fn keep_pictures(&self) {
        self.disk.lock().pictures = Some(Vec::new());
    }

    /// Marks the pictures from now on.
    pub fn set_mark(&self, mark: u64) {
        self.disk.lock().mark = mark;
    }

    /// The pictures that were kept, in order; no more are kept.
    pub fn take_pictures(&self) -> Vec<Picture> {
        self.disk.lock().pictures.take().unwrap_or_default()
    }

    /// Lets so many more syncs go well before all fail; all when not given. What was written before one that fails is lost.
    pub fn set_syncs(&self, good: Option<u64>) {
        self.disk.lock().good_syncs = good;
    }

    /// A machine that behaves as a model says, with faults.
    pub fn with_model(mut model: MachineModel, seed: u64, faults: Vec<Fault>) -> Arc<Self> {
        for fault in &faults {
            if let Fault::NoMemory { node } = fault {
                for it in model.topology.nodes.iter_mut().filter(|it| it.id == *node) {
                    (it.memory_total, it.memory_free) = (Bytes(0), Bytes(0));
                }
            }
        }
        let topology = model.topology.clone();
        let pages = Arc::new(Mutex::new(PageTable::new(&topology)));
        let timing = Arc::new(Timing::new(Engine::new(Physics::new(model)), faults));
        let schedule = Arc::new(Schedule::new(seed));
        Arc::new(Self { topology, schedule, pages, disk: Arc::default(), timing: Some(timing) })
    }

    /// Gives the disk room for so many bytes, and lets so many more reads and writes go well before all fail; all when not
    /// given.
    pub fn set_disk(&self, room: Bytes, good: Option<u64>) {
        let mut disk = self.disk.lock();
        (disk.room, disk.good) = (room.0, good);
    }

    /// Lets so many more mappings go well, and refuses so many after them as if memory had run out.
    pub fn set_memory(&self, good: u64, refused: u64) {
        self.pages.lock().refusals = Refusals { good, refused };
    }

    /// Bytes of all files in folders.
    pub fn lasting_bytes(&self) -> Bytes {
        Bytes(self.disk.lock().lasting.bytes())
    }

    /// Bytes and files on the disk that are temporary.
    pub fn disk_content(&self) -> (Bytes, u64) {
        let (bytes, files) = self.disk.lock().content();
        (Bytes(bytes), files)
    }

    /// What the machine has counted since the last [`SimulatedMachine::reset_meters`]; `None` without a model.
    pub fn meters(&self) -> Option<Meters> {
        self.timing.as_ref().map(|it| it.engine.lock().meters().clone())
    }

    /// Starts counting anew.
    pub fn reset_meters(&self) {
        if let Some(timing) = &self.timing {
            timing.engine.lock().meters().reset();
        }
    }

    /// Makes the next `clients` threads that begin run one at a time, so that a seed repeats what they do together. A
    /// machine without a model has no such turns.
    pub fn expect_clients(&self, clients: usize) {
        self.timing.iter().for_each(|it| it.turns.expect(clients));
    }

    /// The calling thread is a client from now on; returns when it is its turn.
    pub fn begin_client(&self, client: usize) {
        self.timing.iter().for_each(|it| it.turns.begin(client));
    }

    /// The client has ended, or will never begin.
    pub fn end_client(&self, client: usize) {
        self.timing.iter().for_each(|it| it.turns.end(client));
    }

    /// The seed, for the message of a failing test.
    pub fn seed(&self) -> u64 {
        self.schedule.seed
    }

    /// Who stepped and what came of it, in order: the first million steps of all teams.
    pub fn schedule_log(&self) -> Vec<(usize, Step)> {
        self.schedule.log()
    }

    /// A hash over all steps so far, also those past the log's end.
    pub fn schedule_hash(&self) -> u64 {
        self.schedule.hash()
    }
}

impl Machine for SimulatedMachine {
    fn topology(&self) -> &Topology {
        &self.topology
    }

    fn now(&self) -> Nanos {
        self.schedule.now()
    }

    fn sleep(&self, span: Nanos) {
        match &self.timing {
            None => self.schedule.advance(span),
            Some(timing) => timing.sleep(span, &self.schedule),
        }
    }

    fn charge(&self, demand: &dyn Fn() -> Demand) {
        if let Some(timing) = &self.timing {
            timing.charge(&demand(), &self.schedule);
        }
    }

    fn page_bytes(&self) -> usize {
        PAGE_BYTES
    }

    fn map(&self, bytes: usize, policy: &PagePolicy) -> Result<Mapping, MachineError> {
        self.pages.lock().map(bytes, policy)
    }

    fn unmap(&self, mapping: Mapping) {
        self.pages.lock().unmap(mapping);
    }

    fn place(
        &self,
        base: NonNull<u8>,
        bytes: usize,
        policy: &PagePolicy,
    ) -> Result<(), MachineError> {
        self.pages.lock().place(base, bytes, policy)
    }

    fn locate(&self, base: NonNull<u8>, pages: usize) -> Result<Vec<Option<NodeId>>, MachineError> {
        self.pages.lock().locate(base, pages)
    }

    fn start(&self, workers: Vec<WorkerSpec>) -> Result<Arc<dyn WorkerTeam>, MachineError> {
        for worker in &workers {
            if !self.topology.cpus.iter().any(|it| it.id == worker.cpu) {
                let message = format!("there is no cpu {} to pin {} to", worker.cpu, worker.name);
                return Err(MachineError::Os { call: "sched_setaffinity", message });
            }
        }
        let schedule = Arc::clone(&self.schedule);
        Ok(match &self.timing {
            None => Arc::new(SimulatedTeam::new(schedule, workers)),
            Some(timing) => Arc::new(TimedTeam::new(Arc::clone(timing), schedule, workers)),
        })
    }

    fn restrictions(&self) -> Vec<Restriction> {
        Vec::new()
    }

    fn temporary_file(&self, folder: Option<&Path>) -> Result<Box<dyn TemporaryFile>, FileError> {
        crate::disk::create(&self.disk, folder.unwrap_or(Path::new("/tmp")))
    }

    fn open_folder(&self, path: &Path) -> Result<Box<dyn Folder>, FolderError> {
        folder::open((&self.disk, &self.pages), path)
    }

    fn inspect_folder(&self, path: &Path) -> Result<Box<dyn Folder>, FolderError> {
        folder::inspect((&self.disk, &self.pages), path)
    }

    fn remove_folder(&self, path: &Path) -> Result<(), FolderError> {
        self.disk.lock().lasting.forget(path);
        Ok(())
    }

    fn resident_bytes(&self) -> (Bytes, Bytes) {
        let (peak, current) = self.pages.lock().resident();
        (Bytes(peak), Bytes(current))
    }

    fn available_bytes(&self) -> Bytes {
        Bytes(self.pages.lock().available())
    }

    fn node_memory(&self, node: NodeId) -> Option<NodeMemory> {
        let known = &self.topology.nodes[self.topology.node_index(node)?];
        // A node that no page may go to has what the model says.
        let free = self.pages.lock().free(node).map_or(known.memory_free, Bytes);
        Some(NodeMemory { total: known.memory_total, free, available: free })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardware::topology::{Cpu, Node};
    use hardware::{CpuId, LlcId, SocketId};

    const MIB: usize = 1 << 20;

    /// Nodes of 4, 2 and 0 MiB, and one of 2 MiB that this process may not use.
    fn machine() -> Arc<SimulatedMachine> {
        let node = |id: u16, mib: u64, allowed| Node {
            id: NodeId(id),
            socket: SocketId(id),
            memory_total: Bytes(mib << 20),
            memory_free: Bytes(mib << 20),
            allowed,
            read_bandwidth_mb_s: None,
            read_latency_ns: None,
        };
        let nodes = vec![node(0, 4, true), node(1, 2, true), node(2, 0, true), node(3, 2, false)];
        let cpu =
            Cpu { id: CpuId(0), node: NodeId(0), socket: SocketId(0), core: 0, llc: LlcId(0) };
        let distance = |i: usize, j: usize| if i == j { 10 } else { 20 };
        let topology = Topology {
            name: "test".to_owned(),
            distances: (0..4).map(|i| (0..4).map(|j| distance(i, j)).collect()).collect(),
            nodes,
            cpus: vec![cpu],
            llc_bytes: Bytes(0),
            cpu_quota: None,
            memory_limit: None,
            cpus_excluded: 0,
            measured: Default::default(),
        };
        SimulatedMachine::new(topology, 1)
    }

    fn nodes(machine: &SimulatedMachine, base: NonNull<u8>, pages: usize) -> Vec<u16> {
        machine.locate(base, pages).unwrap().into_iter().map(|it| it.unwrap().0).collect()
    }

    #[test]
    fn pages_are_where_the_policy_says_and_move_when_told() {
        let machine = machine();
        let mapping =
            machine.map(5 * 4096 - 1, &PagePolicy::Interleave(vec![NodeId(1), NodeId(0)]));
        let mapping = mapping.unwrap();
        assert_eq!(mapping.bytes, 5 * 4096);
        assert!(mapping.base.addr().get().is_multiple_of(2 * MIB));
        assert_eq!(nodes(&machine, mapping.base, 5), [1, 0, 1, 0, 1]);
        machine.place(mapping.base, 2 * 4096, &PagePolicy::Node(NodeId(1))).unwrap();
        assert_eq!(nodes(&machine, mapping.base, 5), [1, 1, 1, 0, 1]);
        assert!(machine.locate(mapping.base, 6).is_err());
        let free = |node| machine.node_memory(NodeId(node)).map(|it| it.free.0);
        assert_eq!(free(0), Some((4 << 20) - 4096));
        assert_eq!((free(1), free(3), free(9)), (Some((2 << 20) - 4 * 4096), Some(2 << 20), None));
        machine.unmap(mapping);
        assert_eq!(free(1), Some(2 << 20));
        assert_eq!(machine.available_bytes(), Bytes(6 << 20));
        assert_eq!(machine.resident_bytes(), (Bytes(5 * 4096), Bytes(0)));
    }

    #[test]
    fn a_full_node_is_out_of_memory_and_first_touch_spills() {
        let machine = machine();
        let full = machine.map(3 * MIB, &PagePolicy::Node(NodeId(1)));
        assert_eq!(full.unwrap_err(), MachineError::OutOfMemory { bytes: 3 * MIB });
        let all = machine.map(5 * MIB, &PagePolicy::FirstTouch).unwrap();
        let places = nodes(&machine, all.base, 5 * 256);
        assert_eq!(places.iter().filter(|&&it| it == 0).count(), 1024);
        let more = machine.map(2 * MIB, &PagePolicy::FirstTouch);
        assert!(matches!(more, Err(MachineError::OutOfMemory { .. })));
        let stuck = machine.place(all.base, 5 * MIB, &PagePolicy::Node(NodeId(0)));
        assert!(matches!(stuck, Err(MachineError::OutOfMemory { .. })));
        assert_eq!(nodes(&machine, all.base, 5 * 256), places, "a failed move moves nothing");
        machine.unmap(all);
        assert_eq!(machine.available_bytes(), Bytes(6 << 20));
        for huge in [usize::MAX, usize::MAX - 4096, 1 << 50] {
            let refused = machine.map(huge, &PagePolicy::Node(NodeId(0)));
            assert_eq!(refused.unwrap_err(), MachineError::OutOfMemory { bytes: huge });
        }
    }

    #[test]
    fn mappings_are_refused_when_told_to() {
        let machine = machine();
        let maps = |machine: &SimulatedMachine| {
            machine.map(4096, &PagePolicy::FirstTouch).map(|it| machine.unmap(it)).is_ok()
        };
        machine.set_memory(2, 3);
        assert_eq!([(); 7].map(|()| maps(&machine)), [true, true, false, false, false, true, true]);
        machine.set_memory(0, u64::MAX);
        assert!(!maps(&machine) && !maps(&machine));
        machine.set_memory(0, 0);
        assert!(maps(&machine));
    }

    #[test]
    fn only_memory_nodes_that_are_allowed_take_pages() {
        let machine = machine();
        for node in [2, 3, 9] {
            let refused = machine.map(1, &PagePolicy::Node(NodeId(node)));
            assert_eq!(refused.unwrap_err(), MachineError::NoSuchNode(NodeId(node)));
        }
        assert!(machine.map(1, &PagePolicy::Interleave(Vec::new())).is_err());
        let empty = machine.map(0, &PagePolicy::FirstTouch).unwrap();
        assert_eq!(empty.bytes, 4096, "there is always a page to point at");
        machine.unmap(empty);
    }

    #[test]
    fn time_passes_only_when_told_and_never_stands_still() {
        let machine = machine();
        let start = machine.now();
        machine.sleep(Nanos(1_000_000));
        let end = machine.now();
        assert!(end - start >= Nanos(1_000_000) && end - start < Nanos(1_001_000));
    }
}
