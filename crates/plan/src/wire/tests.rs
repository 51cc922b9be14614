use super::*;
use crate::relation::{Output, Query, Rel, ScanRel};
use crate::{
    ColumnOrigin, Exclusion, Expr, ExprKind, Frame, FrameBound, FrameUnit, Function, Operator,
    OutputColumn, Pipeline, PipelineId, Plan, Sink, SortKey, Source, UnaryOperator, WindowCall,
    WindowFunction,
};
use proptest::prelude::*;
use stdx::sync::Arc;
use types::{ColumnInfo, ColumnStatistics, DataType, TableId, TableInfo, Value};

fn values() -> Vec<Value> {
    let floats = [0.0, -0.0, 0.1, f64::MAX, f64::MIN_POSITIVE / 3.0, f64::INFINITY, f64::NAN];
    let mut values: Vec<Value> = floats.into_iter().map(Value::Float).collect();
    values.push(Value::Float(f64::from_bits(0xfff8_0000_0000_1234)));
    for unscaled in [0, -1, 64, i128::MIN, i128::MAX, 10i128.pow(38) - 1] {
        values.push(Value::Decimal { unscaled, scale: 38 });
    }
    for number in [0, -1, 63, -64, 64, i64::MIN, i64::MAX] {
        values.extend([Value::Integer(number), Value::Timestamp(number)]);
    }
    values.extend([Value::Null, Value::Boolean(true), Value::Boolean(false), Value::Date(-7)]);
    values.extend(["", "a", "it's \u{1F980} \0"].map(|it| Value::Text(it.into())));
    values
}

fn functions() -> Vec<Expr> {
    let call = |function: &Function| {
        let kind = ExprKind::Call { function: *function, arguments: Vec::new() };
        Expr { kind, data_type: DataType::Varchar(7) }
    };
    Function::ALL.iter().map(call).collect()
}

fn plan() -> Plan {
    let like = ExprKind::Like {
        operand: Box::new(Expr::column(0, DataType::Char(3))),
        pattern: "%x".to_owned(),
        escape: Some('\u{10FFFF}'),
        case_insensitive: true,
        negated: false,
    };
    let data_type = DataType::Decimal { precision: 38, scale: 38 };
    let row = values().into_iter().map(|it| Expr::literal(it, data_type)).collect();
    let pipeline = Pipeline {
        id: PipelineId(u32::MAX),
        source: Source::Values { types: vec![DataType::Null], rows: vec![row, functions()] },
        operators: vec![
            Operator::Filter(Expr { kind: like, data_type: DataType::Boolean }),
            Operator::Repeat {
                count: usize::MAX,
                numbered: true,
                kept: vec![2],
                items: vec![0, usize::MAX],
            },
        ],
        sink: Sink::Materialize { offset: u64::MAX, limit: Some(0) },
        estimated_rows: f64::INFINITY,
    };
    let bound = |it: i64| Expr::literal(Value::Integer(it), DataType::BigInt);
    let call = WindowCall {
        function: WindowFunction::NthValue,
        arguments: vec![Expr::column(0, DataType::Null), bound(2)],
        filter: None,
        order: 1,
        frame: Frame {
            unit: FrameUnit::Groups,
            start: FrameBound::Preceding(bound(1)),
            end: FrameBound::Value(bound(3)),
            exclusion: Exclusion::Ties,
        },
        ignore_nulls: true,
        data_type: DataType::Null,
    };
    let expr = Expr::column(0, DataType::Null);
    let windows = Pipeline {
        id: PipelineId(1),
        source: Source::Read(vec![PipelineId(0)]),
        operators: Vec::new(),
        sink: Sink::Window {
            keys: vec![SortKey { expr, descending: true, nulls_first: false }],
            partition: 0,
            functions: vec![call],
            first: Some(3),
        },
        estimated_rows: 0.0,
    };
    let origin = Some(ColumnOrigin { relation: u32::MAX, column: u16::MAX });
    let computed = OutputColumn::computed("\u{f6}", DataType::Text);
    let output = vec![OutputColumn { origin, ..computed.clone() }, computed];
    Plan { pipelines: vec![pipeline, windows], output, recursions: Vec::new() }
}

fn query() -> Query {
    let statistics = ColumnStatistics { max: Some(Value::Integer(5)), ..Default::default() };
    let column = ColumnInfo {
        name: "c".to_owned(),
        data_type: DataType::BigInt,
        nullable: true,
        statistics,
        scan_bytes: 1 << 40,
        numbers_rows: false,
        index: Some("i".into()),
    };
    let table = TableInfo {
        id: TableId(3),
        name: "t".to_owned(),
        columns: vec![column],
        rows: 9,
        is_guess: false,
    };
    let filters = functions();
    let scan = Rel::Scan(ScanRel { table: Arc::new(table), base: 0, filters, rows: f64::NAN });
    let origin = Some(ColumnOrigin { relation: 16_387, column: 1 });
    let output = vec![Output { name: "c".to_owned(), attr: 0, origin }, Output::unnamed(0)];
    Query {
        attributes: Vec::new(),
        scalars: Vec::new(),
        shared: vec![],
        root: scan,
        output,
        recursions: vec![],
    }
}

