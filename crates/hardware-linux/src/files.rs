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
    if number == 0 {
        remove_stale(folder);
    }
    let path = folder.join(format!("{NAME}{}-{number}{EXTENSION}", std::process::id()));
    let file = open(OpenOptions::new().create_new(true), &path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// How names of temporary files begin, where they have one for a moment; the process and a number follow.
const NAME: &str = "nodewise-";
/// How they end.
const EXTENSION: &str = ".tmp";

/// Removes files of processes that were killed in the moment in which a file has a name. What cannot be removed stays.
fn remove_stale(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name
            .to_str()
            .and_then(|it| it.strip_prefix(NAME)?.strip_suffix(EXTENSION)?.split_once('-'))
            .filter(|it| it.1.parse::<u64>().is_ok())
            .and_then(|it| it.0.parse::<u32>().ok());
        let is_gone = |it: u32| !Path::new("/proc").join(it.to_string()).exists();
        if process.is_some_and(is_gone) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
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
    fn files_of_killed_processes_go_and_no_others() {
        let folder = default_folder().join(format!("nodewise-stale-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        // No process has a number that large.
        let own = format!("nodewise-{}-3.tmp", std::process::id());
        let names = ["nodewise-4200000000-0.tmp", &own, "nodewise-4200000000-x.tmp", "other.tmp"];
        names.iter().for_each(|it| std::fs::write(folder.join(it), b"").unwrap());
        remove_stale(&folder);
        let left = |it: &&str| folder.join(it).exists();
        assert_eq!(names.iter().map(left).collect::<Vec<_>>(), [false, true, true, true]);
        std::fs::remove_dir_all(&folder).unwrap();
    }

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
