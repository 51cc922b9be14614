//! Scans of tables in parts and under every placement, against the same rows as values.

use hardware::{NodeId, samples};
use memory::Allocator;
use plan::{BinaryOperator, Expr, ExprKind};
use simulator::SimulatedMachine;
use stdx::Prng;
use storage::{BuildContext, Partitioning, PlaceTarget, Placement};
use types::{ColumnId, Value};

use super::tests::{Stored, binary, boolean, random_condition, random_table};
use super::*;
use crate::testing::{context, token};

fn allocator() -> Allocator {
    Allocator::new(SimulatedMachine::new(samples::four_sockets(), 5))
}

/// A way to cut a table of [`random_table`], by a column of any encoding.
fn random_partitioning(stored: &Stored, prng: &mut Prng) -> Partitioning {
    let parts = 1 + prng.below(7) as usize;
    let columns = stored.types.len() as u64;
    let any = |prng: &mut Prng| ColumnId(prng.below(columns) as u16);
    match prng.below(4) {
        0 => Partitioning::RoundRobin { parts },
        1 => Partitioning::Hash { columns: vec![any(prng)], parts },
        2 => {
            let first = any(prng);
            let second = ColumnId((first.0 + 1) % columns as u16);
            Partitioning::Hash { columns: vec![first, second], parts }
        }
        _ => {
            let column = any(prng);
            let values = &stored.columns[column.index()];
            let mut bounds: Vec<Value> = Vec::new();
            for _ in 1..parts {
                let row = prng.below(values.len().max(1) as u64) as usize;
                bounds.extend(values.get(row).filter(|it| !it.is_null()).cloned());
            }
            let key = |it: &Value| match it {
                Value::Float(it) => storage::word_of_float(*it),
                _ => 0,
            };
            bounds.sort_by(|a, b| a.compare(b).unwrap().then(key(a).cmp(&key(b))));
            bounds.sort_by_key(key);
            bounds.dedup_by(|a, b| token(a) == token(b));
            Partitioning::Range { column, bounds }
        }
    }
}

fn sorted(rows: impl Iterator<Item = Vec<String>>) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = rows.collect();
    rows.sort();
    rows
}

/// Compares rows as sets, since parts change their order.
fn check(stored: &Stored, table: &Arc<Table>, filters: &[Expr]) {
    let there = Stored {
        types: stored.types.clone(),
        columns: stored.columns.clone(),
        table: table.clone(),
    };
    let output: Vec<usize> = (0..stored.types.len()).collect();
    let tokens = |row: &Vec<Value>| row.iter().map(|it| format!("{:?}", token(it))).collect();
    let found = sorted(there.scan(filters, &output).iter().map(tokens));
    let row = |row: usize| stored.columns.iter().map(|it| it[row].clone()).collect();
    let expected = sorted(stored.expected(filters).into_iter().map(row).map(|it| tokens(&it)));
    assert_eq!(found.len(), expected.len(), "{:?} {filters:?}", table.partitioning());
    assert!(found == expected, "{:?} {filters:?}", table.partitioning());
    let mut used = std::collections::BTreeSet::new();
    filters.iter().for_each(|it| it.collect_columns(&mut used));
    for column in used {
        if let Some(found) = there.index_scan(filters, &output, column) {
            let found = sorted(found.iter().map(tokens));
            assert!(found == expected, "index on {column}, {:?} {filters:?}", table.partitioning());
        }
    }
}

#[test]
fn parts_and_places_change_no_row() {
    let mut prng = Prng::new(21);
    let allocator = allocator();
    for rows in [0, 1, 64, 3000] {
        for nulls in [false, true] {
            let stored = random_table(rows, nulls, &mut prng);
            for _ in 0..if rows > 1000 { 5 } else { 8 } {
                let partitioning = random_partitioning(&stored, &mut prng);
                let build = BuildContext::serial(&allocator);
                let parted = stored.table.repartitioned(&partitioning, &[], &build).unwrap();
                let nodes = vec![NodeId(3), NodeId(1)];
                let placement = match prng.below(5) {
                    0 => Placement::Replicated(vec![]),
                    1 => Placement::IndexVector(nodes),
                    2 => Placement::Interleaved(nodes),
                    3 => Placement::Os,
                    _ => Placement::RoundRobin(nodes),
                };
                let target = match prng.below(3) {
                    0 => PlaceTarget::Part(prng.below(parted.parts().len() as u64) as usize),
                    1 => PlaceTarget::Column(ColumnId(prng.below(13) as u16)),
                    _ => PlaceTarget::Table,
                };
                let placed = Arc::new(parted.placed(&target, &placement, &build).unwrap());
                check(&stored, &placed, &[]);
                for _ in 0..4 {
                    let filters: Vec<Expr> = (0..1 + prng.below(3))
                        .map(|_| random_condition(&stored, 2, &mut prng))
                        .collect();
                    check(&stored, &placed, &filters);
                }
            }
        }
    }
}

fn numbers(rows: usize) -> Stored {
    let numbers = (0..rows as i64).map(Value::Integer).collect();
    let texts = (0..rows).map(|it| crate::testing::text(format!("text {it} that is alone")));
    Stored::new(vec![(types::DataType::BigInt, numbers), (types::DataType::Text, texts.collect())])
}

