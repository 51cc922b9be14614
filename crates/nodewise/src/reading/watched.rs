//! Rows of files that somebody watches being read.

use stdx::sync::Arc;
use storage::{Check, ColumnBounds, Give, Progress as _, RowReader, RowStream};
use types::{ColumnId, SqlResult};

use crate::Progress;
use crate::parallel::LoadProgress;

/// A stream whose reading is told to a listener.
pub(super) struct Watched {
    pub(super) name: String,
    pub(super) stream: Arc<dyn RowStream>,
    pub(super) listener: Arc<dyn Progress>,
}

impl std::fmt::Debug for Watched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.stream.fmt(f)
    }
}

impl RowStream for Watched {
    fn expected_rows(&self) -> u64 {
        self.stream.expected_rows()
    }

    fn begin(
        &self,
        columns: &[ColumnId],
        wanted: &[ColumnBounds],
    ) -> SqlResult<Box<dyn RowReader>> {
        let reader = self.stream.begin(columns, wanted)?;
        let progress = LoadProgress::new(self.listener.clone(), &self.name);
        Ok(Box::new(WatchedReader { reader, progress }))
    }
}

struct WatchedReader {
    reader: Box<dyn RowReader>,
    progress: LoadProgress<Arc<dyn Progress>>,
}

impl RowReader for WatchedReader {
    fn steps(&self) -> u64 {
        self.reader.steps()
    }

    fn step(&self, step: u64, check: Check<'_>, give: Give<'_>) -> SqlResult<()> {
        self.reader.step(step, check, give)?;
        if let Some((read, all)) = self.reader.progress() {
            self.progress.advance(read, all);
        }
        Ok(())
    }

    fn progress(&self) -> Option<(u64, u64)> {
        self.reader.progress()
    }
}
