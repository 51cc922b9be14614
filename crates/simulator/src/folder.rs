//! Folders of the virtual machine, and images of its disk: what a crash leaves, with which another machine starts.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

use hardware::{FileMapping, Folder, FolderError, LastingFile, Mapping, NodeId};
use stdx::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use stdx::sync::{Arc, Mutex};

use crate::disk::Disk;
use crate::pages::PageTable;

/// The disk, and the pages that files are mapped to.
type Parts<'a> = (&'a Arc<Mutex<Disk>>, &'a Arc<Mutex<PageTable>>);

struct SimulatedFolder {
    disk: Arc<Mutex<Disk>>,
    pages: Arc<Mutex<PageTable>>,
    path: PathBuf,
}

struct SimulatedFile {
    disk: Arc<Mutex<Disk>>,
    pages: Arc<Mutex<PageTable>>,
    path: PathBuf,
    file: u64,
}

/// A file in memory: a copy, as nobody changes a file that is mapped.
struct SimulatedMapping {
    pages: Arc<Mutex<PageTable>>,
    base: AtomicPtr<u8>,
    bytes: usize,
    length: usize,
    failed: Arc<AtomicBool>,
}

pub(crate) fn open((disk, pages): Parts<'_>, path: &Path) -> Result<Box<dyn Folder>, FolderError> {
    match disk.lock().lasting.lock(path) {
        true => {
            let (disk, pages) = (disk.clone(), pages.clone());
            Ok(Box::new(SimulatedFolder { disk, pages, path: path.to_owned() }))
        }
        false => Err(FolderError::Locked { path: path.to_owned() }),
    }
}

/// A folder that is there. Who opens it to read it is believed.
pub(crate) fn inspect(parts: Parts<'_>, path: &Path) -> Result<Box<dyn Folder>, FolderError> {
    match parts.0.lock().lasting.has(path) {
        true => {}
        false => return Err(failed(path, "open", "there is no such folder")),
    }
    open(parts, path)
}

fn failed(path: &Path, what: &'static str, message: &str) -> FolderError {
    FolderError::Failed { path: path.to_owned(), what, message: message.to_owned() }
}

/// Counts an access, which may be the one that fails.
fn access(disk: &mut Disk, path: &Path, what: &'static str) -> Result<(), FolderError> {
    match disk.take_good() {
        true => Ok(()),
        false => Err(failed(path, what, "the disk fails")),
    }
}

/// Counts an access that changes what lasts, likewise.
fn change(disk: &mut Disk, path: &Path, what: &'static str) -> Result<(), FolderError> {
    disk.take_picture();
    access(disk, path, what)
}

/// Counts a sync, likewise.
fn sync_access(disk: &mut Disk, path: &Path) -> Result<(), FolderError> {
    change(disk, path, "sync")?;
    match disk.take_sync() {
        true => Ok(()),
        false => Err(failed(path, "sync", "the disk fails to sync")),
    }
}

impl SimulatedFolder {
    fn existing(
        &self,
        disk: &mut Disk,
        name: &str,
        what: &'static str,
    ) -> Result<u64, FolderError> {
        let path = self.path.join(name);
        access(disk, &path, what)?;
        let found = disk.lasting.find(&self.path, name);
        found.ok_or_else(|| failed(&path, what, "there is no such file"))
    }

    fn handle(&self, name: &str, file: u64) -> Arc<dyn LastingFile> {
        let (disk, pages, path) = (self.disk.clone(), self.pages.clone(), self.path.join(name));
        Arc::new(SimulatedFile { disk, pages, path, file })
    }
}

impl Folder for SimulatedFolder {
    fn path(&self) -> &Path {
        &self.path
    }

    fn list(&self) -> Result<Vec<String>, FolderError> {
        let mut disk = self.disk.lock();
        access(&mut disk, &self.path, "list")?;
        Ok(disk.lasting.list(&self.path))
    }

    fn create(&self, name: &str) -> Result<Arc<dyn LastingFile>, FolderError> {
        let mut disk = self.disk.lock();
        change(&mut disk, &self.path.join(name), "create")?;
        let file = disk.lasting.create(&self.path, name);
        Ok(self.handle(name, file))
    }

