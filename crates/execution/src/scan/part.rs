//! The scan of one part of a table: predicates in its own codes, columns that leave as those of the table.

use std::ops::Range;

use hardware::NodeId;
use plan::{BinaryOperator, Expr, ExprKind, Scan, Transfer};
use stdx::sync::Arc;
use storage::{BLOCK_ROWS, Column, Encoding, ItemTraffic, Part, Partitioning, Table};
use types::{ColumnId, DataType, SqlResult, Value};

use super::decode::{Progression, Rows, shape};
use super::leaving::{Change, Leaving};
use super::long_texts::{LongTexts, is_of_long_texts};
use super::marks::Marks;
use super::predicate::CodePredicate;
use super::predicate_of::{constant, ignores_blanks};
use super::repeated::Repeated;
use super::residual::Residual;
use crate::join::{BuildSide, KeyFilter};
use crate::sort::Cutoff;
use crate::states::States;
use crate::team::QueryTeam;
use crate::{ColumnShape, ItemRead, Layout, Representation, Vector, WorkContext};

/// What is scanned of a part.
pub(super) struct PartScan {
    /// Position of its first row.
    pub first: usize,
    pub rows: usize,
    pub(super) own: View,
    /// For workers of other nodes, which have copies of columns.
    pub(super) copies: Vec<(Vec<NodeId>, View)>,
    /// Where rows are when no column tells.
    node: Option<NodeId>,
    /// The node on which each block is read for least, once somebody has reckoned.
    pub(super) homes: Option<Vec<Option<NodeId>>>,
}

/// The columns of a part (or copies of them) and what is asked of them.
pub(super) struct View {
    /// The number of the part.
    part: usize,
    /// The columns' numbers in the table.
    ids: Vec<ColumnId>,
    pub columns: Vec<Leaving>,
    pub predicates: Vec<CodePredicate>,
    pub residual: Vec<Residual>,
    /// What an order says of rows, and the column that it looks at.
    cutoff: Option<(usize, Arc<Cutoff>)>,
}

/// What the tests of a part are made of: what was built before, what other scans leave, and who makes them, if that is to be
/// many.
type MadeOf<'a> = (&'a States<'a>, &'a Repeated, Option<&'a dyn Fn() -> QueryTeam>);

impl PartScan {
    pub(super) fn new(
        scan: &Scan,
        part: &Part,
        shapes: &Layout,
        made_of: MadeOf<'_>,
    ) -> SqlResult<Self> {
        let view = |columns: &[Arc<Column>]| View::new(scan, part, columns, shapes, made_of);
        let own = view(&part.columns)?;
        let copy = |it: &storage::Replica| Ok((it.nodes.clone(), view(&it.columns)?));
        let copies = part.replicas().iter().map(copy).collect::<SqlResult<_>>()?;
        let node = match part.nodes() {
            [node] => Some(*node),
            _ => None,
        };
        let (first, rows) = (part.positions().start, part.rows());
        Ok(Self { first, rows, own, copies, node, homes: None })
    }

    /// Notes which dictionaries of its columns no cache of so many bytes holds.
    pub(super) fn find_lookups(&mut self, cache_bytes: u64) {
        let views = [&mut self.own].into_iter().chain(self.copies.iter_mut().map(|it| &mut it.1));
        views.flat_map(|it| &mut it.columns).for_each(|it| it.find_lookups(cache_bytes));
    }

    /// Leaves out rows that a cutoff says are not wanted, where that can be told by the codes of a column.
    pub(super) fn cut_off(&mut self, column: usize, cutoff: &Arc<Cutoff>) -> bool {
        self.copies.iter_mut().for_each(|it| _ = it.1.cut_off(column, cutoff));
        self.own.cut_off(column, cutoff)
    }

    /// The column by which rows are left out that no order wants any more.
    pub(super) fn cutoff(&self) -> Option<&Column> {
        self.own.cutoff.as_ref().map(|it| &*self.own.columns[it.0].column)
    }

    /// Whether no row can pass.
    pub(super) fn is_empty(&self) -> bool {
        self.rows == 0 || self.own.predicates.iter().any(|it| matches!(it, CodePredicate::Never))
    }

    pub(super) fn predicates(&self) -> usize {
        self.own.predicates.len()
    }

    pub(super) fn residuals(&self) -> usize {
        self.own.residual.len()
    }

    pub(super) fn predicate(&self, place: usize) -> Option<&CodePredicate> {
        self.own.predicates.get(place)
    }

