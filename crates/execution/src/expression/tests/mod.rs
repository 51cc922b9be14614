//! Expressions against a naive oracle, and the cases that are easy to get wrong, one by one.

mod arithmetic;
mod columns;
mod numbers;
mod oracle;
mod random;
mod texts;

use plan::{BinaryOperator, Expr, ExprKind, PipelineId, UnaryOperator};
use stdx::sync::Arc;
use types::{DataType, SqlResult, Value, Zone};

use super::vectors::vector_of;
use super::{Compiled, NoOutside, Outside};
use crate::{Batch, Bitmap, ColumnShape, Layout, Values, Vector};

pub(super) const INTEGER: DataType = DataType::Integer;
pub(super) const BIGINT: DataType = DataType::BigInt;
pub(super) const TEXT: DataType = DataType::Text;
pub(super) const BOOLEAN: DataType = DataType::Boolean;

pub(super) fn decimal(precision: u8, scale: u8) -> DataType {
    DataType::Decimal { precision, scale }
}

pub(super) fn int(value: i64) -> Expr {
    Expr::literal(Value::Integer(value), BIGINT)
}

pub(super) fn number(unscaled: i128, precision: u8, scale: u8) -> Expr {
    Expr::literal(Value::Decimal { unscaled, scale }, decimal(precision, scale))
}

pub(super) fn text(value: &str) -> Expr {
    Expr::literal(Value::Text(value.into()), TEXT)
}

pub(super) fn null(data_type: DataType) -> Expr {
    Expr::literal(Value::Null, data_type)
}

pub(super) fn boolean(value: bool) -> Expr {
    Expr::literal(Value::Boolean(value), BOOLEAN)
}

pub(super) fn binary(
    operator: BinaryOperator,
    left: Expr,
    right: Expr,
    data_type: DataType,
) -> Expr {
    let kind = ExprKind::Binary { operator, left: Box::new(left), right: Box::new(right) };
    Expr { kind, data_type }
}

pub(super) fn unary(operator: UnaryOperator, operand: Expr, data_type: DataType) -> Expr {
    Expr { kind: ExprKind::Unary { operator, operand: Box::new(operand) }, data_type }
}

pub(super) fn cast(operand: Expr, data_type: DataType) -> Expr {
    Expr { kind: ExprKind::Cast(Box::new(operand)), data_type }
}

pub(super) fn case(branches: Vec<(Expr, Expr)>, otherwise: Option<Expr>) -> Expr {
    let data_type = branches[0].1.data_type;
    Expr { kind: ExprKind::Case { branches, otherwise: otherwise.map(Box::new) }, data_type }
}

/// A column of computed values.
pub(super) fn computed(values: &[Value], data_type: DataType) -> (ColumnShape, Arc<Vector>) {
    let shape = ColumnShape::computed(data_type, values.iter().any(Value::is_null));
    let vector = vector_of(values, &shape);
    (shape, Arc::new(vector))
}

/// A layout and a batch of columns.
pub(super) fn batch_of(columns: Vec<(ColumnShape, Arc<Vector>)>) -> (Layout, Batch) {
    let rows = columns.first().map_or(1, |it| it.1.values.len());
    let (layout, columns) = columns.into_iter().unzip();
    (layout, Batch { rows, columns, sequence: 0 })
}

/// Where an expression is computed for many rows, so that it pays to look at the entries of a dictionary before.
struct ManyRows;

impl Outside for ManyRows {
    fn scalar(&self, pipeline: PipelineId) -> SqlResult<Value> {
        NoOutside.scalar(pipeline)
    }

    fn zone(&self) -> Zone {
        NoOutside.zone()
    }

    fn expected_rows(&self) -> f64 {
        1e9
    }
}

/// All values of an expression; they are the same for few rows and for many.
pub(super) fn evaluate(expr: &Expr, layout: &Layout, batch: &Batch) -> SqlResult<Vec<Value>> {
    let found = evaluate_in(expr, layout, batch, &NoOutside);
    let of_many = evaluate_in(expr, layout, batch, &ManyRows);
    let told = |it: &SqlResult<Vec<Value>>| format!("{:?}", it.as_ref().map_err(|it| it.state));
    assert_eq!(told(&found), told(&of_many), "{expr:?}");
    found
}

fn evaluate_in(
    expr: &Expr,
    layout: &Layout,
    batch: &Batch,
    outside: &dyn Outside,
) -> SqlResult<Vec<Value>> {
    let compiled = Compiled::new(expr, layout, outside)?;
    let vector = compiled.evaluate(batch)?;
    let shape = compiled.shape();
    assert_eq!(vector.values.len(), batch.rows, "{expr:?}");
    assert!(shape.nullable || vector.validity.is_none(), "{expr:?}");
    Ok((0..batch.rows).map(|row| vector.value(shape, row)).collect())
}

