//! Tables that change: whatever comes and goes, a version holds the rows that it should, and its facts are true of them.

mod common;

use std::collections::{HashMap, HashSet};

use common::{allocator_on, array_of, batch_of};
use hardware::samples;
use stdx::Prng;
use stdx::sync::Arc;
use storage::{
    BuildContext, ColumnSchema, Dictionary, Encoding, IndexKind, Part, Partitioning, Rules, Table,
    TableBuilder, TableDesign, TableIndex,
};
use types::{ColumnId, DataType, Value};

const DECIMAL: DataType = DataType::Decimal { precision: 38, scale: 2 };

type Row = Vec<Value>;

fn schema() -> Vec<ColumnSchema> {
    let types = [
        DataType::BigInt,
        DataType::Integer,
        DECIMAL,
        DataType::Double,
        DataType::Text,
        DataType::Text,
    ];
    let column = |(place, data_type): (usize, &DataType)| {
        ColumnSchema::new(format!("c{place}"), *data_type, true)
    };
    types.iter().enumerate().map(column).collect()
}

/// A row with a key: few numbers, wide decimals, floats, few texts and texts that hardly repeat; NULL among all of them.
fn row(key: u64, words: u64, prng: &mut Prng) -> Row {
    let float = [0.5, f64::NAN, -3.0, 1e300][prng.below(4) as usize];
    let values = [
        Value::Integer(prng.below(20) as i64 - 7),
        Value::Decimal { unscaled: i128::from(prng.below(50)) << prng.below(90), scale: 2 },
        Value::Float(float),
        Value::Text(format!("word {}", prng.below(words)).into()),
        Value::Text(format!("{} of {key}", prng.next_u64()).into()),
    ];
    let maybe = |it| if prng.below(9) == 0 { Value::Null } else { it };
    let mut row = vec![Value::Integer(key as i64)];
    row.extend(values.into_iter().map(maybe));
    row
}

fn batches(rows: &[Row]) -> Vec<arrow_array::RecordBatch> {
    let schema = schema();
    let batch = |rows: &[Row]| {
        let column = |(place, schema): (usize, &ColumnSchema)| {
            let values: Vec<Value> = rows.iter().map(|it| it[place].clone()).collect();
            (schema.clone(), array_of(schema.data_type, &values))
        };
        batch_of(&schema.iter().enumerate().map(column).collect::<Vec<_>>())
    };
    rows.chunks(97).map(batch).collect()
}

fn shown(row: &[Value]) -> String {
    format!("{row:?}")
}

fn is_live(part: &Part, row: usize) -> bool {
    part.deletions().is_none_or(|it| !it.contains(row))
}

/// The rows that are there with their positions, as the columns of the table tell them.
fn rows_of(table: &Table) -> Vec<(u64, Row)> {
    let mut rows = Vec::new();
    for part in table.parts() {
        for at in (0..part.rows()).filter(|it| is_live(part, *it)) {
            let position = part.positions().start + at;
            let value = |(place, column): (usize, &Arc<storage::Column>)| {
                let own = column.value(at);
                let common = &table.columns[place];
                let code = || column.iv().get(at) as u32;
                let told = match &common.encoding {
                    _ if own.is_null() => own.clone(),
                    Encoding::Dictionary(Dictionary::Text(_)) => {
                        let code = part
                            .translation(place)
                            .map_or_else(code, |it| it.codes()[code() as usize]);
                        common.value_of_code(code)
                    }
                    Encoding::Plain(texts) => Value::Text(texts.get(position).into()),
                    _ => own.clone(),
                };
                assert_eq!(shown(&[told]), shown(std::slice::from_ref(&own)), "column {place}");
                own
            };
            let row = part.columns.iter().enumerate().map(value).collect();
            rows.push((position as u64, row));
        }
    }
    assert_eq!(rows.len() as u64, table.rows());
    assert!(rows.windows(2).all(|it| it[0].0 < it[1].0));
    rows
}

