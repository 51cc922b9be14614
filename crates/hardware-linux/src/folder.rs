//! Folders of files that last: files of the OS, a lock by `flock`, names made to last by syncing the folder.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use hardware::{FileMapping, Folder, FolderError, LastingFile};
use stdx::sync::Arc;

use crate::folder_lock::{FolderLock, LockError};
use crate::{file_mappings, kernel};

/// The file that is locked.
const LOCK: &str = "lock";

struct LinuxFolder {
    path: PathBuf,
    /// Whether it may be changed.
    is_writable: bool,
    /// None in a folder that nobody has opened as a database.
    lock: Option<FolderLock>,
}

struct LinuxFile {
    path: PathBuf,
    file: File,
}

/// Opens a folder, makes it if it is not there, and locks it.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Folder>, FolderError> {
    if !path.is_dir() {
        std::fs::create_dir_all(path).map_err(|it| failed(path, "create", &it))?;
        let whole = path.canonicalize().map_err(|it| failed(path, "open", &it))?;
        // Its name shall last like what is in it.
        if let Some(parent) = whole.parent() {
            sync_folder(parent)?;
        }
    }
    let file = path.join(LOCK);
    let opened =
        OpenOptions::new().create(true).write(true).truncate(false).mode(0o600).open(&file);
    let lock = locked(path, opened.map_err(|it| failed(&file, "open", &it))?)?;
    Ok(Box::new(LinuxFolder { path: path.to_owned(), is_writable: true, lock: Some(lock) }))
}

/// Opens a folder that is there to be read, and locks it if it was ever locked.
pub(crate) fn inspect(path: &Path) -> Result<Box<dyn Folder>, FolderError> {
    // What is no folder tells why by being listed.
    std::fs::read_dir(path).map_err(|it| failed(path, "open", &it))?;
    let file = path.join(LOCK);
    let lock = match File::open(&file) {
        Ok(it) => Some(locked(path, it)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(&file, "open", &error)),
    };
    Ok(Box::new(LinuxFolder { path: path.to_owned(), is_writable: false, lock }))
}

/// Removes a folder in which nothing is left but the lock.
pub(crate) fn remove(path: &Path) -> Result<(), FolderError> {
    let removed = std::fs::remove_file(path.join(LOCK)).and_then(|()| std::fs::remove_dir(path));
    removed.map_err(|it| failed(path, "remove", &it))
}

fn locked(path: &Path, lock: File) -> Result<FolderLock, FolderError> {
    FolderLock::new(lock).map_err(|it| match it {
        LockError::Taken => FolderError::Locked { path: path.to_owned() },
        LockError::Failed(error) => failed(&path.join(LOCK), "lock", &error),
    })
}

fn sync_folder(path: &Path) -> Result<(), FolderError> {
    let synced = File::open(path).and_then(|it| it.sync_all());
    synced.map_err(|it| failed(path, "sync", &it))
}

fn failed(path: &Path, what: &'static str, error: &io::Error) -> FolderError {
    let path = path.to_owned();
    match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT) => FolderError::Full { path },
        _ => FolderError::Failed { path, what, message: error.to_string() },
    }
}

impl LinuxFolder {
    /// Refuses what would change a folder that was opened to be read, or another one that has come in the place of this: a lock
    /// goes with its file, so whoever removes a folder and makes it anew has a lock of its own, and names of ours among
    /// its files would damage it.
    fn check_writable(&self, path: &Path, what: &'static str) -> Result<(), FolderError> {
        let refused = |message: &str| {
            let (path, message) = (path.to_owned(), message.to_owned());
            Err(FolderError::Failed { path, what, message })
        };
        let Some(lock) = self.lock.as_ref().filter(|_| self.is_writable) else {
            return refused("the folder is open to be read");
        };
        match lock.is_at(&self.path.join(LOCK)) {
            true => Ok(()),
            false => refused("the folder was removed or replaced while it was open"),
        }
    }

    fn file(
        &self,
        name: &str,
        what: &'static str,
        options: &mut OpenOptions,
    ) -> Result<Arc<dyn LastingFile>, FolderError> {
        let path = self.path.join(name);
        let opened = options.read(true).write(self.is_writable).mode(0o600).open(&path);
        let file = opened.map_err(|it| failed(&path, what, &it))?;
        Ok(Arc::new(LinuxFile { path, file }))
    }
}

impl Folder for LinuxFolder {
    fn path(&self) -> &Path {
        &self.path
    }

    fn list(&self) -> Result<Vec<String>, FolderError> {
        let refused = |it: io::Error| failed(&self.path, "list", &it);
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.path).map_err(refused)? {
            let name = entry.map_err(refused)?.file_name();
            // Names of ours are ASCII; others are not ours.
            names.extend(name.into_string().ok().filter(|it| it != LOCK));
        }
        names.sort_unstable();
        Ok(names)
    }

    fn create(&self, name: &str) -> Result<Arc<dyn LastingFile>, FolderError> {
        self.check_writable(&self.path.join(name), "create")?;
        self.file(name, "create", OpenOptions::new().create(true).truncate(true))
    }

    fn open(&self, name: &str) -> Result<Arc<dyn LastingFile>, FolderError> {
        self.file(name, "open", &mut OpenOptions::new())
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), FolderError> {
        let path = self.path.join(from);
        self.check_writable(&path, "rename")?;
        let renamed = std::fs::rename(&path, self.path.join(to));
        renamed.map_err(|it| failed(&path, "rename", &it))
    }

    fn remove(&self, name: &str) -> Result<(), FolderError> {
        let path = self.path.join(name);
        self.check_writable(&path, "remove")?;
        std::fs::remove_file(&path).map_err(|it| failed(&path, "remove", &it))
    }

    fn sync(&self) -> Result<(), FolderError> {
        sync_folder(&self.path)
    }
}

