//! Choices among arguments of one type: coalesce, nvl, nvl2, nullif, greatest, least.

use std::borrow::Cow;
use std::cmp::Ordering;

use arrow_array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, BooleanArray, PrimitiveArray};
use plan::Function;
use stdx::sync::Arc;
use types::json::order_key;
use types::numeric::{float, number};
use types::{DataType, Range, SqlResult, ranges};

use crate::call::Call;
use crate::texts::Texts;

/// Makes the choice for each row.
pub(crate) fn choose(call: &Call<'_>) -> SqlResult<ArrayRef> {
    match call.result.stored() {
        DataType::Null
        | DataType::Char(_)
        | DataType::Bpchar
        | DataType::Varchar(_)
        | DataType::Text => texts(call),
        DataType::Boolean => booleans(call),
        DataType::SmallInt => primitives::<Int16Type>(call, Ord::cmp),
        DataType::Integer => primitives::<Int32Type>(call, Ord::cmp),
        DataType::BigInt => primitives::<Int64Type>(call, Ord::cmp),
        DataType::Real => {
            primitives::<Float32Type>(call, |&a, &b| float::compare(f64::from(a), f64::from(b)))
        }
        DataType::Double => primitives::<Float64Type>(call, |&a, &b| float::compare(a, b)),
        DataType::Decimal { .. } => primitives::<Decimal128Type>(call, Ord::cmp),
        DataType::Date => primitives::<Date32Type>(call, Ord::cmp),
        DataType::Timestamp => primitives::<TimestampMicrosecondType>(call, Ord::cmp),
        _ => Err(call.broken("a type that is held as another")),
    }
}

/// The argument that is chosen in a row; `None` for NULL. `order` compares two arguments that are not NULL.
fn chosen(call: &Call<'_>, row: usize, order: impl Fn(usize, usize) -> Ordering) -> Option<usize> {
    let present = |index: usize| call.arguments[index].is_valid(row);
    let mut candidates = (0..call.count()).filter(|&it| present(it));
    match call.function {
        Function::Nvl2 => Some(if present(0) { 1 } else { 2 }).filter(|&it| present(it)),
        Function::Nullif => {
            let equal = present(0) && present(1) && order(0, 1) == Ordering::Equal;
            (present(0) && !equal).then_some(0)
        }
        Function::Greatest => candidates
            .reduce(|best, it| if order(it, best) == Ordering::Greater { it } else { best }),
        Function::Least => {
            candidates.reduce(|best, it| if order(it, best) == Ordering::Less { it } else { best })
        }
        _ => candidates.next(),
    }
}

/// The arguments among which one is chosen: all but a condition.
fn first_choice(call: &Call<'_>) -> usize {
    usize::from(call.function == Function::Nvl2)
}

fn primitives<T: ArrowPrimitiveType>(
    call: &Call<'_>,
    order: impl Fn(&T::Native, &T::Native) -> Ordering,
) -> SqlResult<ArrayRef> {
    let first = first_choice(call);
    let choices = (first..call.count()).map(|it| call.primitive::<T>(it));
    let choices = choices.collect::<SqlResult<Vec<_>>>()?;
    let value = |index: usize, row: usize| choices[index - first].value(row);
    let values = (0..call.rows).map(|row| {
        let order = |a, b| order(&value(a, row), &value(b, row));
        chosen(call, row, order).map(|index| value(index, row))
    });
    let values: PrimitiveArray<T> = values.collect();
    Ok(Arc::new(values.with_data_type(crate::call::arrow_type(call.result))))
}

fn booleans(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let first = first_choice(call);
    let choices = (first..call.count()).map(|it| call.booleans(it));
    let choices = choices.collect::<SqlResult<Vec<_>>>()?;
    let value = |index: usize, row: usize| choices[index - first].value(row);
    let values = (0..call.rows).map(|row| {
        let order = |a, b| value(a, row).cmp(&value(b, row));
        chosen(call, row, order).map(|index| value(index, row))
    });
    let values: BooleanArray = values.collect();
    Ok(Arc::new(values))
}

fn texts(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let first = first_choice(call);
    let choices = (first..call.count()).map(|it| call.texts(it));
    let choices = choices.collect::<SqlResult<Vec<_>>>()?;
    let value = |index: usize, row: usize| choices[index - first].value(row);
    // The blanks at the end of CHAR do not count.
    let padded = call.result.is_blank_padded();
    let bare = |text: &str| if padded { text.trim_end_matches(' ').len() } else { text.len() };
    let mut out = Texts::with_capacity(call.rows);
    for row in 0..call.rows {
        let key = |index| {
            let text = value(index, row);
            match call.result {
                // Every JSONB has one.
                DataType::Jsonb => Cow::Owned(order_key(text).unwrap_or_default()),
                DataType::Numeric => Cow::Borrowed(number::key_of(text)),
                it if it.range() == Some(Range::Num) => Cow::Owned(ranges::key_of(text)),
                _ => Cow::Borrowed(&text[..bare(text)]),
            }
        };
        let order = |a, b| key(a).cmp(&key(b));
        match chosen(call, row, order) {
            Some(index) => {
                out.push(value(index, row))?;
                out.end();
            }
            None => out.null(),
        }
    }
    Ok(out.finish())
}
