//! Tests that are made where their columns lie, before the scan: the first phase of P-HANA 5.2, "finding the qualifying
//! matches", for tables whose columns lie on nodes of their own.
//!
//! Key decision: a scan has one worker a block, on the node from which most of it is read for least. A test whose column is
//! far from there runs before, on its column's node, and leaves a bitmap. Bytes and costs of the topology decide: what the
//! test then reads for less has to outweigh the bitmap, written once and read once. Where all columns of a block are on one
//! node, dealt round the same nodes, or cut at the same rows, nothing is gained and nothing done.
//!
//! - Invariant: the scan makes a test itself wherever its bitmap is not known, so the answer never depends on this.

use std::collections::BTreeSet;
use std::ops::Range;

use bitpack::bitmap;
use hardware::{NodeId, Topology};
use scheduler::MorselRange;
use stdx::sync::Arc;
use storage::{BLOCK_ROWS, Column};

use super::home::{ColumnPlace, Homes, cost};
use super::marks::Marks;
use super::part::{PartScan, View, lines_touched};
use super::predicate::CodePredicate;
use crate::{ItemRead, profile};

/// Bytes of tests below which they are left to the scan: a further job costs about what the workers of a node need for
/// reading so much of another one.
const AHEAD_BYTES: u64 = 1 << 20;
/// Rows at which a choice looks, spread over a part.
const SAMPLES: usize = 16;

/// A test that is made ahead.
struct Test {
    /// The part, by its position among those that are scanned.
    part: usize,
    /// The predicate of its view.
    predicate: usize,
    /// The number of its first row.
    base: u64,
    ranges: Vec<MorselRange>,
}

/// The tests of a scan that are made ahead. Their rows are numbered one test after the other.
#[derive(Default)]
pub(super) struct TestsAhead(Vec<Test>);

/// A test that had better be made elsewhere.
struct Candidate {
    part: usize,
    predicate: usize,
    /// The blocks that zones leave open, with the nodes to make it on.
    open: Vec<(usize, Option<NodeId>)>,
    /// Those of which zones say that no row passes all tests.
    empty: Vec<usize>,
    bytes: u64,
}

impl TestsAhead {
    /// Gives the blocks of all parts their homes, and takes out the tests that are made ahead, if `may`.
    pub fn choose(
        parts: &mut [PartScan],
        output: &[usize],
        topology: &Topology,
        may: bool,
    ) -> Self {
        if topology.nodes.len() < 2 {
            return Self::default();
        }
        let mut found = Vec::new();
        for (number, part) in parts.iter_mut().enumerate().filter(|it| it.1.copies.is_empty()) {
            let layout = PartLayout::new(part, output, topology);
            let chosen = if may { layout.better_elsewhere() } else { Vec::new() };
            found.extend(chosen.iter().map(|&it| layout.candidate(number, it)));
            part.homes = Some(layout.homes(&chosen));
        }
        if found.iter().map(|it| it.bytes).sum::<u64>() >= AHEAD_BYTES {
            return Self::new(parts, found);
        }
        // The scan makes all its tests after all.
        for part in parts.iter_mut().filter(|it| it.copies.is_empty()) {
            part.homes = Some(PartLayout::new(part, output, topology).homes(&[]));
        }
        Self::default()
    }

    fn new(parts: &mut [PartScan], found: Vec<Candidate>) -> Self {
        let (mut base, mut tests) = (0, Vec::new());
        for Candidate { part, predicate, open, empty, .. } in found {
            let rows = parts[part].rows;
            let marks = Arc::new(Marks::ahead(rows));
            empty.into_iter().for_each(|it| marks.rule_out(it));
            let mut ranges: Vec<MorselRange> = Vec::new();
            for (block, node) in open {
                let start = base + (block * BLOCK_ROWS) as u64;
                let end = base + rows.min((block + 1) * BLOCK_ROWS) as u64;
                match ranges.last_mut() {
                    Some(last) if last.node == node && last.end == start => last.end = end,
                    _ => ranges.push(MorselRange { node, start, end }),
                }
            }
            let test = &mut parts[part].own.predicates[predicate];
            *test = std::mem::replace(test, CodePredicate::Never).made_ahead(marks);
            tests.push(Test { part, predicate, base, ranges });
            base += rows.next_multiple_of(BLOCK_ROWS) as u64;
        }
        for (number, part) in parts.iter_mut().enumerate() {
            bitmaps_first(&mut part.own.predicates, |from, to| {
                let moved = tests.iter_mut().find(|it| (it.part, it.predicate) == (number, from));
                moved.into_iter().for_each(|it| it.predicate = to);
            });
        }
        Self(tests)
    }

