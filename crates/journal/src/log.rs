//! Writing the log: appending in order, syncing in groups, going on in a new file.

use hardware::{Folder, LastingFile};
use stdx::Nanos;
use stdx::prng::Prng;
use stdx::sync::atomic::{AtomicU64, Ordering};
use stdx::sync::{Arc, Condvar, Mutex};

use crate::frame::{FILE_HEAD, FileHead, LOG_VERSION};
use crate::scan::{Visit, check_order, logs, name_of, needed, scan};
use crate::{JournalError, JournalResult, Lsn, Record};

/// Bytes of zeros that are written ahead, so that a sync has no new length of the file to write.
const AHEAD: usize = 1 << 18;

/// The log of a folder.
pub struct Journal {
    folder: Arc<dyn Folder>,
    writing: Mutex<Writing>,
    syncing: Mutex<Syncing>,
    synced: Condvar,
    counters: Counters,
}

/// What it has done since it was opened.
#[derive(Default)]
struct Counters {
    records: AtomicU64,
    syncs: AtomicU64,
    waiting: AtomicU64,
    last_sync: AtomicU64,
}

/// What a log has done since it was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogActivity {
    /// Records that were appended.
    pub records: u64,
    /// Syncs that made some of them durable.
    pub syncs: u64,
    /// Who waits for a sync now, with who does it.
    pub waiting: u64,
    /// How long the last of them took, by the clock that it was given; 0 without one.
    pub last_sync: Nanos,
}

/// The end of the log.
struct Writing {
    file: Arc<dyn LastingFile>,
    head: FileHead,
    /// The byte behind the last record.
    end: u64,
    /// The byte up to which the file is written, with zeros from `end` on.
    filled: u64,
    last: Lsn,
    marked: bool,
}

/// How far the log is durable, and who sees to it.
struct Syncing {
    durable: Lsn,
    is_led: bool,
    failed: Option<JournalError>,
}

impl Journal {
    /// Reads the log of a folder: `visit` is given every record that is younger than `after`, in order. Then it can be
    /// written on. A tail that was never acknowledged is cut; anything else that is not whole is an error. `seed` makes new
    /// files different from all others.
    pub fn open<E: From<JournalError>>(
        folder: Arc<dyn Folder>,
        after: Lsn,
        seed: u64,
        visit: &mut Visit<'_, E>,
    ) -> Result<Self, E> {
        let (mut newest, mut before) = (None, None);
        let logs = needed(&*folder, after)?;
        for (number, log) in logs.iter().enumerate() {
            check_order(&*folder, log, before, after)?;
            match scan(&*folder, log, number + 1 == logs.len(), after, visit)? {
                Some(scanned) => {
                    before = Some(scanned.last);
                    newest = Some(scanned);
                }
                None => {
                    // It must not come back behind records that take the place of its own.
                    let removed = folder.remove(&log.1).and_then(|()| folder.sync());
                    removed.map_err(JournalError::from)?;
                }
            }
        }
        let writing = match newest {
            Some(it) if it.last >= after => {
                // Whatever stands behind the last record must never be taken for one.
                it.file.truncate(it.end).map_err(JournalError::from)?;
                it.file.sync().map_err(JournalError::from)?;
                if it.head.version < LOG_VERSION {
                    // A file is of one format: what comes next is of another.
                    Writing::begin(&*folder, it.last.next(), seed)?
                } else {
                    let (file, head, end) = (it.file, it.head, it.end);
                    Writing { file, head, end, filled: end, last: it.last, marked: it.marked }
                }
            }
            Some(it) => {
                let name = name_of(it.head.first);
                let what = "it ends before the checkpoint";
                return Err(JournalError::damaged(folder.path(), &name, it.end, what).into());
            }
            None => Writing::begin(&*folder, after.next(), seed)?,
        };
        let syncing = Syncing { durable: writing.last, is_led: false, failed: None };
        let (writing, syncing) = (Mutex::new(writing), Mutex::new(syncing));
        let (synced, counters) = (Condvar::new(), Counters::default());
        let journal = Self { folder, writing, syncing, synced, counters };
        journal.mark()?;
        Ok(journal)
    }

    /// Puts a record behind all others. It is durable once [`Journal::sync_to`] has returned for its number or a later one.
    pub fn append(&self, record: Record) -> JournalResult<Lsn> {
        let mut writing = self.writing.lock();
        let durable = self.check()?;
        let written = writing.append(record, durable);
        match &written {
            Ok(_) => _ = self.counters.records.fetch_add(1, Ordering::Relaxed),
            Err(error) => self.fail(error),
        }
        written
    }

    /// Returns when all records up to one are durable. One of those who wait syncs for all.
    pub fn sync_to(&self, lsn: Lsn) -> JournalResult<()> {
        self.sync_timed(lsn, &|| Nanos(0))
    }

    /// The same, which tells [`Journal::activity`] how long a sync takes by a clock.
    pub fn sync_timed(&self, lsn: Lsn, now: &dyn Fn() -> Nanos) -> JournalResult<()> {
        let counters = &self.counters;
        counters.waiting.fetch_add(1, Ordering::Relaxed);
        let synced = self.lead(|it| it.durable >= lsn).and_then(|leads| match leads {
            true => self.sync_now(now),
            false => Ok(()),
        });
        counters.waiting.fetch_sub(1, Ordering::Relaxed);
        synced
    }

    fn sync_now(&self, now: &dyn Fn() -> Nanos) -> JournalResult<()> {
        let (file, last) = {
            let writing = self.writing.lock();
            (writing.file.clone(), writing.last)
        };
        let began = now();
        let synced = file.sync().map_err(JournalError::from);
        self.counters.last_sync.store((now() - began).0, Ordering::Relaxed);
        self.counters.syncs.fetch_add(1, Ordering::Relaxed);
        self.step_down(synced.map(|()| last))
    }

