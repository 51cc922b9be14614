//! Functions of numbers of any scale (NUMERIC), which come and go as the texts that hold them.

use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{ArrayRef, StringArray};
use plan::Function;
use types::numeric::Arithmetic;
use types::numeric::number::{self, Limits, Number};
use types::{DataType, SqlResult};

use crate::call::Call;
use crate::error::{invalid, out_of_range};

const NUMERIC: DataType = DataType::Numeric;

/// The signature of a call of which an argument is a number of any scale, or becomes one, and all are exact; `None` of any other.
/// `differ`: whether a second argument may be another one in each row.
pub(crate) fn signature(
    function: Function,
    arguments: &[DataType],
    differ: bool,
) -> Option<(Vec<DataType>, DataType)> {
    use Function as F;
    let exact = |it: &DataType| it.is_exact() || matches!(it, DataType::Numeric | DataType::Null);
    let is_one = |it: &DataType| match it {
        DataType::Numeric => true,
        // Each has the digits that it is rounded to.
        _ if differ && matches!(function, F::Round | F::Trunc) => true,
        // What has digits without end has as many as PostgreSQL gives it.
        DataType::Decimal { .. } => {
            matches!(
                function,
                F::Sqrt | F::Exp | F::Ln | F::Log | F::Log10 | F::Power | F::TrimScale
            )
        }
        _ => matches!(function, F::TrimScale),
    };
    if !arguments.iter().any(is_one) || !arguments.iter().all(exact) {
        return None;
    }
    let whole = |at: usize| arguments[at].is_integer() || arguments[at] == DataType::Null;
    let (types, result): (&[DataType], DataType) = match (function, arguments.len()) {
        (F::Abs | F::Sign | F::Ceil | F::Floor | F::Round | F::Trunc, 1) => (&[NUMERIC], NUMERIC),
        (F::TrimScale | F::Sqrt | F::Exp | F::Ln | F::Log | F::Log10, 1) => (&[NUMERIC], NUMERIC),
        (F::Round | F::Trunc, 2) if whole(1) => (&[NUMERIC, DataType::BigInt], NUMERIC),
        (F::Mod | F::Div | F::Gcd | F::Lcm | F::Log | F::Power, 2) => {
            (&[NUMERIC, NUMERIC], NUMERIC)
        }
        (F::SeriesLength, 3) => (&[NUMERIC, NUMERIC, NUMERIC], DataType::BigInt),
        (F::FitNumber, 3) => (&[NUMERIC, DataType::BigInt, DataType::BigInt], NUMERIC),
        (F::Scale | F::MinScale, 1) => (&[NUMERIC], DataType::Integer),
        (F::WidthBucket, 4) if whole(3) => {
            (&[NUMERIC, NUMERIC, NUMERIC, DataType::BigInt], DataType::Integer)
        }
        _ => return None,
    };
    Some((types.to_vec(), result))
}

/// Runs a call of which the first argument is such a number; `None` of any other.
pub(crate) fn kernel(call: &Call<'_>) -> Option<SqlResult<ArrayRef>> {
    use Function as F;
    let takes = match call.function {
        F::Scale | F::MinScale | F::WidthBucket | F::IsZero | F::SeriesLength => call.is_text(0),
        F::TrimScale | F::FitNumber => true,
        F::Abs
        | F::Sign
        | F::Ceil
        | F::Floor
        | F::Round
        | F::Trunc
        | F::Sqrt
        | F::Mod
        | F::Div
        | F::Gcd
        | F::Lcm
        | F::Exp
        | F::Ln
        | F::Log
        | F::Log10
        | F::Power => call.result == NUMERIC,
        _ => false,
    };
    takes.then(|| match call.function {
        F::TrimScale => trimmed(call),
        F::FitNumber => fitted(call),
        F::Scale | F::MinScale => scales(call),
        F::WidthBucket => buckets(call),
        F::SeriesLength => series(call),
        F::IsZero => is_zero(call),
        F::Mod | F::Div | F::Gcd | F::Lcm | F::Power => pairs(call),
        F::Log if call.count() == 2 => pairs(call),
        _ => single(call),
    })
}

/// The number of a row.
fn at(texts: &StringArray, row: usize) -> SqlResult<Number> {
    number::of_held(texts.value(row))
}

