//! Whether rows that come have keys that others have: what is asked of the few rows of a change, at the cost of a change.
//!
//! Facts decide first (who comes behind all others, as rising keys do, is new), then the index of a key of one column; else
//! zones leave out blocks, the codes of the new values rows, and hashes and values decide about what is left.
//!
//! It is asked of rows that have come, or of such as shall come ([`Table::check_arriving`]): so what locks guard until the commit need not
//! be asked where all commits go one after the other.

use std::ops::Bound;

use arrow_array::RecordBatch;
use bitpack::bitmap;
use types::numeric::number;
use types::{ColumnId, DataType, Deferral, Range, SqlResult, Value};

use crate::arriving::{ArrivingKeys, NewKey, pieces_of_key};
use crate::build::Piece;
use crate::index_rules::{NO_KEY, has_other_forms, key_form, key_hashes, key_value, row_hash};
use crate::parallel::try_map;
use crate::rules::{IndexKind, Key};
use crate::{BLOCK_ROWS, BuildContext, Column, Part, TAIL_ROWS, Table, TableIndex};

/// Which rows of a table have come.
pub(crate) struct Arrived {
    /// The first part that some came to; they are in all behind it, too.
    pub(crate) first: usize,
    /// The first of them in each.
    pub(crate) from: Vec<usize>,
}

impl Arrived {
    /// How many rows of a part were there before.
    fn before(&self, place: usize, part: &Part) -> usize {
        match place.checked_sub(self.first) {
            Some(place) => self.from[place],
            None => part.rows(),
        }
    }
}

impl Table {
    /// Refuses rows that came where they break a key: that of rows before them, or of each other.
    pub(crate) fn check_new_rows(
        &self,
        arrived: &Arrived,
        context: &BuildContext<'_>,
    ) -> SqlResult<()> {
        for rule in self.rules.indexes.iter().filter(|it| it.kind.is_unique()) {
            self.check_filled(rule, &self.parts[arrived.first..])?;
            if rule.columns.iter().any(|it| self.is_key(*it)) {
                continue;
            }
            if let Some((part, row)) = self.repeated(rule.key(), arrived, context)?
                && !context.puts_off(rule)
            {
                return Err(self.exists_twice(rule, &self.parts[part], row));
            }
        }
        Ok(())
    }

    /// Refuses rows that shall come in the place of some others, at positions that rise, where they would break a key.
    pub fn check_arriving(
        &self,
        gone: &[u64],
        batches: &[RecordBatch],
        context: &BuildContext<'_>,
    ) -> SqlResult<()> {
        let left = (!gone.is_empty()).then(|| self.without(gone));
        let table = left.as_ref().unwrap_or(self);
        for rule in self.rules.indexes.iter().filter(|it| it.kind.is_unique()) {
            let pieces = pieces_of_key(self, rule.columns.as_slice(), batches)?;
            let arriving = ArrivingKeys::new(table, rule.key(), &pieces);
            if rule.kind == IndexKind::PrimaryKey
                && let Some(column) = arriving.column_with_null()
            {
                return Err(self.not_filled(column));
            }
            if arriving.are_behind_all() {
                continue;
            }
            let (keys, has_null) = (arriving.keys(), arriving.has_null());
            let check =
                KeyCheck { table, key: rule.key(), keys, has_null, new: New::Pieces(&pieces) };
            if let Some(found) = check.found(Part::rows, context)?
                && !context.puts_off(rule)
            {
                return Err(match found {
                    Found::Row(part, row) => self.exists_twice(rule, &self.parts[part], row),
                    Found::New(key) => {
                        let values = (0..rule.columns.len()).map(|it| arriving.value(&key, it));
                        self.is_twice(rule, values)
                    }
                });
            }
        }
        Ok(())
    }

    /// Whether no two rows share a value of a column, and none is NULL, as far as the facts tell.
    pub fn is_key(&self, column: ColumnId) -> bool {
        let facts = &self.column(column).statistics;
        // A key that may be broken for a while tells nothing.
        let may_break = |it: &TableIndex| it.deferral != Deferral::None && it.columns == [column];
        !self.rules.indexes.iter().any(may_break)
            && facts.distinct_exact
            && !has_other_forms(self.column(column))
            && facts.nulls == 0
            && facts.distinct == self.rows
    }

    /// The part and the number of a row that has the same key as one that came.
    pub(crate) fn repeated(
        &self,
        key: Key<'_>,
        arrived: &Arrived,
        context: &BuildContext<'_>,
    ) -> SqlResult<Option<(usize, usize)>> {
        let keys = self.new_keys(key, arrived, context)?;
        let has_null = key.nulls_equal
            && keys.iter().any(|it| {
                key.columns.iter().any(|id| self.parts[it.1].columns[id.index()].is_null(it.2))
            });
        let check = KeyCheck { table: self, key, keys, has_null, new: New::Arrived };
        let mut places = self.parts.iter().enumerate();
        let before = |part: &Part| places.next().map_or(0, |it| arrived.before(it.0, part));
        Ok(check.found(before, context)?.map(|found| match found {
            Found::Row(part, row) => (part, row),
            Found::New((_, part, row)) => (part, row),
        }))
    }

