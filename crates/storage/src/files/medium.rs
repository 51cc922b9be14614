//! Where the bytes of a file go to and come from.

use memory::MappedFile;
use stdx::sync::Arc;
use types::{SqlError, SqlResult, SqlState};

/// A file that is written. Bytes that nobody puts are zero.
pub trait Sink {
    /// Writes some bytes at an offset, in bytes from the start of the file. Offsets ascend, except for the head of the
    /// file, which is put last.
    fn put(&mut self, offset: u64, bytes: &[u8]) -> SqlResult<()>;
}

/// A file that is read, by several workers at once.
pub trait Source: Sync {
    /// What errors call it.
    fn name(&self) -> String;
    /// Its length in bytes.
    fn bytes(&self) -> u64;
    /// Reads the bytes at an offset; an error when there are not as many.
    fn get(&self, offset: u64, into: &mut [u8]) -> SqlResult<()>;
    /// The file in memory, whose bytes then are what would have been read of it; `None` where they shall be read.
    fn mapped(&self) -> Option<&Arc<MappedFile>> {
        None
    }
}

impl Sink for Vec<u8> {
    fn put(&mut self, offset: u64, bytes: &[u8]) -> SqlResult<()> {
        let start = offset as usize;
        let end = start + bytes.len();
        if self.len() < end {
            self.resize(end, 0);
        }
        self[start..end].copy_from_slice(bytes);
        Ok(())
    }
}

impl Source for Vec<u8> {
    fn name(&self) -> String {
        "a file in memory".into()
    }

    fn bytes(&self) -> u64 {
        self.len() as u64
    }

    fn get(&self, offset: u64, into: &mut [u8]) -> SqlResult<()> {
        let rest = usize::try_from(offset).ok().and_then(|it| self.as_slice().get(it..));
        let bytes = rest.and_then(|it| it.get(..into.len()));
        into.copy_from_slice(bytes.ok_or_else(|| damaged("it ends too early"))?);
        Ok(())
    }
}

/// What is wrong with the bytes of a file.
pub(super) fn damaged(what: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::DATA_CORRUPTED, what)
}

/// The result of reading a file, its damage told with the name of the file.
pub(super) fn in_file<T>(source: &dyn Source, result: SqlResult<T>) -> SqlResult<T> {
    result.map_err(|error| match error.state {
        SqlState::DATA_CORRUPTED if error.hint.is_none() => {
            let message = format!("{} is damaged: {}", source.name(), error.message);
            SqlError::new(error.state, message).with_hint("restore it from a copy")
        }
        _ => error,
    })
}
