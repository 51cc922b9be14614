//! Random groupings of random data.

use std::collections::{BTreeMap, HashMap};

use plan::AggregateFunction::{self, *};
use stdx::Prng;
use types::{DataType, Value};

use super::*;
use crate::aggregate::compare_floats;

/// What an aggregate is over some values, NULL among them.
fn expected(of: &Aggregate, values: &[Value]) -> Value {
    let mut values: Vec<&Value> = values.iter().filter(|it| !it.is_null()).collect();
    if of.distinct {
        let unique: BTreeMap<String, &Value> = values.iter().map(|it| (token(it), *it)).collect();
        values = unique.into_values().collect();
    }
    if of.function == Count {
        return Value::Integer(values.len() as i64);
    }
    let Some(first) = values.first() else { return Value::Null };
    let compare = |a: &&&Value, b: &&&Value| match (a, b) {
        (Value::Float(a), Value::Float(b)) => compare_floats(*a, *b),
        _ => a.compare(b).unwrap(),
    };
    match of.function {
        Min => (**values.iter().min_by(compare).unwrap()).clone(),
        Max => (**values.iter().max_by(compare).unwrap()).clone(),
        AnyValue => (*first).clone(),
        _ => total(of, &values),
    }
}

fn total(of: &Aggregate, values: &[&Value]) -> Value {
    if let Value::Float(_) = values[0] {
        let float = |it: &&Value| if let Value::Float(it) = it { *it } else { unreachable!() };
        let sum: f64 = values.iter().map(float).sum();
        return Value::Float(if of.function == Sum { sum } else { sum / values.len() as f64 });
    }
    let sum: i128 = values.iter().filter_map(|it| it.as_i128()).sum();
    let DataType::Decimal { scale, .. } = of.data_type else { unreachable!() };
    if of.function == Sum {
        return Value::Decimal { unscaled: sum, scale };
    }
    let count = values.len() as u128;
    let scaled = sum.unsigned_abs() * 10u128.pow(u32::from(scale) - 2);
    let mean = ((scaled * 2 + count) / (count * 2)) as i128;
    Value::Decimal { unscaled: mean * sum.signum(), scale }
}

fn same(function: AggregateFunction, found: &Value, expected: &Value, group: &[Value]) -> bool {
    match (found, expected) {
        // Any value may be chosen, and floats are added in any order.
        _ if function == AnyValue => {
            group.iter().filter(|it| !it.is_null()).any(|it| token(it) == token(found))
                || found.is_null() && expected.is_null()
        }
        (Value::Float(a), Value::Float(b)) if a.is_finite() && b.is_finite() => {
            (a - b).abs() <= 1e-9 * (a.abs() + b.abs()) + 1e-3
        }
        _ => token(found) == token(expected),
    }
}

fn pick<T: Copy>(from: &[T], prng: &mut Prng) -> T {
    from[prng.below(from.len() as u64) as usize]
}

fn random_aggregate(samples: &[(Kind, Sample)], filters: &[usize], prng: &mut Prng) -> Aggregate {
    let argument = prng.below(samples.len() as u64) as usize;
    let kind = samples[argument].0;
    let wide = |scale| DataType::Decimal { precision: 38, scale };
    let numeric = !matches!(kind, Kind::Bool | Kind::Text | Kind::Stored | Kind::Unique);
    let mut functions = vec![Count, Min, Max, AnyValue];
    if numeric {
        functions.extend([Sum, Sum, Average]);
    }
    let function = pick(&functions, prng);
    let data_type = match function {
        Count => DataType::BigInt,
        Sum | Average if kind == Kind::Float => DataType::Double,
        Sum => wide(2),
        Average => wide(6),
        _ => kind.data_type(),
    };
    let mut aggregate = super::aggregate(function, argument, data_type);
    aggregate.distinct = prng.below(4) == 0;
    aggregate.filter = (prng.below(4) == 0).then(|| pick(filters, prng));
    aggregate
}

/// A grouping of columns of some kinds.
fn check(seed: u64, kinds: &[Kind]) {
    let mut prng = Prng::new(seed);
    let rows = pick(&[0, 1, 5, 100, 1000, 5000, 9000], &mut prng);
    let size = pick(&[1 + rows / 50, 64 + rows / 50, 1000, 4096], &mut prng);
    let slots = 1 + prng.below(4) as usize;
    let mut columns: Vec<(Kind, Sample)> = Vec::new();
    for _ in 0..5 {
        let (kind, distinct) =
            (pick(kinds, &mut prng), pick(&[1, 3, 40, 3000, 1 << 40], &mut prng));
        let nullable = prng.below(2) == 0;
        columns.push((kind, kind.sample(rows, distinct, nullable, &mut prng)));
    }
    let filter = Kind::Bool.sample(rows, 2, seed.is_multiple_of(2), &mut prng);
    columns.push((Kind::Bool, filter));
    let keys = (0..prng.below(4)).map(|_| prng.below(5) as usize).collect();
    let mut aggregates: Vec<Aggregate> =
        (0..1 + prng.below(6)).map(|_| random_aggregate(&columns, &[5], &mut prng)).collect();
    aggregates.push(count_rows());
    let query = Query { keys, aggregates };
    let samples: Vec<Sample> = columns.iter().map(|it| it.1.clone()).collect();
    let (layout, batches) = batches(&samples, rows, size);
    let result = query.run(&layout, &batches, slots).unwrap();
    let found = by_key(rows_of(&result.layout, &result.all().unwrap()), query.keys.len());

    let mut groups: HashMap<Vec<String>, Vec<usize>> = HashMap::new();
    for row in 0..rows {
        let key = query.keys.iter().map(|&it| token(&samples[it].values[row])).collect();
        groups.entry(key).or_default().push(row);
    }
    if query.keys.is_empty() {
        groups.entry(Vec::new()).or_default();
    }
    let about = || format!("seed {seed}: {query:?} over {rows} rows in {slots} slots");
    assert_eq!(found.len(), groups.len(), "{}", about());
    for (key, rows) in groups {
        let aggregates = &found[&key];
        for (of, found) in query.aggregates.iter().zip(aggregates) {
            let passes = |row: &&usize| {
                of.filter.is_none_or(|it| samples[it].values[**row] == Value::Boolean(true))
            };
            let value = |row: &usize| match of.argument {
                Some(it) => samples[it].values[*row].clone(),
                None => Value::Boolean(true),
            };
            let values: Vec<Value> = rows.iter().filter(passes).map(value).collect();
            let expected = expected(of, &values);
            assert!(
                same(of.function, found, &expected, &values),
                "{}: {of:?} of {key:?} is {found:?}, not {expected:?}",
                about()
            );
        }
    }
}

#[test]
fn groupings_are_what_going_row_by_row_gives() {
    (0..400).for_each(|seed| check(seed, &KINDS));
}

#[test]
fn texts_that_come_again_are_of_the_groups_they_were_of() {
    (0..60).for_each(|seed| check(seed, &[Kind::Text]));
}
