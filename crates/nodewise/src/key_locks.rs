//! What a change of rows, or who refers to them, locks of rows and of their keys.
//!
//! Key decision: who refers to a row locks its *key*, by a hash of the values, and not the row: rows get other ids when other columns
//! change, keys stay. So a key is locked like a row, in the same modes, and only by who takes it away, brings it, or needs it.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_select::concat::concat;
use storage::{Table, values_at};
use types::{LockMode, SqlResult};

use crate::change::Replaced;
use crate::changed_rows::malformed;
use crate::locks::{Lock, Locked};

/// The keys of the rows that go, and of those that come: numbers of rules and hashes, which rise.
#[derive(Default)]
pub(crate) struct KeysOfChange {
    before: Vec<(u32, u64)>,
    after: Vec<(u32, u64)>,
    /// Whether each row that comes has the keys of the one in whose place it comes, and none goes without.
    stay: bool,
    /// Whether that was known without a look at them, and they are not listed.
    is_known: bool,
}

impl KeysOfChange {
    pub(crate) fn of(
        table: &Table,
        gone: &[u64],
        rows: &[RecordBatch],
        replaced: Replaced<'_>,
    ) -> SqlResult<Self> {
        let replaced = match replaced {
            Replaced::At(positions) => positions,
            Replaced::Alike => return Ok(Self { stay: true, is_known: true, ..Self::default() }),
        };
        let (before, after) = (table.keys_of_change(gone, &[])?, table.keys_of_change(&[], rows)?);
        let count: usize = rows.iter().map(RecordBatch::num_rows).sum();
        let stay = count == gone.len()
            && before == after
            && (count <= 1 || have_their_keys(table, rows, replaced)?);
        Ok(Self { before, after, stay, is_known: false })
    }

    /// The locks of the change: of the rows that go by their ids, and of keys that are not what they were.
    pub(crate) fn locks(&self, table: &Table, went: &[u64]) -> Vec<Lock> {
        let mode = if self.stay { LockMode::ForNoKeyUpdate } else { LockMode::ForUpdate };
        let mut locks: Vec<Lock> =
            went.iter().map(|it| ((table.id, Locked::Row, *it), mode)).collect();
        if !self.stay {
            let is_new = |it: &&(u32, u64)| self.before.binary_search(it).is_err();
            let keys = self.before.iter().chain(self.after.iter().filter(is_new));
            locks.extend(keys.map(|it| ((table.id, Locked::Key(it.0), it.1), mode)));
        }
        locks.push(((table.id, Locked::Table, 0), LockMode::RowExclusive));
        locks
    }

    /// Whether so many new rows can break no key: there is none, or a row keeps all that it had.
    pub(crate) fn cannot_break(&self, table: &Table, rows: usize) -> bool {
        let keys = table.rules().indexes.iter().filter(|it| it.kind.is_unique()).count();
        let keeps = self.is_known || self.after.len() == keys && self.before == self.after;
        rows == 0 || keys == 0 || rows == 1 && keeps
    }
}

/// Whether rows have the keys of those in whose place they come. What is not of the type of its column counts as changed.
fn have_their_keys(table: &Table, rows: &[RecordBatch], replaced: &[ArrayRef]) -> SqlResult<bool> {
    let places = replaced.iter().flat_map(|it| it.as_primitive::<Int64Type>());
    let places: Vec<Option<usize>> = places.map(|it| it.map(|it| it as usize)).collect();
    if places.len() != rows.iter().map(RecordBatch::num_rows).sum::<usize>()
        || places.iter().any(Option::is_none)
    {
        return Ok(false);
    }
    let unique = table.rules().indexes.iter().filter(|it| it.kind.is_unique());
    for column in unique.flat_map(|it| &it.columns) {
        let new: Vec<&dyn Array> = rows.iter().map(|it| &**it.column(column.index())).collect();
        let new = concat(&new).map_err(|error| malformed(&error))?;
        if *values_at(table, *column, &places)? != *new {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The locks of rows at some positions, with their ids, of one who does not change them. Keys are locked where rows may get other
/// ids meanwhile, or where who refers to them is to wait.
pub(crate) fn locks_of_rows(
    table: &Table,
    rows: &[u64],
    ids: &[u64],
    mode: LockMode,
) -> SqlResult<Vec<Lock>> {
    let of_keys = matches!(mode, LockMode::ForKeyShare | LockMode::ForUpdate);
    let keys = if of_keys { table.keys_of_change(rows, &[])? } else { Vec::new() };
    // Without a key nothing would hold the row when others change it.
    let mode = match mode {
        LockMode::ForKeyShare if keys.is_empty() => LockMode::ForShare,
        other => other,
    };
    let rows = ids.iter().map(|it| ((table.id, Locked::Row, *it), mode));
    let keys = keys.iter().map(|it| ((table.id, Locked::Key(it.0), it.1), mode));
    Ok(rows.chain(keys).collect())
}
