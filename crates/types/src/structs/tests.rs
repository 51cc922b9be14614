use super::*;
use crate::{SqlError, Zone, numeric};

fn of(fields: &[(&str, DataType)]) -> DataType {
    let fields = fields.iter().map(|it| Field::new(it.0, it.1)).collect();
    DataType::Struct(StructType::new(fields).unwrap())
}

fn row(types: &[DataType]) -> DataType {
    DataType::Struct(StructType::row(types.iter().copied()).unwrap())
}

fn map(key: DataType, value: DataType) -> DataType {
    DataType::Map(StructType::entry(key, value).unwrap())
}

fn read(text: &str, of: DataType) -> Result<Value, SqlError> {
    numeric::cast(&Value::Text(text.into()), DataType::Text, of)
}

fn written(value: &Value, of: DataType) -> String {
    let mut out = String::new();
    numeric::format::value(value, of, &Zone::utc(), &mut out);
    out
}

#[test]
fn what_is_written_is_read_again() {
    let (int, text) = (DataType::Integer, DataType::Text);
    let ab = of(&[("a", int), ("b", text)]);
    let cases = [
        (ab, "{'a': 1, 'b': x y}", "{'a': 1, 'b': x y}"),
        (ab, " { a : 1 , \"b\" : 'x, y' } ", "{'a': 1, 'b': 'x, y'}"),
        (ab, "{b: 'it\\'s \\\\'}", "{'a': NULL, 'b': 'it\\'s \\\\'}"),
        (ab, "{a: null, b: 'null'}", "{'a': NULL, 'b': 'null'}"),
        (ab, "{a: 1, b: }", "{'a': 1, 'b': ''}"),
        (ab, "{a: 1, b: {x: 'y}'}}", "{'a': 1, 'b': '{x: \\'y}\\'}'}"),
        (ab, "(7, x)", "{'a': 7, 'b': x}"),
        (ab, "{}", "{'a': NULL, 'b': NULL}"),
        (of(&[("A b", int)]), "{'a B': 3}", "{'A b': 3}"),
        (of(&[("s", ab)]), "{s: {a: 1, b: 'y'}}", "{'s': {'a': 1, 'b': y}}"),
        (of(&[("l", int.array().unwrap())]), "{l: [1, NULL, 3]}", "{'l': [1, NULL, 3]}"),
        (of(&[("l", int.array().unwrap())]), "{l: []}", "{'l': []}"),
        (ab.array().unwrap(), "[{a: 1, b: x}, NULL]", "[{'a': 1, 'b': x}, NULL]"),
        (
            of(&[("t", DataType::Timestamp)]),
            "{t: 2020-01-01 01:02:03}",
            "{'t': '2020-01-01 01:02:03'}",
        ),
        (of(&[("c", DataType::Char(3))]), "{c: a}", "{'c': 'a  '}"),
        (row(&[int, text]), "(1,x)", "(1,x)"),
        (row(&[int, text]), "(1,\"a \"\"b\"\" \\\\c\")", "(1,\"a \"\"b\"\" \\\\c\")"),
        (row(&[int, text]), "(,\"\")", "(,\"\")"),
        (row(&[DataType::Boolean]), "(true)", "(t)"),
        (row(&[ab]), "(\"{'a': 1, 'b': x}\")", "(\"{'a': 1, 'b': x}\")"),
        (row(&[int]).array().unwrap(), "{(1),(2)}", "{(1),(2)}"),
        (row(&[int]), "()", "()"),
        (map(text, int), "{k=1, 'l m'=NULL, '='=3}", "{k=1, l m=NULL, '='=3}"),
        (map(text, int), "{}", "{}"),
        (map(int, ab), "{1={a: 2, b: c}}", "{1={'a': 2, 'b': c}}"),
    ];
    for (data_type, text, shown) in cases {
        let value = read(text, data_type).unwrap_or_else(|it| panic!("{text}: {it}"));
        assert_eq!(written(&value, data_type), shown, "{text}");
        assert_eq!(read(shown, data_type), Ok(value), "{shown}");
    }
}

