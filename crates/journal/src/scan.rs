//! Reading a log after whatever has ended the program that wrote it.

use hardware::{Folder, LastingFile};
use stdx::sync::Arc;

use crate::frame::{
    ALIGNMENT, FILE_HEAD, FileHead, READ_FROM, RECORD_HEAD, RECORD_MAGIC, RecordHead,
};
use crate::{JournalError, JournalResult, Lsn};

/// How a file of the log is called.
const PREFIX: &str = "log-";
/// Bytes that are looked through at a time.
const CHUNK: usize = 1 << 20;

/// The name of the file whose first record has a number.
pub(crate) fn name_of(first: Lsn) -> String {
    format!("{PREFIX}{:016x}", first.0)
}

/// The files of the log in a folder, in order, with the number that the name gives the first record.
pub(crate) fn logs(folder: &dyn Folder) -> JournalResult<Vec<(Lsn, String)>> {
    let first = |it: &String| Some(Lsn(u64::from_str_radix(it.strip_prefix(PREFIX)?, 16).ok()?));
    let names = folder.list()?.into_iter();
    let mut logs: Vec<(Lsn, String)> = names.filter_map(|it| Some((first(&it)?, it))).collect();
    logs.sort_unstable();
    Ok(logs)
}

/// Those of them that hold something younger than a record; older ones are left from a checkpoint that was cut short.
pub(crate) fn needed(folder: &dyn Folder, after: Lsn) -> JournalResult<Vec<(Lsn, String)>> {
    let mut logs = logs(folder)?;
    let old = logs.windows(2).filter(|it| it[1].0.0 <= after.0 + 1).count();
    Ok(logs.split_off(old))
}

/// Refuses a file that does not go on from the last record of the file before it or, the first, from a checkpoint.
pub(crate) fn check_order(
    folder: &dyn Folder,
    (first, name): &(Lsn, String),
    before: Option<Lsn>,
    after: Lsn,
) -> JournalResult<()> {
    let is_right = before.map_or(first.0 <= after.0 + 1, |it| *first == it.next());
    let what = "the file of the log before it is missing";
    is_right.then_some(()).ok_or_else(|| JournalError::damaged(folder.path(), name, 0, what))
}

/// Who is given the records.
pub type Visit<'a, E> = dyn FnMut(Lsn, &[u8]) -> Result<(), E> + 'a;

/// A file whose records have been read.
pub(crate) struct Scanned {
    pub(crate) file: Arc<dyn LastingFile>,
    pub(crate) head: FileHead,
    /// Its last record; the one before its first if it has none.
    pub(crate) last: Lsn,
    /// Whether the last record holds nothing: a mark that all before it is durable.
    pub(crate) marked: bool,
    /// The byte behind its last record.
    pub(crate) end: u64,
}

impl Scanned {
    /// Whether something that is no record stands behind its last record.
    pub(crate) fn is_torn(&self, folder: &dyn Folder, name: &str) -> JournalResult<bool> {
        let length = self.file.length()?;
        let log = Log { folder, name, file: &*self.file, length };
        log.is_zero(self.end).map(|it| !it)
    }
}

/// Reads a file of the log and hands all its records from `after` on to `visit`. `None`: it is the newest, and its making was
/// not finished.
pub(crate) fn scan<E: From<JournalError>>(
    folder: &dyn Folder,
    (first, name): &(Lsn, String),
    is_newest: bool,
    after: Lsn,
    visit: &mut Visit<'_, E>,
) -> Result<Option<Scanned>, E> {
    let file = folder.open(name).map_err(JournalError::from)?;
    let length = file.length().map_err(JournalError::from)?;
    let log = Log { folder, name, file: &*file, length };
    let mut head = vec![0; FILE_HEAD.min(length) as usize];
    log.read(0, &mut head)?;
    if is_newest && log.is_unfinished(&head)? {
        return Ok(None);
    }
    let head = FileHead::read(&head, folder.path(), name)?;
    if head.first != *first {
        return Err(log.damaged(0, "it has the name of another").into());
    }
    let (mut end, mut last, mut marked) = (FILE_HEAD, Lsn(head.first.0 - 1), false);
    let mut held = Vec::new();
    while let Some(record) =
        log.record(end, head.salt, &mut held)?.filter(|it| it.lsn == last.next())
    {
        if record.lsn > after && !held.is_empty() {
            if head.version < READ_FROM {
                let (path, version) = (folder.path().join(name), head.version);
                return Err(JournalError::Older { path, version }.into());
            }
            visit(record.lsn, &held)?;
        }
        (last, marked) = (record.lsn, held.is_empty());
        end += (RECORD_HEAD as u64 + record.length).next_multiple_of(ALIGNMENT);
    }
    if !is_newest || log.proves_durable(end, head.salt, last.next())? {
        // An older file was synced as a whole before the next was made.
        let is_end = !is_newest && log.is_zero(end)?;
        if !is_end {
            return Err(log.damaged(end, "a record that had been written is broken").into());
        }
    }
    Ok(Some(Scanned { file, head, last, marked, end }))
}