    /// Bits of a row in some columns.
    pub(super) fn bits(&self, columns: &[usize]) -> u32 {
        self.own.bits(columns)
    }

    /// The column that costs most to read.
    pub(super) fn reads(&self, output: &[usize]) -> Option<&Column> {
        self.own.reads(output)
    }

    /// What workers of a node read.
    #[inline]
    pub(super) fn view(&self, node: NodeId) -> &View {
        let copy = self.copies.iter().find(|it| it.0.contains(&node));
        copy.map_or(&self.own, |it| &it.1)
    }

    /// The node that a block is best read on; `None` when there are copies of it. Who has not reckoned takes that of the
    /// widest column.
    pub(super) fn home(&self, block: usize) -> Option<NodeId> {
        if let Some(homes) = &self.homes {
            return homes[block].or(self.node);
        }
        let columns = &self.own.columns;
        let Some(widest) = self.own.widest() else { return self.node };
        let column = &columns[widest].column;
        let same = |it: &View| {
            Arc::ptr_eq(it.columns[widest].column.iv().segment(), column.iv().segment())
        };
        let same = self.copies.iter().all(|it| same(&it.1));
        if same { column.node_of_row(block * BLOCK_ROWS) } else { None }
    }
}

impl View {
    fn new(
        scan: &Scan,
        part: &Part,
        columns: &[Arc<Column>],
        shapes: &Layout,
        (states, repeated, team): MadeOf<'_>,
    ) -> SqlResult<Self> {
        let mut view = Self::of_columns(scan, part, columns, shapes);
        let position = scan.columns.iter().position(|it| it.index() == columns.len());
        let columns: Vec<Arc<Column>> =
            scan.columns.iter().map(|&id| stored(columns, id).clone()).collect();
        let (mut predicates, mut of_texts) = (Vec::new(), Vec::new());
        for filter in &scan.filters {
            // Positions are not stored, so no codes tell them.
            let of_codes = match position.is_some_and(|it| filter.uses_column(it)) {
                true => None,
                false if is_of_long_texts(filter, &columns, states)? => {
                    of_texts.push(filter);
                    continue;
                }
                false => CodePredicate::of(filter, &columns, (states, team))?,
            };
            match of_codes {
                Some(predicate) => {
                    predicates.push(predicate.kept(repeated.filter(scan, part, filter)));
                }
                None => view.residual.push(Residual::new(filter, shapes, states)?),
            }
        }
        for transfer in &scan.transfers {
            let build = states.table(transfer.build)?;
            let filters = filters_of(build, transfer, part)?;
            if let Some(filters) = filters.filter(|it| !it.is_empty()) {
                let found = CodePredicate::from_keys(&columns[transfer.column], &filters, team)?;
                let pays = |it: &CodePredicate| it.share() <= PARTIAL_KEY_SHARE_MAX;
                let found = found.filter(|it| build.has_one_key() || pays(it));
                predicates.extend(found.map(|it| it.kept(repeated.transfer(scan, part, transfer))));
            }
        }
        if !of_texts.is_empty() {
            let made_with = (states, repeated, team);
            let making = LongTexts { scan, part, columns: &columns, shapes, made_with };
            let pick = |columns: &[usize], (start, rows): (usize, usize), places: &[u32]| {
                view.pick_all(columns, start, rows, &Rows::Places(places))
            };
            let on_rows = making.tests(&of_texts, &mut predicates, &pick)?;
            // Before everything else that is tested on rows, as tests of codes are.
            view.residual.splice(0..0, on_rows);
        }
        view.predicates = merge_ranges(predicates);
        view.predicates.extend(part.deletions().cloned().map(CodePredicate::Live));
        Ok(view)
    }

    /// The columns of a scan, without conditions.
    pub(super) fn of_columns(
        scan: &Scan,
        part: &Part,
        columns: &[Arc<Column>],
        shapes: &Layout,
    ) -> Self {
        let leaving = |(place, id): (usize, &ColumnId)| {
            let column = stored(columns, *id).clone();
            let change = match (&shapes[place].representation, part.translation(id.index())) {
                _ if id.index() == columns.len() => Change::Position(part.positions().start),
                (_, Some(translation)) => Change::Translate(translation.clone()),
                (_, None) if matches!(column.encoding, Encoding::Plain(_)) => {
                    Change::shift(part.positions().start)
                }
                (Representation::I128, None)
                    if !matches!(shape(&column).representation, Representation::I128) =>
                {
                    Change::Widen
                }
                _ => Change::None,
            };
            Leaving { even: Progression::of(&column), column, change, lookups: Vec::new() }
        };
        let columns = scan.columns.iter().enumerate().map(leaving).collect();
        let (predicates, residual, cutoff) = (Vec::new(), Vec::new(), None);
        let (part, ids) = (part.number(), scan.columns.clone());
        Self { part, ids, columns, predicates, residual, cutoff }
    }

