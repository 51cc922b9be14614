//! Versions of a table that share what did not change (docs/design/01-storage.md, "changes"): rows that go are marked, and rows
//! that come are in parts of their own behind the others, the deltas, so that a change costs what it changes.
//!
//! Key decision: a delta is a part. It has its own encodings, zones and indexes, and all that reads parts reads it; no row
//! knows when it came, since each version has parts and marks of its own.
//!
//! Key decision: few rows go behind those of the last delta as long as that is short ([`crate::tail`]). Deltas are merged in
//! tiers: eight of about one size become one of the next, so that a row is encoded once for each tier, and there are few
//! deltas however the rows came. When what has changed is an eighth of the main, the
//! table is put together anew. Sizes alone decide, so the same changes always end in the same parts and positions.

use arrow_array::{RecordBatch, UInt32Array};
use arrow_select::take::take_record_batch;
use stdx::sync::Arc;
use types::{ColumnId, ColumnStatistics, Deferral, SqlError, SqlResult};

use crate::build::{BatchRows, Chained, ChunkReader, KeptRows, Piece, delta_columns, piece_of};
use crate::domain::{Bounds, Shared, heap_of, joined, known_texts, plain_domain, text_domain};
use crate::new_keys::Arrived;
use crate::partition::Router;
use crate::place::ColumnPlace;
use crate::relocate::learn_new;
use crate::row_changes::push_kept;
use crate::row_ids::{RowIds, new_row_ids};
use crate::rules::Key;
use crate::table::check_positions;
use crate::tail::{Arrival, TAIL_ROWS, longer, tail_with_room, widened_by};
use crate::{
    BLOCK_ROWS, BuildContext, Column, Dictionary, Encoding, InvertedIndex, Part, Table, TableIndex,
    Translation,
};

/// Deltas of about one size that become one.
const FANOUT: usize = 8;

/// A table is put together anew once what has changed is this part of its main...
const MAIN_SHARE: usize = 8;

/// ... and at least so many rows.
const CHANGED_ROWS_MIN: usize = 4096;

/// A small table in which rows were only replaced: once these are so many.
const SMALL_CHANGED_MIN: usize = 1024;

impl Table {
    /// This table without the rows at some positions ([`Part::positions`]), which rise, and with more rows, under the same
    /// id. Columns of the batches go by place. Keys are checked of the rows that come.
    pub fn changed(
        &self,
        gone: &[u64],
        batches: &[RecordBatch],
        context: &BuildContext<'_>,
    ) -> SqlResult<Self> {
        let rows = batches.iter().map(RecordBatch::num_rows).sum();
        let ids: Vec<u64> = new_row_ids(rows).collect();
        self.changed_as(gone, batches, &ids, context)
    }

    /// [`Table::changed`] with the ids of the rows that come.
    pub fn changed_as(
        &self,
        gone: &[u64],
        batches: &[RecordBatch],
        ids: &[u64],
        context: &BuildContext<'_>,
    ) -> SqlResult<Self> {
        self.changed_with(gone, (batches, ids), true, context)
    }

    /// [`Table::changed_as`] with rows that break no key, as somebody has seen to, which is not looked at again.
    pub fn changed_unasked(
        &self,
        gone: &[u64],
        batches: &[RecordBatch],
        ids: &[u64],
        context: &BuildContext<'_>,
    ) -> SqlResult<Self> {
        self.changed_with(gone, (batches, ids), false, context)
    }

    fn changed_with(
        &self,
        gone: &[u64],
        (batches, ids): (&[RecordBatch], &[u64]),
        are_checked: bool,
        context: &BuildContext<'_>,
    ) -> SqlResult<Self> {
        if self.is_due(gone.len(), ids.len(), context) {
            let dealt = self.dealt_ids(ids, self.lists(batches)?.as_deref());
            let new = self.rewritten(gone, batches, context)?;
            return Ok(self.identified(new, gone, &dealt));
        }
        let (went, came) = (!gone.is_empty(), !ids.is_empty());
        match (went, came) {
            (_, false) => Ok(self.without(gone)),
            (false, true) => self.with_deltas(batches, ids, are_checked, context),
            (true, true) => self.without(gone).with_deltas(batches, ids, are_checked, context),
        }
    }

    /// This table put together anew, under the same id: without marks and deltas.
    pub fn merged(&self, context: &BuildContext<'_>) -> SqlResult<Self> {
        let none = vec![Vec::new(); self.partitioning().parts()];
        Ok(self.identified(self.rewritten(&[], &[], context)?, &[], &none))
    }

