//! Looking at a log without changing it.

use hardware::Folder;

use crate::scan::{Visit, check_order, name_of, needed, scan};
use crate::{JournalError, Lsn};

/// What a log is like.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Inspected {
    /// Its files that hold something younger than the checkpoint.
    pub files: usize,
    /// Bytes of their records and heads.
    pub bytes: u64,
    /// The last record.
    pub last: Lsn,
    /// The file behind whose last record something stands that is none, and the byte where it begins: what was being written
    /// when the program was killed. Whoever opens the log cuts it.
    pub torn: Option<(String, u64)>,
    /// What is damaged, at most one place for each file.
    pub damages: Vec<JournalError>,
}

/// Reads the log of a folder as [`crate::Journal::open`] does, changes nothing, and goes on behind damage: `visit` is given
/// the records younger than `after` up to the first damage. Errors are those of `visit`.
pub fn inspect<E: From<JournalError>>(
    folder: &dyn Folder,
    after: Lsn,
    visit: &mut Visit<'_, E>,
) -> Result<Inspected, E> {
    let mut found = Inspected { last: after, ..Inspected::default() };
    let logs = needed(folder, after)?;
    let mut before = None;
    for (number, log) in logs.iter().enumerate() {
        found.files += 1;
        let is_newest = number + 1 == logs.len();
        if found.damages.is_empty() {
            found.damages.extend(check_order(folder, log, before, after).err());
        }
        let is_whole = found.damages.is_empty();
        let mut failed = None;
        let scanned = scan::<JournalError>(folder, log, is_newest, after, &mut |lsn, record| {
            if is_whole && failed.is_none() {
                failed = visit(lsn, record).err();
            }
            Ok(())
        });
        if let Some(error) = failed {
            return Err(error);
        }
        match scanned {
            Ok(Some(it)) => {
                if it.is_torn(folder, &log.1)? {
                    found.torn = Some((log.1.clone(), it.end));
                }
                found.bytes += it.end;
                (before, found.last) = (Some(it.last), it.last);
            }
            Ok(None) => {}
            Err(error) => found.damages.push(error),
        }
    }
    found.damages.extend(too_short(folder, &found, before, after));
    Ok(found)
}

/// A log that ends before the checkpoint has lost its end.
fn too_short(
    folder: &dyn Folder,
    found: &Inspected,
    last: Option<Lsn>,
    after: Lsn,
) -> Option<JournalError> {
    let is_short = found.damages.is_empty() && last.is_some_and(|it| it < after);
    let what = "it ends before the checkpoint";
    is_short.then(|| JournalError::damaged(folder.path(), &name_of(after.next()), 0, what))
}
