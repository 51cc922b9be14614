//! Plans as text and as JSON (EXPLAIN), with what happened beside what was expected (EXPLAIN ANALYZE).

use std::fmt::Write as _;

mod expression;
mod lines;
mod names;

use stdx::Bytes;

use crate::{PipelineId, Plan};
use lines::rounded;

/// What happened in one pipeline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PipelineActuals {
    /// Rows that reached the sink.
    pub rows: u64,
    /// Time from its first task to its end, in nanoseconds.
    pub nanos: u64,
    /// Morsels.
    pub morsels: u64,
    /// Morsels that a worker of another node took.
    pub stolen: u64,
    /// Bytes of columns that scans read on the node that ran the morsel.
    pub local_bytes: u64,
    /// The same on other nodes.
    pub remote_bytes: u64,
    /// Bytes of all other items (joins, groups, sorts, bitmaps, dictionaries, results), read and written, on the node that ran
    /// the morsel or task.
    pub kept_local_bytes: u64,
    /// The same on other nodes.
    pub kept_remote_bytes: u64,
    /// The most bytes of memory that were held for what it ends in, with what its workers had in their hands.
    pub memory_peak_bytes: u64,
    /// Bytes written to temporary files.
    pub spilled_bytes: u64,
    /// What the adaptive strategy has learned: whether it is bound by memory, and bytes per second of a worker.
    pub learned: Option<(bool, u64)>,
    /// What the source learned, a line; empty when it has nothing to say.
    pub source: String,
    /// Where the time went, step by step.
    pub steps: Vec<StepActuals>,
}

impl PipelineActuals {
    /// Its memory intensity: bytes from and to memory for each cycle of its workers, where cycles are known.
    pub fn bytes_per_cycle(&self) -> Option<f64> {
        let cycles: f64 = self.steps.iter().map(|it| it.cycles).sum::<Option<f64>>()?;
        let bytes =
            self.local_bytes + self.remote_bytes + self.kept_local_bytes + self.kept_remote_bytes;
        (cycles > 0.0).then(|| bytes as f64 / cycles)
    }
}

/// What one step of a pipeline took, all workers together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepActuals {
    /// What it does.
    pub name: String,
    /// Time, in nanoseconds.
    pub nanos: u64,
    /// Rows that it was given.
    pub rows: u64,
    /// Rows that it handed on, where they are counted.
    pub rows_out: Option<u64>,
    /// Bytes of columns that it read.
    pub bytes: u64,
    /// Clock cycles, counted or estimated.
    pub cycles: Option<f64>,
    /// Bytes a nanosecond as a share of what the machine can read, where that is known.
    pub bandwidth: Option<f64>,
}

/// What is said of a pipeline beside its steps.
pub trait Remarks {
    /// What happened, if it has run.
    fn actuals(&self, pipeline: PipelineId) -> Option<PipelineActuals>;
    /// Where what it leaves will lie, a line.
    fn placement(&self, pipeline: PipelineId) -> Option<String>;
}

/// Nothing is said.
impl Remarks for () {
    fn actuals(&self, _: PipelineId) -> Option<PipelineActuals> {
        None
    }

    fn placement(&self, _: PipelineId) -> Option<String> {
        None
    }
}

/// The plan as text, one block per pipeline.
pub fn text(plan: &Plan, remarks: &dyn Remarks) -> String {
    let mut out = String::new();
    for it in &plan.recursions {
        for (what, part) in [("first", &it.first), ("each other round", &it.step)] {
            let _ = writeln!(out, "recursive {}, {what}:", it.name);
            text(part, &()).lines().for_each(|line| {
                let _ = writeln!(out, "  {line}");
            });
        }
    }
    for (pipeline, lines) in plan.pipelines.iter().zip(lines::of(plan)) {
        let id = pipeline.id.index();
        let _ = writeln!(out, "pipeline {id} (about {} rows)", rounded(pipeline.estimated_rows));
        for line in lines {
            let _ = writeln!(out, "  {line}");
        }
        if let Some(note) = remarks.placement(pipeline.id) {
            let _ = writeln!(out, "  {note}");
        }
        if let Some(it) = remarks.actuals(pipeline.id) {
            let _ = writeln!(
                out,
                "  actual: {} rows, {:.3} ms, {} morsels, {} stolen, {} bytes local, {} remote by scans, \
                 {} local, {} remote of other items",
                it.rows,
                it.nanos as f64 / 1e6,
                it.morsels,
                it.stolen,
                it.local_bytes,
                it.remote_bytes,
                it.kept_local_bytes,
                it.kept_remote_bytes
            );
            let spilled = match it.spilled_bytes {
                0 => String::new(),
                bytes => format!(", {} spilled to files", Bytes(bytes)),
            };
            let _ = writeln!(out, "  memory: {} at most{spilled}", Bytes(it.memory_peak_bytes));
            if let Some(intensity) = it.bytes_per_cycle() {
                let _ = writeln!(out, "  memory intensity: {intensity:.3} bytes per cycle");
            }
            if let Some((memory_bound, bytes)) = it.learned {
                let affinity = if memory_bound { "hard" } else { "soft" };
                let _ = writeln!(
                    out,
                    "  adaptive affinity: {affinity}, at {:.1} GB/s a worker",
                    bytes as f64 / 1e9
                );
            }
            if !it.source.is_empty() {
                let _ = writeln!(out, "  source: {}", it.source);
            }
            steps_table(&it.steps).lines().for_each(|line| {
                let _ = writeln!(out, "  {line}");
            });
        }
    }
    out
}

