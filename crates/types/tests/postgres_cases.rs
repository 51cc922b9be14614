//! The semantics of single values against a table of what PostgreSQL 18.6 answers.

use std::cmp::Ordering;

use types::numeric::{self, Arithmetic};
use types::{DataType, SqlError, SqlResult, Value};

const CASES: &str = include_str!("postgres_cases.tsv");

struct Case<'a> {
    line: &'a str,
    kind: &'a str,
    operator: &'a str,
    left: (String, String),
    right: (String, String),
    data_type: &'a str,
    expected: String,
}

fn unescaped(field: &str) -> String {
    field.replace("\\t", "\t").replace("\\n", "\n").replace("\\\\", "\\")
}

fn cases(kind: &str) -> impl Iterator<Item = Case<'static>> {
    let lines = CASES.lines().filter(|it| !it.starts_with('#'));
    lines.filter(move |it| it.split('\t').next() == Some(kind)).map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [kind, operator, lt, l, rt, r, data_type, expected] = fields[..] else {
            panic!("a case has eight fields: {line}");
        };
        let pair = |t, v| (unescaped(t), unescaped(v));
        let expected = unescaped(expected);
        Case { line, kind, operator, left: pair(lt, l), right: pair(rt, r), data_type, expected }
    })
}

fn type_of(name: &str) -> DataType {
    let (name, digits) = name.split_once('(').unwrap_or((name, ""));
    let numbers: Vec<u32> =
        digits.trim_end_matches(')').split(',').filter_map(|it| it.parse().ok()).collect();
    match (name, &numbers[..]) {
        ("boolean", _) => DataType::Boolean,
        ("smallint", _) => DataType::SmallInt,
        ("integer", _) => DataType::Integer,
        ("bigint", _) => DataType::BigInt,
        ("real", _) => DataType::Real,
        ("double precision", _) => DataType::Double,
        ("numeric", &[precision, scale]) => {
            DataType::Decimal { precision: precision as u8, scale: scale as u8 }
        }
        ("date", _) => DataType::Date,
        ("timestamp", _) => DataType::Timestamp,
        ("text", _) => DataType::Text,
        ("varchar", &[n]) => DataType::Varchar(n),
        ("char", &[n]) => DataType::Char(n),
        _ => panic!("no type {name}"),
    }
}

fn value((name, text): &(String, String)) -> (Value, DataType) {
    let data_type = type_of(name);
    let text = Value::Text(text.as_str().into());
    let value = numeric::cast(&text, DataType::Text, data_type);
    (value.unwrap_or_else(|it| panic!("{name} {text}: {it}")), data_type)
}

fn text_of(value: &Value, data_type: DataType) -> String {
    match numeric::cast(value, data_type, DataType::Text) {
        Ok(Value::Text(it)) => it.to_string(),
        other => panic!("{value} as text: {other:?}"),
    }
}

/// Why our answer may differ from PostgreSQL's, if it may: its numbers have no limit, ours have 38 digits.
fn is_limit(expected: &str, error: &SqlError) -> bool {
    let digits = expected.trim_start_matches('-').trim_start_matches('0').trim_start_matches('.');
    let digits = digits.bytes().filter(u8::is_ascii_digit).count();
    let unlimited = digits > 38 && matches!(error.state.0, "22003");
    unlimited || (expected == "NaN" && error.state.0 == "0A000")
}

/// Whether two decimals are the same down to the last digit that both show, give or take the rounding of that digit.
fn same_decimal(ours: &str, theirs: &str) -> bool {
    let scale = |it: &str| it.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let scale = scale(ours).min(scale(theirs)).min(38);
    let to = DataType::Decimal { precision: 38, scale: scale as u8 };
    let at = |it: &str| numeric::spelling::exact(it, to);
    match (at(ours), at(theirs)) {
        (Ok(a), Ok(b)) => (a - b).abs() <= 1,
        _ => ours == theirs,
    }
}

