//! Each encoding, chosen by the data that it is for.

mod common;

use common::{allocator, array_of, batch_of, build, check, column_of};
use storage::{BuildContext, ColumnSchema, Dictionary, Encoding, Table, TableBuilder};
use types::{DataType, SqlState, Value};

const DECIMAL: DataType = DataType::Decimal { precision: 15, scale: 2 };
const WIDE: DataType = DataType::Decimal { precision: 38, scale: 4 };

fn ints(values: impl IntoIterator<Item = i64>) -> Vec<Value> {
    values.into_iter().map(Value::Integer).collect()
}

fn texts(values: impl IntoIterator<Item = String>) -> Vec<Value> {
    values.into_iter().map(|it| Value::Text(it.into())).collect()
}

#[test]
fn integers_take_an_offset() {
    let values = ints((0..100_000).map(|it| it * 7 % 5000 - 100));
    let column = column_of(DataType::Integer, &values);
    assert!(matches!(column.encoding, Encoding::Offset { min: -100 }));
    assert_eq!((column.bits(), column.code_count(), column.null_code()), (13, 5000, None));
    check(&column, &values);
}

#[test]
fn few_sparse_numbers_take_a_dictionary() {
    let values: Vec<Value> = (0..10_000)
        .map(|it| Value::Decimal { unscaled: 100 * (1 + it * 7 % 50), scale: 2 })
        .collect();
    let column = column_of(DECIMAL, &values);
    assert!(matches!(column.encoding, Encoding::Dictionary(Dictionary::Int(_))));
    assert_eq!((column.bits(), column.code_count()), (6, 50));
    check(&column, &values);
    let dates: Vec<Value> = (0..10_000).map(|it| Value::Date(it % 2500)).collect();
    let column = column_of(DataType::Date, &dates);
    assert!(matches!(column.encoding, Encoding::Offset { min: 0 }));
    check(&column, &dates);
}

#[test]
fn wide_ranges_take_words_or_a_dictionary() {
    let spread = |it: i64| it.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64);
    let mut values = ints((0..5000).map(spread));
    values.extend([Value::Integer(i64::MIN), Value::Integer(i64::MAX), Value::Null]);
    let column = column_of(DataType::BigInt, &values);
    assert!(matches!(column.encoding, Encoding::Raw));
    assert_eq!((column.bits(), column.null_code()), (64, None));
    check(&column, &values);
    let mut words = [u64::MAX; 79];
    column.clear_nulls(0, values.len(), &mut words);
    assert!(words[5002 / 64] >> (5002 % 64) & 1 == 0 && words[0] == u64::MAX);
    let few = ints((0..5000).map(|it| spread(it % 20)));
    let column = column_of(DataType::BigInt, &few);
    assert!(matches!(column.encoding, Encoding::Dictionary(Dictionary::Int(_))));
    assert_eq!(column.bits(), 5);
    check(&column, &few);
}

#[test]
fn thirty_two_bits_are_the_limit_of_an_offset() {
    let full = ints([0, i64::from(u32::MAX)]);
    let column = column_of(DataType::BigInt, &full);
    assert!(matches!(column.encoding, Encoding::Offset { min: 0 }));
    assert_eq!((column.bits(), column.code_count()), (32, 1 << 32));
    check(&column, &full);
    // The code of NULL would not fit.
    let values = [full, vec![Value::Null]].concat();
    let column = column_of(DataType::BigInt, &values);
    assert!(matches!(column.encoding, Encoding::Raw));
    check(&column, &values);
    let mut values = ints([i64::MIN, i64::MIN + i64::from(u32::MAX) - 1]);
    values.push(Value::Null);
    let column = column_of(DataType::BigInt, &values);
    assert_eq!(column.null_code(), Some(u32::MAX));
    check(&column, &values);
}

