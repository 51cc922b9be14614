//! Frames against their definition, row by row.

use plan::{
    AggregateFunction, Exclusion, Expr, Frame, FrameBound, FrameUnit, SortKey, WindowCall,
    WindowFunction,
};
use proptest::prelude::*;
use stdx::sync::Arc;
use types::{DataType, Value};

use super::lowered;
use crate::expression::Compiled;
use crate::testing::{NoOutside, Serial, context};
use crate::{Batch, Bitmap, ColumnShape, Layout, Sink, State, Values, Vector};

/// A row: its partition, its order, a number, a float, and its own number.
type Row = (Option<i64>, Option<i64>, Option<i64>, Option<f64>, i64);

fn layout() -> Layout {
    let types = [
        DataType::Integer,
        DataType::Integer,
        DataType::Integer,
        DataType::Double,
        DataType::Integer,
    ];
    types.into_iter().map(|it| ColumnShape::computed(it, true)).collect()
}

fn integers(values: impl ExactSizeIterator<Item = Option<i64>> + Clone) -> Arc<Vector> {
    let validity = Some(Bitmap::from_bits(values.clone().map(|it| it.is_some())));
    Arc::new(Vector {
        values: Values::I64(values.map(Option::unwrap_or_default).collect()),
        validity,
    })
}

fn batch(rows: &[Row]) -> Batch {
    let floats = rows.iter().map(|it| it.3.unwrap_or_default()).collect();
    let validity = Some(Bitmap::from_bits(rows.iter().map(|it| it.3.is_some())));
    let columns = vec![
        integers(rows.iter().map(|it| it.0)),
        integers(rows.iter().map(|it| it.1)),
        integers(rows.iter().map(|it| it.2)),
        Arc::new(Vector { values: Values::F64(floats), validity }),
        integers(rows.iter().map(|it| Some(it.4))),
    ];
    Batch { rows: rows.len(), columns, sequence: 0 }
}

fn column(place: usize) -> Expr {
    Expr::column(place, layout()[place].data_type)
}

/// A function, its argument, and its type.
type Function = (WindowFunction, Option<usize>, DataType);

fn functions() -> Vec<Function> {
    use AggregateFunction::{Average, Count, Max, Min, Sum};
    use WindowFunction::{Aggregate, FirstValue, LastValue, NthValue};
    vec![
        (Aggregate(Count), None, DataType::BigInt),
        (Aggregate(Count), Some(2), DataType::BigInt),
        (Aggregate(Sum), Some(2), DataType::BigInt),
        (Aggregate(Sum), Some(3), DataType::Double),
        (Aggregate(Average), Some(3), DataType::Double),
        (Aggregate(Min), Some(2), DataType::Integer),
        (Aggregate(Max), Some(3), DataType::Double),
        (FirstValue, Some(4), DataType::Integer),
        (LastValue, Some(2), DataType::Integer),
        (NthValue, Some(4), DataType::Integer),
    ]
}

fn call(
    (function, argument, data_type): Function,
    frame: &Frame,
    ignore_nulls: bool,
) -> WindowCall {
    let mut arguments: Vec<Expr> = argument.map(column).into_iter().collect();
    if function == WindowFunction::NthValue {
        arguments.push(Expr::literal(Value::Integer(2), DataType::Integer));
    }
    let (filter, order) = (None, 1);
    let ignore_nulls = ignore_nulls && matches!(function, WindowFunction::LastValue);
    let frame = frame.clone();
    WindowCall { function, arguments, filter, order, frame, ignore_nulls, data_type }
}

