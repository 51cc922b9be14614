//! The inverted index against a look at every row, for each encoding.

mod common;

use std::ops::Bound;

use common::{Threads, allocator, allocator_on, array_of, batch_of, build, less, same};
use hardware::samples;
use stdx::Prng;
use stdx::sync::Arc;
use storage::{
    BuildContext, Column, ColumnSchema, Encoding, IndexKind, InvertedIndex, Rules, Table,
    TableBuilder, TableIndex,
};
use types::{ColumnId, DataType, SqlState, Value};

const DECIMAL: DataType = DataType::Decimal { precision: 15, scale: 2 };
const WIDE: DataType = DataType::Decimal { precision: 38, scale: 4 };

/// A kind of column: its type, and a value by number.
type Kind = (DataType, fn(u64) -> Value);

fn text(text: String) -> Value {
    Value::Text(text.into())
}

const KINDS: [Kind; 11] = [
    (DataType::Integer, |it| Value::Integer(it as i64 - 7)),
    (DataType::BigInt, |it| Value::Integer(it as i64 * 1_000 + 3)),
    (DataType::BigInt, |it| Value::Integer(it.wrapping_mul(0x9e37_79b9_7f4a_7c15) as i64)),
    (DataType::Boolean, |it| Value::Boolean(it.is_multiple_of(2))),
    (DataType::Date, |it| Value::Date(it as i32 * 3)),
    (DECIMAL, |it| Value::Decimal { unscaled: i128::from(it) * 100, scale: 2 }),
    (WIDE, |it| Value::Decimal { unscaled: (i128::from(it) << 70) - 5, scale: 4 }),
    (DataType::Double, |it| Value::Float((it as f64 - 40.0).sin() * 1e9)),
    (DataType::Text, |it| text(format!("Clerk#{:05}", it % 300))),
    (DataType::Text, |it| text(format!("Customer#{:09}", it * 7919 % 100_003))),
    (DataType::Char(60), |it| text("x".repeat((it % 40) as usize) + &format!("\u{e4}{it}"))),
];

fn index_of(column: &Column, context: &BuildContext<'_>) -> InvertedIndex {
    InvertedIndex::build(column, context).unwrap().unwrap()
}

fn column_of(kind: Kind, rows: usize, distinct: u64, nulls: bool, prng: &mut Prng) -> Vec<Value> {
    let value = |_| match nulls && prng.below(5) == 0 {
        true => Value::Null,
        false => kind.1(prng.below(distinct)),
    };
    (0..rows).map(value).collect()
}

fn inside(value: &Value, low: &Bound<&Value>, high: &Bound<&Value>) -> bool {
    let above = match low {
        Bound::Unbounded => true,
        Bound::Included(low) => !less(value, low),
        Bound::Excluded(low) => less(low, value),
    };
    let below = match high {
        Bound::Unbounded => true,
        Bound::Included(high) => !less(high, value),
        Bound::Excluded(high) => less(value, high),
    };
    !value.is_null() && above && below
}

fn check(values: &[Value], column: &Column, index: &InvertedIndex, kind: Kind, prng: &mut Prng) {
    assert_eq!(index.len(), values.iter().filter(|it| !it.is_null()).count());
    let looks = if values.len() > 10_000 { 3 } else { 60 };
    for _ in 0..looks {
        let (a, b) = (kind.1(prng.below(700)), kind.1(prng.below(700)));
        let bound = |value, which| match which {
            0 => Bound::Unbounded,
            1 => Bound::Excluded(value),
            _ => Bound::Included(value),
        };
        let (low, high) = match prng.below(3) {
            0 => (Bound::Included(&a), Bound::Included(&a)),
            _ => (bound(&a, prng.below(4)), bound(&b, prng.below(4))),
        };
        let slots = index.lookup(column, low, high).expect("values of the type compare");
        let mut found = Vec::new();
        index.positions(slots, &mut found);
        let order = |a: &u32, b: &u32| {
            let (x, y) = (&values[*a as usize], &values[*b as usize]);
            less(x, y) || !less(y, x) && a < b
        };
        assert!(found.is_sorted_by(order), "{:?}", column.encoding_name());
        found.sort_unstable();
        let wanted: Vec<u32> = (0..values.len() as u32)
            .filter(|it| inside(&values[*it as usize], &low, &high))
            .collect();
        assert_eq!(found, wanted, "{} {low:?} {high:?}", column.encoding_name());
    }
    let twice = index.duplicate(column);
    let mut sorted: Vec<&Value> = values.iter().filter(|it| !it.is_null()).collect();
    sorted.sort_by(|a, b| less(b, a).cmp(&less(a, b)));
    let repeated = sorted.windows(2).any(|it| same(it[0], it[1]));
    assert_eq!(twice.is_some(), repeated);
    if let Some((a, b)) = twice {
        assert!(a != b && same(&values[a as usize], &values[b as usize]));
    }
}

