//! Particular cases: sums at the ends of their types, many groups, nothing at all.

use plan::AggregateFunction::*;
use types::SqlState;

use super::*;
use crate::aggregate::tuning::{SORTED_GROUPS_MAX, UNSORTED_GROUPS_MAX};
use crate::{ColumnShape, Representation, Values, Vector};

fn decimals(values: &[i128]) -> Vec<Value> {
    values.iter().map(|&unscaled| Value::Decimal { unscaled, scale: 2 }).collect()
}

fn single(of: Aggregate, sample: Sample, size: usize) -> SqlResult<Value> {
    let rows = sample.values.len();
    let (layout, batches) = batches(&[sample], rows, size);
    let result = Query { keys: vec![], aggregates: vec![of] }.run(&layout, &batches, 2)?;
    Ok(rows_of(&result.layout, &result.all().unwrap())[0][0].clone())
}

#[test]
fn sums_widen_when_64_bits_may_not_hold_them() {
    for value in [i64::MAX, i64::MIN] {
        let values = decimals(&vec![value.into(); 10_000]);
        let sum = single(aggregate(Sum, 0, WIDE), Kind::Any.held(values, false), 999).unwrap();
        assert_eq!(sum, Value::Decimal { unscaled: i128::from(value) * 10_000, scale: 2 });
    }
    // Large, but bounds prove that 64 bits hold the sum of the first batches and not of all.
    let values = decimals(&vec![i128::from(i64::MAX) / 5000; 10_000]);
    let sum = single(aggregate(Sum, 0, WIDE), Kind::Spread.held(values, false), 999).unwrap();
    assert_eq!(sum, Value::Decimal { unscaled: i128::from(i64::MAX) / 5000 * 10_000, scale: 2 });
}

#[test]
fn sums_that_no_type_holds_are_errors_and_others_pass_through() {
    let most = 10i128.pow(38) - 1;
    let sum = |values: &[i128], data_type| {
        single(aggregate(Sum, 0, data_type), Kind::Wide.held(decimals(values), false), 2)
    };
    for bad in [vec![most, 1], vec![-most, -1], vec![most; 7]] {
        assert_eq!(sum(&bad, WIDE).unwrap_err().state, SqlState::NUMERIC_OUT_OF_RANGE);
    }
    // On the way the sum leaves even 128 bits.
    for fine in [vec![most, most, most, -most, -most], vec![-most, -most, -most, most, most, most]]
    {
        let expected = Value::Decimal {
            unscaled: fine[0].signum() * most * (fine.len() as i128 % 2),
            scale: 2,
        };
        assert_eq!(sum(&fine, WIDE).unwrap(), expected);
    }
    let integers = |values: &[i64]| {
        let shape = ColumnShape {
            data_type: DataType::BigInt,
            representation: Representation::I64,
            bounds: None,
            nullable: false,
        };
        let values: Vec<Value> = values.iter().map(|&it| Value::Integer(it)).collect();
        let vector = vector_of(&shape, &values);
        single(aggregate(Sum, 0, DataType::BigInt), Sample { shape, values, vector }, 2)
    };
    assert_eq!(integers(&[i64::MAX, 1, -1]).unwrap(), Value::Integer(i64::MAX));
    assert_eq!(integers(&[i64::MIN]).unwrap(), Value::Integer(i64::MIN));
    assert_eq!(integers(&[i64::MAX, 1]).unwrap_err().state, SqlState::NUMERIC_OUT_OF_RANGE);
    assert_eq!(integers(&[i64::MIN, -1]).unwrap_err().state, SqlState::NUMERIC_OUT_OF_RANGE);
}

#[test]
fn averages_round_half_away_from_zero_and_outlast_their_sums() {
    let average = |values: &[i128], scale| {
        let data_type = DataType::Decimal { precision: 38, scale };
        let sample = Kind::Wide.held(decimals(values), false);
        single(aggregate(Average, 0, data_type), sample, 2)
    };
    let decimal = |unscaled, scale| Value::Decimal { unscaled, scale };
    assert_eq!(average(&[1, 2], 2).unwrap(), decimal(2, 2));
    assert_eq!(average(&[-1, -2], 2).unwrap(), decimal(-2, 2));
    assert_eq!(average(&[1, 1, 2], 6).unwrap(), decimal(13333, 6));
    let most = 10i128.pow(38) - 1;
    assert_eq!(average(&[most; 9], 2).unwrap(), decimal(most, 2));
    assert_eq!(average(&[-most; 9], 2).unwrap(), decimal(-most, 2));
    assert_eq!(average(&[most; 9], 3).unwrap_err().state, SqlState::NUMERIC_OUT_OF_RANGE);
}

