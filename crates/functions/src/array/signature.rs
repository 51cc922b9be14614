//! Which types the arguments of functions of arrays are cast to: an array and a value meet in one type, as PostgreSQL's
//! `anycompatible` has it.

use plan::Function;
use types::numeric::common_type;
use types::{DataType, Element};

use crate::resolve::Signature;

const INTEGERS: DataType = DataType::Array(Element::Integer);
const BIG: DataType = DataType::BigInt;
const TEXTS: DataType = DataType::Array(Element::Text);

/// The signature of a call of a function of arrays; `None` where it takes no such arguments.
pub(crate) fn signature(function: Function, arguments: &[DataType]) -> Option<Signature> {
    let made = combined(function, arguments).or_else(|| looked_at(function, arguments));
    made.or_else(|| changed(function, arguments))
}

fn made(arguments: &[DataType], result: DataType) -> Option<Signature> {
    Some(Signature { arguments: arguments.to_vec(), result })
}

fn number(it: &DataType) -> bool {
    *it == DataType::Null || it.is_integer()
}

fn text(it: &DataType) -> bool {
    *it == DataType::Null || it.is_text()
}

/// Arrays made of values and of other arrays.
fn combined(function: Function, arguments: &[DataType]) -> Option<Signature> {
    use Function as F;
    match (function, arguments) {
        (F::ArrayOf, [first, ..]) => {
            let common = arguments.iter().try_fold(*first, |known, it| common_type(known, *it))?;
            let common = if common == DataType::Null { DataType::Text } else { common };
            made(&vec![common; arguments.len()], common.array()?)
        }
        (F::ArrayStack, [first, ..]) => {
            let common = arguments.iter().try_fold(*first, |known, it| common_type(known, *it))?;
            common.element()?;
            made(&vec![common; arguments.len()], common)
        }
        (F::ArrayCat, [a, b]) => {
            let common = common_type(*a, *b)?;
            common.element()?;
            made(&[common, common], common)
        }
        (F::ArrayAppend | F::ArrayRemove, [array, item]) => {
            let (array, item) = together(*array, *item)?;
            made(&[array, item], array)
        }
        (F::ArrayPrepend, [item, array]) => {
            let (array, item) = together(*array, *item)?;
            made(&[item, array], array)
        }
        (F::ArrayReplace, [array, from, to]) => {
            let (array, _) = together(*array, *from)?;
            let (array, item) = together(array, *to)?;
            made(&[array, item, item], array)
        }
        (F::ArrayFill, [item, shape @ ..])
            if (1..=2).contains(&shape.len())
                && shape.iter().all(|it| common_type(*it, INTEGERS) == Some(INTEGERS)) =>
        {
            let shape = shape.iter().map(|_| INTEGERS);
            let types: Vec<_> = [*item].into_iter().chain(shape).collect();
            made(&types, item.array()?)
        }
        _ => None,
    }
}

/// What stands in arrays.
fn looked_at(function: Function, arguments: &[DataType]) -> Option<Signature> {
    use Function as F;
    match (function, arguments) {
        (F::ArrayItem, [array, places @ ..]) if !places.is_empty() && places.iter().all(number) => {
            let types: Vec<_> = [*array].into_iter().chain(places.iter().map(|_| BIG)).collect();
            made(&types, array.element()?)
        }
        (F::ArraySlice, [array, places @ ..])
            if places.len().is_multiple_of(2)
                && !places.is_empty()
                && places.iter().all(number) =>
        {
            array.element()?;
            let types: Vec<_> = [*array].into_iter().chain(places.iter().map(|_| BIG)).collect();
            made(&types, *array)
        }
        (F::ArrayPosition, [array, item]) => {
            let (array, item) = together(*array, *item)?;
            made(&[array, item], DataType::Integer)
        }
        (F::ArrayPosition, [array, item, start]) if number(start) => {
            let (array, item) = together(*array, *item)?;
            made(&[array, item, DataType::Integer], DataType::Integer)
        }
        (F::ArrayPositions, [array, item]) => {
            let (array, item) = together(*array, *item)?;
            made(&[array, item], INTEGERS)
        }
        (F::ArrayAny, [item, array]) => {
            let (array, item) = together(*array, *item)?;
            made(&[item, array], DataType::Boolean)
        }
        (F::ArrayLength | F::ArrayLower | F::ArrayUpper, [array, dimension])
            if number(dimension) =>
        {
            array.element()?;
            made(&[*array, BIG], DataType::Integer)
        }
        (F::Cardinality | F::ArrayNdims, [array]) => {
            array.element()?;
            made(&[*array], DataType::Integer)
        }
        (F::ArrayDims, [array]) => {
            array.element()?;
            made(&[*array], DataType::Text)
        }
        (F::ArrayContains | F::ArrayOverlap, [a, b]) => {
            let common = common_type(*a, *b)?;
            common.element()?;
            made(&[common, common], DataType::Boolean)
        }
        _ => None,
    }
}

