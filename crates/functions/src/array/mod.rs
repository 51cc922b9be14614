//! Functions of arrays, on texts that hold them ([`types::array`]): items go from one to the other as they are held, and
//! become values only where a value comes out.
//!
//! Reading order: `signature` (which types go together), `item` (values to items and back), `held` (an array that is read), then a file per family.

mod build;
mod change;
mod draw;
mod held;
mod item;
mod look;
mod set;
mod signature;
mod texts;

use arrow_array::ArrayRef;
use plan::Function;
use types::SqlResult;

use crate::call::Call;

pub(crate) use build::each as each_held;
pub(crate) use held::Array;
pub(crate) use item::{Source, values as values_of};
pub(crate) use signature::signature;

/// The kernel of a function of arrays.
pub(crate) fn kernel(call: &Call<'_>) -> SqlResult<ArrayRef> {
    use Function as F;
    match call.function {
        F::ArrayOf => build::of(call),
        F::ArrayStack => build::stack(call),
        F::ArrayCat => build::cat(call),
        F::ArrayAppend | F::ArrayPrepend => build::with_item(call),
        F::ArrayFill => build::fill(call),
        F::ArrayItem => look::item(call),
        F::ArrayLength | F::ArrayLower | F::ArrayUpper => look::of_dimension(call),
        F::Cardinality | F::ArrayNdims => look::counted(call),
        F::ArrayDims => look::dims(call),
        F::ArrayPosition => look::position(call),
        F::ArrayPositions => look::positions(call),
        F::ArrayContains | F::ArrayOverlap => look::sets(call),
        F::ArrayAny => look::any(call),
        F::ArraySlice => change::slice(call),
        F::ArrayRemove | F::ArrayReplace => change::replaced(call),
        F::TrimArray => change::trim(call),
        F::ArrayReverse | F::ArraySort | F::ListDistinct => change::ordered(call),
        F::ArraySample | F::ArrayShuffle => draw::drawn(call),
        F::ListFlat => look::flat(call),
        F::ArrayIntervalKeys => change::interval_keys(call),
        F::ArrayFit => change::fit(call),
        F::ArraySetItem => set::item(call),
        F::ArraySetSlice => set::slice(call),
        F::ArrayToString => texts::joined(call),
        F::StringToArray => texts::split(call),
        _ => Err(call.broken("no kernel for it")),
    }
}

/// Whether a function is one of arrays.
pub(crate) fn is_of_arrays(function: Function) -> bool {
    use Function as F;
    matches!(
        function,
        F::ArrayOf
            | F::ArrayStack
            | F::ArrayCat
            | F::ArrayAppend
            | F::ArrayPrepend
            | F::ArrayFill
            | F::ArrayItem
            | F::ArrayLength
            | F::ArrayLower
            | F::ArrayUpper
            | F::Cardinality
            | F::ArrayNdims
            | F::ArrayDims
            | F::ArrayPosition
            | F::ArrayPositions
            | F::ArrayContains
            | F::ArrayOverlap
            | F::ArrayAny
            | F::ArraySlice
            | F::ArrayRemove
            | F::ArrayReplace
            | F::TrimArray
            | F::ArrayReverse
            | F::ArraySort
            | F::ListDistinct
            | F::ArraySample
            | F::ArrayShuffle
            | F::ListFlat
            | F::ArrayIntervalKeys
            | F::ArrayFit
            | F::ArraySetItem
            | F::ArraySetSlice
            | F::ArrayToString
            | F::StringToArray
    )
}

/// Whether a NULL argument does not make the result NULL by itself.
pub(crate) fn takes_null(function: Function) -> bool {
    use Function as F;
    matches!(
        function,
        F::ArrayOf
            | F::ArrayStack
            | F::ArrayCat
            | F::ArrayAppend
            | F::ArrayPrepend
            | F::ArrayFill
            | F::ArrayPosition
            | F::ArrayPositions
            | F::ArrayRemove
            | F::ArrayReplace
            | F::ArrayAny
            | F::ArraySetItem
            | F::ArraySetSlice
            | F::ArrayToString
            | F::StringToArray
    )
}
