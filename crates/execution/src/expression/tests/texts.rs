//! Text in all its representations, and functions over Arrow.

use arrow_array::{Array, cast::AsArray};
use plan::{BinaryOperator, Expr, ExprKind, Function};
use types::{DataType, Value};

use super::columns::{coded, column, repeated};
use super::*;
use crate::arrow::{from_arrow, to_arrow, to_record_batch};

/// Rows of the same texts: in a vector, as codes of a dictionary, as positions.
fn three_ways(texts: &[Option<&str>]) -> [(ColumnShape, Arc<Vector>); 3] {
    let owned = |it: &Option<&str>| it.map_or(Value::Null, |it| Value::Text(it.into()));
    let values: Vec<Value> = texts.iter().map(owned).collect();
    let mut entries: Vec<String> = texts.iter().flatten().map(|it| it.to_string()).collect();
    entries.sort();
    entries.dedup();
    // Repeated, so that a dictionary is chosen.
    let many = repeated(&entries, 1000);
    let dictionary = column(&many, TEXT);
    let code = |it: &Option<&str>| {
        it.map(|it| entries.iter().position(|entry| entry == it).unwrap() as u32)
    };
    let codes: Vec<Option<u32>> = texts.iter().map(code).collect();
    // Unique texts are held plain; these stand behind the ones looked for.
    let mut unique = entries.clone();
    unique.extend((0..20_000).map(|it| format!("some near-unique text number {it}")));
    let plain = column(&unique, TEXT);
    [computed(&values, TEXT), coded(&dictionary, &codes), coded(&plain, &codes)]
}

const WORDS: [Option<&str>; 7] = [
    Some("PROMO BRUSHED"),
    Some("promo"),
    None,
    Some(""),
    Some("13-555"),
    Some("\u{e9}t\u{e9}"),
    Some("PROMO BRUSHED"),
];

/// The same answer from every representation, by value and by selection.
fn check(make: impl Fn(Expr) -> Expr, expected: &[Value]) {
    for (shape, vector) in three_ways(&WORDS) {
        let (layout, batch) = batch_of(vec![(shape.clone(), vector)]);
        let expr = make(Expr::column(0, TEXT));
        let values = evaluate(&expr, &layout, &batch).unwrap();
        assert_eq!(values, expected, "{expr:?} on {:?}", shape.representation);
        if expr.data_type == BOOLEAN {
            let compiled = Compiled::new(&expr, &layout, &NoOutside).unwrap();
            let mut rows = Vec::new();
            compiled.select(&batch, &mut rows).unwrap();
            let holds = |it: &u32| expected[*it as usize] == Value::Boolean(true);
            assert_eq!(rows, (0..WORDS.len() as u32).filter(holds).collect::<Vec<_>>());
        }
    }
}

fn booleans(wanted: [i8; 7]) -> Vec<Value> {
    wanted.iter().map(|&it| if it < 0 { Value::Null } else { Value::Boolean(it == 1) }).collect()
}

#[test]
fn comparisons_with_constants() {
    use BinaryOperator::*;
    let with =
        |operator, word: &'static str| move |x: Expr| Expr::predicate(operator, x, text(word));
    check(with(Equal, "PROMO BRUSHED"), &booleans([1, 0, -1, 0, 0, 0, 1]));
    check(with(NotEqual, "promo"), &booleans([1, 0, -1, 1, 1, 1, 1]));
    check(with(Less, "PROMO"), &booleans([0, 0, -1, 1, 1, 0, 0]));
    check(with(GreaterEqual, "promo"), &booleans([0, 1, -1, 0, 0, 1, 0]));
    check(|x| Expr::predicate(Less, text("a"), x), &booleans([0, 1, -1, 0, 0, 1, 0]));
    check(|x| Expr::predicate(Equal, x.clone(), x), &booleans([1, 1, -1, 1, 1, 1, 1]));
    check(|x| Expr::predicate(IsNotDistinctFrom, x.clone(), x), &booleans([1; 7]));
    check(|x| Expr::predicate(IsDistinctFrom, x, null(TEXT)), &booleans([1, 1, 0, 1, 1, 1, 1]));
    check(|x| Expr::predicate(Equal, x, null(TEXT)), &booleans([-1; 7]));
}

