//! Scan of a table: predicates on packed codes into bitmaps, zone maps, then only the columns and rows that are wanted
//! (P-HANA 5.2; docs/design/04-execution.md, "scans").
//!
//! Per block of 65,536 rows: predicates in the order of the share of rows they let pass, each one bitmap AND; what is
//! not a predicate on codes is evaluated on the survivors. Survivors leave in batches of up to 4,096 rows.
//!
//! Each part of a table has its own encodings, hence its own predicates; what leaves a scan means the same for all parts.

mod ahead;
#[cfg(test)]
mod cutoff_tests;
pub mod decode;
mod held;
mod home;
pub mod index;
mod later_keys;
mod leaving;
mod long_texts;
mod marks;
mod packed;
mod part;
#[cfg(test)]
mod parts_tests;
pub mod predicate;
mod predicate_of;
pub mod repeated;
mod residual;
pub mod streamed;
#[cfg(test)]
mod tests;
mod wanted;

use std::ops::Range;

use bitpack::bitmap;
use hardware::{NodeId, Topology};
use plan::Scan;
use scheduler::MorselRange;
use stdx::sync::atomic::{AtomicU64, Ordering};
use stdx::sync::{Arc, Mutex};
use storage::{BLOCK_ROWS, ItemTraffic, Part, Table};
use types::SqlResult;

use crate::scan::ahead::TestsAhead;
use crate::scan::decode::{Rows, is_sparse};
use crate::scan::later_keys::Later;
pub(crate) use crate::scan::leaving::{Leaving, PackedColumn};
pub(crate) use crate::scan::marks::PIECE_ROWS;
pub use crate::scan::packed::PackedBlock;
use crate::scan::part::{PartScan, View, parts_of_key};
pub(crate) use crate::scan::part::{leaving_columns, table_shape};
use crate::scan::repeated::Repeated;
use crate::sort::Cutoff;
use crate::states::States;
use crate::team::QueryTeam;
use crate::{
    BATCH_ROWS, Batch, ItemRead, Layout, Next, Source, StepName, Take, Team, Vector, WorkContext,
    profile,
};

/// The rows of a table that pass some predicates. Rows are numbered by their positions in the table.
pub struct ScanSource {
    table: Arc<Table>,
    /// The parts that may have such rows, by position.
    parts: Vec<PartScan>,
    output: Vec<usize>,
    layout: Layout,
    /// The most of any part.
    predicates: usize,
    residuals: usize,
    blocks_skipped: AtomicU64,
    rows_passed: AtomicU64,
    /// Whether blocks are read from the last one on: values often rise with time, and where the greatest are wanted the
    /// last blocks tell soon that others are not.
    from_end: bool,
    /// Tests that are made where their columns lie, before the rows are read.
    ahead: TestsAhead,
    /// What values deltas have.
    later: Later,
}

impl ScanSource {
    /// Sorts the conjuncts of a scan into predicates on codes and the rest, for each part by its own encodings. A part
    /// that no row can be in is left out.
    #[cfg(test)]
    pub(crate) fn new(scan: &Scan, table: Arc<Table>, states: &States<'_>) -> SqlResult<Self> {
        Self::sharing(scan, table, states, &Repeated::default(), None)
    }

    /// As [`ScanSource::new`], leaving and reading what other scans of the query test too; a `team` shares the work of parts
    /// whose sets of codes take long to make.
    pub(crate) fn sharing(
        scan: &Scan,
        table: Arc<Table>,
        states: &States<'_>,
        repeated: &Repeated,
        team: Option<&dyn Fn() -> QueryTeam>,
    ) -> SqlResult<Self> {
        let shapes: Layout = scan.columns.iter().map(|&id| table_shape(&table, id)).collect();
        let of_key = parts_of_key(scan, &table, states)?;
        let (mut parts, mut blocks_skipped) = (Vec::new(), 0);
        let (mut predicates, mut residuals) = (0, 0);
        let is_asked = |it: &Part| of_key.as_ref().is_none_or(|of| of.contains(&it.number()));
        let make = |part: &Part, team: Option<&dyn Fn() -> QueryTeam>| match is_asked(part) {
            true => PartScan::new(scan, part, &shapes, (states, repeated, team)).map(Some),
            false => Ok(None),
        };
        let all = match team.filter(|_| takes_long(scan, &table)) {
            Some(team) => made_by(&team(), table.parts(), &|part| make(part, None))?,
            None => table.parts().iter().map(|part| make(part, team)).collect(),
        };
        for (part, found) in table.parts().iter().zip(all) {
            let found = found?;
            predicates = predicates.max(found.as_ref().map_or(0, PartScan::predicates));
            residuals = residuals.max(found.as_ref().map_or(0, PartScan::residuals));
            match found.filter(|it| !it.is_empty()) {
                Some(part) => parts.push(part),
                None => blocks_skipped += part.rows().div_ceil(BLOCK_ROWS) as u64,
            }
        }
        Ok(Self {
            later: Later::new(&table, &scan.columns),
            layout: scan.output.iter().map(|&it| shapes[it].clone()).collect(),
            table,
            parts,
            output: scan.output.clone(),
            predicates,
            residuals,
            blocks_skipped: AtomicU64::new(blocks_skipped),
            rows_passed: AtomicU64::new(0),
            from_end: false,
            ahead: TestsAhead::default(),
        })
    }

