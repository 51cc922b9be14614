//! Random columns of every type: what goes in comes out, and a range of values is the range of codes.

mod common;

use std::ops::Bound;

use common::{Threads, allocator, build, check, less, same};
use proptest::prelude::*;
use storage::{BuildContext, CodeRange, Column, column_to_arrow, word_of_float, word_of_int};
use types::{DataType, Value};

/// A type and values for it: from few, from a small range, or from all there are.
fn columns() -> impl Strategy<Value = (DataType, Vec<Value>)> {
    let decimal = DataType::Decimal { precision: 18, scale: 3 };
    let wide = DataType::Decimal { precision: 38, scale: 5 };
    let real = |it: f64| Value::Float(f64::from(it as f32));
    prop_oneof![
        rows(DataType::Boolean, any::<bool>().prop_map(Value::Boolean).boxed()),
        rows(DataType::SmallInt, any::<i16>().prop_map(|it| Value::Integer(it.into())).boxed()),
        rows(DataType::Integer, any::<i32>().prop_map(|it| Value::Integer(it.into())).boxed()),
        rows(DataType::BigInt, (-5i64..100).prop_map(Value::Integer).boxed()),
        rows(DataType::BigInt, any::<i64>().prop_map(Value::Integer).boxed()),
        rows(DataType::Date, any::<i32>().prop_map(Value::Date).boxed()),
        rows(DataType::Timestamp, any::<i64>().prop_map(Value::Timestamp).boxed()),
        rows(DataType::Real, any::<f64>().prop_map(real).boxed()),
        rows(DataType::Double, any::<f64>().prop_map(Value::Float).boxed()),
        rows(decimal, (-999i128..10i128.pow(18)).prop_map(decimal_of(3)).boxed()),
        rows(wide, (-10i128.pow(37)..10i128.pow(37)).prop_map(decimal_of(5)).boxed()),
        rows(DataType::Text, "[a-c\u{e4}]{0,12}".prop_map(|it| Value::Text(it.into())).boxed()),
    ]
}

fn decimal_of(scale: u8) -> impl Fn(i128) -> Value + Clone {
    move |unscaled| Value::Decimal { unscaled, scale }
}

fn rows(data_type: DataType, value: BoxedStrategy<Value>) -> BoxedStrategy<(DataType, Vec<Value>)> {
    // Rows draw from a pool, so that some columns have few distinct values.
    (prop::collection::vec(value, 1..40), 0usize..3, prop::collection::vec(any::<u16>(), 0..400))
        .prop_map(move |(pool, nulls, picks)| {
            let pick = |it: u16| match usize::from(it) % (pool.len() * 8) {
                0..4 if nulls > 0 => Value::Null,
                it => pool[it % pool.len()].clone(),
            };
            (data_type, picks.into_iter().map(pick).collect())
        })
        .boxed()
}

fn in_range(value: &Value, low: &Bound<Value>, high: &Bound<Value>) -> bool {
    let above = match low {
        Bound::Unbounded => true,
        Bound::Included(low) => !less(value, low),
        Bound::Excluded(low) => less(low, value),
    };
    let below = match high {
        Bound::Unbounded => true,
        Bound::Included(high) => !less(high, value),
        Bound::Excluded(high) => less(value, high),
    };
    !value.is_null() && above && below
}

fn check_range(column: &Column, values: &[Value], low: &Bound<Value>, high: &Bound<Value>) {
    let range = column.encode_range(low.as_ref(), high.as_ref()).expect("codes");
    for (row, value) in values.iter().enumerate() {
        let found = match range {
            CodeRange::None => false,
            CodeRange::Codes { low, high } => {
                (u64::from(low)..=u64::from(high)).contains(&column.iv().get(row))
            }
            CodeRange::Words { low, high } => {
                (low..=high).contains(&column.iv().get(row)) && !column.is_null(row)
            }
        };
        assert_eq!(found, in_range(value, low, high), "{value:?} {low:?} {high:?} {range:?}");
    }
}