/// Sorts and computes; every row of the answer as values.
fn computed(
    rows: &[Row],
    size: usize,
    descending: bool,
    nulls_first: bool,
    calls: &[WindowCall],
    wanted: Option<u64>,
) -> Vec<Vec<Value>> {
    let layout = layout();
    let keys = vec![
        SortKey { expr: column(0), descending: false, nulls_first: false },
        SortKey { expr: column(1), descending, nulls_first },
    ];
    let compile = |it: &Expr| Compiled::new(it, &layout, &NoOutside);
    let sink = lowered((&keys, 1), (calls, wanted), layout.clone(), &compile, 3).unwrap();
    for (number, rows) in rows.chunks(size).enumerate() {
        sink.consume(batch(rows), &context(number % 3)).unwrap();
    }
    let State::Rows(rows) = sink.finish(&Serial(3)).unwrap() else { panic!("no rows") };
    let of = |batch: Batch| {
        let shapes = rows.layout.clone();
        (0..batch.rows)
            .map(|row| {
                shapes.iter().zip(&batch.columns).map(|(it, of)| of.value(it, row)).collect()
            })
            .collect::<Vec<Vec<Value>>>()
    };
    rows.all().unwrap().into_iter().flat_map(of).collect()
}

fn number(value: &Value) -> Option<i64> {
    if let Value::Integer(it) = value { Some(*it) } else { None }
}

/// Whether a row is in the frame of another, by the definition: both by their places in one partition.
fn is_in(
    frame: &Frame,
    keys: &[Option<i64>],
    groups: &[i64],
    (row, it): (usize, usize),
    falls: bool,
) -> bool {
    let (row_group, own_group) = (groups[row], groups[it]);
    let distance = |bound: &FrameBound| match bound {
        FrameBound::Preceding(by) | FrameBound::Following(by) => match &by.kind {
            plan::ExprKind::Literal(Value::Integer(by)) => *by,
            _ => panic!("a literal"),
        },
        _ => 0,
    };
    // How far the row is behind the other, in what the frame counts.
    let offset = |bound: &FrameBound| match (frame.unit, bound) {
        (FrameUnit::Rows, _) => it as i64 - row as i64,
        (FrameUnit::Groups, _) | (FrameUnit::Range, FrameBound::CurrentRow) => {
            own_group - row_group
        }
        (FrameUnit::Range, _) => match (keys[row], keys[it]) {
            (Some(a), Some(b)) => {
                if falls {
                    a - b
                } else {
                    b - a
                }
            }
            (None, None) => 0,
            // NULL is as far away as can be, at its end of the order.
            _ => (own_group - row_group).signum() * 1_000_000,
        },
    };
    // The peers of NULL are all that is near it.
    let null = frame.unit == FrameUnit::Range && keys[row].is_none();
    let after_start = match &frame.start {
        FrameBound::Unbounded => true,
        FrameBound::CurrentRow => offset(&frame.start) >= 0,
        bound @ FrameBound::Preceding(_) => {
            offset(bound) >= if null { 0 } else { -distance(bound) }
        }
        bound => offset(bound) >= if null { 0 } else { distance(bound) },
    };
    let before_end = match &frame.end {
        FrameBound::Unbounded => true,
        FrameBound::CurrentRow => offset(&frame.end) <= 0,
        bound @ FrameBound::Preceding(_) => {
            offset(bound) <= if null { 0 } else { -distance(bound) }
        }
        bound => offset(bound) <= if null { 0 } else { distance(bound) },
    };
    let left_out = match frame.exclusion {
        Exclusion::Nothing => false,
        Exclusion::CurrentRow => it == row,
        Exclusion::Group => own_group == row_group,
        Exclusion::Ties => own_group == row_group && it != row,
    };
    after_start && before_end && !left_out
}