    fn cut_off(&mut self, column: usize, cutoff: &Arc<Cutoff>) -> bool {
        let Leaving { column: of, change, .. } = &self.columns[column];
        let is_number = matches!(shape(of).representation, Representation::I64);
        let is_code =
            of.data_type.stored().is_text() && matches!(of.encoding, Encoding::Dictionary(_));
        let same = matches!(change, Change::None) && (is_number || is_code);
        // A condition must raise its errors whatever is wanted.
        let fails = self.residual.iter().any(|it| it.condition.is_fallible());
        let nulls = of.statistics.nulls > 0 && cutoff.keeps_nulls();
        if same && !fails && !nulls {
            self.cutoff = Some((column, cutoff.clone()));
        }
        self.cutoff.is_some()
    }

    /// What an order demands of further rows by now.
    pub(super) fn demanded(&self) -> Option<CodePredicate> {
        let (column, cutoff) = self.cutoff.as_ref()?;
        let (low, high) = cutoff.range()?;
        let column = &self.columns[*column].column;
        Some(CodePredicate::of_numbers(column, low, high))
    }

    fn bits(&self, columns: &[usize]) -> u32 {
        columns.iter().map(|&it| self.columns[it].column.bits()).sum()
    }

    /// Bytes of `rows` rows of some columns, as packed.
    pub(super) fn packed_bytes(&self, columns: &[usize], rows: usize) -> u64 {
        rows as u64 * u64::from(self.bits(columns)) / 8
    }

    /// The column of which every row is looked at and that has the most bits a row.
    pub(super) fn reads(&self, output: &[usize]) -> Option<&Column> {
        let tested = self.predicates.iter().filter(|it| it.ahead().is_none());
        let tested = tested.flat_map(CodePredicate::columns).map(|it| &**it);
        let output = || output.iter().map(|&it| &*self.columns[it].column);
        tested.max_by_key(|it| it.bits()).or_else(|| output().max_by_key(|it| it.bits()))
    }

    /// The column with the most bits a row.
    fn widest(&self) -> Option<usize> {
        (0..self.columns.len()).max_by_key(|&it| self.columns[it].column.bits())
    }

    /// The node of a row of the widest column.
    pub(super) fn node_of_row(&self, row: usize) -> Option<NodeId> {
        self.columns[self.widest()?].column.node_of_row(row)
    }

    /// Picks rows of some columns in the window of `len` rows from `start` on.
    pub(super) fn pick_all(
        &self,
        columns: &[usize],
        start: usize,
        len: usize,
        rows: &Rows<'_>,
    ) -> Vec<Arc<Vector>> {
        columns.iter().map(|&it| Arc::new(self.columns[it].pick(start, len, rows))).collect()
    }

    /// Counts what values of so many rows of some columns of a table bring from memory beside their codes.
    pub(super) fn count_lookups(
        &self,
        table: &ItemTraffic,
        columns: &[usize],
        rows: usize,
        context: &WorkContext,
    ) {
        for &place in columns {
            let item = (self.part, self.ids[place].index());
            let lookups = self.columns[place].lookups.iter();
            lookups.for_each(|it| it.count_in((table, item), rows, context));
        }
    }

    /// Whether a condition on values looks at a column.
    pub(super) fn is_looked_at(&self, place: usize) -> bool {
        self.residual.iter().any(|it| it.columns.contains(&place))
    }

    /// Whether a test that the scan itself makes reads a column.
    pub(super) fn is_tested(&self, place: usize) -> bool {
        let column = &self.columns[place].column;
        let reads = |it: &CodePredicate| it.columns().iter().any(|it| Arc::ptr_eq(it, column));
        let cutoff = self.cutoff.as_ref().is_some_and(|it| it.0 == place);
        cutoff || self.predicates.iter().filter(|it| it.ahead().is_none()).any(reads)
    }

