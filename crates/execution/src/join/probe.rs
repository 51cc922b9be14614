//! Looks each row of a batch up in a table.
//!
//! All kinds go through one enumeration of pairs, which drops those that fail the residual; kinds that only ask whether
//! there is a partner take the shorter way through [`JoinTable::exists`] when nothing else depends on the pairs.

use std::collections::BTreeSet;

use plan::{Join, JoinKind};
use stdx::sync::Arc;
use types::{DataType, SqlError, SqlResult};

use super::build_side::PartTable;
use super::comparison::Comparison;
use super::lookup::{Flush, Workspace};
use super::probe_key::{KeyReader, ProbeKeys};
use super::spilled::hashes_of;
use super::{JoinTable, NO_ROW, Pairs};
use crate::expression::{Compiled, Outside};
use crate::traffic::{Item, Place};
use crate::{BATCH_ROWS, Batch, Bitmap, ColumnShape, Layout, Next, Values, Vector, WorkContext};

/// Joins batches of the probe side with a table.
pub(super) struct Probe {
    table: Arc<JoinTable>,
    how: Arc<How>,
    /// The number of the table's first row.
    first: u32,
    /// Where the table lies.
    place: Place,
}

/// What a probe does with any table.
struct How {
    kind: JoinKind,
    keys: Vec<Compiled>,
    readers: Vec<KeyReader>,
    residual: Option<Residual>,
    /// In place of the residual, where extremes decide it.
    comparison: Option<Comparison>,
    output: Vec<Output>,
    layout: Layout,
    track_matches: bool,
    /// Whether the build side has no row at all.
    is_empty: bool,
}

/// Where a column of a pair comes from.
#[derive(Clone, Copy)]
enum Output {
    Probe(usize),
    Build(usize),
    /// The number of the partner.
    Number,
    Mark,
}

/// A condition on pairs, over just the columns that it reads.
struct Residual {
    condition: Compiled,
    columns: Vec<Output>,
}

/// Memory that batches use again.
#[derive(Default)]
pub(super) struct Scratch {
    keys: ProbeKeys,
    work: Workspace,
    matched: Vec<bool>,
    unknown: Vec<bool>,
}

impl Probe {
    /// For batches of layout `input`, over a table of `rows` rows or over the part of one; `outside` is what
    /// its expressions need beside columns.
    pub(super) fn new(
        join: &Join,
        part: &PartTable,
        (rows, in_files): (u32, bool),
        input: &Layout,
        outside: &dyn Outside,
    ) -> SqlResult<Self> {
        let (table, first, place) = (part.table.clone(), part.first, Place::of(part.home));
        let compile = |key| Compiled::new(key, input, outside);
        let keys = join.keys.iter().map(compile).collect::<SqlResult<Vec<_>>>()?;
        if keys.len() != table.domains.len() {
            return Err(SqlError::internal("the sides of a join have different numbers of keys"));
        }
        let reader = |(place, key): (usize, &Compiled)| KeyReader::new(&table, place, key.shape());
        let readers = keys.iter().enumerate().map(reader).collect::<SqlResult<Vec<_>>>()?;
        let mut pair_layout = input.clone();
        pair_layout.extend(table.layout.iter().cloned());
        let residual = match &join.residual {
            Some(residual) => Some(Residual::new(residual, &pair_layout, input.len(), outside)?),
            None => None,
        };
        let kept_nulls = u64::from(table.rows - table.keyed);
        if is_null_aware(join.kind) && residual.is_some() && kept_nulls < table.null_keys {
            return Err(SqlError::internal("a null-aware residual needs the rows with NULL keys"));
        }
        // Extremes are of a table, and those in files come one after the other.
        let mut comparison = match in_files {
            true => None,
            false => Comparison::of(join, &table, input, outside)?,
        };
        if let Some(found) = &comparison
            && table.extremes.set(found.extremes(table.scratch())?).is_err()
        {
            // Another one came first.
            comparison = None;
        }
        let (output, layout) = output_columns(join, input, (&table.layout, rows))?;
        let how = How {
            kind: join.kind,
            keys,
            readers,
            residual,
            comparison,
            output,
            layout,
            track_matches: join.track_matches || join.kind == JoinKind::MarkBuild,
            is_empty: rows == 0 && table.null_keys == 0,
        };
        Ok(Self { table, how: Arc::new(how), first, place })
    }

