//! The trace of traced statements (`SET trace = on`) as a file: for the Perfetto viewer, and as a picture like P-HYPER
//! figure 13.
//!
//! The events themselves are in the view `nodewise.trace`.

mod chrome;
mod svg;

use std::collections::BTreeMap;

use scheduler::{TraceEvent, WorkerId};
use stdx::Nanos;

use crate::Database;

/// Morsels of traced statements, with what is known of these.
pub struct Trace {
    /// The morsels, by time.
    events: Vec<TraceEvent>,
    /// Texts of statements, by number.
    texts: BTreeMap<u64, String>,
    /// The slot of those who run jobs inline.
    callers: WorkerId,
}

impl Database {
    /// What was traced so far: the newest some ten thousand morsels of each worker.
    pub fn trace(&self) -> Trace {
        Trace {
            events: self.scheduler.trace(),
            texts: self.statements.traced_texts(),
            callers: WorkerId::from_index(self.scheduler.slots() - 1),
        }
    }

    /// Forgets what was traced.
    pub fn clear_trace(&self) {
        self.scheduler.clear_trace();
        self.statements.clear_traced();
    }
}

impl Trace {
    /// Whether nothing was traced.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Morsels in it.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// As JSON in the format of Chrome's trace viewer, which Perfetto reads: a process per node, a thread per worker.
    pub fn to_chrome(&self) -> String {
        chrome::write(self)
    }

    /// As a timeline: a row per worker, a block per morsel, a colour per pipeline.
    pub fn to_svg(&self) -> String {
        svg::write(self)
    }

    /// The time of the first event.
    fn begin(&self) -> Nanos {
        self.events.iter().map(|it| it.start).min().unwrap_or_default()
    }

    fn end(&self) -> Nanos {
        self.events.iter().map(|it| it.end).max().unwrap_or_default()
    }

    /// What a worker is called.
    fn name_of(&self, worker: WorkerId) -> String {
        if worker == self.callers { "callers".to_owned() } else { format!("worker {worker}") }
    }

    /// The text of a statement on one line.
    fn text_of(&self, statement: u64) -> String {
        let text = self.texts.get(&statement).map_or("", String::as_str);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Statements with their first and last moment, by number.
    fn statements(&self) -> BTreeMap<u64, (Nanos, Nanos)> {
        let mut spans: BTreeMap<u64, (Nanos, Nanos)> = BTreeMap::new();
        for event in &self.events {
            let span = spans.entry(event.statement).or_insert((event.start, event.end));
            *span = (span.0.min(event.start), span.1.max(event.end));
        }
        spans
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardware::NodeId;
    use scheduler::JobId;

    pub(super) fn sample() -> Trace {
        let event = |statement, worker, start, stolen| TraceEvent {
            statement,
            pipeline: 1,
            finishing: start > 4_000,
            job: JobId(9),
            worker: WorkerId(worker),
            node: NodeId(worker as u16 / 2),
            home: None,
            cpus: (None, None),
            stolen,
            rows: 100,
            bytes_local: 10,
            bytes_remote: 5,
            start: Nanos(start),
            end: Nanos(start + 1_500),
        };
        let texts = [(7, "SELECT \"a<b\"\n  FROM t\\u".to_owned())];
        Trace {
            events: vec![
                event(7, 0, 1_000, false),
                event(8, 3, 2_500, true),
                event(7, 0, 3_000, false),
                event(7, 5, 5_000, false),
            ],
            texts: texts.into(),
            callers: WorkerId(5),
        }
    }

    #[test]
    fn a_trace_knows_its_statements_and_workers() {
        let trace = sample();
        assert_eq!((trace.len(), trace.is_empty()), (4, false));
        assert_eq!((trace.begin(), trace.end()), (Nanos(1_000), Nanos(6_500)));
        assert_eq!(trace.name_of(WorkerId(5)), "callers");
        assert_eq!(trace.statements()[&7], (Nanos(1_000), Nanos(6_500)));
        assert_eq!(trace.text_of(7), "SELECT \"a<b\" FROM t\\u");
        assert_eq!(trace.text_of(8), "");
    }
}
