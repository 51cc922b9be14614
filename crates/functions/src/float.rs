//! Functions of floats, with PostgreSQL's errors where a result is not a number or does not fit.

use arrow_array::ArrayRef;
use arrow_array::types::Float64Type;
use plan::Function;
use types::numeric::bytes::held;
use types::{SqlError, SqlResult, SqlState};

use crate::call::Call;
use crate::degrees;
use crate::error::{input_range, overflow, underflow};

/// By which PostgreSQL divides.
const RADIANS_PER_DEGREE: f64 = 0.017_453_292_519_943_295;

/// Calls a function of one float.
pub(crate) fn unary(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let values = call.floats(0)?;
    let function = call.function;
    call.map::<Float64Type>(|row| one(function, values.value(row)))
}

/// The bytes of floats as they are sent.
pub(crate) fn sent(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let values = call.floats(0)?;
    call.map_texts(|row, out| {
        let value = values.value(row);
        match call.function {
            Function::Float4Send => out.push(&held(&(value as f32).to_be_bytes())),
            _ => out.push(&held(&value.to_be_bytes())),
        }
    })
}

/// Whether a function is one of one float, and nothing else.
pub(crate) fn is_unary(function: Function) -> bool {
    use Function as F;
    matches!(
        function,
        F::Erf
            | F::Erfc
            | F::Gamma
            | F::Lgamma
            | F::Acosd
            | F::Asind
            | F::Atand
            | F::Cosd
            | F::Cotd
            | F::Sind
            | F::Tand
            | F::Acos
            | F::Acosh
            | F::Asin
            | F::Asinh
            | F::Atan
            | F::Atanh
            | F::Cbrt
            | F::Cos
            | F::Cosh
            | F::Cot
            | F::Degrees
            | F::Exp
            | F::Ln
            | F::Log10
            | F::Log2
            | F::Radians
            | F::Sin
            | F::Sinh
            | F::Sqrt
            | F::Tan
            | F::Tanh
    )
}

/// Calls a function of two floats.
pub(crate) fn binary(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (left, right) = (call.floats(0)?, call.floats(1)?);
    let function = call.function;
    call.map::<Float64Type>(|row| two(function, left.value(row), right.value(row)))
}

/// Whether floats are not numbers.
pub(crate) fn is_nan(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let values = call.floats(0)?;
    call.map_booleans(|row| Ok(values.value(row).is_nan()))
}

/// The number pi.
pub(crate) fn pi(call: &Call<'_>) -> SqlResult<ArrayRef> {
    call.map::<Float64Type>(|_| Ok(std::f64::consts::PI))
}

/// Floats rounded or cut to digits, as DuckDB does: halves go away from zero.
pub(crate) fn to_digits(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (values, digits) = (call.floats(0)?, call.integers(1)?);
    let cut = if call.function == Function::Trunc { f64::trunc } else { f64::round };
    call.map::<Float64Type>(|row| {
        let value = values.value(row);
        let digits = digits.at(row).clamp(-400, 400) as i32;
        let factor = 10f64.powi(digits.abs());
        if digits < 0 {
            return Ok(if factor.is_infinite() { 0.0 } else { cut(value / factor) * factor });
        }
        let scaled = value * factor;
        let result = cut(scaled) / factor;
        Ok(if scaled.is_finite() && factor.is_finite() { result } else { value })
    })
}

fn one(function: Function, x: f64) -> SqlResult<f64> {
    match function {
        Function::Abs => Ok(x.abs()),
        Function::Ceil => Ok(x.ceil()),
        Function::Floor => Ok(x.floor()),
        Function::Round => Ok(x.round_ties_even()),
        Function::Trunc => Ok(x.trunc()),
        // PostgreSQL's is neither above nor below zero.
        Function::Sign if x == 0.0 || x.is_nan() => Ok(0.0),
        Function::Sign => Ok(x.signum()),
        Function::Cbrt => Ok(x.cbrt()),
        Function::Degrees => finite(x, x / RADIANS_PER_DEGREE),
        Function::Radians => finite(x, x.to_radians()),
        Function::Sqrt if x < 0.0 => {
            Err(power_error("cannot take square root of a negative number"))
        }
        Function::Sqrt => Ok(x.sqrt()),
        Function::Exp if x.is_finite() => fits(x.exp()),
        Function::Exp => Ok(x.exp()),
        Function::Ln | Function::Log | Function::Log2 | Function::Log10 => logarithm(function, x),
        _ => trigonometric(function, x),
    }
}

