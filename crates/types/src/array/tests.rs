use super::*;
use crate::{DataType, SqlResult, Value, Zone, numeric};

fn read(text: &str, element: DataType) -> SqlResult<String> {
    parse(text, &mut |it| numeric::cast(&Value::Text(it.into()), DataType::Text, element))
}

fn written(held: &str, element: DataType) -> String {
    let Some(DataType::Array(element)) = element.array() else { panic!("{element} is no element") };
    let mut out = String::new();
    numeric::format::array(held, element, &Zone::utc(), &mut out);
    out
}

#[test]
fn arrays_are_read_and_written_as_in_postgres() {
    for (text, element, expected) in [
        ("{1,2,NULL}", DataType::Integer, "{1,2,NULL}"),
        (" { 1 , -2 } ", DataType::BigInt, "{1,-2}"),
        ("{}", DataType::Text, "{}"),
        ("{{1,2},{3,4}}", DataType::Integer, "{{1,2},{3,4}}"),
        ("{{{1},{2}}}", DataType::Integer, "{{{1},{2}}}"),
        ("[0:1]={1,2}", DataType::Integer, "[0:1]={1,2}"),
        ("[1:2]={1,2}", DataType::Integer, "{1,2}"),
        ("[-1:0][2:3]={{1,2},{3,4}}", DataType::Integer, "[-1:0][2:3]={{1,2},{3,4}}"),
        (r#"{a b,"null",null,"",\"x}"#, DataType::Text, r#"{"a b","null",NULL,"","\"x"}"#),
        (r#"{"a\\b",{}"#, DataType::Text, ""),
        ("{1.5,2}", DataType::Decimal { precision: 4, scale: 2 }, "{1.50,2.00}"),
        ("{t,f}", DataType::Boolean, "{t,f}"),
        ("{1e20,-0.5,NaN}", DataType::Double, "{1e+20,-0.5,NaN}"),
        ("{a,bcd}", DataType::Char(2), r#"{"a ",bc}"#),
        ("{2024-02-29}", DataType::Date, "{2024-02-29}"),
        ("{2024-02-29 01:02:03}", DataType::Timestamp, r#"{"2024-02-29 01:02:03"}"#),
        (r"{\\x00ff}", DataType::Bytea, r#"{"\\x00ff"}"#),
    ] {
        match read(text, element) {
            Ok(held) => assert_eq!(written(&held, element), expected, "{text}"),
            Err(_) => assert_eq!(expected, "", "{text}"),
        }
    }
}

#[test]
fn what_is_no_array_is_an_error() {
    for text in [
        "",
        "1",
        "{",
        "{1",
        "{1,}",
        "{,1}",
        "{1}}",
        "{1} 2",
        "{{1},2}",
        "{1,{2}}",
        "{{1},{2,3}}",
        "{\"a\"b}",
        "[1:3]={1,2}",
        "[1]={1,2}",
        "{a\\",
        "{{1},{}}",
    ] {
        let state = read(text, DataType::Text).map_err(|it| it.state.0);
        assert_eq!(state, Err("22P02"), "{text}");
    }
    assert_eq!(read("[2:1]={1}", DataType::Text).map_err(|it| it.state.0), Err("2202E"));
    assert_eq!(read("{{{{{{{1}}}}}}}", DataType::Text).map_err(|it| it.state.0), Err("54000"));
}

#[test]
fn the_order_of_texts_is_the_order_of_arrays() {
    let ascending = [
        "{}",
        "{-4097}",
        "{-64}",
        "{-63}",
        "{-1}",
        "{0}",
        "{1}",
        "{1,2}",
        "{{1,2}}",
        "[0:1][1:1]={{1},{2}}",
        "{{1},{2}}",
        "{1,3}",
        "[0:0]={2}",
        "{2}",
        "[5:5]={2}",
        "{63}",
        "{64}",
        "{4096}",
        "{9223372036854775807}",
        "{NULL}",
        "{NULL,1}",
    ];
    let held: Vec<String> =
        ascending.iter().map(|it| read(it, DataType::BigInt).unwrap()).collect();
    for (pair, texts) in held.windows(2).zip(ascending.windows(2)) {
        assert!(pair[0] < pair[1], "{} < {}", texts[0], texts[1]);
    }
    let texts = ["{\"\"}", "{\"\",z}", "{a}", "{a,b}", "{ab}", "{b}", "{\u{e4}}", "{NULL}"];
    let held: Vec<String> = texts.iter().map(|it| read(it, DataType::Text).unwrap()).collect();
    assert!(held.is_sorted());
    let floats = ["{-Infinity}", "{-1e9}", "{-1}", "{0}", "{1e-9}", "{3}", "{Infinity}", "{NaN}"];
    let held: Vec<String> = floats.iter().map(|it| read(it, DataType::Double).unwrap()).collect();
    assert!(held.is_sorted());
    assert_eq!(read("{-0}", DataType::Real), read("{0}", DataType::Real));
}

#[test]
fn values_come_back_as_they_went() {
    for value in [0, 1, -1, 63, -64, i128::from(i64::MIN), i128::MAX, i128::MIN] {
        let mut item = String::new();
        push_integer(&mut item, value);
        assert_eq!(Items::new(&item).next(), Some(&*item));
        assert_eq!(integer_of(&item), value);
    }
    for value in [0.0, -1.5, f64::MAX, f64::MIN_POSITIVE, f64::NEG_INFINITY] {
        let mut item = String::new();
        push_float(&mut item, value);
        assert_eq!(float_of(&item), value);
    }
    for value in ["", "a\0b", "\0", "\u{80}", "\0\u{80}"] {
        let mut items = String::new();
        push_text(&mut items, value);
        push_text(&mut items, "z");
        close_list(&mut items, 0, 2).unwrap();
        let found: Vec<_> = Items::new(&items).map(text_of).collect();
        assert_eq!(found, [value, "z"]);
    }
    assert_eq!(dimensions(""), []);
    // What is no array ends.
    for text in ["\u{10}a", "\u{50}1", "\u{60}", "x\u{e4}", "\u{8}"] {
        assert!(Items::new(text).count() == 0 && dimensions(text).len() <= 1, "{text:?}");
    }
}
