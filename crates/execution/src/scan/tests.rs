//! Scans of tables that storage built, against conditions evaluated on plain values.

use plan::{BinaryOperator, ExprKind, Scan, Transfer, UnaryOperator};
use stdx::Prng;
use types::{ColumnId, DataType, TableId, Value};

use super::*;
use crate::expression::Compiled;
use crate::join::BuildSink;
use crate::scan::index::IndexSource;
use crate::testing::*;
use crate::{ColumnShape, Sink, State};
use plan::Expr;

/// Rows as values.
pub(super) type Found = Vec<Vec<Value>>;

/// Index scans that were compared, to be sure that there are some.
static INDEX_SCANS: AtomicU64 = AtomicU64::new(0);

/// A table and its rows as values; there is an index on each column.
pub(super) struct Stored {
    pub types: Vec<DataType>,
    pub columns: Vec<Vec<Value>>,
    pub table: Arc<Table>,
}

impl Stored {
    pub(super) fn new(columns: Vec<(DataType, Vec<Value>)>) -> Self {
        let table = Arc::new(stored(&columns, 50_000));
        let (types, columns) = columns.into_iter().unzip();
        Self { types, columns, table }
    }

    pub(super) fn rows(&self) -> usize {
        self.columns[0].len()
    }

    pub(super) fn column(&self, place: usize) -> Expr {
        Expr::column(place, self.types[place])
    }

    /// The rows that a scan hands on, in order: each the values of the output.
    pub(super) fn scan(&self, filters: &[Expr], output: &[usize]) -> Vec<Vec<Value>> {
        self.scan_with(filters, output, Vec::new(), &[])
    }

    fn scan_with(
        &self,
        filters: &[Expr],
        output: &[usize],
        transfers: Vec<Transfer>,
        states: &[Option<State>],
    ) -> Vec<Vec<Value>> {
        let scan = Scan {
            table: TableId(0),
            name: "t".into(),
            columns: (0..self.types.len() as u16).map(ColumnId).collect(),
            column_names: Vec::new(),
            filters: filters.to_vec(),
            transfers,
            output: output.to_vec(),
            index: None,
        };
        let source = ScanSource::new(&scan, self.table.clone(), &States::of(states)).unwrap();
        self.run(&source)
    }

    /// The rows that an index on a column finds, in order; `None` when it cannot tell.
    pub(super) fn index_scan(
        &self,
        filters: &[Expr],
        output: &[usize],
        column: usize,
    ) -> Option<Found> {
        let scan = Scan {
            table: TableId(0),
            name: "t".into(),
            columns: (0..self.types.len() as u16).map(ColumnId).collect(),
            column_names: Vec::new(),
            filters: filters.to_vec(),
            transfers: Vec::new(),
            output: output.to_vec(),
            index: Some(plan::IndexHint { name: "i".into(), column }),
        };
        let states = States::of(&[]);
        let found = IndexSource::with_at_most(usize::MAX, &scan, &self.table, &states).unwrap();
        // The rule about how many rows may match: never more than one in a hundred, or a few.
        if let Some(taken) = IndexSource::new(&scan, &self.table, &states).unwrap() {
            assert!(taken.matches() <= (self.rows() / 100).max(64));
        }
        found.map(|it| self.run(&it))
    }

    fn run(&self, source: &dyn Source) -> Found {
        let layout = source.layout().clone();
        let mut batches: Vec<Batch> = Vec::new();
        for range in source.ranges() {
            let morsel = source.morsel_rows();
            for start in (range.start..range.end).step_by(morsel as usize) {
                let rows = start..range.end.min(start + morsel);
                let mut next = |batch| {
                    batches.push(batch);
                    Ok(())
                };
                source.produce(rows, &context(0), &mut next).unwrap();
            }
        }
        assert!(batches.is_sorted_by_key(|it| it.sequence));
        rows_of(&layout, &batches)
    }

