//! Whether rows that come have keys that others have: what is asked of the few rows of a change, at the cost of a change.
//!
//! Facts decide first (who comes behind all others, as rising keys do, is new), then the index of a key of one column; else
//! zones leave out blocks, the codes of the new values rows, and hashes and values decide about what is left.

use std::ops::Bound;

use bitpack::bitmap;
use types::{ColumnId, SqlResult};

use crate::index_rules::{NO_KEY, key_hashes, row_hash};
use crate::parallel::try_map;
use crate::{BLOCK_ROWS, BuildContext, Column, Part, Table};

/// A row that came: the hash of its key, its part and its number there.
type NewKey = (u64, usize, usize);

impl Table {
    /// Refuses the rows of the parts from `first` on where they break a key: that of rows before them, or of each other.
    pub(crate) fn check_new_rows(&self, first: usize, context: &BuildContext<'_>) -> SqlResult<()> {
        for rule in self.rules.indexes.iter().filter(|it| it.kind.is_unique()) {
            self.check_filled(rule, &self.parts[first..])?;
            if rule.columns.iter().any(|it| self.is_key(*it)) {
                continue;
            }
            if let Some((part, row)) = self.repeated(&rule.columns, first, context)? {
                return Err(self.exists_twice(rule, &self.parts[part], row));
            }
        }
        Ok(())
    }

    /// Whether no two rows share a value of a column, and none is NULL, as far as the facts tell.
    pub fn is_key(&self, column: ColumnId) -> bool {
        let facts = &self.column(column).statistics;
        facts.distinct_exact && facts.nulls == 0 && facts.distinct == self.rows
    }

    /// The part and the number of a row that has the same values in some columns, none of them NULL, as one of the parts from
    /// `first` on.
    pub(crate) fn repeated(
        &self,
        columns: &[ColumnId],
        first: usize,
        context: &BuildContext<'_>,
    ) -> SqlResult<Option<(usize, usize)>> {
        let check =
            KeyCheck { table: self, columns, keys: self.new_keys(columns, first, context)? };
        if let Some(key) = check.among_themselves() {
            return Ok(Some((key.1, key.2)));
        }
        for (place, part) in self.parts[..first].iter().enumerate() {
            if let Some(row) = check.against(part, context)? {
                return Ok(Some((place, row)));
            }
        }
        Ok(None)
    }

    /// The keys of the rows of the parts from `first` on, by their hashes.
    fn new_keys(
        &self,
        columns: &[ColumnId],
        first: usize,
        context: &BuildContext<'_>,
    ) -> SqlResult<Vec<NewKey>> {
        let mut keys = Vec::new();
        for (place, part) in self.parts.iter().enumerate().skip(first) {
            let hashes = key_hashes(&columns_of(part, columns), part.rows(), context)?;
            let hashes = hashes.into_iter().enumerate().filter(|it| it.1 != NO_KEY);
            keys.extend(hashes.map(|(row, hash)| (hash, place, row)));
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
    columns: &'a [ColumnId],
    keys: Vec<NewKey>,
}

impl KeyCheck<'_> {
    fn part(&self, key: &NewKey) -> &Part {
        &self.table.parts[key.1]
    }

    /// Whether a row of a part has the key of a new one.
    fn is_same(&self, key: &NewKey, part: &Part, row: usize) -> bool {
        let own = self.part(key);
        self.columns.iter().all(|it| {
            let (own, other) = (&own.columns[it.index()], &part.columns[it.index()]);
            own.value(key.2) == other.value(row)
        })
    }

    /// A new row whose key another new one has.
    fn among_themselves(&self) -> Option<NewKey> {
        let repeats = |(place, key): &(usize, &NewKey)| {
            let mut alike = self.keys[place + 1..].iter().take_while(|it| it.0 == key.0);
            alike.any(|it| self.is_same(key, self.part(it), it.2))
        };
        self.keys.iter().enumerate().find(repeats).map(|it| *it.1)
    }

    /// A row of a part that has the key of a new one.
    fn against(&self, part: &Part, context: &BuildContext<'_>) -> SqlResult<Option<usize>> {
        let columns = columns_of(part, self.columns);
        let by_index = match columns[..] {
            [column] if column.index.is_some() && !column.data_type.is_float() => {
                self.by_index(part, column)
            }
            _ => None,
        };
        let found = match by_index {
            Some(found) => found,
            None => self.by_codes(part, &columns, context)?,
        };
        Ok(found.first().copied())
    }

    /// A row of a part with an index that has the key of a new one; `None` where the index cannot tell.
    fn by_index(&self, part: &Part, column: &Column) -> Option<Vec<usize>> {
        let (index, id) = (column.index.as_ref()?, self.columns[0].index());
        let mut rows = Vec::new();
        for key in &self.keys {
            let value = self.part(key).columns[id].value(key.2);
            let bound = Bound::Included(&value);
            rows.clear();
            index.positions(index.lookup(column, bound, bound)?, &mut rows);
            if let Some(row) = rows.iter().find(|it| part.is_live(**it as usize)) {
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
        context: &BuildContext<'_>,
    ) -> SqlResult<Vec<usize>> {
        let codes = |(place, column): (usize, &&Column)| self.codes_in(place, column);
        let codes: Vec<Option<Vec<u32>>> = columns.iter().enumerate().map(codes).collect();
        if codes.iter().flatten().any(Vec::is_empty) {
            return Ok(Vec::new());
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
            let found = bitmap::iter(&words).map(|it| start + it).find(|row| {
                let hash = row_hash(columns, *row);
                let from = self.keys.partition_point(|it| it.0 < hash);
                let mut alike = self.keys[from..].iter().take_while(|it| it.0 == hash);
                hash != NO_KEY && alike.any(|it| self.is_same(it, part, *row))
            });
            Ok(found)
        })?;
        Ok(found.into_iter().flatten().collect())
    }

    /// The codes in a column of a part of the values that the new rows have there, which rise; `None` where it has no codes
    /// for them.
    fn codes_in(&self, place: usize, column: &Column) -> Option<Vec<u32>> {
        // Floats have a value that is like no other in comparisons, but is one in keys.
        if column.code_count() == 0 || column.data_type.is_float() {
            return None;
        }
        let id = self.columns[place].index();
        let code = |key: &NewKey| column.encode_value(&self.part(key).columns[id].value(key.2));
        let mut codes: Vec<u32> = self.keys.iter().filter_map(code).collect();
        codes.sort_unstable();
        codes.dedup();
        Some(codes)
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
