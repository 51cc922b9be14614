//! What a database counts and holds, as plain data for those who watch it.
//!
//! Names, units and kinds are those that Prometheus has conventions for; nothing here knows how they are written.

use stdx::Nanos;

use crate::Database;
use crate::statement_counts::{BOUNDS, Counted};

/// A group of values of one name.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Its name, with its unit.
    pub name: &'static str,
    /// A sentence that says what it counts.
    pub help: &'static str,
    /// Whether it only grows.
    pub kind: MetricKind,
    /// Its values.
    pub samples: Vec<Sample>,
}

/// What values of a metric do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// They grow until the database is closed.
    Counter,
    /// They go up and down.
    Gauge,
    /// They are classes of observations.
    Histogram,
}

/// A value of a metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// What tells it from the others.
    pub labels: Vec<(&'static str, String)>,
    /// The value.
    pub value: MetricValue,
}

/// A value, or a histogram.
#[derive(Clone, Debug, PartialEq)]
pub enum MetricValue {
    /// A number.
    Number(f64),
    /// Observations by their size.
    Histogram {
        /// Upper ends, ascending, and how many observations were at most as large.
        buckets: Vec<(f64, u64)>,
        /// All observations added up.
        sum: f64,
        /// All observations.
        count: u64,
    },
}

impl Metric {
    /// A metric without values.
    pub fn new(name: &'static str, kind: MetricKind, help: &'static str) -> Self {
        Self { name, help, kind, samples: Vec::new() }
    }