    /// The rows of all tests, with the nodes of their columns.
    pub fn ranges(&self) -> Vec<MorselRange> {
        self.0.iter().flat_map(|it| it.ranges.clone()).collect()
    }

    fn of(&self, row: u64) -> &Test {
        &self.0[self.0.partition_point(|it| it.base <= row) - 1]
    }

    /// Makes the tests of some rows, all of one test.
    pub fn run(&self, parts: &[PartScan], rows: Range<u64>) {
        let test = self.of(rows.start);
        let part = &parts[test.part];
        let predicate = &part.own.predicates[test.predicate];
        let (mut start, end) = ((rows.start - test.base) as usize, (rows.end - test.base) as usize);
        while start < end {
            let rows = (end - start).min(BLOCK_ROWS);
            let mut words = vec![0; bitmap::words_for(rows)];
            let bytes = if profile::is_on() { predicate.bytes(rows) } else { 0 };
            let step = profile::enter(1 + test.predicate, rows, bytes);
            predicate.scan(start, rows, &mut words, false);
            profile::leave(step, if profile::is_on() { bitmap::count(&words) } else { 0 });
            start += rows;
        }
    }

    /// The memory that a test reads which is the only one, and how many bytes.
    pub fn reads(&self, parts: &[PartScan]) -> Option<(u64, u64)> {
        let [test] = &self.0[..] else { return None };
        let predicate = &parts[test.part].own.predicates[test.predicate];
        let column = predicate.columns().into_iter().max_by_key(|it| it.bits())?;
        let rows = test.ranges.iter().map(|it| (it.end - it.start) as usize).sum();
        Some((Arc::as_ptr(column.iv().segment()).addr() as u64, predicate.bytes(rows)))
    }

    /// What the tests of some rows read, by column and node.
    pub fn items_read(&self, parts: &[PartScan], rows: Range<u64>) -> Vec<ItemRead> {
        let test = self.of(rows.start);
        let rows = (rows.start - test.base) as usize..(rows.end - test.base) as usize;
        let view = &parts[test.part].own;
        let mut reads = Vec::new();
        for column in view.predicates[test.predicate].columns() {
            let place = view.place_of(column);
            place.into_iter().for_each(|it| view.column_read(it, rows.clone(), 1.0, &mut reads));
        }
        reads
    }

    /// For EXPLAIN ANALYZE: how many of the predicates of a part, and where.
    pub fn describe(&self) -> String {
        let ranges = self.0.iter().flat_map(|it| &it.ranges);
        let nodes: BTreeSet<NodeId> = ranges.filter_map(|it| it.node).collect();
        let names = nodes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let of_part = |part: usize| self.0.iter().filter(|it| it.part == part).count();
        let node = if nodes.len() == 1 { "node" } else { "nodes" };
        match self.0.iter().map(|it| of_part(it.part)).max() {
            None => String::new(),
            Some(count) => format!(" ({count} of them ahead on {node} {names})"),
        }
    }
}

/// Puts the tests that are made ahead before the others, as their bitmaps cost next to nothing; tells from where to where
/// each of them moves, to lower places in ascending order.
fn bitmaps_first(predicates: &mut Vec<CodePredicate>, mut moved: impl FnMut(usize, usize)) {
    let all = std::mem::take(predicates).into_iter().enumerate();
    let (ahead, others): (Vec<_>, Vec<_>) = all.partition(|it| it.1.ahead().is_some());
    ahead.iter().enumerate().for_each(|(to, it)| moved(it.0, to));
    predicates.extend(ahead.into_iter().chain(others).map(|it| it.1));
}

/// A part, and where its columns lie.
struct PartLayout<'a> {
    view: &'a View,
    rows: usize,
    output: &'a [usize],
    topology: &'a Topology,
    /// For each column of the scan, if anything of it is read.
    places: Vec<Option<ColumnPlace>>,
}

impl<'a> PartLayout<'a> {
    fn new(part: &'a PartScan, output: &'a [usize], topology: &'a Topology) -> Self {
        let view = &part.own;
        let is_read =
            |place: usize| view.columns[place].column.bits() > 0 || view.is_looked_at(place);
        let place = |it: usize| is_read(it).then(|| ColumnPlace::new(&view.columns[it].column));
        let places = (0..view.columns.len()).map(place).collect();
        Self { view, rows: part.rows, output, topology, places }
    }

