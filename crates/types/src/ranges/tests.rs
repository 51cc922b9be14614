use super::*;
use crate::numeric::cast;
use crate::{DataType, Range, SqlResult, Value};

fn read(text: &str, to: DataType) -> SqlResult<String> {
    match cast(&Value::Text(text.into()), DataType::Text, to)? {
        Value::Text(it) => Ok(it.to_string()),
        other => panic!("{other:?} holds no range"),
    }
}

fn written(held: &str, of: DataType) -> String {
    match cast(&Value::Text(held.into()), of, DataType::Text).unwrap() {
        Value::Text(it) => it.to_string(),
        other => panic!("{other:?} is no text"),
    }
}

const NUM: DataType = DataType::Range(Range::Num);
const INT: DataType = DataType::Range(Range::Int4);

#[test]
fn ranges_are_written_in_one_way() {
    for (text, of, expected) in [
        (" [1 , 5] ", INT, "[1,6)"),
        ("(1,2)", INT, "empty"),
        (" EMPTY ", INT, "empty"),
        ("(,)", INT, "(,)"),
        ("[,5]", INT, "(,6)"),
        ("[1.50,\"2\"]", NUM, "[1.50,2]"),
        ("[2024-01-31,infinity]", DataType::Range(Range::Date), "[2024-01-31,infinity]"),
        ("[2024-01-31 10:00,)", DataType::Range(Range::Ts), "[\"2024-01-31 10:00:00\",)"),
        ("{[5,7], empty,[1,4]}", DataType::Multirange(Range::Int4), "{[1,8)}"),
        ("{}", DataType::Multirange(Range::Int4), "{}"),
        ("{ [1,2) ,(9,) }", DataType::Multirange(Range::Int4), "{[1,2),[10,)}"),
    ] {
        assert_eq!(written(&read(text, of).unwrap(), of), expected, "{text}");
    }
}

#[test]
fn what_is_no_range_is_told() {
    for (text, of, state) in [
        ("", INT, "22P02"),
        ("[1,2", INT, "22P02"),
        ("[1,2,3)", INT, "22P02"),
        ("[1;2)", INT, "22P02"),
        ("empty!", INT, "22P02"),
        ("[1,2)x", INT, "22P02"),
        ("[1,\\", INT, "22P02"),
        ("[5,1]", INT, "22000"),
        ("[1,2147483647]", INT, "22003"),
        ("[a,2]", INT, "22P02"),
        ("{", DataType::Multirange(Range::Int4), "22P02"),
        ("{[1,2)", DataType::Multirange(Range::Int4), "22P02"),
        ("{[1,2),}", DataType::Multirange(Range::Int4), "22P02"),
        ("{[1,2)}}", DataType::Multirange(Range::Int4), "22P02"),
    ] {
        assert_eq!(read(text, of).unwrap_err().state.0, state, "{text}");
    }
}

#[test]
fn texts_are_in_the_order_of_ranges() {
    let in_order = [
        "empty", "(,-5)", "(,-5]", "(,)", "[-5,0]", "(-5,0)", "[0,1)", "[0,1]", "[0,)", "(0,1)",
        "[1.5,2)", "[1.55,2)", "[NaN,)",
    ];
    let held: Vec<String> = in_order.iter().map(|it| read(it, NUM).unwrap()).collect();
    assert!(held.is_sorted(), "{in_order:?}");
    let zeros = read("[1.50,2.0)", NUM).unwrap();
    assert_ne!(zeros, read("[1.5,2)", NUM).unwrap());
    assert_eq!(key_of(&zeros), key_of(&read("[1.5,2)", NUM).unwrap()));
}

#[test]
fn what_is_sent_is_read() {
    let mut put = |value: &Value, out: &mut Vec<u8>| {
        out.extend(4u32.to_be_bytes());
        out.extend((value.as_i128().unwrap() as i32).to_be_bytes());
    };
    let mut take =
        |bytes: &[u8]| Ok(Value::Integer(i32::from_be_bytes(bytes.try_into().unwrap()).into()));
    for text in ["empty", "(,)", "[1,5)", "(,7)", "[-3,)"] {
        let held = read(text, INT).unwrap();
        let bytes = sent(&held, Range::Int4, &mut put);
        assert_eq!(of_sent(&bytes, Range::Int4, &mut take).unwrap(), Some(held), "{text}");
    }
    for text in ["{}", "{[1,2),[5,9)}"] {
        let held = read(text, DataType::Multirange(Range::Int4)).unwrap();
        let bytes = sent_set(&held, Range::Int4, &mut put);
        assert_eq!(of_set_sent(&bytes, Range::Int4, &mut take).unwrap(), Some(held), "{text}");
        assert_eq!(of_set_sent(&bytes[1..], Range::Int4, &mut take).unwrap(), None);
    }
    assert_eq!(of_sent(&[], Range::Int4, &mut take).unwrap(), None);
}
