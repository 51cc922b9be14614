//! The rows of files, put together from those of their pieces.

use arrow_array::RecordBatch;
use stdx::sync::Mutex;
use storage::{BuildContext, Check};
use types::{SqlError, SqlResult, SqlState};

use crate::fault::KeptPlace;

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
    /// Rows with NULL where that is noted, by their numbers among all, and where they are.
    pub noted: Vec<(usize, KeptPlace)>,
    /// The row behind these that has NULL where there must be a value; nothing behind it was read.
    pub refused: Option<RefusedRow>,
}

/// A row with NULL where there must be a value.
#[derive(Clone, Debug)]
pub struct RefusedRow {
    /// The row.
    pub batch: RecordBatch,
    /// Where it is.
    pub place: KeptPlace,
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
        if part.refused.is_none()
            && let Some(error) = part.failed
        {
            return Err(error);
        }
        self.refused = part.refused;
        if part.ended {
            *ended = Some(part.file);
        }
        let before: usize = match part.noted.is_empty() {
            true => 0,
            false => self.batches.iter().map(RecordBatch::num_rows).sum(),
        };
        self.noted.extend(part.noted.into_iter().map(|(row, place)| (before + row, place)));
        if part.batch.num_rows() > 0 {
            self.batches.push(part.batch);
            self.files.push(part.file);
        }
        Ok(())
    }
}

/// What became of neighbouring records. Errors are told when their turn comes, so that the first one of a file is told.
pub struct Part {
    /// The number of the file.
    pub file: usize,
    /// The columns that are wanted.
    pub batch: RecordBatch,
    pub(crate) skipped: Vec<SqlError>,
    /// What is wrong behind these rows.
    pub failed: Option<SqlError>,
    /// Rows of it with NULL where that is noted.
    pub(crate) noted: Vec<(usize, KeptPlace)>,
    /// The row that is wrong there, where it is a whole one.
    pub(crate) refused: Option<RefusedRow>,
    /// Whether the end of the data was marked.
    pub(crate) ended: bool,
}

impl Part {
    /// Rows of a file of which nothing was left out.
    pub fn of(file: usize, batch: RecordBatch) -> Self {
        let (skipped, noted) = (Vec::new(), Vec::new());
        Self { file, batch, skipped, failed: None, noted, refused: None, ended: false }
    }
}

/// Who takes parts, or what is wrong with a file; and where they stand among all of them.
pub type GivePart<'a> = &'a mut dyn FnMut(u64, SqlResult<Part>) -> SqlResult<()>;

/// Files that are read part by part, by several workers at once.
pub trait Parts: Send + Sync {
    /// How many steps it takes. Each gives some parts, perhaps none.
    fn steps(&self) -> u64;
    /// Does a step; `check` is asked now and then.
    ///
    /// # Errors
    /// Those of `check` and `give`.
    fn step(&self, step: u64, check: Check<'_>, give: GivePart<'_>) -> SqlResult<()>;
    /// Bytes that were read, and all of them.
    fn progress(&self) -> (u64, u64);
    /// Whether a mark may end a file, behind which what is wrong does not count.
    fn may_end(&self) -> bool {
        false
    }
}

/// All rows, in their order.
pub(crate) fn all_rows(
    parts: &dyn Parts,
    on_error: OnError,
    context: &BuildContext<'_>,
) -> SqlResult<Rows> {
    let found: Mutex<Vec<(u64, SqlResult<Part>)>> = Mutex::new(Vec::new());
    let check = || match (context.cancelled)() {
        true => Err(SqlError::new(SqlState::QUERY_CANCELED, "the load was cancelled")),
        false => Ok(()),
    };
    let run = |step: usize| {
        check()?;
        parts.step(step as u64, &check, &mut |order, part| {
            let failed = match &part {
                // The end may be marked before it, which only who has all parts knows.
                Ok(_) if parts.may_end() => None,
                Ok(part) => part.failed.clone(),
                Err(error) => Some(error.clone()),
            };
            found.lock().push((order, part));
            failed.map_or(Ok(()), Err)
        })?;
        let (read, all) = parts.progress();
        context.progress.advance(read, all);
        Ok(())
    };
    let outcome = match parts.steps() {
        1 => run(0),
        steps => context.parallel.run(steps as usize, &run),
    };
    let mut found = found.into_inner();
    found.sort_by_key(|it| it.0);
    let (mut rows, mut ended) = (Rows::default(), None);
    for (_, part) in found {
        let part = part?;
        if ended != Some(part.file) {
            rows.add(part, on_error, &mut ended)?;
        }
        if rows.refused.is_some() {
            return Ok(rows);
        }
    }
    outcome?;
    Ok(rows)
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
