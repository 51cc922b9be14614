//! Sort against the standard library's, over values.

use std::cmp::Ordering;

use plan::Expr;
use stdx::Prng;
use types::{DataType, Value};

use super::*;
use crate::ColumnShape;
use crate::aggregate::compare_floats;
use crate::expression::Compiled;
use crate::materialize::MaterializeSink;
use crate::testing::*;

#[derive(Clone, Copy, Debug)]
struct Order {
    column: usize,
    descending: bool,
    nulls_first: bool,
}

impl Order {
    fn compare(&self, a: &Value, b: &Value) -> Ordering {
        let (a_null, b_null) = (a.is_null(), b.is_null());
        if a_null || b_null {
            let order = a_null.cmp(&b_null);
            return if self.nulls_first { order.reverse() } else { order };
        }
        let order = match (a, b) {
            (Value::Float(a), Value::Float(b)) => compare_floats(*a, *b),
            _ => a.compare(b).unwrap(),
        };
        if self.descending { order.reverse() } else { order }
    }
}

fn run(
    layout: &Layout,
    batches: &[Batch],
    orders: &[Order],
    (offset, limit): (u64, Option<u64>),
    slots: usize,
) -> Vec<Vec<Value>> {
    let key = |it: &Order| CompiledSortKey {
        key: Compiled::new(
            &Expr::column(it.column, layout[it.column].data_type),
            layout,
            &NoOutside,
        )
        .unwrap(),
        descending: it.descending,
        nulls_first: it.nulls_first,
    };
    let keys = orders.iter().map(key).collect();
    let sink = SortSink::new(keys, layout.clone(), offset, limit, slots);
    for (number, batch) in batches.iter().enumerate() {
        sink.consume(batch.clone(), &context(number * 5 / 3 % slots)).unwrap();
    }
    let State::Rows(rows) = sink.finish(&Serial(slots)).unwrap() else { panic!("no rows") };
    assert!(rows.ordered && rows.batches.is_sorted_by_key(|it| it.sequence()));
    rows_of(&rows.layout, &rows.all().unwrap())
}

/// A column that tells rows apart.
fn numbers(rows: usize) -> Sample {
    let shape = ColumnShape::computed(DataType::BigInt, false);
    let values: Vec<Value> = (0..rows as i64).map(Value::Integer).collect();
    let vector = vector_of(&shape, &values);
    Sample { shape, values, vector }
}

fn check(
    samples: Vec<Sample>,
    orders: &[Order],
    cut: (u64, Option<u64>),
    size: usize,
    slots: usize,
) {
    let rows = samples[0].values.len();
    let mut samples = samples;
    samples.push(numbers(rows));
    let (layout, batches) = batches(&samples, rows, size);
    let found = run(&layout, &batches, orders, cut, slots);
    let samples = &samples;
    let key = |row: usize| orders.iter().map(move |it| &samples[it.column].values[row]);
    let mut sorted: Vec<usize> = (0..rows).collect();
    sorted.sort_by(|&a, &b| {
        let pairs = orders.iter().zip(key(a).zip(key(b)));
        pairs
            .map(|(order, (a, b))| order.compare(a, b))
            .find(|it| it.is_ne())
            .unwrap_or(Ordering::Equal)
    });
    let start = rows.min(cut.0 as usize);
    let end = rows.min(start.saturating_add(cut.1.map_or(usize::MAX, |it| it as usize)));
    let about = || {
        format!(
            "{orders:?} {cut:?} of {rows} rows, {:?}",
            samples.iter().map(|it| &it.shape.representation).collect::<Vec<_>>()
        )
    };
    assert_eq!(found.len(), end - start, "{}", about());
    let mut seen = vec![false; rows];
    for (found, &expected) in found.iter().zip(&sorted[start..end]) {
        let Value::Integer(row) = found[samples.len() - 1] else { panic!("no number") };
        let row = row as usize;
        assert!(!std::mem::replace(&mut seen[row], true), "row {row} twice: {}", about());
        for (found, sample) in found.iter().zip(samples) {
            assert_eq!(token(found), token(&sample.values[row]), "{}", about());
        }
        assert!(key(row).map(token).eq(key(expected).map(token)), "{}", about());
    }
}

#[test]
fn orders_are_those_of_the_values() {
    for seed in 0..300 {
        let mut prng = Prng::new(seed);
        let pick = |from: &[usize], prng: &mut Prng| from[prng.below(from.len() as u64) as usize];
        let rows = pick(&[0, 1, 2, 50, 700, 5000], &mut prng);
        let mut samples = Vec::new();
        for _ in 0..3 {
            let kind = KINDS[prng.below(10) as usize];
            let distinct = pick(&[1, 2, 30, 1 << 30], &mut prng) as u64;
            let nullable = prng.below(2) == 0;
            samples.push(kind.sample(rows, distinct, nullable, &mut prng));
        }
        let orders: Vec<Order> = (0..1 + prng.below(3))
            .map(|it| Order {
                column: it as usize,
                descending: prng.below(2) == 0,
                nulls_first: prng.below(2) == 0,
            })
            .collect();
        let offset = pick(&[0, 0, 1, 40, 10_000], &mut prng) as u64;
        let limit = (prng.below(2) == 0).then(|| pick(&[0, 1, 10, 300, 1 << 40], &mut prng) as u64);
        let size = pick(&[1 + rows / 40, 100 + rows / 40, 4096], &mut prng);
        check(samples, &orders, (offset, limit), size, 1 + prng.below(4) as usize);
    }
}