#[test]
fn conditions_on_one_dictionary_column() {
    let like = |x: Expr, pattern: &str, case_insensitive, negated| Expr {
        kind: ExprKind::Like {
            operand: Box::new(x),
            pattern: pattern.into(),
            escape: Some('\\'),
            case_insensitive,
            negated,
        },
        data_type: BOOLEAN,
    };
    check(|x| like(x, "PROMO%", false, false), &booleans([1, 0, -1, 0, 0, 0, 1]));
    check(|x| like(x, "promo%", true, false), &booleans([1, 1, -1, 0, 0, 0, 1]));
    check(|x| like(x, "%O%B%", false, true), &booleans([0, 1, -1, 1, 1, 1, 0]));
    check(|x| like(x, "_t_", false, false), &booleans([0, 0, -1, 0, 0, 1, 0]));
    check(|x| like(x, "\u{c9}T\u{c9}", true, false), &booleans([0, 0, -1, 0, 0, 1, 0]));
    let list = |x: Expr, list: Vec<Value>, negated| Expr {
        kind: ExprKind::InList { operand: Box::new(x), list, negated },
        data_type: BOOLEAN,
    };
    let word = |it: &str| Value::Text(it.into());
    check(|x| list(x, vec![word("promo"), word("")], false), &booleans([0, 1, -1, 1, 0, 0, 0]));
    check(
        |x| list(x, vec![word("promo"), Value::Null], false),
        &booleans([-1, 1, -1, -1, -1, -1, -1]),
    );
    check(
        |x| list(x, vec![word("promo"), Value::Null], true),
        &booleans([-1, 0, -1, -1, -1, -1, -1]),
    );
    check(|x| list(x, vec![], true), &booleans([1; 7]));
    let either = |x: Expr| {
        let left = like(x.clone(), "13%", false, false);
        let missing = unary(UnaryOperator::IsNull, x, BOOLEAN);
        Expr::predicate(BinaryOperator::Or, left, missing)
    };
    check(either, &booleans([0, 0, 1, 0, 1, 0, 0]));
}

#[test]
fn texts_from_one_dictionary_column() {
    let list = |x: Expr, list: Vec<Value>| Expr {
        kind: ExprKind::InList { operand: Box::new(x), list, negated: false },
        data_type: BOOLEAN,
    };
    let word = |it: &str| Value::Text(it.into());
    let substring = |x: Expr, start, length| Expr {
        kind: ExprKind::Substring { operand: Box::new(x), start, length },
        data_type: TEXT,
    };
    check(
        |x| list(substring(x, 1, Some(2)), vec![word("13"), word("\u{e9}t")]),
        &booleans([0, 0, -1, 0, 1, 1, 0]),
    );
    let words = |it: [&str; 7]| {
        let mut values: Vec<Value> = it.iter().map(|&it| word(it)).collect();
        values[2] = Value::Null;
        values
    };
    check(|x| substring(x, 0, Some(3)), &words(["PR", "pr", "", "", "13", "\u{e9}t", "PR"]));
    check(
        |x| substring(x, 3, None),
        &words(["OMO BRUSHED", "omo", "", "", "-555", "\u{e9}", "OMO BRUSHED"]),
    );
    let chosen = |x: Expr| {
        let is_promo = Expr::predicate(BinaryOperator::Equal, x.clone(), text("promo"));
        case(vec![(is_promo, text("yes"))], Some(x))
    };
    check(
        chosen,
        &words(["PROMO BRUSHED", "yes", "", "", "13-555", "\u{e9}t\u{e9}", "PROMO BRUSHED"]),
    );
    let kept = |x: Expr| {
        let is_promo = Expr::predicate(BinaryOperator::NotEqual, x.clone(), text("promo"));
        case(vec![(is_promo, x)], None)
    };
    let mut expected =
        words(["PROMO BRUSHED", "", "", "", "13-555", "\u{e9}t\u{e9}", "PROMO BRUSHED"]);
    expected[1] = Value::Null;
    check(kept, &expected);
    assert_eq!(constant(&substring(text("a"), 1, Some(-1))), Err("22011"));
}