#[test]
fn nothing_gives_one_row_without_keys_and_none_with_them() {
    let aggregates = vec![count_rows(), aggregate(Sum, 0, WIDE), aggregate(Min, 0, DECIMAL)];
    let sample = Kind::Small.held(Vec::new(), false);
    let layout = vec![sample.shape];
    for slots in [1, 3] {
        let query = Query { keys: vec![], aggregates: aggregates.clone() };
        let result = query.run(&layout, &[], slots).unwrap();
        let rows = rows_of(&result.layout, &result.all().unwrap());
        assert_eq!(rows, [[Value::Integer(0), Value::Null, Value::Null]]);
        let query = Query { keys: vec![0], aggregates: aggregates.clone() };
        let result = query.run(&layout, &[], slots).unwrap();
        assert!(result.batches.is_empty() && result.layout.len() == 4);
    }
}

/// Many groups, so that tables are set aside and merged by partition: by ranges, by hash, by bytes.
#[test]
fn many_groups_are_merged_by_partition() {
    let groups = UNSORTED_GROUPS_MAX as i128 * 2 + 77;
    let number = |row: i128| row * 40_507 % groups;
    type Key = fn(i128) -> i128;
    let cases: [(Kind, Key); 4] = [
        (Kind::Small, |it| it),
        (Kind::Small, |it| it * 97),
        (Kind::Spread, |it| it << 40),
        (Kind::Wide, |it| it << 80),
    ];
    for (kind, key) in cases {
        // Keys at random, in runs, and in runs that end in the middle.
        for (order, with_distinct) in (0..6).map(|it| (it / 2, it % 2 == 0)) {
            let rows = groups * 2;
            let of = |row: i128| match order {
                0 => number(row),
                1 => row / 2,
                _ if row < rows / 2 => row / 2,
                _ => groups - 1 - (row - rows / 2) / 2,
            };
            let keys: Vec<i128> = (0..rows).map(|row| key(of(row))).collect();
            let values: Vec<i128> = (0..rows).map(|row| of(row) % 1000).collect();
            let samples =
                [kind.held(decimals(&keys), false), Kind::Small.held(decimals(&values), false)];
            let (layout, batches) = batches(&samples, rows as usize, 4096);
            let mut count = aggregate(Count, 1, DataType::BigInt);
            count.distinct = true;
            let mut aggregates =
                vec![count_rows(), aggregate(Sum, 1, WIDE), aggregate(Max, 1, DECIMAL)];
            aggregates.extend(with_distinct.then_some(count));
            let query = Query { keys: vec![0], aggregates };
            let result = query.run(&layout, &batches, 3).unwrap();
            let rows = rows_of(&result.layout, &result.all().unwrap());
            assert_eq!(rows.len() as i128, groups);
            let found = by_key(rows, 1);
            for group in 0..groups {
                let [key, value, sum] = [key(group), group % 1000, group % 1000 * 2]
                    .map(|unscaled| Value::Decimal { unscaled, scale: 2 });
                let row = &found[&vec![token(&key)]];
                let expected = [Value::Integer(2), sum, value, Value::Integer(1)];
                assert_eq!(row, &expected[..row.len()], "{kind:?}, order {order}");
            }
        }
    }
}

/// Expected to fill a quarter of the domain, so that they are found through an array beyond the caches.
#[test]
fn many_scattered_groups_of_a_domain_are_counted_and_summed() {
    let (rows, domain) = (400_000, 1 << 20);
    let key = |row: i128| if row == 0 { domain - 1 } else { row * 7919 * 131 % domain / 2 * 2 };
    let keys: Vec<i128> = (0..rows).map(key).collect();
    let values: Vec<i128> = (0..rows).map(|row| row % 1000).collect();
    let samples = [&keys, &values].map(|it| Kind::Small.held(decimals(it), false));
    let (layout, batches) = batches(&samples, rows as usize, 4096);
    let sum = aggregate(Sum, 1, DataType::Decimal { precision: 38, scale: 2 });
    let query = Query { keys: vec![0], aggregates: vec![count_rows(), sum] };
    let result = query.run(&layout, &batches, 3).unwrap();
    let mut expected: HashMap<i128, (i64, i128)> = HashMap::new();
    for (key, value) in keys.iter().zip(&values) {
        let group = expected.entry(*key).or_default();
        *group = (group.0 + 1, group.1 + value);
    }
    let found = by_key(rows_of(&result.layout, &result.all().unwrap()), 1);
    assert_eq!(found.len(), expected.len());
    for (key, (count, unscaled)) in expected {
        let row = &found[&vec![token(&Value::Decimal { unscaled: key, scale: 2 })]];
        assert_eq!(
            row[..],
            [Value::Integer(count), Value::Decimal { unscaled, scale: 2 }],
            "{key}"
        );
    }
}

#[test]
fn stored_text_is_grouped_and_compared_by_value_also_without_a_dictionary() {
    // The first eight bytes may decide, and may be equal.
    ["", "the same head "].into_iter().for_each(plain_texts_that_begin_with);
}

