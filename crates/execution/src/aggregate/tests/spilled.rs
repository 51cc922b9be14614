//! Groupings whose rows go to files, of so many groups that partitions are cut again.

use plan::AggregateFunction::Sum;

use super::*;
use crate::{ColumnShape, Representation, Values, Vector};

#[test]
fn partitions_that_do_not_fit_are_cut_again() {
    let (groups, rows, per_batch) = (300_000, 600_000, 1000);
    let key = |row: i64| row * 7919 % groups;
    let mut expected = vec![0; groups as usize];
    (0..rows).for_each(|row| expected[key(row) as usize] += i128::from(row));
    let shape = ColumnShape {
        data_type: DataType::BigInt,
        representation: Representation::I64,
        bounds: None,
        nullable: false,
    };
    let layout = vec![shape.clone(), shape];
    let batch = |start: i64| {
        let rows = start..start + per_batch;
        let column = |values| Arc::new(Vector::new(Values::I64(values)));
        let columns = vec![column(rows.clone().map(key).collect()), column(rows.collect())];
        Batch { rows: per_batch as usize, columns, sequence: start as u64 }
    };
    let compile = |place: usize| {
        let expr = Expr::column(place, DataType::BigInt);
        Compiled::new(&expr, &layout, &NoOutside).unwrap()
    };
    let spec = AggregateSpec {
        function: Sum,
        argument: Some(0),
        rest: Vec::new(),
        distinct: false,
        order: Vec::new(),
        filter: None,
        data_type: DataType::Decimal { precision: 38, scale: 0 },
    };
    let sink = AggregateSink::new(vec![compile(0)], vec![compile(1)], vec![spec], 2).unwrap();
    let team = Tight::new(2);
    let rest = team.workspace.spread().zeroed::<u8>((1 << 20) + 4096).unwrap();
    for number in 0..rows / per_batch {
        sink.consume(batch(number * per_batch), &team.context(number as usize % 2)).unwrap();
    }
    drop(rest);
    let before = team.workspace.account().spilled();
    assert!(before.0 > 0, "rows go to files");
    let State::Rows(found) = sink.finish(&team).unwrap() else { panic!("a grouping leaves rows") };
    assert!(team.workspace.account().spilled().0 > before.0 + before.0 / 4, "and once more");
    assert_eq!(found.rows(), groups as usize);
    for batch in found.all().unwrap() {
        for row in 0..batch.rows {
            let value = |column: usize| {
                let value = batch.columns[column].value(&found.layout[column], row);
                value.as_i128().unwrap()
            };
            assert_eq!(value(1), expected[value(0) as usize], "group {}", value(0));
        }
    }
}