/// Checks all facts about the columns of a table.
fn check_facts(table: &Table, rows: &[(u64, Row)]) {
    for (place, column) in table.columns.iter().enumerate() {
        let facts = &column.statistics;
        let values: Vec<&Value> = rows.iter().map(|it| &it.1[place]).collect();
        let nulls = values.iter().filter(|it| it.is_null()).count() as u64;
        let filled: Vec<&Value> = values.iter().copied().filter(|it| !it.is_null()).collect();
        let distinct: HashSet<String> = filled.iter().map(|it| shown(&[(*it).clone()])).collect();
        assert!(facts.nulls >= nulls && (facts.widened || facts.nulls == nulls), "column {place}");
        if facts.distinct_exact {
            assert_eq!(facts.distinct, distinct.len() as u64, "column {place}");
        }
        let number = |it: &Value| it.as_i128();
        let bounds = facts.min.as_ref().and_then(number).zip(facts.max.as_ref().and_then(number));
        let numbers: Vec<i128> = filled.iter().filter_map(|it| number(it)).collect();
        if let Some((min, max)) = bounds {
            assert!(numbers.iter().all(|it| (min..=max).contains(it)), "column {place}");
            let ends = numbers.iter().min().zip(numbers.iter().max());
            assert!(facts.widened || ends == Some((&min, &max)), "column {place}");
        }
        if facts.sorted && column.data_type.is_integer() {
            assert!(nulls == 0 && numbers.is_sorted(), "column {place}");
        }
        check_dense_key(table, place, rows);
    }
}

/// Checks that a dense key, if a column is one, leads to the rows of the parts that the table was built of.
fn check_dense_key(table: &Table, place: usize, rows: &[(u64, Row)]) {
    let Some(key) = table.dense_key(ColumnId(place as u16)) else { return };
    let mut first = 0;
    for part in &table.parts()[..table.partitioning().parts()] {
        let positions = part.positions();
        for (position, row) in rows.iter().filter(|it| positions.contains(&(it.0 as usize))) {
            let number = first + *position as usize - positions.start;
            let value = row[place].as_i128().expect("a key is a number");
            let offset = (value - i128::from(key.min)) as usize;
            let found = key.places.map_or(offset, |it| it.rows()[offset] as usize);
            assert_eq!(found, number, "column {place}, key {value}");
        }
        first += part.rows();
    }
    assert_eq!(first, key.rows, "column {place}");
}

fn built(rows: &[Row], keyed: bool, context: &BuildContext<'_>) -> Table {
    let builder = TableBuilder::new("t", schema());
    for (order, batch) in batches(rows).into_iter().enumerate() {
        builder.push(order as u64, batch).unwrap();
    }
    let rule = |name: &str, column: u16, kind| TableIndex {
        name: name.into(),
        columns: vec![ColumnId(column)],
        kind,
        deferral: types::Deferral::None,
        nulls_equal: false,
        included: Vec::new(),
        orders: Vec::new(),
        method: types::IndexMethod::default(),
    };
    let keys = [rule("t_pkey", 0, IndexKind::PrimaryKey), rule("words", 4, IndexKind::Index)];
    let indexes = if keyed { keys.to_vec() } else { Vec::new() };
    let rules = Arc::new(Rules { indexes, ..Default::default() });
    builder.finish(context).unwrap().with_rules(rules, context).unwrap()
}

/// Rows have ids of their own, and those that were there before have those that they had.
fn check_ids(table: &Table, rows: &[(u64, Row)], known: &mut HashMap<u64, String>) {
    let positions: Vec<u64> = rows.iter().map(|it| it.0).collect();
    let ids = table.row_ids(&positions);
    let mut found: Vec<(u64, u64)> = ids.iter().copied().zip(positions).collect();
    found.sort_unstable();
    assert!(found.windows(2).all(|it| it[0].0 < it[1].0), "an id stands twice");
    let (rising, positions): (Vec<u64>, Vec<Option<u64>>) =
        found.into_iter().map(|it| (it.0, Some(it.1))).unzip();
    assert_eq!(table.positions_of(&rising), positions);
    if table.keeps_row_ids() {
        let mut unknown = known.len();
        for (id, (_, row)) in ids.iter().zip(rows) {
            if let Some(before) = known.get(id) {
                assert_eq!(*before, shown(row));
                unknown -= 1;
            }
        }
        let there: HashSet<u64> = ids.iter().copied().collect();
        let mut gone: Vec<u64> = known.keys().copied().filter(|it| !there.contains(it)).collect();
        gone.sort_unstable();
        assert_eq!(gone.len(), unknown);
        assert!(
            table.positions_of(&gone).iter().all(Option::is_none),
            "what has gone is not there"
        );
        let texts: HashSet<String> = rows.iter().map(|it| shown(&it.1)).collect();
        assert!(gone.iter().all(|it| !texts.contains(&known[it])), "a row has lost its id");
    }
    *known = ids.into_iter().zip(rows.iter().map(|it| shown(&it.1))).collect();
}

