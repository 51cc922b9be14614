//! Tables in parts: whatever way they are cut, hold the rows of the table in one piece, and facts about all of them.

mod common;

use common::{Threads, allocator_on, array_of, batch_of, same};
use hardware::{NodeId, samples};
use memory::Allocator;
use proptest::prelude::*;
use stdx::Prng;
use storage::{
    BLOCK_ROWS, BuildContext, ColumnSchema, Encoding, Partitioning, PlaceTarget, Placement, Table,
    TableBuilder, TableDesign, table_to_arrow,
};
use types::{ColumnId, DataType, SqlState, Value};

const DECIMAL: DataType = DataType::Decimal { precision: 12, scale: 2 };
const WIDE: DataType = DataType::Decimal { precision: 38, scale: 4 };

fn schema() -> Vec<ColumnSchema> {
    let types = [
        DataType::BigInt,
        DataType::Integer,
        DECIMAL,
        WIDE,
        DataType::Double,
        DataType::Date,
        DataType::Text,
        DataType::Text,
        DataType::Boolean,
    ];
    let column = |(place, data_type): (usize, &DataType)| {
        ColumnSchema::new(format!("c{place}"), *data_type, true)
    };
    types.iter().enumerate().map(column).collect()
}

/// Rows of all types; the first column counts them from `first` on.
fn rows(first: usize, count: usize, nulls: u64, prng: &mut Prng) -> Vec<Vec<Value>> {
    let mut row = |row: usize| -> Vec<Value> {
        let values = [
            Value::Integer(row as i64),
            Value::Integer(prng.below(20) as i64 - 7),
            Value::Decimal { unscaled: i128::from(prng.below(4000)) - 1000, scale: 2 },
            Value::Decimal { unscaled: i128::from(prng.below(50)) << (prng.below(70)), scale: 4 },
            Value::Float(match prng.below(9) {
                0 => f64::NAN,
                1 => -0.0,
                it => it as f64 * 1.5,
            }),
            Value::Date(9000 + prng.below(300) as i32),
            Value::Text(format!("word {}", prng.below(40)).into()),
            Value::Text(format!("{} is of row {row}", prng.next_u64()).into()),
            Value::Boolean(prng.below(2) == 0),
        ];
        let keep = |(place, value): (usize, Value)| match place > 0 && prng.below(100) < nulls {
            true => Value::Null,
            false => value,
        };
        values.into_iter().enumerate().map(keep).collect()
    };
    (first..first + count).map(&mut row).collect()
}

fn batches(rows: &[Vec<Value>]) -> Vec<arrow_array::RecordBatch> {
    let schema = schema();
    let batch = |rows: &[Vec<Value>]| {
        let column = |(place, schema): (usize, &ColumnSchema)| {
            let values: Vec<Value> = rows.iter().map(|it| it[place].clone()).collect();
            (schema.clone(), array_of(schema.data_type, &values))
        };
        batch_of(&schema.iter().enumerate().map(column).collect::<Vec<_>>())
    };
    rows.chunks(777).map(batch).collect()
}

fn table(rows: &[Vec<Value>], context: &BuildContext<'_>) -> Table {
    let builder = TableBuilder::new("t", schema());
    for (order, batch) in batches(rows).into_iter().enumerate() {
        builder.push(order as u64, batch).unwrap();
    }
    builder.finish(context).unwrap()
}

fn partitioning(prng: &mut Prng, rows: &[Vec<Value>]) -> Partitioning {
    let parts = 1 + prng.below(9) as usize;
    let column = |prng: &mut Prng| ColumnId(prng.below(9) as u16);
    match prng.below(4) {
        0 => Partitioning::RoundRobin { parts },
        1 => Partitioning::Hash { columns: vec![column(prng)], parts },
        2 => Partitioning::Hash { columns: vec![ColumnId(1), ColumnId(6)], parts },
        _ => {
            let mut bounds: Vec<i64> =
                (1..parts).map(|_| prng.below(rows.len() as u64 + 10) as i64).collect();
            bounds.sort_unstable();
            bounds.dedup();
            let bounds = bounds.into_iter().map(Value::Integer).collect();
            Partitioning::Range { column: ColumnId(0), bounds }
        }
    }
}

