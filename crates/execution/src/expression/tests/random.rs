//! Random expressions over random batches, against the oracle.

use plan::{BinaryOperator, DateField, Expr, ExprKind, UnaryOperator};
use stdx::Prng;
use types::{DataType, Value};

use super::columns::{coded, column, repeated};
use super::oracle::{UNKNOWN, value_of};
use super::*;

const DOUBLE: DataType = DataType::Double;
const DATE: DataType = DataType::Date;

/// Columns of a random batch, and their values.
struct Input {
    layout: Layout,
    batch: Batch,
    rows: Vec<Vec<Value>>,
}

fn random_word(prng: &mut Prng) -> String {
    let letters = ["a", "b", "ab", "\u{e9}", "c"];
    (0..prng.below(4)).map(|_| letters[prng.below(5) as usize]).collect()
}

fn random_value(data_type: DataType, prng: &mut Prng) -> Value {
    let small = prng.below(21) as i64 - 10;
    let extreme = prng.below(8) == 0;
    match data_type {
        DataType::Boolean => Value::Boolean(prng.below(2) == 0),
        DataType::Integer if extreme => {
            Value::Integer(if small < 0 { i32::MIN.into() } else { i32::MAX.into() })
        }
        DataType::BigInt if extreme => Value::Integer(if small < 0 { i64::MIN } else { i64::MAX }),
        DataType::Integer | DataType::BigInt => Value::Integer(small),
        DataType::Decimal { precision, scale } => {
            let most = 10_i128.pow(u32::from(precision)) - 1;
            let wide = i128::from(small) * 37;
            let unscaled = if extreme { most * i128::from(small.signum()) } else { wide };
            Value::Decimal { unscaled, scale }
        }
        DataType::Double => Value::Float(match prng.below(12) {
            0 => f64::NAN,
            1 => f64::INFINITY,
            2 => 1e308,
            _ => small as f64 / 4.0,
        }),
        DataType::Date => Value::Date(small as i32 * 4000),
        DataType::Timestamp => Value::Timestamp(small * 86_400_000_000 + small),
        _ => Value::Text(random_word(prng).into()),
    }
}

const TYPES: [DataType; 12] = [
    INTEGER,
    BIGINT,
    DataType::Decimal { precision: 10, scale: 2 },
    DataType::Decimal { precision: 38, scale: 4 },
    DOUBLE,
    BOOLEAN,
    TEXT,
    TEXT,
    TEXT,
    DATE,
    DataType::Timestamp,
    TEXT,
];

fn random_input(prng: &mut Prng) -> Input {
    let count = [1, 2, 63, 64, 65, 200][prng.below(6) as usize];
    let mut columns = Vec::new();
    let mut values: Vec<Vec<Value>> = Vec::new();
    let mut words: Vec<String> = (0..30).map(|_| random_word(prng)).collect();
    words.sort();
    words.dedup();
    let dictionary = column(&repeated(&words, 100), TEXT);
    for (index, &data_type) in TYPES.iter().enumerate() {
        let nulls = prng.below(2) == 0;
        if matches!(index, 7 | 8 | 11) {
            // Two columns of one dictionary, and one of a second dictionary with the same texts.
            let own =
                if index == 11 { column(&repeated(&words, 50), TEXT) } else { dictionary.clone() };
            let codes: Vec<Option<u32>> = (0..count)
                .map(|_| {
                    let code = prng.below(words.len() as u64) as u32;
                    (!(nulls && prng.below(4) == 0)).then_some(code)
                })
                .collect();
            let text = |it: &Option<u32>| {
                it.map_or(Value::Null, |it| Value::Text(words[it as usize].as_str().into()))
            };
            values.push(codes.iter().map(text).collect());
            columns.push(coded(&own, &codes));
            continue;
        }
        let column: Vec<Value> = (0..count)
            .map(|_| {
                let null = nulls && prng.below(4) == 0;
                if null { Value::Null } else { random_value(data_type, prng) }
            })
            .collect();
        let (mut shape, vector) = computed(&column, data_type);
        if prng.below(2) == 0 {
            let numbers = || column.iter().filter_map(Value::as_i128);
            shape.bounds = numbers().min().zip(numbers().max());
        }
        columns.push((shape, vector));
        values.push(column);
    }
    let (layout, batch) = batch_of(columns);
    let rows = (0..count).map(|row| values.iter().map(|it| it[row].clone()).collect()).collect();
    Input { layout, batch, rows }
}

fn pick<T: Copy>(from: &[T], prng: &mut Prng) -> T {
    from[prng.below(from.len() as u64) as usize]
}

