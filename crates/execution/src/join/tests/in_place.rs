//! A stored table that finds its rows by key, against the table that building makes of its rows.

use memory::Workspace;
use plan::{HashBuild, Scan};
use stdx::Prng;
use storage::{Partitioning, Table};
use types::{ColumnId, TableId};

use super::*;
use crate::join::InPlace;
use crate::scan::decode::{self, Progression};
use crate::testing::{changed, cut, rows_of, stored, token};

const TYPES: [DataType; 4] = [DataType::BigInt, DataType::BigInt, DataType::Text, DataType::BigInt];

/// Keys from `first` on, evenly spaced numbers, texts with NULL, numbers with NULL.
fn table(rows: usize, first: i64, step: i64) -> Table {
    stored(&columns(rows, first, step), 5_000)
}

/// The same table, cut into so many parts by its key.
fn in_parts(table: &Table, parts: usize) -> Table {
    cut(table, Partitioning::Hash { columns: vec![ColumnId(0)], parts })
}

/// The positions of the rows with some keys.
fn positions(table: &Table, keys: &[i64]) -> Vec<u64> {
    let mut found = Vec::new();
    for part in table.parts() {
        let key = |row: usize| part.columns[0].value(row).as_i128().unwrap() as i64;
        let there = (0..part.rows()).filter(|it| keys.contains(&key(*it)));
        found.extend(there.map(|it| (part.positions().start + it) as u64));
    }
    found
}

fn columns(rows: usize, first: i64, step: i64) -> Vec<(DataType, Vec<Value>)> {
    let mut prng = Prng::new(rows as u64);
    let number = |it: i64| Value::Integer(it);
    let mut columns: Vec<Vec<Value>> = vec![Vec::new(); 4];
    for row in 0..rows as i64 {
        columns[0].push(number(first + row * step));
        columns[1].push(number(100 * (1 + prng.below(50) as i64)));
        let text = format!("text {}", prng.below(9));
        columns[2].push(if prng.below(5) == 0 { Value::Null } else { Value::Text(text.into()) });
        let value = prng.below(1 << 40) as i64;
        columns[3].push(if prng.below(5) == 0 { Value::Null } else { number(value) });
    }
    TYPES.into_iter().zip(columns).collect()
}

fn scan() -> Scan {
    Scan {
        table: TableId(0),
        name: "t".into(),
        columns: (0..4).map(ColumnId).collect(),
        column_names: Vec::new(),
        filters: Vec::new(),
        transfers: Vec::new(),
        output: (0..4).collect(),
        index: None,
    }
}

fn hash_build() -> HashBuild {
    let column = |it: usize| Expr::column(it, TYPES[it]);
    let payload = (1..4).map(column).collect();
    HashBuild { keys: vec![column(0)], payload, unique: true, keep_null_keys: false }
}

fn in_place(table: &Table) -> Option<Arc<JoinTable>> {
    let source = InPlace::of(&scan(), &hash_build(), table, &Workspace::heap())?.unwrap();
    assert!(source.ranges().is_empty());
    match source.sink().finish(&Serial(1)).unwrap() {
        State::Table(build) => build.of_part(0).first().map(|it| (*it).clone()),
        _ => panic!("a build leaves a table"),
    }
}

/// All rows of the table as one side of a join.
fn side(table: &Table) -> Side {
    let all: Vec<u32> = (0..table.rows() as u32).collect();
    let rows = decode::Rows::Places(&all);
    let column = |it: u16| {
        let column = table.column(ColumnId(it));
        (decode::shape(column), decode::pick(column, None, 0, all.len(), &rows))
    };
    Side::new((0..4).map(column).collect(), 1000)
}

fn tokens(layout: &Layout, batches: &[Batch]) -> Vec<Vec<String>> {
    let rows = rows_of(layout, batches).into_iter();
    let mut rows: Vec<Vec<String>> = rows.map(|it| it.iter().map(token).collect()).collect();
    rows.sort();
    rows
}

#[test]
fn rows_found_by_number_are_those_that_a_hash_table_finds() {
    for (rows, first, parts) in
        [(1, 0, 1), (300, -20, 1), (9_000, 5, 1), (1, 3, 2), (300, -20, 3), (9_000, 5, 4)]
    {
        let table = table(rows, first, 1);
        let mut prng = Prng::new(7);
        let keys: Vec<Option<i64>> = (0..6_000)
            .map(|_| match prng.below(9) {
                0 => None,
                1 => Some(prng.next_u64() as i64),
                _ => Some(first - 10 + prng.below(rows as u64 + 20) as i64),
            })
            .collect();
        let probes = Side::new(vec![integers(&keys)], 700);
        let found = match parts {
            1 => in_place(&table).unwrap(),
            _ => in_place(&in_parts(&table, parts)).unwrap(),
        };
        let how = Build {
            keys: &[0],
            payload: &[1, 2, 3],
            unique: true,
            keep_null_keys: false,
            structure: Structure::Hashed,
        };
        let built = build(&side(&table), how, &Serial(2));
        assert_eq!(found.describe(), format!("the stored table, {rows} rows"));
        for kind in KINDS {
            let mut join = join(kind, &probes.layout, &[0], 3);
            join.track_matches = kind == JoinKind::Left;
            let (layout, ours) = probe(&probes, &join, &found, 2);
            let (other, theirs) = probe(&probes, &join, &built, 2);
            assert_eq!(tokens(&layout, &ours), tokens(&other, &theirs), "{kind:?} of {rows}");
        }
        for matched in [false, true] {
            let count = |table: &Arc<JoinTable>| build_rows(table, matched).len();
            assert_eq!(count(&found), count(&built), "{matched} of {rows}");
        }
        let (ours, theirs) = (found.transfer().unwrap(), built.transfer().unwrap());
        assert_eq!((ours.min, ours.max, ours.rows), (theirs.min, theirs.max, theirs.rows));
    }
}