fn plain_texts_that_begin_with(head: &str) {
    use storage::Encoding;
    let words = |it: &dyn Fn(usize) -> String| (0..6000).map(|row| text(it(row))).collect();
    let few: Vec<Value> = words(&|row| format!("w{}", row % 10));
    let mut unique: Vec<Value> = words(&|row| format!("{head}{:05}", row * 7919 % 6000));
    let (least, greatest) = (text(format!("{head}00000")), text(format!("{head}05999")));
    unique[17] = least.clone();
    let samples = [Kind::Stored.held(few, false), Kind::Unique.held(unique, false)];
    let Representation::Codes(column) = &samples[1].shape.representation else {
        panic!("no codes")
    };
    assert!(matches!(column.encoding, Encoding::Plain(_)), "{}", column.encoding_name());
    let (layout, batches) = batches(&samples, 6000, 1000);
    let aggregates = vec![aggregate(Min, 1, DataType::Text), aggregate(Max, 1, DataType::Text)];
    let result = Query { keys: vec![0], aggregates }.run(&layout, &batches, 3).unwrap();
    let found = by_key(rows_of(&result.layout, &result.all().unwrap()), 1);
    assert_eq!(found.len(), 10);
    assert_eq!(found[&vec![token(&text("w0"))]][0], least);
    assert!(found.values().any(|it| it[1] == greatest));
    let mut count = aggregate(Count, 1, DataType::BigInt);
    count.distinct = true;
    let query = Query { keys: vec![1], aggregates: vec![count] };
    let result = query.run(&layout, &batches, 3).unwrap();
    assert_eq!(rows_of(&result.layout, &result.all().unwrap()).len(), 5999);
}

/// Each batch stands for a block, and workers share them as they come: runs meet, touch, fall, or overlap.
#[test]
fn runs_of_workers_are_put_together_where_they_meet() {
    for (rows_per_group, disorder) in
        [(1, false), (3, false), (700, false), (9000, false), (3, true), (700, true)]
    {
        let rows = 40 * 1000;
        let group = |row: i128| match row / 1000 {
            // A block of its own at the end of the keys, one that repeats another, and one that falls within.
            7 if disorder => 1_000_000 + row,
            9 if disorder => (row - 1000) / rows_per_group,
            11 if disorder => 500_000 - row,
            _ => row / rows_per_group,
        };
        let keys: Vec<i128> = (0..rows).map(group).collect();
        let sample = Kind::Small.held(decimals(&keys), false);
        let wide_domain = Kind::Small.held(decimals(&[0, 1 << 30]), false).shape;
        let sample = Sample { shape: wide_domain, ..sample };
        let (layout, mut batches) = batches(&[sample], rows as usize, 1000);
        for (number, batch) in batches.iter_mut().enumerate() {
            batch.sequence = number as u64 * storage::BLOCK_ROWS as u64;
        }
        let mut expected: HashMap<i128, i64> = HashMap::new();
        keys.iter().for_each(|it| *expected.entry(*it).or_default() += 1);
        for slots in [1, 2, 3] {
            let aggregates = vec![
                count_rows(),
                aggregate(Sum, 0, WIDE),
                aggregate(Max, 0, DECIMAL),
                aggregate(AnyValue, 0, DECIMAL),
            ];
            let query = Query { keys: vec![0], aggregates };
            let result = query.run(&layout, &batches, slots).unwrap();
            let found = by_key(rows_of(&result.layout, &result.all().unwrap()), 1);
            assert_eq!(found.len(), expected.len());
            for (&group, &count) in &expected {
                let value = |unscaled| Value::Decimal { unscaled, scale: 2 };
                let row = &found[&vec![token(&value(group))]];
                let sum = value(group * i128::from(count));
                assert_eq!(
                    row,
                    &[Value::Integer(count), sum, value(group), value(group)],
                    "{rows_per_group} rows per group, {slots} slots, disorder {disorder}"
                );
            }
        }
    }
}

