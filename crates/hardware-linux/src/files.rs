//! Temporary files: without a name from the start, where the file system can do that, else named for a moment.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use hardware::{FileError, TemporaryFile};
use stdx::sync::atomic::{AtomicU64, Ordering};

/// A file without a name.
struct Unnamed {
    file: File,
    folder: PathBuf,
}

/// The folder of temporary files when nobody names another.
pub(crate) fn default_folder() -> PathBuf {
    std::env::temp_dir()
}

/// A new temporary file in a folder, which is made if it is not there.
pub(crate) fn create(folder: &Path) -> Result<Box<dyn TemporaryFile>, FileError> {
    let made = std::fs::create_dir_all(folder).and_then(|()| unnamed(folder));
    let file = made.map_err(|error| told(folder, "create", &error))?;
    Ok(Box::new(Unnamed { file, folder: folder.to_owned() }))
}

fn unnamed(folder: &Path) -> io::Result<File> {
    let open = |options: &mut OpenOptions, path: &Path| {
        options.read(true).write(true).mode(0o600).open(path)
    };
    let without_name = open(OpenOptions::new().custom_flags(libc::O_TMPFILE), folder);
    match without_name.as_ref().map_err(|it| it.raw_os_error()) {
        // File systems and kernels that cannot do that.
        Err(Some(libc::EOPNOTSUPP | libc::EISDIR | libc::ENOENT | libc::EINVAL)) => {}
        _ => return without_name,
    }
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = folder.join(format!("nodewise-{}-{number}.tmp", std::process::id()));
    let file = open(OpenOptions::new().create_new(true), &path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

fn told(folder: &Path, what: &'static str, error: &io::Error) -> FileError {
    let folder = folder.to_owned();
    match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT) => FileError::Full { folder },
        _ => FileError::Failed { folder, what, message: error.to_string() },
    }
}

impl TemporaryFile for Unnamed {
    fn write_at(&self, place: u64, bytes: &[u8]) -> Result<(), FileError> {
        let written = self.file.write_all_at(bytes, place);
        written.map_err(|error| told(&self.folder, "write", &error))
    }

    fn read_at(&self, place: u64, bytes: &mut [u8]) -> Result<(), FileError> {
        let read = self.file.read_exact_at(bytes, place);
        read.map_err(|error| told(&self.folder, "read", &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_leaves_nothing_behind() {
        let folder = default_folder().join(format!("nodewise-files-{}", std::process::id()));
        let file = create(&folder).unwrap();
        file.write_at(4, &[1, 2, 3]).unwrap();
        let mut bytes = [9; 7];
        file.read_at(0, &mut bytes).unwrap();
        assert_eq!(bytes, [0, 0, 0, 0, 1, 2, 3]);
        assert!(file.read_at(1, &mut bytes).is_err(), "past the end");
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "while it is used");
        std::fs::remove_dir(&folder).unwrap();
        let error = create(Path::new("/proc/nobody/may")).err().unwrap();
        assert!(error.to_string().contains("cannot create"), "{error}");
        let full = told(&folder, "write", &io::Error::from_raw_os_error(libc::ENOSPC));
        assert_eq!(full, FileError::Full { folder });
    }
}
