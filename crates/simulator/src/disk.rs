//! The disk of the virtual machine: bytes in memory, so many at most, and writes that fail when they are told to.

use std::path::{Path, PathBuf};

use hardware::{FileError, TemporaryFile};
use stdx::sync::{Arc, Mutex};

use crate::lasting::{Lasting, Picture};

/// What is on the disk, and what goes wrong with it.
#[derive(Debug)]
pub(crate) struct Disk {
    /// Bytes that it has room for.
    pub(crate) room: u64,
    used: u64,
    files: u64,
    /// Reads and writes that still go well; all when not given.
    pub(crate) good: Option<u64>,
    /// Syncs that still go well; all when not given.
    pub(crate) good_syncs: Option<u64>,
    /// Files that outlive who holds them.
    pub(crate) lasting: Lasting,
    /// What they were before each change, where that is wanted.
    pub(crate) pictures: Option<Vec<Picture>>,
    /// The mark of the next picture.
    pub(crate) mark: u64,
}

impl Default for Disk {
    fn default() -> Self {
        let (room, lasting) = (u64::MAX, Lasting::default());
        let (good, good_syncs, pictures) = (None, None, None);
        Self { room, used: 0, files: 0, good, good_syncs, lasting, pictures, mark: 0 }
    }
}

impl Disk {
    /// Bytes and files that are on it.
    pub(crate) fn content(&self) -> (u64, u64) {
        (self.used, self.files)
    }

    fn access(&mut self, folder: &Path, what: &'static str) -> Result<(), FileError> {
        let (folder, message) = (folder.to_owned(), "the disk fails".to_owned());
        self.take_good().then_some(()).ok_or(FileError::Failed { folder, what, message })
    }

    /// Takes a picture, if pictures are wanted.
    pub(crate) fn take_picture(&mut self) {
        if let Some(pictures) = &mut self.pictures {
            pictures.push(Picture::new(self.mark, &self.lasting));
        }
    }

    /// Whether one more read or write goes well.
    pub(crate) fn take_good(&mut self) -> bool {
        take(&mut self.good)
    }

    /// Whether one more sync goes well.
    pub(crate) fn take_sync(&mut self) -> bool {
        take(&mut self.good_syncs)
    }

    /// Bytes of all files.
    pub(crate) fn used(&self) -> u64 {
        self.used + self.lasting.bytes()
    }
}

fn take(left: &mut Option<u64>) -> bool {
    let goes_well = *left != Some(0);
    *left = left.map(|it| it.saturating_sub(1));
    goes_well
}

/// A file on the disk.
struct Simulated {
    disk: Arc<Mutex<Disk>>,
    folder: PathBuf,
    bytes: Mutex<Vec<u8>>,
}

/// A new file on a disk.
pub(crate) fn create(
    disk: &Arc<Mutex<Disk>>,
    folder: &Path,
) -> Result<Box<dyn TemporaryFile>, FileError> {
    let mut locked = disk.lock();
    locked.access(folder, "create")?;
    locked.files += 1;
    let (folder, bytes) = (folder.to_owned(), Mutex::default());
    Ok(Box::new(Simulated { disk: disk.clone(), folder, bytes }))
}

impl TemporaryFile for Simulated {
    fn write_at(&self, place: u64, bytes: &[u8]) -> Result<(), FileError> {
        let (mut disk, mut content) = (self.disk.lock(), self.bytes.lock());
        disk.access(&self.folder, "write")?;
        let end = place as usize + bytes.len();
        let more = end.saturating_sub(content.len());
        if disk.used().saturating_add(more as u64) > disk.room {
            return Err(FileError::Full { folder: self.folder.clone() });
        }
        disk.used += more as u64;
        let len = content.len();
        content.resize(len + more, 0);
        content[place as usize..end].copy_from_slice(bytes);
        Ok(())
    }

    fn read_at(&self, place: u64, bytes: &mut [u8]) -> Result<(), FileError> {
        self.disk.lock().access(&self.folder, "read")?;
        let content = self.bytes.lock();
        let found = content.get(place as usize..place as usize + bytes.len());
        let found = found.ok_or_else(|| FileError::Failed {
            folder: self.folder.clone(),
            what: "read",
            message: "the file is shorter".to_owned(),
        })?;
        bytes.copy_from_slice(found);
        Ok(())
    }
}

impl Drop for Simulated {
    fn drop(&mut self) {
        let mut disk = self.disk.lock();
        disk.used -= self.bytes.lock().len() as u64;
        disk.files -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_fills_fails_and_forgets() {
        let disk = Arc::new(Mutex::new(Disk { room: 10, ..Disk::default() }));
        let folder = Path::new("/tmp");
        let file = create(&disk, folder).unwrap();
        file.write_at(2, &[1; 8]).unwrap();
        assert_eq!(disk.lock().content(), (10, 1));
        assert_eq!(file.write_at(9, &[1; 2]), Err(FileError::Full { folder: folder.to_owned() }));
        file.write_at(0, &[5; 3]).unwrap();
        let mut bytes = [0; 4];
        file.read_at(0, &mut bytes).unwrap();
        assert_eq!(bytes, [5, 5, 5, 1]);
        disk.lock().good = Some(1);
        assert!(file.read_at(0, &mut bytes).is_ok() && file.read_at(0, &mut bytes).is_err());
        drop(file);
        assert_eq!(disk.lock().content(), (0, 0));
    }
}
