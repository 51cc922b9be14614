//! What pipelines did, in the words of EXPLAIN ANALYZE; and where the time of many queries went, by kind of step.

use std::collections::BTreeMap;
use std::hint::black_box;

use execution::{PipelineReport, StepReport};
use hardware::Machine;
use plan::PipelineActuals;
pub use plan::StepActuals;
pub use plan::explain::steps_table;
use stdx::Nanos;

use crate::{Database, QueryProfile};

/// What times are turned into cycles and shares with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scale {
    /// Cycles a nanosecond; `None` where time is virtual.
    pub clock: Option<f64>,
    /// Bytes a nanosecond that one worker reads of its own node's memory while all others read too.
    pub bandwidth: Option<f64>,
    /// Whether the processor counts cycles; else they are time by clock.
    pub counted: bool,
}

impl Scale {
    /// Of a machine: its clock is measured, its bandwidth taken from the probe of it.
    pub fn of(database: &Database) -> Self {
        let machine = &**database.machine();
        let counted = machine.counters().is_some();
        let bandwidth = database.performance().and_then(|it| {
            let nodes = it.nodes.iter().enumerate();
            let own = nodes.filter_map(|(place, _)| it.read_mb_s[place][place]);
            let all: u64 = own.sum();
            (all > 0).then(|| all as f64 / 1e3 / database.workers().max(1) as f64)
        });
        Self { clock: clock_of(machine), bandwidth, counted }
    }

    /// The same with a bandwidth of all workers together, in bytes a nanosecond.
    pub fn with_bandwidth(self, all: f64, workers: usize) -> Self {
        Self { bandwidth: Some(all / workers.max(1) as f64), ..self }
    }

    /// What the columns of a table of steps rest on, a line.
    pub fn note(&self) -> String {
        let cycles = match (self.counted, self.clock) {
            (true, _) => "cycles as the processor counts them".to_owned(),
            (false, Some(clock)) => format!(
                "cycles: time by a clock of {clock:.2} GHz (the processor's counters cannot be read here)"
            ),
            (false, None) => "no cycles: time is virtual".to_owned(),
        };
        let bandwidth = match self.bandwidth {
            Some(it) => format!("bandwidth: of the {it:.1} GB/s that a worker can read"),
            None => "no bandwidth known: `nodewise probe` measures it".to_owned(),
        };
        let bytes = "bytes: columns that scans read, and what joins, groups, sorts and results bring from memory or \
                     write there (an estimate)";
        format!("times are those of all workers together; {bytes}; {cycles}; {bandwidth}")
    }

    fn cycles(&self, step: &StepReport) -> Option<f64> {
        match step.counters {
            Some(counters) => Some(counters.cycles as f64),
            None => self.clock.map(|it| it * step.time.0 as f64),
        }
    }

    fn share(&self, bytes: u64, time: Nanos) -> Option<f64> {
        let known = self.bandwidth.filter(|_| bytes > 0 && time.0 > 0)?;
        Some(bytes as f64 / time.0 as f64 / known)
    }
}

/// Cycles a nanosecond, by a chain of operations that take four cycles on every processor of the last decade: a
/// multiplication of three and an XOR.
fn clock_of(machine: &dyn Machine) -> Option<f64> {
    const STEPS: u64 = 100_000;
    const CYCLES: u64 = 4;
    let time = || {
        let started = machine.now();
        let link = |it: u64, _| it.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (it >> 32);
        black_box((0..STEPS).fold(black_box(3), link));
        (machine.now() - started).0
    };
    let best = (0..5).map(|_| time()).min().filter(|&it| it > 0)?;
    // No processor has another clock; virtual time hardly passes at all.
    Some((STEPS * CYCLES) as f64 / best as f64).filter(|it| (0.1..20.0).contains(it))
}

