//! The first rows of each group of an order: the rows are sorted by what makes a group and by the order within it, then
//! each batch numbers its rows within their groups, and those in the range stay.

use stdx::sync::{Arc, Mutex};
use types::{SqlError, SqlResult};

use super::key::{BytesKey, CompiledSortKey, KeyEncoder, RowKey};
use crate::{Batch, Kept, Rows, Sink, State, Team, WorkContext};

/// Puts rows in order and keeps some of each group.
pub struct GroupLimitSink {
    sorted: Box<dyn Sink>,
    groups: KeyEncoder,
    offset: u64,
    limit: Option<u64>,
}

/// The groups of a batch of sorted rows.
struct Groups<K> {
    /// The number of each row within its group, as far as the batch knows.
    ranks: Vec<u64>,
    first: K,
    last: K,
    /// Rows of the first group.
    leading: usize,
    /// Rows of that group before the batch.
    before: u64,
}

impl GroupLimitSink {
    /// Keeps at most `limit` rows after `offset` of those whose `groups` are equal, which `sorted` sorts by first.
    pub fn new(
        sorted: Box<dyn Sink>,
        groups: Vec<CompiledSortKey>,
        offset: u64,
        limit: Option<u64>,
    ) -> Self {
        Self { sorted, groups: KeyEncoder::new(groups), offset, limit }
    }

    fn cut<K: RowKey>(&self, batches: &[Batch], team: &dyn Team) -> SqlResult<Vec<Batch>> {
        let groups: Vec<Mutex<Option<Groups<K>>>> =
            batches.iter().map(|_| Mutex::new(None)).collect();
        team.run(batches.len(), &|place, _| {
            *groups[place].lock() = groups_of(K::encode(&self.groups, &batches[place])?);
            Ok(())
        })?;
        let mut open: Option<(K, u64)> = None;
        for groups in &groups {
            let mut guard = groups.lock();
            let Some(groups) = guard.as_mut() else { continue };
            groups.before = open.filter(|it| it.0 == groups.first).map_or(0, |it| it.1);
            let last = groups.ranks.len() - 1;
            let before = if groups.leading > last { groups.before } else { 0 };
            open = Some((groups.last.clone(), before + groups.ranks[last] + 1));
        }
        let kept: Vec<Mutex<Option<Batch>>> = batches.iter().map(|_| Mutex::new(None)).collect();
        team.run(batches.len(), &|place, _| {
            if let Some(groups) = &*groups[place].lock() {
                *kept[place].lock() = self.kept(&batches[place], groups);
            }
            Ok(())
        })?;
        Ok(kept.into_iter().filter_map(Mutex::into_inner).collect())
    }

    /// The rows of a batch that stay.
    fn kept<K>(&self, batch: &Batch, groups: &Groups<K>) -> Option<Batch> {
        let end = self.limit.map_or(u64::MAX, |it| self.offset.saturating_add(it));
        let wanted = |row: &u32| {
            let before = if (*row as usize) < groups.leading { groups.before } else { 0 };
            (self.offset..end).contains(&(before + groups.ranks[*row as usize]))
        };
        let rows: Vec<u32> = (0..batch.rows as u32).filter(wanted).collect();
        match rows.len() {
            0 => None,
            all if all == batch.rows => Some(batch.clone()),
            _ => Some(batch.take(&rows)),
        }
    }
}

fn groups_of<K: RowKey>(keys: Vec<K>) -> Option<Groups<K>> {
    let (first, last) = (keys.first()?.clone(), keys.last()?.clone());
    let leading = keys.partition_point(|it| *it == first);
    let mut ranks = vec![0; keys.len()];
    for row in 1..keys.len() {
        ranks[row] = if keys[row] == keys[row - 1] { ranks[row - 1] + 1 } else { 0 };
    }
    Some(Groups { ranks, first, last, leading, before: 0 })
}

impl Sink for GroupLimitSink {
    fn consume(&self, batch: Batch, context: &WorkContext) -> SqlResult<()> {
        self.sorted.consume(batch, context)
    }

    fn finish(&self, team: &dyn Team) -> SqlResult<State> {
        let State::Rows(rows) = self.sorted.finish(team)? else {
            return Err(SqlError::internal("a sort left no rows"));
        };
        let sorted = rows.all()?;
        let mut batches = match self.groups.bits() {
            Some(..=64) => self.cut::<u64>(&sorted, team)?,
            Some(_) => self.cut::<u128>(&sorted, team)?,
            None => self.cut::<BytesKey>(&sorted, team)?,
        };
        batches.iter_mut().enumerate().for_each(|(place, it)| it.sequence = place as u64);
        let layout = rows.layout.clone();
        Ok(State::Rows(Arc::new(Rows {
            layout,
            batches: batches.into_iter().map(Kept::Here).collect(),
            ordered: true,
            homes: Vec::new(),
            parts: None,
        })))
    }
}