fn leaf(data_type: DataType, prng: &mut Prng) -> Expr {
    let places: Vec<usize> = (0..TYPES.len()).filter(|&it| TYPES[it] == data_type).collect();
    match prng.below(10) {
        0 => null(data_type),
        1..4 => Expr::literal(random_value(data_type, prng), data_type),
        _ if !places.is_empty() => Expr::column(pick(&places, prng), data_type),
        _ => Expr::literal(random_value(data_type, prng), data_type),
    }
}

fn boxed(expr: Expr) -> Box<Expr> {
    Box::new(expr)
}

const COMPARISONS: [BinaryOperator; 8] = [
    BinaryOperator::Equal,
    BinaryOperator::NotEqual,
    BinaryOperator::Less,
    BinaryOperator::LessEqual,
    BinaryOperator::Greater,
    BinaryOperator::GreaterEqual,
    BinaryOperator::IsDistinctFrom,
    BinaryOperator::IsNotDistinctFrom,
];

fn random_boolean(depth: u32, prng: &mut Prng) -> Expr {
    let kind = match prng.below(9) {
        0 | 1 => {
            let operator = pick(&[BinaryOperator::And, BinaryOperator::Or], prng);
            let left = random(BOOLEAN, depth - 1, prng);
            ExprKind::Binary {
                operator,
                left: boxed(left),
                right: boxed(random(BOOLEAN, depth - 1, prng)),
            }
        }
        2 => {
            let operators = [
                UnaryOperator::Not,
                UnaryOperator::IsTrue,
                UnaryOperator::IsFalse,
                UnaryOperator::IsNotTrue,
                UnaryOperator::IsNotFalse,
            ];
            let operand = boxed(random(BOOLEAN, depth - 1, prng));
            ExprKind::Unary { operator: pick(&operators, prng), operand }
        }
        3 => {
            let operand = boxed(random(pick(&TYPES, prng), depth - 1, prng));
            let operators = [UnaryOperator::IsNull, UnaryOperator::IsNotNull];
            ExprKind::Unary { operator: pick(&operators, prng), operand }
        }
        4 => {
            let data_type = pick(&TYPES, prng);
            let operand = boxed(random(data_type, depth - 1, prng));
            let length = [1, 3, 20][prng.below(3) as usize];
            let list = (0..length)
                .map(|_| match prng.below(15) {
                    0 => Value::Null,
                    _ => random_value(data_type, prng),
                })
                .collect();
            ExprKind::InList { operand, list, negated: prng.below(2) == 0 }
        }
        5 => {
            let patterns = ["a%", "%b", "%a%", "_", "%a_b%", "ab", "%", "a%b", "%\u{e9}%a%", "__%"];
            ExprKind::Like {
                operand: boxed(random(TEXT, depth - 1, prng)),
                pattern: pick(&patterns, prng).into(),
                escape: None,
                case_insensitive: false,
                negated: prng.below(2) == 0,
            }
        }
        _ => {
            let exact = [INTEGER, BIGINT, decimal(10, 2), decimal(38, 4)];
            let data_type = pick(&TYPES, prng);
            let other = if exact.contains(&data_type) { pick(&exact, prng) } else { data_type };
            let left = boxed(random(data_type, depth - 1, prng));
            let right = boxed(random(other, depth - 1, prng));
            ExprKind::Binary { operator: pick(&COMPARISONS, prng), left, right }
        }
    };
    Expr { kind, data_type: BOOLEAN }
}

/// Operand types and operator of an arithmetic expression of a type.
fn arithmetic(data_type: DataType, depth: u32, prng: &mut Prng) -> Expr {
    use BinaryOperator::*;
    let (operator, left, right) = match data_type {
        DataType::Integer | DataType::BigInt => {
            let operator = pick(&[Add, Subtract, Multiply, Divide, Modulo], prng);
            (operator, pick(&[INTEGER, data_type], prng), data_type)
        }
        DataType::Double => (pick(&[Add, Subtract, Multiply, Divide], prng), DOUBLE, DOUBLE),
        _ => match prng.below(4) {
            0 => (Multiply, decimal(10, 2), decimal(10, 2)),
            1 => (Divide, pick(&[decimal(10, 2), INTEGER], prng), decimal(10, 2)),
            2 => (Modulo, decimal(10, 2), pick(&[decimal(10, 2), INTEGER], prng)),
            _ => (pick(&[Add, Subtract], prng), data_type, pick(&[INTEGER, decimal(10, 2)], prng)),
        },
    };
    let left = random(left, depth - 1, prng);
    binary(operator, left, random(right, depth - 1, prng), data_type)
}