/// Steps as a table; empty when there are none.
pub fn steps_table(steps: &[StepActuals]) -> String {
    let mut out = String::new();
    if steps.is_empty() {
        return out;
    }
    let all: u64 = steps.iter().map(|it| it.nanos).sum();
    let width = steps.iter().map(|it| it.name.len()).max().unwrap_or(0).max(4);
    let _ = writeln!(
        out,
        "{:width$} {:>10} {:>6} {:>11} {:>11} {:>8} {:>10} {:>7} {:>9}",
        "step", "time ms", "share", "rows", "rows out", "ns/row", "cycles/row", "GB/s", "bandwidth"
    );
    for it in steps {
        let per_row = |value: f64| match it.rows {
            0 => "-".to_owned(),
            rows => format!("{:.2}", value / rows as f64),
        };
        let speed = match (it.bytes, it.nanos) {
            (0, _) | (_, 0) => "-".to_owned(),
            (bytes, nanos) => format!("{:.1}", bytes as f64 / nanos as f64),
        };
        let _ = writeln!(
            out,
            "{:width$} {:>10.3} {:>6} {:>11} {:>11} {:>8} {:>10} {speed:>7} {:>9}",
            it.name,
            it.nanos as f64 / 1e6,
            percent(it.nanos as f64 / all.max(1) as f64),
            it.rows,
            it.rows_out.map_or_else(|| "-".to_owned(), |it| it.to_string()),
            per_row(it.nanos as f64),
            it.cycles.map_or_else(|| "-".to_owned(), per_row),
            it.bandwidth.map_or_else(|| "-".to_owned(), percent),
        );
    }
    out
}

fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "null".to_owned(), |it| format!("{it:.4}"))
}

fn steps_json(steps: &[StepActuals]) -> String {
    let step = |it: &StepActuals| {
        let rows_out = it.rows_out.map_or_else(|| "null".to_owned(), |it| it.to_string());
        format!(
            "{{\"step\": {}, \"nanos\": {}, \"rows\": {}, \"rows_out\": {rows_out}, \"bytes\": {}, \
             \"cycles\": {}, \"bandwidth\": {}}}",
            quoted(&it.name),
            it.nanos,
            it.rows,
            it.bytes,
            number(it.cycles),
            number(it.bandwidth)
        )
    };
    steps.iter().map(step).collect::<Vec<_>>().join(", ")
}

/// The plan as a JSON document with the same content.
pub fn json(plan: &Plan, remarks: &dyn Remarks) -> String {
    let mut out = String::from("{\"pipelines\": [");
    for (place, (pipeline, lines)) in plan.pipelines.iter().zip(lines::of(plan)).enumerate() {
        let separator = if place == 0 { "\n" } else { ",\n" };
        let inputs = pipeline.inputs();
        let mut inputs: Vec<usize> = inputs.iter().map(|it| it.index()).collect();
        inputs.sort_unstable();
        inputs.dedup();
        let steps: Vec<String> = lines.iter().map(|it| quoted(it)).collect();
        let _ = write!(
            out,
            "{separator}  {{\"id\": {}, \"inputs\": {inputs:?}, \"estimated_rows\": {}, \"steps\": [{}]",
            pipeline.id.index(),
            rounded(pipeline.estimated_rows),
            steps.join(", ")
        );
        if let Some(note) = remarks.placement(pipeline.id) {
            let _ = write!(out, ", \"placement\": {}", quoted(&note));
        }
        if let Some(it) = remarks.actuals(pipeline.id) {
            let _ = write!(
                out,
                ", \"actual\": {{\"rows\": {}, \"nanos\": {}, \"morsels\": {}, \"stolen\": {}, \
                 \"local_bytes\": {}, \"remote_bytes\": {}, \"kept_local_bytes\": {}, \"kept_remote_bytes\": {}, \"memory_peak_bytes\": {}, \"spilled_bytes\": {}, \"bytes_per_cycle\": {}, \"memory_bound\": {}, \"bytes_per_second\": {}, \"source\": {}, \"steps\": [{}]}}",
                it.rows,
                it.nanos,
                it.morsels,
                it.stolen,
                it.local_bytes,
                it.remote_bytes,
                it.kept_local_bytes,
                it.kept_remote_bytes,
                it.memory_peak_bytes,
                it.spilled_bytes,
                number(it.bytes_per_cycle()),
                it.learned.map_or_else(|| "null".to_owned(), |it| it.0.to_string()),
                it.learned.map_or_else(|| "null".to_owned(), |it| it.1.to_string()),
                quoted(&it.source),
                steps_json(&it.steps)
            );
        }
        out.push('}');
    }
    let columns: Vec<String> = plan
        .output
        .iter()
        .map(|it| {
            let (name, data_type) = (quoted(&it.name), quoted(&it.data_type.to_string()));
            format!("{{\"name\": {name}, \"type\": {data_type}}}")
        })
        .collect();
    let _ = write!(out, "\n], \"output\": [{}]}}", columns.join(", "));
    out
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for it in text.chars() {
        match it {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            it if u32::from(it) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", u32::from(it));
            }
            it => out.push(it),
        }
    }
    out.push('"');
    out
}
