//! Rows of versions of a table by their ids ([`crate::row_ids`]): where they are, and which keys a change touches.

use arrow_array::{ArrayRef, RecordBatch};
use stdx::sync::Arc;
use types::{ColumnId, SqlResult};

use crate::build::piece_of;
use crate::partition::hashes_of_keys;
use crate::row_ids::RowIds;
use crate::{BLOCK_ROWS, ColumnSchema, Part, Partitioning, Table, TableIndex, values_at};

impl Table {
    /// Whether rows keep their ids when the table is put together anew. Where they are dealt by their number they do not.
    pub fn keeps_row_ids(&self) -> bool {
        !matches!(self.partitioning(), Partitioning::RoundRobin { .. }) && !self.columns.is_empty()
    }

    /// The ids of the rows at some positions, which rise.
    pub fn row_ids(&self, positions: &[u64]) -> Vec<u64> {
        let mut ids = Vec::with_capacity(positions.len());
        let mut parts = self.parts.iter();
        let mut part = parts.next();
        for position in positions {
            let at = *position as usize;
            while part.is_some_and(|it| it.positions().end <= at) {
                part = parts.next();
            }
            let part = part.expect("invariant: a position is in a part");
            ids.push(part.ids.get(at - part.positions().start));
        }
        ids
    }

    /// Where the rows with some ids are, which rise; `None` for those that are not there.
    pub fn positions_of(&self, ids: &[u64]) -> Vec<Option<u64>> {
        let mut positions = vec![None; ids.len()];
        for part in &self.parts {
            part.ids.find(ids, &mut |place, row| {
                if part.is_live(row) {
                    positions[place] = Some((part.positions().start + row) as u64);
                }
            });
        }
        positions
    }

    /// Where the rows are that this version has and a newer one has not, and in that one those that this has not; nothing where
    /// they are more than some.
    pub fn difference(&self, newer: &Self, most: usize) -> Option<(Vec<u64>, Vec<u64>)> {
        let is_same = |a: &Part, b: &Part| Arc::ptr_eq(&a.ids, &b.ids);
        let (mut gone, mut old) = (Vec::new(), Vec::new());
        for part in &self.parts {
            match newer.parts.iter().find(|it| is_same(part, it)) {
                Some(other) => gone.extend(gone_since(part, other)),
                None => add_rows(part, &mut old),
            }
            if gone.len() > most || old.len() > MOVED_MAX {
                return None;
            }
        }
        let mut new = Vec::new();
        for part in newer.parts.iter().filter(|it| !self.parts.iter().any(|part| is_same(part, it)))
        {
            add_rows(part, &mut new);
            if new.len() > MOVED_MAX {
                return None;
            }
        }
        old.sort_unstable();
        new.sort_unstable();
        gone.extend(not_in(&old, &new));
        let came: Vec<u64> = not_in(&new, &old).collect();
        (gone.len() + came.len() <= most).then_some((gone, came))
    }

    /// Whether rows could be stored: what converting their values to the types of the columns, and NULL, is refused with.
    pub fn check_values(&self, batches: &[RecordBatch]) -> SqlResult<()> {
        for (place, column) in self.columns.iter().enumerate() {
            let schema = column.schema();
            batches.iter().try_for_each(|it| piece_of(it.column(place), &schema).map(|_| ()))?;
        }
        Ok(())
    }

    /// The keys that a change takes from rows or gives to them: the number of the rule and a hash that is the same for equal
    /// keys, whatever version of the table it is asked of. Positions rise.
    pub fn keys_of_change(
        &self,
        gone: &[u64],
        batches: &[RecordBatch],
    ) -> SqlResult<Vec<(u32, u64)>> {
        let mut keys = Vec::new();
        let gone: Vec<Option<usize>> = gone.iter().map(|it| Some(*it as usize)).collect();
        for (number, rule) in self.rules.indexes.iter().enumerate() {
            if !rule.kind.is_unique() {
                continue;
            }
            let mut add = |rows: usize,
                           array: &dyn Fn(&ColumnId) -> SqlResult<ArrayRef>|
             -> SqlResult<()> {
                if rows == 0 {
                    return Ok(());
                }
                let piece = |it: &ColumnId| {
                    let schema = self.column(*it).schema();
                    Ok((piece_of(&array(it)?, &schema)?, schema.data_type))
                };
                let pieces = rule.columns.iter().map(piece).collect::<SqlResult<Vec<_>>>()?;
                let hashes = hashes_of_keys(&pieces, rows, rule.nulls_equal).into_iter().flatten();
                keys.extend(hashes.map(|it| (number as u32, it)));
                Ok(())
            };
            add(gone.len(), &|it| values_at(self, *it, &gone))?;
            for batch in batches {
                add(batch.num_rows(), &|it| Ok(batch.column(it.index()).clone()))?;
            }
        }
        keys.sort_unstable();
        keys.dedup();
        Ok(keys)
    }