/// Two versions differ in what went and what came, wherever the rows lie.
fn check_difference(old: &Table, new: &Table, gone: &[u64], rows: &[(u64, Row)]) {
    if !old.keeps_row_ids() {
        return;
    }
    let (mut went, mut came) = old.difference(new, 10_000).unwrap();
    went.sort_unstable();
    came.sort_unstable();
    assert_eq!(went, gone);
    let positions: Vec<u64> = rows.iter().map(|it| it.0).collect();
    let ids: HashSet<u64> = rows_of(old).iter().flat_map(|it| old.row_ids(&[it.0])).collect();
    let ids_now = new.row_ids(&positions).into_iter().zip(positions);
    let wanted: Vec<u64> = ids_now.filter(|it| !ids.contains(&it.0)).map(|it| it.1).collect();
    assert_eq!(came, wanted);
    let few = went.len() + came.len();
    assert!(few == 0 || old.difference(new, few - 1).is_none());
}

fn random_changes(seed: u64, partitioning: Partitioning, keyed: bool) {
    let allocator = allocator_on(samples::four_sockets());
    let design = TableDesign { partitioning, ..TableDesign::default() };
    let context =
        BuildContext { design: &design, delta_from: 0, ..BuildContext::serial(&allocator) };
    let mut prng = Prng::new(seed);
    let mut next = 1 + prng.below(2_000);
    let mut model: Vec<Row> = (1..next).map(|it| row(it, 9, &mut prng)).collect();
    let mut table = built(&model, keyed, &context);
    let mut known: HashMap<u64, String> = HashMap::new();
    for step in 0..20 {
        let there = rows_of(&table);
        check_ids(&table, &there, &mut known);
        let share = [0, 0, 2, 50][prng.below(4) as usize];
        let (mut gone, mut left) = (Vec::new(), Vec::new());
        for (position, row) in there {
            match prng.below(1_000) < share {
                true => gone.push(position),
                false => left.push(row),
            }
        }
        let count = [0, 1, 1, 1, 3, 3, 40, 150, 900][prng.below(9) as usize];
        let words = 9 + prng.below(3) * step;
        let mut new: Vec<Row> = (next..next + count).map(|it| row(it, words, &mut prng)).collect();
        next += count;
        // Keys that went may come again; those that are there may not.
        let taken: HashSet<String> = left.iter().map(|it| shown(&it[..1])).collect();
        let again: Vec<u64> = (0..3).map(|_| 1 + prng.below(next)).collect();
        let free = |it: &u64| !taken.contains(&shown(&[Value::Integer(*it as i64)]));
        let mut again: Vec<u64> =
            again.into_iter().filter(free).filter(|it| *it < next - count).collect();
        again.sort_unstable();
        again.dedup();
        new.extend(again.into_iter().map(|it| row(it, words, &mut prng)));
        let changed = table.changed(&gone, &batches(&new), &context).unwrap();
        left.extend(new);
        model = left;
        let there = rows_of(&changed);
        assert_eq!(changed.contradictions(&context).unwrap(), [""; 0]);
        let mut found: Vec<String> = there.iter().map(|it| shown(&it.1)).collect();
        let mut wanted: Vec<String> = model.iter().map(|it| shown(it)).collect();
        found.sort();
        wanted.sort();
        assert_eq!(found, wanted, "seed {seed}, step {step}");
        check_facts(&changed, &there);
        check_difference(&table, &changed, &gone, &there);
        if let Some(taken) =
            model.get(prng.below(model.len().max(1) as u64) as usize).filter(|_| keyed)
        {
            let twice =
                changed.changed(&[], &batches(std::slice::from_ref(taken)), &context).unwrap_err();
            assert_eq!(twice.state.0, "23505", "seed {seed}, step {step}");
        }
        table = changed;
    }
    check_ids(&table, &rows_of(&table), &mut known);
    let merged = table.merged(&context).unwrap();
    assert!(!merged.has_changed());
    let there = rows_of(&merged);
    check_ids(&merged, &there, &mut known);
    assert_eq!(there.len(), model.len());
    check_facts(&merged, &there);
}

