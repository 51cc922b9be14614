//! Files into which a statement writes what it has no memory for.

use hardware::{FileError, TemporaryFile};
use stdx::sync::Arc;
use stdx::sync::atomic::{AtomicU64, Ordering};

use crate::Workspace;
use crate::counting::{Held, Mapping};

/// A temporary file that is written from front to back, by any number of threads. It is gone when it is dropped.
pub struct SpillFile {
    file: Box<dyn TemporaryFile>,
    end: AtomicU64,
    /// Bytes that were written without an error.
    written: AtomicU64,
    held: Arc<Held>,
}

impl Workspace {
    /// A new file for what its statement has no memory for. `None` for a workspace without a machine.
    pub fn spill_file(&self) -> Option<Result<SpillFile, FileError>> {
        let (memory, _) = self.spread().place()?;
        let folder = memory.temporary_folder.read().clone();
        // What the machine needs for itself is not the statement's.
        let _mapping = Mapping::begin();
        let file = memory.machine().temporary_file(folder.as_deref());
        let [end, written] = [0, 0].map(AtomicU64::new);
        let held = self.held().clone();
        Some(file.map(|file| SpillFile { file, end, written, held }))
    }
}

impl SpillFile {
    /// Appends bytes; tells where they begin.
    pub fn append(&self, bytes: &[u8]) -> Result<u64, FileError> {
        let place = self.end.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let _mapping = Mapping::begin();
        self.file.write_at(place, bytes)?;
        self.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.held.count_file(bytes.len() as i64);
        Ok(place)
    }

    /// Reads so many bytes from a place.
    pub fn read(&self, place: u64, bytes: &mut [u8]) -> Result<(), FileError> {
        self.file.read_at(place, bytes)
    }
}

impl Drop for SpillFile {
    fn drop(&mut self) {
        self.held.count_file(-(self.written.load(Ordering::Relaxed) as i64));
    }
}