#[test]
fn wide_decimals_take_a_dictionary_of_their_own() {
    let end = 10i128.pow(38) - 1;
    let mut values: Vec<Value> = [end, -end, 0, 1 << 80, 5, 5]
        .map(|unscaled| Value::Decimal { unscaled, scale: 4 })
        .to_vec();
    values.insert(2, Value::Null);
    let column = column_of(WIDE, &values);
    assert!(matches!(column.encoding, Encoding::Dictionary(Dictionary::Wide(_))));
    check(&column, &values);
    // A chunk of small values beside a chunk of large ones.
    let mut values: Vec<Value> =
        (0..1500).map(|it| Value::Decimal { unscaled: it % 3, scale: 4 }).collect();
    values.push(Value::Decimal { unscaled: 1 << 100, scale: 4 });
    check(&column_of(WIDE, &values), &values);
}

#[test]
fn floats_take_words_or_a_dictionary() {
    let specials = [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0, f64::MIN];
    let mut values: Vec<Value> = (0..3000).map(|it| Value::Float(f64::from(it).sin())).collect();
    values.extend(specials.map(Value::Float));
    values.push(Value::Null);
    let column = column_of(DataType::Double, &values);
    assert!(matches!(column.encoding, Encoding::Raw));
    check(&column, &values);
    let values: Vec<Value> = (0..3000).map(|it| Value::Float(specials[it % 7])).collect();
    let column = column_of(DataType::Double, &values);
    assert!(matches!(column.encoding, Encoding::Dictionary(Dictionary::Float(_))));
    check(&column, &values);
    let values: Vec<Value> = (0..100).map(|it| Value::Float(f64::from(it as f32 / 3.0))).collect();
    check(&column_of(DataType::Real, &values), &values);
}

#[test]
fn texts_take_a_dictionary_unless_near_unique() {
    let values = texts((0..9000).map(|it| format!("Clerk#{:05}", it % 1000)));
    let column = column_of(DataType::Text, &values);
    assert!(matches!(column.encoding, Encoding::Dictionary(Dictionary::Text(_))));
    assert_eq!((column.bits(), column.statistics.distinct), (10, 1000));
    check(&column, &values);
    let mut values = texts((0..70_000).map(|it| format!("comment {}", it * 7919 % 70_000)));
    values[66_000] = Value::Null;
    values[3] = Value::Text("".into());
    values[4] = Value::Text("\u{e4}\u{1f600}".into());
    let column = column_of(DataType::Text, &values);
    assert!(matches!(column.encoding, Encoding::Plain(_)));
    assert_eq!((column.bits(), column.null_code()), (0, None));
    check(&column, &values);
    let unique = texts((0..4000).map(|it| format!("{it:06}")));
    let column = column_of(DataType::Text, &unique);
    assert!(matches!(column.encoding, Encoding::Dictionary(_)) && column.statistics.sorted);
    check(&column, &unique);
}

#[test]
fn columns_without_values_and_with_one() {
    let types = [
        DataType::Boolean,
        DataType::SmallInt,
        DataType::BigInt,
        DataType::Real,
        DataType::Double,
        DECIMAL,
        WIDE,
        DataType::Date,
        DataType::Timestamp,
        DataType::Char(3),
        DataType::Varchar(3),
        DataType::Text,
    ];
    for data_type in types {
        for rows in [0, 1, 5000] {
            let values = vec![Value::Null; rows];
            let column = column_of(data_type, &values);
            assert_eq!((column.bits(), column.code_count()), (0, 0), "{data_type}");
            check(&column, &values);
        }
    }
    let column = column_of(DataType::BigInt, &ints([i64::MIN; 300]));
    assert_eq!((column.bits(), column.code_count()), (0, 1));
    check(&column, &ints([i64::MIN; 300]));
    let values = [ints([7; 100]), vec![Value::Null]].concat();
    let column = column_of(DataType::BigInt, &values);
    assert_eq!((column.bits(), column.null_code()), (1, Some(1)));
    check(&column, &values);
}