    /// The columns of a test; none if one of them cannot be read by itself.
    fn of_test(&self, test: &CodePredicate) -> Vec<&ColumnPlace> {
        let place = |column: &&Arc<Column>| {
            let found = self.view.columns.iter().position(|it| Arc::ptr_eq(&it.column, column));
            found.and_then(|it| self.places[it].as_ref())
        };
        test.columns().iter().map(place).collect::<Option<_>>().unwrap_or_default()
    }

    /// Whether the scan reads a column for another reason than its tests.
    fn is_kept(&self, place: usize) -> bool {
        self.output.contains(&place) || self.view.is_looked_at(place)
    }

    /// The columns that the scan reads when these tests are made ahead.
    fn read_after(&self, ahead: &[usize]) -> Vec<&ColumnPlace> {
        let tests = self.view.predicates.iter().enumerate().filter(|it| !ahead.contains(&it.0));
        let tested: Vec<&Arc<Column>> = tests.flat_map(|it| it.1.columns()).collect();
        let is_tested = |place: usize| {
            tested.iter().any(|it| Arc::ptr_eq(it, &self.view.columns[place].column))
        };
        let read = |it: &(usize, &Option<ColumnPlace>)| self.is_kept(it.0) || is_tested(it.0);
        self.places.iter().enumerate().filter(read).filter_map(|it| it.1.as_ref()).collect()
    }

    /// The node of each block, when these tests are made ahead.
    fn homes(&self, ahead: &[usize]) -> Vec<Option<NodeId>> {
        let homes = Homes::new(self.read_after(ahead), self.topology);
        (0..self.rows).step_by(BLOCK_ROWS).map(|row| homes.of_row(row)).collect()
    }

    /// The tests that read for less on another node than the scan's, by more than their bitmaps cost.
    fn better_elsewhere(&self) -> Vec<usize> {
        let all: Vec<usize> = (0..self.view.predicates.len()).collect();
        let everything = self.read_after(&[]);
        if all.is_empty() || Homes::new(everything.clone(), self.topology).is_one_node() {
            return Vec::new();
        }
        // A scan of nothing but tests stays where most of these are.
        let kept = self.read_after(&all);
        let homes = Homes::new(if kept.is_empty() { everything } else { kept }, self.topology);
        all.into_iter().filter(|it| self.is_better_elsewhere(*it, &homes)).collect()
    }

    fn is_better_elsewhere(&self, predicate: usize, scan: &Homes<'_>) -> bool {
        let test = &self.view.predicates[predicate];
        let columns = self.of_test(test);
        if columns.is_empty() {
            return false;
        }
        let own = Homes::new(columns.clone(), self.topology);
        let step = self.rows.div_ceil(SAMPLES).next_multiple_of(BLOCK_ROWS);
        let (mut saved, mut paid) = (0.0, 0.0);
        for row in (0..self.rows).step_by(step) {
            let (here, there) = (scan.of_row(row), own.of_row(row));
            let price = |from: Option<NodeId>| cost(&columns, row, from, self.topology);
            saved += price(here) - price(there);
            let way = here.zip(there).map_or(1.0, |it| self.topology.relative_cost(it.0, it.1));
            // A bit is written there and read here.
            paid += 1.0 + way;
        }
        // The scan reads the rest of a column that it hands on.
        let is_kept = |it: &&Arc<Column>| {
            let place = self.view.columns.iter().position(|own| Arc::ptr_eq(&own.column, it));
            place.is_some_and(|it| self.is_kept(it))
        };
        if test.columns().iter().any(is_kept) {
            let bits = columns.iter().map(|it| it.bits).fold(0.0, f64::max);
            saved *= 1.0 - lines_touched(test.share(), bits);
        }
        saved > paid
    }

    /// The blocks of a test that zones leave open, with the nodes to make it on.
    fn candidate(&self, part: usize, predicate: usize) -> Candidate {
        let tests = &self.view.predicates;
        let homes = Homes::new(self.of_test(&tests[predicate]), self.topology);
        let (mut open, mut empty) = (Vec::new(), Vec::new());
        for block in 0..self.rows.div_ceil(BLOCK_ROWS) {
            if tests.iter().any(|it| it.by_zone(block) == Some(false)) {
                empty.push(block);
            } else if tests[predicate].by_zone(block).is_none() {
                open.push((block, homes.of_row(block * BLOCK_ROWS)));
            }
        }
        let bytes = tests[predicate].bytes(open.len() * BLOCK_ROWS);
        Candidate { part, predicate, open, empty, bytes }
    }
}
