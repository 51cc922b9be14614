use super::*;
use crate::numeric::Arithmetic;
use crate::{DataType, SqlResult};

fn number(text: &str) -> Number {
    Number::parse(text).unwrap_or_else(|it| panic!("{text}: {it}"))
}

/// Numbers in their order.
const ORDERED: [&str; 25] = [
    "-Infinity",
    "-1e1310",
    "-1e31",
    "-1e30",
    "-123.46",
    "-123.4567",
    "-123.45",
    "-12",
    "-1.5",
    "-0.1",
    "-0.00012",
    "-1e-40",
    "0",
    "1e-1638",
    "1e-31",
    "0.00012",
    "0.1",
    "1.5",
    "12",
    "123.45",
    "123.4567",
    "1e30",
    "99999999999999999999999999999999999999999.5",
    "Infinity",
    "NaN",
];

#[test]
fn what_is_held_is_in_order_and_is_read_again() {
    let all: Vec<(Number, String)> =
        ORDERED.iter().map(|it| (number(it), number(it).held().unwrap())).collect();
    for (place, (a, held)) in all.iter().enumerate() {
        assert!(is_held(held) && !is_held(ORDERED[place]), "{a}");
        assert_eq!(of_held(held).unwrap(), *a);
        let mut text = String::new();
        written(held, &mut text);
        assert_eq!(text, a.to_string());
        for (other, (b, of_b)) in all.iter().enumerate() {
            assert_eq!(key_of(held).cmp(key_of(of_b)), place.cmp(&other), "{a} {b}");
            assert_eq!(held.cmp(of_b), place.cmp(&other), "{a} {b}");
            assert_eq!(a.compare(b), place.cmp(&other), "{a} {b}");
        }
    }
}

#[test]
fn zeros_at_the_end_are_kept_and_do_not_count() {
    for (a, b) in [("1.5", "1.500"), ("0", "0.00"), ("-100", "-100.0"), ("1e3", "1000.00")] {
        let (held, other) = (number(a).held().unwrap(), number(b).held().unwrap());
        assert_eq!(key_of(&held), key_of(&other));
        assert!(held < other);
        assert_eq!(of_held(&other).unwrap().to_string(), number(b).to_string());
        let mut text = String::new();
        written(&other, &mut text);
        assert_eq!(text, number(b).to_string());
        assert_eq!(number(b).trim_scale(), number(a));
        assert_eq!(of_held(key_of(&other)).unwrap(), number(a));
    }
    assert_eq!(of_integer(-1500, 3), number("-1.500").held().unwrap());
    assert_eq!(of_integer(0, 2), number("0.00").held().unwrap());
}

#[test]
fn texts_that_hold_or_spell_none_are_no_numbers() {
    for held in ["", "x", "B", "D", "DQ1x", "BO8", "C!", "C!x", "Dz12", "C!16384", "1.5", "D\u{e4}"]
    {
        assert!(!is_held(held) || held == "DQ", "{held}");
        assert_eq!(of_held(held).map_err(|it| it.state.0).err(), Some("XX000"), "{held}");
    }
    for (text, state) in [
        ("", "22P02"),
        (".", "22P02"),
        ("1__0", "22P02"),
        ("-nan", "22P02"),
        ("1e131072", "22003"),
        ("1e-16384", "22003"),
        ("1e9999999999999999999", "22003"),
    ] {
        assert_eq!(Number::parse(text).map_err(|it| it.state.0).err(), Some(state), "{text}");
    }
    for (text, shown) in [
        (" +1_0.5_0e1 ", "105.0"),
        ("0x1F", "31"),
        ("-0.00", "0.00"),
        ("+inf", "Infinity"),
        ("1.", "1"),
        (".5", "0.5"),
        ("0e131073", "0"),
    ] {
        assert_eq!(number(text).to_string(), shown);
    }
}

#[test]
fn operators_have_the_digits_of_postgres() {
    use Arithmetic::{Add, Divide, Modulo, Multiply, Subtract};
    for (op, a, b, result) in [
        (Add, "1.50", "2", "3.50"),
        (Subtract, "1", "1.000", "0.000"),
        (Multiply, "1.50", "-2.0", "-3.000"),
        (Divide, "10", "3", "3.3333333333333333"),
        (Divide, "1", "3e10", "0.0000000000333333333333333333"),
        (Divide, "1e10", "3", "3333333333.33333333"),
        (Divide, "-2", "3", "-0.66666666666666666667"),
        (Modulo, "-5", "0.3", "-0.2"),
        (Modulo, "inf", "2", "NaN"),
        (Modulo, "5", "inf", "5"),
        (Divide, "inf", "0.5", "Infinity"),
        (Divide, "5", "inf", "0"),
        (Multiply, "0", "inf", "NaN"),
        (Add, "inf", "-inf", "NaN"),
        (Subtract, "1", "inf", "-Infinity"),
    ] {
        let found = number(a).arithmetic(op, &number(b)).unwrap().to_string();
        assert_eq!(found, result, "{a} {} {b}", op.sql());
    }
    let by_zero = |op, a| number(a).arithmetic(op, &Number::zero()).map_err(|it| it.state.0);
    assert_eq!(by_zero(Divide, "inf"), Err("22012"));
    assert_eq!(by_zero(Modulo, "1"), Err("22012"));
    assert_eq!(by_zero(Divide, "NaN"), Ok(Number::NaN));
    let huge = number("1e131071").arithmetic(Multiply, &number("10")).unwrap();
    assert_eq!(huge.held().map_err(|it| it.state.0), Err("22003"));
    let least = number("1e-16383");
    assert_eq!(least.arithmetic(Multiply, &number("0.4")).unwrap().signum(), Some(0));
}