fn trigonometric(function: Function, x: f64) -> SqlResult<f64> {
    let within = |valid: bool, f: fn(f64) -> f64| {
        if valid || x.is_nan() { Ok(f(x)) } else { Err(input_range()) }
    };
    match function {
        Function::Acos => within(x.abs() <= 1.0, f64::acos),
        Function::Asin => within(x.abs() <= 1.0, f64::asin),
        Function::Acosh => within(x >= 1.0, f64::acosh),
        Function::Atanh => within(x.abs() <= 1.0, f64::atanh),
        Function::Cos => within(x.is_finite(), f64::cos),
        Function::Cot => within(x.is_finite(), |x| 1.0 / x.tan()),
        Function::Sin => within(x.is_finite(), f64::sin),
        Function::Tan => within(x.is_finite(), f64::tan),
        Function::Erf => Ok(libm::erf(x)),
        Function::Erfc => Ok(libm::erfc(x)),
        Function::Gamma => gamma(x),
        Function::Lgamma if x == f64::NEG_INFINITY => Ok(f64::INFINITY),
        Function::Lgamma => match libm::lgamma(x) {
            it if it.is_infinite() && x.is_finite() => Err(overflow()),
            it => Ok(it),
        },
        Function::Acosd | Function::Asind => within(
            x.abs() <= 1.0,
            match function {
                Function::Acosd => degrees::acos,
                _ => degrees::asin,
            },
        ),
        Function::Atand => Ok(degrees::atan(x)),
        Function::Cosd => within(x.is_finite(), degrees::cos),
        Function::Cotd => within(x.is_finite(), degrees::cot),
        Function::Sind => within(x.is_finite(), degrees::sin),
        Function::Tand => within(x.is_finite(), degrees::tan),
        Function::Asinh => Ok(x.asinh()),
        Function::Atan => Ok(x.atan()),
        Function::Cosh => Ok(x.cosh()),
        Function::Sinh => Ok(x.sinh()),
        Function::Tanh => Ok(x.tanh()),
        other => Err(SqlError::internal(format!("{} is no function of a float", other.name()))),
    }
}

/// The gamma function, of which whole numbers that are not positive have no value.
fn gamma(x: f64) -> SqlResult<f64> {
    if x == f64::NEG_INFINITY || x < 0.0 && x.fract() == 0.0 || x == 0.0 {
        return Err(overflow());
    }
    match libm::tgamma(x) {
        it if it.is_infinite() && x.is_finite() => Err(overflow()),
        0.0 => Err(underflow()),
        it => Ok(it),
    }
}

fn two(function: Function, x: f64, y: f64) -> SqlResult<f64> {
    match function {
        Function::Atan2 => Ok(x.atan2(y)),
        Function::Atan2d => Ok(degrees::atan2(x, y)),
        Function::Nanvl => Ok(if x.is_nan() { y } else { x }),
        Function::Power => power(x, y),
        Function::Log => {
            // The own functions of these bases are exact where a quotient is not.
            if x == 2.0 || x == 10.0 {
                return logarithm(if x == 2.0 { Function::Log2 } else { Function::Log10 }, y);
            }
            let (base, x) = (logarithm(Function::Ln, x)?, logarithm(Function::Ln, y)?);
            if base == 0.0 { Err(crate::error::division_by_zero()) } else { Ok(x / base) }
        }
        other => Err(SqlError::internal(format!("{} is no function of two floats", other.name()))),
    }
}

fn logarithm(function: Function, x: f64) -> SqlResult<f64> {
    let state = SqlState("2201E");
    if x == 0.0 {
        return Err(SqlError::new(state, "cannot take logarithm of zero"));
    }
    if x < 0.0 {
        return Err(SqlError::new(state, "cannot take logarithm of a negative number"));
    }
    Ok(match function {
        Function::Ln => x.ln(),
        Function::Log2 => x.log2(),
        _ => x.log10(),
    })
}

fn power(x: f64, y: f64) -> SqlResult<f64> {
    if x == 0.0 && y < 0.0 {
        return Err(power_error("zero raised to a negative power is undefined"));
    }
    if x < 0.0 && y.is_finite() && y.fract() != 0.0 {
        let message = "a negative number raised to a non-integer power yields a complex result";
        return Err(power_error(message));
    }
    let result = x.powf(y);
    if x.is_finite() && y.is_finite() && x != 0.0 { fits(result) } else { Ok(result) }
}

fn power_error(message: &str) -> SqlError {
    SqlError::new(SqlState("2201F"), message)
}

/// A result that can be neither zero nor infinite.
fn fits(result: f64) -> SqlResult<f64> {
    if result.is_infinite() {
        Err(overflow())
    } else if result == 0.0 {
        Err(underflow())
    } else {
        Ok(result)
    }
}

fn finite(x: f64, result: f64) -> SqlResult<f64> {
    if result.is_infinite() && x.is_finite() { Err(overflow()) } else { Ok(result) }
}
