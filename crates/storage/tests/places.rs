//! Columns on machines of several nodes: where their bytes are, and that the place changes no value.

mod common;

use std::collections::BTreeSet;

use common::{allocator_on, array_of, batch_of, build, check};
use hardware::{NodeId, samples};
use stdx::Bytes;
use storage::{BuildContext, ColumnSchema, TableBuilder};
use types::{DataType, SqlState, Value};

#[test]
fn columns_are_dealt_round_the_nodes() {
    let allocator = allocator_on(samples::four_sockets());
    let schema: Vec<ColumnSchema> =
        (0..6).map(|it| ColumnSchema::new(format!("c{it}"), DataType::Integer, true)).collect();
    let values: Vec<Value> = (0..10_000).map(Value::Integer).collect();
    let array = array_of(DataType::Integer, &values);
    let columns: Vec<_> = schema.iter().map(|it| (it.clone(), array.clone())).collect();
    let builder = TableBuilder::new("t", schema);
    builder.push(0, batch_of(&columns)).unwrap();
    let context = BuildContext { turn: 3, ..BuildContext::serial(&allocator) };
    let table = builder.finish(&context).unwrap();
    for (index, column) in table.columns.iter().enumerate() {
        let node = NodeId(((index + 3) % 4) as u16);
        assert_eq!(column.node_of_row(0), Some(node));
        assert_eq!(column.node_of_row(9_999), Some(node));
        assert_eq!(column.node_of_row(10_000), None);
        assert_eq!(column.scan_nodes(), Some(vec![(node, 1.0)]));
        assert_eq!(column.bytes_per_node(), [(node, column.memory_bytes())]);
        check(column, &values);
    }
}

#[test]
fn a_large_column_is_split_over_the_nodes() {
    let values: Vec<Value> = (0..1_100_000i64).map(|it| Value::Integer(it * it)).collect();
    let texts: Vec<Value> = (0..200_000)
        .map(|it| Value::Text(format!("a text that no other row has: {it}").into()))
        .collect();
    for machine in [samples::four_sockets(), samples::sub_numa(), samples::epyc(), samples::ring()]
    {
        let nodes = machine.memory_nodes().len();
        let sockets = machine.nodes.iter().map(|it| it.socket).collect::<BTreeSet<_>>().len();
        let allocator = allocator_on(machine);
        let context = BuildContext::serial(&allocator);
        let table = build(DataType::BigInt, &values, 100_000, &context).unwrap();
        let column = &table.columns[0];
        assert_eq!(column.bytes_per_node().len(), nodes);
        assert!(column.bits() == 64 && column.statistics.sorted);
        // Stretches are on sockets of their own; within one socket all is dealt round its nodes.
        assert_eq!(column.scan_nodes().is_none(), sockets > 1);
        assert!((0..1_100_000).step_by(1000).all(|it| column.node_of_row(it).is_some()));
        assert_eq!(column.value(1_099_999), values[1_099_999]);
        let table = build(DataType::Text, &texts, 50_000, &context).unwrap();
        check(&table.columns[0], &texts);
        assert!(table.columns[0].bytes_per_node().len() > 1);
        assert_ne!(table.columns[0].node_of_row(0), None);
    }
}

#[test]
fn too_little_memory_is_an_error_and_leaves_nothing() {
    let allocator = allocator_on(samples::laptop());
    allocator.set_limit(Some(Bytes(4 << 20)));
    let values: Vec<Value> = (0..800_000i64).map(|it| Value::Integer(it << 33)).collect();
    let error = build(DataType::BigInt, &values, 100_000, &BuildContext::serial(&allocator));
    assert_eq!(error.unwrap_err().state, SqlState::OUT_OF_MEMORY);
    assert_eq!(allocator.usage().total(), allocator.usage().retained);
}