    /// The hashes of keys of the rule with a number, as [`Table::keys_of_change`] has them, of values for its columns in
    /// their order, perhaps of other types; none of a key with NULL, unless that is like NULL.
    ///
    /// Errors: values that no such column can hold.
    pub fn hashes_of_rule(&self, rule: usize, values: &[ArrayRef]) -> SqlResult<Vec<u64>> {
        let piece = |(column, array): (&ColumnId, &ArrayRef)| {
            let schema = ColumnSchema { nullable: true, ..self.column(*column).schema() };
            Ok((piece_of(array, &schema)?, schema.data_type))
        };
        let TableIndex { columns, nulls_equal, .. } = &self.rules.indexes[rule];
        let pieces = columns.iter().zip(values).map(piece).collect::<SqlResult<Vec<_>>>()?;
        let rows = values.first().map_or(0, |it| it.len());
        let hashes = hashes_of_keys(&pieces, rows, *nulls_equal).into_iter().flatten();
        let mut hashes: Vec<u64> = hashes.collect();
        hashes.sort_unstable();
        hashes.dedup();
        Ok(hashes)
    }

    /// A table that was put together anew of this one's rows, but those at some positions, and of new ones: rows keep their
    /// ids. `dealt` are the ids of the new ones for each part.
    pub(crate) fn identified(&self, mut new: Self, gone: &[u64], dealt: &[Vec<u64>]) -> Self {
        if !self.keeps_row_ids() {
            return new;
        }
        for part in &mut new.parts {
            let mut ids = RowIds::none();
            self.parts.iter().filter(|it| it.number == part.number).for_each(|it| {
                push_kept(&mut ids, it, gone);
            });
            dealt[part.number].iter().for_each(|it| ids.push(*it..*it + 1));
            debug_assert_eq!(ids.rows(), part.rows, "rows come in the order of their parts");
            part.ids = Arc::new(ids);
        }
        new
    }
}

/// Rows of parts that two versions do not share, when their ids are compared.
const MOVED_MAX: usize = 1 << 20;

/// The positions of rows that are in one version of a part and not in a newer one.
fn gone_since(part: &Part, newer: &Part) -> Vec<u64> {
    let Some(gone) = newer.deletions() else { return Vec::new() };
    let first = part.positions().start as u64;
    let mut before = part.deletions().map(|it| it.blocks());
    let mut rows = Vec::new();
    for (block, bits) in gone.blocks().enumerate() {
        let known = before.as_mut().and_then(|it| it.next()).flatten();
        let Some(bits) = bits else { continue };
        if known.is_some_and(|it| std::ptr::eq(it, bits)) {
            continue;
        }
        for (place, word) in bits.iter().enumerate() {
            let mut new = word & !known.map_or(0, |it| it[place]);
            while new != 0 {
                let row = block * BLOCK_ROWS + place * 64 + new.trailing_zeros() as usize;
                rows.push(first + row as u64);
                new &= new - 1;
            }
        }
    }
    rows
}

/// Adds the rows of a part that are there: their ids and positions.
fn add_rows(part: &Part, rows: &mut Vec<(u64, u64)>) {
    for (here, first) in part.ids.ranges() {
        let live = here.clone().filter(|it| part.is_live(*it));
        let of =
            |row: usize| (first + (row - here.start) as u64, (part.positions().start + row) as u64);
        rows.extend(live.map(of));
    }
}

/// The positions of rows of which others have no id; both rise.
fn not_in<'a>(rows: &'a [(u64, u64)], others: &'a [(u64, u64)]) -> impl Iterator<Item = u64> + 'a {
    let is_there = |id: u64| others.binary_search_by_key(&id, |it| it.0).is_ok();
    rows.iter().filter(move |it| !is_there(it.0)).map(|it| it.1)
}

/// Adds the rows of a part that are there, but those at some positions, which rise.
pub(crate) fn push_kept(ids: &mut RowIds, part: &Part, gone: &[u64]) {
    let positions = part.positions();
    let below = |end: usize| gone.partition_point(|it| *it < end as u64);
    let mut gone = gone[below(positions.start)..below(positions.end)].iter().peekable();
    for (rows, first) in part.ids.ranges() {
        if gone.peek().is_none() && part.deletions().is_none() {
            ids.push(first..first + rows.len() as u64);
            continue;
        }
        for row in rows.clone() {
            let goes = gone.next_if(|it| **it == (positions.start + row) as u64).is_some();
            if !goes && part.is_live(row) {
                let id = first + (row - rows.start) as u64;
                ids.push(id..id + 1);
            }
        }
    }
}