/// So many operators, one in the other.
fn nested(levels: usize) -> Expr {
    let leaf = Expr::column(0, DataType::Integer);
    (1..levels).fold(leaf, |operand, _| {
        let operand = Box::new(operand);
        let kind = ExprKind::Unary { operator: UnaryOperator::Negate, operand };
        Expr { kind, data_type: DataType::Integer }
    })
}

#[test]
fn what_is_read_is_what_was_written() {
    let plan_bytes = to_bytes(&plan()).unwrap();
    let read: Plan = from_bytes(&plan_bytes).unwrap();
    assert_eq!(format!("{read:?}"), format!("{:?}", plan()));
    assert_eq!(to_bytes(&read).unwrap(), plan_bytes);
    let query_bytes = to_bytes(&query()).unwrap();
    let read: Query = from_bytes(&query_bytes).unwrap();
    assert_eq!(format!("{read:?}"), format!("{:?}", query()));
    assert_eq!(to_bytes(&read).unwrap(), query_bytes);
    for bytes in [query_bytes, to_bytes(&7u32).unwrap()] {
        assert_eq!(from_bytes::<Plan>(&bytes).unwrap_err().state, SqlState::DATA_CORRUPTED);
    }
}

#[test]
fn a_float_keeps_its_bits() {
    for value in values() {
        let read: Value = from_bytes(&to_bytes(&value).unwrap()).unwrap();
        match (&value, &read) {
            (Value::Float(a), Value::Float(b)) => assert_eq!(a.to_bits(), b.to_bits()),
            (a, b) => assert_eq!(a, b),
        }
    }
}

#[test]
fn an_unknown_function_is_an_error() {
    let abs = to_bytes(&Function::Abs).unwrap();
    assert_eq!(from_bytes::<Function>(&abs).unwrap(), Function::Abs);
    let error = from_bytes::<Function>(&to_bytes("no_such").unwrap()).unwrap_err();
    assert_eq!(error.state, SqlState::DATA_CORRUPTED);
    assert!(error.message.contains("there is no function no_such"), "{error}");
}

#[test]
fn words_of_another_build_are_refused() {
    #[derive(serde::Serialize)]
    enum RelJoin {
        Left,
    }
    // The same place in the list has another name.
    let bytes = to_bytes(&RelJoin::Left).unwrap();
    let error = from_bytes::<crate::relation::RelJoin>(&bytes).unwrap_err();
    assert_eq!(error.state, SqlState::DATA_CORRUPTED);

    let mut newer = to_bytes(&plan()).unwrap();
    newer[4..8].copy_from_slice(&(VERSION + 1).to_le_bytes());
    let error = from_bytes::<Plan>(&newer).unwrap_err();
    assert_eq!(error.state, SqlState::FEATURE_NOT_SUPPORTED);
    assert!(error.message.contains(&format!("version {}", VERSION + 1)), "{error}");
}

#[test]
fn nesting_has_a_limit_when_written_and_when_read() {
    // The operator of an innermost Negate is a variant of its own, but none that holds something.
    let deepest = to_bytes(&nested(NESTING_MAX)).unwrap();
    assert!(from_bytes::<Expr>(&deepest).is_ok());
    let error = to_bytes(&nested(NESTING_MAX + 1)).unwrap_err();
    assert_eq!(error.state, SqlState::STATEMENT_TOO_COMPLEX);
    // Unary Negate and again Unary Negate: two bytes a level, without an end.
    let unary = &to_bytes(&nested(2)).unwrap()[HEAD..HEAD + 2];
    let error = reader::read::<Expr>(&unary.repeat(1_000_000)).map(|it| it.0).unwrap_err();
    assert_eq!(error.state, SqlState::STATEMENT_TOO_COMPLEX);
}

#[test]
fn every_cut_is_an_error() {
    let bytes = to_bytes(&plan()).unwrap();
    for length in 0..bytes.len() {
        assert!(from_bytes::<Plan>(&bytes[..length]).is_err(), "{length} bytes");
    }
    let more = [bytes.as_slice(), &[0]].concat();
    assert!(from_bytes::<Plan>(&more).is_err());
}

#[test]
fn every_changed_byte_is_an_error() {
    let bytes = to_bytes(&query()).unwrap();
    for place in 0..bytes.len() {
        for change in [1, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[place] ^= change;
            assert!(from_bytes::<Query>(&damaged).is_err(), "byte {place}");
        }
    }
}

proptest! {
    /// Past the digest: what a body of damaged bytes says is read or refused, and what is read can be written.
    #[test]
    fn damaged_bytes_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let bytes = to_bytes(&plan()).unwrap();
        let mut body = bytes[HEAD..bytes.len() - TAIL].to_vec();
        for (place, byte) in &changes {
            let place = place.index(body.len());
            body[place] = *byte;
        }
        if let Ok((read, _)) = reader::read::<Plan>(&body) {
            prop_assert!(to_bytes(&read).is_ok());
        }
        body.truncate(cut.index(body.len()));
        prop_assert!(reader::read::<Query>(&body).is_err() || !body.is_empty());
    }

    #[test]
    fn any_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(from_bytes::<Plan>(&bytes).is_err());
        if let Ok((read, _)) = reader::read::<Query>(&bytes) {
            prop_assert!(to_bytes(&read).is_ok());
        }
    }
}
