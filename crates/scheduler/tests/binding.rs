//! Binding policies: to which hardware threads workers are confined while they work on what.
#![cfg(not(loom))]

mod common;

use std::collections::BTreeSet;
use std::ptr::NonNull;

use common::{Recorder, job, range, topology};
use hardware::{
    CpuId, Machine, MachineError, Mapping, NodeId, NodeMemory, PagePolicy, Restriction, Topology,
    WorkerSpec, WorkerTeam,
};
use scheduler::{Affinity, Binding, Scheduler, SchedulerOptions};
use simulator::SimulatedMachine;
use stdx::sync::{Arc, Mutex};
use stdx::{Bytes, Nanos};

/// A virtual machine that notes who is confined to what.
struct Noting {
    inner: Arc<SimulatedMachine>,
    confined: Mutex<Vec<Vec<CpuId>>>,
}

impl Machine for Noting {
    fn topology(&self) -> &Topology {
        self.inner.topology()
    }
    fn now(&self) -> Nanos {
        self.inner.now()
    }
    fn sleep(&self, span: Nanos) {
        self.inner.sleep(span);
    }
    fn page_bytes(&self) -> usize {
        self.inner.page_bytes()
    }
    fn map(&self, bytes: usize, policy: &PagePolicy) -> Result<Mapping, MachineError> {
        self.inner.map(bytes, policy)
    }
    fn unmap(&self, mapping: Mapping) {
        self.inner.unmap(mapping);
    }
    fn place(&self, base: NonNull<u8>, bytes: usize, to: &PagePolicy) -> Result<(), MachineError> {
        self.inner.place(base, bytes, to)
    }
    fn locate(&self, base: NonNull<u8>, pages: usize) -> Result<Vec<Option<NodeId>>, MachineError> {
        self.inner.locate(base, pages)
    }
    fn start(&self, workers: Vec<WorkerSpec>) -> Result<Arc<dyn WorkerTeam>, MachineError> {
        self.inner.start(workers)
    }
    fn confine(&self, cpus: &[CpuId]) {
        self.confined.lock().push(cpus.to_vec());
    }
    fn running_cpu(&self) -> Option<CpuId> {
        // The OS has moved everybody to the last hardware thread.
        self.topology().cpus.last().map(|it| it.id)
    }
    fn node_memory(&self, node: NodeId) -> Option<NodeMemory> {
        self.inner.node_memory(node)
    }
    fn restrictions(&self) -> Vec<Restriction> {
        Vec::new()
    }
    fn resident_bytes(&self) -> (Bytes, Bytes) {
        self.inner.resident_bytes()
    }
    fn available_bytes(&self) -> Bytes {
        self.inner.available_bytes()
    }
}

fn start(name: &str) -> (Arc<Noting>, Arc<Scheduler>) {
    let inner = SimulatedMachine::new(topology(name), 1);
    let machine = Arc::new(Noting { inner, confined: Mutex::default() });
    let scheduler = Scheduler::start(machine.clone(), SchedulerOptions::default()).unwrap();
    (machine, scheduler)
}

#[test]
fn workers_are_confined_as_the_policy_says() {
    let (machine, scheduler) = start("epyc");
    let run = |binding, node, affinity| {
        let mut job = job(&[range(node, 0, 2000)], 1, &Recorder::new());
        (job.binding, job.affinity) = (binding, affinity);
        scheduler.run(job);
        let calls = std::mem::take(&mut *machine.confined.lock());
        calls.iter().map(Vec::len).collect::<BTreeSet<_>>()
    };
    let (home, nowhere) = (Some(0), None);
    assert_eq!(run(Binding::Always, home, Affinity::Soft), [].into(), "they were started so");
    assert_eq!(run(Binding::None, home, Affinity::Soft), [0].into());
    assert_eq!(run(Binding::Preferred, nowhere, Affinity::Soft), [].into(), "free already");
    // The caches of this machine have four hardware threads each.
    assert_eq!(run(Binding::Preferred, home, Affinity::Soft), [4].into());
    assert_eq!(run(Binding::Opportunistic, home, Affinity::None), [0].into());
    assert_eq!(run(Binding::Always, home, Affinity::None), [1].into());
}

#[test]
fn the_direct_children_of_a_bound_task_are_bound_too() {
    let (machine, scheduler) = start("ring");
    let mut calls: Vec<BTreeSet<usize>> = Vec::new();
    for binding in [Binding::Preferred, Binding::Opportunistic] {
        let mut child = job(&[range(None, 0, 500)], 1, &Recorder::new());
        child.binding = binding;
        let child = scheduler.submit(child);
        let mut parent = job(&[range(Some(0), 0, 1)], 1, &Recorder::new());
        (parent.binding, parent.after) = (binding, vec![child.clone()]);
        let parent = scheduler.submit(parent);
        scheduler.wait(&child);
        let seen = machine.confined.lock().drain(..).map(|it| it.len()).collect();
        calls.push(seen);
        scheduler.wait(&parent);
    }
    assert!(calls[0].contains(&0), "preferred: a child without a node floats");
    assert!(!calls[1].contains(&0), "opportunistic: it does not");
}

#[test]
fn who_floats_is_where_the_machine_says() {
    let (machine, scheduler) = start("ring");
    let last = machine.topology().cpus.last().unwrap().node;
    let body = Recorder::new();
    let mut floating = job(&[range(Some(0), 0, 500)], 1, &body);
    (floating.binding, floating.affinity) = (Binding::None, Affinity::None);
    scheduler.run(floating);
    assert!(body.seen().iter().all(|it| it.0.node == last));
    let body = Recorder::new();
    scheduler.run(job(&[range(Some(0), 0, 500)], 1, &body));
    assert!(body.seen().iter().any(|it| it.0.node != last));
}
