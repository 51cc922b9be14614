//! What a transaction has done to rows: by the ids of those that went and the rows that came, so that it can be done to
//! any version of their tables (docs/design/08-transactions.md, "a commit of rows").

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_select::concat::concat_batches;
use arrow_select::filter::filter_record_batch;
use stdx::sync::Arc;
use storage::{BuildContext, Catalog, CatalogSnapshot, Table};
use types::{SqlResult, TableId};

use crate::changed_rows::malformed;
use crate::conflict::concurrent_update;
use crate::durability::Operation;

/// By table.
#[derive(Clone, Default)]
pub(crate) struct RowChanges(BTreeMap<TableId, TableChanges>);

#[derive(Clone, Default)]
struct TableChanges {
    went: Vec<u64>,
    came: Vec<(Range<u64>, RecordBatch)>,
    /// How many changes made the version that the branch has of the one that it began with.
    steps: usize,
}

/// Rows of a batch, on the average, that are copied for the sake of one batch in the place of many.
const FEW_ROWS: usize = 64;

/// The steps of a table whose changes are not in the branch.
const PUT_OFF: usize = usize::MAX;

/// Which tables of a branch are made when it begins with others.
#[derive(Clone, Copy)]
pub(crate) enum Extent<'a> {
    /// All.
    All,
    /// All, each in one step, as the log has them.
    Flat,
    /// Those that a statement asks for.
    Of(&'a [TableId]),
}

/// How tables are changed.
pub(crate) struct Making<'a> {
    pub(crate) context: &'a BuildContext<'a>,
    /// Whether keys are asked. Of the newest tables they were, when they were locked.
    pub(crate) asks_keys: bool,
    /// Who is told of a table before and after it was changed.
    pub(crate) made: &'a dyn Fn(&Table, &Table),
}

/// How long the lists of each table were.
pub(crate) type Mark = BTreeMap<TableId, (usize, usize)>;

/// What a transaction leaves: rows that it brought and took itself are not in it.
struct Net {
    /// Ids, which rise.
    gone: Vec<u64>,
    rows: Vec<RecordBatch>,
    ids: Vec<u64>,
}

impl RowChanges {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Notes what a statement did to a table.
    pub(crate) fn add(
        &mut self,
        table: TableId,
        went: &[u64],
        rows: &[RecordBatch],
        ids: Range<u64>,
    ) {
        let changes = self.0.entry(table).or_default();
        changes.went.extend(went);
        changes.steps = changes.steps.saturating_add(1);
        let mut first = ids.start;
        for batch in rows.iter().filter(|it| it.num_rows() > 0) {
            let end = first + batch.num_rows() as u64;
            changes.came.push((first..end, batch.clone()));
            first = end;
        }
    }

    /// Notes what a statement does to a table whose version in the branch does not have it, nor any other change.
    pub(crate) fn put_off(
        &mut self,
        table: TableId,
        went: &[u64],
        rows: &[RecordBatch],
        ids: Range<u64>,
    ) {
        self.add(table, went, rows, ids);
        self.0.entry(table).or_default().steps = PUT_OFF;
    }