    /// The keys of the rows that came, by their hashes.
    fn new_keys(
        &self,
        key: Key<'_>,
        arrived: &Arrived,
        context: &BuildContext<'_>,
    ) -> SqlResult<Vec<NewKey>> {
        let mut keys = Vec::new();
        for (place, part) in self.parts.iter().enumerate().skip(arrived.first) {
            let (own, from) = (columns_of(part, key.columns), arrived.before(place, part));
            let hashes = match from {
                0 => key_hashes((&own, key.nulls_equal), part.rows(), context)?,
                _ => (from..part.rows()).map(|it| row_hash((&own, key.nulls_equal), it)).collect(),
            };
            let hashes = hashes.into_iter().enumerate().filter(|it| it.1 != NO_KEY);
            keys.extend(hashes.map(|(row, hash)| (hash, place, from + row)));
        }
        keys.sort_unstable();
        Ok(keys)
    }
}

fn columns_of<'a>(part: &'a Part, columns: &[ColumnId]) -> Vec<&'a Column> {
    columns.iter().map(|it| &*part.columns[it.index()]).collect()
}

/// New rows against a key.
struct KeyCheck<'a> {
    table: &'a Table,
    key: Key<'a>,
    /// They rise.
    keys: Vec<NewKey>,
    /// Whether a key of them has a NULL, which is in no index and no zone.
    has_null: bool,
    new: New<'a>,
}

/// Where the new rows are.
#[derive(Clone, Copy)]
enum New<'a> {
    /// In the table.
    Arrived,
    /// Not in it: the columns of the key, by batch.
    Pieces(&'a [Vec<Piece>]),
}

/// A key that is there twice.
enum Found {
    /// The part and the number of a row that was there.
    Row(usize, usize),
    /// One of two new rows.
    New(NewKey),
}