    fn open(&self, name: &str) -> Result<Arc<dyn LastingFile>, FolderError> {
        let file = self.existing(&mut self.disk.lock(), name, "open")?;
        Ok(self.handle(name, file))
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), FolderError> {
        let mut disk = self.disk.lock();
        disk.take_picture();
        self.existing(&mut disk, from, "rename")?;
        disk.lasting.rename(&self.path, from, to);
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<(), FolderError> {
        let mut disk = self.disk.lock();
        disk.take_picture();
        self.existing(&mut disk, name, "remove")?;
        disk.lasting.remove(&self.path, name);
        Ok(())
    }

    fn sync(&self) -> Result<(), FolderError> {
        let mut disk = self.disk.lock();
        sync_access(&mut disk, &self.path)?;
        disk.lasting.sync_names(&self.path);
        Ok(())
    }
}

impl Drop for SimulatedFolder {
    fn drop(&mut self) {
        self.disk.lock().lasting.unlock(&self.path);
    }
}

impl SimulatedFile {
    /// Room for a file that shall be so long.
    fn check_room(&self, disk: &mut Disk, length: u64) -> Result<(), FolderError> {
        let now = disk.lasting.content(self.file).now.len() as u64;
        let more = length.saturating_sub(now);
        match disk.used().saturating_add(more) > disk.room {
            true => Err(FolderError::Full { path: self.path.clone() }),
            false => Ok(()),
        }
    }
}

impl LastingFile for SimulatedFile {
    fn length(&self) -> Result<u64, FolderError> {
        let mut disk = self.disk.lock();
        access(&mut disk, &self.path, "measure")?;
        Ok(disk.lasting.content(self.file).now.len() as u64)
    }

    fn read_at(&self, place: u64, bytes: &mut [u8]) -> Result<(), FolderError> {
        let mut disk = self.disk.lock();
        access(&mut disk, &self.path, "read")?;
        let end = place as usize + bytes.len();
        let found = disk.lasting.content(self.file).now.get(place as usize..end);
        let found = found.ok_or_else(|| failed(&self.path, "read", "the file is shorter"))?;
        bytes.copy_from_slice(found);
        Ok(())
    }

    fn write_at(&self, place: u64, bytes: &[u8]) -> Result<(), FolderError> {
        let mut disk = self.disk.lock();
        change(&mut disk, &self.path, "write")?;
        self.check_room(&mut disk, place + bytes.len() as u64)?;
        disk.lasting.content(self.file).write(place, bytes);
        Ok(())
    }

    fn truncate(&self, length: u64) -> Result<(), FolderError> {
        let mut disk = self.disk.lock();
        change(&mut disk, &self.path, "cut")?;
        self.check_room(&mut disk, length)?;
        disk.lasting.content(self.file).set_length(length);
        Ok(())
    }

    fn sync(&self) -> Result<(), FolderError> {
        let mut disk = self.disk.lock();
        let access = sync_access(&mut disk, &self.path);
        let content = disk.lasting.content(self.file);
        match &access {
            Ok(()) => content.sync(),
            Err(_) => content.fail_sync(),
        }
        access
    }