/// What a function is of the rows of a frame.
fn expected((function, argument, _): Function, frame: &[&Vec<Value>], ignore_nulls: bool) -> Value {
    use AggregateFunction::{Average, Count, Max, Min, Sum};
    let values: Vec<&Value> =
        frame.iter().map(|it| argument.map_or(&it[4], |at| &it[at])).collect();
    let known: Vec<&Value> = values.iter().copied().filter(|it| !it.is_null()).collect();
    let float = |it: &Value| if let Value::Float(it) = it { *it } else { panic!("a float") };
    let of_floats = matches!(known.first(), Some(Value::Float(_)));
    match function {
        WindowFunction::FirstValue => values.first().copied().cloned().unwrap_or(Value::Null),
        WindowFunction::LastValue => {
            let all = if ignore_nulls { &known } else { &values };
            all.last().copied().cloned().unwrap_or(Value::Null)
        }
        WindowFunction::NthValue => values.get(1).copied().cloned().unwrap_or(Value::Null),
        WindowFunction::Aggregate(Count) => Value::Integer(known.len() as i64),
        _ if known.is_empty() => Value::Null,
        WindowFunction::Aggregate(Sum) if of_floats => {
            // Halves of small numbers: every sum of them is exact.
            Value::Float(known.iter().map(|it| float(it)).sum())
        }
        WindowFunction::Aggregate(Average) => {
            let sum: f64 = known.iter().map(|it| float(it)).sum();
            Value::Float(sum / known.len() as f64)
        }
        WindowFunction::Aggregate(Sum) => {
            Value::Integer(known.iter().filter_map(|it| number(it)).sum())
        }
        WindowFunction::Aggregate(Min) => {
            known.iter().filter_map(|it| number(it)).min().map_or(Value::Null, Value::Integer)
        }
        WindowFunction::Aggregate(Max) => {
            Value::Float(known.iter().map(|it| float(it)).fold(f64::NEG_INFINITY, f64::max))
        }
        other => panic!("{other:?} is not in the list"),
    }
}

fn check(
    rows: &[Row],
    size: usize,
    (descending, nulls_first): (bool, bool),
    frame: &Frame,
    ignore: bool,
) {
    let functions = functions();
    let calls: Vec<WindowCall> = functions.iter().map(|it| call(*it, frame, ignore)).collect();
    let found = computed(rows, size, descending, nulls_first, &calls, None);
    let mut numbers: Vec<Option<i64>> = found.iter().map(|it| number(&it[4])).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..rows.len() as i64).map(Some).collect::<Vec<_>>(), "each row once");
    for partition in found.chunk_by(|a, b| a[0] == b[0]) {
        let keys: Vec<Option<i64>> = partition.iter().map(|it| number(&it[1])).collect();
        let mut groups = vec![0i64];
        for pair in keys.windows(2) {
            groups.push(groups[groups.len() - 1] + i64::from(pair[0] != pair[1]));
        }
        for row in 0..partition.len() {
            let inside = |it: &usize| is_in(frame, &keys, &groups, (row, *it), descending);
            let own: Vec<&Vec<Value>> =
                (0..partition.len()).filter(inside).map(|it| &partition[it]).collect();
            for (place, function) in functions.iter().enumerate() {
                let wanted = expected(*function, &own, ignore);
                assert_eq!(
                    partition[row][5 + place],
                    wanted,
                    "{function:?} of row {row} in {frame:?}"
                );
            }
        }
    }
}

fn bound(is_start: bool) -> impl Strategy<Value = (u8, FrameBound)> {
    let offset = |it: i64| Expr::literal(Value::Integer(it), DataType::BigInt);
    prop_oneof![
        Just((if is_start { 0 } else { 4 }, FrameBound::Unbounded)),
        Just((2, FrameBound::CurrentRow)),
        (0..4i64).prop_map(move |it| (1, FrameBound::Preceding(offset(it)))),
        (0..4i64).prop_map(move |it| (3, FrameBound::Following(offset(it)))),
    ]
}

fn frame() -> impl Strategy<Value = Frame> {
    let unit = prop_oneof![Just(FrameUnit::Rows), Just(FrameUnit::Range), Just(FrameUnit::Groups)];
    let exclusion = prop_oneof![
        Just(Exclusion::Nothing),
        Just(Exclusion::CurrentRow),
        Just(Exclusion::Group),
        Just(Exclusion::Ties)
    ];
    (unit, bound(true), bound(false), exclusion)
        .prop_filter("no frame", |it| it.1.0 <= it.2.0)
        .prop_map(|(unit, start, end, exclusion)| Frame {
            unit,
            start: start.1,
            end: end.1,
            exclusion,
        })
}