fn check(case: &Case<'_>, ours: SqlResult<(Value, DataType)>, wrong: &mut Vec<String>) {
    let mut fail = |got: String| wrong.push(format!("{}\n        got {got}", case.line));
    match (&ours, case.expected.strip_prefix('!')) {
        (Ok((value, data_type)), None) => {
            let text = text_of(value, *data_type);
            let same = match data_type {
                DataType::Decimal { .. } => same_decimal(&text, &case.expected),
                _ => text == case.expected,
            };
            let typed = matches!(case.data_type, "\\N" | "")
                || type_of_family(case.data_type) == type_of_family(&name_of(*data_type));
            if !same || !typed {
                fail(format!("{data_type} {text}"));
            }
        }
        (Err(error), None) if is_limit(&case.expected, error) => {}
        (Err(error), None) => fail(error.to_string()),
        (Ok((value, _)), Some(_)) => fail(value.to_string()),
        (Err(error), Some(expected)) => {
            let got = format!("{} {}", error.state.0, error.message);
            // Types carry their digits in our words.
            if got != expected && !same_but_for_digits(&got, expected) {
                fail(got);
            }
        }
    }
}

fn name_of(of: DataType) -> String {
    numeric::errors::type_name(of)
}

fn type_of_family(name: &str) -> &str {
    name.split('(').next().unwrap_or(name)
}

fn same_but_for_digits(a: &str, b: &str) -> bool {
    let without = |it: &str| {
        let mut out = String::new();
        let mut depth = 0;
        for letter in it.chars() {
            depth += i32::from(letter == '(');
            if depth == 0 {
                out.push(letter);
            }
            depth -= i32::from(letter == ')');
        }
        out
    };
    without(a) == without(b)
}

fn report(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} cases differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn operators() {
    let mut wrong = Vec::new();
    for case in cases("op") {
        let op = match case.operator {
            "+" => Arithmetic::Add,
            "-" => Arithmetic::Subtract,
            "*" => Arithmetic::Multiply,
            "/" => Arithmetic::Divide,
            _ => Arithmetic::Modulo,
        };
        let ((l, lt), (r, rt)) = (value(&case.left), value(&case.right));
        let ours = numeric::arithmetic(op, (&l, lt), (&r, rt));
        let data_type = numeric::arithmetic_type(op, lt, rt).unwrap_or(DataType::Null);
        check(&case, ours.map(|it| (it, data_type)), &mut wrong);
    }
    report(&wrong);
}

#[test]
fn comparisons() {
    for case in cases("compare") {
        let ((l, lt), (r, rt)) = (value(&case.left), value(&case.right));
        let order = match numeric::compare((&l, lt), (&r, rt)) {
            Ok(Some(Ordering::Less)) => "less",
            Ok(Some(Ordering::Equal)) => "equal",
            Ok(Some(Ordering::Greater)) => "greater",
            other => panic!("{}: {other:?}", case.line),
        };
        assert_eq!(order, case.expected, "{}", case.line);
        let back = numeric::compare((&r, rt), (&l, lt)).unwrap().unwrap();
        assert_eq!(numeric::compare((&l, lt), (&r, rt)), Ok(Some(back.reverse())));
    }
}

#[test]
fn casts_and_assignments() {
    let mut wrong = Vec::new();
    for case in cases("cast").chain(cases("assign")) {
        let (value, from) = value(&case.left);
        let to = type_of(&case.right.0);
        let ours = match case.kind {
            "cast" => numeric::cast(&value, from, to),
            _ => numeric::assign(&value, from, to, "x"),
        };
        check(&case, ours.map(|it| (it, to)), &mut wrong);
    }
    report(&wrong);
}

#[test]
fn literals() {
    let mut wrong = Vec::new();
    for case in cases("literal") {
        let text = case.left.0.as_str();
        let ours = match text.strip_prefix('-') {
            Some(positive) => numeric::parse_literal(positive)
                .and_then(|(value, data_type)| numeric::negate(&value, data_type)),
            None => numeric::parse_literal(text),
        };
        check(&case, ours, &mut wrong);
    }
    report(&wrong);
}