#[test]
fn rows_and_facts_are_those_of_the_version() {
    for seed in 0..6 {
        random_changes(seed, Partitioning::None, seed % 2 == 0);
        let columns = vec![ColumnId(0)];
        random_changes(seed, Partitioning::Hash { columns, parts: 3 }, seed % 2 == 1);
    }
    random_changes(9, Partitioning::RoundRobin { parts: 2 }, true);
    let bounds = vec![Value::Integer(200), Value::Integer(900)];
    random_changes(10, Partitioning::Range { column: ColumnId(0), bounds }, false);
}

#[test]
fn deltas_are_few_and_a_table_that_changed_much_is_put_together_anew() {
    let allocator = allocator_on(samples::laptop());
    let context = BuildContext { delta_from: 0, ..BuildContext::serial(&allocator) };
    let keys = |keys: std::ops::Range<i64>| {
        let keys: Vec<Value> = keys.map(Value::Integer).collect();
        let schema = ColumnSchema::new("k", DataType::BigInt, false);
        batch_of(&[(schema, array_of(DataType::BigInt, &keys))])
    };
    let builder = TableBuilder::new("t", vec![ColumnSchema::new("k", DataType::BigInt, false)]);
    builder.push(0, keys(0..5_000)).unwrap();
    let mut table = builder.finish(&context).unwrap();
    let (mut most, mut rewritten) = (0, 0);
    for key in 5_000..9_200 {
        let before = table.parts().len();
        table = table.changed(&[], &[keys(key..key + 1)], &context).unwrap();
        assert!(table.is_key(ColumnId(0)));
        most = most.max(table.parts().len());
        rewritten += usize::from(before > 1 && table.parts().len() == 1);
    }
    // The main, four that tails were merged into, and seven tails.
    assert_eq!(most, 12);
    assert_eq!((rewritten, table.rows()), (1, 9_200), "once 4,096 had come");
    let few = BuildContext { delta_from: 1 << 20, ..context };
    let small = table.changed(&[5], &[keys(9_300..9_302)], &few).unwrap();
    assert!(!small.has_changed(), "a small table is put together anew at once");
    let replaced = table.changed(&[5], &[keys(5..6)], &few).unwrap();
    assert!(replaced.has_changed(), "but where rows come in the place of others");
}

#[test]
fn a_tail_takes_rows_and_versions_before_do_not_see_them() {
    let allocator = allocator_on(samples::laptop());
    let context = BuildContext { delta_from: 0, ..BuildContext::serial(&allocator) };
    let mut prng = Prng::new(7);
    let rows: Vec<Row> = (1..500).map(|it| row(it, 9, &mut prng)).collect();
    let table = built(&rows, true, &context);
    let (mut versions, mut wanted) = (vec![table], vec![rows]);
    for key in 500..500 + storage::TAIL_ROWS as u64 + 3 {
        // From time to time a text that the tail's dictionary does not have.
        let new = row(key, 9 + key / 30, &mut prng);
        let last = versions[versions.len() - 1].changed(
            &[],
            &batches(std::slice::from_ref(&new)),
            &context,
        );
        let last = last.unwrap();
        assert_eq!(last.parts().len(), 2 + usize::from(key >= 500 + storage::TAIL_ROWS as u64));
        let mut rows = wanted[wanted.len() - 1].clone();
        rows.push(new);
        versions.push(last);
        wanted.push(rows);
    }
    for (version, wanted) in versions.iter().zip(&wanted) {
        let found: Vec<String> = rows_of(version).iter().map(|it| shown(&it.1)).collect();
        let wanted: Vec<String> = wanted.iter().map(|it| shown(it)).collect();
        assert_eq!(found, wanted);
    }
    let last = &versions[versions.len() - 1];
    assert_eq!(last.contradictions(&context).unwrap(), [""; 0]);
    let taken = &wanted[wanted.len() - 1][520..521];
    let twice = last.changed(&[], &batches(taken), &context).unwrap_err();
    assert_eq!(twice.state.0, "23505", "a key of the tail");
}