    /// Adds what a scan of some rows reads of some share of the lines of a column.
    pub(super) fn column_read(
        &self,
        place: usize,
        rows: Range<usize>,
        share: f64,
        reads: &mut Vec<ItemRead>,
    ) {
        let mut nodes = Vec::new();
        self.columns[place].column.scan_bytes_on_nodes(rows, &mut nodes);
        let (part, column) = (self.part, self.ids[place].index());
        let read = |(node, bytes)| {
            let bytes = if share < 1.0 { (bytes as f64 * share) as u64 } else { bytes };
            ItemRead { part, column, node, bytes }
        };
        reads.extend(nodes.into_iter().map(read));
    }

    /// Where a column of the part stands in the scan.
    pub(super) fn place_of(&self, column: &Arc<Column>) -> Option<usize> {
        self.columns.iter().position(|it| Arc::ptr_eq(&it.column, column))
    }

    /// A row that was found on its own: the nodes of its columns, with the bytes that are read of each.
    pub(super) fn row_read(&self, row: usize, times: u64, reads: &mut Vec<ItemRead>) {
        for (place, leaving) in self.columns.iter().enumerate() {
            let Some(node) = leaving.column.node_of_row(row) else { continue };
            let bytes = u64::from(leaving.column.bits().div_ceil(8)) * times;
            let (part, column) = (self.part, self.ids[place].index());
            match reads.iter_mut().find(|it| (it.column, it.node) == (column, node)) {
                Some(read) => read.bytes += bytes,
                None => reads.push(ItemRead { part, column, node, bytes }),
            }
        }
    }

    /// Adds what a scan of some rows reads, by column and by the node that holds it: codes, and the texts of plain
    /// columns that a condition looks at. Where tests were made before the scan, it reads of other columns the lines in
    /// which rows have passed.
    pub(super) fn items_read(
        &self,
        rows: Range<usize>,
        output: &[usize],
        reads: &mut Vec<ItemRead>,
    ) {
        let is_read =
            |place: usize| self.columns[place].column.bits() > 0 || self.is_looked_at(place);
        let places = (0..self.columns.len()).filter(|it| is_read(*it));
        let ahead: Vec<&Marks> = self.predicates.iter().filter_map(CodePredicate::ahead).collect();
        if ahead.is_empty() {
            places.for_each(|it| self.column_read(it, rows.clone(), 1.0, reads));
            return;
        }
        let places: Vec<(usize, bool)> = places
            .map(|it| (it, self.is_tested(it)))
            .filter(|it| it.1 || output.contains(&it.0) || self.is_looked_at(it.0))
            .collect();
        for block in rows.start / BLOCK_ROWS..rows.end.div_ceil(BLOCK_ROWS) {
            let shares = ahead.iter().map(|it| it.share(block).unwrap_or(1.0));
            let passed = shares.fold(1.0, f64::min);
            let rows = rows.start.max(block * BLOCK_ROWS)..rows.end.min((block + 1) * BLOCK_ROWS);
            for &(place, is_tested) in places.iter().filter(|_| passed > 0.0) {
                let bits = self.columns[place].column.scan_bits();
                let share = if is_tested { 1.0 } else { lines_touched(passed, bits) };
                self.column_read(place, rows.clone(), share, reads);
            }
        }
    }
}

/// How many rows a scan has at least for each row of a table with several keys of which it tests one: the values of a key are
/// put together for it.
const ROWS_PER_PARTIAL_KEY: usize = 4;

/// The share of the rows up to which a test of one of several keys may keep them: the join looks at all keys in any case.
const PARTIAL_KEY_SHARE_MAX: f64 = 0.8;

/// What is known of the keys that the tables of a transfer have; `None` where that is not enough, or not worth it.
fn filters_of<'a>(
    build: &'a BuildSide,
    transfer: &Transfer,
    part: &Part,
) -> SqlResult<Option<Vec<KeyFilter<'a>>>> {
    // A table of several keys may be cut by another one than that which is tested.
    if build.has_one_key() {
        let tables = build.of_part(part.number());
        return Ok(tables.into_iter().map(|it| it.transfer()).collect());
    }
    let few = build.rows().saturating_mul(ROWS_PER_PARTIAL_KEY) <= part.rows();
    let tables = if few { build.tables() } else { Vec::new() };
    tables.into_iter().map(|it| it.transfer_of(transfer.key)).collect()
}

/// Bytes of a line of a cache.
const LINE_BITS: f64 = 512.0;

/// The share of the lines of a column that hold at least one of the rows that have passed, wherever those are.
pub(super) fn lines_touched(passed: f64, bits: f64) -> f64 {
    let rows = (LINE_BITS / bits.max(1.0)).max(1.0);
    1.0 - (1.0 - passed).powf(rows)
}