/// The report of a pipeline as EXPLAIN prints it.
pub(crate) fn actuals(report: &PipelineReport, scale: &Scale) -> PipelineActuals {
    let step = |it: &StepReport| StepActuals {
        name: format!("{} {}", it.kind, it.detail).trim_end().to_owned(),
        nanos: it.time.0,
        rows: it.rows,
        rows_out: it.rows_out,
        bytes: it.bytes,
        cycles: scale.cycles(it),
        bandwidth: scale.share(it.bytes, it.time),
    };
    PipelineActuals {
        rows: report.rows,
        nanos: report.time.0,
        morsels: report.morsels,
        stolen: report.stolen,
        local_bytes: report.bytes_local,
        remote_bytes: report.bytes_remote,
        kept_local_bytes: report.kept_local,
        kept_remote_bytes: report.kept_remote,
        memory_peak_bytes: report.memory_peak.0,
        spilled_bytes: report.spilled.0,
        learned: report.learned,
        source: report.source.clone(),
        steps: report.steps.iter().map(step).collect(),
    }
}

/// Where the time of profiled queries went: planning, the kinds of steps, and waiting, the greatest first. Times are
/// those of all workers together.
pub fn by_kind(profiles: &[QueryProfile], workers: usize, scale: &Scale) -> Vec<StepActuals> {
    let mut kinds: BTreeMap<&str, StepActuals> = BTreeMap::new();
    let mut add = |kind: &'static str, it: StepActuals| {
        let sum = kinds.entry(kind).or_insert_with(|| StepActuals {
            name: kind.to_owned(),
            rows_out: Some(0),
            cycles: Some(0.0),
            ..StepActuals::default()
        });
        sum.nanos += it.nanos;
        sum.rows += it.rows;
        sum.rows_out = sum.rows_out.zip(it.rows_out).map(|(a, b)| a + b);
        sum.bytes += it.bytes;
        sum.cycles = sum.cycles.zip(it.cycles).map(|(a, b)| a + b);
    };
    for profile in profiles {
        let alone = |time: Nanos| StepActuals { nanos: time.0, ..StepActuals::default() };
        add("planning", alone(profile.planning));
        let mut busy = 0;
        for step in profile.pipelines.iter().flat_map(|it| &it.steps) {
            busy += step.time.0;
            let (rows, rows_out, bytes) = (step.rows, step.rows_out, step.bytes);
            let (nanos, cycles) = (step.time.0, scale.cycles(step));
            add(
                step.kind,
                StepActuals { nanos, rows, rows_out, bytes, cycles, ..alone(step.time) },
            );
        }
        let there = profile.execution.0 * workers as u64;
        add("waiting, dealing out", alone(Nanos(there.saturating_sub(busy))));
    }
    let mut kinds: Vec<StepActuals> = kinds.into_values().collect();
    kinds.iter_mut().for_each(|it| it.bandwidth = scale.share(it.bytes, Nanos(it.nanos)));
    kinds.sort_by_key(|it| std::cmp::Reverse(it.nanos));
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_a_kind_are_summed_up_and_the_rest_is_waiting() {
        let step = |kind, nanos, rows, bytes| StepReport {
            kind,
            time: Nanos(nanos),
            rows,
            rows_out: Some(rows / 2),
            bytes,
            ..StepReport::default()
        };
        let steps = vec![step("range", 100, 1000, 400), step("probe", 300, 500, 0)];
        let pipelines = vec![PipelineReport { steps, ..PipelineReport::default() }];
        let profile = QueryProfile { planning: Nanos(50), execution: Nanos(250), pipelines };
        let scale = Scale { clock: Some(4.0), bandwidth: Some(8.0), counted: false };
        let kinds = by_kind(&[profile.clone(), profile], 2, &scale);
        let found: Vec<_> = kinds.iter().map(|it| (it.name.as_str(), it.nanos, it.rows)).collect();
        let wanted = [
            ("probe", 600, 1000),
            ("range", 200, 2000),
            ("waiting, dealing out", 200, 0),
            ("planning", 100, 0),
        ];
        assert_eq!(found, wanted);
        assert_eq!((kinds[1].cycles, kinds[1].bandwidth), (Some(800.0), Some(0.5)));
        assert_eq!(kinds[1].rows_out, Some(1000));
        assert!(scale.note().contains("4.00 GHz") && scale.note().contains("8.0 GB/s"));
    }
}
