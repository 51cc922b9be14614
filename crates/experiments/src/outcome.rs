//! What came of a run.

use simulator::Meters;

/// The names of what is measured, with unit and meaning.
pub const MEASURES: [(&str, &str, &str); 10] = [
    ("throughput", "statements/min", "statements ended per minute"),
    ("memory", "GiB/s", "read and written by all memory controllers"),
    ("hottest", "GiB/s", "read and written by the busiest memory controller"),
    ("cpu", "%", "hardware threads at work"),
    ("stolen", "%", "tasks run away from the node of their data"),
    ("remote", "%", "bytes accessed from another node than their own"),
    ("links", "GiB/s", "over all links, with coherence traffic"),
    ("tasks", "per statement", "tasks of a statement"),
    ("latency", "ms", "mean time of a statement"),
    ("spread", "%", "standard deviation of the time of a statement, of its mean"),
];

const GIB: f64 = (1_u64 << 30) as f64;

/// The outcome of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    values: Vec<f64>,
    /// Milliseconds of each statement, ascending.
    pub latencies: Vec<f64>,
    /// GiB/s of each memory node.
    pub nodes: Vec<f64>,
    /// The highest load of a controller or link, as a share of its capacity.
    pub peak_load: f64,
}

impl Outcome {
    pub(crate) fn new(
        meters: &Meters,
        threads: usize,
        mut latencies: Vec<f64>,
        tasks: u64,
        stolen: u64,
    ) -> Self {
        latencies.sort_by(f64::total_cmp);
        let span = meters.span.max(1.0);
        let rate = |bytes: f64| bytes / span * 1e9 / GIB;
        let count = latencies.len().max(1) as f64;
        let mean = latencies.iter().sum::<f64>() / count;
        let variance = latencies.iter().map(|it| (it - mean) * (it - mean)).sum::<f64>() / count;
        let nodes: Vec<f64> = meters.memory.iter().map(|&it| rate(it)).collect();
        let values = vec![
            latencies.len() as f64 / span * 60e9,
            rate(meters.memory_total()),
            nodes.iter().copied().fold(0.0, f64::max),
            100.0 * meters.busy / (span * threads as f64),
            100.0 * stolen as f64 / tasks.max(1) as f64,
            100.0 * meters.remote / meters.memory_total().max(1.0),
            rate(meters.links),
            tasks as f64 / count,
            mean,
            100.0 * variance.sqrt() / mean.max(1e-9),
        ];
        Self { values, latencies, nodes, peak_load: meters.peak_load }
    }

    /// A measure by its name.
    pub fn get(&self, measure: &str) -> Option<f64> {
        let index = MEASURES.iter().position(|it| it.0 == measure)?;
        self.values.get(index).copied()
    }

    /// The latency in milliseconds that a share of the statements stays under.
    pub fn quantile(&self, share: f64) -> f64 {
        let last = self.latencies.len().saturating_sub(1) as f64;
        self.latencies.get((last * share).round() as usize).copied().unwrap_or(0.0)
    }
}
