//! Reading, the form of JSONB and its order. What is expected comes from PostgreSQL 18.

use super::*;
use crate::DataType;
use crate::numeric::cast;
use crate::{SqlResult, Value};

fn state(result: SqlResult<impl Sized>) -> Option<&'static str> {
    result.err().map(|it| it.state.0)
}

#[test]
fn jsonb_has_one_form() {
    let cases = [
        (" {\"bb\":1, \"a\" : [1,2 ,{}],\"c\":[]} ", "{\"a\": [1, 2, {}], \"c\": [], \"bb\": 1}"),
        ("{\"a\":1,\"b\":2,\"a\":3}", "{\"a\": 3, \"b\": 2}"),
        ("\"\\u00e4\\n\\/\\u0001\\ud83d\\ude00\"", "\"\u{e4}\\n/\\u0001\u{1f600}\""),
        ("[1.50, -0, -0.0, 1e3, 1.5E+1, 12e-3, 0e5]", "[1.50, 0, 0.0, 1000, 15, 0.012, 0]"),
        ("true", "true"),
        ("\tnull\r\n", "null"),
        (
            "123456789012345678901234567890123456789012345.10",
            "123456789012345678901234567890123456789012345.10",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(normal(text).as_deref(), Ok(expected), "{text}");
        assert_eq!(normal(expected).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn what_is_no_json_is_told() {
    let cases = [
        ("", "The input string ended unexpectedly."),
        ("{", "The input string ended unexpectedly."),
        ("{\"a\"", "The input string ended unexpectedly."),
        ("[1,]", "Expected JSON value, but found \"]\"."),
        ("{1:2}", "Expected string or \"}\", but found \"1\"."),
        ("{\"a\":1,}", "Expected string, but found \"}\"."),
        ("{\"a\" 1}", "Expected \":\", but found \"1\"."),
        ("[1 2]", "Expected \",\" or \"]\", but found \"2\"."),
        ("{\"a\":1 \"b\"}", "Expected \",\" or \"}\", but found \"\"b\"\"."),
        ("1 2", "Expected end of input, but found \"2\"."),
        ("01", "Token \"01\" is invalid."),
        ("1.", "Token \"1.\" is invalid."),
        ("-", "Token \"-\" is invalid."),
        ("1e", "Token \"1e\" is invalid."),
        ("tru", "Token \"tru\" is invalid."),
        ("'a'", "Token \"'\" is invalid."),
        ("\"a", "Token \"\"a\" is invalid."),
        ("\"\n\"", "Character with value 0x0a must be escaped."),
        ("\"\\x\"", "Escape sequence \"\\x\" is invalid."),
        ("\"\\u00g0\"", "\"\\u\" must be followed by four hexadecimal digits."),
    ];
    for (text, detail) in cases {
        let error = check(text).expect_err(text);
        assert_eq!((error.state.0, error.hint.as_deref()), ("22P02", Some(detail)), "{text}");
    }
}

#[test]
fn characters_that_no_text_holds_are_refused_in_jsonb_alone() {
    for (text, expected) in [
        ("\"\\u0000\"", "22P05"),
        ("\"\\ud800\"", "22P02"),
        ("\"\\ud800\\ud800\"", "22P02"),
        ("\"\\udc00\"", "22P02"),
        ("{\"\\u0000\":1}", "22P05"),
        ("1e200000", "22003"),
        ("1e-20000", "22003"),
    ] {
        assert!(check(text).is_ok(), "{text}");
        assert_eq!(state(normal(text)), Some(expected), "{text}");
    }
}

#[test]
fn depth_has_a_limit_and_room() {
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    let deep = nested(DEPTH_MAX);
    assert_eq!(normal(&deep).as_deref(), Ok(deep.as_str()));
    assert!(order_key(&deep).is_ok());
    assert_eq!(state(check(&nested(DEPTH_MAX + 1))), Some("54001"));
    assert_eq!(state(check(&"{\"a\":".repeat(DEPTH_MAX + 1))), Some("54001"));
    assert_eq!(state(check(&"[".repeat(1000))), Some("22P02"));
}

#[test]
fn parts_are_found_in_the_text() {
    let json = " {\"a\" : [1,  {\"x\": \"],\\\"\"}] , \"b\":null,\"a\":2, \"\\u0063\": {} }";
    let all: Vec<_> = members(json).collect();
    assert_eq!(all.len(), 4);
    assert_eq!(all[0], ("\"a\"", "[1,  {\"x\": \"],\\\"\"}]"));
    assert_eq!(elements(all[0].1).collect::<Vec<_>>(), ["1", "{\"x\": \"],\\\"\"}"]);
    assert_eq!(member(json, "a"), Some("2"));
    assert_eq!(member(json, "c"), Some("{}"));
    assert_eq!(member(json, "d"), None);
    assert_eq!(elements("[]").count() + members("{}").count() + elements("7").count(), 0);
    // What is no JSON ends somewhere.
    for broken in ["", "[", "{\"a", "{\"a\":", "[1,,", "}", "\"\\"] {
        let _ = (members(broken).count(), elements(broken).count(), kind(broken));
        let _ = (order_key(broken), Node::read(broken));
    }
}

#[test]
fn keys_are_in_the_order_of_jsonb() {
    // From the least to the greatest.
    let ordered = [
        "[]",
        "null",
        "\"\"",
        "\"a\"",
        "\"aa\"",
        "\"b\"",
        "-1e30",
        "-10.5",
        "-10",
        "-9",
        "-0.001",
        "0",
        "0.0001",
        "0.1",
        "0.12",
        "9",
        "10",
        "10.5",
        "1e30",
        "false",
        "true",
        "[null]",
        "[1]",
        "[[]]",
        "[{}]",
        "[1, 2]",
        "[1, 3]",
        "{}",
        "{\"a\": 1}",
        "{\"a\": 2}",
        "{\"b\": 1}",
        "{\"a\": 1, \"b\": 2}",
    ];
    let keys: Vec<String> =
        ordered.iter().map(|it| order_key(&normal(it).unwrap()).unwrap()).collect();
    for (place, pair) in keys.windows(2).enumerate() {
        assert!(pair[0] < pair[1], "{} {}", ordered[place], ordered[place + 1]);
    }
    for (a, b) in [("1.0", "1.00"), ("0", "-0.0"), ("{\"a\":10}", "{\"a\":1e1}")] {
        let key = |it| order_key(&normal(it).unwrap());
        assert_eq!(key(a), key(b));
    }
}

#[test]
fn casts_of_jsonb() {
    let number = DataType::Decimal { precision: 10, scale: 2 };
    let cases = [
        ("1.5", DataType::Integer, Ok(Value::Integer(2))),
        ("1.255", number, Ok(Value::Decimal { unscaled: 126, scale: 2 })),
        ("1e2", DataType::Double, Ok(Value::Float(100.0))),
        ("true", DataType::Boolean, Ok(Value::Boolean(true))),
        ("null", DataType::Integer, Ok(Value::Null)),
        ("1", DataType::Boolean, Err("22023")),
        ("\"1\"", DataType::Integer, Err("22023")),
        ("[1]", DataType::Double, Err("22023")),
        ("99999999999", DataType::Integer, Err("22003")),
        ("1e400", DataType::Double, Err("22003")),
    ];
    for (text, to, expected) in cases {
        let jsonb = Value::Text(normal(text).unwrap().into());
        let found = cast(&jsonb, DataType::Jsonb, to).map_err(|it| it.state.0);
        assert_eq!(found, expected, "{text} {to}");
    }
    let json = Value::Text(" {\"a\":1,\"a\":2}".into());
    let found = cast(&json, DataType::Json, DataType::Jsonb);
    assert_eq!(found, Ok(Value::Text("{\"a\": 2}".into())));
    assert_eq!(state(cast(&json, DataType::Json, DataType::Integer)), Some("42846"));
    assert!(
        has_unique_keys("[{\"a\":1,\"b\":1}]") && !has_unique_keys("[{\"a\":{\"x\":1,\"x\":2}}]")
    );
}