    /// The rows for which all conditions hold, found on values without codes.
    pub(super) fn expected(&self, filters: &[Expr]) -> Vec<usize> {
        let layout: Layout = self.types.iter().map(|&it| ColumnShape::computed(it, true)).collect();
        let vectors: Vec<_> = (self.columns.iter().zip(&layout))
            .map(|(values, shape)| Arc::new(vector_of(shape, values)))
            .collect();
        let batch = Batch { rows: self.rows(), columns: vectors, sequence: 0 };
        let mut rows: Vec<usize> = (0..self.rows()).collect();
        for filter in filters {
            let mut chosen = Vec::new();
            let condition = Compiled::new(filter, &layout, &NoOutside).unwrap();
            condition.select(&batch, &mut chosen).unwrap();
            rows.retain(|&it| chosen.binary_search(&(it as u32)).is_ok());
        }
        rows
    }

    fn check(&self, filters: &[Expr]) {
        let output: Vec<usize> = (0..self.types.len()).collect();
        let found = self.scan(filters, &output);
        let expected = self.expected(filters);
        assert_eq!(found.len(), expected.len(), "{filters:?}");
        self.compare(&found, &expected, filters);
        let mut used = std::collections::BTreeSet::new();
        filters.iter().for_each(|it| it.collect_columns(&mut used));
        for column in used {
            if let Some(found) = self.index_scan(filters, &output, column) {
                INDEX_SCANS.fetch_add(1, Ordering::Relaxed);
                assert_eq!(found.len(), expected.len(), "index on {column}: {filters:?}");
                self.compare(&found, &expected, filters);
            }
        }
    }

    fn compare(&self, found: &Found, expected: &[usize], filters: &[Expr]) {
        for (found, &row) in found.iter().zip(expected) {
            for (found, column) in found.iter().zip(&self.columns) {
                assert_eq!(token(found), token(&column[row]), "row {row}: {filters:?}");
            }
        }
    }
}

fn decimal(unscaled: i128) -> Value {
    Value::Decimal { unscaled, scale: 2 }
}

/// Columns of all encodings; the last is the number of the row.
pub(super) fn random_table(rows: usize, nulls: bool, prng: &mut Prng) -> Stored {
    let mut column = |data_type: DataType, value: &mut dyn FnMut(usize, &mut Prng) -> Value| {
        let values = (0..rows).map(|row| match nulls && prng.below(9) == 0 {
            true => Value::Null,
            false => value(row, prng),
        });
        (data_type, values.collect())
    };
    let columns = vec![
        column(DataType::BigInt, &mut |_, prng| Value::Integer(prng.below(50) as i64 - 20)),
        column(DataType::BigInt, &mut |row, prng| {
            Value::Integer((row / 3) as i64 + prng.below(40) as i64)
        }),
        column(DECIMAL, &mut |_, prng| decimal(prng.below(1 << 20) as i128 - 5000)),
        column(DataType::BigInt, &mut |_, prng| Value::Integer(prng.next_u64() as i64)),
        column(DECIMAL, &mut |_, prng| decimal(i128::from(prng.below(30)) * 1_000_000_007)),
        column(WIDE, &mut |_, prng| decimal(i128::from(prng.below(30)) << 90)),
        column(DataType::Double, &mut |_, prng| {
            Value::Float(match prng.below(12) {
                0 => f64::NAN,
                1 => -0.0,
                2 => 0.0,
                it => it as f64 / 4.0,
            })
        }),
        column(DataType::Double, &mut |_, prng| Value::Float(prng.next_u64() as f64)),
        column(DataType::Text, &mut |_, prng| text(format!("word {}", prng.below(60)))),
        column(DataType::Text, &mut |row, prng| text(format!("{} of {row}", prng.below(100)))),
        column(DataType::Boolean, &mut |_, prng| Value::Boolean(prng.below(3) == 0)),
        column(DataType::Date, &mut |row, _| Value::Date(8000 + row as i32 / 200)),
        column(DataType::BigInt, &mut |_, _| Value::Integer(7)),
    ];
    Stored::new(columns)
}

pub(super) fn binary(operator: BinaryOperator, left: Expr, right: Expr) -> Expr {
    Expr::predicate(operator, left, right)
}

pub(super) fn boolean(kind: ExprKind) -> Expr {
    Expr { kind, data_type: DataType::Boolean }
}

