//! The trace of traced statements (`SET trace = on`) as a file: for the Perfetto viewer, and as a picture like P-HYPER
//! figure 13.
//!
//! The events themselves are in the view `nodewise.trace`.

mod chrome;
mod record;
mod svg;

use scheduler::WorkerId;

use crate::Database;

pub use record::Trace;

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
    /// As JSON in the format of Chrome's trace viewer, which Perfetto reads: a process per node, a thread per worker.
    pub fn to_chrome(&self) -> String {
        chrome::write(self)
    }

    /// As a timeline: a row per worker, a block per morsel, a colour per pipeline.
    pub fn to_svg(&self) -> String {
        svg::write(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardware::NodeId;
    use scheduler::{JobId, TraceEvent};
    use stdx::Nanos;

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