    /// Whether a change is such that the table had better be put together anew.
    fn is_due(&self, gone: usize, rows: usize, context: &BuildContext<'_>) -> bool {
        let mains = self.partitioning().parts();
        let main: usize = self.parts[..mains].iter().map(Part::rows).sum();
        let deltas: usize = self.parts[mains..].iter().map(Part::rows).sum();
        let marked: usize = self.parts.iter().map(|it| it.rows - it.live_rows()).sum();
        let changed = deltas + marked + gone + rows;
        let live = main + deltas - marked + rows;
        match live < context.delta_from {
            // Rows in the place of others change as in large tables.
            true => gone != rows || changed > SMALL_CHANGED_MIN,
            false => changed > CHANGED_ROWS_MIN.max(main / MAIN_SHARE),
        }
    }

    /// This table without some rows, which are marked.
    pub(crate) fn without(&self, gone: &[u64]) -> Self {
        if gone.is_empty() {
            return self.version(self.parts.clone(), self.columns.clone());
        }
        let part = |it: &Part| {
            let positions = it.positions();
            let of = |end: usize| gone.partition_point(|it| *it < end as u64);
            match &gone[of(positions.start)..of(positions.end)] {
                [] => it.clone(),
                here => it.without(here.iter().map(|it| *it as usize - positions.start)),
            }
        };
        let parts: Vec<Part> = self.parts.iter().map(part).collect();
        let rows = parts.iter().map(|it| it.live_rows() as u64).sum();
        let column = |it: &Arc<Column>| match without_rows(&it.statistics, self.rows, rows) {
            Some(statistics) => Arc::new(Column { statistics, ..Column::clone(it) }),
            None => it.clone(),
        };
        let columns = self.columns.iter().map(column).collect();
        self.version(parts, columns)
    }

    /// This table with more rows in deltas, one for each part that gets some; with them go the rows of earlier deltas whose
    /// tier is full.
    fn with_deltas(
        &self,
        batches: &[RecordBatch],
        ids: &[u64],
        are_checked: bool,
        context: &BuildContext<'_>,
    ) -> SqlResult<Self> {
        let (mut parts, mut new, mut arrivals) = (self.parts.clone(), Vec::new(), Vec::new());
        let lists = self.lists(batches)?;
        let dealt_ids = self.dealt_ids(ids, lists.as_deref());
        let mains = self.partitioning().parts();
        for (number, batches) in self.dealt(batches, lists.as_deref())? {
            let (rows, ids) = (batches.iter().map(RecordBatch::num_rows).sum(), &dealt_ids[number]);
            if let Some(place) = tail_with_room(&parts, (number, mains), rows) {
                let tail = parts.remove(place);
                let (part, arrival) = self.longer_tail(&tail, (&batches, ids), context)?;
                new.push(part);
                arrivals.push(arrival);
                continue;
            }
            // What begins a tail will be one; those that are full are merged before there are too many.
            let size = if rows <= TAIL_ROWS { TAIL_ROWS } else { rows };
            let merged = merged_with(size, number, &parts, mains);
            let (old, batches) =
                (KeptRows::of_parts(&parts, &merged, &[]), BatchRows::new(batches));
            let (source, schema) = (Chained::new(vec![&old, &batches]), self.schema());
            let reader = ChunkReader::new(&schema, &source, context);
            let main = &self.parts[number];
            let columns = delta_columns(&reader, &self.design, main)?;
            let mut kept = RowIds::none();
            merged.iter().for_each(|it| push_kept(&mut kept, &parts[*it], &[]));
            ids.iter().for_each(|it| kept.push(*it..*it + 1));
            let part = Part::new(columns, number, 0, main.nodes.clone());
            debug_assert!(
                part.columns.is_empty() || kept.rows() == part.rows,
                "each row has an id"
            );
            let part = Part { ids: Arc::new(kept), ..part };
            let facts = || part.columns.iter().map(|it| it.statistics.clone()).collect();
            arrivals.push(Arrival {
                from: 0,
                facts: merged.is_empty().then(facts),
                same_texts: vec![false; part.columns.len()],
            });
            // As many workers as its columns took: few rows are not worth waking any, nor an index.
            new.push(match part.rows <= TAIL_ROWS {
                true => part,
                false => self.indexed(part, reader.context())?,
            });
            merged.iter().rev().for_each(|it| _ = parts.remove(*it));
        }
        let first = parts.len();
        parts.extend(new);
        renumber(&mut parts);
        check_positions(&self.name, &parts)?;
        let columns = self.columns_with_deltas(&mut parts, (first, &arrivals), context)?;
        learn_new(&parts[first..], &columns, context)?;
        let table = self.version(parts, columns);
        let arrived = Arrived { first, from: arrivals.iter().map(|it| it.from).collect() };
        if are_checked {
            table.check_new_rows(&arrived, context)?;
        }
        table.with_known_keys(self, &arrived, context)
    }

