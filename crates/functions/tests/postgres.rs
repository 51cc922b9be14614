//! Calls whose results PostgreSQL 18 gave.
//!
//! A line of `postgres.txt` is a name, arguments as `type:text` (or `type` alone for NULL), and behind `=>` the result as
//! text, `NULL`, or `!` and a SQLSTATE, separated by `|`. `postgres.py` writes the results.

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef, StringArray, new_null_array};
use arrow_cast::{CastOptions, cast_with_options, display};
use arrow_schema::{DataType as ArrowType, TimeUnit};
use functions::{invoke, lookup, resolve_call};
use plan::Function;
use stdx::sync::Arc;
use types::{DataType, SqlResult, Value, Zone, numeric};

/// Rows of each array, all the same: kernels must not depend on the place of a row.
const ROWS: usize = 3;

#[test]
fn results_are_those_of_postgresql() {
    let cases = include_str!("postgres.txt").lines();
    let cases: Vec<&str> = cases.filter(|it| !it.is_empty() && !it.starts_with('#')).collect();
    assert!(cases.len() >= 300, "the table has {} cases", cases.len());
    let failures: Vec<String> = cases.iter().filter_map(|it| check(it)).collect();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn functions_that_postgresql_lacks_do_what_duckdb_or_datafusion_does() {
    let cases = include_str!("others.txt").lines();
    let cases = cases.filter(|it| !it.is_empty() && !it.starts_with('#'));
    let failures: Vec<String> = cases.filter_map(check).collect();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// What is wrong with a case.
fn check(line: &str) -> Option<String> {
    let (call, expected) = line.split_once(" => ").expect("a case has a result");
    let mut parts = call.split('|');
    let name = parts.next().expect("a case has a name");
    let arguments: Vec<Argument> = parts.map(Argument::parse).collect();
    let expected = unescape(expected);
    let (found, is_float) = match evaluate(name, &arguments) {
        Ok((array, _)) if array.is_null(ROWS - 1) => ("NULL".to_owned(), false),
        Ok((array, data_type)) => (text(&array, data_type), data_type == DataType::Double),
        Err(error) => (format!("!{}", error.state.0), false),
    };
    let alike = if is_float { close(&found, &expected) } else { found == expected };
    (!alike).then(|| format!("{line}\n    found {found:?}"))
}

fn evaluate(name: &str, arguments: &[Argument]) -> SqlResult<(ArrayRef, DataType)> {
    let function = lookup(name)
        .or_else(|| Function::from_name(name))
        .unwrap_or_else(|| panic!("{name} is no function"));
    let types: Vec<DataType> = arguments.iter().map(|it| it.data_type).collect();
    let constants: Vec<Option<Value>> = arguments.iter().map(Argument::value).collect();
    let signature = resolve_call(function, &types, &constants)?;
    let arrays = arguments.iter().zip(&signature.arguments);
    let arrays: Vec<ArrayRef> = arrays.map(|(it, &wanted)| it.array(wanted)).collect();
    let result = invoke(function, &arrays, ROWS, signature.result)?;
    assert_eq!(result.len(), ROWS, "{name}");
    assert_eq!(result.data_type(), &arrow(signature.result), "{name}");
    Ok((result, signature.result))
}

struct Argument {
    data_type: DataType,
    text: Option<String>,
}

impl Argument {
    fn parse(written: &str) -> Self {
        let (name, text) = match written.split_once(':') {
            Some((name, text)) => (name, Some(unescape(text))),
            None => (written, None),
        };
        let data_type = match name {
            "null" => DataType::Null,
            "bool" => DataType::Boolean,
            "small" => DataType::SmallInt,
            "int" => DataType::Integer,
            "big" => DataType::BigInt,
            "real" => DataType::Real,
            "dbl" => DataType::Double,
            "text" => DataType::Text,
            "date" => DataType::Date,
            "ts" => DataType::Timestamp,
            other => {
                let digits = other.strip_prefix("dec").expect("a type").split_once(',');
                let (precision, scale) = digits.expect("digits");
                DataType::Decimal {
                    precision: precision.parse().expect("digits"),
                    scale: scale.parse().expect("digits"),
                }
            }
        };
        Self { data_type, text }
    }

    /// What the planner would know of it.
    fn value(&self) -> Option<Value> {
        let text = self.text.as_ref()?;
        match self.data_type {
            DataType::Text => Some(Value::Text(text.as_str().into())),
            it if it.is_integer() => Some(Value::Integer(text.parse().expect("an integer"))),
            _ => None,
        }
    }

    fn array(&self, wanted: DataType) -> ArrayRef {
        let Some(text) = &self.text else {
            return new_null_array(&arrow(wanted), ROWS);
        };
        let texts: ArrayRef = Arc::new(StringArray::from(vec![text.as_str(); ROWS]));
        let options = CastOptions { safe: false, ..CastOptions::default() };
        if wanted == DataType::Numeric {
            let value = numeric::cast(&Value::Text(text.as_str().into()), DataType::Text, wanted);
            let Ok(Value::Text(held)) = value else { panic!("{text} is no number") };
            return Arc::new(StringArray::from(vec![&*held; ROWS]));
        }
        let own = cast_with_options(&texts, &arrow(self.data_type), &options).expect(text);
        cast_with_options(&own, &arrow(wanted), &options).expect(text)
    }
}

fn unescape(text: &str) -> String {
    text.replace("\\p", "|").replace("\\n", "\n").replace("\\\\", "\\")
}

fn arrow(data_type: DataType) -> ArrowType {
    match data_type {
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
        DataType::Numeric => ArrowType::Utf8,
        other => unreachable!("no case is of type {other}"),
    }
}

/// The value of the last row as PostgreSQL prints it.
fn text(array: &ArrayRef, data_type: DataType) -> String {
    let row = ROWS - 1;
    match array.data_type() {
        ArrowType::Utf8 if data_type == DataType::Numeric => {
            let mut written = String::new();
            let held = Value::Text(array.as_string::<i32>().value(row).into());
            numeric::format::value(&held, data_type, &Zone::utc(), &mut written);
            written
        }
        ArrowType::Boolean => array.as_boolean().value(row).to_string(),
        ArrowType::Float64 => array.as_primitive::<Float64Type>().value(row).to_string(),
        ArrowType::Date32 | ArrowType::Timestamp(_, _) => moment(array),
        _ => display::array_value_to_string(array, row).expect("a value has a text"),
    }
}

/// A date or timestamp: values print as literals, with years as astronomers count them.
fn moment(array: &ArrayRef) -> String {
    let literal = match array.as_primitive_opt::<Date32Type>() {
        Some(days) => Value::Date(days.value(ROWS - 1)),
        None => Value::Timestamp(array.as_primitive::<TimestampMicrosecondType>().value(ROWS - 1)),
    };
    let literal = literal.to_string();
    let mut shown = literal.split('\'').nth(1).expect("a literal has quotes").to_owned();
    if let Some((whole, fraction)) = shown.split_once('.') {
        let fraction = fraction.trim_end_matches('0');
        let point = if fraction.is_empty() { "" } else { "." };
        shown = format!("{whole}{point}{fraction}");
    }
    let year = shown[1..].find('-').expect("a date has months") + 1;
    match shown[..year].parse::<i64>() {
        Ok(before @ ..=0) => format!("{:04}{} BC", 1 - before, &shown[year..]),
        _ => shown,
    }
}

/// Whether two floats differ in their last digits at most.
fn close(found: &str, expected: &str) -> bool {
    let (Ok(a), Ok(b)) = (found.parse::<f64>(), expected.parse::<f64>()) else {
        return found == expected;
    };
    a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 4e-15 * a.abs().max(b.abs())
}
