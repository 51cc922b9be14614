//! The lock of a folder, by `flock`. The kernel unlocks it however the program ends.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use stdx::sync::{Mutex, OnceLock, thread};

/// Which file a lock is: its device and its number there.
type FileId = (u64, u64);

/// The folders that this process has locked.
static OWN: OnceLock<Mutex<Vec<FileId>>> = OnceLock::new();

/// For how long a lock of this process is waited for. A database that its user has closed may be held a moment longer
/// by a worker that syncs for it.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(1);

/// A locked file; unlocked where it is dropped.
pub(crate) struct FolderLock {
    file: File,
    id: FileId,
}

/// Why there is no lock.
pub(crate) enum LockError {
    /// Another has it.
    Taken,
    Failed(io::Error),
}

fn own() -> &'static Mutex<Vec<FileId>> {
    OWN.get_or_init(Mutex::default)
}

impl FolderLock {
    /// Locks a file. Another process's lock is refused at once; one of this process may be about to go, and is waited for.
    pub(crate) fn new(file: File) -> Result<Self, LockError> {
        let id = id_of(&file.metadata().map_err(LockError::Failed)?);
        let begun = Instant::now();
        loop {
            // Looked at before the try: who goes unlocks first.
            let is_own = own().lock().contains(&id);
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if is_own && begun.elapsed() < PATIENCE => {
                    thread::sleep(PAUSE);
                }
                Err(TryLockError::WouldBlock) => return Err(LockError::Taken),
                Err(TryLockError::Error(error)) => return Err(LockError::Failed(error)),
            }
        }
        own().lock().push(id);
        Ok(Self { file, id })
    }

    /// Whether `path` is still the file that is locked: who removes a folder and makes it anew has a lock of its own.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|it| id_of(&it) == self.id)
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // What cannot be unlocked goes with the file.
        let _ = self.file.unlock();
        let mut locked = own().lock();
        if let Some(at) = locked.iter().position(|it| *it == self.id) {
            locked.swap_remove(at);
        }
    }
}

fn id_of(of: &std::fs::Metadata) -> FileId {
    (of.dev(), of.ino())
}