    fn map(&self) -> Result<Arc<dyn FileMapping>, FolderError> {
        let mut disk = self.disk.lock();
        access(&mut disk, &self.path, "map")?;
        let bytes = &disk.lasting.content(self.file).now;
        let mapped = self.pages.lock().map_copy(bytes);
        let Mapping { base, bytes: length } =
            mapped.map_err(|it| failed(&self.path, "map", &it.to_string()))?;
        let (pages, base, bytes) = (self.pages.clone(), AtomicPtr::new(base.as_ptr()), bytes.len());
        Ok(Arc::new(SimulatedMapping { pages, base, bytes, length, failed: Arc::default() }))
    }
}

impl FileMapping for SimulatedMapping {
    fn base(&self) -> NonNull<u8> {
        let base = NonNull::new(self.base.load(Ordering::Relaxed));
        base.expect("invariant: the address of a mapping")
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn failed(&self) -> &Arc<AtomicBool> {
        &self.failed
    }

    fn touched(&self, bytes: Range<usize>, node: NodeId) {
        self.pages.lock().touch(self.base(), bytes, node);
    }
}

impl Drop for SimulatedMapping {
    fn drop(&mut self) {
        self.pages.lock().unmap(Mapping { base: self.base(), bytes: self.length });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(file: &Arc<dyn LastingFile>) -> Vec<u8> {
        let mut bytes = vec![0; file.length().unwrap() as usize];
        file.read_at(0, &mut bytes).unwrap();
        bytes
    }

    fn open(disk: &Arc<Mutex<Disk>>, path: &Path) -> Result<Box<dyn Folder>, FolderError> {
        let topology = hardware::samples::by_name("laptop").unwrap();
        super::open((disk, &Arc::new(Mutex::new(PageTable::new(&topology)))), path)
    }

    #[test]
    fn a_mapping_is_what_the_file_was_and_lies_where_it_was_touched() {
        let topology = hardware::samples::by_name("four_sockets").unwrap();
        let disk = Arc::new(Mutex::new(Disk::default()));
        let pages = Arc::new(Mutex::new(PageTable::new(&topology)));
        let folder = super::open((&disk, &pages), Path::new("/d")).unwrap();
        let file = folder.create("a").unwrap();
        file.write_at(0, &[7; 3 * 4096 + 5]).unwrap();
        let mapping = file.map().unwrap();
        folder.remove("a").unwrap();
        assert_eq!(mapping.bytes(), 3 * 4096 + 5);
        mapping.touched(4096..2 * 4096 + 1, NodeId(1));
        let nodes = pages.lock().locate(mapping.base(), 4).unwrap();
        assert_eq!(nodes, [0, 1, 1, 0].map(|it| Some(NodeId(it))));
        assert!(!mapping.failed().load(Ordering::Relaxed));
        drop(mapping);
        assert_eq!(pages.lock().resident().1, 0);
        disk.lock().good = Some(0);
        assert!(file.map().is_err());
    }

    fn after(disk: &Arc<Mutex<Disk>>, seed: u64) -> Arc<Mutex<Disk>> {
        let crashed = Arc::new(Mutex::new(Disk::default()));
        crashed.lock().lasting = disk.lock().lasting.crashed(seed);
        crashed
    }

    #[test]
    fn a_crash_keeps_what_was_synced_and_any_part_of_the_rest() {
        let disk = Arc::new(Mutex::new(Disk::default()));
        let folder = open(&disk, Path::new("/d")).unwrap();
        assert!(matches!(open(&disk, Path::new("/d")), Err(FolderError::Locked { .. })));
        let file = folder.create("a").unwrap();
        file.write_at(0, &[1; 2000]).unwrap();
        file.sync().unwrap();
        folder.sync().unwrap();
        file.write_at(100, &[2; 1900]).unwrap();
        folder.rename("a", "b").unwrap();
        let (mut torn, mut renamed) = (0, 0);
        for seed in 0..100 {
            let disk = after(&disk, seed);
            let folder = open(&disk, Path::new("/d")).unwrap();
            let names = folder.list().unwrap();
            let left = bytes(&folder.open(&names[0]).unwrap());
            assert_eq!((left.len(), names.len()), (2000, 1));
            // Whole sectors, old or new.
            for sector in left[100..].chunk_by(|a, b| a == b) {
                assert!(sector.iter().all(|it| [1, 2].contains(it)));
            }
            let new = left.iter().filter(|it| **it == 2).count();
            assert!([0, 412, 512, 464].iter().any(|it| new >= *it), "{new}");
            torn += usize::from(new > 0 && new < 1900);
            renamed += usize::from(names == ["b"]);
        }
        assert!(torn > 20 && (20..80).contains(&renamed), "{torn} torn, {renamed} renamed");
    }

    #[test]
    fn a_sync_that_fails_has_lost_what_was_written() {
        let disk = Arc::new(Mutex::new(Disk::default()));
        disk.lock().room = 100;
        let folder = open(&disk, Path::new("/d")).unwrap();
        let file = folder.create("a").unwrap();
        folder.sync().unwrap();
        file.write_at(0, &[7; 100]).unwrap();
        assert!(matches!(file.write_at(100, &[7]), Err(FolderError::Full { .. })));
        disk.lock().good_syncs = Some(0);
        assert!(file.sync().is_err());
        disk.lock().good_syncs = None;
        file.sync().unwrap();
        assert_eq!(bytes(&file), [7; 100], "until the crash");
        file.write_at(0, &[8]).unwrap();
        let disk = after(&disk, 4);
        let folder = open(&disk, Path::new("/d")).unwrap();
        assert!(bytes(&folder.open("a").unwrap()).len() <= 100);
    }
}