fn random(data_type: DataType, depth: u32, prng: &mut Prng) -> Expr {
    if depth == 0 || prng.below(6) == 0 {
        return leaf(data_type, prng);
    }
    if prng.below(5) == 0 {
        let branches = (0..1 + prng.below(2))
            .map(|_| (random(BOOLEAN, depth - 1, prng), random(data_type, depth - 1, prng)))
            .collect();
        let otherwise = (prng.below(3) > 0).then(|| random(data_type, depth - 1, prng));
        return case(branches, otherwise);
    }
    match data_type {
        DataType::Boolean => random_boolean(depth, prng),
        DataType::Date => leaf(data_type, prng),
        DataType::Timestamp => cast(random(DATE, depth - 1, prng), data_type),
        DataType::Text if prng.below(2) == 0 => {
            let from = pick(&[INTEGER, decimal(38, 4), DATE], prng);
            cast(random(from, depth - 1, prng), TEXT)
        }
        DataType::Text => {
            let (start, length) = (prng.below(4) as i64 - 1, Some(prng.below(4) as i64));
            let operand = boxed(random(TEXT, depth - 1, prng));
            Expr { kind: ExprKind::Substring { operand, start, length }, data_type }
        }
        DataType::Integer if prng.below(5) == 0 => {
            let operand = boxed(random(DATE, depth - 1, prng));
            Expr { kind: ExprKind::Extract { field: DateField::Year, operand }, data_type }
        }
        _ if prng.below(6) == 0 => {
            let from = pick(&[INTEGER, BIGINT, decimal(10, 2), decimal(38, 4)], prng);
            cast(random(from, depth - 1, prng), data_type)
        }
        _ if prng.below(8) == 0 => {
            unary(UnaryOperator::Negate, random(data_type, depth - 1, prng), data_type)
        }
        _ => arithmetic(data_type, depth, prng),
    }
}

fn has_null_literal(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(Value::Null))
        || matches!(&expr.kind, ExprKind::Case { otherwise: None, .. })
        || expr.children().into_iter().any(has_null_literal)
}

fn check(seed: u64, input: &Input, expr: &Expr) -> bool {
    let expected: Vec<_> = input.rows.iter().map(|row| value_of(expr, row)).collect();
    let found = evaluate(expr, &input.layout, &input.batch);
    let about = || format!("seed {seed}: {expr:#?}");
    let errors: Vec<&str> = expected.iter().filter_map(|it| it.as_ref().err().copied()).collect();
    let found = match found {
        Err(error) => {
            let known = errors.contains(&error.state.0) || errors.contains(&UNKNOWN);
            assert!(known, "{error} where {errors:?} was expected, {}", about());
            return false;
        }
        Ok(found) => found,
    };
    // An operand beside a constant NULL need not be computed.
    let hidden = errors.iter().all(|&it| it == UNKNOWN) || has_null_literal(expr);
    assert!(hidden, "no error where {errors:?} was expected, {}", about());
    for (row, (found, expected)) in found.iter().zip(&expected).enumerate() {
        if let Ok(expected) = expected {
            let (found, expected) = (format!("{found:?}"), format!("{expected:?}"));
            assert_eq!(found, expected, "row {row} {:?} of {}", input.rows[row], about());
        }
    }
    if expr.data_type == BOOLEAN {
        let compiled = Compiled::new(expr, &input.layout, &NoOutside).unwrap();
        let mut rows = Vec::new();
        compiled.select(&input.batch, &mut rows).unwrap();
        let holds = |it: &u32| found[*it as usize] == Value::Boolean(true);
        let wanted: Vec<u32> = (0..found.len() as u32).filter(holds).collect();
        assert_eq!(rows, wanted, "{}", about());
    }
    errors.is_empty()
}

#[test]
fn random_expressions_mean_what_the_oracle_says() {
    let (mut whole, mut all) = (0, 0);
    for seed in 0..60 {
        let mut prng = Prng::new(seed);
        let input = random_input(&mut prng);
        for _ in 0..60 {
            let data_type = pick(&TYPES, &mut prng);
            let data_type = if prng.below(3) == 0 { BOOLEAN } else { data_type };
            let depth = 1 + prng.below(4) as u32;
            let expr = random(data_type, depth, &mut prng);
            whole += usize::from(check(seed, &input, &expr));
            all += 1;
        }
    }
    assert!(whole * 2 > all, "too many errors to test values: {whole} of {all} had none");
}