fn rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
    let null = |it: std::ops::Range<i64>| proptest::option::weighted(0.8, it);
    let float = proptest::option::weighted(0.8, -40..40i64);
    let row = (null(0..3), null(-6..6), null(-9..9), float);
    proptest::collection::vec(row, 1..most).prop_map(|rows| {
        let numbered = rows.into_iter().zip(0..);
        numbered
            .map(|((partition, key, value, float), number)| {
                (partition, key, value, float.map(|it| it as f64 / 2.0), number)
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn frames_are_what_they_are_defined_to_be(
        rows in rows(90),
        size in 1..40usize,
        order in any::<(bool, bool)>(),
        frame in frame(),
        ignore in any::<bool>(),
    ) {
        check(&rows, size, order, &frame, ignore);
    }

    #[test]
    fn the_first_ranks_do_not_go_by_rows_behind(
        rows in rows(300),
        size in 1..40usize,
        order in any::<(bool, bool)>(),
        wanted in 0..12i64,
    ) {
        check_ranks(&rows, size, order, wanted);
    }
}

/// Ranks up to a number are the same whether rows behind are dropped or not.
fn check_ranks(rows: &[Row], size: usize, order: (bool, bool), wanted: i64) {
    use WindowFunction::{DenseRank, Rank, RowNumber};
    let functions = [Rank, RowNumber, DenseRank].map(|it| (it, None, DataType::BigInt));
    let calls = functions.map(|it| call(it, &Frame::default(), false));
    for place in [5, 6] {
        let ranks = |wanted_of_each: Option<u64>| {
            let found = computed(rows, size, order.0, order.1, &calls, wanted_of_each);
            let first = |it: &Vec<Value>| number(&it[place]).is_some_and(|it| it <= wanted);
            // Which of equal rows has which number is open.
            let told = |it: Vec<Value>| format!("{:?} {:?}", &it[..2], &it[5..]);
            let mut told: Vec<String> = found.into_iter().filter(first).map(told).collect();
            told.sort_unstable();
            told
        };
        assert_eq!(ranks(Some(wanted as u64)), ranks(None), "the first {wanted} by {place}");
    }
}

/// A partition of several batches, whose rows no two of which are peers.
#[test]
fn a_long_partition_is_shared() {
    let count = 3 * crate::BATCH_ROWS as i64 + 77;
    let row =
        |it: i64| (Some(1), Some(it), (it % 7 > 0).then_some(it % 11), Some(it as f64 / 2.0), it);
    let rows: Vec<Row> = (0..count).rev().map(row).collect();
    let offset = |it: i64| Expr::literal(Value::Integer(it), DataType::BigInt);
    let sliding = Frame {
        unit: FrameUnit::Rows,
        start: FrameBound::Preceding(offset(5)),
        end: FrameBound::Following(offset(4000)),
        exclusion: Exclusion::CurrentRow,
    };
    for (frame, first, last) in [(Frame::default(), i64::MAX, 0), (sliding, 5, 4000)] {
        let functions = functions();
        let calls: Vec<WindowCall> = functions.iter().map(|it| call(*it, &frame, false)).collect();
        let found = computed(&rows, 1000, false, false, &calls, None);
        assert_eq!(found.len(), rows.len());
        for row in (0..count).step_by(997).chain([count - 1, 4095, 4096, 4097]) {
            let low = row.saturating_sub(first).max(0);
            let high = (row + last).min(count - 1);
            let excluded = frame.exclusion == Exclusion::CurrentRow;
            let inside = (low..=high).filter(|it| !(excluded && *it == row));
            let own: Vec<&Vec<Value>> = inside.map(|it| &found[it as usize]).collect();
            for (place, function) in functions.iter().enumerate() {
                let wanted = expected(*function, &own, false);
                assert_eq!(found[row as usize][5 + place], wanted, "{function:?} of row {row}");
            }
        }
    }
}