pub(super) fn random_condition(stored: &Stored, depth: u32, prng: &mut Prng) -> Expr {
    use BinaryOperator::*;
    let place = prng.below(stored.types.len() as u64) as usize;
    let column = stored.column(place);
    let data_type = stored.types[place];
    let constant = |prng: &mut Prng| {
        let row = prng.below(stored.rows().max(1) as u64) as usize;
        stored.columns[place].get(row).cloned().unwrap_or(Value::Null)
    };
    let comparisons = [Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual];
    let operator = comparisons[prng.below(6) as usize];
    let literal = |value| Expr::literal(value, data_type);
    match prng.below(if depth == 0 { 7 } else { 10 }) {
        0 | 1 => binary(operator, column, literal(constant(prng))),
        2 => binary(operator, literal(constant(prng)), column),
        3 => boolean(ExprKind::InList {
            operand: Box::new(column),
            list: (0..1 + prng.below(5)).map(|_| constant(prng)).collect(),
            negated: prng.below(2) == 0,
        }),
        4 => {
            let operators = [UnaryOperator::IsNull, UnaryOperator::IsNotNull];
            let operator = operators[prng.below(2) as usize];
            boolean(ExprKind::Unary { operator, operand: Box::new(column) })
        }
        5 if data_type.is_text() => {
            let patterns = ["word 1%", "%7", "%o%4%", "1_ of%", "%", "word 12"];
            boolean(ExprKind::Like {
                operand: Box::new(column),
                pattern: patterns[prng.below(6) as usize].into(),
                escape: None,
                case_insensitive: false,
                negated: prng.below(2) == 0,
            })
        }
        5 | 6 => {
            let same: Vec<usize> =
                (0..stored.types.len()).filter(|&it| stored.types[it] == data_type).collect();
            let other = same[prng.below(same.len() as u64) as usize];
            binary(operator, column, stored.column(other))
        }
        7 | 8 => {
            let operator = if prng.below(2) == 0 { And } else { Or };
            let (left, right) = (
                random_condition(stored, depth - 1, prng),
                random_condition(stored, depth - 1, prng),
            );
            binary(operator, left, right)
        }
        _ => {
            let mut part = || random_condition(stored, depth - 1, prng);
            let branches = vec![(part(), part())];
            let otherwise = Some(Box::new(part()));
            boolean(ExprKind::Case { branches, otherwise })
        }
    }
}

#[test]
fn scans_find_the_rows_for_which_conditions_hold() {
    let mut prng = Prng::new(11);
    for rows in [0, 1, 63, 64, 5000, 70_000] {
        for nulls in [false, true] {
            let stored = random_table(rows, nulls, &mut prng);
            stored.check(&[]);
            for _ in 0..if rows > 10_000 { 25 } else { 120 } {
                let filters: Vec<Expr> = (0..1 + prng.below(3))
                    .map(|_| random_condition(&stored, 2, &mut prng))
                    .collect();
                stored.check(&filters);
            }
        }
    }
    assert!(INDEX_SCANS.load(Ordering::Relaxed) > 200, "conditions hardly ever met an index");
}

#[test]
fn all_widths_of_codes_are_scanned() {
    let mut prng = Prng::new(3);
    for bits in 0..=32 {
        for nulls in [false, true] {
            let values: Vec<Value> = (0..3000u64)
                .map(|row| match (nulls && prng.below(5) == 0, row) {
                    (true, _) => Value::Null,
                    // The ends of the range fix the width.
                    (_, 7) => Value::Integer((1 << bits) - 1 - 9),
                    (_, 8) => Value::Integer(-9),
                    _ => Value::Integer(prng.below(1 << bits) as i64 - 9),
                })
                .collect();
            let stored = Stored::new(vec![(DataType::BigInt, values)]);
            for _ in 0..6 {
                let bound = Value::Integer(prng.below(1 << bits) as i64 - 9);
                for operator in [BinaryOperator::LessEqual, BinaryOperator::Greater] {
                    let literal = Expr::literal(bound.clone(), DataType::BigInt);
                    stored.check(&[binary(operator, stored.column(0), literal)]);
                }
            }
        }
    }
}

