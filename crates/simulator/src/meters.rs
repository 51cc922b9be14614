//! What the modelled machine counts, as the performance counters of the papers do.

use crate::fluid::FlowClass;
use crate::physics::Footprint;

/// Counters since the machine was made, or since they were last reset.
#[derive(Clone, PartialEq, Debug)]
pub struct Meters {
    /// Virtual nanoseconds counted.
    pub span: f64,
    /// Nanoseconds of hardware threads at work, over all of them.
    pub busy: f64,
    /// Bytes read and written per memory node, by index.
    pub memory: Vec<f64>,
    /// Bytes accessed from another node than their own.
    pub remote: f64,
    /// Bytes over all links, data and coherence.
    pub links: f64,
    /// The highest load of any controller or link so far, as a share of its capacity.
    pub peak_load: f64,
    load: Vec<f64>,
    local_reads: Vec<f64>,
    remote_reads: Vec<f64>,
    /// The first resource that is a link.
    first_link: usize,
}

impl Meters {
    pub(crate) fn new(nodes: usize, resources: usize) -> Self {
        Self {
            span: 0.0,
            busy: 0.0,
            memory: vec![0.0; nodes],
            remote: 0.0,
            links: 0.0,
            peak_load: 0.0,
            load: vec![0.0; resources],
            local_reads: vec![0.0; nodes],
            remote_reads: vec![0.0; nodes],
            first_link: 2 * nodes,
        }
    }

    /// Starts counting anew. What the directory remembers of earlier readers stays.
    pub(crate) fn reset(&mut self) {
        self.span = 0.0;
        self.busy = 0.0;
        self.memory.iter_mut().for_each(|it| *it = 0.0);
        self.remote = 0.0;
        self.links = 0.0;
    }

    /// Bytes of all memory nodes.
    pub fn memory_total(&self) -> f64 {
        self.memory.iter().sum()
    }

    pub(crate) fn moved(&mut self, print: &Footprint, bytes: f64) {
        for &(node, share) in &print.memory {
            self.memory[node] += bytes * share;
        }
        self.remote += bytes * print.remote;
        let mut from_afar = 0.0;
        for &(node, share) in &print.directory {
            self.remote_reads[node] += bytes * share;
            from_afar += share;
        }
        if from_afar < 1.0 {
            for &(node, share) in &print.memory {
                if !print.directory.iter().any(|it| it.0 == node) {
                    self.local_reads[node] += bytes * share;
                }
            }
        }
    }

    pub(crate) fn pass(&mut self, span: f64) {
        self.span += span;
        self.links += self.load[self.first_link..].iter().sum::<f64>() * span / 1e9;
    }

    /// The load of every resource when the classes named in `running` have these rates.
    pub(crate) fn set_load(
        &mut self,
        capacities: &[f64],
        flows: &[FlowClass],
        rates: &[f64],
        running: &[usize],
    ) {
        self.load.iter_mut().for_each(|it| *it = 0.0);
        for &class in running {
            for used in &flows[class].uses {
                self.load[used.resource] += flows[class].count * used.weight * rates[class];
            }
        }
        let share = self.load.iter().zip(capacities).map(|(load, capacity)| load / capacity);
        self.peak_load = share.fold(self.peak_load, f64::max);
    }

    /// The probability that a line of a node was last read by another socket; one as long as nobody reads locally.
    pub(crate) fn remote_share(&self, node: usize) -> f64 {
        let (local, remote) = (self.local_reads[node], self.remote_reads[node]);
        if local + remote > 0.0 { remote / (local + remote) } else { 1.0 }
    }
}
