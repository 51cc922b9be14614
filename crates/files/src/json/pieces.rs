//! A file of values that do not stand on lines of their own, cut where values have ended.

use std::io::Read;
use std::path::{Path, PathBuf};

use types::{SqlError, SqlResult, SqlState};

use super::layout::Layout;
use crate::blocks::RECORD_MAX;
use crate::fault::{Fault, Origin, RecordPlace};
use crate::input::{self, Compression, Encoding, read_failed};

/// Whole values that follow each other, with what stands between them.
pub(super) struct Piece {
    pub(super) bytes: Vec<u8>,
    /// The line in which they begin, counted from 1.
    pub(super) line: u64,
    /// Whether they are the first of the file.
    pub(super) is_first: bool,
    /// Whether they are the last.
    pub(super) is_last: bool,
    /// Whether an array that is around all values is closed behind them, where they are the last.
    pub(super) is_closed: bool,
}

/// Where in a text one is.
#[derive(Clone, Copy, Default)]
struct Place {
    depth: usize,
    is_string: bool,
    is_escaped: bool,
}

/// What was found in bytes.
#[derive(Default)]
struct Scanned {
    /// The last place where they may be cut.
    cut: Option<usize>,
    /// Where the bracket stands that closes the array of all.
    closed: Option<usize>,
}

/// Cuts a file.
pub(super) struct Pieces {
    path: PathBuf,
    stream: Box<dyn Read + Send>,
    is_array: bool,
    size: usize,
    /// What was read and not given out.
    bytes: Vec<u8>,
    place: Place,
    line: u64,
    /// Whether the array of all is open.
    is_open: bool,
    /// Whether a piece was given out.
    is_begun: bool,
    is_ended: bool,
}

impl Pieces {
    /// Opens a file, to be cut into pieces of at least some bytes.
    pub(super) fn open(
        path: &Path,
        layout: Layout,
        compression: Option<Compression>,
        size: usize,
    ) -> SqlResult<Self> {
        let compression = compression.unwrap_or_else(|| Compression::of_name(path));
        let stream = input::begin(path, compression, Encoding::Utf8, 0)?.stream();
        Ok(Self {
            path: path.to_path_buf(),
            stream,
            is_array: layout == Layout::Array,
            size,
            bytes: Vec::new(),
            place: Place::default(),
            line: 1,
            is_open: layout != Layout::Array,
            is_begun: false,
            is_ended: false,
        })
    }

    /// The next values; `None` behind the last.
    pub(super) fn next(&mut self) -> SqlResult<Option<Piece>> {
        if self.is_ended {
            return Ok(None);
        }
        // Bytes up to here are known, and where they may be cut.
        let (mut known, mut cut) = (self.bytes.len(), None);
        loop {
            let is_more = self.read()?;
            if !self.is_open && !self.open_array(is_more)? {
                if is_more {
                    continue;
                }
                self.is_ended = true;
                return Ok(None);
            }
            let scanned = self.place.scan(&self.bytes, known, self.is_array);
            known = self.bytes.len();
            cut = scanned.cut.or(cut);
            if let Some(end) = scanned.closed {
                self.close_array(end)?;
                return Ok(Some(self.last()));
            }
            if !is_more {
                let is_closed = !self.is_array;
                return Ok(Some(Piece { is_closed, ..self.last() }));
            }
            if let Some(cut) = cut {
                let rest = self.bytes.split_off(cut);
                let bytes = std::mem::replace(&mut self.bytes, rest);
                return Ok(Some(self.piece(bytes, false)));
            }
            if self.bytes.len() > RECORD_MAX {
                let name = self.path.display();
                let message =
                    format!("a value of file {name} is over 256 MiB (line {})", self.line);
                return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message));
            }
        }
    }

    /// Reads on; whether there may be more.
    fn read(&mut self) -> SqlResult<bool> {
        let mut step = Read::take(&mut *self.stream, self.size as u64);
        let read = step.read_to_end(&mut self.bytes);
        let read = read.map_err(|error| read_failed(&self.path, &error))?;
        Ok(read == self.size)
    }

    /// Goes behind the bracket that opens the array of all; whether it was found.
    fn open_array(&mut self, is_more: bool) -> SqlResult<bool> {
        match self.bytes.iter().position(|it| !it.is_ascii_whitespace()) {
            Some(at) if self.bytes[at] == b'[' => {
                self.line += lines(&self.bytes[..at]);
                self.bytes.drain(..=at);
                self.is_open = true;
                Ok(true)
            }
            Some(at) => Err(self.wrong("an array of values is expected", at)),
            None if is_more => {
                self.line += lines(&self.bytes);
                self.bytes.clear();
                Ok(false)
            }
            None => Ok(false),
        }
    }

    /// Looks that nothing stands behind the bracket that closes the array of all.
    fn close_array(&mut self, end: usize) -> SqlResult<()> {
        loop {
            let rest = &self.bytes[end + 1..];
            if let Some(at) = rest.iter().position(|it| !it.is_ascii_whitespace()) {
                return Err(
                    self.wrong("something stands behind the array of all values", end + 1 + at)
                );
            }
            self.bytes.truncate(end + 1);
            if !self.read()? && self.bytes.len() == end + 1 {
                self.bytes.truncate(end);
                return Ok(());
            }
        }
    }

    fn last(&mut self) -> Piece {
        self.is_ended = true;
        let bytes = std::mem::take(&mut self.bytes);
        self.piece(bytes, true)
    }

    fn piece(&mut self, bytes: Vec<u8>, is_last: bool) -> Piece {
        let line = self.line;
        self.line += lines(&bytes);
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        Piece { bytes, line, is_first, is_last, is_closed: is_last }
    }

    fn wrong(&self, what: &str, at: usize) -> SqlError {
        let line = self.line + lines(&self.bytes[..at.min(self.bytes.len())]);
        let origin = Origin::Files(std::slice::from_ref(&self.path));
        let place = RecordPlace { origin, file: 0, line, text: "" };
        Fault::malformed(format!("malformed JSON: {what}")).at(place)
    }
}

pub(super) fn lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

impl Place {
    /// Looks through bytes from a place on.
    fn scan(&mut self, bytes: &[u8], from: usize, is_array: bool) -> Scanned {
        let (mut at, mut scanned) = (from, Scanned::default());
        while let Some(&byte) = bytes.get(at) {
            if self.is_string {
                if std::mem::take(&mut self.is_escaped) {
                    at += 1;
                    continue;
                }
                let Some(found) = memchr::memchr2(b'"', b'\\', &bytes[at..]) else { break };
                at += found + 1;
                self.is_escaped = bytes[at - 1] == b'\\';
                self.is_string = self.is_escaped;
                continue;
            }
            at += 1;
            match byte {
                b'"' => self.is_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' if self.depth > 0 => {
                    self.depth -= 1;
                    if self.depth == 0 && !is_array {
                        scanned.cut = Some(at);
                    }
                }
                b']' if is_array => {
                    scanned.closed = Some(at - 1);
                    return scanned;
                }
                b',' if is_array && self.depth == 0 => scanned.cut = Some(at),
                b' ' | b'\t' | b'\n' | b'\r' if !is_array && self.depth == 0 => {
                    scanned.cut = Some(at);
                }
                _ => {}
            }
        }
        scanned
    }
}