#[test]
fn an_entry_that_no_row_has_raises_no_error() {
    let numbers = column(&repeated(&["1", "2", "x"].map(str::to_string), 100), TEXT);
    let (layout, batch) = batch_of(vec![coded(&numbers, &[Some(1), Some(0), None])]);
    let expr = cast(Expr::column(0, TEXT), INTEGER);
    let values = evaluate(&expr, &layout, &batch).unwrap();
    assert_eq!(values, [Value::Integer(2), Value::Integer(1), Value::Null]);
    let (layout, batch) = batch_of(vec![coded(&numbers, &[Some(2)])]);
    assert_eq!(evaluate(&expr, &layout, &batch).unwrap_err().state.0, "22P02");
}

#[test]
fn large_dictionaries_are_computed_once_enough_rows_came() {
    let entries: Vec<String> = (0..6000).map(|it| format!("{it:04}")).collect();
    let words = column(&repeated(&entries, 20), TEXT);
    let codes: Vec<Option<u32>> = (0..4000).map(|it| Some(it * 7 % 6000)).collect();
    let (layout, batch) = batch_of(vec![coded(&words, &codes)]);
    let expr = Expr::predicate(BinaryOperator::Less, Expr::column(0, TEXT), text("3000"));
    let compiled = Compiled::new(&expr, &layout, &NoOutside).unwrap();
    let mut answers = Vec::new();
    for _ in 0..3 {
        let mut rows = Vec::new();
        compiled.select(&batch, &mut rows).unwrap();
        answers.push(rows);
    }
    let holds = |it: &u32| codes[*it as usize].unwrap() < 3000;
    assert_eq!(answers[0], (0..4000).filter(holds).collect::<Vec<_>>());
    assert!(answers.iter().all(|it| *it == answers[0]));
}

#[test]
fn blanks_at_the_end_of_char_do_not_count() {
    let char4 = DataType::Char(4);
    let padded = Expr::literal(Value::Text("ab  ".into()), char4);
    let of = |it: &str, data_type| Expr::literal(Value::Text(it.into()), data_type);
    let equal =
        Expr::predicate(BinaryOperator::Equal, padded.clone(), of("ab", DataType::Varchar(9)));
    assert_eq!(constant(&equal), Ok(Value::Boolean(true)));
    let beside_text = Expr::predicate(BinaryOperator::Equal, of("ab", char4), text("ab  "));
    assert_eq!(constant(&beside_text), Ok(Value::Boolean(false)));
    let texts = Expr::predicate(BinaryOperator::Equal, text("ab  "), text("ab"));
    assert_eq!(constant(&texts), Ok(Value::Boolean(false)));
    let list = ExprKind::InList {
        operand: Box::new(padded),
        list: vec![Value::Text("ab ".into())],
        negated: false,
    };
    assert_eq!(constant(&Expr { kind: list, data_type: BOOLEAN }), Ok(Value::Boolean(true)));
}

#[test]
fn functions_see_text_whatever_holds_it() {
    let upper = |x: Expr| Expr {
        kind: ExprKind::Call { function: Function::Upper, arguments: vec![x] },
        data_type: TEXT,
    };
    let expected: Vec<Value> = (WORDS.iter())
        .map(|it| it.map_or(Value::Null, |it| Value::Text(it.to_uppercase().into())))
        .collect();
    check(upper, &expected);
    assert_eq!(constant(&upper(text("abc"))), Ok(Value::Text("ABC".into())));
}