/// Checks that a table has these rows, in any order, and that what it says of itself is true.
fn check(table: &Table, rows: &[Vec<Value>]) {
    assert_eq!(table.rows() as usize, rows.len());
    let mut found: Vec<Vec<Value>> = (0..table.rows())
        .map(|row| (0..9).map(|it| table.value(ColumnId(it), row)).collect())
        .collect();
    let number = |it: &Vec<Value>| it[0].as_i128();
    found.sort_by_key(number);
    for (found, row) in found.iter().zip(rows) {
        assert!(found.iter().zip(row).all(|(a, b)| same(a, b)), "{found:?} {row:?}");
    }
    let arrow = table_to_arrow(table, 0..rows.len()).unwrap();
    assert_eq!(arrow.num_rows(), rows.len());
    for place in 0..9 {
        check_facts(table, place, rows);
    }
    check_parts(table, rows);
}

fn check_facts(table: &Table, place: usize, rows: &[Vec<Value>]) {
    let facts = &table.columns[place].statistics;
    let mut values: Vec<&Value> =
        rows.iter().map(|it| &it[place]).filter(|it| !it.is_null()).collect();
    assert_eq!(facts.nulls as usize, rows.len() - values.len());
    values.sort_by(|a, b| {
        let less = common::less(a, b);
        if less { std::cmp::Ordering::Less } else { common::less(b, a).cmp(&false) }
    });
    values.dedup_by(|a, b| same(a, b));
    if facts.distinct_exact {
        assert_eq!(facts.distinct as usize, values.len(), "column {place}");
    } else {
        let slack = 3 + values.len() as u64 / 10;
        assert!(facts.distinct.abs_diff(values.len() as u64) <= slack, "{facts:?}");
    }
    for (fact, value) in [(&facts.min, values.first()), (&facts.max, values.last())] {
        match (fact, value) {
            (Some(fact), Some(value)) => assert!(same(fact, value), "{fact:?} {value:?}"),
            (None, None) => {}
            other => panic!("column {place}: {other:?}"),
        }
    }
}