#[test]
fn every_encoding_finds_what_a_look_at_all_rows_finds() {
    let (allocator, mut prng) = (allocator(), Prng::new(7));
    let mut seen = std::collections::BTreeSet::new();
    for kind in KINDS {
        for (rows, distinct) in
            [(0, 1), (1, 1), (700, 20), (700, 100_000), (3000, 600), (5000, 90_000)]
        {
            let values = column_of(kind, rows, distinct, rows % 3 == 1, &mut prng);
            let context = BuildContext::serial(&allocator);
            let table = build(kind.0, &values, 400, &context).unwrap();
            let column = &table.columns[0];
            seen.insert(column.encoding_name());
            check(&values, column, &index_of(column, &context), kind, &mut prng);
        }
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["dictionary", "offset", "plain", "raw"]);
}

#[test]
fn workers_do_not_change_an_index() {
    let (allocator, mut prng) = (allocator_on(samples::four_sockets()), Prng::new(9));
    for kind in [KINDS[0], KINDS[1], KINDS[2], KINDS[9]] {
        let values = column_of(kind, 300_000, 250_000, true, &mut prng);
        let serial = BuildContext::serial(&allocator);
        let table = build(kind.0, &values, 70_000, &serial).unwrap();
        let column = &table.columns[0];
        let threads = BuildContext { parallel: &Threads(4), ..serial };
        let (a, b) = (index_of(column, &serial), index_of(column, &threads));
        for (a, b) in a.segments().iter().zip(b.segments()) {
            assert_eq!((a.0, a.1.as_bytes()), (b.0, b.1.as_bytes()));
        }
        // As the dictionary: on the nodes of the index vector, dealt round when there are several.
        let nodes = |it: &memory::Segment| {
            it.page_map().summary().iter().map(|it| it.0).collect::<Vec<_>>()
        };
        if !matches!(column.encoding, Encoding::Plain(_)) {
            assert_eq!(nodes(a.segments()[1].1), nodes(column.iv().segment()));
        }
        check(&values[..], column, &b, kind, &mut prng);
    }
}

#[test]
fn bounds_of_another_kind_are_not_looked_up() {
    let allocator = allocator();
    let context = BuildContext::serial(&allocator);
    let values: Vec<Value> = (0..500).map(Value::Integer).collect();
    let table = build(DataType::Integer, &values, 500, &context).unwrap();
    let (column, number) = (&table.columns[0], Value::Decimal { unscaled: 105, scale: 1 });
    let index = index_of(column, &context);
    let word = Value::Text("a".into());
    assert_eq!(index.lookup(column, Bound::Included(&word), Bound::Unbounded), None);
    // 10.5 lies between 10 and 11.
    let above = index.lookup(column, Bound::Included(&number), Bound::Unbounded);
    assert_eq!(above, Some(11..500));
    let null = Bound::Included(&Value::Null);
    assert!(index.lookup(column, null, null).unwrap().is_empty());
}

fn table_with(rules: Rules, columns: Vec<(DataType, Vec<Value>)>) -> types::SqlResult<Table> {
    let allocator = allocator();
    let context = BuildContext::serial(&allocator);
    let schema: Vec<ColumnSchema> = (columns.iter().enumerate())
        .map(|(place, it)| ColumnSchema::new(format!("c{place}"), it.0, true))
        .collect();
    let builder = TableBuilder::new("t", schema.clone());
    let arrays: Vec<_> =
        (schema.into_iter().zip(&columns)).map(|(s, it)| (s, array_of(it.0, &it.1))).collect();
    builder.push(0, batch_of(&arrays)).unwrap();
    builder.finish(&context)?.with_rules(Arc::new(rules), &context)
}

fn rule(kind: IndexKind, columns: &[u16]) -> Rules {
    let columns = columns.iter().map(|&it| ColumnId(it)).collect();
    Rules { indexes: vec![TableIndex::new("k", columns, kind)], ..Rules::default() }
}

#[test]
fn keys_are_told_as_clients_see_them() {
    let inet = DataType::Network(types::Network::Inet);
    for (data_type, written, told) in [
        (DataType::Boolean, "true", "t"),
        (DataType::Char(4), "ab", "ab  "),
        (inet, "10.0.0.1", "10.0.0.1"),
        (inet, "10.0.0.0/8", "10.0.0.0/8"),
        (DataType::Date, "2024-02-29", "2024-02-29"),
    ] {
        let value =
            types::numeric::cast(&text(written.to_owned()), DataType::Text, data_type).unwrap();
        let rows = vec![(data_type, vec![value.clone(), value])];
        let error = table_with(rule(IndexKind::UniqueKey, &[0]), rows).unwrap_err();
        assert_eq!(error.detail(), Some(&*format!("Key (c0)=({told}) already exists.")));
    }
}