#[test]
fn what_is_no_struct_is_refused() {
    let ab = of(&[("a", DataType::Integer), ("b", DataType::Text)]);
    for (data_type, text, state) in [
        (ab, "", "22P02"),
        (ab, "{", "22P02"),
        (ab, "{a}", "22P02"),
        (ab, "{a: 1", "22P02"),
        (ab, "{a: 1} x", "22P02"),
        (ab, "{a: 1, a: 2}", "22P02"),
        (ab, "{c: 1}", "22P02"),
        (ab, "{a: x}", "22P02"),
        (ab, "{b: ']'", "22P02"),
        (ab, "{b: }}", "22P02"),
        (ab, "(1,2,3)", "22P02"),
        (ab.array().unwrap(), "[{a: 1}", "22P02"),
        (row(&[DataType::Integer]), "(1,2)", "22P02"),
        (map(DataType::Text, DataType::Integer), "{a=1, a=2}", "22000"),
        (map(DataType::Text, DataType::Integer), "{NULL=1}", "22004"),
        (map(DataType::Text, DataType::Integer), "{a}", "22P02"),
    ] {
        assert_eq!(read(text, data_type).unwrap_err().state.0, state, "{text}");
    }
}

#[test]
fn held_structs_are_in_order() {
    let text = DataType::Text;
    let within = of(&[("a", DataType::Integer), ("b", text)]);
    let data_type = of(&[("x", within), ("y", DataType::Double)]);
    let ascending = [
        "{x: {a: -5, b: z}, y: 1}",
        "{x: {a: 1, b: ''}, y: NULL}",
        "{x: {a: 1, b: a}, y: -1.5}",
        "{x: {a: 1, b: a}, y: 2}",
        "{x: {a: 1, b: a}, y: NULL}",
        "{x: {a: 1, b: aa}, y: 0}",
        "{x: {a: 1, b: NULL}, y: 0}",
        "{x: {a: 2, b: a}, y: 0}",
        "{x: {a: NULL, b: a}, y: 0}",
        "{x: NULL, y: 0}",
    ];
    let held: Vec<_> = ascending
        .iter()
        .map(|it| match read(it, data_type).unwrap() {
            Value::Text(held) => held,
            other => panic!("{other}"),
        })
        .collect();
    assert!(held.is_sorted(), "{held:?}");
}

#[test]
fn fields_find_each_other() {
    let (int, big, text) = (DataType::Integer, DataType::BigInt, DataType::Text);
    let ab = of(&[("a", int), ("b", text)]);
    let cases = [
        (ab, of(&[("B", text), ("c", int)]), Some("{'B': x, 'c': NULL}")),
        (ab, of(&[("a", big)]), Some("{'a': 1}")),
        (ab, of(&[("c", int)]), None),
        (ab, row(&[text, text]), Some("(1,x)")),
        (ab, row(&[text]), None),
        (ab, of(&[("a", DataType::Date)]), None),
    ];
    let value = read("{a: 1, b: x}", ab).unwrap();
    for (from, to, expected) in cases {
        let made = numeric::cast(&value, from, to).ok().map(|it| written(&it, to));
        assert_eq!(made.as_deref(), expected, "{to}");
    }
    let meet = |a, b| numeric::common_type(a, b).map(|it| it.to_string());
    let other = of(&[("c", text), ("A", big)]);
    assert_eq!(meet(ab, other).as_deref(), Some("STRUCT(a BIGINT, b TEXT, c TEXT)"));
    assert_eq!(meet(row(&[big, text]), ab).as_deref(), Some("STRUCT(a BIGINT, b TEXT)"));
    assert_eq!(meet(row(&[big]), ab), None);
    assert_eq!(meet(ab, of(&[("a", text)])), None);
}

#[test]
fn keys_compare_what_held_forms_do_not() {
    let interval = DataType::Interval;
    let data_type =
        of(&[("i", interval), ("l", interval.array().unwrap()), ("j", DataType::Jsonb)]);
    let key_of = |it: &str| key(&read(it, data_type).unwrap(), data_type).unwrap();
    assert_eq!(
        key_of("{i: 1 mon, l: [24 hours], j: '{\"a\":1}'}"),
        key_of("{i: 30 days, l: [1 day], j: '{\"a\":1.0}'}")
    );
}

#[test]
fn types_have_limits() {
    let twice = vec![Field::new("a", DataType::Text), Field::new("A", DataType::Text)];
    assert_eq!(StructType::new(twice).unwrap_err().state.0, "42701");
    let mixed = vec![Field::new("a", DataType::Text), Field::new("", DataType::Text)];
    assert!(StructType::new(mixed).is_err());
    let mut deep = DataType::Integer;
    let made = (0..DEPTH_MAX + 1).try_for_each(|_| {
        deep = DataType::Struct(StructType::row([deep])?);
        Ok::<_, SqlError>(())
    });
    assert_eq!(made.unwrap_err().state.0, "54000");
    let mut wide = DataType::Integer;
    let made = (0..DEPTH_MAX).try_for_each(|_| {
        wide = DataType::Struct(StructType::row([wide, wide])?);
        Ok::<_, SqlError>(())
    });
    assert_eq!(made.unwrap_err().state.0, "54000");
}
