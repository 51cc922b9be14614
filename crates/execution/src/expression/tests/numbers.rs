//! Kernels on columns against the scalar semantics of `types::numeric`, over all pairs of types.

use std::cmp::Ordering;

use plan::{BinaryOperator, Expr};
use stdx::Prng;
use types::numeric::{self, Arithmetic};
use types::{DataType, SqlResult, Value};

use super::*;

const ROWS: usize = 70;

const NUMBERS: [DataType; 16] = [
    DataType::SmallInt,
    DataType::Integer,
    DataType::BigInt,
    DataType::Real,
    DataType::Double,
    DataType::Decimal { precision: 1, scale: 0 },
    DataType::Decimal { precision: 3, scale: 3 },
    DataType::Decimal { precision: 7, scale: 2 },
    DataType::Decimal { precision: 15, scale: 2 },
    DataType::Decimal { precision: 18, scale: 9 },
    DataType::Decimal { precision: 20, scale: 10 },
    DataType::Decimal { precision: 25, scale: 2 },
    DataType::Decimal { precision: 38, scale: 0 },
    DataType::Decimal { precision: 38, scale: 16 },
    DataType::Decimal { precision: 38, scale: 30 },
    DataType::Decimal { precision: 38, scale: 38 },
];

/// A number of a type: small, of any size, or at the edge.
fn random_number(data_type: DataType, calm: bool, prng: &mut Prng) -> Value {
    let word = prng.next_u64();
    if data_type.is_float() {
        let value = match prng.below(if calm { 2 } else { 8 }) {
            0 => (word % 2000) as f64 / 8.0 - 100.0,
            1 => (word >> 11) as f64 / 1e12,
            2 => 0.0,
            3 => f64::NAN,
            4 => f64::NEG_INFINITY,
            5 => 1e30 * (word % 7) as f64,
            _ => f64::from_bits(word),
        };
        let single = data_type == DataType::Real;
        return Value::Float(if single { f64::from(value as f32) } else { value });
    }
    let (low, high) = numeric::decimal::range(data_type);
    let any = (i128::from(word) << 64 | i128::from(prng.next_u64())) >> prng.below(126);
    let unscaled = match prng.below(if calm { 3 } else { 6 }) {
        0 => i128::from(word % 41) - 20,
        1 | 2 => any % 1_000_000,
        3 => low,
        4 => high,
        _ => any,
    };
    let unscaled = if (low..=high).contains(&unscaled) { unscaled } else { unscaled % high };
    match data_type {
        DataType::Decimal { scale, .. } => Value::Decimal { unscaled, scale },
        _ => Value::Integer(unscaled as i64),
    }
}

/// A column, now and then with NULL and with bounds, or a constant.
struct Operand {
    values: Vec<Value>,
    data_type: DataType,
    column: Option<(ColumnShape, Arc<Vector>)>,
}

impl Operand {
    fn new(values: Vec<Value>, data_type: DataType, prng: &mut Prng) -> Self {
        let constant = prng.below(4) == 0;
        let values = if constant { vec![values[0].clone(); ROWS] } else { values };
        let column = (!constant).then(|| {
            let (mut shape, vector) = computed(&values, data_type);
            let numbers = || values.iter().filter_map(Value::as_i128);
            if !data_type.is_float() && prng.below(2) == 0 {
                shape.bounds = numbers().min().zip(numbers().max());
            }
            (shape, vector)
        });
        Self { values, data_type, column }
    }

    fn expr(&self, place: usize) -> Expr {
        match self.column {
            Some(_) => Expr::column(place, self.data_type),
            None => Expr::literal(self.values[0].clone(), self.data_type),
        }
    }
}

fn operand(data_type: DataType, prng: &mut Prng) -> Operand {
    let (calm, nulls) = (prng.below(2) == 0, prng.below(3) == 0);
    let value = |prng: &mut Prng| match nulls && prng.below(4) == 0 {
        true => Value::Null,
        false => random_number(data_type, calm, prng),
    };
    let values = (0..ROWS).map(|_| value(prng)).collect();
    Operand::new(values, data_type, prng)
}

/// Evaluates over the columns of operands; each stands at the place that `expr` was given.
fn evaluated(operands: &[&Operand], expr: impl Fn(Vec<Expr>) -> Expr) -> SqlResult<Vec<Value>> {
    let (filler, none) = (computed(&vec![Value::Integer(0); ROWS], INTEGER), operands.len());
    let columns = operands.iter().map(|it| it.column.clone().unwrap_or_else(|| filler.clone()));
    let (layout, batch) = batch_of(columns.chain([filler.clone()]).collect());
    assert_eq!(layout.len(), none + 1);
    let arguments = operands.iter().enumerate().map(|(place, it)| it.expr(place)).collect();
    evaluate(&expr(arguments), &layout, &batch)
}

/// Compares with the values or, if there is one, any of the errors of the rows.
fn check(
    vectorised: SqlResult<Vec<Value>>,
    rows: impl Iterator<Item = SqlResult<Value>>,
    told: &str,
) -> bool {
    let rows: Vec<SqlResult<Value>> = rows.collect();
    let errors: Vec<&str> =
        rows.iter().filter_map(|it| it.as_ref().err()).map(|it| it.state.0).collect();
    match vectorised {
        Err(error) => {
            assert!(errors.contains(&error.state.0), "{told}: {error}, rows {errors:?}");
            false
        }
        Ok(values) => {
            assert!(errors.is_empty(), "{told}: no error, rows {errors:?}");
            for (row, (value, expected)) in values.iter().zip(&rows).enumerate() {
                let same = match (value, expected) {
                    (Value::Float(a), Ok(Value::Float(b))) => {
                        a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
                    }
                    (a, Ok(b)) => a == b,
                    _ => false,
                };
                assert!(same, "{told}, row {row}: {value}, expected {expected:?}");
            }
            true
        }
    }
}

