//! Scan of a table: predicates on packed codes into bitmaps, zone maps, then only the columns and rows that are wanted
//! (P-HANA 5.2, DESIGN 6).
//!
//! Per block of 65,536 rows: predicates in the order of the share of rows they let pass, each one bitmap AND; what is
//! not a predicate on codes is evaluated on the survivors. Survivors leave in batches of up to 4,096 rows.

pub mod decode;
pub mod index;
pub mod predicate;
#[cfg(test)]
mod tests;

use std::ops::Range;

use bitpack::bitmap;
use hardware::NodeId;
use plan::Scan;
use scheduler::MorselRange;
use stdx::sync::Arc;
use stdx::sync::atomic::{AtomicU64, Ordering};
use storage::{BLOCK_ROWS, Column, Table};
use types::SqlResult;

use crate::expression::Compiled;
use crate::lower::States;
use crate::scan::decode::{Rows, pick, shape};
use crate::scan::predicate::CodePredicate;
use crate::{BATCH_ROWS, Batch, Layout, Next, Source, WorkContext};

/// The rows of a table that pass some predicates.
pub struct ScanSource {
    table: Arc<Table>,
    columns: Vec<Arc<Column>>,
    predicates: Vec<CodePredicate>,
    residual: Vec<Residual>,
    output: Vec<usize>,
    layout: Layout,
    blocks_skipped: AtomicU64,
    rows_passed: AtomicU64,
}

/// A conjunct that needs values: evaluated on the columns it names.
struct Residual {
    columns: Vec<usize>,
    condition: Compiled,
}

impl ScanSource {
    /// Sorts the conjuncts of a scan into predicates on codes and the rest.
    pub(crate) fn new(scan: &Scan, table: Arc<Table>, states: &States<'_>) -> SqlResult<Self> {
        let columns: Vec<Arc<Column>> =
            scan.columns.iter().map(|id| table.columns[id.index()].clone()).collect();
        let mut predicates = Vec::new();
        let mut residual = Vec::new();
        for filter in &scan.filters {
            match CodePredicate::of(filter, &columns, states)? {
                Some(predicate) => predicates.push(predicate),
                None => residual.push(Residual::new(filter, &columns, states)?),
            }
        }
        for transfer in &scan.transfers {
            let filter = states.table(transfer.build)?.transfer();
            if let Some(filter) = filter {
                predicates.extend(CodePredicate::from_keys(&columns[transfer.column], &filter));
            }
        }
        let predicates = merge_ranges(predicates);
        let layout = scan.output.iter().map(|&it| shape(&columns[it])).collect();
        Ok(Self {
            table,
            columns,
            predicates,
            residual,
            output: scan.output.clone(),
            layout,
            blocks_skipped: AtomicU64::new(0),
            rows_passed: AtomicU64::new(0),
        })
    }