    /// The same over another table, whose first row has the number `first`.
    pub(super) fn over(&self, table: Arc<JoinTable>, first: u32) -> Self {
        Self { table, how: self.how.clone(), first, place: self.place }
    }

    /// The same over a copy of the table.
    pub(super) fn near(&self, copy: &PartTable) -> Self {
        Self { place: Place::of(copy.home), ..self.over(copy.table.clone(), 0) }
    }

    /// Whether it leaves nothing in the table that others would look for.
    pub(super) fn may_look_elsewhere(&self) -> bool {
        !self.tracks_matches() && self.how.comparison.is_none()
    }

    /// Whether it tells the table which rows have found a partner.
    pub(super) fn tracks_matches(&self) -> bool {
        self.how.track_matches
    }

    /// Whether a row without a partner is handed on.
    pub(super) fn keeps_lonely(&self) -> bool {
        !matches!(self.how.kind, JoinKind::Inner | JoinKind::Semi | JoinKind::MarkBuild)
    }

    /// The hashes of the rows of a batch, `None` for those that cannot have a partner.
    pub(super) fn hashes(
        &self,
        batch: &Batch,
        scratch: &mut Scratch,
    ) -> SqlResult<Vec<Option<u64>>> {
        self.read_keys(batch, scratch)?;
        let hashes = hashes_of(&scratch.keys.slices(), batch.rows);
        let possible = |row: usize| scratch.keys.possible().is_none_or(|it| it[row]);
        let hashes = hashes.iter().enumerate().map(|(row, it)| possible(row).then_some(*it));
        let hashes = hashes.collect();
        scratch.keys.release();
        Ok(hashes)
    }

    fn read_keys(&self, batch: &Batch, scratch: &mut Scratch) -> SqlResult<()> {
        let vectors = self.how.keys.iter().map(|it| it.evaluate(batch));
        scratch.keys.read(batch.rows, &self.table, &self.how.readers, vectors)
    }

    /// Counts what looks for the keys of a batch bring from memory.
    fn count_looks(&self, keys: &ProbeKeys, context: &WorkContext) {
        let bytes = self.table.estimated_bytes();
        let looks = self.table.lines_of(keys);
        let columns = self.how.output.iter().filter(|it| matches!(it, Output::Build(_))).count();
        let missed = context.accesses.missed(looks * (1 + columns), bytes);
        context.touch(Item::Joins, self.place, missed);
        for translation in self.how.readers.iter().filter_map(KeyReader::lookup) {
            translation.count(Item::Dictionaries, keys.rows, context);
        }
    }
}

fn is_null_aware(kind: JoinKind) -> bool {
    matches!(kind, JoinKind::AntiNullAware | JoinKind::Mark { null_aware: true })
}

/// What the output columns of a join are, and their layout.
fn output_columns(
    join: &Join,
    input: &Layout,
    (payload, rows): (&Layout, u32),
) -> SqlResult<(Vec<Output>, Layout)> {
    if join.kind == JoinKind::MarkBuild {
        return Ok((Vec::new(), Layout::new()));
    }
    let column = |&column: &usize| {
        if let Some(shape) = input.get(column) {
            return Ok((Output::Probe(column), shape.clone()));
        }
        let beyond = column - input.len();
        match (join.kind, payload.get(beyond)) {
            (JoinKind::Inner, Some(shape)) => Ok((Output::Build(beyond), shape.clone())),
            (JoinKind::Left, Some(shape)) => {
                Ok((Output::Build(beyond), ColumnShape { nullable: true, ..shape.clone() }))
            }
            (JoinKind::Mark { null_aware }, _) if beyond == 0 => {
                Ok((Output::Mark, ColumnShape::computed(DataType::Boolean, null_aware)))
            }
            _ => Err(SqlError::internal(format!("a join has no column {column} to hand on"))),
        }
    };
    let columns = join.output.iter().map(column);
    let number = join.numbers.then(|| number_of_partner(join.kind, rows));
    columns.chain(number).collect::<SqlResult<Vec<_>>>().map(|it| it.into_iter().unzip())
}

