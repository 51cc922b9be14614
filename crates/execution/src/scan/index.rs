//! Rows of a table found by an inverted index (P-HANA 5.2): the runs of the wanted values are looked up, and what other
//! conjuncts there are is evaluated on the positions.
//!
//! The index tells the exact number of matches before anything is read. A scan reads its columns in order at many rows
//! per nanosecond, while each position costs a miss of the caches per column, so the index is taken only when the
//! matches are few: `MATCHES_SHARE`.

use std::ops::{Bound, Range};

use hardware::NodeId;
use plan::{BinaryOperator, Expr, ExprKind, Scan};
use scheduler::MorselRange;
use stdx::sync::Arc;
use storage::{Column, InvertedIndex, ItemTraffic, Part, TAIL_ROWS, Table};
use types::{SqlResult, Value};

use super::part::{View, table_shape};
use super::predicate_of::ignores_blanks;
use super::residual::Residual;
use crate::scan::decode::Rows;
use crate::states::States;
use crate::{BATCH_ROWS, Batch, ItemRead, Layout, Next, Source, WorkContext};

/// Of how many rows one may match for the index to be taken.
const MATCHES_SHARE: usize = 100;

/// Matches for which the index is always taken.
const MATCHES_FEW: usize = 64;

/// The rows at some positions of a table that pass what conjuncts are left. Rows are numbered by their match.
pub struct IndexSource {
    name: Arc<str>,
    table: Arc<Table>,
    /// The parts with matches.
    parts: Vec<PartMatches>,
    output: Vec<usize>,
    layout: Layout,
}

/// The matches of a part.
struct PartMatches {
    view: View,
    /// Position of the part's first row.
    first: usize,
    rows: usize,
    /// Matches in the parts before.
    before: usize,
    /// Rows of the part, ascending.
    matches: Vec<u32>,
}

impl IndexSource {
    /// A source for a scan with an index hint; `None` when there is no index (any more), when none of the conjuncts can
    /// be looked up, or when the matches are so many that a scan is faster.
    pub(crate) fn new(
        scan: &Scan,
        table: &Arc<Table>,
        states: &States<'_>,
    ) -> SqlResult<Option<Self>> {
        let most = (table.rows() as usize / MATCHES_SHARE).max(MATCHES_FEW);
        Self::with_at_most(most, scan, table, states)
    }

    /// [`IndexSource::new`] for at most so many matches.
    pub(super) fn with_at_most(
        most: usize,
        scan: &Scan,
        table: &Arc<Table>,
        states: &States<'_>,
    ) -> SqlResult<Option<Self>> {
        let Some(hint) = &scan.index else { return Ok(None) };
        let Some(of_index) = table.columns.get(scan.columns[hint.column].index()) else {
            return Ok(None);
        };
        let ask = |it: &Expr| wanted(it, hint.column, of_index, states);
        let asked = scan.filters.iter().map(ask).collect::<SqlResult<Vec<_>>>()?;
        let shapes: Layout = scan.columns.iter().map(|&id| table_shape(table, id)).collect();
        let (mut parts, mut before) = (Vec::new(), 0);
        for part in table.parts() {
            let column = &part.columns[scan.columns[hint.column].index()];
            let Some(found) = Found::of(part, column, &asked, most - before) else {
                return Ok(None);
            };
            let here = found.matches.len();
            if here > 0 {
                parts.push(PartMatches::new(scan, part, &shapes, (found, before), states)?);
            }
            before += here;
        }
        let layout = scan.output.iter().map(|&it| shapes[it].clone()).collect();
        let (name, output) = (hint.name.clone(), scan.output.clone());
        Ok(Some(Self { name, table: table.clone(), parts, output, layout }))
    }

    /// Rows that the index found.
    pub(super) fn matches(&self) -> usize {
        self.parts.last().map_or(0, |it| it.before + it.matches.len())
    }

    /// The part of a match.
    fn part_of(&self, at: usize) -> &PartMatches {
        let index = self.parts.partition_point(|it| it.before <= at);
        &self.parts[index - 1]
    }
}

/// Rows of a part that an index, or a look at its few rows, has found, and the conjuncts that are left, by place.
struct Found {
    matches: Vec<u32>,
    left: Vec<usize>,
}

impl Found {
    /// `None` where it cannot be told so, or there are more than `most`. `asked` are the bounds that each conjunct has for the
    /// column.
    fn of(
        part: &Part,
        column: &Column,
        asked: &[Option<Vec<Between>>],
        most: usize,
    ) -> Option<Self> {
        let Self { mut matches, left } = match &column.index {
            Some(index) => Self::by_index(column, index, asked, most)?,
            None if part.rows() <= TAIL_ROWS => Self::looked_through(column, asked)?,
            None => return None,
        };
        if let Some(gone) = part.deletions() {
            matches.retain(|it| !gone.contains(*it as usize));
        }
        if matches.len() > most {
            return None;
        }
        matches.sort_unstable();
        Some(Self { matches, left })
    }