#[test]
fn functions_have_the_digits_of_postgres() {
    let cases = [
        (number("2").sqrt().unwrap(), "1.414213562373095"),
        (number("0.0001").sqrt().unwrap(), "0.01000000000000000"),
        (number("1e-20").sqrt().unwrap(), "0.0000000001000000000000000"),
        (number("12345").sqrt().unwrap(), "111.1080555135405"),
        (number("-2.5").round(0), "-3"),
        (number("1234.5").round(-2), "1200"),
        (number("-1299.99").trunc(-2), "-1200"),
        (number("1.5").round(4), "1.5000"),
        (number("-1.5").ceil(), "-1"),
        (number("-1.5").floor(), "-2"),
        (number("1.50").gcd(&number("0.4")), "0.10"),
        (number("0").lcm(&number("1.50")), "0.00"),
        (number("-7.5").whole_quotient(&number("2")).unwrap(), "-3"),
        (number("3.50").mean(2).unwrap(), "1.7500000000000000"),
    ];
    for (found, shown) in cases {
        assert_eq!(found.to_string(), shown);
    }
    let of = |it: SqlResult<Number>| it.map(|it| it.to_string()).map_err(|it| it.state.0);
    for (found, shown) in [
        (number("1").exp(), Ok("2.7182818284590452")),
        (number("-10.5").exp(), Ok("0.00002753644934974716")),
        (number("100").exp(), Ok("26881171418161354484126255515800135873611119")),
        (number("6001").exp(), Err("22003")),
        (number("10").ln(), Ok("2.3025850929940457")),
        (number("0.000001").ln(), Ok("-13.815510557964274")),
        (number("0").ln(), Err("2201E")),
        (Number::log(&number("10"), &number("2")), Ok("0.3010299956639812")),
        (Number::log(&number("2"), &number("10")), Ok("3.3219280948873623")),
        (Number::log(&number("1"), &number("10")), Err("22012")),
        (number("2").power(&number("0.5")), Ok("1.4142135623730950")),
        (number("2").power(&number("-3")), Ok("0.1250000000000000")),
        (number("10").power(&number("30")), Ok("1000000000000000000000000000000")),
        (number("0").power(&number("0")), Ok("1.0000000000000000")),
        (number("-2").power(&number("3")), Ok("-8.0000000000000000")),
        (number("1.000001").power(&number("1000000")), Ok("2.7182804693193769")),
        (number("-2").power(&number("0.5")), Err("2201F")),
        (number("0").power(&number("-1")), Err("2201F")),
        (number("inf").power(&number("-1")), Ok("0")),
    ] {
        assert_eq!(of(found), shown.map(str::to_owned));
    }
    let spread = |sample, root| {
        let sums = (&number("3.50"), &number("7.2500"));
        Number::spread(2, sums, sample, root).unwrap().to_string()
    };
    assert_eq!(spread(true, true), "1.06066017177982128660");
    assert_eq!(spread(false, false), "0.56250000000000000000");
}

#[test]
fn numbers_become_other_types() {
    let int = |it: &str| number(it).to_exact(DataType::Integer).map_err(|it| it.state.0);
    assert_eq!(int("2.5"), Ok(3));
    assert_eq!(int("-2.5"), Ok(-3));
    assert_eq!(int("2147483647.5"), Err("22003"));
    assert_eq!(int("NaN"), Err("0A000"));
    let cents = DataType::Decimal { precision: 5, scale: 2 };
    let cents = |it: &str| number(it).to_exact(cents).map_err(|it| it.state.0);
    assert_eq!(cents("1.005"), Ok(101));
    assert_eq!(cents("999.995"), Err("22003"));
    assert_eq!(cents("inf"), Err("22003"));
    assert_eq!(number("0.1").to_float(false), Ok(0.1));
    assert_eq!(number("1e400").to_float(false).map_err(|it| it.state.0), Err("22003"));
    assert_eq!(Number::of_float(0.1 + 0.2, false).unwrap().to_string(), "0.3");
    assert_eq!(Number::of_float(1e20, false).unwrap().to_string(), "100000000000000000000");
    assert_eq!(Number::of_float(f64::from(0.1_f32), true).unwrap().to_string(), "0.1");
    assert_eq!(Number::of_float(-f64::INFINITY, true).unwrap().to_string(), "-Infinity");
}