#[test]
fn many_rows_are_merged_in_ranges_and_few_wanted_ones_kept() {
    let mut prng = Prng::new(5);
    let rows = SERIAL_ROWS_MAX * 4 + 123;
    for (kind, distinct) in [
        (Kind::Any, 1 << 40),
        (Kind::Any, 1),
        (Kind::Small, 3),
        (Kind::Wide, 1 << 40),
        (Kind::Text, 1 << 40),
        (Kind::Unique, 1),
    ] {
        for cut in [(0, None), (rows as u64 / 2, Some(9000)), (0, Some(10)), (3, Some(5000))] {
            for descending in [false, true] {
                let sample = kind.sample(rows, distinct, cut.0 == 3, &mut prng);
                let orders = [Order { column: 0, descending, nulls_first: descending }];
                check(vec![sample], &orders, cut, 4096, 3);
            }
        }
    }
}

#[test]
fn rows_that_come_best_last_replace_all_others() {
    let values = |rows: i128| {
        (0..rows).rev().map(|unscaled| Value::Decimal { unscaled, scale: 2 }).collect()
    };
    let orders = [Order { column: 0, descending: false, nulls_first: false }];
    check(vec![Kind::Small.held(values(60_000), false)], &orders, (2, Some(7)), 1000, 2);
    let orders = [Order { column: 0, descending: true, nulls_first: false }];
    check(vec![Kind::Small.held(values(60_000), false)], &orders, (2, Some(7)), 1000, 2);
}

#[test]
fn texts_whose_heads_are_equal_are_told_apart_by_the_rest() {
    let texts = |head: &str| {
        (0..60_000).map(|row| text(format!("{head}{:05}", row * 7919 % 60_000))).collect()
    };
    for (kind, head) in [(Kind::Unique, ""), (Kind::Unique, "the same "), (Kind::Text, "the same ")]
    {
        for descending in [false, true] {
            let orders = [Order { column: 0, descending, nulls_first: false }];
            check(vec![kind.held(texts(head), false)], &orders, (2, Some(7)), 1000, 2);
        }
    }
}

/// Rows sorted by a first column that makes groups and a second one: a range of each group stays.
#[test]
fn some_rows_of_each_group_stay() {
    for seed in 0..60 {
        let mut prng = Prng::new(seed);
        let pick = |from: &[u64], prng: &mut Prng| from[prng.below(from.len() as u64) as usize];
        let rows = pick(&[0, 1, 30, 5000, 40_000], &mut prng) as usize;
        let groups = pick(&[1, 3, 900, 1 << 30], &mut prng);
        let nullable = prng.below(2) == 0;
        let kind = KINDS[prng.below(10) as usize];
        let samples = vec![kind.sample(rows, groups, nullable, &mut prng), numbers(rows)];
        let (offset, limit) = (pick(&[0, 0, 1, 700], &mut prng), pick(&[0, 1, 2, 6000], &mut prng));
        let limit = (prng.below(4) > 0).then_some(limit);
        let (layout, batches) = batches(&samples, rows, 1 + rows / 13);
        let key = |column: usize| CompiledSortKey {
            key: Compiled::new(
                &Expr::column(column, layout[column].data_type),
                &layout,
                &NoOutside,
            )
            .unwrap(),
            descending: false,
            nulls_first: false,
        };
        let sorted = SortSink::new(vec![key(0), key(1)], layout.clone(), 0, None, 3);
        let sorted: Box<dyn Sink> = match limit.filter(|_| prng.below(2) == 0) {
            Some(it) => firsts_of(Box::new(sorted), (vec![key(0)], vec![key(1)]), offset + it, 3),
            None => Box::new(sorted),
        };
        let sink = GroupLimitSink::new(sorted, vec![key(0)], offset, limit);
        for (number, batch) in batches.iter().enumerate() {
            sink.consume(batch.clone(), &context(number % 3)).unwrap();
        }
        let State::Rows(found) = sink.finish(&Serial(3)).unwrap() else { panic!("no rows") };
        let mut found: Vec<i64> = rows_of(&found.layout, &found.all().unwrap())
            .into_iter()
            .map(|it| if let Value::Integer(row) = it[1] { row } else { panic!("no number") })
            .collect();
        let mut seen = std::collections::HashMap::new();
        let mut expected = Vec::new();
        for (row, value) in samples[0].values.iter().enumerate() {
            let before = seen.entry(token(value)).or_insert(0u64);
            let end = limit.map_or(u64::MAX, |it| offset + it);
            if (offset..end).contains(before) {
                expected.push(row as i64);
            }
            *before += 1;
        }
        found.sort_unstable();
        assert_eq!(found, expected, "seed {seed}: {kind:?}, {offset} and {limit:?} of {rows}");
    }
}

