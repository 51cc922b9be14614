//! Groupings of packed rows against the same groupings by batches.

use plan::{AggregateFunction, BinaryOperator, ExprKind, Scan};
use stdx::Prng;
use storage::Table;
use types::{ColumnId, TableId};

use super::*;
use crate::Source;
use crate::scan::ScanSource;
use crate::states::States;

/// Columns: few texts, few dates, numbers up to a million, whole units, numbers of either sign, few numbers.
fn columns(rows: usize, texts: u64, prng: &mut Prng) -> Vec<(DataType, Vec<Value>)> {
    let decimal = |it: i64| Value::Decimal { unscaled: it.into(), scale: 2 };
    let mut column = |value: &mut dyn FnMut(&mut Prng) -> Value| -> Vec<Value> {
        (0..rows).map(|_| value(prng)).collect()
    };
    vec![
        (DataType::Text, column(&mut |it| text(format!("k{}", it.below(texts))))),
        (DataType::Date, column(&mut |it| Value::Date(9000 + it.below(2) as i32))),
        (DECIMAL, column(&mut |it| decimal(90_000 + it.below(1 << 20) as i64))),
        (DECIMAL, column(&mut |it| decimal(100 + 100 * it.below(50) as i64))),
        (DECIMAL, column(&mut |it| decimal(it.below(1 << 21) as i64 - (1 << 20)))),
        (DECIMAL, column(&mut |it| decimal(it.below(11) as i64))),
    ]
}

fn binary(operator: BinaryOperator, left: Expr, right: Expr) -> Expr {
    let scale = match operator {
        BinaryOperator::Multiply => left.data_type.scale() + right.data_type.scale(),
        _ => left.data_type.scale().max(right.data_type.scale()),
    };
    let data_type = DataType::Decimal { precision: 38, scale };
    let (left, right) = (Box::new(left), Box::new(right));
    Expr { kind: ExprKind::Binary { operator, left, right }, data_type }
}

/// A formula of some depth over the numbers.
fn formula(depth: u32, prng: &mut Prng) -> Expr {
    if depth == 0 || prng.below(4) == 0 {
        return match prng.below(5) {
            0 => {
                let unscaled = i128::from(prng.below(200)) - 20;
                Expr::literal(Value::Decimal { unscaled, scale: 2 }, DECIMAL)
            }
            it => Expr::column(1 + it as usize, DECIMAL),
        };
    }
    let operators = [BinaryOperator::Add, BinaryOperator::Subtract, BinaryOperator::Multiply];
    let operator = operators[prng.below(3) as usize];
    binary(operator, formula(depth - 1, prng), formula(depth - 1, prng))
}

/// Groups what a scan finds; tells how many blocks were taken as they are.
fn grouped(
    source: &ScanSource,
    keys: &[Expr],
    sums: &[Expr],
    having: Option<&Expr>,
    packed: bool,
) -> (Vec<Vec<Value>>, usize) {
    let layout = source.layout();
    let compile = |it: &Expr| Compiled::new(it, layout, &NoOutside).unwrap();
    let mut specs = vec![AggregateSpec {
        function: AggregateFunction::Count,
        argument: None,
        rest: Vec::new(),
        distinct: false,
        order: Vec::new(),
        filter: None,
        data_type: DataType::BigInt,
    }];
    for (place, sum) in sums.iter().enumerate() {
        let scale = sum.data_type.scale();
        for (function, scale) in
            [(AggregateFunction::Sum, scale), (AggregateFunction::Average, scale + 4)]
        {
            let data_type = DataType::Decimal { precision: 38, scale };
            let argument = Some(place);
            specs.push(AggregateSpec {
                function,
                argument,
                rest: Vec::new(),
                distinct: false,
                order: Vec::new(),
                filter: None,
                data_type,
            });
        }
    }
    let (keys, sums) = (keys.iter().map(compile).collect(), sums.iter().map(compile).collect());
    let mut sink = AggregateSink::new(keys, sums, specs, 2).unwrap();
    if let Some(having) = having {
        sink = sink.having(having, types::Zone::utc());
    }
    let mut taken = 0;
    for range in source.ranges() {
        for (number, start) in (range.start..range.end).step_by(5 * 1024).enumerate() {
            let (rows, context) = (start..range.end.min(start + 5 * 1024), context(number % 2));
            let take = &mut |block: &crate::scan::PackedBlock<'_>| {
                let took = packed && sink.takes_packed() && sink.consume_packed(block, &context)?;
                taken += usize::from(took);
                Ok(took)
            };
            let next = &mut |batch| sink.consume(batch, &context);
            source.produce_packed(rows, &context, take, next).unwrap();
        }
    }
    let State::Rows(rows) = sink.finish(&Serial(2)).unwrap() else { panic!("groups are rows") };
    let mut found = rows_of(&rows.layout, &rows.all().unwrap());
    found.sort_by_cached_key(|it| it.iter().map(token).collect::<Vec<_>>());
    (found, taken)
}