    /// A tail with more rows.
    fn longer_tail(
        &self,
        tail: &Part,
        (batches, ids): (&[RecordBatch], &[u64]),
        context: &BuildContext<'_>,
    ) -> SqlResult<(Part, Arrival)> {
        let topology = context.allocator.machine().topology();
        let (mut columns, mut facts) = (Vec::with_capacity(self.columns.len()), Vec::new());
        let mut same_texts = Vec::new();
        for (place, old) in tail.columns.iter().enumerate() {
            let schema = self.columns[place].schema();
            let new = batches.iter().map(|it| piece_of(it.column(place), &schema));
            let new = new.collect::<SqlResult<Vec<Piece>>>()?;
            let placement = self.design.placement_of(topology, place, tail.number);
            let turn = self.design.turn_of(place, tail.number, context.turn);
            let column_place = ColumnPlace::new(context.allocator, &placement, turn);
            let (column, fact, same) = longer(old, &schema, new, column_place, context)?;
            columns.push(Arc::new(column));
            facts.push(fact);
            same_texts.push(same);
        }
        let mut all = RowIds::clone(&tail.ids);
        ids.iter().for_each(|it| all.push(*it..*it + 1));
        let arrival = Arrival { from: tail.rows, facts: Some(facts), same_texts };
        Ok((tail.lengthened(columns, all), arrival))
    }

    /// The rows of each part, by batch and part; `None` where all go to the one that there is.
    fn lists(&self, batches: &[RecordBatch]) -> SqlResult<Option<Vec<Vec<Vec<u32>>>>> {
        if !self.design.is_parted() {
            return Ok(None);
        }
        let schema = self.schema();
        let router = Router::new(self.partitioning(), &schema, self.rows as usize)?;
        let Some(router) = router else { return Ok(None) };
        let mut first = 0;
        let lists = batches.iter().map(|batch| {
            let key = |it: &usize| Ok(vec![piece_of(batch.column(*it), &schema[*it])?]);
            let keys: Vec<Vec<Piece>> =
                router.columns().iter().map(key).collect::<SqlResult<_>>()?;
            let lists = router.assign(&keys, first, batch.num_rows());
            first += batch.num_rows();
            Ok(lists)
        });
        lists.collect::<SqlResult<_>>().map(Some)
    }

    /// The ids of rows by the part that they go to.
    fn dealt_ids(&self, ids: &[u64], lists: Option<&[Vec<Vec<u32>>]>) -> Vec<Vec<u64>> {
        let Some(lists) = lists else { return vec![ids.to_vec()] };
        let (mut dealt, mut rest) = (vec![Vec::new(); self.partitioning().parts()], ids);
        for lists in lists {
            let rows = lists.iter().map(Vec::len).sum();
            let (here, behind) = rest.split_at(rows);
            for (dealt, rows) in dealt.iter_mut().zip(lists) {
                dealt.extend(rows.iter().map(|it| here[*it as usize]));
            }
            rest = behind;
        }
        dealt
    }

    /// Rows by the part that they go to.
    fn dealt(
        &self,
        batches: &[RecordBatch],
        lists: Option<&[Vec<Vec<u32>>]>,
    ) -> SqlResult<Vec<(usize, Vec<RecordBatch>)>> {
        let Some(lists) = lists else { return Ok(vec![(0, batches.to_vec())]) };
        let mut dealt: Vec<(usize, Vec<RecordBatch>)> = Vec::new();
        for (batch, lists) in batches.iter().zip(lists) {
            for (number, rows) in lists.iter().enumerate().filter(|it| !it.1.is_empty()) {
                let rows = take_record_batch(batch, &UInt32Array::from(rows.clone()))
                    .map_err(|error| SqlError::internal(format!("rows are malformed: {error}")))?;
                match dealt.iter_mut().find(|it| it.0 == number) {
                    Some((_, batches)) => batches.push(rows),
                    None => dealt.push((number, vec![rows])),
                }
            }
        }
        dealt.sort_by_key(|it| it.0);
        Ok(dealt)
    }

    /// A new part with the indexes that the table has.
    fn indexed(&self, mut part: Part, context: &BuildContext<'_>) -> SqlResult<Part> {
        for (place, column) in Arc::make_mut(&mut part.columns).iter_mut().enumerate() {
            if self.rules.has_index(place) {
                let index = InvertedIndex::build(column, context)?.map(Arc::new);
                *column = Arc::new(Column { index, ..Column::clone(column) });
            }
        }
        Ok(part)
    }

