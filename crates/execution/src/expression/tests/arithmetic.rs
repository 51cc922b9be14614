//! Overflow, division, rounding and conversions of numbers and dates.

use plan::{BinaryOperator, DateField, Expr, ExprKind, UnaryOperator};
use types::numeric::datetime::days_from_civil;
use types::value::civil_from_days;
use types::{DataType, Value};

use super::*;
use crate::Representation;

fn most(digits: u32) -> i128 {
    10_i128.pow(digits) - 1
}

fn dec(unscaled: i128, scale: u8) -> Value {
    Value::Decimal { unscaled, scale }
}

#[test]
fn integers_overflow_with_an_error() {
    use BinaryOperator::*;
    let cases = [
        (Add, i64::MAX, 1, BIGINT, Err("22003")),
        (Add, i64::MAX, 0, BIGINT, Ok(i64::MAX)),
        (Subtract, i64::MIN, 1, BIGINT, Err("22003")),
        (Multiply, i64::MAX, 2, BIGINT, Err("22003")),
        (Multiply, i64::MIN, -1, BIGINT, Err("22003")),
        (Multiply, 1 << 31, 1 << 31, BIGINT, Ok(1 << 62)),
        (Divide, i64::MIN, -1, BIGINT, Err("22003")),
        (Modulo, i64::MIN, -1, BIGINT, Ok(0)),
        (Divide, 7, 0, BIGINT, Err("22012")),
        (Modulo, 7, 0, BIGINT, Err("22012")),
        (Divide, -7, 2, BIGINT, Ok(-3)),
        (Modulo, -7, 2, BIGINT, Ok(-1)),
        (Add, 2_147_483_647, 1, INTEGER, Err("22003")),
        (Add, 32_767, 1, DataType::SmallInt, Err("22003")),
        (Add, 32_766, 1, DataType::SmallInt, Ok(32_767)),
    ];
    for (operator, a, b, data_type, expected) in cases {
        let expected = expected.map(Value::Integer);
        let folded = constant(&binary(operator, int(a), int(b), data_type));
        assert_eq!(folded, expected, "{a} {} {b}", operator.sql());
        // The same over columns, where nothing is known of the values.
        let columns = vec![
            computed(&[Value::Integer(1), Value::Integer(a)], BIGINT),
            computed(&[Value::Integer(1), Value::Integer(b)], BIGINT),
        ];
        let (layout, batch) = batch_of(columns);
        let expr = binary(operator, Expr::column(0, BIGINT), Expr::column(1, BIGINT), data_type);
        let values = evaluate(&expr, &layout, &batch).map_err(|it| it.state.0);
        assert_eq!(values.map(|it| it[1].clone()), expected, "{a} {} {b}", operator.sql());
    }
    let negated =
        over(&[Value::Integer(i64::MIN)], BIGINT, |x| unary(UnaryOperator::Negate, x, BIGINT));
    assert_eq!(negated, Err("22003"));
}

#[test]
fn bounds_decide_the_width() {
    let width = |bounds, data_type, expr: &Expr| {
        let shape = ColumnShape {
            data_type,
            representation: Representation::I64,
            bounds: Some(bounds),
            nullable: false,
        };
        let layout = vec![shape.clone(), shape];
        let compiled = Compiled::new(expr, &layout, &NoOutside).unwrap();
        (matches!(compiled.shape().representation, Representation::I64), compiled.is_fallible())
    };
    let price = decimal(15, 2);
    let product = binary(
        BinaryOperator::Multiply,
        Expr::column(0, price),
        Expr::column(1, price),
        decimal(30, 4),
    );
    assert_eq!(width((0, 10_494_950), price, &product), (true, false));
    assert_eq!(width((0, most(15)), price, &product), (false, false));
    let sum = binary(BinaryOperator::Add, Expr::column(0, BIGINT), Expr::column(1, BIGINT), BIGINT);
    assert_eq!(width((-5, 5), BIGINT, &sum), (true, false));
    assert_eq!(width((0, i128::from(i64::MAX)), BIGINT, &sum), (true, true));
}

