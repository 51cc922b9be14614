//! Rows of versions of a table by their ids ([`crate::row_ids`]): where they are, and which keys a change touches.

use arrow_array::{ArrayRef, RecordBatch};
use stdx::sync::Arc;
use types::{ColumnId, SqlResult};

use crate::build::piece_of;
use crate::partition::hashes_of_keys;
use crate::row_ids::RowIds;
use crate::{Part, Partitioning, Table, values_at};

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
            let mut add =
                |rows: usize, array: &dyn Fn(&ColumnId) -> SqlResult<ArrayRef>| -> SqlResult<()> {
                    if rows == 0 {
                        return Ok(());
                    }
                    let piece = |it: &ColumnId| {
                        let schema = self.column(*it).schema();
                        Ok((piece_of(&array(it)?, &schema)?, schema.data_type))
                    };
                    let pieces = rule.columns.iter().map(piece).collect::<SqlResult<Vec<_>>>()?;
                    let hashes = hashes_of_keys(&pieces, rows).into_iter().flatten();
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