/// Arrays with other items, or as texts.
fn changed(function: Function, arguments: &[DataType]) -> Option<Signature> {
    use Function as F;
    match (function, arguments) {
        (F::TrimArray, [array, count]) if number(count) => {
            array.element()?;
            made(&[*array, BIG], *array)
        }
        (F::ArraySample, [array, count]) if number(count) => {
            array.element()?;
            made(&[*array, BIG], *array)
        }
        (F::ArrayReverse | F::ArrayShuffle | F::ListDistinct | F::ListFlat, [array]) => {
            array.element()?;
            made(&[*array], *array)
        }
        (F::ArraySort, [array, flags @ ..])
            if flags.len() <= 2
                && flags.iter().all(|it| matches!(it, DataType::Boolean | DataType::Null)) =>
        {
            array.element()?;
            let flags = flags.iter().map(|_| DataType::Boolean);
            let types: Vec<_> = [*array].into_iter().chain(flags).collect();
            made(&types, *array)
        }
        (F::ArrayIntervalKeys, [array @ DataType::Array(Element::Interval)]) => {
            made(&[*array], DataType::Array(Element::Decimal { precision: 21, scale: 0 }))
        }
        // Binding says the length that its column has.
        (F::ArrayFit, [TEXTS]) => made(&[TEXTS], TEXTS),
        (F::ArraySetItem, [array, _, places @ ..])
            if !places.is_empty() && places.iter().all(number) =>
        {
            let mut arguments = vec![*array, array.element()?];
            arguments.resize(places.len() + 2, BIG);
            made(&arguments, *array)
        }
        (F::ArraySetSlice, [array, value, places @ ..])
            if !places.is_empty()
                && places.len().is_multiple_of(3)
                && (value == array || *value == DataType::Null)
                && places.iter().all(number) =>
        {
            array.element()?;
            let mut arguments = vec![*array, *array];
            arguments.resize(places.len() + 2, BIG);
            made(&arguments, *array)
        }
        (F::ArrayToString, [array, rest @ ..])
            if (1..=2).contains(&rest.len()) && rest.iter().all(text) =>
        {
            // Truths are words as texts, and letters here.
            let array = match array.element()? {
                DataType::Boolean => *array,
                _ => TEXTS,
            };
            let rest = rest.iter().map(|_| DataType::Text);
            let types: Vec<_> = [array].into_iter().chain(rest).collect();
            made(&types, DataType::Text)
        }
        (F::StringToArray, [_, rest @ ..])
            if (1..=2).contains(&rest.len()) && arguments.iter().all(text) =>
        {
            made(&vec![DataType::Text; arguments.len()], TEXTS)
        }
        _ => None,
    }
}

/// An array and a value that may be one of its items.
fn together(array: DataType, item: DataType) -> Option<(DataType, DataType)> {
    let own = match array {
        DataType::Null => DataType::Null,
        known => known.element()?,
    };
    let item = match common_type(own, item)? {
        DataType::Null => DataType::Text,
        // A limit of length is for values that are stored.
        DataType::Varchar(_) if own != item => DataType::VARCHAR,
        DataType::Letter if own != item => DataType::Text,
        known => known,
    };
    Some((item.array()?, item))
}
