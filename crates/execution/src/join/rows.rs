//! The rows of a build side after all probes: those that found a partner, or those that did not (right and full joins).

use std::ops::Range;

use hardware::NodeId;
use scheduler::MorselRange;
use stdx::sync::Arc;
use types::SqlResult;

use super::JoinTable;
use super::build_side::BuildSide;
use super::direct::{DirectTable, Rows};
use super::extremes::{Extremes, float_word};
use super::spilled::SpilledRowsSource;
use super::stored::Words;
use super::table::Finder;
use crate::{BATCH_ROWS, Batch, Layout, Next, Source, WorkContext};

/// Few, as what is handed on of a row is gathered from here and there, and costs what many rows of a scan cost.
const MORSEL_ROWS: u64 = 2 * BATCH_ROWS as u64;

/// Reads a build side by its matches, part by part.
struct BuildRowsSource {
    build: Arc<BuildSide>,
    /// What is read of each part: places of its own, counted on from those of the parts before.
    starts: Vec<u64>,
    matched: bool,
}

/// The rows of one table by their matches.
struct TableRows<'a> {
    table: &'a JoinTable,
    matched: bool,
    /// The place of its first row.
    start: u64,
}

/// The rows of a build side by their matches, once all probes are done: those that found a partner (`matched`), or those that
/// did not. NULL keys never find one.
pub fn rows_by_match(build: &Arc<BuildSide>, matched: bool) -> Box<dyn Source> {
    match build.spilled() {
        Some(spilled) => Box::new(SpilledRowsSource::new(spilled.clone(), matched)),
        None => Box::new(BuildRowsSource::new(build.clone(), matched)),
    }
}

impl BuildRowsSource {
    /// The rows of `build` that have (`matched`) or have not found a partner.
    fn new(build: Arc<BuildSide>, matched: bool) -> Self {
        let mut starts = vec![0];
        for part in build.parts() {
            starts.push(starts[starts.len() - 1] + places(&part.table));
        }
        Self { build, starts, matched }
    }
}

impl TableRows<'_> {
    fn hand_on(&self, chosen: &[u32], place: u64, next: Next<'_>) -> SqlResult<()> {
        if chosen.is_empty() {
            return Ok(());
        }
        let columns = 0..self.table.layout().len();
        next(Batch {
            rows: chosen.len(),
            columns: columns.map(|it| self.table.gather(it, chosen, false)).collect(),
            sequence: self.start + place,
        })
    }

    /// The rows at some places.
    fn produce(&self, rows: Range<u64>, context: &WorkContext, next: Next<'_>) -> SqlResult<()> {
        if let Some(extremes) = self.table.extremes.get() {
            return self.produce_by_extremes(extremes, rows, context, next);
        }
        let mut chosen: Vec<u32> = Vec::with_capacity(BATCH_ROWS);
        for start in rows.clone().step_by(BATCH_ROWS) {
            let end = rows.end.min(start + BATCH_ROWS as u64);
            chosen.clear();
            let is_chosen =
                |it: &u32| self.table.is_matched(*it) == self.matched && self.table.is_live(*it);
            chosen.extend((start as u32..end as u32).filter(is_chosen));
            self.hand_on(&chosen, start, next)?;
        }
        Ok(())
    }

    /// The rows key by key. A mark that is set all the same, by a join that looked at pairs, counts too.
    fn produce_by_extremes(
        &self,
        extremes: &Extremes,
        places: Range<u64>,
        context: &WorkContext,
        next: Next<'_>,
    ) -> SqlResult<()> {
        let mut step = 0;
        let mut chosen: Vec<u32> = Vec::with_capacity(BATCH_ROWS);
        for place in places.clone() {
            extremes.rows_at(self.table, place as usize, |row, partner| -> SqlResult<()> {
                context.check_step(&mut step)?;
                if (partner || self.table.is_matched(row)) == self.matched {
                    chosen.push(row);
                }
                if chosen.len() < BATCH_ROWS {
                    return Ok(());
                }
                self.hand_on(&chosen, place, next)?;
                chosen.clear();
                Ok(())
            })?;
        }
        self.hand_on(&chosen, places.end, next)
    }
}

impl Source for BuildRowsSource {
    fn layout(&self) -> &Layout {
        self.build.layout()
    }

    fn ranges(&self) -> Vec<MorselRange> {
        let ends = self.starts.windows(2).zip(self.build.parts());
        ends.map(|(it, part)| MorselRange { node: part.home, start: it[0], end: it[1] }).collect()
    }

    fn morsel_rows(&self) -> u64 {
        MORSEL_ROWS
    }

    fn produce(&self, rows: Range<u64>, context: &WorkContext, next: Next<'_>) -> SqlResult<()> {
        // A morsel lies in one range, and a range in one part.
        let part = self.starts.partition_point(|&it| it <= rows.start) - 1;
        let start = self.starts[part];
        let rows = rows.start - start..rows.end - start;
        let table = &self.build.parts()[part].table;
        TableRows { table, matched: self.matched, start }.produce(rows, context, next)
    }

    fn bytes_read(&self, _: Range<u64>, _: NodeId) -> Vec<(NodeId, u64)> {
        Vec::new()
    }

    fn describe(&self) -> String {
        self.build.describe()
    }
}

/// How many places a table is read by: those of its extremes, else its rows.
fn places(table: &JoinTable) -> u64 {
    table.extremes.get().map_or(table.rows() as u64, |it| it.places(table))
}

impl Extremes {
    /// How many places [`Self::rows_at`] knows: a place per slot, then one per row without a key.
    fn places(&self, table: &JoinTable) -> u64 {
        self.slots() as u64 + u64::from(table.rows - table.keyed)
    }

    /// Hands each row of a place to `each`, and whether the row has a partner by extremes.
    fn rows_at<E>(
        &self,
        table: &JoinTable,
        place: usize,
        mut each: impl FnMut(u32, bool) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(without_key) = place.checked_sub(self.slots()) else {
            let Finder::Direct(direct) = &table.finder else { return Ok(()) };
            let own = &table.payload[self.column];
            let words = own.words();
            let partner = |row: u32| {
                own.is_valid(row as usize) && self.decides(place, word_at(words, row as usize))
            };
            return rows_of(direct, place, |row| each(row, partner(row)));
        };
        each(table.keyed + without_key as u32, false)
    }
}

#[inline]
fn word_at(words: Words<'_>, row: usize) -> i64 {
    match words {
        Words::Integers(it) => it[row],
        Words::Floats(it) => float_word(it[row]),
        Words::Codes(it) => i64::from(it[row]),
        Words::None => 0,
    }
}

#[inline]
fn rows_of<E>(
    table: &DirectTable,
    slot: usize,
    mut each: impl FnMut(u32) -> Result<(), E>,
) -> Result<(), E> {
    let Rows::Runs { starts, rows } = &table.rows else {
        unreachable!("invariant: who has extremes has runs, see `comparison::slots`");
    };
    let mut run = starts[slot]..starts[slot + 1];
    match rows {
        None => run.try_for_each(each),
        Some(rows) => run.try_for_each(|it| each(rows[it as usize])),
    }
}
