//! Whatever the arguments are, a call that resolves answers with its type or an error of SQL; and limits hold.

use arrow_array::{Array, ArrayRef, StringArray, new_null_array};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use functions::{invoke, resolve_call};
use plan::Function;
use stdx::Prng;
use stdx::sync::Arc;
use types::numeric::{self, number::Number};
use types::structs::StructType;
use types::{DataType, SqlState, Value};

const ROWS: usize = 8;
/// Calls of each function.
const CALLS: usize = 200;

const TYPES: &[DataType] = &[
    DataType::Null,
    DataType::Boolean,
    DataType::SmallInt,
    DataType::Integer,
    DataType::BigInt,
    DataType::Real,
    DataType::Double,
    DataType::Decimal { precision: 38, scale: 10 },
    DataType::Decimal { precision: 5, scale: 2 },
    DataType::Decimal { precision: 38, scale: 38 },
    DataType::Numeric,
    DataType::Numeric,
    DataType::Array(types::Element::Numeric),
    DataType::Date,
    DataType::Timestamp,
    DataType::TimestampTz,
    DataType::Time,
    DataType::TimeTz,
    DataType::Interval,
    DataType::Uuid,
    DataType::Network(types::Network::Inet),
    DataType::Network(types::Network::Cidr),
    DataType::Range(types::Range::Int4),
    DataType::Range(types::Range::Num),
    DataType::Multirange(types::Range::Int4),
    DataType::Array(types::Element::Range(types::Range::Int4)),
    DataType::Bits(types::Bits::Fixed(3)),
    DataType::Bits(types::Bits::AnyVarying),
    DataType::Bytea,
    DataType::Json,
    DataType::Jsonb,
    DataType::Array(types::Element::Jsonb),
    DataType::Array(types::Element::Integer),
    DataType::Array(types::Element::Text),
    DataType::Array(types::Element::Interval),
    DataType::Text,
    DataType::Text,
    DataType::Char(3),
];

/// Texts that a cast makes values of, and those that functions read.
const TEXTS: &[&str] = &[
    "",
    "a",
    "\u{e9}\u{1f600}",
    "month",
    "quarter",
    "second",
    "epoch",
    "julian",
    "Int32",
    "Decimal128(5, 2)",
    "Utf8",
    "%Y-%m-%d %.3f",
    "YYYY-MM-DD HH24:MI:SS.US",
    "Month DDth FMDay RM \u{e9}\"x",
    "[\u{e9}-z]+(a|b)?",
    "(",
    "a%_\u{e9}\\",
    "\\1\\&\\",
    "ig",
    "i",
    "-",
    "12345678901234567890123",
    "2024-02-29",
    "294247-01-01",
    "infinity",
    "-infinity",
    "0001-01-01 25:00:00",
    "1999-12-31T23:59:59.9999999Z",
    "\u{e9}",
];
/// JSON, and what no column of it holds.
const JSON: &[&str] = &[
    "null",
    "1",
    "-12.50",
    "true",
    "\"a\"",
    "\"\\u00e9\\n\"",
    "[]",
    "[1, \"a\", null, [2], {\"a\": 1}]",
    "{}",
    "{\"a\": {\"b\": [1, 2]}, \"\u{e9}\": null}",
    "{\"a\":1,\"a\":2}",
    "1\u{e9}2e1",
    "[1,",
    "{\"a\"",
    "\"\\ud800\"",
    "}",
    "\\",
];
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "99",
    "-100",
    "40000",
    "32767",
    "-32768",
    "2147483647",
    "-2147483648",
    "9223372036854775807",
    "-9223372036854775808",
    "0.5",
    "-0.5",
    "1e300",
    "-1e300",
    "1e-300",
    "NaN",
    "inf",
    "-inf",
];
const RANGES: &[&str] = &[
    "empty",
    "[1,5)",
    "(,3]",
    "[4,)",
    "(,)",
    "(1,2)",
    "[-7,2147483646]",
    "{}",
    "{[1,2),[4,9]}",
    "{(,1),[3,)}",
    "#A",
    "!#",
    "a",
];
const MOMENTS: &[&str] =
    &["1970-01-01", "1969-12-31", "2024-02-29", "0001-01-01", "9999-12-31", "1900-03-01"];

/// The types of arguments.
fn types() -> Vec<DataType> {
    let field = types::structs::Field::new;
    let fields = vec![field("a", DataType::Integer), field("b", DataType::Text)];
    let fields = StructType::new(fields).unwrap();
    let entry = StructType::entry(DataType::Text, DataType::Interval).unwrap();
    let nested = [DataType::Struct(fields), DataType::Map(entry)];
    let arrays = nested.iter().filter_map(|it| it.array());
    TYPES.iter().copied().chain(nested).chain(arrays).collect()
}