    fn by_index(
        column: &Column,
        index: &InvertedIndex,
        asked: &[Option<Vec<Between>>],
        most: usize,
    ) -> Option<Self> {
        let (mut runs, mut left): (Option<Vec<Range<usize>>>, _) = (None, Vec::new());
        for (place, wanted) in asked.iter().enumerate() {
            match wanted.as_ref().and_then(|it| lookup(it, column, index)) {
                Some(own) => {
                    runs = Some(match runs {
                        Some(runs) => intersect(&runs, &own),
                        None => own,
                    });
                }
                None => left.push(place),
            }
        }
        let runs = runs?;
        let count: usize = runs.iter().map(ExactSizeIterator::len).sum();
        if count > most {
            return None;
        }
        let mut matches = Vec::with_capacity(count);
        runs.into_iter().for_each(|it| index.positions(it, &mut matches));
        Some(Self { matches, left })
    }

    /// The rows of a tail, which has no index.
    fn looked_through(column: &Column, asked: &[Option<Vec<Between>>]) -> Option<Self> {
        let (mut matches, mut left): (Option<Vec<u32>>, _) = (None, Vec::new());
        for (place, wanted) in asked.iter().enumerate() {
            match (&matches, wanted) {
                (None, Some(wanted)) => {
                    let mut rows = Vec::new();
                    for (low, high) in wanted {
                        column.rows_between(low.as_ref(), high.as_ref(), &mut rows)?;
                    }
                    matches = Some(rows);
                }
                _ => left.push(place),
            }
        }
        let mut matches = matches?;
        matches.sort_unstable();
        matches.dedup();
        Some(Self { matches, left })
    }
}

impl PartMatches {
    /// Of what was found, with so many matches in the parts before.
    fn new(
        scan: &Scan,
        part: &Part,
        shapes: &Layout,
        (found, before): (Found, usize),
        states: &States<'_>,
    ) -> SqlResult<Self> {
        let mut view = View::of_columns(scan, part, &part.columns, shapes);
        for place in found.left {
            view.residual.push(Residual::new(&scan.filters[place], shapes, states)?);
        }
        let (first, rows) = (part.positions().start, part.rows());
        Ok(Self { view, first, rows, before, matches: found.matches })
    }

    fn pick_all(&self, columns: &[usize], places: &[u32]) -> Vec<Arc<crate::Vector>> {
        self.view.pick_all(columns, 0, self.rows, &Rows::Places(places))
    }

    fn produce(&self, matches: &[u32], output: &[usize], next: Next<'_>) -> SqlResult<()> {
        let sequence = (self.first + matches[0] as usize) as u64;
        let mut kept: Option<Vec<u32>> = None;
        let mut chosen = Vec::new();
        for residual in &self.view.residual {
            let places = kept.as_deref().unwrap_or(matches);
            let columns = self.pick_all(&residual.columns, places);
            let batch = Batch { rows: places.len(), columns, sequence };
            residual.condition.select(&batch, &mut chosen)?;
            if chosen.is_empty() {
                return Ok(());
            }
            if chosen.len() < places.len() {
                kept = Some(chosen.iter().map(|&it| places[it as usize]).collect());
            }
        }
        let places = kept.as_deref().unwrap_or(matches);
        let columns = self.pick_all(output, places);
        next(Batch { rows: places.len(), columns, sequence })
    }
}

/// The runs of slots, ascending and apart, whose rows are within some bounds; `None` when the index cannot tell.
fn lookup(wanted: &[Between], column: &Column, index: &InvertedIndex) -> Option<Vec<Range<usize>>> {
    let run = |it: &Between| index.lookup(column, it.0.as_ref(), it.1.as_ref());
    let mut runs = wanted.iter().map(run).collect::<Option<Vec<_>>>()?;
    runs.retain(|it| !it.is_empty());
    runs.sort_unstable_by_key(|it| it.start);
    runs.dedup();
    Some(runs)
}

/// Bounds of values.
type Between = (Bound<Value>, Bound<Value>);

