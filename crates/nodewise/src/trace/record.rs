//! What was traced: the events, and what is known of their statements.

use std::collections::BTreeMap;

use scheduler::{TraceEvent, WorkerId};
use stdx::Nanos;

/// Morsels of traced statements, with what is known of these.
pub struct Trace {
    /// The morsels, by time.
    pub(super) events: Vec<TraceEvent>,
    /// Texts of statements, by number.
    pub(super) texts: BTreeMap<u64, String>,
    /// The slot of those who run jobs inline.
    pub(super) callers: WorkerId,
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

    /// The time of the first event.
    pub(super) fn begin(&self) -> Nanos {
        self.events.iter().map(|it| it.start).min().unwrap_or_default()
    }

    /// The time at which the last event ends.
    pub(super) fn end(&self) -> Nanos {
        self.events.iter().map(|it| it.end).max().unwrap_or_default()
    }

    /// What a worker is called.
    pub(super) fn name_of(&self, worker: WorkerId) -> String {
        if worker == self.callers { "callers".to_owned() } else { format!("worker {worker}") }
    }

    /// The text of a statement on one line.
    pub(super) fn text_of(&self, statement: u64) -> String {
        let text = self.texts.get(&statement).map_or("", String::as_str);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Statements with their first and last moment, by number.
    pub(super) fn statements(&self) -> BTreeMap<u64, (Nanos, Nanos)> {
        let mut spans: BTreeMap<u64, (Nanos, Nanos)> = BTreeMap::new();
        for event in &self.events {
            let span = spans.entry(event.statement).or_insert((event.start, event.end));
            *span = (span.0.min(event.start), span.1.max(event.end));
        }
        spans
    }
}
