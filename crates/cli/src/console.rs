//! A session with a place to write to.

use std::fs::File;
use std::io::{self, BufWriter, Stdout, Write};
use std::path::Path;

use nodewise::Session;

use crate::failure::Failure;
use crate::output::{Format, Look};

/// What statements and dot commands work on.
pub struct Console {
    pub(crate) session: Session,
    pub(crate) out: Out,
    /// How results look.
    pub look: Look,
    /// The format that `\x` goes back to.
    pub before_lines: Option<Format>,
    /// Rows of a result that are shown to a person; all when not given.
    pub rows_max: Option<usize>,
    /// Columns of the terminal, where the user says it.
    pub width: Option<usize>,
    /// Whether each statement tells its time.
    pub timer: bool,
    /// Whether what does not fit the screen is shown page by page.
    pub pager: bool,
    /// The last statement, to be run again.
    pub last: Option<String>,
}

/// Rows that the interactive shell shows of a result unless it is told.
const ROWS_MAX: usize = 40;

impl Console {
    /// A console that writes to standard output.
    pub fn new(session: Session, format: Format, interactive: bool) -> Self {
        Self {
            session,
            out: Out { screen: BufWriter::new(io::stdout()), file: None },
            look: Look::new(format),
            before_lines: None,
            rows_max: Some(ROWS_MAX),
            width: None,
            timer: interactive,
            pager: false,
            last: None,
        }
    }
}

/// Standard output, or a file in its place.
pub struct Out {
    screen: BufWriter<Stdout>,
    file: Option<Target>,
}

struct Target {
    file: BufWriter<File>,
    /// Whether it takes one result alone.
    once: bool,
}

impl Out {
    /// From now on, or for one result, everything goes to a file, which is made or made empty.
    pub fn open_file(&mut self, path: &Path, once: bool) -> Result<(), Failure> {
        self.close_file()?;
        let file = File::create(path)
            .map_err(|error| Failure::Other(format!("cannot write {}: {error}", path.display())))?;
        self.file = Some(Target { file: BufWriter::new(file), once });
        Ok(())
    }

    /// From now on everything goes to standard output.
    pub fn close_file(&mut self) -> io::Result<()> {
        match self.file.take() {
            Some(mut target) => target.file.flush(),
            None => Ok(()),
        }
    }

    /// Whether standard output is written.
    pub fn is_screen(&self) -> bool {
        self.file.is_none()
    }

    /// A result is whole: what goes to a file for one result alone ends.
    pub fn end_result(&mut self) -> io::Result<()> {
        self.flush()?;
        if self.file.as_ref().is_some_and(|it| it.once) { self.close_file() } else { Ok(()) }
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.file {
            Some(target) => target.file.write(bytes),
            None => self.screen.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.file {
            Some(target) => target.file.flush(),
            None => self.screen.flush(),
        }
    }
}