#[test]
fn packed_rows_make_the_groups_that_batches_make() {
    let mut prng = Prng::new(31);
    let mut taken = 0;
    for round in 0..60 {
        let rows = [1, 64, 1000, 1025, 9000, 70_000][round % 6];
        let texts = [1, 3, 4, 5, 12, 300][prng.below(6) as usize];
        let columns = columns(rows, texts, &mut prng);
        let table = Arc::new(stored(&columns, 50_000));
        let least = 90_000 + prng.below(1 << 20) as i64 * (prng.below(2) as i64);
        let bound = Value::Decimal { unscaled: least.into(), scale: 2 };
        let bound = Expr::literal(bound, DECIMAL);
        let filter = Expr::predicate(BinaryOperator::GreaterEqual, Expr::column(2, DECIMAL), bound);
        let scan = Scan {
            table: TableId(0),
            name: "t".into(),
            columns: (0..6).map(ColumnId).collect(),
            column_names: Vec::new(),
            filters: vec![filter],
            transfers: Vec::new(),
            output: (0..6).collect(),
            index: None,
        };
        let source = ScanSource::new(&scan, table, &States::of(&[])).unwrap();
        let keys: Vec<Expr> = [(0, DataType::Text), (1, DataType::Date), (5, DECIMAL)]
            .into_iter()
            .filter(|_| prng.below(2) == 0)
            .map(|(place, data_type)| Expr::column(place, data_type))
            .collect();
        let sums: Vec<Expr> =
            (0..1 + prng.below(4)).map(|_| formula(prng.below(3) as u32, &mut prng)).collect();
        let (expected, none) = grouped(&source, &keys, &sums, None, false);
        let (found, some) = grouped(&source, &keys, &sums, None, true);
        assert_eq!(none, 0);
        // Without keys, sums of single columns are taken at every level.
        taken += if keys.is_empty() { 0 } else { some };
        assert_eq!(found, expected, "round {round}: sums of {sums:?} by {keys:?}");
    }
    let portable = crate::leveled::level() == crate::leveled::Instructions::Portable;
    assert_eq!(taken > 20, !portable, "{taken} blocks were taken");
}

/// A table some rows of which have gone, and some have come once more.
fn with_changes(table: &Table, columns: &[(DataType, Vec<Value>)], prng: &mut Prng) -> Table {
    let rows = table.rows();
    let share = [0, 1, 20][prng.below(3) as usize];
    let gone: Vec<u64> = (0..rows).filter(|_| prng.below(1000) < share).collect();
    let again: Vec<usize> = (0..1 + prng.below(200)).map(|_| prng.below(rows) as usize).collect();
    let chosen = |it: &(DataType, Vec<Value>)| {
        (it.0, again.iter().map(|row| it.1[*row].clone()).collect::<Vec<Value>>())
    };
    let new: Vec<(DataType, Vec<Value>)> = columns.iter().map(chosen).collect();
    let [changed, _] = crate::testing::changed(table, &gone, &new);
    changed
}

/// Keys that rise through the table, with few or many rows each; the condition drops most groups, some or none.
#[test]
fn packed_runs_make_the_groups_that_batches_make() {
    let mut prng = Prng::new(32);
    let mut taken = 0;
    for round in 0..60 {
        let rows = [1, 2, 1000, 1025, 9000, 140_000][round % 6];
        let mut columns = columns(rows, 3, &mut prng);
        let most = [2, 8, 3000][prng.below(3) as usize];
        let (mut key, repeats) = (-700, 1 + prng.below(most));
        let sorted = prng.below(5) > 0;
        let keys = (0..rows).map(|_| {
            key += i64::from(prng.below(repeats) == 0) * (1 + prng.below(300) as i64);
            Value::Integer(if sorted { key } else { key ^ 1 })
        });
        columns.push((DataType::BigInt, keys.collect()));
        let mut table = stored(&columns, 50_000);
        if round % 3 > 0 {
            table = with_changes(&table, &columns, &mut prng);
        }
        let table = Arc::new(table);
        let scan = Scan {
            table: TableId(0),
            name: "t".into(),
            columns: (0..7).map(ColumnId).collect(),
            column_names: Vec::new(),
            filters: Vec::new(),
            transfers: Vec::new(),
            output: (0..7).collect(),
            index: None,
        };
        let source = ScanSource::new(&scan, table, &States::of(&[])).unwrap();
        let keys = [Expr::column(6, DataType::BigInt)];
        let by_five = Expr::literal(Value::Decimal { unscaled: 5, scale: 2 }, DECIMAL);
        let mut sums = vec![
            Expr::column(3, DECIMAL),
            binary(BinaryOperator::Multiply, Expr::column(5, DECIMAL), by_five),
        ];
        sums.truncate(prng.below(3) as usize);
        // COUNT(*) is behind the key.
        let most = Value::Integer([0, 1, 3, 4000][prng.below(4) as usize]);
        let most = Expr::literal(most, DataType::BigInt);
        let count = Expr::column(1, DataType::BigInt);
        let having = Expr::predicate(BinaryOperator::Greater, count, most);
        let (expected, none) = grouped(&source, &keys, &sums, Some(&having), false);
        let (found, some) = grouped(&source, &keys, &sums, Some(&having), true);
        assert_eq!(none, 0);
        taken += some;
        assert_eq!(found, expected, "round {round}: sums of {sums:?}");
    }
    let wide = crate::leveled::level() == crate::leveled::Instructions::Avx512;
    assert_eq!(taken > 40, wide, "{taken} blocks were taken");
}
