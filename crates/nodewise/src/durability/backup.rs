//! BACKUP: the tables of one moment as a folder of its own, which opens like the one of a database.
//!
//! Key decision: tables do not change, so a snapshot of the catalog is the picture, and nobody is stopped while it is
//! written. A backup is a checkpoint with no log behind it.

use std::path::Path;

use hardware::{Folder, FolderError};
use types::{SqlError, SqlResult, SqlState};

use super::checkpoint;
use super::refusal::journal_error;
use crate::answer::done;
use crate::{Answer, CancelToken, Session};

impl Session {
    /// BACKUP TO: writes all tables as the statement sees them into a folder that is empty or made. What cannot be finished is
    /// removed again.
    ///
    /// Errors: 25001 in a transaction that has changed tables, 58P02 when the folder is not empty, 55006 when a database
    /// has it, 58030 and 53100 when the disk refuses.
    pub(crate) fn backup(&self, path: &str, cancel: &CancelToken) -> SqlResult<Answer> {
        self.check_files(true)?;
        if self.writing.lock().is_some() {
            let message = "BACKUP cannot run in a transaction that has changed tables";
            return Err(SqlError::new(SqlState("25001"), message));
        }
        let (machine, path) = (&self.database.machine, Path::new(path));
        let refused = |it: FolderError| journal_error(&it.into());
        let is_new = match machine.inspect_folder(path) {
            Ok(folder) => {
                check_empty(&*folder)?;
                false
            }
            Err(locked @ FolderError::Locked { .. }) => return Err(refused(locked)),
            // Whether it can be made is seen when it is.
            Err(_) => true,
        };
        let folder = machine.open_folder(path).map_err(refused)?;
        check_empty(&*folder)?;
        let may_go_on = || execution::check(cancel);
        let written = checkpoint::write_anew(&*folder, &self.snapshot(), &may_go_on);
        if let Err(error) = written {
            let left = clear(&*folder);
            drop(folder);
            let left =
                left.and_then(|()| if is_new { machine.remove_folder(path) } else { Ok(()) });
            return Err(match left {
                Ok(()) => error,
                Err(left) => error.with_hint(format!("what was written is still there: {left}")),
            });
        }
        Ok(done("BACKUP"))
    }
}

fn check_empty(folder: &dyn Folder) -> SqlResult<()> {
    match folder.list().map_err(|it| journal_error(&it.into()))?.is_empty() {
        true => Ok(()),
        false => {
            let message = format!("the folder {} is not empty", folder.path().display());
            Err(SqlError::new(SqlState("58P02"), message)
                .with_hint("name a folder that does not exist, or remove its files"))
        }
    }
}

/// Removes all files, of which there were none before.
fn clear(folder: &dyn Folder) -> Result<(), FolderError> {
    folder.list()?.iter().try_for_each(|it| folder.remove(it))
}