#[test]
fn keys_of_several_columns_are_checked() {
    let ints = |values: &[i64]| -> (DataType, Vec<Value>) {
        let value = |it: &i64| if *it < 0 { Value::Null } else { Value::Integer(*it) };
        (DataType::Integer, values.iter().map(value).collect())
    };
    let texts = |values: &[&str]| -> (DataType, Vec<Value>) {
        (DataType::Text, values.iter().map(|it| text((*it).to_owned())).collect())
    };
    let rows = |a: &[i64], b: &[&str]| vec![ints(a), texts(b)];
    let unique = || rule(IndexKind::UniqueKey, &[0, 1]);
    assert!(table_with(unique(), rows(&[1, 1, 2], &["a", "b", "a"])).is_ok());
    assert!(table_with(unique(), rows(&[-1, -1], &["a", "a"])).is_ok(), "NULL is like nothing");
    let mut alike = unique();
    alike.indexes[0].nulls_equal = true;
    assert!(table_with(alike.clone(), rows(&[-1, -1, 1], &["a", "b", "a"])).is_ok());
    let error = table_with(alike, rows(&[-1, 1, -1], &["a", "a", "a"])).unwrap_err();
    assert_eq!(error.detail(), Some("Key (c0, c1)=(null, a) already exists."));
    let error = table_with(unique(), rows(&[1, 2, 1], &["a", "b", "a"])).unwrap_err();
    assert_eq!(error.state, SqlState::UNIQUE_VIOLATION);
    assert_eq!(error.detail(), Some("Key (c0, c1)=(1, a) already exists."));
    let primary = rule(IndexKind::PrimaryKey, &[0, 1]);
    let error = table_with(primary, rows(&[1, -1], &["a", "b"])).unwrap_err();
    assert_eq!(error.state, SqlState::NOT_NULL_VIOLATION);
    assert!(table_with(rule(IndexKind::UniqueKey, &[0]), rows(&[4, 4], &["a", "b"])).is_err());
    assert!(table_with(rule(IndexKind::Index, &[0]), rows(&[4, 4], &["a", "b"])).is_ok());
}

#[test]
fn indexes_share_what_a_column_has_and_each_keeps_it() {
    let numbers = |from: i64| (from..from + 9).map(Value::Integer).collect::<Vec<_>>();
    let columns = (0..3).map(|it| (DataType::Integer, numbers(it * 100))).collect();
    let one = |name: &str, kind, columns: &[u16]| {
        let columns = columns.iter().map(|&it| ColumnId(it)).collect();
        TableIndex::new(name, columns, kind)
    };
    let both = [
        one("ab", IndexKind::UniqueIndex, &[0, 1]),
        one("bcb", IndexKind::Index, &[1, 2, 1]),
        one("key", IndexKind::PrimaryKey, &[0, 1, 2]),
    ];
    let table = table_with(Rules { indexes: both.to_vec(), ..Rules::default() }, columns).unwrap();
    let indexed = |table: &Table| -> Vec<bool> {
        table.columns.iter().map(|it| it.index.is_some()).collect()
    };
    let named = |table: &Table| -> Vec<Option<String>> {
        table.info().columns.iter().map(|it| it.index.as_deref().map(String::from)).collect()
    };
    let name = |it: &str| Some(it.to_owned());
    assert_eq!(indexed(&table), [true, true, true]);
    assert_eq!(named(&table), [name("ab"), name("ab"), name("bcb")]);
    let allocator = allocator();
    let context = BuildContext::serial(&allocator);
    let left = |rules: &[TableIndex]| {
        table
            .ruled(Arc::new(Rules { indexes: rules.to_vec(), ..Rules::default() }), &context)
            .unwrap()
    };
    let without_first = left(&both[1..]);
    assert_eq!(indexed(&without_first), [false, true, true]);
    assert_eq!(named(&without_first), [None, name("bcb"), name("bcb")]);
    assert_eq!(indexed(&left(&both[..1])), [true, true, false]);
    assert_eq!(indexed(&left(&both[2..])), [false, false, false], "a key is only checked");
}

#[test]
fn an_index_lives_through_an_append_and_is_seen() {
    let table = table_with(
        rule(IndexKind::Index, &[0]),
        vec![(DataType::Integer, vec![Value::Integer(5), Value::Null])],
    )
    .unwrap();
    let column = &table.columns[0];
    assert_eq!(table.info().columns[0].index.as_deref(), Some("k"));
    let names: Vec<&str> = column.segments().iter().map(|it| it.0).collect();
    assert!(names.contains(&"ix starts") && names.contains(&"ix positions"));
    let allocator = allocator();
    let more = (ColumnSchema::new("c0", DataType::Integer, true), {
        array_of(DataType::Integer, &[Value::Integer(9), Value::Integer(5)])
    });
    let longer = table.append(&[batch_of(&[more])], &BuildContext::serial(&allocator)).unwrap();
    let (column, five) = (&longer.columns[0], Value::Integer(5));
    let index = column.index.as_ref().unwrap();
    let slots = index.lookup(column, Bound::Included(&five), Bound::Included(&five)).unwrap();
    let mut found = Vec::new();
    index.positions(slots, &mut found);
    assert_eq!(found, [0, 3]);
}
