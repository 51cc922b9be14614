//! What was decided, with its numbers, and what came of it.

use std::collections::VecDeque;

use placer::Decision;
use storage::CatalogSnapshot;

/// Decisions that are kept: some hours of a load that never rests.
const KEPT: usize = 1000;

/// What came of a decision.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// It was only to be said.
    Advised,
    /// Its copy has not ended, or not begun as a statement changes tables.
    Waiting,
    /// The item lies where it was to be.
    Done,
    /// It could not be carried out, and why.
    Failed(String),
}

impl Outcome {
    pub(super) fn failed(why: &str) -> Self {
        Self::Failed(why.to_owned())
    }

    /// A few words for the view.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Advised => "advised".into(),
            Self::Waiting => "waiting".into(),
            Self::Done => "done".into(),
            Self::Failed(why) => format!("not done: {why}"),
        }
    }
}

/// A decision with the names that its item had.
pub(crate) struct LogEntry {
    number: u64,
    pub(crate) table: String,
    /// `None` for a part as a whole.
    pub(crate) column: Option<String>,
    pub(crate) decision: Decision,
    pub(crate) outcome: Outcome,
}

impl LogEntry {
    /// A decision about a table that there is; without a name for one that is gone.
    pub(crate) fn new(tables: &CatalogSnapshot, decision: &Decision, outcome: Outcome) -> Self {
        let item = &decision.item;
        let table = tables.by_id(item.table);
        let name = |it: types::ColumnId| table?.columns.get(it.index()).map(|it| it.name.clone());
        Self {
            number: 0,
            table: table.map_or_else(String::new, |it| it.name.clone()),
            column: item.column.and_then(name),
            decision: decision.clone(),
            outcome,
        }
    }
}

/// The newest decisions, oldest first.
#[derive(Default)]
pub(crate) struct Log {
    entries: VecDeque<LogEntry>,
    count: u64,
}

impl Log {
    /// The number of the next decision.
    pub(super) fn next(&self) -> u64 {
        self.count + 1
    }

    /// Writes a decision down; its number tells it from others.
    pub(super) fn push(
        &mut self,
        tables: &CatalogSnapshot,
        it: &Decision,
        outcome: Outcome,
    ) -> u64 {
        if self.entries.len() == KEPT {
            self.entries.pop_front();
        }
        self.count += 1;
        let entry = LogEntry::new(tables, it, outcome);
        self.entries.push_back(LogEntry { number: self.count, ..entry });
        self.count
    }

    /// What came of a decision, if it is still kept.
    pub(super) fn end(&mut self, number: u64, outcome: Outcome) {
        if let Some(entry) = self.entries.iter_mut().find(|it| it.number == number) {
            entry.outcome = outcome;
        }
    }

    /// All that were made.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// All that are kept.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &LogEntry> {
        self.entries.iter()
    }
}
