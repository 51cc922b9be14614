//! The keys of rows that shall come to a table, as they are before the rows are in it.
//!
//! - Invariant: hashes and values are those that the rows will have in the columns of the table, however these hold them.

use arrow_array::RecordBatch;
use types::{ColumnId, DataType, SqlResult, Value};

use crate::build::hash::{hash_bytes, hash_int};
use crate::build::{Piece, PieceValues, piece_of};
use crate::domain::order;
use crate::index_rules::{NO_KEY, has_other_forms, hash_wide, key_form, with_own};
use crate::rules::Key;
use crate::tail::facts_of;
use crate::word::{value_of_int, value_of_key};
use crate::{ColumnSchema, Table};

/// A new row: the hash of its key, its part or batch, and its number there.
pub(crate) type NewKey = (u64, usize, usize);

/// The columns of a key of some rows, by batch.
pub(crate) fn pieces_of_key(
    table: &Table,
    columns: &[ColumnId],
    batches: &[RecordBatch],
) -> SqlResult<Vec<Vec<Piece>>> {
    let schemas: Vec<ColumnSchema> = columns.iter().map(|it| table.column(*it).schema()).collect();
    let pieces = |batch: &RecordBatch| {
        let columns = columns.iter().zip(&schemas);
        columns.map(|(id, schema)| piece_of(batch.column(id.index()), schema)).collect()
    };
    batches.iter().map(pieces).collect()
}

/// The keys of rows that shall come.
pub(crate) struct ArrivingKeys<'a> {
    table: &'a Table,
    key: Key<'a>,
    batches: &'a [Vec<Piece>],
}

impl<'a> ArrivingKeys<'a> {
    /// Of a key of a table, whose columns these are.
    pub(crate) fn new(table: &'a Table, key: Key<'a>, batches: &'a [Vec<Piece>]) -> Self {
        Self { table, key, batches }
    }

    /// A column of the key in which a row has NULL.
    pub(crate) fn column_with_null(&self) -> Option<ColumnId> {
        let has_null = |place: usize| self.batches.iter().any(|it| it[place].null_count() > 0);
        let place = (0..self.key.columns.len()).find(|it| has_null(*it));
        place.map(|it| self.key.columns[it])
    }

    /// Whether a key has a NULL and is a key all the same.
    pub(crate) fn has_null(&self) -> bool {
        self.key.nulls_equal && self.column_with_null().is_some()
    }

    /// Whether facts tell that no key is there: those of a column lie behind all that are there, or before, and no two are alike.
    pub(crate) fn are_behind_all(&self) -> bool {
        let rows: usize = self.batches.iter().filter_map(|it| it.first()).map(|it| it.rows).sum();
        let mut columns = self.key.columns.iter().enumerate();
        columns.any(|(place, id)| {
            let column = self.table.column(*id);
            if !self.table.is_key(*id) {
                return false;
            }
            let new = facts_of(column.data_type, self.batches.iter().map(|it| &it[place]));
            let below = |a: &Option<Value>, b: &Option<Value>| match (a, b) {
                (Some(a), Some(b)) => order(column.data_type, a, b).is_lt(),
                _ => true,
            };
            let old = &column.statistics;
            let is_apart = below(&old.max, &new.min) || below(&new.max, &old.min);
            is_apart && new.nulls == 0 && new.distinct == rows as u64
        })
    }

    /// All of them, which rise.
    pub(crate) fn keys(&self) -> Vec<NewKey> {
        let mut keys = Vec::new();
        for (number, pieces) in self.batches.iter().enumerate() {
            let rows = pieces.first().map_or(0, |it| it.rows);
            let hashes = (0..rows).map(|row| (self.hash(pieces, row), number, row));
            keys.extend(hashes.filter(|it| it.0 != NO_KEY));
        }
        keys.sort_unstable();
        keys
    }

    fn hash(&self, pieces: &[Piece], row: usize) -> u64 {
        pieces.iter().zip(self.key.columns).fold(0, |hash, (piece, id)| {
            let own = match piece.is_null(row) {
                true => self.key.nulls_equal.then_some(0),
                false => Some(value_hash(piece, self.table, *id, row)),
            };
            with_own(hash, own)
        })
    }

    /// What a row has in a column of the key, as it is shown.
    pub(crate) fn value(&self, key: &NewKey, place: usize) -> Value {
        let data_type = self.table.column(self.key.columns[place]).data_type;
        self.batches[key.1][place].value(data_type, key.2)
    }
}

/// The hash that a value will have in its column.
fn value_hash(piece: &Piece, table: &Table, id: ColumnId, row: usize) -> u64 {
    let column = table.column(id);
    if has_other_forms(column) {
        return match key_form(piece.value(column.data_type, row), column.data_type) {
            Value::Text(it) => hash_bytes(it.as_bytes()),
            _ => 0,
        };
    }
    match &piece.values {
        PieceValues::Int { values, .. } => hash_int(values[row] as u64),
        PieceValues::Wide(values) => hash_wide(values[row]),
        PieceValues::Text(_) | PieceValues::Coded { .. } => hash_bytes(piece.text(row)),
    }
}

impl Piece {
    /// The value of a row in a column of a type.
    pub(crate) fn value(&self, data_type: DataType, row: usize) -> Value {
        match &self.values {
            _ if self.is_null(row) => Value::Null,
            PieceValues::Int { values, .. } => value_of_key(data_type, values[row]),
            PieceValues::Wide(values) => value_of_int(data_type, values[row]),
            PieceValues::Text(_) | PieceValues::Coded { .. } => {
                Value::Text(String::from_utf8_lossy(self.text(row)).as_ref().into())
            }
        }
    }
}