    /// The bitmap of the rows of a block that pass all predicates; `None` when all do, and the count.
    fn select(&self, start: usize, rows: usize, words: &mut [u64]) -> usize {
        let block = start / BLOCK_ROWS;
        let mut begun = false;
        for predicate in &self.predicates {
            match predicate.by_zone(block) {
                Some(false) => {
                    self.blocks_skipped.fetch_add(1, Ordering::Relaxed);
                    return 0;
                }
                Some(true) => {}
                None => {
                    predicate.scan(start, rows, words, begun);
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

    fn produce_block(&self, rows: Range<usize>, next: Next<'_>) -> SqlResult<()> {
        let (start, len) = (rows.start, rows.len());
        let mut words = vec![0u64; bitmap::words_for(len)];
        let count = self.select(start, len, &mut words);
        self.rows_passed.fetch_add(count as u64, Ordering::Relaxed);
        if count == 0 {
            return Ok(());
        }
        let mut first = 0;
        while first < words.len() {
            let (last, count) = window(&words, first);
            if count > 0 {
                let at = start + first * 64;
                let len = (last * 64).min(len) - first * 64;
                self.produce_window(at, len, &words[first..last], count, &mut *next)?;
            }
            first = last;
        }
        Ok(())
    }

    fn produce_window(
        &self,
        start: usize,
        len: usize,
        words: &[u64],
        count: usize,
        next: Next<'_>,
    ) -> SqlResult<()> {
        let sequence = start as u64;
        if self.residual.is_empty() {
            let rows = Rows::Marked(words, count);
            let columns = self.pick_all(&self.output, start, len, &rows);
            return next(Batch { rows: count, columns, sequence });
        }
        let mut places = vec![0; count];
        bitmap::positions(words, len, &mut places);
        let mut chosen = Vec::new();
        for residual in &self.residual {
            let rows = Rows::Places(&places);
            let columns = self.pick_all(&residual.columns, start, len, &rows);
            let batch = Batch { rows: places.len(), columns, sequence };
            residual.condition.select(&batch, &mut chosen)?;
            if chosen.len() < places.len() {
                places = chosen.iter().map(|&it| places[it as usize]).collect();
            }
            if places.is_empty() {
                return Ok(());
            }
        }
        let columns = self.pick_all(&self.output, start, len, &Rows::Places(&places));
        next(Batch { rows: places.len(), columns, sequence })
    }

    fn pick_all(
        &self,
        columns: &[usize],
        start: usize,
        len: usize,
        rows: &Rows<'_>,
    ) -> Vec<Arc<crate::Vector>> {
        columns.iter().map(|&it| Arc::new(pick(&self.columns[it], start, len, rows))).collect()
    }
}

impl Residual {
    fn new(filter: &plan::Expr, columns: &[Arc<Column>], states: &States<'_>) -> SqlResult<Self> {
        let mut used = std::collections::BTreeSet::new();
        filter.collect_columns(&mut used);
        let used: Vec<usize> = used.into_iter().collect();
        let mut filter = filter.clone();
        let place = |it| used.iter().position(|&used| used == it);
        filter.map_columns(&mut |it| place(it).expect("invariant: every column was collected"));
        let layout = used.iter().map(|&it| shape(&columns[it])).collect();
        let condition = Compiled::new(&filter, &layout, &|id| states.scalar(id))?;
        Ok(Self { columns: used, condition })
    }
}

/// Ranges on one column become one, and predicates stand in the order of what they let pass.
fn merge_ranges(predicates: Vec<CodePredicate>) -> Vec<CodePredicate> {
    let mut merged: Vec<CodePredicate> = Vec::new();
    'next: for predicate in predicates {
        if let CodePredicate::Range { column, low, high } = &predicate {
            for other in &mut merged {
                let CodePredicate::Range { column: same, low: other_low, high: other_high } = other
                else {
                    continue;
                };
                if Arc::ptr_eq(column, same) {
                    (*other_low, *other_high) = (*low.max(other_low), *high.min(other_high));
                    if other_low > other_high {
                        *other = CodePredicate::Never;
                    }
                    continue 'next;
                }
            }
        }
        merged.push(predicate);
    }
    merged.sort_by(|a, b| a.share().total_cmp(&b.share()));
    merged
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
        let rows = self.table.rows() as usize;
        let widest = self.columns.iter().max_by_key(|it| it.bits());
        let mut ranges: Vec<MorselRange> = Vec::new();
        for start in (0..rows).step_by(BLOCK_ROWS) {
            let end = rows.min(start + BLOCK_ROWS) as u64;
            let node = widest.and_then(|it| it.node_of_row(start));
            match ranges.last_mut() {
                Some(last) if last.node == node => last.end = end,
                _ => ranges.push(MorselRange { node, start: start as u64, end }),
            }
        }
        ranges
    }

    fn morsel_rows(&self) -> u64 {
        BLOCK_ROWS as u64
    }

    fn produce(&self, rows: Range<u64>, _: &WorkContext, next: Next<'_>) -> SqlResult<()> {
        let (mut start, end) = (rows.start as usize, rows.end as usize);
        while start < end {
            let block_end = (start / BLOCK_ROWS + 1) * BLOCK_ROWS;
            self.produce_block(start..end.min(block_end), &mut *next)?;
            start = block_end;
        }
        Ok(())
    }

    fn bytes_read(&self, rows: Range<u64>) -> Vec<(NodeId, u64)> {
        let count = rows.end - rows.start;
        let bytes = |column: &Arc<Column>| {
            let node = column.node_of_row(rows.start as usize)?;
            Some((node, count * u64::from(column.bits()) / 8))
        };
        self.columns.iter().filter_map(bytes).collect()
    }

    fn describe(&self) -> String {
        let skipped = self.blocks_skipped.load(Ordering::Relaxed);
        let passed = self.rows_passed.load(Ordering::Relaxed);
        let all = self.table.rows();
        format!(
            "{passed} of {all} rows passed {} code predicates, {skipped} blocks skipped",
            self.predicates.len()
        )
    }
}
