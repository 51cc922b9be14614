//! SQL/JSON paths where a call is silent, or a value has a form of its own; what they give else is told by records.

use arrow_array::{Array, ArrayRef, BooleanArray, StringArray};
use functions::invoke;
use plan::Function;
use stdx::sync::Arc;
use types::DataType;

fn call(function: Function, json: &str, path: &str, silent: bool, result: DataType) -> ArrayRef {
    let text = |it: &str| Arc::new(StringArray::from(vec![it])) as ArrayRef;
    let silent = Arc::new(BooleanArray::from(vec![silent])) as ArrayRef;
    invoke(function, &[text(json), text(path), text("{}"), silent], 1, result).unwrap()
}

fn array(json: &str, path: &str) -> String {
    let made = call(Function::JsonPathArray, json, path, true, DataType::Jsonb);
    let texts: &StringArray = made.as_any().downcast_ref().unwrap();
    texts.value(0).to_owned()
}

#[test]
fn a_silent_call_keeps_what_was_found_before_an_error() {
    assert_eq!(array("[1, \"x\", 2]", "$[*].abs()"), "[1]");
    let matched = |json: &str, path: &str| {
        let made = call(Function::JsonPathMatch, json, path, true, DataType::Boolean);
        let truths: &BooleanArray = made.as_any().downcast_ref().unwrap();
        truths.is_valid(0).then(|| truths.value(0))
    };
    assert_eq!(matched("[1, \"maybe\"]", "$[*].boolean()"), Some(true));
    assert_eq!(matched("[\"maybe\", 1]", "$[*].boolean()"), None);
    assert_eq!(matched("[1, 0]", "$[*].boolean()"), None);
}

#[test]
fn numbers_keep_their_digits_and_strings_become_floats() {
    assert_eq!(array("[-2.50, \"-2.50\"]", "$[*].double()"), "[-2.50, -2.5]");
    assert_eq!(array("1", "$.decimal(0)"), "[]");
    assert_eq!(array("[1.25, 12.5]", "$[*].decimal(2, 1)"), "[1.3]");
}