#[test]
fn columns_of_nothing_but_null_are_scanned() {
    for data_type in
        [DataType::BigInt, DECIMAL, DataType::Double, DataType::Text, DataType::Boolean]
    {
        let numbers = (0..500).map(Value::Integer).collect();
        let stored =
            Stored::new(vec![(data_type, vec![Value::Null; 500]), (DataType::BigInt, numbers)]);
        stored.check(&[]);
        let column = || stored.column(0);
        let is = |operator| boolean(ExprKind::Unary { operator, operand: Box::new(column()) });
        stored.check(&[is(UnaryOperator::IsNull)]);
        stored.check(&[is(UnaryOperator::IsNotNull)]);
        stored.check(&[binary(BinaryOperator::Equal, column(), column())]);
        stored.check(&[binary(BinaryOperator::IsNotDistinctFrom, column(), column())]);
    }
}

#[test]
fn blocks_that_cannot_hold_a_row_are_skipped() {
    let rows = 3 * BLOCK_ROWS + 17;
    let numbers = (0..rows as i64).map(Value::Integer).collect();
    let stored = Stored::new(vec![(DataType::BigInt, numbers)]);
    let at = |row: usize| Expr::literal(Value::Integer(row as i64), DataType::BigInt);
    let range = |low, high| {
        [
            binary(BinaryOperator::GreaterEqual, stored.column(0), at(low)),
            binary(BinaryOperator::Less, stored.column(0), at(high)),
        ]
    };
    stored.check(&range(BLOCK_ROWS + 5, BLOCK_ROWS * 2 + 5));
    stored.check(&range(5, 5));
    stored.check(&range(rows - 3, rows + 10));
    let scan = Scan {
        table: TableId(0),
        name: "t".into(),
        columns: vec![ColumnId(0)],
        column_names: Vec::new(),
        filters: range(BLOCK_ROWS, BLOCK_ROWS * 2).to_vec(),
        transfers: vec![],
        output: vec![],
        index: None,
    };
    let source = ScanSource::new(&scan, stored.table.clone(), &States::of(&[])).unwrap();
    let mut count = 0;
    let mut next = |batch: Batch| {
        count += batch.rows;
        Ok(())
    };
    source.produce(0..rows as u64, &context(0), &mut next).unwrap();
    assert_eq!(count, BLOCK_ROWS);
    let words = format!("{BLOCK_ROWS} of {rows} rows passed 1 code predicates, 3 blocks skipped");
    assert_eq!(source.describe(), words);
}

#[test]
fn a_transfer_drops_only_rows_without_a_partner() {
    let mut prng = Prng::new(9);
    for nulls in [false, true] {
        let stored = random_table(70_000, nulls, &mut prng);
        for (place, count, factor) in [
            (0, 3, 7),
            (1, 500, 11),
            (1, 1, 5),
            (1, 0, 1),
            (3, 10, 1),
            (1, 2000, 1 << 20),
            (12, 9, 1),
        ] {
            let keys: Vec<Value> = (0..count).map(|it| Value::Integer(it * factor)).collect();
            let shape = ColumnShape::computed(DataType::BigInt, false);
            let vector = Arc::new(vector_of(&shape, &keys));
            let layout = vec![shape];
            let key = Compiled::new(&stored.column(0), &layout, &NoOutside).unwrap();
            let sink = BuildSink::new(vec![key], vec![], false, false, 1);
            if count > 0 {
                let batch = Batch { rows: keys.len(), columns: vec![vector], sequence: 0 };
                sink.consume(batch, &context(0)).unwrap();
            }
            let state = sink.finish(&Serial(1)).unwrap();
            let transfer = Transfer { column: place, build: plan::PipelineId(0), key: 0 };
            let columns: Vec<usize> = (0..stored.types.len()).collect();
            let found = stored.scan_with(&[], &columns, vec![transfer], &[Some(state)]);
            let wanted = |row: &[Value]| keys.contains(&row[place]);
            let partners =
                (0..stored.rows()).filter(|&row| keys.contains(&stored.columns[place][row]));
            let found_partners = found.iter().filter(|it| wanted(it)).count();
            assert_eq!(found_partners, partners.count(), "{count} keys of column {place}");
            let dropped_something = found.len() < stored.rows();
            assert!(dropped_something || matches!(place, 3 | 12), "{count} keys of column {place}");
        }
    }
}