/// The value of an expression without columns, or the SQLSTATE.
pub(super) fn constant(expr: &Expr) -> Result<Value, &'static str> {
    super::evaluate_row(expr, &NoOutside).map_err(|it| it.state.0)
}

/// Values of an expression over one column, or the SQLSTATE.
pub(super) fn over(
    values: &[Value],
    data_type: DataType,
    make: impl Fn(Expr) -> Expr,
) -> Result<Vec<Value>, &'static str> {
    let (layout, batch) = batch_of(vec![computed(values, data_type)]);
    evaluate(&make(Expr::column(0, data_type)), &layout, &batch).map_err(|it| it.state.0)
}

#[test]
fn a_bare_column_is_not_copied() {
    let (layout, batch) = batch_of(vec![computed(&[Value::Integer(1)], INTEGER)]);
    let compiled = Compiled::new(&Expr::column(0, INTEGER), &layout, &NoOutside).unwrap();
    assert!(Arc::ptr_eq(&compiled.evaluate(&batch).unwrap(), &batch.columns[0]));
    assert_eq!((compiled.columns(), compiled.constant()), (&[0][..], None));
    assert!(Compiled::new(&Expr::column(1, INTEGER), &layout, &NoOutside).is_err());
}

#[test]
fn an_empty_batch_gives_nothing() {
    let (layout, mut batch) = batch_of(vec![computed(&[], INTEGER)]);
    batch.rows = 0;
    let sum = binary(BinaryOperator::Divide, int(1), Expr::column(0, INTEGER), BIGINT);
    assert_eq!(evaluate(&sum, &layout, &batch).unwrap(), []);
    let zero = binary(BinaryOperator::Divide, Expr::column(0, INTEGER), int(0), BIGINT);
    assert_eq!(evaluate(&zero, &layout, &batch).unwrap(), []);
}

#[test]
fn and_or_follow_three_valued_logic() {
    let all = [Some(true), Some(false), None];
    let value = |it: Option<bool>| it.map_or(Value::Null, Value::Boolean);
    let pairs: Vec<_> = all.iter().flat_map(|&a| all.iter().map(move |&b| (a, b))).collect();
    type Pair = (Option<bool>, Option<bool>);
    let side = |pick: fn(&Pair) -> Option<bool>| {
        computed(&pairs.iter().map(|it| value(pick(it))).collect::<Vec<_>>(), BOOLEAN)
    };
    let (layout, batch) = batch_of(vec![side(|it| it.0), side(|it| it.1)]);
    let of = |operator| {
        let expr = binary(operator, Expr::column(0, BOOLEAN), Expr::column(1, BOOLEAN), BOOLEAN);
        let values = evaluate(&expr, &layout, &batch).unwrap();
        let mut rows = Vec::new();
        let compiled = Compiled::new(&expr, &layout, &NoOutside).unwrap();
        compiled.select(&batch, &mut rows).unwrap();
        let wanted: Vec<u32> =
            (0..9).filter(|&it| values[it as usize] == Value::Boolean(true)).collect();
        assert_eq!(rows, wanted);
        values
    };
    let expected = |f: fn(Option<bool>, Option<bool>) -> Option<bool>| {
        pairs.iter().map(|&(a, b)| value(f(a, b))).collect::<Vec<_>>()
    };
    assert_eq!(
        of(BinaryOperator::And),
        expected(|a, b| match (a, b) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        })
    );
    assert_eq!(
        of(BinaryOperator::Or),
        expected(|a, b| match (a, b) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        })
    );
}

#[test]
fn branches_not_taken_raise_no_error() {
    let values: Vec<Value> = (0..10).map(Value::Integer).collect();
    let ratio = |x: Expr| binary(BinaryOperator::Divide, int(100), x, BIGINT);
    let not_zero = |x: Expr| Expr::predicate(BinaryOperator::NotEqual, x, int(0));
    let guarded =
        over(&values, INTEGER, |x| case(vec![(not_zero(x.clone()), ratio(x))], Some(int(-1))));
    assert_eq!(guarded.unwrap()[..3], [-1, 100, 50].map(Value::Integer));
    let never = case(vec![(boolean(false), ratio(int(0)))], Some(int(7)));
    assert_eq!(constant(&never), Ok(Value::Integer(7)));
    let reached = case(vec![(boolean(false), int(1))], Some(ratio(int(0))));
    assert_eq!(constant(&reached), Err("22012"));
    let conjunction = over(&values, INTEGER, |x| {
        let big = Expr::predicate(BinaryOperator::Greater, ratio(x.clone()), int(30));
        Expr::predicate(BinaryOperator::And, not_zero(x), big)
    });
    assert_eq!(conjunction.unwrap().iter().filter(|it| **it == Value::Boolean(true)).count(), 3);
    assert_eq!(over(&values, INTEGER, ratio), Err("22012"));
}

