//! Bytes into a file, compressed or not.

use std::fs::File;
use std::io::{self, BufWriter, IntoInnerError, Write};

use flate2::write::GzEncoder;

use crate::input::Compression;

/// A file that is written.
pub enum Output {
    /// As it is.
    Plain(BufWriter<File>),
    /// By gzip.
    Gzip(Box<GzEncoder<BufWriter<File>>>),
    /// By Zstandard.
    Zstd(Box<zstd::stream::write::Encoder<'static, BufWriter<File>>>),
}

impl Output {
    /// Begins a file.
    ///
    /// # Errors
    /// Those of the compression.
    pub fn new(file: File, compression: Compression) -> io::Result<Self> {
        let file = BufWriter::new(file);
        Ok(match compression {
            Compression::None => Self::Plain(file),
            Compression::Gzip => {
                Self::Gzip(Box::new(GzEncoder::new(file, flate2::Compression::default())))
            }
            Compression::Zstd => Self::Zstd(Box::new(zstd::stream::write::Encoder::new(file, 0)?)),
        })
    }

    /// Ends the file, which then lasts.
    ///
    /// # Errors
    /// Those of writing.
    pub fn finish(self) -> io::Result<()> {
        let file = match self {
            Self::Plain(it) => it,
            Self::Gzip(it) => it.finish()?,
            Self::Zstd(it) => it.finish()?,
        };
        file.into_inner().map_err(IntoInnerError::into_error)?.sync_all()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(it) => it.write(bytes),
            Self::Gzip(it) => it.write(bytes),
            Self::Zstd(it) => it.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(it) => it.flush(),
            Self::Gzip(it) => it.flush(),
            Self::Zstd(it) => it.flush(),
        }
    }
}
