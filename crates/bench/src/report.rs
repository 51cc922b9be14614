//! The outcome of a benchmark as JSON, for `tools/bench-compare` and for people who plot.

use serde_json::{Value, json};
use stdx::{Bytes, Nanos};

use crate::tpch::{Loaded, QueryRecord, Verdict};

/// What is known of a run beside its queries.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The scale.
    pub scale: f64,
    /// Workers that ran.
    pub threads: usize,
    /// What loading took and made.
    pub loaded: Loaded,
    /// The most memory the process had.
    pub peak: Bytes,
}

/// A TPC-H run as JSON.
pub fn tpch_json(facts: &Facts, records: &[QueryRecord]) -> Value {
    json!({
        "engine": "nodewise",
        "version": env!("CARGO_PKG_VERSION"),
        "scale": facts.scale,
        "threads": facts.threads,
        "queries": records.iter().map(query_json).collect::<Vec<_>>(),
        "load_ms": facts.loaded.time.as_millis_f64(),
        "loaded_bytes": facts.loaded.bytes.0,
        "peak_bytes": facts.peak.0,
    })
}

fn query_json(record: &QueryRecord) -> Value {
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
    match &record.verdict {
        Verdict::Failed(error) => {
            json["error"] = format!("{}: {}", error.state.0, error.message).into()
        }
        Verdict::Wrong(difference) => json["difference"] = difference.as_str().into(),
        Verdict::Unchecked | Verdict::Right => {}
    }
    json
}

#[cfg(test)]
mod tests {
    use nodewise::{SqlError, SqlState};

    use super::*;
    use crate::tpch::select;

    #[test]
    fn the_report_holds_what_the_comparison_reads() {
        let mut records = select(&[1, 2, 3]).unwrap();
        records[0].times = vec![Nanos(1_500_000)];
        records[0].planning = vec![Nanos(500_000)];
        records[0].rows = 4;
        records[1].verdict = Verdict::Right;
        records[2].verdict = Verdict::Failed(SqlError::new(SqlState::INTERNAL, "broken"));
        let loaded = Loaded { time: Nanos(2_000_000), rows: 1, bytes: Bytes(7) };
        let facts = Facts { scale: 0.1, threads: 2, loaded, peak: Bytes(9) };
        let json = tpch_json(&facts, &records);
        assert_eq!(json["queries"][0]["times_ms"], json!([1.5]));
        assert_eq!(json["queries"][0]["planning_ms"], json!([0.5]));
        assert_eq!(json["queries"][0]["answer_ok"], Value::Null);
        assert_eq!(json["queries"][1]["answer_ok"], json!(true));
        assert_eq!(json["queries"][2]["error"], json!("XX000: broken"));
        assert_eq!(json["load_ms"], json!(2.0));
        assert_eq!((&json["loaded_bytes"], &json["peak_bytes"]), (&json!(7), &json!(9)));
    }
}