#[test]
fn keys_are_seen_to_be_unique() {
    // Unsorted and sparse, as an order key; then sorted past what a bitmap takes.
    let key = |it: i64| it * 4001 % 300_000 * 4;
    let column = column_of(DataType::BigInt, &ints((0..300_000).map(key)));
    let facts = &column.statistics;
    assert!(facts.distinct_exact && facts.distinct == 300_000 && !facts.sorted);
    let column = column_of(DataType::BigInt, &ints((0..300_000).map(|it| it * 1000)));
    let facts = &column.statistics;
    assert!(facts.distinct_exact && facts.distinct == 300_000 && facts.sorted);
    let mixed = |it: i64| it.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64);
    let column = column_of(DataType::BigInt, &ints((0..300_000).map(mixed)));
    let facts = &column.statistics;
    assert!(!facts.distinct_exact && facts.distinct.abs_diff(300_000) < 9000);
}

#[test]
fn char_loses_blanks_and_varchar_has_a_limit() {
    let allocator = allocator();
    let context = BuildContext::serial(&allocator);
    let values = texts(["ab  ", "ab", "  x", "\u{e4}\u{f6}\u{fc}  ", ""].map(String::from));
    let table = build(DataType::Char(3), &values, 2, &context).unwrap();
    let stored = texts(["ab", "ab", "  x", "\u{e4}\u{f6}\u{fc}", ""].map(String::from));
    check(&table.columns[0], &stored);
    let error = build(DataType::Char(3), &texts(["abcd".into()]), 1, &context).unwrap_err();
    assert_eq!(error.state, SqlState::STRING_TRUNCATION);
    assert!(error.message.contains("\"c\" of type CHAR(3)"), "{error}");
    let table = build(DataType::Varchar(3), &texts(["ab   ".into()]), 1, &context).unwrap();
    check(&table.columns[0], &texts(["ab ".into()]));
    assert!(build(DataType::Varchar(3), &texts(["ab x".into()]), 1, &context).is_err());
}

#[test]
fn what_does_not_fit_its_column_is_an_error() {
    let allocator = allocator();
    let context = BuildContext::serial(&allocator);
    let make = |to: ColumnSchema, from: DataType, values: &[Value]| {
        let builder = TableBuilder::new("t", vec![to.clone()]);
        builder
            .push(0, batch_of(&[(ColumnSchema::new("x", from, true), array_of(from, values))]))?;
        builder.finish(&context)
    };
    let column = |data_type| ColumnSchema::new("c", data_type, true);
    let state = |it: types::SqlResult<Table>| it.unwrap_err().state;
    let big = ints([1, 40_000]);
    let range = SqlState::NUMERIC_OUT_OF_RANGE;
    assert_eq!(state(make(column(DataType::SmallInt), DataType::BigInt, &big)), range);
    let narrow = DataType::Decimal { precision: 4, scale: 2 };
    assert_eq!(state(make(column(narrow), DataType::BigInt, &ints([100]))), range);
    let decimals = [Value::Decimal { unscaled: 10_000, scale: 2 }];
    assert_eq!(state(make(column(narrow), DECIMAL, &decimals)), range);
    let wrong = make(column(DataType::Date), DataType::BigInt, &big);
    assert_eq!(state(wrong), SqlState::DATATYPE_MISMATCH);
    let not_null = ColumnSchema::new("c", DataType::BigInt, false);
    let error = make(not_null, DataType::BigInt, &[Value::Null]).unwrap_err();
    assert_eq!(error.state, SqlState::NOT_NULL_VIOLATION);
    // Widening and rescaling is no error.
    let table = make(column(DataType::BigInt), DataType::SmallInt, &ints([-5])).unwrap();
    check(&table.columns[0], &ints([-5]));
    let table = make(column(narrow), DataType::Integer, &ints([-99])).unwrap();
    check(&table.columns[0], &[Value::Decimal { unscaled: -9900, scale: 2 }]);
    let twice = [column(DataType::Text), ColumnSchema::new("C", DataType::Text, true)];
    assert_eq!(Table::empty("t", &twice, &context).unwrap_err().state, SqlState::DUPLICATE_COLUMN);
}