/// A sink that only collects, behind one that drops rows that are not among the first of their partition: what came through.
fn handed_on(
    (layout, batches): (&Layout, &[Batch]),
    orders: (&[Order], &[Order]),
    wanted: u64,
    slots: usize,
) -> Vec<usize> {
    let key = |it: &Order| {
        let column = Expr::column(it.column, layout[it.column].data_type);
        let key = Compiled::new(&column, layout, &NoOutside).unwrap();
        CompiledSortKey { key, descending: it.descending, nulls_first: it.nulls_first }
    };
    let keys = |orders: &[Order]| orders.iter().map(key).collect::<Vec<_>>();
    let behind = MaterializeSink::new(layout.clone(), 0, None, false, slots);
    let sink = firsts_of(Box::new(behind), (keys(orders.0), keys(orders.1)), wanted, slots);
    for (number, batch) in batches.iter().enumerate() {
        sink.consume(batch.clone(), &context(number * 5 / 3 % slots)).unwrap();
    }
    let State::Rows(rows) = sink.finish(&Serial(slots)).unwrap() else { panic!("no rows") };
    let number = |it: Vec<Value>| match it.last() {
        Some(Value::Integer(row)) => *row as usize,
        other => panic!("{other:?} is no number"),
    };
    rows_of(&rows.layout, &rows.all().unwrap()).into_iter().map(number).collect()
}

/// Of each partition all rows come through whose rank is as low as is wanted; and all that come before one of those.
#[test]
fn the_first_of_each_partition_are_never_dropped() {
    let mut dropped = 0;
    for seed in 0..150 {
        let mut prng = Prng::new(seed);
        let pick = |from: &[u64], prng: &mut Prng| from[prng.below(from.len() as u64) as usize];
        let rows = pick(&[0, 1, 30, 200, 500], &mut prng) as usize;
        let sample = |from: &[u64], prng: &mut Prng| {
            let (kind, distinct) = (KINDS[prng.below(10) as usize], pick(from, prng));
            kind.sample(rows, distinct, prng.below(2) == 0, prng)
        };
        let samples = vec![
            sample(&[1, 2, 5, 90, 1 << 30], &mut prng),
            sample(&[2, 40, 1 << 30], &mut prng),
            sample(&[2, 1 << 30], &mut prng),
            numbers(rows),
        ];
        let mut order = |column: usize| Order {
            column,
            descending: prng.below(2) == 0,
            nulls_first: prng.below(2) == 0,
        };
        let (partition, orders) = ([order(0)], [order(1), order(2)]);
        let partition = if seed % 5 == 0 { &partition[..0] } else { &partition[..] };
        let wanted = pick(&[0, 1, 2, 7, 40, 5000], &mut prng);
        let (layout, batches) = batches(&samples, rows, 1 + rows / 23);
        let slots = 1 + prng.below(3) as usize;
        let found = handed_on((&layout, &batches), (partition, &orders), wanted, slots);
        let is_before = |a: usize, b: usize| {
            let pairs = orders.iter().map(|it| {
                let values = &samples[it.column].values;
                it.compare(&values[a], &values[b])
            });
            pairs.into_iter().find(|it| it.is_ne()) == Some(Ordering::Less)
        };
        let mut numbers = std::collections::HashMap::new();
        let partition_of = |row: usize| {
            let name = partition.first().map(|it| token(&samples[it.column].values[row]));
            let next = numbers.len();
            *numbers.entry(name).or_insert(next)
        };
        let partitions: Vec<usize> = (0..rows).map(partition_of).collect();
        let mut came = vec![false; rows];
        found.iter().for_each(|it| assert!(!std::mem::replace(&mut came[*it], true), "twice"));
        for row in (0..rows).filter(|it| !came[*it]) {
            let before = |it: &usize| partitions[*it] == partitions[row] && is_before(*it, row);
            // Those before it that come through are enough, so that its rank, and those of rows behind it, are too high.
            let count = (0..rows).filter(|it| came[*it]).filter(before).count() as u64;
            assert!(count >= wanted.max(1), "seed {seed}: {count} rows before one that is dropped");
            dropped += 1;
        }
    }
    assert!(dropped > 2000, "{dropped} rows were dropped");
}

#[test]
fn a_long_sort_ends_when_its_statement_does() {
    let rows = super::run::ROWS_UNCHECKED * 5;
    let mut entries: Vec<Entry<u64>> = (0..rows as u64)
        .map(|it| Entry { key: it.wrapping_mul(0x9e37_79b9_7f4a_7c15), batch: 0, row: it as u32 })
        .collect();
    let worker = context(0);
    super::sort_entries(&mut entries, &worker).unwrap();
    assert!(entries.is_sorted(), "pieces come out as a whole");
    worker.cancel.cancel();
    let error = super::sort_entries(&mut entries, &worker).unwrap_err();
    assert_eq!(error.state, types::SqlState::QUERY_CANCELED);
    let (some, others) = entries.split_at(rows / 2);
    assert!(super::merge_ranges(&[some, others], &worker).is_err());
}
