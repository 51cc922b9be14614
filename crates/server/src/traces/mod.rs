//! Traces: a span for each statement, with what it did as spans below it, sent to a collector of OpenTelemetry (OTLP over gRPC).
//!
//! Key decision: the spans are messages of our own (`messages`), sent by the gRPC client that Flight SQL brings along, because the crate
//! of generated messages (opentelemetry-proto) would link ten more crates into the server, the SDK and another source of random
//! numbers among them, and the SDK with its exporter twelve, for a few messages whose numbers are fixed for ever.
//!
//! Reading order: `options` and `collector` (where to), `parent` (what clients say), `follow` (which statements), `spans` (what is told of
//! one), `queue`, `exporter`.
//!
//! - Invariant: no statement waits for the collector: spans go into a queue that has an end, and what finds no room is dropped and counted.
//! - Invariant: values of parameters are never told, and texts as the log of slow statements tells them.

mod collector;
mod exporter;
mod follow;
mod messages;
mod options;
mod parent;
mod queue;
mod spans;

use nodewise::{Metric, MetricKind};

pub use self::collector::Collector;
pub use self::exporter::Exporter;
pub use self::options::{Tell, TraceOptions};
pub use self::parent::{Parent, SharedParent};
use self::queue::Queue;
pub use self::spans::Client;

/// What all sessions share that are traced.
pub struct Traces {
    options: TraceOptions,
    queue: Queue,
}

impl Traces {
    pub fn new(options: TraceOptions) -> Self {
        Self { options, queue: Queue::default() }
    }

    /// What became of the spans.
    pub fn metrics(&self) -> [Metric; 2] {
        let (exported, dropped) = self.queue.counts();
        let of = |name, help, count| Metric::new(name, MetricKind::Counter, help).with([], count);
        [
            of(
                "nodewise_trace_spans_exported_total",
                "Spans that the collector has taken.",
                exported,
            ),
            of(
                "nodewise_trace_spans_dropped_total",
                "Spans that found no room, or that the collector has not taken.",
                dropped,
            ),
        ]
    }
}