fn arrow(data_type: DataType) -> ArrowType {
    match data_type.stored() {
        DataType::Null => ArrowType::Null,
        DataType::Boolean => ArrowType::Boolean,
        DataType::SmallInt => ArrowType::Int16,
        DataType::Integer => ArrowType::Int32,
        DataType::BigInt => ArrowType::Int64,
        DataType::Real => ArrowType::Float32,
        DataType::Double => ArrowType::Float64,
        DataType::Decimal { precision, scale } => ArrowType::Decimal128(precision, scale as i8),
        DataType::Date => ArrowType::Date32,
        DataType::Timestamp => ArrowType::Timestamp(TimeUnit::Microsecond, None),
        DataType::Char(_) | DataType::Bpchar | DataType::Varchar(_) | DataType::Text => {
            ArrowType::Utf8
        }
        held => unreachable!("{held} is not held as itself"),
    }
}

/// Values of a type: what of the samples the type takes, else NULL.
fn array(prng: &mut Prng, data_type: DataType) -> ArrayRef {
    if data_type == DataType::Null {
        return new_null_array(&ArrowType::Null, ROWS);
    }
    if data_type == DataType::Numeric {
        let held = |it: &str| Number::parse(it).unwrap().held().unwrap();
        let all: StringArray = (0..ROWS)
            .map(|_| {
                let sample = NUMBERS[prng.below(NUMBERS.len() as u64) as usize];
                (prng.below(8) > 0).then(|| held(sample))
            })
            .collect();
        return Arc::new(all);
    }
    if data_type.range().is_some() {
        let held = |it: &str| {
            let text = Value::Text(it.into());
            match numeric::cast(&text, DataType::Text, data_type) {
                Ok(Value::Text(it)) => it.to_string(),
                // What holds no range is read as the empty one.
                _ => it.to_owned(),
            }
        };
        let sample = |prng: &mut Prng| RANGES[prng.below(RANGES.len() as u64) as usize];
        let all: StringArray =
            (0..ROWS).map(|_| (prng.below(8) > 0).then(|| held(sample(prng)))).collect();
        return Arc::new(all);
    }
    let samples = match data_type.stored() {
        DataType::Date | DataType::Timestamp => MOMENTS,
        _ if data_type.is_json() => JSON,
        it if it.is_text() => TEXTS,
        DataType::Boolean => &["true", "false"],
        _ => NUMBERS,
    };
    let texts: StringArray = (0..ROWS)
        .map(|_| (prng.below(8) > 0).then(|| samples[prng.below(samples.len() as u64) as usize]))
        .collect();
    let safe = CastOptions { safe: true, ..CastOptions::default() };
    cast_with_options(&texts, &arrow(data_type), &safe).expect("samples cast to their types")
}

/// A text or number that the planner would see as a constant.
fn constant(prng: &mut Prng, data_type: DataType) -> Option<Value> {
    match data_type {
        it if it.is_text() => {
            Some(Value::Text(TEXTS[prng.below(TEXTS.len() as u64) as usize].into()))
        }
        it if it.is_integer() => Some(Value::Integer(prng.below(80) as i64 - 40)),
        _ => None,
    }
}

fn one_call(prng: &mut Prng, function: Function, all: &[DataType]) -> bool {
    let count = prng.below(8) as usize;
    let drawn = |prng: &mut Prng, of: &[DataType]| of[prng.below(of.len() as u64) as usize];
    // Functions of many arguments take those of few types.
    let few = [(); 3].map(|()| drawn(prng, all));
    let of = if prng.below(2) == 0 { all } else { &few[..] };
    let types: Vec<DataType> = (0..count).map(|_| drawn(prng, of)).collect();
    let constants: Vec<Option<Value>> = types.iter().map(|&it| constant(prng, it)).collect();
    let Ok(signature) = resolve_call(function, &types, &constants) else {
        return false;
    };
    let arrays: Vec<ArrayRef> = signature.arguments.iter().map(|&it| array(prng, it)).collect();
    match invoke(function, &arrays, ROWS, signature.result) {
        Ok(result) => {
            assert_eq!(result.len(), ROWS, "{function:?}");
            assert_eq!(result.data_type(), &arrow(signature.result), "{function:?} of {types:?}");
        }
        Err(error) => {
            // Binding puts constants, casts or calls of the session in their places.
            let replaced = function.is_of_sequences()
                || function.is_of_sessions()
                || matches!(
                    function,
                    Function::Now
                        | Function::StatementTimestamp
                        | Function::CurrentTime
                        | Function::LocalTime
                        | Function::LocalTimestamp
                        | Function::CurrentDate
                        | Function::ArrowCast
                        | Function::ArrowTryCast
                        | Function::CastToType
                        | Function::TryCastToType
                        | Function::InputError
                        | Function::NestedFit
                        | Function::NestedJson
                        | Function::NestedKey
                );
            let internal = error.state == SqlState::INTERNAL;
            assert_eq!(internal, replaced, "{function:?} of {types:?}: {error}");
        }
    }
    true
}

