//! The outcome of a benchmark as JSON, for `tools/bench-compare` and for people who plot.

use arrow_array::RecordBatch;
use nodewise::Database;
use nodewise::text::Cells;
use serde_json::{Value, json};
use stdx::{Bytes, Nanos};

use crate::record::{QueryRecord, Verdict};
use crate::scans::{ScanOptions, ScanRecord};
use crate::workload::Loaded;

/// What is known of a run beside its queries.
#[derive(Clone, Debug)]
pub struct Facts {
    /// What was run, as the head of a sentence: `TPC-H at scale 1`.
    pub title: String,
    /// The scale; `None` when the workload has none.
    pub scale: Option<f64>,
    /// Workers that ran.
    pub threads: usize,
    /// Whether runs used the plans of earlier ones again.
    pub plan_cache: bool,
    /// What loading took and made.
    pub loaded: Loaded,
    /// The most memory the process had.
    pub peak: Bytes,
}

/// A run as JSON; with the answers in text when `answers`.
pub fn run_json(facts: &Facts, records: &[QueryRecord], answers: bool) -> Value {
    json!({
        "engine": "nodewise",
        "version": env!("CARGO_PKG_VERSION"),
        "scale": facts.scale,
        "threads": facts.threads,
        "plan_cache": facts.plan_cache,
        "queries": records.iter().map(|it| query_json(it, answers)).collect::<Vec<_>>(),
        "load_ms": facts.loaded.time.as_millis_f64(),
        "loaded_rows": facts.loaded.rows,
        "loaded_bytes": facts.loaded.bytes.0,
        "peak_bytes": facts.peak.0,
    })
}

/// Runs of the scan workload as JSON: each with what it ran, of which the first is what all share.
pub fn scans_json(
    database: &Database,
    loaded: &Loaded,
    records: &[(ScanOptions, ScanRecord)],
) -> Value {
    let record = |(options, it): &(ScanOptions, ScanRecord)| {
        json!({
            "clients": it.clients,
            "selectivity": options.selectivity,
            "asked": options.asked.word(),
            "rows": it.rows,
            "sum": it.sum,
            "statements": it.latencies.len(),
            "failed": it.failed.0,
            "per_second": it.throughput(),
            "mean_ms": it.mean().as_millis_f64(),
            "median_ms": it.quantile(0.5).as_millis_f64(),
            "p95_ms": it.quantile(0.95).as_millis_f64(),
            "max_ms": it.quantile(1.0).as_millis_f64(),
            "spread": it.spread(),
        })
    };
    let shared = records.first().map(|it| &it.0);
    json!({
        "engine": "nodewise",
        "version": env!("CARGO_PKG_VERSION"),
        "threads": database.workers(),
        "load_ms": loaded.time.as_millis_f64(),
        "loaded_bytes": loaded.bytes.0,
        "peak_bytes": database.machine().resident_bytes().0.0,
        "rows": shared.map(|it| it.rows),
        "columns": shared.map(|it| it.columns),
        "skewed": shared.map(|it| it.skewed),
        "indexes": shared.map(|it| it.indexes),
        "parallel": shared.map(|it| it.parallel),
        "shared": shared.map(|it| it.shared),
        "runs": records.iter().map(record).collect::<Vec<_>>(),
    })
}

fn query_json(record: &QueryRecord, answers: bool) -> Value {
    let millis = |it: &[Nanos]| it.iter().map(|it| it.as_millis_f64()).collect::<Vec<_>>();
    let mut json = json!({
        "name": record.name,
        "times_ms": millis(&record.times),
        "planning_ms": millis(&record.planning),
        "rows": record.rows,
        "answer_ok": match &record.verdict {
            Verdict::Unchecked => Value::Null,
            Verdict::Right => true.into(),
            Verdict::Wrong(_) | Verdict::Failed(_) => false.into(),
        },
    });
    if answers {
        json["answer"] = record.answer.iter().flat_map(text_rows).collect();
    }
    match &record.verdict {
        Verdict::Failed(error) => {
            json["error"] = format!("{}: {}", error.state.0, error.message).into()
        }
        Verdict::Wrong(difference) => json["difference"] = difference.as_str().into(),
        Verdict::Unchecked | Verdict::Right => {}
    }
    json
}

/// The rows of a batch, each a list of texts.
fn text_rows(batch: &RecordBatch) -> Vec<Value> {
    let columns: Vec<Cells> = batch.columns().iter().map(Cells::new).collect();
    let text = |it: &Cells, row| it.text(row).unwrap_or_else(|| "NULL".to_owned());
    let row = |row| columns.iter().map(|it| Value::from(text(it, row))).collect();
    (0..batch.num_rows()).map(row).collect()
}

#[cfg(test)]
mod tests {
    use arrow_array::{ArrayRef, Int64Array};
    use nodewise::{SqlError, SqlState};
    use stdx::sync::Arc;

    use super::*;
    use crate::tpch::select;

    #[test]
    fn the_report_holds_what_the_comparison_reads() {
        let mut records = select(&[1, 2, 3]).unwrap();
        records[0].times = vec![Nanos(1_500_000)];
        records[0].planning = vec![Nanos(500_000)];
        records[0].rows = 4;
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(7), None]));
        records[0].answer = vec![RecordBatch::try_from_iter([("n", numbers)]).unwrap()];
        records[1].verdict = Verdict::Right;
        records[2].verdict = Verdict::Failed(SqlError::new(SqlState::INTERNAL, "broken"));
        let loaded = Loaded { time: Nanos(2_000_000), rows: 1, bytes: Bytes(7) };
        let facts = Facts {
            title: "TPC-H".into(),
            scale: Some(0.1),
            threads: 2,
            plan_cache: false,
            loaded,
            peak: Bytes(9),
        };
        let json = run_json(&facts, &records, true);
        assert_eq!(json["queries"][0]["times_ms"], json!([1.5]));
        assert_eq!(json["queries"][0]["planning_ms"], json!([0.5]));
        assert_eq!(json["queries"][0]["answer_ok"], Value::Null);
        assert_eq!(json["queries"][1]["answer_ok"], json!(true));
        assert_eq!(json["queries"][2]["error"], json!("XX000: broken"));
        assert_eq!(json["queries"][0]["answer"], json!([["7"], ["NULL"]]));
        assert_eq!(json["plan_cache"], json!(false));
        assert_eq!((&json["load_ms"], &json["loaded_rows"]), (&json!(2.0), &json!(1)));
        assert_eq!((&json["loaded_bytes"], &json["peak_bytes"]), (&json!(7), &json!(9)));
    }
}