#[test]
fn every_type_goes_to_arrow_and_back() {
    let columns = [
        (BOOLEAN, Value::Boolean(true)),
        (DataType::SmallInt, Value::Integer(-7)),
        (INTEGER, Value::Integer(i64::from(i32::MIN))),
        (BIGINT, Value::Integer(i64::MAX)),
        (DataType::Real, Value::Float(0.5)),
        (DataType::Double, Value::Float(-1e300)),
        (decimal(10, 2), Value::Decimal { unscaled: -12345, scale: 2 }),
        (decimal(38, 3), Value::Decimal { unscaled: 10_i128.pow(37), scale: 3 }),
        (DataType::Date, Value::Date(-1)),
        (DataType::Timestamp, Value::Timestamp(-1)),
        (DataType::Char(3), Value::Text("ab".into())),
        (TEXT, Value::Text("\u{e9}".into())),
        (DataType::Null, Value::Null),
    ];
    let mut all = Vec::new();
    for (data_type, value) in columns {
        let values = vec![value.clone(), Value::Null, value];
        let (shape, vector) = computed(&values, data_type);
        let array = to_arrow(&vector, &shape);
        assert_eq!(array.data_type(), &crate::arrow::arrow_type(data_type));
        let back = from_arrow(&array, &shape).unwrap();
        let back: Vec<Value> = (0..3).map(|row| back.value(&shape, row)).collect();
        assert_eq!(back, values, "{data_type}");
        all.push((shape, vector));
    }
    let names: Vec<String> = (0..all.len()).map(|it| format!("c{it}")).collect();
    let (layout, batch) = batch_of(all);
    let record = to_record_batch(&batch, &layout, &names).unwrap();
    assert_eq!((record.num_rows(), record.num_columns()), (3, names.len()));
    let empty = to_record_batch(&Batch { rows: 5, ..Batch::default() }, &Layout::new(), &[]);
    assert_eq!(empty.unwrap().num_rows(), 5);
    let [_, (shape, vector), _] = three_ways(&WORDS);
    let texts = to_arrow(&vector, &shape);
    let found: Vec<Option<&str>> = texts.as_string::<i32>().iter().collect();
    assert_eq!(found, WORDS);
}

/// Texts made of a small dictionary are codes of one of their own: in order, each text once, NULL apart.
#[test]
fn texts_of_a_small_dictionary_have_one_of_their_own() {
    let owned = ["bb2", "aa1", "bb1", "", "c"].map(String::from);
    let column = column(&repeated(&owned, 1000), TEXT);
    // In its order: "", aa1, bb1, bb2, c.
    let codes = [Some(3), Some(1), None, Some(2), Some(0), Some(4), Some(1)];
    let (layout, batch) = batch_of(vec![coded(&column, &codes)]);
    let begin = |operand| {
        let kind = ExprKind::Substring { operand: Box::new(operand), start: 1, length: Some(2) };
        Expr { kind, data_type: TEXT }
    };
    let column = || Expr::column(0, TEXT);
    let is_empty = binary(BinaryOperator::Equal, column(), text(""), BOOLEAN);
    let shortened = case(vec![(is_empty, null(TEXT))], Some(begin(column())));
    let texts =
        |it: [Option<&str>; 7]| it.map(|it| it.map_or(Value::Null, |it| Value::Text(it.into())));
    let expected = [
        (
            begin(column()),
            texts([Some("bb"), Some("aa"), None, Some("bb"), Some(""), Some("c"), Some("aa")]),
        ),
        (shortened, texts([Some("bb"), Some("aa"), None, Some("bb"), None, Some("c"), Some("aa")])),
    ];
    for (expr, expected) in expected {
        let compiled = Compiled::new(&expr, &layout, &ManyRows).unwrap();
        let vector = compiled.evaluate(&batch).unwrap();
        let Values::Codes(codes) = &vector.values else { panic!("no codes for {expr:?}") };
        let found = evaluate(&expr, &layout, &batch).unwrap();
        assert_eq!(found, expected);
        for (a, b) in (0..7).flat_map(|a| (0..7).map(move |b| (a, b))) {
            if let (Value::Text(one), Value::Text(other)) = (&found[a], &found[b]) {
                assert_eq!(codes[a].cmp(&codes[b]), one.cmp(other), "{one} and {other}");
            }
        }
    }
}