#[test]
fn decimals_of_38_digits() {
    use BinaryOperator::*;
    let big = || number(most(38), 38, 0);
    let cases = [
        (binary(Add, big(), number(1, 38, 0), decimal(38, 0)), Err("22003")),
        (binary(Subtract, big(), number(1, 38, 0), decimal(38, 0)), Ok(dec(most(38) - 1, 0))),
        (binary(Multiply, big(), number(2, 38, 0), decimal(38, 0)), Err("22003")),
        (binary(Multiply, big(), number(10, 38, 0), decimal(38, 0)), Err("22003")),
        (binary(Divide, big(), number(3, 38, 0), decimal(38, 0)), Ok(dec(most(38) / 3, 0))),
        (binary(Divide, big(), number(1, 38, 0), decimal(38, 4)), Err("22003")),
        (binary(Divide, big(), big(), decimal(38, 10)), Ok(dec(10_i128.pow(10), 10))),
        (binary(Divide, number(1, 5, 0), number(3, 5, 0), decimal(38, 6)), Ok(dec(333_333, 6))),
        (binary(Divide, number(-2, 5, 0), number(3, 5, 0), decimal(38, 2)), Ok(dec(-67, 2))),
        (binary(Divide, number(125, 5, 3), number(1, 5, 0), decimal(38, 2)), Ok(dec(13, 2))),
        (binary(Divide, number(1, 5, 2), number(0, 5, 2), decimal(38, 2)), Err("22012")),
        (binary(Modulo, number(750, 5, 2), number(2, 5, 0), decimal(5, 2)), Ok(dec(150, 2))),
        (binary(Add, number(15, 3, 1), number(125, 5, 3), decimal(6, 3)), Ok(dec(1625, 3))),
        (binary(Add, number(15, 3, 1), int(2), decimal(10, 1)), Ok(dec(35, 1))),
        (binary(Multiply, number(15, 3, 1), number(15, 3, 1), decimal(6, 1)), Ok(dec(23, 1))),
        (binary(Add, number(99, 2, 0), number(1, 2, 0), decimal(2, 0)), Err("22003")),
    ];
    for (expr, expected) in cases {
        assert_eq!(constant(&expr), expected, "{expr:?}");
    }
    let compared = Expr::predicate(Less, number(most(38), 38, 0), number(most(38), 38, 38));
    assert_eq!(constant(&compared), Ok(Value::Boolean(false)));
    let compared = Expr::predicate(Equal, number(500, 38, 2), int(5));
    assert_eq!(constant(&compared), Ok(Value::Boolean(true)));
}

#[test]
fn floats_follow_ieee_but_for_zero_divisors() {
    use BinaryOperator::*;
    let float = |it: f64| Expr::literal(Value::Float(it), DataType::Double);
    let double = DataType::Double;
    assert_eq!(constant(&binary(Divide, float(1.0), float(0.0), double)), Err("22012"));
    assert_eq!(constant(&binary(Multiply, float(1e308), float(10.0), double)), Err("22003"));
    let sum = constant(&binary(Add, float(0.1), float(0.2), double));
    assert_eq!(sum, Ok(Value::Float(0.1 + 0.2)));
    let nan = f64::NAN;
    for (a, operator, b, expected) in [
        (nan, Equal, nan, true),
        (nan, Greater, f64::INFINITY, true),
        (1.0, Less, nan, true),
        (nan, LessEqual, 1.0, false),
        (nan, NotEqual, nan, false),
        (0.0, Equal, -0.0, true),
    ] {
        let expr = Expr::predicate(operator, float(a), float(b));
        assert_eq!(constant(&expr), Ok(Value::Boolean(expected)), "{a} {} {b}", operator.sql());
    }
}

