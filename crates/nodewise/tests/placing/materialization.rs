//! The output of a query on a machine of four nodes (P-HANA 5.2, figure 7): regions by where the qualifying rows were found,
//! tasks by the weight of their regions, and each of them at home.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use nodewise::{Answer, Database, DatabaseOptions, Session};
use simulator::{MachineModel, SimulatedMachine};
use stdx::sync::Arc;

const ROWS: i32 = 1 << 20;

fn session() -> Session {
    let model = MachineModel::by_name("sandy-bridge-ep").unwrap();
    let machine = SimulatedMachine::with_model(model, 1, vec![]);
    let options = DatabaseOptions { workers: Some(16), ..DatabaseOptions::default() };
    let mut session = Database::open(machine, options).unwrap().session();
    let texts = ["alpha", "beta", "gamma"];
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from_iter_values(0..ROWS)),
        Arc::new(StringArray::from_iter_values((0..ROWS).map(|it| texts[it as usize % 3]))),
    ];
    let fields =
        vec![Field::new("n", DataType::Int32, false), Field::new("s", DataType::Utf8, false)];
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
    session.import("t", vec![batch]).unwrap();
    session.execute("ALTER TABLE t NUMA NODE SPLIT").unwrap();
    // So small a table would be read on one node, unless somebody names more.
    session.execute("SET nodes = '0-3'").unwrap();
    session
}

/// All rows of the first two quarters of the table, half of the third, none of the last.
fn query(session: &mut Session) -> Answer {
    let quarter = ROWS / 4;
    let sql = format!("SELECT n, s FROM t WHERE n < {} ", quarter * 2 + quarter / 2);
    session.query(&sql).unwrap()
}

#[test]
fn regions_are_weighted_and_their_tasks_have_the_affinity_of_their_node() {
    let mut session = session();
    session.execute("SET strategy = bound").unwrap();
    session.execute("SET trace = on").unwrap();
    let answer = query(&mut session);
    session.execute("SET trace = off").unwrap();
    check(&answer);
    let events = session
        .query("SELECT node, home, rows, bytes_local, bytes_remote FROM nodewise.trace WHERE finishing")
        .unwrap();
    let mut tasks: BTreeMap<i64, i64> = BTreeMap::new();
    for batch in &events.batches {
        let column = |it: usize| batch.column(it).as_primitive::<Int64Type>();
        for row in 0..batch.num_rows() {
            let (node, home) = (column(0).value(row), column(1).value(row));
            assert_eq!(node, home, "a bound task runs where its region is");
            assert_eq!(column(4).value(row), 0, "and reads nothing from elsewhere");
            assert!(column(3).value(row) > 0);
            *tasks.entry(home).or_default() += column(2).value(row);
        }
    }
    let counts: Vec<i64> = tasks.values().copied().collect();
    assert_eq!(tasks.keys().copied().collect::<Vec<_>>(), [0, 1, 2], "no rows on the last node");
    assert!(counts.iter().sum::<i64>() <= 16 + 3, "no more tasks than workers: {tasks:?}");
    assert!(counts[0] >= 2 * counts[2] && counts[1] >= 2 * counts[2], "by weight: {tasks:?}");
}

#[test]
fn every_strategy_gives_the_same_rows_in_the_same_order() {
    let mut session = session();
    for strategy in ["os", "'target'", "bound", "adaptive"] {
        session.execute(&format!("SET strategy = {strategy}")).unwrap();
        check(&query(&mut session));
    }
}

fn check(answer: &Answer) {
    let mut expected = 0;
    for batch in &answer.batches {
        let (n, s) =
            (batch.column(0).as_primitive::<Int32Type>(), batch.column(1).as_string::<i32>());
        for row in 0..batch.num_rows() {
            assert_eq!(n.value(row), expected);
            assert_eq!(s.value(row), ["alpha", "beta", "gamma"][expected as usize % 3]);
            expected += 1;
        }
    }
    assert_eq!(expected, ROWS / 2 + ROWS / 8);
}