fn number_of_partner(kind: JoinKind, rows: u32) -> SqlResult<(Output, ColumnShape)> {
    if kind != JoinKind::Inner {
        return Err(SqlError::internal("only an inner join has a partner to number"));
    }
    let bounds = Some((0, i128::from(rows.saturating_sub(1))));
    Ok((Output::Number, ColumnShape { bounds, ..ColumnShape::computed(DataType::BigInt, false) }))
}

impl Residual {
    fn new(
        residual: &plan::Expr,
        pair_layout: &Layout,
        inputs: usize,
        outside: &dyn Outside,
    ) -> SqlResult<Self> {
        let mut used = BTreeSet::new();
        residual.collect_columns(&mut used);
        let used: Vec<usize> = used.into_iter().collect();
        let shapes = used.iter().map(|&column| pair_layout.get(column).cloned());
        let layout = shapes
            .collect::<Option<Layout>>()
            .ok_or_else(|| SqlError::internal("a residual reads a column that is not there"))?;
        let mut residual = residual.clone();
        residual.map_columns(&mut |column| used.partition_point(|&it| it < column));
        let source = |&column: &usize| {
            if column < inputs { Output::Probe(column) } else { Output::Build(column - inputs) }
        };
        let columns = used.iter().map(source).collect();
        Ok(Self { condition: Compiled::new(&residual, &layout, outside)?, columns })
    }

    /// Drops the pairs for which the condition is not TRUE.
    fn retain(&self, table: &JoinTable, batch: &Batch, pairs: &mut Pairs) -> SqlResult<()> {
        if pairs.len() == 0 {
            return Ok(());
        }
        let table = (table, 0);
        let candidates = pair_batch(&self.columns, table, batch, &pairs.probe, &pairs.build, false);
        let mut kept = Vec::with_capacity(pairs.len());
        self.condition.select(&candidates, &mut kept)?;
        if kept.len() < pairs.len() {
            // `kept` rises, so a value is read before its place is written.
            for (to, &from) in kept.iter().enumerate() {
                pairs.probe[to] = pairs.probe[from as usize];
                pairs.build[to] = pairs.build[from as usize];
            }
            pairs.resize(kept.len());
        }
        Ok(())
    }
}

/// Some columns of pairs with rows of a table whose first has the number `first`; with `outer`, the build row may be
/// missing.
fn pair_batch(
    columns: &[Output],
    (table, first): (&JoinTable, u32),
    batch: &Batch,
    probe: &[u32],
    build: &[u32],
    outer: bool,
) -> Batch {
    // Each row once, in order: the columns can be handed on as they are.
    let same = probe.len() == batch.rows
        && probe.iter().enumerate().all(|(index, &row)| index == row as usize);
    let outer = outer && build.contains(&NO_ROW);
    let column = |&column: &Output| match column {
        Output::Probe(column) if same => batch.columns[column].clone(),
        Output::Probe(column) => Arc::new(batch.columns[column].take(probe)),
        Output::Build(column) => table.gather(column, build, outer),
        Output::Number => {
            let numbers = build.iter().map(|&it| i64::from(it) + i64::from(first)).collect();
            Arc::new(Vector::new(Values::I64(numbers)))
        }
        Output::Mark => unreachable!("invariant: only mark joins have a mark, and they emit rows"),
    };
    Batch {
        rows: probe.len(),
        columns: columns.iter().map(column).collect(),
        sequence: batch.sequence,
    }
}

impl Probe {
    /// The layout of what is handed on.
    pub(super) fn layout(&self) -> &Layout {
        &self.how.layout
    }

    /// Joins a batch.
    pub(super) fn execute(
        &self,
        batch: Batch,
        scratch: &mut Scratch,
        context: &WorkContext,
        next: Next<'_>,
    ) -> SqlResult<()> {
        self.read_keys(&batch, scratch)?;
        if let Some(packing) = &self.table.packing {
            scratch.keys.pack(packing);
        }
        self.count_looks(&scratch.keys, context);
        match self.how.kind {
            JoinKind::Inner | JoinKind::Left | JoinKind::MarkBuild => {
                self.execute_pairs(&batch, scratch, context, next)?;
            }
            JoinKind::Semi | JoinKind::Anti | JoinKind::AntiNullAware | JoinKind::Mark { .. } => {
                self.execute_rows(&batch, scratch, context, next)?
            }
        }
        scratch.keys.release();
        Ok(())
    }