/// The columns of a scan, in the order of its columns, as those of a part, or copies of them, leave it.
pub(crate) fn leaving_columns(
    scan: &Scan,
    part: &Part,
    columns: &[Arc<Column>],
    shapes: &Layout,
) -> Vec<Leaving> {
    View::of_columns(scan, part, columns, shapes).columns
}

/// A column of a part; the first where the hidden one of positions is meant, which is nowhere.
fn stored(columns: &[Arc<Column>], id: ColumnId) -> &Arc<Column> {
    columns.get(id.index()).unwrap_or(&columns[0])
}

/// The shape in which a column leaves the scan of a table: that of its parts, as wide as the widest.
pub(crate) fn table_shape(table: &Table, id: ColumnId) -> ColumnShape {
    if id == table.position_column() {
        let (data_type, representation) = (DataType::BigInt, Representation::I64);
        let bounds = Some((0, i128::from(u32::MAX)));
        return ColumnShape { data_type, representation, bounds, nullable: false };
    }
    let column = table.column(id);
    if let [part] = table.parts()
        && Arc::ptr_eq(&part.columns[id.index()], column)
    {
        return shape(column);
    }
    let mut shapes = table.parts().iter().map(|it| shape(&it.columns[id.index()]));
    let widest = |a: ColumnShape, b: ColumnShape| match b.representation {
        Representation::I128 => b,
        _ => a,
    };
    let first = shapes.next().expect("invariant: a table has a part");
    let found = shapes.fold(first, widest);
    let representation = match found.representation {
        Representation::Codes(_) => Representation::Codes(column.clone()),
        other => other,
    };
    let statistics = &column.statistics;
    let bound = |it: &Option<Value>| it.as_ref().and_then(Value::as_i128);
    let bounds = match representation {
        Representation::I64 | Representation::I128 => {
            bound(&statistics.min).zip(bound(&statistics.max))
        }
        _ => None,
    };
    let nullable = statistics.nulls > 0;
    ColumnShape { data_type: found.data_type, representation, bounds, nullable }
}

/// The parts that rows can be in when the conditions fix the whole key of a hashed table: its value, or a list of them.
/// `None` when they do not. (Ranges need no such rule: the least and greatest values of a part tell.)
pub(super) fn parts_of_key(
    scan: &Scan,
    table: &Table,
    states: &States<'_>,
) -> SqlResult<Option<Vec<usize>>> {
    let Partitioning::Hash { columns, .. } = table.partitioning() else { return Ok(None) };
    let mut keys: Vec<Vec<Value>> = vec![Vec::new()];
    for id in columns {
        let Some(place) = scan.columns.iter().position(|it| it == id) else { return Ok(None) };
        let mut fixed = None;
        for filter in &scan.filters {
            if let Some(values) = values_of(filter, place, states)? {
                fixed = Some(values);
                break;
            }
        }
        let Some(values) = fixed.filter(|it| it.len() * keys.len() <= VALUES_MAX) else {
            return Ok(None);
        };
        let longer = |key: &Vec<Value>| {
            values.iter().map(|it| key.iter().chain([it]).cloned().collect()).collect::<Vec<_>>()
        };
        keys = keys.iter().flat_map(longer).collect();
    }
    let schema = table.schema();
    let part = |key: &Vec<Value>| {
        table.partitioning().part_of(&schema, &key.iter().collect::<Vec<&Value>>())
    };
    Ok(keys.iter().map(part).collect())
}

/// Keys that are looked at one by one.
const VALUES_MAX: usize = 64;

/// The values that a condition leaves a column: `column = constant` or `column IN (constants)`.
fn values_of(filter: &Expr, place: usize, states: &States<'_>) -> SqlResult<Option<Vec<Value>>> {
    let is_column = |it: &Expr| matches!(it.kind, ExprKind::Column(at) if at == place);
    match &filter.kind {
        ExprKind::Binary { operator: BinaryOperator::Equal, left, right } => {
            let other = match (is_column(left), is_column(right)) {
                (true, false) => right,
                (false, true) => left,
                _ => return Ok(None),
            };
            // The hash knows only its own side.
            let column = if is_column(left) { left } else { right };
            if ignores_blanks(other.data_type, column.data_type) {
                return Ok(None);
            }
            Ok(constant(other, states)?.map(|it| vec![it]))
        }
        ExprKind::InList { operand, list, negated: false } if is_column(operand) => {
            Ok(Some(list.clone()))
        }
        _ => Ok(None),
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
    merged.sort_by(|a, b| b.worth().total_cmp(&a.worth()));
    merged
}