    /// The same with one more value.
    pub fn with<const N: usize>(mut self, labels: [(&'static str, String); N], value: u64) -> Self {
        // Counts beyond 2^53 lose their last digits, as they do with whoever reads them.
        self.add(labels, value as f64);
        self
    }

    fn add<const N: usize>(&mut self, labels: [(&'static str, String); N], value: f64) {
        let value = MetricValue::Number(value);
        self.samples.push(Sample { labels: labels.into(), value });
    }
}

impl Database {
    /// What there is to watch, read now. It asks counters and maps, and the machine for the memory of its nodes once a second.
    pub fn metrics(&self) -> Vec<Metric> {
        let mut metrics = Vec::new();
        self.statement_metrics(&mut metrics);
        self.memory_metrics(&mut metrics);
        self.traffic_metrics(&mut metrics);
        self.durability_metrics(&mut metrics);
        metrics
    }

    fn statement_metrics(&self, metrics: &mut Vec<Metric>) {
        use MetricKind::{Counter, Gauge, Histogram};
        let help = "Statements that have ended, by kind and outcome.";
        let mut ended = Metric::new("nodewise_statements_total", Counter, help);
        let help = "Rows that statements gave or changed, by kind.";
        let mut rows = Metric::new("nodewise_statement_rows_total", Counter, help);
        let help = "Time for which statements worked, commit included, by kind.";
        let mut durations = Metric::new("nodewise_statement_duration_seconds", Histogram, help);
        for (kind, counted) in self.statements.counts.all() {
            let kind = || ("kind", kind.name().to_owned());
            let right = counted.statements() - counted.failed;
            ended.add([kind(), ("outcome", "ok".to_owned())], right as f64);
            ended.add([kind(), ("outcome", "error".to_owned())], counted.failed as f64);
            rows.add([kind()], counted.rows as f64);
            durations.samples.push(Sample { labels: vec![kind()], value: histogram(&counted) });
        }
        let help = "Statements under way, by state.";
        let mut active = Metric::new("nodewise_statements_active", Gauge, help);
        let under_way = self.statements.list();
        for state in ["planning", "waiting", "running", "ending"] {
            let count = under_way.iter().filter(|it| it.state() == state).count();
            active.add([("state", state.to_owned())], count as f64);
        }
        let sessions = self.sessions.list().len() as u64;
        let sessions = Metric::new("nodewise_sessions", Gauge, "Sessions.").with([], sessions);
        let workers = Metric::new("nodewise_workers", Gauge, "Workers of the pool.")
            .with([], self.workers() as u64);
        metrics.extend([ended, rows, durations, active, sessions, workers]);
    }

    fn memory_metrics(&self, metrics: &mut Vec<Metric>) {
        use MetricKind::Gauge;
        let usage = self.allocator.usage();
        let help = "Memory of the database, by use and node; node is empty where it has none.";
        let mut bytes = Metric::new("nodewise_memory_bytes", Gauge, help);
        let mut add = |purpose: &str, node: String, value: u64| {
            bytes.add([("use", purpose.to_owned()), ("node", node)], value as f64);
        };
        usage.nodes.iter().for_each(|(node, it)| add("mapped", node.0.to_string(), it.0));
        add("mapped", String::new(), usage.unplaced.0);
        add("unused", String::new(), usage.retained.0);
        add("heap", String::new(), memory::heap_bytes().0);
        let help = "Memory of the nodes of the machine, by state.";
        let mut nodes = Metric::new("nodewise_node_memory_bytes", Gauge, help);
        for (node, memory) in self.memory.of(&*self.machine) {
            let Some(memory) = memory else { continue };
            for (state, value) in [("total", memory.total.0), ("free", memory.free.0)] {
                let labels = [("node", node.0.to_string()), ("state", state.to_owned())];
                nodes.add(labels, value as f64);
            }
        }
        let tables = self.tables().len() as u64;
        metrics.extend([bytes, nodes]);
        if let Some(limit) = self.allocator.limit() {
            let help = "Memory that tables and statements may take together.";
            metrics.push(Metric::new("nodewise_memory_limit_bytes", Gauge, help).with([], limit.0));
        }
        metrics.push(Metric::new("nodewise_tables", Gauge, "Tables.").with([], tables));
        let help = "Bytes of all tables in memory.";
        let bytes = self.table_bytes().0;
        metrics.push(Metric::new("nodewise_table_bytes", Gauge, help).with([], bytes));
    }

    fn traffic_metrics(&self, metrics: &mut Vec<Metric>) {
        use MetricKind::{Counter, Gauge};
        let help = "Bytes that were read, by what, the node that ran and the node of the memory.";
        let mut traffic = Metric::new("nodewise_traffic_bytes_total", Counter, help);
        for item in execution::Item::ALL {
            for (running, memory, bytes) in self.traffic.snapshot(item) {
                let labels = [
                    ("item", item.name().to_owned()),
                    ("running_node", running.0.to_string()),
                    ("memory_node", memory.0.to_string()),
                    ("local", (running == memory).to_string()),
                ];
                traffic.add(labels, bytes as f64);
            }
        }
        let log = self.placer.log.lock();
        let help = "Decisions of the placer.";
        let decisions = Metric::new("nodewise_placer_decisions_total", Counter, help);
        let help = "The newest decisions of the placer, by what came of them.";
        let mut newest = Metric::new("nodewise_placer_log_entries", Gauge, help);
        for outcome in ["advised", "waiting", "done", "not done"] {
            let count = log.entries().filter(|it| it.outcome.words().starts_with(outcome)).count();
            newest.add([("outcome", outcome.to_owned())], count as f64);
        }
        metrics.extend([traffic, decisions.with([], log.count()), newest]);
    }

    /// Nothing of a database that is in memory only.
    fn durability_metrics(&self, metrics: &mut Vec<Metric>) {
        use MetricKind::{Counter, Gauge};
        let Some(durability) = self.durability.get() else { return };
        let journal = &durability.journal;
        let done = journal.activity();
        let mut add = |name, kind, help, value| {
            metrics.push(Metric::new(name, kind, help).with([], value));
        };
        add("nodewise_log_bytes", Gauge, "Bytes of the log on disk.", journal.bytes());
        add("nodewise_log_records_total", Counter, "Records that were logged.", done.records);
        add("nodewise_log_syncs_total", Counter, "Syncs of the log.", done.syncs);
        let help = "Transactions that wait for the log.";
        add("nodewise_log_waiting", Gauge, help, done.waiting);
        let help = "Whether the log has failed, so that nothing is written any more.";
        add("nodewise_log_failed", Gauge, help, u64::from(journal.failure().is_some()));
        let help = "Checkpoints that were begun.";
        let history = durability.history.lock();
        add("nodewise_checkpoints_total", Counter, help, history.count());
        let failed = history.entries().filter(|it| it.error.is_some()).count() as u64;
        let help = "Those of the newest checkpoints that failed.";
        add("nodewise_checkpoints_failed", Gauge, help, failed);
        let last = history.entries().filter(|it| it.finished.is_some()).last();
        let bytes = last.map_or(0, |it| it.tally.bytes);
        add("nodewise_checkpoint_last_bytes", Gauge, "Bytes of the last checkpoint.", bytes);
        drop(history);
        let help = "Duration of the last sync of the log.";
        let mut sync = Metric::new("nodewise_log_last_sync_seconds", Gauge, help);
        sync.add([], seconds(done.last_sync));
        metrics.push(sync);
    }
}

fn seconds(it: Nanos) -> f64 {
    it.0 as f64 / 1e9
}

fn histogram(counted: &Counted) -> MetricValue {
    let mut count = 0;
    let buckets = BOUNDS.iter().zip(&counted.classes).map(|(bound, class)| {
        count += class;
        (seconds(Nanos(*bound)), count)
    });
    let buckets = buckets.collect();
    MetricValue::Histogram {
        buckets,
        sum: seconds(Nanos(counted.nanos)),
        count: counted.statements(),
    }
}