    /// Goes on in a new file. All records that there are are durable then, and no younger one is in an older file: who
    /// appends meanwhile waits.
    pub fn rotate(&self, seed: u64) -> JournalResult<Lsn> {
        self.lead(|_| false)?;
        let mut writing = self.writing.lock();
        let last = writing.last;
        if writing.head.first == last.next() {
            // The file has no record: it is the new one.
            drop(writing);
            self.step_down(Ok(last))?;
            return Ok(last);
        }
        let next = writing.file.sync().map_err(JournalError::from);
        let next = next.and_then(|()| Writing::begin(&*self.folder, last.next(), seed));
        self.step_down(next.map(|next| {
            *writing = next;
            last
        }))?;
        Ok(last)
    }

    /// Removes all files that hold nothing younger than a record.
    pub fn remove_up_to(&self, lsn: Lsn) -> JournalResult<()> {
        let logs = logs(&*self.folder)?;
        for pair in logs.windows(2).filter(|it| it[1].0.0 <= lsn.0 + 1) {
            self.folder.remove(&pair[0].1)?;
        }
        Ok(self.folder.sync()?)
    }

    /// Makes all records durable, and leaves a mark behind them that says so: damage to any of them will be seen as that.
    pub fn mark(&self) -> JournalResult<()> {
        let last = self.last();
        self.sync_to(last)?;
        let mut writing = self.writing.lock();
        if writing.marked || writing.last != last {
            return Ok(());
        }
        let marked = writing.append(Record::default(), self.check()?);
        drop(writing);
        match marked {
            Ok(mark) => self.sync_to(mark),
            Err(error) => {
                self.fail(&error);
                Err(error)
            }
        }
    }

    /// The last record.
    pub fn last(&self) -> Lsn {
        self.writing.lock().last
    }

    /// The last record that is durable.
    pub fn durable(&self) -> Lsn {
        self.syncing.lock().durable
    }

    /// What it has done since it was opened.
    pub fn activity(&self) -> LogActivity {
        let read = |it: &AtomicU64| it.load(Ordering::Relaxed);
        let Counters { records, syncs, waiting, last_sync } = &self.counters;
        let last_sync = Nanos(read(last_sync));
        let (records, syncs, waiting) = (read(records), read(syncs), read(waiting));
        LogActivity { records, syncs, waiting, last_sync }
    }

    /// Bytes of the newest file.
    pub fn bytes(&self) -> u64 {
        self.writing.lock().end
    }

    /// Why nothing can be written any more, if so.
    pub fn failure(&self) -> Option<JournalError> {
        self.syncing.lock().failed.clone()
    }

    fn check(&self) -> JournalResult<Lsn> {
        let syncing = self.syncing.lock();
        match &syncing.failed {
            Some(cause) => Err(JournalError::Stopped { cause: Box::new(cause.clone()) }),
            None => Ok(syncing.durable),
        }
    }

    fn fail(&self, error: &JournalError) {
        self.syncing.lock().failed.get_or_insert_with(|| error.clone());
        self.synced.notify_all();
    }

    /// Waits until nobody syncs, and is then who does, with true; or until there is no need.
    fn lead(&self, is_done: impl Fn(&Syncing) -> bool) -> JournalResult<bool> {
        let mut syncing = self.syncing.lock();
        loop {
            if is_done(&syncing) {
                return Ok(false);
            }
            if let Some(cause) = &syncing.failed {
                return Err(JournalError::Stopped { cause: Box::new(cause.clone()) });
            }
            if !std::mem::replace(&mut syncing.is_led, true) {
                return Ok(true);
            }
            let waited = self.synced.wait(syncing);
            syncing = waited.unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }

    /// Tells those who wait what came of it.
    fn step_down(&self, synced: JournalResult<Lsn>) -> JournalResult<()> {
        let mut syncing = self.syncing.lock();
        syncing.is_led = false;
        let done = match synced {
            Ok(last) if syncing.failed.is_none() => {
                syncing.durable = syncing.durable.max(last);
                Ok(())
            }
            Ok(_) => Ok(()),
            Err(error) => {
                syncing.failed.get_or_insert_with(|| error.clone());
                Err(error)
            }
        };
        self.synced.notify_all();
        drop(syncing);
        done
    }
}

impl Writing {
    /// A new file, which lasts.
    fn begin(folder: &dyn Folder, first: Lsn, seed: u64) -> JournalResult<Self> {
        let salt = Prng::new(seed ^ first.0).next_u64() as u32;
        let head = FileHead { version: LOG_VERSION, salt, first };
        let file = folder.create(&name_of(first))?;
        file.write_at(0, &head.bytes())?;
        let (end, last) = (FILE_HEAD, Lsn(first.0 - 1));
        let mut new = Self { file, head, end, filled: end, last, marked: true };
        new.fill_ahead();
        new.file.sync()?;
        folder.sync()?;
        Ok(new)
    }

    fn append(&mut self, record: Record, durable: Lsn) -> JournalResult<Lsn> {
        let lsn = self.last.next();
        let marked = record.length() == 0;
        let bytes = record.sealed(self.head.salt, lsn, durable);
        self.file.write_at(self.end, &bytes)?;
        self.end += bytes.len() as u64;
        (self.last, self.marked) = (lsn, marked);
        if self.end > self.filled {
            self.filled = self.end;
            self.fill_ahead();
        }
        Ok(lsn)
    }

    /// Without the zeros all is right, only slower: a disk that has no room for them may have some for records.
    fn fill_ahead(&mut self) {
        if self.file.write_at(self.filled, &[0; AHEAD]).is_ok() {
            self.filled += AHEAD as u64;
        }
    }
}