/// More groups than a worker keeps at once, their keys in order, each with three rows that batches part.
#[test]
fn rising_groups_are_set_aside_and_asked_for_before_they_are_written() {
    let groups = SORTED_GROUPS_MAX as i128 * 2 + 77;
    let rows = groups * 3;
    let column = |of: &dyn Fn(i128) -> i128| {
        let values: Vec<i128> = (0..rows).map(of).collect();
        Kind::Small.held(decimals(&values), false)
    };
    let (keys, values) = (column(&|row| row / 3), column(&|row| row % 1000));
    let (layout, batches) = batches(&[keys, values], rows as usize, 4096);
    let aggregates = vec![
        aggregate(Sum, 1, WIDE),
        aggregate(AnyValue, 0, DECIMAL),
        aggregate(Average, 1, DataType::Decimal { precision: 38, scale: 2 }),
        count_rows(),
    ];
    let query = Query { keys: vec![0], aggregates };
    let limit = 2990;
    let literal = |unscaled| Expr::literal(Value::Decimal { unscaled, scale: 2 }, WIDE);
    let large =
        Expr::predicate(plan::BinaryOperator::Greater, Expr::column(1, WIDE), literal(limit));
    for slots in [1, 3] {
        for having in [None, Some(&large)] {
            let result = query.run_having(having, &layout, &batches, slots).unwrap();
            let found = by_key(rows_of(&result.layout, &result.all().unwrap()), 1);
            let mut wanted = 0;
            for group in 0..groups {
                let of_row = |row: i128| (group * 3 + row) % 1000;
                let sum: i128 = (0..3).map(of_row).sum();
                let decimal = |unscaled| Value::Decimal { unscaled, scale: 2 };
                let key = vec![token(&decimal(group))];
                if having.is_some() && sum <= limit {
                    assert!(!found.contains_key(&key), "group {group} of {sum}");
                    continue;
                }
                wanted += 1;
                let mean = (sum * 2 + 3) / 6;
                let expected = [decimal(sum), decimal(group), decimal(mean), Value::Integer(3)];
                assert_eq!(found[&key], expected, "group {group}");
            }
            assert_eq!(found.len(), wanted);
            assert!(wanted > 0);
        }
    }
}

/// Keys of 65 to 128 bits, with and without NULL, among them the least and the greatest of 64 bits; and those of more.
#[test]
fn keys_wider_than_a_word_are_kept_apart() {
    let mut prng = stdx::Prng::new(91);
    let shapes = [
        vec![Kind::Any, Kind::Small],
        vec![Kind::Small, Kind::Any],
        vec![Kind::Any, Kind::Any],
        vec![Kind::Spread, Kind::Stored, Kind::Bool],
        vec![Kind::Any, Kind::Any, Kind::Small],
    ];
    for kinds in shapes {
        for nullable in [false, true] {
            let (rows, distinct) = (3 * UNSORTED_GROUPS_MAX, 1 << 12);
            let mut samples: Vec<Sample> =
                kinds.iter().map(|it| it.sample(rows, distinct, nullable, &mut prng)).collect();
            samples.push(Kind::Small.sample(rows, 50, false, &mut prng));
            let (layout, batches) = batches(&samples, rows, 4096);
            let keys: Vec<usize> = (0..kinds.len()).collect();
            let sum = aggregate(Sum, kinds.len(), WIDE);
            let query = Query { keys, aggregates: vec![count_rows(), sum] };
            let result = query.run(&layout, &batches, 3).unwrap();
            let found = by_key(rows_of(&result.layout, &result.all().unwrap()), kinds.len());
            let mut expected: HashMap<Vec<String>, (i64, i128)> = HashMap::new();
            for row in 0..rows {
                let key = samples[..kinds.len()].iter().map(|it| token(&it.values[row])).collect();
                let (count, sum) = expected.entry(key).or_default();
                *count += 1;
                *sum += samples[kinds.len()].values[row].as_i128().unwrap();
            }
            assert_eq!(found.len(), expected.len(), "{kinds:?}");
            for (key, (count, sum)) in expected {
                let values =
                    vec![Value::Integer(count), Value::Decimal { unscaled: sum, scale: 2 }];
                assert_eq!(found[&key], values, "{kinds:?} {key:?}");
            }
        }
    }
}

#[test]
fn values_of_groups_are_not_made_once_the_statement_has_ended() {
    let shape = ColumnShape::computed(DataType::BigInt, false);
    let layout = vec![shape.clone(), shape];
    let compile = |place: usize| {
        Compiled::new(&Expr::column(place, DataType::BigInt), &layout, &NoOutside).unwrap()
    };
    let spec = AggregateSpec {
        function: AggregateFunction::Mode,
        argument: Some(0),
        rest: Vec::new(),
        distinct: false,
        order: Vec::new(),
        filter: None,
        data_type: DataType::BigInt,
    };
    let run = |ends: bool| {
        let cancel = scheduler::CancelToken::new();
        let sink = AggregateSink::new(vec![compile(0)], vec![compile(1)], vec![spec.clone()], 1);
        let sink = sink.unwrap().ended_by(cancel.clone());
        let column = || Arc::new(Vector::new(Values::I64(vec![1, 2, 1])));
        let batch = Batch { rows: 3, columns: vec![column(), column()], sequence: 0 };
        sink.consume(batch, &context(0)).unwrap();
        if ends {
            cancel.cancel();
        }
        sink.finish(&Serial(1)).map(drop)
    };
    assert!(run(false).is_ok());
    assert_eq!(run(true).unwrap_err().state, SqlState::QUERY_CANCELED);
}