#[test]
fn no_argument_panics_or_breaks_a_type() {
    let (mut prng, all) = (Prng::new(7), types());
    for &function in Function::ALL {
        let mut resolved = 0;
        let mut tries = 0;
        // Few of all types fit one that takes many arguments.
        while resolved < CALLS && tries < if resolved > 0 { 200 } else { 60_000 } * CALLS {
            resolved += usize::from(one_call(&mut prng, function, &all));
            tries += 1;
        }
        assert!(resolved > 0, "{function:?} takes none of the types");
    }
}

#[test]
fn texts_that_would_be_too_long_fail_before_memory_is_taken() {
    let text = |it: &str| -> ArrayRef { Arc::new(StringArray::from(vec![it; ROWS])) };
    let number = |it: i64| -> ArrayRef { Arc::new(arrow_array::Int64Array::from(vec![it; ROWS])) };
    let (large, many) = (text(&"a".repeat(1 << 20)), text(&"a".repeat(3_000)));
    let calls: Vec<(Function, Vec<ArrayRef>)> = vec![
        (Function::Repeat, vec![text("a"), number(2_000_000_000)]),
        (Function::Repeat, vec![text("ab"), number(i64::MAX)]),
        // One fits, eight do not.
        (Function::Repeat, vec![text("a"), number(200 << 20)]),
        (Function::Lpad, vec![text("a"), number(i64::MAX)]),
        (Function::Rpad, vec![text("a"), number(2_000_000_000), text("\u{e9}")]),
        (Function::Replace, vec![many.clone(), text("a"), text(&"b".repeat(100_000))]),
        (Function::RegexpReplace, vec![many, text("a"), text(&"b".repeat(100_000)), text("g")]),
        (Function::Concat, vec![large.clone(); 300]),
        (Function::Levenshtein, vec![large.clone(), large]),
    ];
    for (function, arguments) in calls {
        let data_type = match function {
            Function::Levenshtein => DataType::Integer,
            _ => DataType::Text,
        };
        let error = invoke(function, &arguments, ROWS, data_type).unwrap_err();
        assert_eq!(error.state, SqlState::PROGRAM_LIMIT_EXCEEDED, "{function:?}");
        assert_eq!(error.message, "requested length too large");
    }
}

#[test]
fn the_cardinality_error_has_its_state() {
    let error = invoke(Function::RaiseCardinality, &[], 1, DataType::Date).unwrap_err();
    assert_eq!(error.state, SqlState::CARDINALITY_VIOLATION);
}

#[test]
fn what_is_no_value_of_a_domain_has_its_states() {
    let text = |it: &str| Arc::new(StringArray::from(vec![it])) as ArrayRef;
    let raise = |constraint: &str| {
        let arguments = [text("positive"), text(constraint)];
        invoke(Function::RaiseDomain, &arguments, 1, DataType::Integer).unwrap_err()
    };
    let (check, null) = (raise("positive_check"), raise(""));
    assert_eq!((check.state, null.state), (SqlState("23514"), SqlState::NOT_NULL_VIOLATION));
    assert!(check.message.contains("positive_check"), "{}", check.message);
}

#[test]
fn random_draws_differ_from_row_to_row_and_call_to_call() {
    let draw = |function, data_type| invoke(function, &[], 1_000, data_type).unwrap();
    let (first, second) =
        (draw(Function::Random, DataType::Double), draw(Function::Random, DataType::Double));
    assert_ne!(first.to_data(), second.to_data());
    let uuids = draw(Function::Uuid, DataType::Text);
    let uuids: &StringArray = uuids.as_any().downcast_ref().unwrap();
    let mut distinct: Vec<&str> = uuids.iter().flatten().collect();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 1_000);
    let is_version_4 =
        |it: &&str| it.len() == 36 && &it[14..15] == "4" && "89ab".contains(&it[19..20]);
    assert!(distinct.iter().all(is_version_4));
}
