//! The bytes of files: plain ones by places, compressed ones as streams.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

use stdx::sync::Arc;
use types::{SqlError, SqlResult, SqlState};

/// How a file is compressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compression {
    /// Not at all.
    None,
    /// By gzip.
    Gzip,
    /// By Zstandard.
    Zstd,
}

impl Compression {
    /// What the end of a name says.
    pub fn of_name(path: &Path) -> Self {
        let ends = |it: &str| path.extension().is_some_and(|end| end.eq_ignore_ascii_case(it));
        if ends("gz") {
            Self::Gzip
        } else if ends("zst") {
            Self::Zstd
        } else {
            Self::None
        }
    }
}

/// What the bytes of a file mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Encoding {
    /// UTF-8.
    #[default]
    Utf8,
    /// ISO 8859-1: each byte is the character of its number.
    Latin1,
}

/// An open file.
pub(crate) enum Input {
    /// Bytes that can be read at any place.
    Plain { file: Arc<File>, size: u64 },
    /// Bytes that come one after the other.
    Stream(Box<dyn Read + Send>),
}

/// The most bytes that lie before the first record: lines that are skipped.
const SKIPPED_MAX: u64 = 1 << 30;
const STEP: usize = 1 << 16;

/// A file from its first record on.
pub(crate) struct Begun {
    pub(crate) input: Input,
    /// Where the first record begins, in a plain file.
    pub(crate) offset: u64,
    /// Lines before it.
    pub(crate) lines: u64,
    /// What ends a line.
    pub(crate) line_end: u8,
    /// Whether a carriage return stands before the end of the first line.
    pub(crate) returns: bool,
}

/// Opens a file, behind its byte order mark and so many lines.
pub(crate) fn begin(
    path: &Path,
    compression: Compression,
    encoding: Encoding,
    skip: u64,
) -> SqlResult<Begun> {
    let file = storage::regular::open(path)?;
    let failed = |error: io::Error| read_failed(path, &error);
    let size = file.metadata().map_err(failed)?.len();
    // Files of the kernel have no size, and can be read all the same.
    let is_plain = compression == Compression::None && encoding == Encoding::Utf8 && size > 0;
    let shared = Arc::new(file);
    let mut stream: Box<dyn Read + Send> = match compression {
        Compression::None => Box::new(At { file: shared.clone(), at: 0 }),
        Compression::Gzip => {
            Box::new(flate2::read::MultiGzDecoder::new(At { file: shared.clone(), at: 0 }))
        }
        Compression::Zstd => {
            let read = At { file: shared.clone(), at: 0 };
            Box::new(zstd::stream::read::Decoder::new(read).map_err(failed)?)
        }
    };
    if encoding == Encoding::Latin1 {
        stream = Box::new(Latin1 { inner: stream, left: Vec::new() });
    }
    let mut head = Head { stream: &mut *stream, bytes: Vec::new() };
    head.more().map_err(failed)?;
    let mut start = 0;
    match head.bytes.as_slice() {
        [0xef, 0xbb, 0xbf, ..] => start = 3,
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            let message = format!("file {} is written in UTF-16", path.display());
            return Err(SqlError::unsupported(message).with_hint("convert it to UTF-8"));
        }
        _ => {}
    }
    let mut lines = 0;
    let (mut line_end, mut returns) = head.line_end(start).map_err(failed)?;
    while lines < skip {
        match memchr::memchr(line_end, &head.bytes[start..]) {
            Some(found) => {
                start += found + 1;
                lines += 1;
            }
            None if head.bytes.len() as u64 > SKIPPED_MAX => {
                let message = format!("file {}: {skip} lines are over 1 GiB", path.display());
                return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message));
            }
            None => {
                if !head.more().map_err(failed)? {
                    start = head.bytes.len();
                    break;
                }
            }
        }
    }
    if skip > 0 {
        (line_end, returns) = head.line_end(start).map_err(failed)?;
    }
    let mut bytes = head.bytes;
    let input = match is_plain {
        true => Input::Plain { file: shared, size },
        false => {
            bytes.drain(..start);
            Input::Stream(Box::new(Cursor::new(bytes).chain(stream)))
        }
    };
    Ok(Begun { input, offset: start as u64, lines, line_end, returns })
}

impl Begun {
    /// The bytes from the first record on.
    pub(crate) fn stream(self) -> Box<dyn Read + Send> {
        match self.input {
            Input::Plain { file, .. } => Box::new(At { file, at: self.offset }),
            Input::Stream(stream) => stream,
        }
    }

    /// The bytes from the first record on, at most so many; and whether those are all.
    pub(crate) fn sample(self, path: &Path, most: u64) -> SqlResult<(Vec<u8>, bool)> {
        let mut bytes = Vec::new();
        let read = Read::take(self.stream(), most).read_to_end(&mut bytes);
        let read = read.map_err(|error| read_failed(path, &error))?;
        Ok((bytes, (read as u64) < most))
    }
}

/// The first bytes of a file.
struct Head<'a> {
    stream: &'a mut dyn Read,
    bytes: Vec<u8>,
}

impl Head<'_> {
    /// Reads on; whether there was more.
    fn more(&mut self) -> io::Result<bool> {
        let before = self.bytes.len();
        let mut step = Read::take(&mut *self.stream, STEP as u64);
        step.read_to_end(&mut self.bytes)?;
        Ok(self.bytes.len() > before)
    }

    /// What ends the first line from a place on: a line feed, or a carriage return where none follows it; and whether a carriage
    /// return stands before it.
    fn line_end(&mut self, start: usize) -> io::Result<(u8, bool)> {
        loop {
            let rest = self.bytes.get(start..).unwrap_or_default();
            match memchr::memchr2(b'\n', b'\r', rest) {
                Some(at) if rest[at] == b'\n' => return Ok((b'\n', false)),
                Some(at) if at + 1 < rest.len() => {
                    let follows = rest[at + 1] == b'\n';
                    return Ok((if follows { b'\n' } else { b'\r' }, follows));
                }
                found => {
                    // The first line of a file is seldom longer than what was read.
                    if rest.len() > 16 * STEP || !self.more()? {
                        return Ok((if found.is_some() { b'\r' } else { b'\n' }, false));
                    }
                }
            }
        }
    }
}

/// A file that is read at a place of its own.
struct At {
    file: Arc<File>,
    at: u64,
}

impl Read for At {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = std::os::unix::fs::FileExt::read_at(&*self.file, buffer, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// ISO 8859-1 as UTF-8.
struct Latin1<R> {
    inner: R,
    left: Vec<u8>,
}

impl<R: Read> Read for Latin1<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left.is_empty() {
            let mut bytes = vec![0; STEP];
            let count = self.inner.read(&mut bytes)?;
            let text: String = bytes[..count].iter().map(|it| char::from(*it)).collect();
            self.left = text.into_bytes();
        }
        let count = self.left.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.left[..count]);
        self.left.drain(..count);
        Ok(count)
    }
}

/// Why a file cannot be read: what the system says, or bytes that are not compressed as they should be.
pub(crate) fn read_failed(path: &Path, error: &io::Error) -> SqlError {
    let message = format!("could not read file {}: {error}", path.display());
    match error.raw_os_error() {
        Some(_) => SqlError::new(SqlState::IO_ERROR, message),
        None => SqlError::new(SqlState::DATA_CORRUPTED, message),
    }
}