#[test]
fn numbers_convert() {
    let float = |it: f64| Expr::literal(Value::Float(it), DataType::Double);
    let cases = [
        (number(15, 3, 1), INTEGER, Ok(Value::Integer(2))),
        (number(-15, 3, 1), INTEGER, Ok(Value::Integer(-2))),
        (number(14, 3, 1), INTEGER, Ok(Value::Integer(1))),
        (int(70_000), DataType::SmallInt, Err("22003")),
        (int(5), decimal(3, 2), Ok(dec(500, 2))),
        (int(15), decimal(3, 2), Err("22003")),
        (number(12_345, 5, 3), decimal(4, 2), Ok(dec(1235, 2))),
        (number(most(38), 38, 0), BIGINT, Err("22003")),
        (float(2.5), INTEGER, Ok(Value::Integer(2))),
        (float(3.5), INTEGER, Ok(Value::Integer(4))),
        (float(1e19), BIGINT, Err("22003")),
        (float(9.3e18), BIGINT, Err("22003")),
        (float(f64::NAN), INTEGER, Err("22003")),
        (float(0.285), decimal(5, 2), Ok(dec(29, 2))),
        (float(-1e-9), decimal(5, 2), Ok(dec(0, 2))),
        (float(1e300), decimal(38, 0), Err("22003")),
        (float(1e300), DataType::Real, Err("22003")),
        (float(0.1), DataType::Real, Ok(Value::Float(f64::from(0.1_f32)))),
        (number(125, 5, 2), DataType::Double, Ok(Value::Float(1.25))),
        (boolean(true), INTEGER, Ok(Value::Integer(1))),
        (int(0), BOOLEAN, Ok(Value::Boolean(false))),
        (int(-3), BOOLEAN, Ok(Value::Boolean(true))),
        (null(DataType::Null), decimal(5, 2), Ok(Value::Null)),
        (boolean(true), DataType::Date, Err("42846")),
    ];
    for (operand, to, expected) in cases {
        assert_eq!(constant(&cast(operand.clone(), to)), expected, "{operand:?} as {to}");
    }
}

#[test]
fn text_converts() {
    let (date, timestamp) = (DataType::Date, DataType::Timestamp);
    let cases = [
        (" 42 ", INTEGER, Ok(Value::Integer(42))),
        ("-2147483648", INTEGER, Ok(Value::Integer(i64::from(i32::MIN)))),
        ("2147483648", INTEGER, Err("22003")),
        ("4.2", INTEGER, Err("22P02")),
        ("abc", INTEGER, Err("22P02")),
        ("", INTEGER, Err("22P02")),
        ("-", BIGINT, Err("22P02")),
        ("1.005", decimal(5, 2), Ok(dec(101, 2))),
        ("-.5", decimal(5, 2), Ok(dec(-50, 2))),
        ("1e2", decimal(5, 2), Ok(dec(10_000, 2))),
        ("15e-3", decimal(5, 2), Ok(dec(2, 2))),
        ("9e-99", decimal(5, 2), Ok(dec(0, 2))),
        ("999.995", decimal(5, 2), Err("22003")),
        ("1e99", decimal(38, 0), Err("22003")),
        ("1.5e3", DataType::Double, Ok(Value::Float(1500.0))),
        ("1e400", DataType::Double, Err("22003")),
        ("-Infinity", DataType::Double, Ok(Value::Float(f64::NEG_INFINITY))),
        ("x", DataType::Double, Err("22P02")),
        ("yes", BOOLEAN, Ok(Value::Boolean(true))),
        ("OFF", BOOLEAN, Ok(Value::Boolean(false))),
        ("maybe", BOOLEAN, Err("22P02")),
        ("1970-01-01", date, Ok(Value::Date(0))),
        ("1969-12-31", date, Ok(Value::Date(-1))),
        ("2000-02-29", date, Ok(Value::Date(11016))),
        ("1900-02-29", date, Err("22008")),
        ("2020-13-01", date, Err("22008")),
        ("20200101", date, Ok(Value::Date(18262))),
        ("9999999-01-01", date, Err("22008")),
        ("1998-12-01 12:00:00", date, Ok(Value::Date(10561))),
        ("1970-01-01 00:00:01.5", timestamp, Ok(Value::Timestamp(1_500_000))),
        ("1969-12-31T23:59:59.999999", timestamp, Ok(Value::Timestamp(-1))),
        ("1970-01-02", timestamp, Ok(Value::Timestamp(86_400_000_000))),
        ("1970-01-01 25:00", timestamp, Err("22008")),
        ("1970-01-01 x", timestamp, Err("22007")),
        ("abcdef", DataType::Varchar(3), Ok(Value::Text("abc".into()))),
        ("\u{e9}\u{e9}\u{e9}", DataType::Varchar(2), Ok(Value::Text("\u{e9}\u{e9}".into()))),
        ("ab   ", DataType::Char(4), Ok(Value::Text("ab".into()))),
    ];
    for (value, to, expected) in cases {
        assert_eq!(constant(&cast(text(value), to)), expected, "{value} as {to}");
    }
    let error = crate::expression::evaluate_row(&cast(text("abc"), INTEGER), &NoOutside);
    assert!(error.unwrap_err().message.contains("\"abc\""));
}