#[test]
fn what_stands_under_null_is_never_looked_at() {
    let shape = ColumnShape::computed(BIGINT, true);
    let validity = Bitmap::from_bits([true, false, true].into_iter());
    let vector = |values: [i64; 3]| {
        Arc::new(Vector { values: Values::I64(values.into()), validity: Some(validity.clone()) })
    };
    let columns = vec![(shape.clone(), vector([6, i64::MAX, 8])), (shape, vector([3, 0, 2]))];
    let (layout, batch) = batch_of(columns);
    let (a, b) = (Expr::column(0, BIGINT), Expr::column(1, BIGINT));
    for (operator, expected) in [
        (BinaryOperator::Divide, [2, 4]),
        (BinaryOperator::Modulo, [0, 0]),
        (BinaryOperator::Multiply, [18, 16]),
    ] {
        let values = evaluate(&binary(operator, a.clone(), b.clone(), BIGINT), &layout, &batch);
        let expected = [Value::Integer(expected[0]), Value::Null, Value::Integer(expected[1])];
        assert_eq!(values.unwrap(), expected);
    }
    let narrow = binary(BinaryOperator::Add, a, b, INTEGER);
    assert_eq!(evaluate(&narrow, &layout, &batch).unwrap()[1], Value::Null);
}

#[test]
fn constant_rows_are_as_narrow_as_their_values() {
    let big = 10_i128.pow(30);
    let rows = vec![
        vec![int(1), number(5, 38, 0), text("a")],
        vec![null(BIGINT), number(big, 38, 0), null(DataType::Null)],
    ];
    let types = [INTEGER, decimal(38, 0), TEXT];
    let (layout, batches) = super::constant_rows(&types, &rows, &NoOutside).unwrap();
    assert_eq!((batches.len(), batches[0].rows), (1, 2));
    assert_eq!(layout[0].bounds, Some((1, 1)));
    assert!(layout[0].nullable && !layout[1].nullable);
    assert_eq!(batches[0].columns[1].values, Values::I128(vec![5, big]));
    assert_eq!(batches[0].columns[2].value(&layout[2], 1), Value::Null);
    let rows: Vec<_> = (0..5000).map(|it| vec![int(it)]).collect();
    let (_, batches) = super::constant_rows(&[BIGINT], &rows, &NoOutside).unwrap();
    assert_eq!(batches.iter().map(|it| it.rows).collect::<Vec<_>>(), [4096, 904]);
    let (layout, batches) = super::constant_rows(&[], &[vec![]], &NoOutside).unwrap();
    assert_eq!((layout.len(), batches[0].rows), (0, 1));
    let overflow = super::constant_rows(&[INTEGER], &[vec![int(1 << 40)]], &NoOutside);
    assert_eq!(overflow.unwrap_err().state.0, "22003");
}

/// Workers have small stacks, and a plan may come from anywhere.
#[test]
fn a_chain_as_long_as_may_be_is_compiled_evaluated_and_dropped_on_a_small_stack() {
    use stdx::stack::{LEVELS_MAX, with_levels};
    use stdx::sync::thread;

    let small = thread::Builder::new().stack_size(1 << 20);
    let evaluated = small.spawn(|| {
        let (layout, batch) = one_column();
        // Of the links of each chain one is a column, so that nothing is folded away.
        for links in [30, 300, LEVELS_MAX / 4] {
            let column = || Expr::column(0, BIGINT);
            let sum = (0..links).fold(column(), |it, _| {
                binary(
                    BinaryOperator::Add,
                    it,
                    binary(BinaryOperator::Subtract, column(), column(), BIGINT),
                    BIGINT,
                )
            });
            let casts = (0..links)
                .fold(column(), |it, link| cast(it, if link % 2 == 0 { TEXT } else { BIGINT }));
            let tests =
                (0..links).fold(column(), |it, _| unary(UnaryOperator::IsNull, it, BOOLEAN));
            for expr in [sum, casts, tests] {
                let levels = expr.levels();
                assert!(levels > links);
                let compiled = Compiled::new(&expr, &layout, &NoOutside).unwrap();
                assert_eq!(compiled.evaluate(&batch).unwrap().values.len(), batch.rows);
                drop(compiled);
                with_levels(levels, || drop(expr));
            }
        }
    });
    evaluated.unwrap().join().unwrap();
}

fn one_column() -> (Layout, Batch) {
    let (shape, vector) = computed(&[1, 2, 3].map(Value::Integer), BIGINT);
    (vec![shape], Batch { rows: 3, columns: vec![vector], sequence: 0 })
}
