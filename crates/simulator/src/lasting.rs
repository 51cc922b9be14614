//! What lasts on the disk of the virtual machine: files and names as they are, as they would be after a loss of power, and
//! what lies between (docs/design/09-durability.md, "what a machine promises").
//!
//! - Invariant: only what was synced is sure to be in an image of a crash; of all else any part may be, by sectors.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use stdx::prng::Prng;

/// What a disk writes whole or not at all.
const SECTOR: u64 = 512;

/// All folders of a disk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lasting {
    folders: BTreeMap<PathBuf, Names>,
    files: BTreeMap<u64, Content>,
    last: u64,
}

/// What is left of a disk after a crash.
#[derive(Clone, Debug, Default)]
pub struct DiskImage(pub(crate) Lasting);

impl DiskImage {
    /// Turns over one bit that follows from a seed, and tells of which file and at which byte; `None` when there is none.
    pub fn flip(&mut self, seed: u64) -> Option<(PathBuf, u64)> {
        self.0.flip(seed)
    }
}

/// What lasts on a disk at a moment before a change of it: a loss of power may come then.
#[derive(Clone, Debug)]
pub struct Picture {
    /// The mark that the machine had then ([`crate::SimulatedMachine::set_mark`]).
    pub mark: u64,
    lasting: Lasting,
}

impl Picture {
    pub(crate) fn new(mark: u64, lasting: &Lasting) -> Self {
        Self { mark, lasting: lasting.clone() }
    }

    /// What a loss of power at that moment would leave, by a seed, as of [`crate::SimulatedMachine::crash`].
    pub fn crash(&self, seed: u64) -> DiskImage {
        DiskImage(self.lasting.crashed(seed))
    }
}

#[derive(Clone, Debug, Default)]
struct Names {
    now: BTreeMap<String, u64>,
    synced: BTreeMap<String, u64>,
    /// What was done to the names since they were synced.
    changes: Vec<NameChange>,
    locked: bool,
}

#[derive(Clone, Debug)]
enum NameChange {
    Made(String, u64),
    Renamed(String, String),
    Removed(String),
}

/// A file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Content {
    pub(crate) now: Vec<u8>,
    synced: Vec<u8>,
    /// What was written since it was synced.
    writes: Vec<Write>,
}

#[derive(Clone, Debug)]
enum Write {
    Bytes(u64, Vec<u8>),
    Length(u64),
}

impl Lasting {
    /// Locks a folder, which is made if it is not there; false when somebody has it.
    pub(crate) fn lock(&mut self, path: &Path) -> bool {
        let names = self.folders.entry(path.to_owned()).or_default();
        !std::mem::replace(&mut names.locked, true)
    }