/// The bounds between which the values of a column are that satisfy a conjunct; `None` where these do not tell.
fn wanted(
    filter: &Expr,
    place: usize,
    column: &Column,
    states: &States<'_>,
) -> SqlResult<Option<Vec<Between>>> {
    let is_column = |it: &Expr| it.kind == ExprKind::Column(place);
    match &filter.kind {
        ExprKind::InList { operand, list, negated: false } if is_column(operand) => {
            // NULL in the list makes no row TRUE.
            let filled = list.iter().filter(|it| !it.is_null());
            let bound = |it: &Value| Bound::Included(it.clone());
            Ok(Some(filled.map(|it| (bound(it), bound(it))).collect()))
        }
        ExprKind::Binary { operator, left, right } => {
            let (operator, constant) = match (is_column(left), is_column(right)) {
                (true, false) => (*operator, right),
                (false, true) => (operator.mirrored(), left),
                _ => return Ok(None),
            };
            if ignores_blanks(constant.data_type, column.data_type) {
                return Ok(None);
            }
            let value = match &constant.kind {
                ExprKind::Literal(value) => value.clone(),
                ExprKind::Scalar(id) => match states.known_scalar(*id)? {
                    Some(value) => value,
                    None => return Ok(None),
                },
                _ => return Ok(None),
            };
            Ok(bounds(operator, value).map(|it| vec![it]))
        }
        _ => Ok(None),
    }
}

fn bounds(operator: BinaryOperator, value: Value) -> Option<Between> {
    Some(match operator {
        BinaryOperator::Equal => (Bound::Included(value.clone()), Bound::Included(value)),
        BinaryOperator::Less => (Bound::Unbounded, Bound::Excluded(value)),
        BinaryOperator::LessEqual => (Bound::Unbounded, Bound::Included(value)),
        BinaryOperator::Greater => (Bound::Excluded(value), Bound::Unbounded),
        BinaryOperator::GreaterEqual => (Bound::Included(value), Bound::Unbounded),
        _ => return None,
    })
}

/// What two lists of runs, each ascending and apart, have in common.
fn intersect(a: &[Range<usize>], b: &[Range<usize>]) -> Vec<Range<usize>> {
    let (mut i, mut j) = (0, 0);
    let mut common = Vec::new();
    while i < a.len() && j < b.len() {
        let both = a[i].start.max(b[j].start)..a[i].end.min(b[j].end);
        if !both.is_empty() {
            common.push(both);
        }
        if a[i].end < b[j].end { i += 1 } else { j += 1 }
    }
    common
}

impl Source for IndexSource {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The unit of these ranges is a match, not a row.
    fn ranges(&self) -> Vec<MorselRange> {
        let mut ranges: Vec<MorselRange> = Vec::new();
        for part in &self.parts {
            for start in (0..part.matches.len()).step_by(BATCH_ROWS) {
                let node = part.view.node_of_row(part.matches[start] as usize);
                let end = (part.before + part.matches.len().min(start + BATCH_ROWS)) as u64;
                let start = (part.before + start) as u64;
                // A range lies in one part.
                match ranges.last_mut() {
                    Some(last) if last.node == node && start > part.before as u64 => last.end = end,
                    _ => ranges.push(MorselRange { node, start, end }),
                }
            }
        }
        ranges
    }

    fn morsel_rows(&self) -> u64 {
        BATCH_ROWS as u64
    }

    fn produce(&self, rows: Range<u64>, _: &WorkContext, next: Next<'_>) -> SqlResult<()> {
        let (mut at, end) = (rows.start as usize, rows.end as usize);
        while at < end {
            let part = self.part_of(at);
            let here = at - part.before;
            let until = part.matches.len().min(here + BATCH_ROWS).min(end - part.before);
            part.produce(&part.matches[here..until], &self.output, &mut *next)?;
            at = part.before + until;
        }
        Ok(())
    }

    /// A sample of the positions stands for all of them.
    fn items_read(&self, rows: Range<u64>, _: NodeId) -> Vec<ItemRead> {
        let mut reads = Vec::new();
        let part = self.part_of(rows.start as usize);
        let matches = &part.matches[rows.start as usize - part.before..][..rows.count()];
        let step = matches.len().div_ceil(64).max(1);
        for &row in matches.iter().step_by(step) {
            part.view.row_read(row as usize, step as u64, &mut reads);
        }
        reads
    }

    fn item_traffic(&self) -> Option<&ItemTraffic> {
        Some(self.table.traffic())
    }

    fn describe(&self) -> String {
        format!("index {} found {} of {} rows", self.name, self.matches(), self.table.rows())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_meet() {
        let runs = |ends: &[(usize, usize)]| ends.iter().map(|it| it.0..it.1).collect::<Vec<_>>();
        let check = |a: &[(usize, usize)], b: &[(usize, usize)], both: &[(usize, usize)]| {
            assert_eq!(intersect(&runs(a), &runs(b)), runs(both));
        };
        check(&[(0, 5), (7, 9)], &[(3, 8)], &[(3, 5), (7, 8)]);
        check(&[(0, 5)], &[(5, 9)], &[]);
        check(&[], &[(5, 9)], &[]);
        let apart = [(1, 2), (4, 5), (5, 6), (8, 9)];
        check(&[(0, 2), (4, 6), (8, 9)], &[(1, 5), (5, 9)], &apart);
    }
}