    /// The part that a position lies in.
    fn part_of(&self, position: usize) -> &PartScan {
        let index = self.parts.partition_point(|it| it.first <= position);
        &self.parts[index - 1]
    }

    /// The bitmap of the rows of a block that pass all predicates, and how many there are.
    fn select(
        &self,
        view: &View,
        (start, rows): (usize, usize),
        words: &mut [u64],
        context: &WorkContext,
    ) -> usize {
        let block = start / BLOCK_ROWS;
        let mut begun = false;
        let demanded = view.demanded();
        // What an order demands leaves least.
        let demands = demanded.iter().map(|it| (2 + self.predicates + self.residuals, it));
        for (step, predicate) in demands.chain((1..).zip(&view.predicates)) {
            match predicate.by_zone(block) {
                Some(false) => {
                    self.blocks_skipped.fetch_add(1, Ordering::Relaxed);
                    return 0;
                }
                Some(true) => {}
                None => {
                    // What was made ahead is in the profile from then.
                    let is_on = profile::is_on() && predicate.ahead().is_none();
                    let (given, bytes) = if is_on { (rows, predicate.bytes(rows)) } else { (0, 0) };
                    let scan = profile::enter(step, given, bytes);
                    predicate.scan(start, rows, words, begun);
                    predicate.count_bitmaps(rows, context);
                    profile::leave(scan, if is_on { bitmap::count(words) } else { 0 });
                    begun = true;
                    if !bitmap::any(words) {
                        return 0;
                    }
                }
            }
        }
        if begun {
            bitmap::count(words)
        } else {
            bitmap::fill(words, rows);
            rows
        }
    }

    /// Pushes the rows of a block of a part that begins at position `first`.
    fn produce_block(
        &self,
        (view, first): (&View, usize),
        rows: Range<usize>,
        context: &WorkContext,
        take: Take<'_>,
        next: Next<'_>,
    ) -> SqlResult<()> {
        let (start, len) = (rows.start, rows.len());
        let mut words = vec![0u64; bitmap::words_for(len)];
        let count = self.select(view, (start, len), &mut words, context);
        self.rows_passed.fetch_add(count as u64, Ordering::Relaxed);
        if count == 0 {
            return Ok(());
        }
        if view.residual.is_empty() {
            let (columns, output, words) = (&view.columns[..], &self.output, &words);
            let mains = self.table.partitioning().parts();
            let is_main = first <= self.table.parts()[mains - 1].positions().start;
            let (whole, later) = (mains == 1, is_main.then_some(&self.later));
            let (sequence, rows) = ((first + start) as u64, len);
            let block =
                PackedBlock { columns, output, whole, later, sequence, start, rows, words, count };
            if take(&block)? {
                return Ok(());
            }
        }
        let mut word = 0;
        while word < words.len() {
            let (last, count) = match count {
                // All that passed fit a batch: nothing need be counted again.
                0..=BATCH_ROWS => (words.len(), count),
                _ => window(&words, word),
            };
            if count > 0 {
                let at = start + word * 64;
                let len = (last * 64).min(len) - word * 64;
                let window = Window { first, start: at, len, words: &words[word..last], count };
                self.produce_window(view, &window, context, &mut *next)?;
            }
            word = last;
        }
        Ok(())
    }

