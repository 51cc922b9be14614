//! The first rows of an order, with a scan that leaves out what the order does not want any more, against all of them.

use stdx::Prng;
use types::{DataType, Value};

use super::tests::{Found, Stored};
use super::*;
use crate::expression::Compiled;
use crate::sort::{CompiledSortKey, SortSink};
use crate::testing::*;
use crate::{Sink, State};

/// Numbers as 64-bit words, offsets, texts with a dictionary, numbers to break ties; rising from row to row or not.
fn columns(rows: usize, rises: bool, nulls: bool, prng: &mut Prng) -> Stored {
    let mut column = |value: &mut dyn FnMut(u64) -> Value| -> Vec<Value> {
        let number = |(row, prng): (usize, &mut Prng)| match rises {
            true => row as u64 / 9,
            false => prng.below(rows as u64 / 9 + 1),
        };
        let mut out = Vec::new();
        for row in 0..rows {
            let null = nulls && prng.below(50) == 0;
            let value = value(number((row, prng)));
            out.push(if null { Value::Null } else { value });
        }
        out
    };
    let number_of = |it: u64| Value::Integer(it as i64 * 10_000_000_000_007 - 5_000_000);
    let text = |it: u64| Value::Text(format!("{:07}", it / 20).into());
    let all = vec![
        (DataType::BigInt, column(&mut |it| number_of(it))),
        (DataType::Date, column(&mut |it| Value::Date(it as i32 / 30))),
        (DataType::Text, column(&mut |it| text(it))),
        (DataType::BigInt, (0..rows).map(|it| Value::Integer(it as i64 * 7 % 1009)).collect()),
    ];
    Stored::new(all)
}

struct Order {
    column: usize,
    descending: bool,
    nulls_first: bool,
    cut: (u64, Option<u64>),
}

/// The first rows that pass some conditions; how many the source produced.
fn first_rows(table: &Stored, filters: &[plan::Expr], order: &Order, cuts: bool) -> (Found, usize) {
    let scan = Scan {
        table: types::TableId(0),
        name: "t".into(),
        columns: (0..4).map(types::ColumnId).collect(),
        column_names: Vec::new(),
        filters: filters.to_vec(),
        transfers: Vec::new(),
        output: vec![3, order.column],
        index: None,
    };
    let mut source = ScanSource::new(&scan, table.table.clone(), &States::of(&[])).unwrap();
    let layout = source.layout().clone();
    let key = |place: usize| CompiledSortKey {
        key: Compiled::new(
            &plan::Expr::column(place, layout[place].data_type),
            &layout,
            &NoOutside,
        )
        .unwrap(),
        descending: order.descending,
        nulls_first: order.nulls_first,
    };
    let (offset, limit) = order.cut;
    let sink = SortSink::new(vec![key(1), key(0)], layout.clone(), offset, limit, 2);
    if let Some(cutoff) = sink.cutoff().filter(|_| cuts) {
        source.cut_off(1, cutoff);
    }
    let mut produced = 0;
    for (number, range) in source.ranges().into_iter().enumerate() {
        for start in (range.start..range.end).step_by(BLOCK_ROWS) {
            let rows = start..range.end.min(start + BLOCK_ROWS as u64);
            let context = context(number % 2);
            let next = &mut |batch: Batch| {
                produced += batch.rows;
                sink.consume(batch, &context)
            };
            source.produce(rows, &context, next).unwrap();
        }
    }
    let State::Rows(rows) = sink.finish(&Serial(2)).unwrap() else { panic!("no rows") };
    (rows_of(&rows.layout, &rows.all().unwrap()), produced)
}

#[test]
fn rows_that_no_order_wants_are_left_out_and_no_others() {
    let mut prng = Prng::new(17);
    let mut spared = 0;
    for round in 0..48 {
        let rows = [0, 700, 5000, 140_000][round % 4];
        let (rises, nulls) = (prng.below(2) == 0, prng.below(2) == 0);
        let table = columns(rows, rises, nulls, &mut prng);
        let column = prng.below(3) as usize;
        let cut = ([0, 3, 2000][prng.below(3) as usize], [1, 10, 3000][prng.below(3) as usize]);
        let order = Order {
            column,
            descending: prng.below(2) == 0,
            nulls_first: prng.below(2) == 0,
            cut: (cut.0, Some(cut.1)),
        };
        let below = |value: i64| {
            plan::Expr::predicate(
                plan::BinaryOperator::Less,
                table.column(3),
                plan::Expr::literal(Value::Integer(value), DataType::BigInt),
            )
        };
        let filters = [vec![], vec![below(500)], vec![below(3)]][prng.below(3) as usize].clone();
        let (expected, all) = first_rows(&table, &filters, &order, false);
        let (found, some) = first_rows(&table, &filters, &order, true);
        let about = format!("round {round}: column {column} of {rows} rows, {rises} {nulls}");
        assert_eq!(found, expected, "{about}");
        assert!(some <= all);
        spared += usize::from(some < all);
    }
    assert!(spared > 1, "{spared} scans were spared rows");
}

#[test]
fn rising_values_are_read_from_the_end_that_is_wanted() {
    let table = columns(260_000, true, false, &mut Prng::new(3));
    for descending in [false, true] {
        let order = Order { column: 0, descending, nulls_first: descending, cut: (0, Some(10)) };
        let (found, produced) = first_rows(&table, &[], &order, true);
        assert_eq!(found.len(), 10);
        assert!(produced <= 2 * BLOCK_ROWS, "{produced} rows were looked at");
    }
}
