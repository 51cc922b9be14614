//! Metrics as Prometheus reads them (text format 0.0.4).

use std::fmt::Write;

use hyper::StatusCode;
use nodewise::{Metric, MetricKind, MetricValue, Sample};
use stdx::sync::Arc;
use tokio::task::spawn_blocking;

use super::reply::{Reply, TEXT, reply};
use crate::shared::Shared;

const KIND: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What the database and the server count.
pub async fn answer(shared: Arc<Shared>) -> Reply {
    let read = spawn_blocking(move || {
        let mut metrics = shared.database.metrics();
        metrics.extend(of_server(&shared));
        metrics.extend(shared.traces.iter().flat_map(|it| it.metrics()));
        written(&metrics)
    });
    match read.await {
        Ok(text) => reply(StatusCode::OK, KIND, text),
        Err(_) => reply(StatusCode::INTERNAL_SERVER_ERROR, TEXT, "the metrics cannot be read\n"),
    }
}

fn of_server(shared: &Shared) -> [Metric; 3] {
    use MetricKind::Gauge;
    let connections = shared.registry.len() as u64;
    let help = "Clients of the wire that are connected.";
    let connected = Metric::new("nodewise_connections", Gauge, help).with([], connections);
    let help = "Clients of the wire that may be connected at once.";
    let most = shared.options.limits.connections as u64;
    let most = Metric::new("nodewise_connections_max", Gauge, help).with([], most);
    let help = "1, with the version of the program.";
    let version = ("version", env!("CARGO_PKG_VERSION").to_owned());
    [connected, most, Metric::new("nodewise_build_info", Gauge, help).with([version], 1)]
}

fn written(metrics: &[Metric]) -> String {
    let mut out = String::new();
    for Metric { name, help, kind, samples } in metrics {
        let kind = match kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        };
        out.push_str(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
        samples.iter().for_each(|it| write_sample(name, it, &mut out));
    }
    out
}

fn write_sample(name: &str, Sample { labels, value }: &Sample, out: &mut String) {
    let mut line = |end: &str, more: Option<(&'static str, String)>, value: f64| {
        let labels = labels.iter().cloned().chain(more);
        let labels: Vec<String> =
            labels.map(|(label, it)| format!("{label}=\"{}\"", escaped(&it))).collect();
        let labels = match labels.is_empty() {
            true => String::new(),
            false => format!("{{{}}}", labels.join(",")),
        };
        // Writing to a text does not fail.
        let _ = writeln!(out, "{name}{end}{labels} {value}");
    };
    match value {
        MetricValue::Number(value) => line("", None, *value),
        MetricValue::Histogram { buckets, sum, count } => {
            for (bound, count) in buckets {
                line("_bucket", Some(("le", bound.to_string())), *count as f64);
            }
            line("_bucket", Some(("le", "+Inf".to_owned())), *count as f64);
            line("_sum", None, *sum);
            line("_count", None, *count as f64);
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_written_as_prometheus_has_them() {
        let plain = Metric::new("a_total", MetricKind::Counter, "A.")
            .with([("x", "q\"\\\n".to_owned())], 12345678);
        let histogram = MetricValue::Histogram { buckets: vec![(0.5, 1)], sum: 2.25, count: 3 };
        let histogram = Sample { labels: vec![("k", "v".to_owned())], value: histogram };
        let mut observed = Metric::new("h_seconds", MetricKind::Histogram, "H.");
        observed.samples.push(histogram);
        let lines = [
            "# HELP a_total A.",
            "# TYPE a_total counter",
            "a_total{x=\"q\\\"\\\\\\n\"} 12345678",
            "# HELP h_seconds H.",
            "# TYPE h_seconds histogram",
            "h_seconds_bucket{k=\"v\",le=\"0.5\"} 1",
            "h_seconds_bucket{k=\"v\",le=\"+Inf\"} 3",
            "h_seconds_sum{k=\"v\"} 2.25",
            "h_seconds_count{k=\"v\"} 3",
        ];
        let text = written(&[plain, observed]);
        assert_eq!(text.lines().collect::<Vec<_>>(), lines);
    }
}