    /// The kind of join and how its condition is decided, in words.
    pub(super) fn describe(&self) -> (&'static str, &'static str) {
        let kind = match self.how.kind {
            JoinKind::Inner => "inner",
            JoinKind::Left => "left",
            JoinKind::Semi => "semi",
            JoinKind::Anti | JoinKind::AntiNullAware => "anti",
            JoinKind::Mark { .. } | JoinKind::MarkBuild => "mark",
        };
        let residual = match (&self.how.comparison, &self.how.residual) {
            (Some(_), _) => ", by extremes",
            (None, Some(_)) => ", with a condition",
            (None, None) => "",
        };
        (kind, residual)
    }

    /// The kinds that hand on pairs, and the one that only marks them.
    fn execute_pairs(
        &self,
        batch: &Batch,
        scratch: &mut Scratch,
        context: &WorkContext,
        next: Next<'_>,
    ) -> SqlResult<()> {
        let Scratch { keys, work, matched, .. } = scratch;
        if let (Some(comparison), Some(extremes)) =
            (&self.how.comparison, self.table.extremes.get())
        {
            extremes.take_in(self.table.slots(keys, work), &*comparison.value.evaluate(batch)?);
            return Ok(());
        }
        let is_left = self.how.kind == JoinKind::Left;
        if is_left {
            matched.clear();
            matched.resize(batch.rows, false);
        }
        // The last pairs wait here, so that the rows without a partner can go out with them.
        let mut last = Pairs::default();
        self.lookup(batch, keys, false, work, context, &mut |pairs| {
            if is_left {
                pairs.probe.iter().for_each(|&row| matched[row as usize] = true);
                self.emit(batch, &last, next)?;
                std::mem::swap(&mut last, pairs);
            } else if self.how.kind == JoinKind::Inner {
                self.emit(batch, pairs, next)?;
            }
            Ok(())
        })?;
        if is_left {
            add_unmatched(&mut last, matched);
            self.emit(batch, &last, next)?;
        }
        Ok(())
    }

    /// Pairs of equal keys for which the residual is TRUE; marks them in the table if asked to.
    fn lookup(
        &self,
        batch: &Batch,
        keys: &ProbeKeys,
        stop: bool,
        work: &mut Workspace,
        context: &WorkContext,
        flush: Flush<'_>,
    ) -> SqlResult<()> {
        self.table.lookup(keys, stop, work, &mut |pairs| {
            // A batch may have billions of pairs of which none is handed on.
            context.check()?;
            if let Some(residual) = &self.how.residual {
                residual.retain(&self.table, batch, pairs)?;
            }
            if self.how.track_matches {
                self.table.mark_matched(&pairs.build);
            }
            flush(pairs)
        })
    }

    fn emit(&self, batch: &Batch, pairs: &Pairs, next: Next<'_>) -> SqlResult<()> {
        let outer = self.how.kind == JoinKind::Left;
        for (probe, build) in pairs.probe.chunks(BATCH_ROWS).zip(pairs.build.chunks(BATCH_ROWS)) {
            next(pair_batch(
                &self.how.output,
                (&self.table, self.first),
                batch,
                probe,
                build,
                outer,
            ))?;
        }
        Ok(())
    }