/// A text is the key of a number, and so holds the number without zeros at its end.
fn trimmed(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let numbers = call.texts(0)?;
    call.map_texts(|row, out| out.push(number::key_of(numbers.value(row))))
}

/// A number as a type of so many digits holds it.
fn fitted(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (numbers, precisions, scales) = (call.texts(0)?, call.integers(1)?, call.integers(2)?);
    call.map_texts(|row, out| {
        let precision = u64::try_from(precisions.at(row)).unwrap_or(0);
        let limits = Limits::new(precision, scales.at(row))?;
        out.push(&limits.fit(&at(numbers, row)?)?.held()?)
    })
}

fn single(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (numbers, digits) = (call.texts(0)?, call.optional_integers(1)?);
    call.map_texts(|row, out| {
        let number = at(numbers, row)?;
        let digits = digits.map_or(0, |it| it.at(row));
        let made = match call.function {
            Function::Abs => number.abs(),
            Function::Sign => number.sign(),
            Function::Ceil => number.ceil(),
            Function::Floor => number.floor(),
            Function::Round => number.round(digits),
            Function::Sqrt => number.sqrt()?,
            Function::Exp => number.exp()?,
            Function::Ln => number.ln()?,
            Function::Log | Function::Log10 => Number::log(&Number::of_exact(10, 0), &number)?,
            _ => number.trunc(digits),
        };
        out.push(&made.held()?)
    })
}

fn pairs(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (left, right) = (call.texts(0)?, call.texts(1)?);
    call.map_texts(|row, out| {
        let (a, b) = (at(left, row)?, at(right, row)?);
        let made = match call.function {
            Function::Gcd => a.gcd(&b),
            Function::Lcm => a.lcm(&b),
            Function::Log => Number::log(&a, &b)?,
            Function::Power => a.power(&b)?,
            Function::Mod => a.arithmetic(Arithmetic::Modulo, &b)?,
            _ => a.whole_quotient(&b)?,
        };
        out.push(&made.held()?)
    })
}

/// How many digits behind the point numbers show, or need; NULL of what is none.
fn scales(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let numbers = call.texts(0)?;
    call.map_optional::<Int32Type>(|row| {
        let scales = at(numbers, row)?.scales();
        let least = call.function == Function::MinScale;
        Ok(scales.map(|(shown, needed)| if least { needed } else { shown } as i32))
    })
}

fn is_zero(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let numbers = call.texts(0)?;
    call.map_booleans(|row| Ok(at(numbers, row)?.signum() == Some(0)))
}

/// How many numbers a series has: first, last, step.
fn series(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let texts = [call.texts(0)?, call.texts(1)?, call.texts(2)?];
    const NAMES: [&str; 3] = ["start value", "stop value", "step size"];
    call.map::<Int64Type>(|row| {
        let mut numbers = Vec::with_capacity(3);
        for (texts, name) in texts.iter().zip(NAMES) {
            let number = at(texts, row)?;
            if number.digits().is_none() {
                let what = if number.is_nan() { "NaN" } else { "infinity" };
                return Err(invalid(format!("{name} cannot be {what}")));
            }
            numbers.push(number);
        }
        let [first, last, step] = &numbers[..] else { return Err(call.broken("no series")) };
        if step.signum() == Some(0) {
            return Err(invalid("step size cannot equal zero"));
        }
        let way = last.arithmetic(Arithmetic::Subtract, first)?;
        if way.signum() != Some(0) && way.signum() != step.signum() {
            return Ok(0);
        }
        let steps = way.whole_quotient(step)?.to_exact(DataType::BigInt)?;
        i64::try_from(steps + 1).map_err(|_| out_of_range(DataType::BigInt))
    })
}

fn buckets(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let (numbers, low, high) = (call.texts(0)?, call.texts(1)?, call.texts(2)?);
    let counts = call.integers(3)?;
    let range = || out_of_range(DataType::Integer);
    call.map::<Int32Type>(|row| {
        let count = i64::from(i32::try_from(counts.at(row)).map_err(|_| range())?);
        let bucket = at(numbers, row)?.bucket(&at(low, row)?, &at(high, row)?, count)?;
        i32::try_from(bucket).map_err(|_| range())
    })
}