#[test]
fn values_convert_to_text() {
    let cases = [
        (int(-5), "-5"),
        (number(-5, 5, 2), "-0.05"),
        (boolean(true), "true"),
        (Expr::literal(Value::Float(1e20), DataType::Double), "1e+20"),
        (Expr::literal(Value::Date(-1), DataType::Date), "1969-12-31"),
        (Expr::literal(Value::Timestamp(0), DataType::Timestamp), "1970-01-01 00:00:00"),
    ];
    for (operand, expected) in cases {
        assert_eq!(constant(&cast(operand, TEXT)), Ok(Value::Text(expected.into())));
    }
}

#[test]
fn dates_before_1970_have_their_fields() {
    let days = [-719_162, -141_428, -1, 0, 59, 789, 10_957, 11_016, 2_932_896];
    let values: Vec<Value> = days.iter().map(|&it| Value::Date(it)).collect();
    let micros: Vec<Value> =
        days.iter().map(|&it| Value::Timestamp(i64::from(it) * 86_400_000_000 + 1)).collect();
    for field in [DateField::Year, DateField::Quarter, DateField::Month, DateField::Day] {
        let extract = |operand: Expr| Expr {
            kind: ExprKind::Extract { field, operand: Box::new(operand) },
            data_type: INTEGER,
        };
        let expected: Vec<Value> = (days.iter())
            .map(|&it| {
                let (year, month, day) = civil_from_days(i64::from(it));
                Value::Integer(match field {
                    DateField::Year => year,
                    DateField::Quarter => i64::from(month.div_ceil(3)),
                    DateField::Month => i64::from(month),
                    DateField::Day => i64::from(day),
                })
            })
            .collect();
        assert_eq!(over(&values, DataType::Date, extract).unwrap(), expected);
        assert_eq!(over(&micros, DataType::Timestamp, extract).unwrap(), expected);
        // With bounds, from the table by day.
        let (mut shape, vector) = computed(&values[2..8], DataType::Date);
        shape.bounds = Some((-1, 11_016));
        let (layout, batch) = batch_of(vec![(shape, vector)]);
        let found = evaluate(&extract(Expr::column(0, DataType::Date)), &layout, &batch);
        assert_eq!(found.unwrap(), expected[2..8]);
    }
    for day in (-800_000..800_000).step_by(397) {
        let (year, month, of_month) = civil_from_days(day);
        assert_eq!(days_from_civil(year, i64::from(month), i64::from(of_month)), day);
    }
}

#[test]
fn dates_calculate() {
    let date = |it| Expr::literal(Value::Date(it), DataType::Date);
    let difference = binary(BinaryOperator::Subtract, date(10), date(-5), INTEGER);
    assert_eq!(constant(&difference), Ok(Value::Integer(15)));
    let later = binary(BinaryOperator::Add, date(10), int(-20), DataType::Date);
    assert_eq!(constant(&later), Ok(Value::Date(-10)));
    let later = |than| binary(BinaryOperator::Add, date(than), int(1), DataType::Date);
    assert_eq!(constant(&later(2_145_042_905)), Err("22008"));
    assert_eq!(constant(&later(i32::MAX)), Ok(Value::Date(i32::MAX)));
    let apart = binary(BinaryOperator::Subtract, date(3), date(i32::MIN), INTEGER);
    assert_eq!(constant(&apart), Err("22008"));
    let stamp = cast(date(-1), DataType::Timestamp);
    assert_eq!(constant(&stamp), Ok(Value::Timestamp(-86_400_000_000)));
    let far = cast(date(2_000_000_000), DataType::Timestamp);
    assert_eq!(constant(&far), Err("22008"));
    let infinite = cast(date(i32::MAX), DataType::Timestamp);
    assert_eq!(constant(&infinite), Ok(Value::Timestamp(i64::MAX)));
    let back = cast(Expr::literal(Value::Timestamp(-1), DataType::Timestamp), DataType::Date);
    assert_eq!(constant(&back), Ok(Value::Date(-1)));
}
