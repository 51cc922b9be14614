//! Aggregates without keys over packed rows against the same aggregates over batches.

use plan::{AggregateFunction, BinaryOperator, Scan};
use stdx::Prng;
use types::{ColumnId, TableId};

use super::*;
use crate::Source;
use crate::scan::ScanSource;
use crate::states::States;

/// A number to choose rows by; any 64 bits; numbers of either sign; numbers far apart; texts; dates, maybe rising.
fn columns(rows: usize, prng: &mut Prng) -> Vec<(DataType, Vec<Value>)> {
    let rises = prng.below(2) == 0;
    let apart: Vec<i64> = (0..40).map(|_| prng.next_u64() as i64 >> 2).collect();
    let mut column = |value: &mut dyn FnMut(&mut Prng, usize) -> Value| -> Vec<Value> {
        (0..rows).map(|row| value(prng, row)).collect()
    };
    vec![
        (DataType::BigInt, column(&mut |it, _| Value::Integer(it.below(1000) as i64))),
        (DataType::BigInt, column(&mut |it, _| Value::Integer(it.next_u64() as i64))),
        (DataType::BigInt, column(&mut |it, _| Value::Integer(it.below(1 << 21) as i64 - 500))),
        (DataType::BigInt, column(&mut |it, _| Value::Integer(apart[it.below(40) as usize]))),
        (DataType::Text, column(&mut |it, _| text(format!("t{}", it.below(300))))),
        (
            DataType::Date,
            column(&mut |it, row| {
                Value::Date(if rises { row as i32 / 700 } else { it.below(200) as i32 })
            }),
        ),
        (
            DataType::BigInt,
            column(&mut |it, row| {
                let step = if rises { row as i64 } else { it.below(1 << 40) as i64 };
                Value::Integer(step * 1_000_003)
            }),
        ),
    ]
}

/// The aggregates of what a scan finds; tells how many blocks were taken as they are.
fn of_all(
    source: &ScanSource,
    specs: &[AggregateSpec],
    arguments: &[Expr],
    packed: bool,
) -> (Vec<Vec<Value>>, usize) {
    let compile = |it: &Expr| Compiled::new(it, source.layout(), &NoOutside).unwrap();
    let arguments = arguments.iter().map(compile).collect();
    let sink = AggregateSink::new(Vec::new(), arguments, specs.to_vec(), 2).unwrap();
    let mut taken = 0;
    for range in source.ranges() {
        for (number, start) in (range.start..range.end).step_by(storage::BLOCK_ROWS).enumerate() {
            let end = range.end.min(start + storage::BLOCK_ROWS as u64);
            let context = context(number % 2);
            let take = &mut |block: &crate::scan::PackedBlock<'_>| {
                let took = packed && sink.takes_packed() && sink.consume_packed(block, &context)?;
                taken += usize::from(took);
                Ok(took)
            };
            let next = &mut |batch| sink.consume(batch, &context);
            source.produce_packed(start..end, &context, take, next).unwrap();
        }
    }
    let State::Rows(rows) = sink.finish(&Serial(2)).unwrap() else { panic!("groups are rows") };
    (rows_of(&rows.layout, &rows.all().unwrap()), taken)
}

fn some_aggregates(prng: &mut Prng) -> (Vec<AggregateSpec>, Vec<Expr>) {
    let number = |place: usize| Expr::column(place, DataType::BigInt);
    let literal = |value: i64| Expr::literal(Value::Integer(value), DataType::BigInt);
    let binary = |operator, left: Expr, right: Expr| {
        let (left, right) = (Box::new(left), Box::new(right));
        let kind = plan::ExprKind::Binary { operator, left, right };
        Expr { kind, data_type: DataType::BigInt }
    };
    let arguments = vec![
        number(1),
        number(2),
        binary(BinaryOperator::Add, number(2), literal(7)),
        binary(BinaryOperator::Subtract, literal(3), number(2)),
        binary(
            BinaryOperator::Subtract,
            binary(BinaryOperator::Multiply, literal(-5), number(2)),
            literal(11),
        ),
        number(3),
        Expr::column(4, DataType::Text),
        Expr::column(5, DataType::Date),
        Expr::column(6, DataType::BigInt),
    ];
    let mut specs = Vec::new();
    for _ in 0..1 + prng.below(5) {
        let place = prng.below(arguments.len() as u64) as usize;
        let function = match place {
            5.. => [AggregateFunction::Min, AggregateFunction::Max][prng.below(2) as usize],
            _ => [
                AggregateFunction::Count,
                AggregateFunction::Sum,
                AggregateFunction::Average,
                AggregateFunction::Min,
                AggregateFunction::Max,
            ][prng.below(if place < 2 { 5 } else { 3 }) as usize],
        };
        let data_type = match function {
            AggregateFunction::Sum => DataType::Decimal { precision: 38, scale: 0 },
            AggregateFunction::Average => DataType::Double,
            AggregateFunction::Count => DataType::BigInt,
            _ => arguments[place].data_type,
        };
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
    (specs, arguments)
}

#[test]
fn packed_rows_of_one_group_are_what_batches_make() {
    let mut prng = Prng::new(71);
    let mut taken = 0;
    for round in 0..90 {
        let rows = [1, 63, 1000, 4097, 66_000, 140_000][round % 6];
        let columns = columns(rows, &mut prng);
        let table = Arc::new(stored(&columns, 50_000));
        let least = Value::Integer([0, 0, 500, 990, 999, 2000][prng.below(6) as usize]);
        let filter = Expr::predicate(
            BinaryOperator::GreaterEqual,
            Expr::column(0, DataType::BigInt),
            Expr::literal(least, DataType::BigInt),
        );
        let scan = Scan {
            table: TableId(0),
            name: "t".into(),
            columns: (0..7).map(ColumnId).collect(),
            column_names: Vec::new(),
            filters: vec![filter],
            transfers: Vec::new(),
            output: (0..7).collect(),
            index: None,
        };
        let source = ScanSource::new(&scan, table, &States::of(&[])).unwrap();
        let (specs, arguments) = some_aggregates(&mut prng);
        let (expected, none) = of_all(&source, &specs, &arguments, false);
        let (found, some) = of_all(&source, &specs, &arguments, true);
        assert_eq!(none, 0);
        taken += some;
        assert_eq!(found, expected, "round {round}: {specs:?}");
    }
    assert!(taken > 40, "{taken} blocks were taken");
}