fn source(table: &Arc<Table>, filters: Vec<Expr>) -> ScanSource {
    let scan = Scan {
        table: types::TableId(0),
        name: "t".into(),
        columns: vec![ColumnId(0), ColumnId(1)],
        column_names: Vec::new(),
        filters,
        transfers: vec![],
        output: vec![0],
        index: None,
    };
    ScanSource::new(&scan, table.clone(), &States::of(&[])).unwrap()
}

#[test]
fn parts_that_cannot_hold_a_row_are_pruned() {
    let stored = numbers(20_000);
    let allocator = allocator();
    let build = BuildContext::serial(&allocator);
    let equal = |value: i64| {
        let literal = Expr::literal(Value::Integer(value), types::DataType::BigInt);
        binary(BinaryOperator::Equal, stored.column(0), literal)
    };
    let list = |values: &[i64]| {
        boolean(ExprKind::InList {
            operand: Box::new(stored.column(0)),
            list: values.iter().map(|&it| Value::Integer(it)).collect(),
            negated: false,
        })
    };
    let hash = Partitioning::Hash { columns: vec![ColumnId(0)], parts: 8 };
    let hashed = Arc::new(stored.table.repartitioned(&hash, &[], &build).unwrap());
    assert!(source(&hashed, vec![equal(77)]).describe().ends_with("7 of 8 parts pruned"));
    assert_eq!(source(&hashed, vec![equal(77)]).ranges().len(), 1);
    assert!(source(&hashed, vec![equal(20_001)]).ranges().is_empty());
    let two = source(&hashed, vec![list(&[77, 77, 1])]);
    assert!(two.ranges().len() <= 2, "{}", two.describe());
    check(&stored, &hashed, &[list(&[77, 78, 100, 19_999, 50_000])]);
    let bounds = [5000, 10_000, 10_000_000].map(Value::Integer).to_vec();
    let range = Partitioning::Range { column: ColumnId(0), bounds };
    let ranged = Arc::new(stored.table.repartitioned(&range, &[], &build).unwrap());
    let parts: Vec<usize> = ranged.parts().iter().map(storage::Part::rows).collect();
    assert_eq!(parts, [5000, 5000, 10_000, 0]);
    assert!(source(&ranged, vec![equal(5000)]).describe().ends_with("3 of 4 parts pruned"));
    // Plain texts have no codes, but a least and a greatest.
    let text = Expr::literal(crate::testing::text("zzz"), types::DataType::Text);
    let later = binary(BinaryOperator::Greater, stored.column(1), text);
    assert!(source(&ranged, vec![later]).ranges().is_empty());
    check(&stored, &ranged, &[equal(5000)]);
}

#[test]
fn morsels_are_where_their_part_is_and_copies_are_everywhere() {
    let stored = numbers(200_000);
    let allocator = allocator();
    let build = BuildContext::serial(&allocator);
    let cut = Partitioning::RoundRobin { parts: 4 };
    let parted = Arc::new(stored.table.repartitioned(&cut, &[], &build).unwrap());
    let scan = source(&parted, vec![]);
    let nodes: Vec<_> = scan.ranges().iter().map(|it| it.node).collect();
    assert_eq!(nodes, [0, 1, 2, 3].map(|it| Some(NodeId(it))));
    for range in scan.ranges() {
        let bytes = scan.bytes_read(range.start..range.end, NodeId(0));
        assert_eq!(bytes.len(), 1);
        assert_eq!(Some(bytes[0].0), range.node);
    }
    let copied = parted.placed(&PlaceTarget::Table, &Placement::Replicated(vec![]), &build);
    let copied = Arc::new(copied.unwrap());
    let scan = source(&copied, vec![]);
    assert!(scan.ranges().iter().all(|it| it.node.is_none()));
    for node in [0, 1, 2, 3].map(NodeId) {
        let range = scan.ranges()[2];
        let bytes = scan.bytes_read(range.start..range.end, node);
        assert_eq!(bytes.iter().map(|it| it.0).collect::<Vec<_>>(), [node]);
        let mut rows = 0;
        let mut next = |batch: Batch| {
            rows += batch.rows;
            Ok(())
        };
        let worker = WorkContext { node, ..context(0) };
        scan.produce(range.start..range.end, &worker, &mut next).unwrap();
        assert_eq!(rows as u64, range.end - range.start);
    }
}

#[test]
fn a_split_index_vector_counts_bytes_where_they_are() {
    let stored = numbers(400_000);
    let allocator = allocator();
    let build = BuildContext::serial(&allocator);
    let split = Placement::IndexVector(vec![NodeId(2), NodeId(0)]);
    // The table is of another machine until it is built on this one.
    let here = stored.table.repartitioned(&Partitioning::None, &[], &build).unwrap();
    let placed = here.placed(&PlaceTarget::Table, &split, &build).unwrap();
    let scan = source(&Arc::new(placed), vec![]);
    let nodes: Vec<_> = scan.ranges().iter().map(|it| it.node).collect();
    assert_eq!(nodes, [Some(NodeId(2)), Some(NodeId(0))]);
    let all = scan.bytes_read(0..400_000, NodeId(1));
    let bytes: u64 = all.iter().map(|it| it.1).sum();
    assert_eq!((all.len(), bytes), (2, 400_000 * 19 / 8));
    let share = all.iter().map(|it| it.1).min().unwrap() as f64 / bytes as f64;
    assert!(share > 0.4, "{all:?}");
}