fn bound(kind: u8, value: &Value) -> Bound<Value> {
    match kind % 3 {
        0 => Bound::Unbounded,
        1 => Bound::Included(value.clone()),
        _ => Bound::Excluded(value.clone()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_goes_in_comes_out((data_type, values) in columns(), chunk in 1usize..150) {
        let allocator = allocator();
        let serial = BuildContext::serial(&allocator);
        let table = build(data_type, &values, chunk, &serial).unwrap();
        let column = &table.columns[0];
        check(column, &values);
        // Through Arrow and back, whole and in part.
        let (start, end) = (values.len() / 3, values.len() - values.len() / 4);
        let array = column_to_arrow(column, start..end);
        let whole = column_to_arrow(column, 0..values.len());
        prop_assert_eq!(&array, &whole.slice(start, end - start));
        let batch = storage::table_to_arrow(&table, 0..values.len()).unwrap();
        let twice = table.append(&[batch], &serial).unwrap();
        check(&twice.columns[0], &[values.clone(), values].concat());
    }

    #[test]
    fn a_range_of_values_is_a_range_of_codes(
        (data_type, values) in columns(),
        kinds in any::<(u8, u8)>(),
        picks in any::<(prop::sample::Index, prop::sample::Index)>(),
    ) {
        let allocator = allocator();
        // Bounds that the column has, and, as half of the values are left out, some that it does not have.
        let kept: Vec<Value> = values.iter().step_by(2).cloned().collect();
        let table = build(data_type, &kept, 64, &BuildContext::serial(&allocator)).unwrap();
        let bounds: Vec<&Value> = values.iter().filter(|it| !it.is_null()).collect();
        if !bounds.is_empty() {
            let (low, high) = (picks.0.get(&bounds), picks.1.get(&bounds));
            check_range(&table.columns[0], &kept, &bound(kinds.0, low), &bound(kinds.1, high));
        }
    }
}

#[test]
fn compressed_texts_come_back() {
    let allocator = allocator();
    let serial = BuildContext { compress_from: 0, ..BuildContext::serial(&allocator) };
    let threads = BuildContext { parallel: &Threads(4), ..serial };
    let text = |it: i64| match it % 89 {
        5 => Value::Null,
        6 => Value::Text("".into()),
        _ => Value::Text(format!("the special request \u{e4} {} of Customer#{it}", it % 7).into()),
    };
    let values: Vec<Value> = (0..80_000).map(text).collect();
    let plain = build(DataType::Text, &values, 3000, &BuildContext::serial(&allocator)).unwrap();
    for context in [&serial, &threads] {
        let table = build(DataType::Text, &values, 3000, context).unwrap();
        let column = &table.columns[0];
        assert_eq!(column.encoding_name(), "fsst");
        assert_eq!(column.statistics, plain.columns[0].statistics);
        assert!(column.memory_bytes() * 10 < plain.columns[0].memory_bytes() * 7);
        check(column, &values);
        let array = column_to_arrow(column, 70..3070);
        assert_eq!(&array, &column_to_arrow(&plain.columns[0], 70..3070));
    }
    // What does not become smaller stays as it is.
    let mut prng = stdx::Prng::new(1);
    let mut noise = || (0..12).map(|_| char::from(prng.below(94) as u8 + 33)).collect::<String>();
    let noise: Vec<Value> = (0..9000).map(|_| Value::Text(noise().into())).collect();
    let table = build(DataType::Text, &noise, 3000, &serial).unwrap();
    assert_eq!(table.columns[0].encoding_name(), "plain");
    check(&table.columns[0], &noise);
}

#[test]
fn many_workers_build_what_one_builds() {
    let allocator = allocator();
    let threads = BuildContext { parallel: &Threads(4), ..BuildContext::serial(&allocator) };
    let rows = 150_000i64;
    let null = |it: i64, value: Value| if it % 97 == 5 { Value::Null } else { value };
    let cases: Vec<(DataType, Vec<Value>)> = vec![
        (DataType::BigInt, (0..rows).map(|it| Value::Integer(it * 31 % 70_001)).collect()),
        (DataType::BigInt, (0..rows).map(|it| null(it, Value::Integer(it << 40))).collect()),
        (DataType::Double, (0..rows).map(|it| null(it, Value::Float((it % 9) as f64))).collect()),
        (
            DataType::Text,
            (0..rows).map(|it| null(it, Value::Text(format!("{}", it % 999).into()))).collect(),
        ),
        (
            DataType::Text,
            (0..rows).map(|it| null(it, Value::Text(format!("u{it}").into()))).collect(),
        ),
    ];
    for (data_type, values) in cases {
        let one = build(data_type, &values, 10_007, &BuildContext::serial(&allocator)).unwrap();
        let many = build(data_type, &values, 7_001, &threads).unwrap();
        let (one, many) = (&one.columns[0], &many.columns[0]);
        assert_eq!(one.packed(), many.packed());
        assert_eq!(one.zones.to_vec(), many.zones.to_vec());
        assert_eq!(one.statistics, many.statistics);
        assert_eq!(one.memory_bytes(), many.memory_bytes());
        check(many, &values);
    }
}

#[test]
fn constants_of_other_kinds_are_encoded_where_that_is_exact() {
    let decimals: Vec<Value> =
        (0..100).map(|it| Value::Decimal { unscaled: it, scale: 1 }).collect();
    let column = common::column_of(DataType::Decimal { precision: 9, scale: 1 }, &decimals);
    fn bounds(column: &Column, low: Bound<&Value>, high: Bound<&Value>) -> Option<CodeRange> {
        column.encode_range(low, high)
    }
    let column = &*column;
    let codes = |low, high| Some(CodeRange::Codes { low, high });
    let point = |unscaled| Value::Decimal { unscaled, scale: 3 };
    // 1.25 lies between 1.2 and 1.3.
    assert_eq!(bounds(column, Bound::Included(&point(1250)), Bound::Unbounded), codes(13, 99));
    assert_eq!(bounds(column, Bound::Unbounded, Bound::Excluded(&point(1250))), codes(0, 12));
    assert_eq!(
        bounds(column, Bound::Included(&Value::Integer(2)), Bound::Included(&Value::Integer(2))),
        codes(20, 20)
    );
    assert_eq!(
        bounds(column, Bound::Included(&point(1250)), Bound::Included(&point(1250))),
        Some(CodeRange::None)
    );
    assert_eq!(column.encode_value(&point(1200)), Some(12));
    assert_eq!(
        bounds(column, Bound::Included(&Value::Integer(i64::MAX)), Bound::Unbounded),
        Some(CodeRange::None)
    );
    assert_eq!(
        bounds(column, Bound::Included(&Value::Null), Bound::Unbounded),
        Some(CodeRange::None)
    );
    assert_eq!(bounds(column, Bound::Included(&Value::Float(1.0)), Bound::Unbounded), None);
    assert_eq!(bounds(column, Bound::Unbounded, Bound::Unbounded), codes(0, 99));
    let dates: Vec<Value> = (0..10).map(Value::Date).collect();
    let dates = common::column_of(DataType::Date, &dates);
    let noon = Value::Timestamp(3 * 86_400_000_000 + 1);
    assert_eq!(dates.encode_range(Bound::Excluded(&noon), Bound::Unbounded), codes(4, 9));
    assert!(same(&dates.value_of_code(3), &Value::Date(3)) && dates.value_of_code(10).is_null());
    assert!(word_of_int(3) > word_of_int(-3) && word_of_float(0.5) > word_of_float(-7.0));
    let texts = common::column_of(DataType::Char(4), &[Value::Text("ab".into())]);
    assert_eq!(texts.encode_value(&Value::Text("ab  ".into())), Some(0));
    assert_eq!(texts.encode_value(&Value::Integer(1)), None);
}