    /// What the columns have in common once some parts, from `first` on, have been added.
    fn columns_with_deltas(
        &self,
        parts: &mut [Part],
        (first, arrivals): (usize, &[Arrival]),
        context: &BuildContext<'_>,
    ) -> SqlResult<Vec<Arc<Column>>> {
        let mut columns = Vec::with_capacity(self.columns.len());
        for (place, old) in self.columns.iter().enumerate() {
            let shared = Shared { design: &self.design, column: place };
            let placement = shared.placement(context);
            let column_place = shared.place(&placement, context);
            let arrived = (&mut *parts, first, arrivals);
            let joined_as = self.joined_encoding(arrived, (shared, &column_place), context)?;
            let texts = joined_as.1 as u64;
            let statistics = match arrivals {
                // What was known is widened by what is known of the new rows.
                [Arrival { facts: Some(facts), from, .. }] => {
                    let new_rows = (parts[first].rows - from) as u64;
                    let known = (&old.statistics, self.is_key(ColumnId(place as u16)));
                    let rows = (self.rows + new_rows, new_rows, texts);
                    let in_order = !self.design.is_parted();
                    widened_by(old.data_type, known, &facts[place], rows, in_order)
                }
                _ => self.statistics_with(place, texts, (parts, first)),
            };
            let was_joined = self.parts.len() > 1;
            let joined = match was_joined {
                true => {
                    let (encoding, code_count) = joined_as;
                    let rows = parts.iter().map(Part::rows).sum();
                    Column { encoding, code_count, statistics, rows, ..Column::clone(old) }
                }
                false => joined(&old.schema(), parts, joined_as, statistics, &column_place)?,
            };
            columns.push(Arc::new(joined));
        }
        Ok(columns)
    }

    /// How a column of the table tells the texts of its parts, of which those from `first` on were added; their translations
    /// are made.
    fn joined_encoding(
        &self,
        (parts, first, arrivals): (&mut [Part], usize, &[Arrival]),
        (shared, column_place): (Shared<'_>, &ColumnPlace<'_>),
        context: &BuildContext<'_>,
    ) -> SqlResult<(Encoding, usize)> {
        let place = shared.column;
        let old = &self.columns[place];
        match &old.encoding {
            Encoding::Plain(_) => return Ok((plain_domain(parts, place), 0)),
            Encoding::Dictionary(Dictionary::Text(_)) => {}
            _ => return Ok((Encoding::Parts, 0)),
        }
        let heap = heap_of(old);
        let known = parts[first..].iter().zip(arrivals).map(|(part, arrival)| {
            match arrival.same_texts[place] {
                true => Ok(Some(part.translation(place).cloned())),
                false => Ok(known_texts(heap, part, shared, context)?.map(Some)),
            }
        });
        if let Some(known) = known.collect::<SqlResult<Option<Vec<_>>>>()? {
            for (part, translation) in parts[first..].iter_mut().zip(known) {
                set_translation(part, place, translation);
            }
            return Ok((old.encoding.clone(), heap.len()));
        }
        let columns: Vec<&Column> = parts.iter().map(|it| &*it.columns[place]).collect();
        let (heap, translations) = text_domain(&columns, parts, (shared, column_place), context)?;
        for (part, translation) in parts.iter_mut().zip(translations) {
            set_translation(part, place, translation);
        }
        let count = heap.len();
        Ok((Encoding::Dictionary(Dictionary::Text(heap)), count))
    }

    /// The facts about a column to which the parts from `first` on have come. `texts`: how many its dictionary has.
    fn statistics_with(
        &self,
        place: usize,
        texts: u64,
        (parts, first): (&[Part], usize),
    ) -> ColumnStatistics {
        let old = &self.columns[place].statistics;
        let rows: u64 = parts.iter().map(|it| it.live_rows() as u64).sum();
        let columns: Vec<&Column> = parts.iter().map(|it| &*it.columns[place]).collect();
        let bounds = Bounds::of(&columns);
        let was_key = self.is_key(ColumnId(place as u16));
        let is_key = |it: &Part| {
            let facts = &it.columns[place].statistics;
            facts.distinct_exact && facts.nulls == 0 && facts.distinct == it.rows as u64
        };
        let (distinct, distinct_exact) = match bounds.apart {
            true if was_key && parts[first..].iter().all(is_key) => (rows, true),
            _ if texts > 0 => (texts, old.distinct_exact && !old.widened),
            true if !old.widened => (
                columns.iter().map(|it| it.statistics.distinct).sum(),
                columns.iter().all(|it| it.statistics.distinct_exact),
            ),
            _ => {
                // Of the values that came, about as many were there already as had been before.
                let new = parts[first..].iter().map(|it| it.columns[place].statistics.distinct);
                let share = rows as f64 / self.rows.max(1) as f64;
                let spread = (old.distinct as f64 * share) as u64;
                (
                    spread.min(old.distinct + new.clone().sum::<u64>()).max(new.max().unwrap_or(0)),
                    false,
                )
            }
        };
        let with_values = if old.widened { rows } else { rows - bounds.nulls };
        let distinct = distinct.min(with_values);
        let Bounds { nulls, min, max, sorted, .. } = bounds;
        ColumnStatistics { nulls, distinct, distinct_exact, min, max, sorted, widened: old.widened }
    }