    /// The kinds that hand on rows of the probe side at most once.
    fn execute_rows(
        &self,
        batch: &Batch,
        scratch: &mut Scratch,
        context: &WorkContext,
        next: Next<'_>,
    ) -> SqlResult<()> {
        let Scratch { keys, work, matched, unknown } = scratch;
        matched.clear();
        matched.resize(batch.rows, false);
        if self.how.residual.is_none() && !self.how.track_matches {
            self.table.exists(keys, work, matched)?;
        } else {
            let stop = self.how.residual.is_none() && !self.how.track_matches;
            self.lookup(batch, keys, stop, work, context, &mut |pairs| {
                pairs.probe.iter().for_each(|&row| matched[row as usize] = true);
                Ok(())
            })?;
        }
        unknown.clear();
        unknown.resize(batch.rows, false);
        if is_null_aware(self.how.kind) {
            self.find_unknown(batch, (keys, work), context, matched, unknown)?;
        }
        let kept: Vec<u32> = match self.how.kind {
            JoinKind::Semi => rows_where(batch.rows, |row| matched[row]),
            JoinKind::Anti => rows_where(batch.rows, |row| !matched[row]),
            JoinKind::AntiNullAware => rows_where(batch.rows, |row| !matched[row] && !unknown[row]),
            _ => return next(self.marked(batch, matched, unknown)),
        };
        if kept.is_empty() {
            return Ok(());
        }
        next(pair_batch(&self.how.output, (&self.table, self.first), batch, &kept, &[], false))
    }

    /// The batch with its mark.
    fn marked(&self, batch: &Batch, matched: &[bool], unknown: &[bool]) -> Batch {
        let validity = unknown
            .contains(&true)
            .then(|| Bitmap::from_bits(unknown.iter().map(|&unknown| !unknown)));
        let mark = Arc::new(Vector { values: Values::Bool(matched.to_vec()), validity });
        let column = |column: &Output| match column {
            Output::Probe(column) => batch.columns[*column].clone(),
            Output::Build(_) | Output::Number | Output::Mark => mark.clone(),
        };
        let columns = self.how.output.iter().map(column).collect();
        Batch { rows: batch.rows, columns, sequence: batch.sequence }
    }

    /// Rows without a partner for which IN is NULL and not FALSE: some build row that the residual admits has a NULL
    /// key, or the row's own key is NULL and the residual admits any build row.
    fn find_unknown(
        &self,
        batch: &Batch,
        (keys, work): (&ProbeKeys, &mut Workspace),
        context: &WorkContext,
        matched: &[bool],
        unknown: &mut [bool],
    ) -> SqlResult<()> {
        let table = &*self.table;
        let Some(residual) = &self.how.residual else {
            for (row, unknown) in unknown.iter_mut().enumerate() {
                let has_null = table.null_keys > 0 || keys.is_null(row);
                *unknown = !matched[row] && !self.how.is_empty && has_null;
            }
            return Ok(());
        };
        let mut admitted = |pairs: &mut Pairs| {
            context.check()?;
            residual.retain(table, batch, pairs)?;
            pairs.probe.iter().for_each(|&row| unknown[row as usize] = true);
            Ok(())
        };
        let rows = 0..batch.rows as u32;
        let is_null = |row: &u32| keys.is_null(*row as usize);
        table.lookup_cross(rows.clone().filter(is_null), 0..table.rows, work, &mut admitted)?;
        if table.keyed < table.rows {
            let others = rows.filter(|row| !is_null(row) && !matched[*row as usize]);
            table.lookup_cross(others, table.keyed..table.rows, work, &mut admitted)?;
        }
        Ok(())
    }
}

fn rows_where(rows: usize, keep: impl Fn(usize) -> bool) -> Vec<u32> {
    let mut kept = vec![0; rows];
    let mut count = 0;
    for row in 0..rows {
        kept[count] = row as u32;
        count += usize::from(keep(row));
    }
    kept.truncate(count);
    kept
}

/// Adds the rows that have no partner. When each of the others has one, and all stand in `pairs`, rows come out in the
/// order of the batch, so that its columns can be handed on; else they are added at the end.
fn add_unmatched(pairs: &mut Pairs, matched: &[bool]) {
    let found = matched.iter().filter(|&&it| it).count();
    if found == matched.len() {
        return;
    }
    if found == pairs.len() {
        let mut partners = vec![NO_ROW; matched.len()];
        for (&probe, &build) in pairs.probe.iter().zip(&pairs.build) {
            partners[probe as usize] = build;
        }
        pairs.probe = (0..matched.len() as u32).collect();
        pairs.build = partners;
        return;
    }
    for row in rows_where(matched.len(), |row| !matched[row]) {
        pairs.push(row, NO_ROW);
    }
}