#[test]
fn operators_are_those_of_single_values() {
    use Arithmetic as A;
    use BinaryOperator as B;
    let operators = [
        (A::Add, B::Add),
        (A::Subtract, B::Subtract),
        (A::Multiply, B::Multiply),
        (A::Divide, B::Divide),
        (A::Modulo, B::Modulo),
    ];
    let mut prng = Prng::new(40);
    let mut done = 0;
    for (a, b) in NUMBERS.iter().flat_map(|&a| NUMBERS.map(|b| (a, b))) {
        for (scalar, operator) in operators {
            let Some(result) = numeric::arithmetic_type(scalar, a, b) else { continue };
            for _ in 0..6 {
                let (left, right) = (operand(a, &mut prng), operand(b, &mut prng));
                let vectorised = evaluated(&[&left, &right], |mut it| {
                    let right = it.pop().unwrap();
                    binary(operator, it.pop().unwrap(), right, result)
                });
                let rows = left.values.iter().zip(&right.values);
                let rows = rows.map(|(x, y)| numeric::arithmetic(scalar, (x, a), (y, b)));
                let told = format!("{a} {} {b}", operator.sql());
                done += usize::from(check(vectorised, rows, &told));
            }
        }
    }
    assert!(done > 2000, "{done} batches without an error");
}

#[test]
fn comparisons_are_those_of_single_values() {
    let mut prng = Prng::new(41);
    type Holds = fn(Ordering) -> bool;
    let operators: [(BinaryOperator, Holds); 3] = [
        (BinaryOperator::Equal, Ordering::is_eq),
        (BinaryOperator::Less, Ordering::is_lt),
        (BinaryOperator::GreaterEqual, Ordering::is_ge),
    ];
    for (a, b) in NUMBERS.iter().flat_map(|&a| NUMBERS.map(|b| (a, b))) {
        for (operator, holds) in operators {
            let (left, right) = (operand(a, &mut prng), operand(b, &mut prng));
            let vectorised = evaluated(&[&left, &right], |mut it| {
                let right = it.pop().unwrap();
                Expr::predicate(operator, it.pop().unwrap(), right)
            });
            let rows = left.values.iter().zip(&right.values).map(|(x, y)| {
                let order = numeric::compare((x, a), (y, b))?;
                Ok(order.map_or(Value::Null, |it| Value::Boolean(holds(it))))
            });
            check(vectorised, rows, &format!("{a} {} {b}", operator.sql()));
        }
    }
}

const OTHERS: [DataType; 6] =
    [BOOLEAN, DataType::Date, DataType::Timestamp, TEXT, DataType::Varchar(4), DataType::Char(3)];

const WORDS: [&str; 16] = [
    "1",
    " 12 ",
    "2.5",
    "-7",
    "1e2",
    "abc",
    "t",
    "NaN",
    "2024-01-31",
    "2024-01-31 10:20:30.5",
    "",
    "99999",
    "0.125",
    "-0",
    "a  ",
    "\u{e4}\u{f6}\u{fc}\u{df}x",
];

fn random_value(data_type: DataType, prng: &mut Prng) -> Value {
    let word = prng.next_u64();
    match data_type {
        BOOLEAN => Value::Boolean(word & 1 == 1),
        DataType::Date => Value::Date((word % 200_000) as i32 - 100_000),
        DataType::Timestamp => Value::Timestamp((word >> 8) as i64 % (1 << 54) - (1 << 53)),
        it if it.is_text() => {
            let text = Value::Text(WORDS[word as usize % WORDS.len()].into());
            numeric::cast(&text, TEXT, it).unwrap()
        }
        it => random_number(it, word & 1 == 1, prng),
    }
}

#[test]
fn casts_are_those_of_single_values() {
    let mut prng = Prng::new(42);
    let all: Vec<DataType> = NUMBERS.into_iter().chain(OTHERS).collect();
    let mut done = 0;
    for (from, to) in all.iter().flat_map(|&a| all.iter().map(move |&b| (a, b))) {
        if !numeric::is_castable(from, to) {
            continue;
        }
        for _ in 0..8 {
            // Values of one kind, so that an error of one does not hide the others.
            let first = random_value(from, &mut prng);
            let alike = prng.below(2) == 0;
            let values = (0..ROWS).map(|row| match (alike, row % 9) {
                (_, 8) => Value::Null,
                (true, _) => first.clone(),
                (false, _) => random_value(from, &mut prng),
            });
            let values: Vec<Value> = values.collect();
            let operand = Operand::new(values, from, &mut prng);
            let vectorised = evaluated(&[&operand], |mut it| cast(it.pop().unwrap(), to));
            let rows = operand.values.iter().map(|it| numeric::cast(it, from, to));
            done += usize::from(check(vectorised, rows, &format!("{from} as {to}")));
        }
    }
    assert!(done > 1500, "{done} batches without an error");
}