    /// The statistics with what is known of keys: a column that is one has as many values as there are rows. What was a key
    /// of `before` by its values stays one if no new row repeats a value, which is looked up where
    /// the rows are sorted by it.
    fn with_known_keys(
        mut self,
        before: &Self,
        arrived: &Arrived,
        context: &BuildContext<'_>,
    ) -> SqlResult<Self> {
        for place in 0..self.columns.len() {
            let (id, column) = (ColumnId(place as u16), &self.columns[place]);
            // A key that may be broken for a while tells nothing.
            let is_kept = |it: &&TableIndex| it.kind.is_unique() && it.deferral == Deferral::None;
            let rules = self.rules.indexes.iter().filter(is_kept);
            let is_rule = rules.into_iter().any(|it| it.columns == [id]);
            let mains = &self.parts[..self.partitioning().parts()];
            let is_sorted = || mains.iter().all(|it| it.columns[place].statistics.sorted);
            let may_be = before.is_key(id) && column.data_type.plain().is_integer() && is_sorted();
            if column.statistics.nulls > 0 || self.is_key(id) || !(is_rule || may_be) {
                continue;
            }
            if is_rule
                || self
                    .repeated(Key { columns: &[id], nulls_equal: false }, arrived, context)?
                    .is_none()
            {
                let (distinct, distinct_exact) = (self.rows, true);
                let statistics =
                    ColumnStatistics { distinct, distinct_exact, ..column.statistics.clone() };
                self.columns[place] = Arc::new(Column { statistics, ..Column::clone(column) });
            }
        }
        Ok(self)
    }
}

/// The deltas of a part, by place, whose rows go into a delta with so many new ones: those at the end of its tiers.
fn merged_with(new: usize, number: usize, parts: &[Part], mains: usize) -> Vec<usize> {
    let tier = |rows: usize| rows.max(1).ilog(FANOUT);
    let deltas = (mains..parts.len()).filter(|it| parts[*it].number == number);
    let mut deltas: Vec<usize> = deltas.collect();
    let (mut merged, mut rows) = (Vec::new(), new);
    loop {
        let alike = |it: &&usize| tier(parts[**it].live_rows()) <= tier(rows);
        let count = deltas.iter().rev().take_while(alike).count();
        if count + 1 < FANOUT {
            merged.reverse();
            return merged;
        }
        for place in deltas.split_off(deltas.len() - count).into_iter().rev() {
            rows += parts[place].live_rows();
            merged.push(place);
        }
    }
}

/// Gives parts their positions, one behind the other.
fn renumber(parts: &mut [Part]) {
    let mut first = 0;
    for part in parts {
        part.first = first;
        first += part.rows.next_multiple_of(BLOCK_ROWS);
    }
}

fn set_translation(part: &mut Part, place: usize, translation: Option<Translation>) {
    if translation.is_none() && part.translations.is_empty() {
        return;
    }
    let translations = Arc::make_mut(&mut part.translations);
    translations.resize(part.columns.len(), None);
    translations[place] = translation;
}

/// Facts about a column of which rows have gone: all but the number of values of a key are now only bounds. Nothing where they
/// are what they were.
fn without_rows(facts: &ColumnStatistics, before: u64, rows: u64) -> Option<ColumnStatistics> {
    let was_key = facts.distinct_exact && facts.nulls == 0 && facts.distinct == before;
    let (distinct, distinct_exact) = (facts.distinct.min(rows), was_key);
    let is_same =
        facts.widened && facts.distinct == distinct && facts.distinct_exact == distinct_exact;
    let changed = ColumnStatistics { distinct, distinct_exact, widened: true, ..facts.clone() };
    (!is_same).then_some(changed)
}
