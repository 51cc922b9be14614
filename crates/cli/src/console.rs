//! A session with a place to write to.

use std::io::Write;

use nodewise::Session;

use crate::output::Format;

/// What statements and dot commands work on.
pub struct Console {
    pub(crate) session: Session,
    pub(crate) out: Box<dyn Write>,
    /// The format of results.
    pub format: Format,
    /// Whether each statement tells its time.
    pub timer: bool,
}