impl KeyCheck<'_> {
    /// A row that has the key of a new one; of parts, in their order, the first rows are asked, as many as `before` tells.
    fn found(
        &self,
        mut before: impl FnMut(&Part) -> usize,
        context: &BuildContext<'_>,
    ) -> SqlResult<Option<Found>> {
        if let Some(found) = self.among_themselves() {
            return Ok(Some(Found::New(found)));
        }
        for (place, part) in self.table.parts.iter().enumerate() {
            let rows = before(part);
            if rows > 0
                && let Some(row) = self.against(part, rows, context)?
            {
                return Ok(Some(Found::Row(place, row)));
            }
        }
        Ok(None)
    }

    /// What a new row has in a column of the key, by its place there.
    fn value(&self, key: &NewKey, place: usize) -> Value {
        let id = self.key.columns[place];
        match self.new {
            New::Arrived => key_value(&self.table.parts[key.1].columns[id.index()], key.2),
            New::Pieces(batches) => {
                let data_type = self.table.column(id).data_type;
                key_form(batches[key.1][place].value(data_type, key.2), data_type)
            }
        }
    }

    /// Whether a row of a part has the key of a new one.
    fn is_same(&self, key: &NewKey, part: &Part, row: usize) -> bool {
        let mut columns = self.key.columns.iter().enumerate();
        columns
            .all(|(place, it)| self.value(key, place) == key_value(&part.columns[it.index()], row))
    }

    /// A new row whose key another new one has.
    fn among_themselves(&self) -> Option<NewKey> {
        let is_same = |a: &NewKey, b: &NewKey| {
            (0..self.key.columns.len()).all(|it| self.value(a, it) == self.value(b, it))
        };
        let repeats = |(place, key): &(usize, &NewKey)| {
            let mut alike = self.keys[place + 1..].iter().take_while(|it| it.0 == key.0);
            alike.any(|it| is_same(key, it))
        };
        self.keys.iter().enumerate().find(repeats).map(|it| *it.1)
    }

    /// A row of a part, among its first `rows`, that has the key of a new one.
    fn against(
        &self,
        part: &Part,
        rows: usize,
        context: &BuildContext<'_>,
    ) -> SqlResult<Option<usize>> {
        let columns = columns_of(part, self.key.columns);
        let by_value = match columns[..] {
            // Equal ones stand side by side there, but for those of JSONB and ranges of numbers.
            [column]
                if !column.data_type.is_float()
                    && column.data_type != DataType::Jsonb
                    && column.data_type.range() != Some(Range::Num)
                    && !self.has_null =>
            {
                self.by_value(part, column, rows)
            }
            _ => None,
        };
        match by_value {
            Some(found) => Ok(found.first().copied()),
            None => self.by_codes(part, &columns, rows, context),
        }
    }

    /// A row of a part with an index, or of a tail, that has the key of a new one; `None` where that cannot be told so.
    fn by_value(&self, part: &Part, column: &Column, rows: usize) -> Option<Vec<usize>> {
        let mut found = Vec::new();
        for key in &self.keys {
            let value = self.value(key, 0);
            let end = behind(column, &value);
            let low = Bound::Included(&value);
            let high = end.as_ref().map_or(low, Bound::Excluded);
            found.clear();
            match &column.index {
                Some(index) => index.positions(index.lookup(column, low, high)?, &mut found),
                None if part.rows() <= TAIL_ROWS => column.rows_between(low, high, &mut found)?,
                None => return None,
            }
            let is_before = |it: &&u32| (**it as usize) < rows && part.is_live(**it as usize);
            if let Some(row) = found.iter().find(is_before) {
                return Some(vec![*row as usize]);
            }
        }
        Some(Vec::new())
    }

    /// A row of a part that has the key of a new one, looked for in the blocks and rows in which each of its columns has one
    /// of their values.
    fn by_codes(
        &self,
        part: &Part,
        columns: &[&Column],
        until: usize,
        context: &BuildContext<'_>,
    ) -> SqlResult<Option<usize>> {
        let codes = |(place, column): (usize, &&Column)| self.codes_in(place, column);
        let codes: Vec<Option<Vec<u32>>> = columns.iter().enumerate().map(codes).collect();
        if codes.iter().flatten().any(Vec::is_empty) {
            return Ok(None);
        }
        let wanted: Vec<(&Column, &[u32])> =
            columns.iter().zip(&codes).filter_map(|it| Some((*it.0, it.1.as_deref()?))).collect();
        let may_hold = |block: usize| {
            wanted.iter().all(|(column, codes)| {
                let Some(zone) = column.zones.get(block) else { return true };
                let from = codes.partition_point(|it| *it < zone.min_code);
                codes.get(from).is_some_and(|it| *it <= zone.max_code)
            })
        };
        let open: Vec<usize> =
            (0..part.rows().div_ceil(BLOCK_ROWS)).filter(|it| may_hold(*it)).collect();
        // The column that leaves the fewest rows.
        let share = |it: &&(&Column, &[u32])| it.1.len() as f64 / it.0.code_count().max(1) as f64;
        let best = wanted.iter().min_by(|a, b| share(a).total_cmp(&share(b)));
        let test = best.map(|(column, codes)| (*column, CodeTest::new(column, codes)));
        let found = try_map(context.parallel, open.len(), |place| {
            context.check_cancelled()?;
            let start = open[place] * BLOCK_ROWS;
            let rows = BLOCK_ROWS.min(part.rows() - start);
            let mut words = vec![0; bitmap::words_for(rows)];
            match &test {
                Some((column, test)) => test.scan(column, start, rows, &mut words),
                None => bitmap::fill(&mut words, rows),
            }
            if let Some(gone) = part.deletions() {
                gone.clear(start, &mut words);
            }
            let rows = bitmap::iter(&words).map(|it| start + it).take_while(|it| *it < until);
            let found = rows.into_iter().find(|row| {
                let hash = row_hash((columns, self.key.nulls_equal), *row);
                let from = self.keys.partition_point(|it| it.0 < hash);
                let mut alike = self.keys[from..].iter().take_while(|it| it.0 == hash);
                hash != NO_KEY && alike.any(|it| self.is_same(it, part, *row))
            });
            Ok(found)
        })?;
        Ok(found.into_iter().flatten().next())
    }

    /// The codes in a column of a part of the values that the new rows have there, which rise; `None` where it has no codes
    /// for them.
    fn codes_in(&self, place: usize, column: &Column) -> Option<Vec<u32>> {
        // Floats have a value that is like no other in comparisons, but is one in keys.
        let varies = column.data_type.is_float() || has_other_forms(column);
        if column.code_count() == 0 || varies || self.has_null {
            return None;
        }
        let code = |key: &NewKey| column.encode_value(&self.value(key, place));
        let mut codes: Vec<u32> = self.keys.iter().filter_map(code).collect();
        codes.sort_unstable();
        codes.dedup();
        Some(codes)
    }
}

/// Before what all values lie that are equal to one and are held otherwise; `None` where there are none.
fn behind(column: &Column, value: &Value) -> Option<Value> {
    match value {
        Value::Text(key) if column.data_type == DataType::Numeric => {
            Some(Value::Text(number::end_of_equals(key).into()))
        }
        _ => None,
    }
}

/// Whether a code is one of some.
enum CodeTest {
    One(u32),
    /// A bit for each.
    Set(Vec<u64>),
}

impl CodeTest {
    fn new(column: &Column, codes: &[u32]) -> Self {
        if let [only] = codes {
            return Self::One(*only);
        }
        let mut bits = vec![0; bitmap::words_for(column.code_count())];
        codes.iter().for_each(|it| bitmap::set(&mut bits, *it as usize));
        Self::Set(bits)
    }

    fn scan(&self, column: &Column, start: usize, rows: usize, words: &mut [u64]) {
        let (packed, bits) = (column.packed(), column.bits());
        match self {
            Self::One(code) => bitpack::scan_range(packed, bits, start, rows, *code, *code, words),
            Self::Set(codes) => bitpack::scan_set(packed, bits, start, rows, codes, words, false),
        }
    }
}