fn check_parts(table: &Table, rows: &[Vec<Value>]) {
    assert_eq!(table.parts().len(), table.partitioning().parts());
    let mut end = 0;
    for part in table.parts() {
        let positions = part.positions();
        assert!(positions.start >= end && positions.start % BLOCK_ROWS == 0);
        end = positions.end;
        for (place, column) in part.columns.iter().enumerate() {
            assert_eq!(column.rows(), part.rows());
            // Codes of the part mean in the table what they mean in the part.
            let domain = &table.columns[place];
            let (Encoding::Dictionary(own), Encoding::Dictionary(all)) =
                (&column.encoding, &domain.encoding)
            else {
                continue;
            };
            for code in 0..own.len() as u32 {
                let there = match part.translation(place) {
                    Some(translation) => translation.codes()[code as usize],
                    None => code,
                };
                assert_eq!(own.as_str(code), all.as_str(there));
            }
        }
    }
    let schema = schema();
    for (number, part) in table.parts().iter().enumerate() {
        for row in 0..part.rows().min(50) {
            let key: Vec<Value> = (table.partitioning().columns().iter())
                .map(|it| part.columns[it.index()].value(row))
                .collect();
            let found = table.partitioning().part_of(&schema, &key.iter().collect::<Vec<_>>());
            assert!(found.is_none_or(|it| it == number), "{key:?} of {} rows", rows.len());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn parts_hold_the_rows_of_the_whole(
        seed in any::<u64>(),
        count in prop_oneof![Just(0usize), Just(1), 2..40usize, 1000..6000usize],
        nulls in prop_oneof![Just(0u64), Just(20), Just(100)],
        threads in 1..4usize,
    ) {
        let mut prng = Prng::new(seed);
        let allocator = allocator_on(samples::four_sockets());
        let workers = Threads(threads);
        let context = BuildContext { parallel: &workers, ..BuildContext::serial(&allocator) };
        let mut all = rows(0, count, nulls, &mut prng);
        let cut = partitioning(&mut prng, &all);
        let design = TableDesign { partitioning: cut.clone(), ..TableDesign::default() };
        let built = table(&all, &BuildContext { design: &design, ..context });
        check(&built, &all);
        let whole = table(&all, &context);
        check(&whole, &all);
        let parted = whole.repartitioned(&cut, &[], &context).unwrap();
        check(&parted, &all);
        // Both ways lead to the same parts.
        for (a, b) in built.parts().iter().zip(parted.parts()) {
            prop_assert_eq!(a.rows(), b.rows());
        }
        let more = rows(count, prng.below(300) as usize, nulls, &mut prng);
        all.extend(more.clone());
        let grown = parted.append(&batches(&more), &context).unwrap();
        check(&grown, &all);
        prop_assert_eq!(grown.partitioning(), &cut);
        let other = partitioning(&mut prng, &all);
        check(&grown.repartitioned(&other, &[NodeId(2)], &context).unwrap(), &all);
        check(&grown.repartitioned(&Partitioning::None, &[], &context).unwrap(), &all);
    }

    #[test]
    fn any_place_leaves_the_rows_as_they_are(seed in any::<u64>(), count in 0..3000usize) {
        let mut prng = Prng::new(seed);
        let machine = match prng.below(3) {
            0 => samples::four_sockets(),
            1 => samples::sub_numa(),
            _ => samples::ring(),
        };
        let allocator = allocator_on(machine);
        let context = BuildContext::serial(&allocator);
        let all = rows(0, count, 15, &mut prng);
        let cut = partitioning(&mut prng, &all);
        let whole = table(&all, &context);
        let mut now = whole.repartitioned(&cut, &[], &context).unwrap();
        for _ in 0..4 {
            let placement = random_placement(&mut prng);
            let target = random_target(&now, &mut prng);
            now = now.placed(&target, &placement, &context).unwrap();
            check(&now, &all);
            check_places(&now);
        }
        let more = rows(count, 30, 15, &mut prng);
        let grown = now.append(&batches(&more), &context).unwrap();
        check(&grown, &[all, more].concat());
        check_places(&grown);
    }
}

fn random_placement(prng: &mut Prng) -> Placement {
    let nodes: Vec<NodeId> = match prng.below(3) {
        0 => Vec::new(),
        1 => vec![NodeId(prng.below(4) as u16)],
        _ => vec![NodeId(3), NodeId(1)],
    };
    match prng.below(7) {
        0 => Placement::Auto,
        1 => Placement::RoundRobin(nodes),
        2 => Placement::IndexVector(nodes),
        3 => Placement::Parts(nodes),
        4 => Placement::Interleaved(nodes),
        5 => Placement::Replicated(nodes),
        _ => Placement::Os,
    }
}

fn random_target(table: &Table, prng: &mut Prng) -> PlaceTarget {
    match prng.below(4) {
        0 => PlaceTarget::Table,
        1 => PlaceTarget::Column(ColumnId(prng.below(9) as u16)),
        2 => PlaceTarget::Part(prng.below(table.parts().len() as u64) as usize),
        _ => {
            let start = prng.below(table.rows() + 1);
            PlaceTarget::Rows(start..start + prng.below(table.rows() - start + 1))
        }
    }
}

/// Every page is where its map says.
fn check_places(table: &Table) {
    for component in table.components() {
        let map = component.segment.page_map();
        let found = component.segment.locate().unwrap();
        if map.pages() > 0 {
            assert_eq!(map.summary(), found.summary(), "{component:?}");
        }
    }
}

fn numbers(count: i64, allocator: &Allocator) -> Table {
    let rows: Vec<Value> = (0..count).map(Value::Integer).collect();
    common::build(DataType::BigInt, &rows, 5000, &BuildContext::serial(allocator)).unwrap()
}

#[test]
fn numbers_that_differ_beyond_64_bits_are_told_apart_in_parts() {
    let allocator = allocator_on(samples::four_sockets());
    // The first part holds the rows of a batch that fits 64 bits, amid the numbers of the other: there are neither two
    // dictionaries to merge nor ranges that lie apart.
    let cut = Partitioning::Range { column: ColumnId(0), bounds: vec![Value::Integer(777)] };
    let design = TableDesign { partitioning: cut, ..TableDesign::default() };
    let context = BuildContext { design: &design, ..BuildContext::serial(&allocator) };
    let mut all = rows(0, 2000, 0, &mut Prng::new(7));
    for (number, row) in all.iter_mut().enumerate() {
        let number = number as i128;
        let unscaled = if number < 777 { number % 50 } else { (number - 1000) << 64 };
        row[3] = Value::Decimal { unscaled, scale: 4 };
    }
    check(&table(&all, &context), &all);
}

#[test]
fn equal_keys_meet_whatever_type_they_have() {
    let allocator = allocator_on(samples::four_sockets());
    let context = BuildContext::serial(&allocator);
    let count = 5000i64;
    let hash = Partitioning::Hash { columns: vec![ColumnId(0)], parts: 7 };
    let of = |data_type: DataType, value: &dyn Fn(i64) -> Value| {
        let values: Vec<Value> = (0..count).map(value).collect();
        let table = common::build(data_type, &values, 900, &context).unwrap();
        table.repartitioned(&hash, &[], &context).unwrap()
    };
    let tables = [
        of(DataType::BigInt, &|it| Value::Integer(it)),
        of(DataType::Integer, &|it| Value::Integer(it)),
        of(DECIMAL, &|it| Value::Decimal { unscaled: i128::from(it) * 100, scale: 2 }),
        of(WIDE, &|it| Value::Decimal { unscaled: i128::from(it) * 10_000, scale: 4 }),
        of(DataType::Double, &|it| Value::Float(it as f64)),
    ];
    for part in 0..7 {
        let sums: Vec<i128> = (tables.iter())
            .map(|table| {
                let part = &table.parts()[part];
                (0..part.rows())
                    .map(|row| match part.columns[0].value(row) {
                        Value::Integer(it) => i128::from(it),
                        Value::Decimal { unscaled, scale } => unscaled / 10i128.pow(scale.into()),
                        Value::Float(it) => it as i128,
                        other => panic!("{other:?}"),
                    })
                    .sum()
            })
            .collect();
        assert!(sums.windows(2).all(|it| it[0] == it[1]), "{sums:?}");
        let rows = tables[0].parts()[part].rows();
        assert!((550..900).contains(&rows), "{rows} rows in part {part}");
        for table in &tables {
            assert_eq!(table.parts()[part].nodes(), [NodeId((part % 4) as u16)]);
            let nodes = table.parts()[part].columns[0].bytes_per_node();
            assert_eq!(nodes.iter().map(|it| it.0).collect::<Vec<_>>(), [NodeId(part as u16 % 4)]);
        }
    }
}

#[test]
fn null_is_in_the_first_part() {
    let allocator = allocator_on(samples::laptop());
    let context = BuildContext::serial(&allocator);
    let values: Vec<Value> = (0..100)
        .map(|it| match it % 3 {
            0 => Value::Null,
            _ => Value::Integer(it),
        })
        .collect();
    let table = common::build(DataType::BigInt, &values, 9, &context).unwrap();
    let bounds = vec![Value::Integer(50)];
    for cut in [
        Partitioning::Hash { columns: vec![ColumnId(0)], parts: 3 },
        Partitioning::Range { column: ColumnId(0), bounds },
    ] {
        let parted = table.repartitioned(&cut, &[], &context).unwrap();
        let nulls = |it: usize| parted.parts()[it].columns[0].statistics.nulls;
        assert_eq!((nulls(0), nulls(1)), (34, 0));
    }
}

#[test]
fn ranges_are_split_and_merged_and_other_parts_stay() {
    let allocator = allocator_on(samples::four_sockets());
    let context = BuildContext::serial(&allocator);
    let ints = |it: &[i64]| it.iter().map(|&it| Value::Integer(it)).collect::<Vec<_>>();
    let range = Partitioning::Range { column: ColumnId(0), bounds: ints(&[100, 200]) };
    let table = numbers(300, &allocator).repartitioned(&range, &[], &context).unwrap();
    let rows = |it: &Table| it.parts().iter().map(|it| it.rows()).collect::<Vec<_>>();
    let split = table.split_part(&Value::Integer(150), &context).unwrap();
    assert_eq!(rows(&split), [100, 50, 50, 100]);
    let shares = |a: usize, b: usize| {
        let iv = |it: &Table, part: usize| it.parts()[part].columns[0].iv().segment().clone();
        stdx::sync::Arc::ptr_eq(&iv(&table, a), &iv(&split, b))
    };
    assert!(shares(0, 0) && shares(2, 3) && !shares(1, 1));
    let merged = split.merge_parts(1, &context).unwrap();
    assert_eq!((rows(&merged), merged.partitioning()), (vec![100, 100, 100], &range));
    // An empty part is added and dropped again.
    let more = table.split_part(&Value::Integer(1000), &context).unwrap();
    assert_eq!(rows(&more), [100, 100, 100, 0]);
    assert_eq!(rows(&more.merge_parts(2, &context).unwrap()), [100, 100, 100]);
    let whole: Vec<Value> = (0..300).map(|it| merged.value(ColumnId(0), it)).collect();
    assert_eq!(whole, ints(&(0..300).collect::<Vec<_>>()));
    assert!(table.merge_parts(2, &context).is_err());
    assert!(table.split_part(&Value::Integer(200), &context).is_err());
    let round = table.repartitioned(&Partitioning::RoundRobin { parts: 2 }, &[], &context);
    let error = round.unwrap().merge_parts(0, &context).unwrap_err();
    assert_eq!(error.state, SqlState::FEATURE_NOT_SUPPORTED);
}

#[test]
fn what_cannot_be_cut_is_refused() {
    let allocator = allocator_on(samples::laptop());
    let context = BuildContext::serial(&allocator);
    let table = numbers(10, &allocator);
    let state = |cut: Partitioning| table.repartitioned(&cut, &[], &context).unwrap_err().state;
    let hash = |columns: Vec<ColumnId>, parts| Partitioning::Hash { columns, parts };
    assert_eq!(state(hash(vec![], 2)), SqlState::INVALID_PARAMETER);
    assert_eq!(state(hash(vec![ColumnId(0), ColumnId(0)], 2)), SqlState::INVALID_PARAMETER);
    assert_eq!(state(hash(vec![ColumnId(1)], 2)), SqlState::UNDEFINED_COLUMN);
    assert_eq!(state(hash(vec![ColumnId(0)], 0)), SqlState::INVALID_PARAMETER);
    assert_eq!(state(Partitioning::RoundRobin { parts: 5000 }), SqlState::INVALID_PARAMETER);
    let range = |bounds| Partitioning::Range { column: ColumnId(0), bounds };
    let falling = vec![Value::Integer(3), Value::Integer(3)];
    assert_eq!(state(range(falling)), SqlState::INVALID_PARAMETER);
    assert_eq!(state(range(vec![Value::Text("a".into())])), SqlState::DATATYPE_MISMATCH);
    let wrong = table.repartitioned(&Partitioning::None, &[NodeId(9)], &context).unwrap_err();
    assert!(wrong.message.contains("no NUMA node 9"), "{wrong}");
}