    /// Whether there is such a folder.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.folders.contains_key(path)
    }

    /// Removes a folder; nothing is done when there is none, or a file is left in it.
    pub(crate) fn forget(&mut self, path: &Path) {
        if self.folders.get(path).is_some_and(|it| it.now.is_empty()) {
            self.folders.remove(path);
        }
    }

    pub(crate) fn unlock(&mut self, path: &Path) {
        self.names(path).locked = false;
    }

    fn names(&mut self, path: &Path) -> &mut Names {
        self.folders.entry(path.to_owned()).or_default()
    }

    pub(crate) fn list(&mut self, path: &Path) -> Vec<String> {
        self.names(path).now.keys().cloned().collect()
    }

    pub(crate) fn find(&mut self, path: &Path, name: &str) -> Option<u64> {
        self.names(path).now.get(name).copied()
    }

    pub(crate) fn content(&mut self, file: u64) -> &mut Content {
        self.files.entry(file).or_default()
    }

    pub(crate) fn create(&mut self, path: &Path, name: &str) -> u64 {
        self.last += 1;
        let file = self.last;
        self.files.insert(file, Content::default());
        self.names(path).change(NameChange::Made(name.to_owned(), file));
        file
    }

    pub(crate) fn rename(&mut self, path: &Path, from: &str, to: &str) {
        self.names(path).change(NameChange::Renamed(from.to_owned(), to.to_owned()));
    }

    pub(crate) fn remove(&mut self, path: &Path, name: &str) {
        self.names(path).change(NameChange::Removed(name.to_owned()));
    }

    pub(crate) fn sync_names(&mut self, path: &Path) {
        let names = self.names(path);
        names.synced.clone_from(&names.now);
        names.changes.clear();
    }

    /// What a crash leaves: of what was not synced, any part.
    pub(crate) fn crashed(&self, seed: u64) -> Self {
        let mut prng = Prng::new(seed);
        // From nothing, as for seed 0, to all of it.
        let luck = if seed == 0 { 0 } else { prng.below(5) };
        let happens = |prng: &mut Prng| prng.below(4) < luck;
        let mut image = Self { last: self.last, ..Self::default() };
        for (path, names) in &self.folders {
            let mut left = names.synced.clone();
            for change in &names.changes {
                if happens(&mut prng) {
                    change.apply(&mut left);
                }
            }
            for file in left.values() {
                if let Some(content) = self.files.get(file) {
                    let bytes = content.crashed(&mut || happens(&mut prng));
                    image.files.insert(*file, Content::lasting(bytes));
                }
            }
            let (now, synced) = (left.clone(), left);
            let names = Names { now, synced, ..Names::default() };
            image.folders.insert(path.clone(), names);
        }
        image
    }

    /// Turns one bit of some file over, and tells of which one and where; `None` when there is no byte.
    pub(crate) fn flip(&mut self, seed: u64) -> Option<(PathBuf, u64)> {
        let mut prng = Prng::new(seed);
        let mut names = Vec::new();
        for (path, folder) in &self.folders {
            names.extend(folder.now.iter().map(|it| (path.join(it.0), *it.1)));
        }
        names.retain(|it| self.files.get(&it.1).is_some_and(|it| !it.now.is_empty()));
        let (path, file) = names.get(prng.below(names.len().max(1) as u64) as usize)?.clone();
        let content = self.content(file);
        let place = prng.below(content.now.len() as u64);
        content.now[place as usize] ^= 1 << prng.below(8);
        content.synced.clone_from(&content.now);
        Some((path, place))
    }

    /// Bytes of all files that have a name.
    pub(crate) fn bytes(&self) -> u64 {
        let files = self.folders.values().flat_map(|it| it.now.values());
        files.filter_map(|it| self.files.get(it)).map(|it| it.now.len() as u64).sum()
    }
}

impl Names {
    fn change(&mut self, change: NameChange) {
        change.apply(&mut self.now);
        self.changes.push(change);
    }
}

impl NameChange {
    /// What cannot be done as what it needs was lost is lost, too.
    fn apply(&self, names: &mut BTreeMap<String, u64>) {
        match self {
            Self::Made(name, file) => {
                names.insert(name.clone(), *file);
            }
            Self::Renamed(from, to) => {
                if let Some(file) = names.remove(from) {
                    names.insert(to.clone(), file);
                }
            }
            Self::Removed(name) => {
                names.remove(name);
            }
        }
    }
}

impl Content {
    fn lasting(bytes: Vec<u8>) -> Self {
        Self { now: bytes.clone(), synced: bytes, writes: Vec::new() }
    }

    pub(crate) fn write(&mut self, place: u64, bytes: &[u8]) {
        put(&mut self.now, place, bytes);
        self.writes.push(Write::Bytes(place, bytes.to_vec()));
    }

    pub(crate) fn set_length(&mut self, length: u64) {
        self.now.resize(length as usize, 0);
        self.writes.push(Write::Length(length));
    }

    pub(crate) fn sync(&mut self) {
        self.synced.clone_from(&self.now);
        self.writes.clear();
    }

    /// A sync that fails: what was written will never last, though it can be read until the crash, as on Linux.
    pub(crate) fn fail_sync(&mut self) {
        self.writes.clear();
    }

    fn crashed(&self, happens: &mut dyn FnMut() -> bool) -> Vec<u8> {
        let mut left = self.synced.clone();
        for write in &self.writes {
            match write {
                Write::Length(length) if happens() => left.resize(*length as usize, 0),
                Write::Length(_) => {}
                Write::Bytes(place, bytes) => {
                    let (mut place, mut bytes) = (*place, &bytes[..]);
                    while !bytes.is_empty() {
                        let here = ((SECTOR - place % SECTOR) as usize).min(bytes.len());
                        let (sector, rest) = bytes.split_at(here);
                        if happens() {
                            put(&mut left, place, sector);
                        }
                        (place, bytes) = (place + here as u64, rest);
                    }
                }
            }
        }
        left
    }
}

fn put(bytes: &mut Vec<u8>, place: u64, new: &[u8]) {
    let end = place as usize + new.len();
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    bytes[place as usize..end].copy_from_slice(new);
}