    /// What several transactions have done, in one.
    pub(crate) fn of_all<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        let mut of_all = Self::default();
        for (table, changes) in all.flat_map(|it| &it.0) {
            let own = of_all.0.entry(*table).or_default();
            own.went.extend(&changes.went);
            own.came.extend_from_slice(&changes.came);
            own.steps = PUT_OFF;
        }
        of_all
    }

    /// Leaves all tables of the branch without their changes.
    pub(crate) fn put_off_all(&mut self) {
        self.0.values_mut().for_each(|it| it.steps = PUT_OFF);
    }

    pub(crate) fn mark(&self) -> Mark {
        self.0.iter().map(|it| (*it.0, (it.1.went.len(), it.1.came.len()))).collect()
    }

    /// Forgets what came after a mark; the tables of the branch are to be made anew.
    pub(crate) fn truncate(&mut self, mark: &Mark) {
        self.0.retain(|table, _| mark.contains_key(table));
        for (table, changes) in &mut self.0 {
            let (went, came) = mark[table];
            changes.went.truncate(went);
            changes.came.truncate(came);
            changes.steps = PUT_OFF;
        }
    }

    /// Whether a row came by this transaction.
    pub(crate) fn is_own(&self, table: TableId, id: u64) -> bool {
        self.0.get(&table).is_some_and(|it| it.came.iter().any(|it| it.0.contains(&id)))
    }

    /// Whether the tables that were changed are in a picture what they are in another one.
    pub(crate) fn is_same_in(&self, one: &CatalogSnapshot, other: &CatalogSnapshot) -> bool {
        self.0.keys().all(|it| is_same(one.by_id(*it), other.by_id(*it)))
    }

    /// Whether each table of the branch is what a single change makes of the one that it began with, as the log has it.
    pub(crate) fn is_flat(&self) -> bool {
        self.0.values().all(|it| it.steps == 1)
    }

    /// Whether a table of the branch does not have its changes.
    pub(crate) fn is_put_off(&self, table: TableId) -> bool {
        self.0.get(&table).is_some_and(|it| it.steps == PUT_OFF)
    }

    /// Whether all tables of an extent have their changes in the branch.
    pub(crate) fn is_made(&self, extent: Extent<'_>) -> bool {
        match extent {
            Extent::All => self.0.values().all(|it| it.steps != PUT_OFF),
            Extent::Flat => self.is_flat(),
            Extent::Of(tables) => !tables.iter().any(|it| self.is_put_off(*it)),
        }
    }

    /// A branch that begins with other tables and has the same changes, each table changed in one step where these differ or
    /// it has to be; what nobody asks for is put off. A row that has gone meanwhile is 40001.
    pub(crate) fn rebased(
        &mut self,
        (began, branch): (&CatalogSnapshot, &Catalog),
        (onto, head): (&Arc<CatalogSnapshot>, &Catalog),
        extent: Extent<'_>,
        making: &Making<'_>,
    ) -> SqlResult<Catalog> {
        let new = head.branch(onto.clone());
        new.publish(began, branch);
        for (id, changes) in &mut self.0 {
            let base = onto.by_id(*id);
            let is_same = is_same(base, began.by_id(*id));
            let is_asked = match extent {
                Extent::All | Extent::Flat => true,
                Extent::Of(tables) => tables.contains(id),
            };
            let (is_flat, is_there) = (changes.steps == 1, changes.steps != PUT_OFF);
            if is_same && (is_flat || is_there && !matches!(extent, Extent::Flat)) {
                continue;
            }
            if !is_asked {
                if is_there {
                    new.adopt(onto, *id);
                    changes.steps = PUT_OFF;
                }
                continue;
            }
            let (base, current) = (base.ok_or_else(concurrent_update)?, new.snapshot());
            let current = current.by_id(*id).ok_or_else(concurrent_update)?;
            let Net { gone, rows, ids } = changes.net()?;
            let positions = positions_in(base, &gone).ok_or_else(concurrent_update)?;
            let changed = match making.asks_keys {
                true => base.changed_as(&positions, &rows, &ids, making.context),
                false => base.changed_unasked(&positions, &rows, &ids, making.context),
            };
            let changed = changed.map_err(|it| it.in_table(&base.name))?;
            let changed = new.replace(current, changed)?;
            (making.made)(base, &changed);
            changes.steps = 1;
        }
        Ok(new)
    }

    /// The same for the log: what happened to the tables that the branch began with.
    pub(crate) fn operations(&self, began: &CatalogSnapshot) -> SqlResult<Vec<Operation>> {
        let operation = |(id, changes): (&TableId, &TableChanges)| {
            let base = began.by_id(*id).ok_or_else(concurrent_update)?;
            let Net { gone, rows, .. } = changes.net()?;
            let gone = positions_in(base, &gone).ok_or_else(concurrent_update)?;
            Ok(Operation::change(&base.name, &gone, &rows))
        };
        self.0.iter().map(operation).collect()
    }
}

impl TableChanges {
    fn net(&self) -> SqlResult<Net> {
        let last = self.went.iter().max();
        if self.came.iter().all(|it| last.is_none_or(|last| *last < it.0.start)) {
            // No row has both come and gone.
            let mut gone = self.went.clone();
            gone.sort_unstable();
            gone.dedup();
            let rows = in_one(self.came.iter().map(|it| it.1.clone()).collect())?;
            let ids = self.came.iter().flat_map(|it| it.0.clone()).collect();
            return Ok(Net { gone, rows, ids });
        }
        let went: HashSet<u64> = self.went.iter().copied().collect();
        let (mut rows, mut ids, mut own) = (Vec::new(), Vec::new(), HashSet::new());
        for (range, batch) in &self.came {
            let stays: Vec<bool> = range.clone().map(|it| !went.contains(&it)).collect();
            own.extend(range.clone().filter(|it| went.contains(it)));
            ids.extend(range.clone().filter(|it| !went.contains(it)));
            match stays.iter().all(|it| *it) {
                true => rows.push(batch.clone()),
                false => {
                    let left = filter_record_batch(batch, &BooleanArray::from(stays));
                    rows.push(left.map_err(|it| malformed(&it))?);
                }
            }
        }
        rows.retain(|it| it.num_rows() > 0);
        let mut gone: Vec<u64> = went.into_iter().filter(|it| !own.contains(it)).collect();
        gone.sort_unstable();
        Ok(Net { gone, rows, ids })
    }
}

/// Many batches of few rows as one, which costs less than what is done for each batch.
fn in_one(batches: Vec<RecordBatch>) -> SqlResult<Vec<RecordBatch>> {
    let Some(first) = batches.first().filter(|_| batches.len() > 2) else { return Ok(batches) };
    let schema = first.schema();
    let is_alike = |it: &RecordBatch| Arc::ptr_eq(&it.schema(), &schema) || it.schema() == schema;
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    if rows > FEW_ROWS * batches.len() || !batches.iter().all(is_alike) {
        return Ok(batches);
    }
    let one = concat_batches(&schema, &batches).map_err(|it| malformed(&it))?;
    Ok(vec![one])
}

/// Where all rows with some ids are, from the first to the last; `None` if one is not there.
pub(crate) fn positions_in(table: &Table, ids: &[u64]) -> Option<Vec<u64>> {
    if ids.is_empty() {
        return Some(Vec::new());
    }
    let mut rising = ids.to_vec();
    rising.sort_unstable();
    let mut positions = table.positions_of(&rising).into_iter().collect::<Option<Vec<u64>>>()?;
    positions.sort_unstable();
    Some(positions)
}

pub(crate) fn is_same(one: Option<&Arc<Table>>, other: Option<&Arc<Table>>) -> bool {
    one.zip(other).is_some_and(|it| Arc::ptr_eq(it.0, it.1))
}