impl LinuxFile {
    fn told<T>(&self, what: &'static str, done: io::Result<T>) -> Result<T, FolderError> {
        done.map_err(|it| failed(&self.path, what, &it))
    }
}

impl LastingFile for LinuxFile {
    fn length(&self) -> Result<u64, FolderError> {
        self.told("measure", self.file.metadata()).map(|it| it.len())
    }

    fn read_at(&self, place: u64, bytes: &mut [u8]) -> Result<(), FolderError> {
        self.told("read", self.file.read_exact_at(bytes, place))
    }

    fn write_at(&self, place: u64, bytes: &[u8]) -> Result<(), FolderError> {
        self.told("write", self.file.write_all_at(bytes, place))
    }

    fn truncate(&self, length: u64) -> Result<(), FolderError> {
        self.told("cut", self.file.set_len(length))
    }

    fn sync(&self) -> Result<(), FolderError> {
        // fdatasync: a length that changed goes with it, times do not.
        self.told("sync", self.file.sync_data())
    }

    fn drop_cache(&self) {
        kernel::drop_cache(&self.file);
    }

    fn map(&self) -> Result<Arc<dyn FileMapping>, FolderError> {
        let mapped = file_mappings::map(&self.file);
        Ok(Arc::new(self.told("map", mapped)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_inspected_stays_as_it_is() {
        let path = std::env::temp_dir().join(format!("nodewise-inspected-{}", std::process::id()));
        assert!(matches!(inspect(&path), Err(FolderError::Failed { what: "open", .. })));
        assert!(!path.exists());
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("a"), b"abc").unwrap();
        let folder = inspect(&path).unwrap();
        assert_eq!(folder.list().unwrap(), ["a"]);
        assert!(folder.create("b").is_err() && folder.remove("a").is_err());
        assert!(folder.rename("a", "b").is_err());
        let file = folder.open("a").unwrap();
        assert!(file.write_at(0, b"x").is_err() && file.truncate(1).is_err());
        assert_eq!(std::fs::read_dir(&path).unwrap().count(), 1, "no lock was made");
        let owner = open(&path).unwrap();
        assert!(matches!(inspect(&path), Err(FolderError::Locked { .. })));
        drop(owner);
        let folder = inspect(&path).unwrap();
        assert!(matches!(open(&path), Err(FolderError::Locked { .. })));
        drop(folder);
        std::fs::remove_dir_all(&path).unwrap();
    }

    #[test]
    fn a_folder_that_was_replaced_is_left_alone() {
        let path = std::env::temp_dir().join(format!("nodewise-replaced-{}", std::process::id()));
        let first = open(&path).unwrap();
        first.create("a").unwrap();
        std::fs::remove_dir_all(&path).unwrap();
        assert!(first.create("b").is_err(), "it was removed");
        let second = open(&path).unwrap();
        second.create("log").unwrap();
        let refused =
            [first.create("b").map(|_| ()), first.rename("log", "b"), first.remove("log")];
        for refused in refused {
            let message = refused.unwrap_err().to_string();
            assert!(message.contains("removed or replaced"), "{message}");
        }
        assert_eq!(second.list().unwrap(), ["log"]);
        drop((first, second));
        std::fs::remove_dir_all(&path).unwrap();
    }

    #[test]
    fn who_opens_what_is_being_closed_waits_for_it() {
        let path = std::env::temp_dir().join(format!("nodewise-closing-{}", std::process::id()));
        let folder = open(&path).unwrap();
        let closing = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(50));
            drop(folder);
        });
        drop(open(&path).unwrap());
        closing.join().unwrap();
        std::fs::remove_dir_all(&path).unwrap();
    }

    #[test]
    fn a_folder_is_one_process_s_and_keeps_its_files() {
        let path = std::env::temp_dir().join(format!("nodewise-folder-{}", std::process::id()));
        let folder = open(&path).unwrap();
        assert!(matches!(open(&path), Err(FolderError::Locked { .. })));
        let file = folder.create("a").unwrap();
        file.write_at(3, &[1, 2]).unwrap();
        file.sync().unwrap();
        assert!(file.read_at(4, &mut [0; 2]).is_err(), "past the end");
        folder.rename("a", "b").unwrap();
        folder.sync().unwrap();
        drop(folder);
        let folder = open(&path).unwrap();
        assert_eq!(folder.list().unwrap(), ["b"]);
        let file = folder.open("b").unwrap();
        file.truncate(4).unwrap();
        let mut bytes = [9; 4];
        file.read_at(0, &mut bytes).unwrap();
        assert_eq!((bytes, file.length().unwrap()), ([0, 0, 0, 1], 4));
        folder.remove("b").unwrap();
        assert!(folder.open("b").is_err());
        drop(folder);
        remove(&path).unwrap();
        assert!(!path.exists());
        let refused = open(Path::new("/proc/nobody/may")).err().unwrap();
        assert!(matches!(refused, FolderError::Failed { what: "create", .. }), "{refused}");
        let full = failed(&path, "write", &io::Error::from_raw_os_error(libc::ENOSPC));
        assert_eq!(full, FolderError::Full { path });
    }
}