    fn produce_window(
        &self,
        view: &View,
        window: &Window<'_>,
        context: &WorkContext,
        next: Next<'_>,
    ) -> SqlResult<()> {
        let &Window { start, len, words, count, .. } = window;
        let sequence = (window.first + start) as u64;
        let is_dense = |count: usize| !is_sparse(count, len);
        if view.residual.is_empty() && is_dense(count) {
            let columns = self.decode(view, (start, len), &Rows::Marked(words, count), context);
            return next(Batch { rows: count, columns, sequence });
        }
        let mut places = vec![0; count];
        bitmap::positions(words, len, &mut places);
        let mut chosen = Vec::new();
        for (place, residual) in view.residual.iter().enumerate() {
            let scan = profile::enter(1 + self.predicates + place, places.len(), 0);
            let rows = match places.len() == count && is_dense(count) {
                true => Rows::Marked(words, count),
                false => Rows::Places(&places),
            };
            let columns = view.pick_all(&residual.columns, start, len, &rows);
            view.count_lookups(self.table.traffic(), &residual.columns, places.len(), context);
            let batch = Batch { rows: places.len(), columns, sequence };
            residual.condition.select(&batch, &mut chosen)?;
            if chosen.len() < places.len() {
                places = chosen.iter().map(|&it| places[it as usize]).collect();
            }
            profile::leave(scan, places.len());
            if places.is_empty() {
                return Ok(());
            }
        }
        let left = places.len();
        let columns = if is_dense(left) {
            let mut words = vec![0; bitmap::words_for(len)];
            places.iter().for_each(|&it| bitmap::set(&mut words, it as usize));
            self.decode(view, (start, len), &Rows::Marked(&words, left), context)
        } else {
            self.decode(view, (start, len), &Rows::Places(&places), context)
        };
        next(Batch { rows: left, columns, sequence })
    }

    /// The columns that leave the scan, of some rows of a window: where that starts, and its length.
    fn decode(
        &self,
        view: &View,
        (start, len): (usize, usize),
        rows: &Rows<'_>,
        context: &WorkContext,
    ) -> Vec<Arc<Vector>> {
        let count = rows.count();
        let step = 1 + self.predicates + self.residuals;
        // Single rows are fetched from here and there: the bytes of all would say nothing.
        let bytes = match rows {
            Rows::Marked(..) if profile::is_on() => view.packed_bytes(&self.output, len),
            _ => 0,
        };
        let scan = profile::enter(step, count, bytes);
        let columns = view.pick_all(&self.output, start, len, rows);
        view.count_lookups(self.table.traffic(), &self.output, count, context);
        profile::leave(scan, count);
        columns
    }
}

/// Rows of a table from which on sets of codes are made by all workers: those of fewer take less than waking them.
const SHARED_ROWS: u64 = 1 << 18;

/// Whether to make the tests of a scan may take as long as some of its morsels do: keys of a hash table become a set of codes for
/// each part of the table.
fn takes_long(scan: &Scan, table: &Table) -> bool {
    table.parts().len() > 1 && !scan.transfers.is_empty() && table.rows() >= SHARED_ROWS
}

/// What is made of each part, by all workers of a team, in the order of the parts.
fn made_by<R: Send>(
    team: &QueryTeam,
    parts: &[Part],
    make: &(dyn Fn(&Part) -> SqlResult<R> + Sync),
) -> SqlResult<Vec<SqlResult<R>>> {
    let made: Vec<Mutex<Option<SqlResult<R>>>> = parts.iter().map(|_| Mutex::new(None)).collect();
    team.run(parts.len(), &|place, _| {
        let found = make(&parts[place]);
        *made[place].lock() = Some(found);
        Ok(())
    })?;
    let whole = "invariant: a team runs all tasks, or fails";
    Ok(made.into_iter().map(|it| it.into_inner().expect(whole)).collect())
}

/// Neighbouring rows of a part, no more of which passed than fit a batch.
struct Window<'a> {
    /// Position of the part's first row.
    first: usize,
    /// Row of the part.
    start: usize,
    len: usize,
    /// The rows that passed.
    words: &'a [u64],
    count: usize,
}

/// The words from `first` on whose bits fit a batch: where they end and how many bits they have.
fn window(words: &[u64], first: usize) -> (usize, usize) {
    let mut count = 0;
    for (index, word) in words[first..].iter().enumerate() {
        let more = word.count_ones() as usize;
        if count + more > BATCH_ROWS {
            return (first + index, count);
        }
        count += more;
    }
    (words.len(), count)
}

impl Source for ScanSource {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn ranges(&self) -> Vec<MorselRange> {
        let mut ranges: Vec<MorselRange> = Vec::new();
        for part in &self.parts {
            for start in (0..part.rows).step_by(BLOCK_ROWS) {
                let end = (part.first + part.rows.min(start + BLOCK_ROWS)) as u64;
                let node = part.home(start / BLOCK_ROWS);
                let start = (part.first + start) as u64;
                match ranges.last_mut() {
                    Some(last) if !self.from_end && last.node == node && last.end == start => {
                        last.end = end;
                    }
                    _ => ranges.push(MorselRange { node, start, end }),
                }
            }
        }
        if self.from_end {
            ranges.reverse();
        }
        ranges
    }

    fn morsel_rows(&self) -> u64 {
        BLOCK_ROWS as u64
    }