#[test]
fn rows_of_deltas_are_found_and_rows_that_have_gone_are_not() {
    let whole = table(9_000, 5, 1);
    rows_of_changed_tables(&whole, &whole);
    rows_of_changed_tables(&whole, &in_parts(&whole, 4));
}

/// Finds rows of a table that is changed, and of the same table in one piece that is changed alike and put together anew.
fn rows_of_changed_tables(whole: &Table, table: &Table) {
    let mut prng = Prng::new(8);
    let gone: Vec<i64> = (5..9_005).filter(|_| prng.below(40) == 0).collect();
    // Some of those that went, and others behind all.
    let mut new = columns(gone.len() + 50, 9_005, 1);
    for (key, gone) in new[0].1.iter_mut().zip(gone.iter().step_by(2)) {
        *key = Value::Integer(*gone);
    }
    let [ours, _] = changed(table, &positions(table, &gone), &new);
    let [_, merged] = changed(whole, &positions(whole, &gone), &new);
    let keys: Vec<Option<i64>> = (0..6_000).map(|_| Some(prng.below(9_500) as i64)).collect();
    let probes = Side::new(vec![integers(&keys)], 700);
    let found = in_place(&ours).unwrap();
    let how = Build {
        keys: &[0],
        payload: &[1, 2, 3],
        unique: true,
        keep_null_keys: false,
        structure: Structure::Hashed,
    };
    let built = build(&side(&merged), how, &Serial(2));
    for kind in KINDS {
        let mut join = join(kind, &probes.layout, &[0], 3);
        join.track_matches = kind == JoinKind::Left;
        let (layout, ours) = probe(&probes, &join, &found, 2);
        let (other, theirs) = probe(&probes, &join, &built, 2);
        assert_eq!(tokens(&layout, &ours), tokens(&other, &theirs), "{kind:?}");
    }
    for matched in [false, true] {
        let count = |table: &Arc<JoinTable>| build_rows(table, matched).len();
        assert_eq!(count(&found), count(&built), "{matched}");
    }
    // A key that comes twice cannot be found by number.
    let twice = columns(1, 7, 1);
    let [ours, _] = changed(table, &[], &twice);
    assert!(in_place(&ours).is_none());
}

#[test]
fn only_whole_tables_whose_keys_rise_by_one_are_found_by_number() {
    assert!(in_place(&in_parts(&table(300, 7, 1), 3)).is_some());
    assert!(in_place(&in_parts(&table(300, 7, -1), 3)).is_some(), "in any order");
    assert!(in_place(&in_parts(&table(300, 7, 2), 3)).is_none(), "keys with gaps");
    assert!(in_place(&table(300, 7, 1)).is_some());
    assert!(in_place(&table(300, 7, 2)).is_none(), "keys with gaps");
    assert!(in_place(&table(300, 7, -1)).is_none(), "keys that fall");
    let (table, build) = (table(300, 7, 1), hash_build());
    let filtered = Scan { filters: vec![Expr::column(0, DataType::Boolean)], ..scan() };
    assert!(InPlace::of(&filtered, &build, &table, &Workspace::heap()).is_none());
    let two = HashBuild { keys: vec![build.keys[0].clone(); 2], ..build.clone() };
    assert!(InPlace::of(&scan(), &two, &table, &Workspace::heap()).is_none());
    let computed = HashBuild {
        payload: vec![Expr::literal(Value::Integer(1), DataType::BigInt)],
        ..build.clone()
    };
    assert!(InPlace::of(&scan(), &computed, &table, &Workspace::heap()).is_none());
}

#[test]
fn evenly_spaced_values_need_no_dictionary() {
    let table = table(9_000, 3, 1);
    let column = table.column(ColumnId(1));
    let even = Progression::of(column);
    assert!(even.is_some(), "fifty values a hundred apart");
    assert_eq!(Progression::of(table.column(ColumnId(3))), None, "any values, and NULL");
    let places: Vec<u32> = (0..9_000).filter(|it| it % 7 == 2).collect();
    for rows in [decode::Rows::Places(&places), decode::Rows::Marked(&[u64::MAX; 64], 4096)] {
        let pick = |even| decode::pick(column, even, 0, 4096, &rows);
        assert_eq!(pick(even), pick(None));
    }
}
