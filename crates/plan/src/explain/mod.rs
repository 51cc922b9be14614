//! Plans as text, as JSON and as a picture (EXPLAIN), with what happened beside what was expected (EXPLAIN ANALYZE).

use std::fmt::Write as _;

mod actuals;
mod expression;
mod lines;
mod names;
mod svg;

use stdx::Bytes;

use crate::Plan;
pub use actuals::{PipelineActuals, Remarks, StepActuals};
use lines::rounded;
pub use svg::svg;

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
