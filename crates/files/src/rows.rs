//! The rows of files, put together from those of their pieces.

use arrow_array::RecordBatch;
use types::{SqlError, SqlResult, SqlState};

/// Rows that were left out of which is told why.
const SKIPPED_TOLD: usize = 1000;

/// What becomes of a row with a value that its column does not take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnError {
    /// It ends the load.
    Stop,
    /// It is left out; more than so many end the load.
    Skip {
        /// How many may be left out.
        limit: Option<u64>,
        /// Whether records with too few or too many fields are left out, too.
        malformed: bool,
    },
}

/// The rows of files.
#[derive(Debug, Default)]
pub struct Rows {
    /// The columns that are wanted. Behind them, where a text stands for defaults, a Boolean for each: whether it does.
    pub batches: Vec<RecordBatch>,
    /// The number of the file of each batch.
    pub files: Vec<usize>,
    /// Rows that were left out.
    pub skipped: u64,
    /// The first of these, and why.
    pub skipped_rows: Vec<SqlError>,
}

impl Rows {
    pub(crate) fn add(
        &mut self,
        part: Part,
        on_error: OnError,
        ended: &mut Option<usize>,
    ) -> SqlResult<()> {
        for error in part.skipped {
            self.skipped += 1;
            if let OnError::Skip { limit: Some(limit), .. } = on_error
                && self.skipped > limit
            {
                let message = format!(
                    "skipped more than REJECT_LIMIT ({limit}) rows due to data type incompatibility: {}",
                    error.message
                );
                return Err(SqlError::new(SqlState::INVALID_TEXT, message));
            }
            if self.skipped_rows.len() < SKIPPED_TOLD {
                self.skipped_rows.push(error);
            }
        }
        if let Some(error) = part.failed {
            return Err(error);
        }
        if part.ended {
            *ended = Some(part.file);
        }
        if part.batch.num_rows() > 0 {
            self.batches.push(part.batch);
            self.files.push(part.file);
        }
        Ok(())
    }
}

/// What became of a chunk. Errors are told when their turn comes, so that the first one of a file is told.
pub(crate) struct Part {
    pub(crate) file: usize,
    pub(crate) batch: RecordBatch,
    pub(crate) skipped: Vec<SqlError>,
    pub(crate) failed: Option<SqlError>,
    /// Whether the end of the data was marked.
    pub(crate) ended: bool,
}

/// The text that bytes begin with, and where bytes are that are none. PostgreSQL's texts have no zeros.
pub(crate) fn valid_text(bytes: &[u8]) -> (&str, Option<usize>) {
    let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
    let end = match std::str::from_utf8(&bytes[..end]) {
        Ok(text) if end == bytes.len() => return (text, None),
        Ok(_) => end,
        Err(error) => error.valid_up_to(),
    };
    (std::str::from_utf8(&bytes[..end]).unwrap_or_default(), Some(end))
}