/// A file that is being read.
struct Log<'a> {
    folder: &'a dyn Folder,
    name: &'a str,
    file: &'a dyn LastingFile,
    length: u64,
}

impl Log<'_> {
    fn damaged(&self, place: u64, what: &'static str) -> JournalError {
        JournalError::damaged(self.folder.path(), self.name, place, what)
    }

    fn read(&self, place: u64, bytes: &mut [u8]) -> JournalResult<()> {
        self.file.read_at(place, bytes).map_err(JournalError::from)
    }

    /// Whether nothing has come of it but, perhaps, zeros.
    fn is_unfinished(&self, head: &[u8]) -> JournalResult<bool> {
        Ok(head.iter().all(|it| *it == 0) && self.is_zero(head.len() as u64)?)
    }

    fn is_zero(&self, from: u64) -> JournalResult<bool> {
        let mut zero = true;
        self.look_through(from, 0, &mut |_, bytes| {
            zero &= bytes.iter().all(|it| *it == 0);
            !zero
        })?;
        Ok(zero)
    }

    /// The record at a place and what it holds, if there is one and it is whole.
    fn record(
        &self,
        place: u64,
        salt: u32,
        held: &mut Vec<u8>,
    ) -> JournalResult<Option<RecordHead>> {
        let begin = place + RECORD_HEAD as u64;
        if begin > self.length {
            return Ok(None);
        }
        let mut head = [0; RECORD_HEAD];
        self.read(place, &mut head)?;
        let head = RecordHead::read(&head, salt);
        let Some(head) = head.filter(|it| it.length <= self.length - begin) else {
            return Ok(None);
        };
        held.resize(head.length as usize, 0);
        self.read(begin, held)?;
        Ok(head.fits(held, salt).then_some(head))
    }

    /// Whether some record behind a place says that a record was durable.
    fn proves_durable(&self, place: u64, salt: u32, lsn: Lsn) -> JournalResult<bool> {
        let mut proven = false;
        let proves = |bytes: &[u8]| {
            let head = RecordHead::read(bytes, salt);
            head.is_some_and(|it| it.lsn > lsn && it.durable >= lsn)
        };
        self.look_through(place, RECORD_HEAD, &mut |from, bytes| {
            let skipped = (from.next_multiple_of(ALIGNMENT) - from) as usize;
            let places = (skipped..bytes.len()).step_by(ALIGNMENT as usize);
            let mut found = places.filter(|it| bytes[*it..].starts_with(RECORD_MAGIC));
            proven |= found.any(|it| proves(&bytes[it..]));
            proven
        })?;
        Ok(proven)
    }

    /// Hands a file on in pieces from a place on, which overlap by so many bytes, until `visit` says that it has seen enough.
    fn look_through(
        &self,
        mut from: u64,
        overlap: usize,
        visit: &mut dyn FnMut(u64, &[u8]) -> bool,
    ) -> JournalResult<()> {
        let mut bytes = vec![0; CHUNK];
        while from < self.length {
            let here = (self.length - from).min(CHUNK as u64) as usize;
            self.read(from, &mut bytes[..here])?;
            if visit(from, &bytes[..here]) || from + here as u64 == self.length {
                break;
            }
            from += (here - overlap) as u64;
        }
        Ok(())
    }
}
