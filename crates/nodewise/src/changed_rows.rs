//! Which of the rows that a statement wants to change are changed: each row once, each key once.

use std::collections::HashSet;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::ArrowError;
use binder::bind::{ChangeKind, KeyOfRow};
use types::{SqlError, SqlResult, SqlState};

use crate::planned_change::PlannedChange;
use crate::text::Cells;

/// Positions up to which they are kept one by one.
const FEW: usize = 4096;

/// Positions of a table: what few of them cost does not depend on how many rows it has.
enum Positions {
    Few(HashSet<u64>),
    /// A bit for each position.
    Many(Vec<u64>),
}

impl Default for Positions {
    fn default() -> Self {
        Self::Few(HashSet::new())
    }
}

impl Positions {
    /// Adds one; whether it was not there.
    fn add(&mut self, position: u64) -> bool {
        match self {
            Self::Few(few) if few.len() < FEW => few.insert(position),
            Self::Few(few) => {
                let few = std::mem::take(few);
                *self = Self::Many(Vec::new());
                few.into_iter().for_each(|it| _ = self.add(it));
                self.add(position)
            }
            Self::Many(bits) => {
                let (word, bit) = ((position / 64) as usize, 1 << (position % 64));
                if bits.len() <= word {
                    bits.resize(word + 1, 0);
                }
                let is_new = bits[word] & bit == 0;
                bits[word] |= bit;
                is_new
            }
        }
    }
}

/// The rows that came before.
#[derive(Default)]
pub(crate) struct Seen {
    positions: Positions,
    /// The keys of new rows, by the number of the key.
    keys: HashSet<(usize, Vec<Option<String>>)>,
}

impl Seen {
    /// The rows of a batch that are changed. Where FROM or USING has several partners for a row, the first counts; of new
    /// rows with one key, too, if ON CONFLICT does nothing. Where it updates, a row that would be changed twice is 21000.
    pub(crate) fn wanted(
        &mut self,
        change: &PlannedChange,
        batch: RecordBatch,
    ) -> SqlResult<RecordBatch> {
        let keep: Vec<bool> = match change.kind {
            ChangeKind::Lock => return Ok(batch),
            ChangeKind::Insert if change.keys.is_empty() => return Ok(batch),
            ChangeKind::Insert => {
                let keys = keys(change, &batch);
                (0..batch.num_rows()).map(|row| self.is_new(&keys, row)).collect()
            }
            ChangeKind::Update | ChangeKind::Delete => {
                positions(batch.column(0)).map(|it| self.is_first(it)).collect()
            }
            ChangeKind::Merge => {
                if !positions(batch.column(0)).all(|it| self.is_first(it)) {
                    let message = "MERGE command cannot affect row a second time";
                    let hint =
                        "Ensure that not more than one source row matches any one target row.";
                    let state = SqlState::CARDINALITY_VIOLATION;
                    return Err(SqlError::new(state, message).with_hint(hint));
                }
                return Ok(batch);
            }
            ChangeKind::Upsert => {
                let keys = keys(change, &batch);
                let known = batch.column(0).as_primitive::<Int64Type>();
                for row in 0..batch.num_rows() {
                    let once = match known.is_null(row) {
                        true => self.is_new(&keys, row),
                        false => self.is_first(known.value(row) as u64),
                    };
                    if !once {
                        let message =
                            "ON CONFLICT DO UPDATE command cannot affect row a second time";
                        let hint = "Ensure that no rows proposed for insertion within the same command \
                                    have duplicate constrained values.";
                        let state = SqlState::CARDINALITY_VIOLATION;
                        return Err(SqlError::new(state, message).with_hint(hint));
                    }
                }
                return Ok(batch);
            }
        };
        if keep.iter().all(|it| *it) {
            return Ok(batch);
        }
        arrow_select::filter::filter_record_batch(&batch, &BooleanArray::from(keep))
            .map_err(|error| malformed(&error))
    }

    /// Whether a position comes for the first time.
    fn is_first(&mut self, position: u64) -> bool {
        self.positions.add(position)
    }

    /// Whether no row before had one of the keys of a row. A key with NULL is like no other, unless NULL is like NULL in it.
    fn is_new(&mut self, keys: &[(bool, Vec<Cells<'_>>)], row: usize) -> bool {
        let texts = |(nulls_equal, columns): &(bool, Vec<Cells<'_>>)| {
            let texts: Vec<Option<String>> = columns.iter().map(|it| it.text(row)).collect();
            (*nulls_equal || texts.iter().all(Option::is_some)).then_some(texts)
        };
        let own: Vec<(usize, Vec<Option<String>>)> =
            keys.iter().enumerate().filter_map(|it| Some((it.0, texts(it.1)?))).collect();
        if own.iter().any(|it| self.keys.contains(it)) {
            return false;
        }
        self.keys.extend(own);
        true
    }
}

/// The columns of each key of ON CONFLICT, the last of a batch, and whether NULL is like NULL in it.
fn keys<'a>(change: &PlannedChange, batch: &'a RecordBatch) -> Vec<(bool, Vec<Cells<'a>>)> {
    let count: usize = change.keys.iter().map(|it| it.columns).sum();
    let mut columns = batch.columns()[batch.num_columns() - count..].iter();
    let key = |it: &KeyOfRow| {
        (it.nulls_equal, columns.by_ref().take(it.columns).map(Cells::new).collect())
    };
    change.keys.iter().map(key).collect()
}

/// The positions in a column of them; a new row has none.
pub(crate) fn positions(array: &ArrayRef) -> impl Iterator<Item = u64> {
    array.as_primitive::<Int64Type>().iter().flatten().map(|it| it as u64)
}

/// Rows that are not what was planned.
pub(crate) fn malformed(error: &ArrowError) -> SqlError {
    SqlError::internal(format!("changed rows are malformed: {error}"))
}