    fn produce(&self, rows: Range<u64>, context: &WorkContext, next: Next<'_>) -> SqlResult<()> {
        self.produce_packed(rows, context, &mut |_| Ok(false), next)
    }

    fn produce_packed(
        &self,
        rows: Range<u64>,
        context: &WorkContext,
        take: Take<'_>,
        next: Next<'_>,
    ) -> SqlResult<()> {
        let (mut position, end) = (rows.start as usize, rows.end as usize);
        while position < end {
            let part = self.part_of(position);
            let view = part.view(context.node);
            let start = position - part.first;
            let block_end = (start / BLOCK_ROWS + 1) * BLOCK_ROWS;
            let until = block_end.min(end - part.first).min(part.rows);
            self.produce_block((view, part.first), start..until, context, &mut *take, &mut *next)?;
            position = part.first + until;
        }
        Ok(())
    }

    fn cut_off(&mut self, column: usize, cutoff: Arc<Cutoff>) {
        for part in &mut self.parts {
            let is_cut = part.cut_off(self.output[column], &cutoff);
            self.from_end |= is_cut && cutoff.is_descending();
        }
    }

    fn settle(&mut self, topology: &Topology, reads_all: bool) {
        // Rows that nobody will want need not be tested.
        let reads_all = reads_all && self.parts.iter().all(|it| it.cutoff().is_none());
        self.ahead = TestsAhead::choose(&mut self.parts, &self.output, topology, reads_all);
        self.parts.iter_mut().for_each(|it| it.find_lookups(topology.llc_bytes.0));
    }

    fn ahead(&self) -> Vec<MorselRange> {
        self.ahead.ranges()
    }

    fn run_ahead(&self, rows: Range<u64>) {
        self.ahead.run(&self.parts, rows);
    }

    fn reads_ahead(&self) -> Option<(u64, u64)> {
        self.ahead.reads(&self.parts)
    }

    fn items_read_ahead(&self, rows: Range<u64>) -> Vec<ItemRead> {
        self.ahead.items_read(&self.parts, rows)
    }

    fn items_read(&self, rows: Range<u64>, reader: NodeId) -> Vec<ItemRead> {
        let mut reads = Vec::new();
        // A morsel lies in one range, and a range in one part.
        let part = self.part_of(rows.start as usize);
        let rows = rows.start as usize - part.first..rows.end as usize - part.first;
        part.view(reader).items_read(rows, &self.output, &mut reads);
        reads
    }

    fn item_traffic(&self) -> Option<&ItemTraffic> {
        Some(self.table.traffic())
    }

    fn reads(&self) -> Option<(u64, u64)> {
        // Who is told meanwhile what is wanted skips most blocks, if it begins where it would alone.
        if self.parts.iter().any(|it| it.cutoff().is_some()) {
            return None;
        }
        let columns = || self.parts.iter().filter_map(|it| it.reads(&self.output));
        let bytes = columns().map(|it| it.rows() as u64 * u64::from(it.bits()) / 8).sum();
        let first = columns().next()?;
        Some((Arc::as_ptr(first.iv().segment()).addr() as u64, bytes))
    }

    /// Predicates of parts with encodings of their own may differ: those of the first part name them.
    fn steps(&self) -> Vec<StepName> {
        let first = self.parts.first();
        let predicate = |place| match first.and_then(|it| it.predicate(place)) {
            Some(predicate) => StepName { kind: predicate.kind(), detail: predicate.describe() },
            None => StepName { kind: "predicate", detail: String::new() },
        };
        let step = |kind| StepName { kind, detail: String::new() };
        let mut steps: Vec<StepName> = (0..self.predicates).map(predicate).collect();
        steps.extend((0..self.residuals).map(|_| step("condition")));
        let bits = first.map_or(0, |it| it.bits(&self.output));
        let detail = format!("{} columns, {bits} bits", self.output.len());
        steps.push(StepName { kind: "decode", detail });
        if let Some(column) = self.parts.iter().find_map(PartScan::cutoff) {
            steps.push(StepName { kind: "cutoff", detail: column.name.clone() });
        }
        steps
    }

    fn describe(&self) -> String {
        let skipped = self.blocks_skipped.load(Ordering::Relaxed);
        let passed = self.rows_passed.load(Ordering::Relaxed);
        let (all, predicates) = (self.table.rows(), self.predicates);
        let mut text = format!(
            "{passed} of {all} rows passed {predicates} code predicates{}, {skipped} blocks skipped",
            self.ahead.describe()
        );
        let parts = self.table.parts().len();
        if parts > 1 {
            text += &format!(", {} of {parts} parts pruned", parts - self.parts.len());
        }
        text
    }
}
