//! Ranges and sets of them ([`types::ranges`]): one kernel serves both.

use arrow_array::{Array, ArrayRef};
use plan::Function;
use types::array::{self, Items};
use types::numeric::is_implicit;
use types::ranges::{self, Bound, Span, spans};
use types::{DataType, Range, SqlError, SqlResult, SqlState};

use crate::array::{Source, each_held, values_of};
use crate::call::Call;

/// Whether a function is one of ranges.
pub(crate) fn is_of_ranges(function: Function) -> bool {
    use Function as F;
    matches!(
        function,
        F::RangeOf
            | F::RangesOf
            | F::RangesIntersect
            | F::RangeItems
            | F::RangeLower
            | F::RangeUpper
            | F::RangeIsEmpty
            | F::LowerInc
            | F::UpperInc
            | F::LowerInf
            | F::UpperInf
            | F::RangeMerge
            | F::RangeContains
            | F::RangeContainsItem
            | F::RangeOverlaps
            | F::RangeBefore
            | F::RangeOverleft
            | F::RangeOverright
            | F::RangeAdjacent
            | F::RangeUnion
            | F::RangeMinus
            | F::RangeIntersect
    )
}

/// Whether NULL is an argument as any other: no bound.
pub(crate) fn takes_null(function: Function) -> bool {
    function == Function::RangeOf
}

/// The types that the arguments of a call are cast to and that of its result.
type Types = (Vec<DataType>, DataType);

/// The types of a call; `None` where the function takes no such arguments.
pub(crate) fn signature(function: Function, arguments: &[DataType]) -> Option<Types> {
    use Function as F;
    let made = |result| Some((arguments.to_vec(), result));
    match (function, arguments) {
        (F::RangeOf, [range @ DataType::Range(of), bounds @ ..]) => between(*range, *of, bounds),
        (F::RangesOf, [list]) => made(DataType::Multirange(list.element()?.range()?)),
        (F::RangesIntersect, [list]) => made(list.element().filter(|it| it.range().is_some())?),
        (F::RangeItems, [DataType::Multirange(of)]) => made(DataType::Range(*of).array()?),
        (F::RangeLower | F::RangeUpper, [one]) => made(one.range()?.bound()),
        (F::RangeIsEmpty | F::LowerInc | F::UpperInc | F::LowerInf | F::UpperInf, [one]) => {
            one.range().and_then(|_| made(DataType::Boolean))
        }
        (F::RangeMerge, [DataType::Multirange(of)]) => made(DataType::Range(*of)),
        (F::RangeMerge, [a @ DataType::Range(_), b])
        | (F::RangeMerge, [b, a @ DataType::Range(_)])
            if a == b || *b == DataType::Null =>
        {
            Some((vec![*a; 2], *a))
        }
        (F::RangeContainsItem, [one, item]) => {
            (one.range()?.bound() == *item).then(|| made(DataType::Boolean))?
        }
        (F::RangeUnion | F::RangeMinus | F::RangeIntersect, [a, b]) => {
            a.range().filter(|_| a == b).and_then(|_| made(*a))
        }
        (
            F::RangeContains
            | F::RangeOverlaps
            | F::RangeBefore
            | F::RangeOverleft
            | F::RangeOverright
            | F::RangeAdjacent,
            [a, b],
        ) => (a.range()? == b.range()?).then(|| made(DataType::Boolean))?,
        _ => None,
    }
}

/// The types of a call that makes a range: it begins with a NULL of the type that is made.
fn between(range: DataType, of: Range, bounds: &[DataType]) -> Option<Types> {
    let wanted = [range, of.bound(), of.bound(), DataType::Text];
    let fits = bounds.iter().zip(&wanted[1..]).all(|(own, to)| is_implicit(*own, *to));
    let counts = matches!(bounds.len(), 2 | 3);
    (counts && fits).then(|| (wanted[..=bounds.len()].to_vec(), range))
}

/// The kernel of such a function.
pub(crate) fn kernel(call: &Call<'_>) -> SqlResult<ArrayRef> {
    use Function as F;
    match call.function {
        F::RangeOf => of_bounds(call),
        F::RangesOf | F::RangesIntersect | F::RangeItems => of_lists(call),
        F::RangeLower | F::RangeUpper => {
            let held = call.texts(0)?;
            let is_lower = call.function == F::RangeLower;
            values_of(call, |row| {
                let ends = ranges::ends(held.value(row));
                Ok(ends.and_then(|it| if is_lower { it.lower.item } else { it.upper.item }))
            })
        }
        F::RangeIsEmpty | F::LowerInc | F::UpperInc | F::LowerInf | F::UpperInf => {
            let held = call.texts(0)?;
            let function = call.function;
            call.map_booleans(|row| Ok(is_so(function, ranges::ends(held.value(row)))))
        }
        F::RangeMerge | F::RangeUnion | F::RangeMinus | F::RangeIntersect => made_of_two(call),
        F::RangeContainsItem => {
            let (held, source) = (call.texts(0)?, Source::new(call, 1)?);
            let mut item = String::new();
            call.map_booleans(|row| {
                item.clear();
                source.push(row, &mut item);
                Ok(ranges::contains_item(held.value(row), &item))
            })
        }
        _ => {
            let test = test_of(call.function).ok_or_else(|| call.broken("no kernel for it"))?;
            let (one, other) = (call.texts(0)?, call.texts(1)?);
            call.map_booleans(|row| Ok(test(one.value(row), other.value(row))))
        }
    }
}

/// What is asked of two ranges or sets.
fn test_of(function: Function) -> Option<fn(&str, &str) -> bool> {
    use Function as F;
    Some(match function {
        F::RangeContains => ranges::contains,
        F::RangeOverlaps => ranges::overlaps,
        F::RangeBefore => ranges::before,
        F::RangeOverleft => ranges::not_after,
        F::RangeOverright => ranges::not_before,
        F::RangeAdjacent => ranges::adjacent,
        _ => return None,
    })
}

/// What is asked of the ends of one, which the empty one has not.
fn is_so(function: Function, ends: Option<Span<'_>>) -> bool {
    use Function as F;
    let Some(ends) = ends else { return function == F::RangeIsEmpty };
    match function {
        F::LowerInc => ends.lower.inclusive,
        F::UpperInc => ends.upper.inclusive,
        F::LowerInf => ends.lower.item.is_none(),
        F::UpperInf => ends.upper.item.is_none(),
        _ => false,
    }
}

/// Ranges between two values.
fn of_bounds(call: &Call<'_>) -> SqlResult<ArrayRef> {
    let DataType::Range(of) = call.result else { return Err(call.broken("no range as result")) };
    let sources = [Source::new(call, 1)?, Source::new(call, 2)?];
    let flags = match call.count() {
        4 if call.argument(3)?.len() == call.argument(3)?.logical_null_count() => None,
        4 => Some(call.texts(3)?),
        _ => None,
    };
    let mut texts = crate::texts::Texts::with_capacity(call.rows);
    for row in 0..call.rows {
        let inside = match flags {
            Some(it) if it.is_valid(row) => inside_of(it.value(row))?,
            _ if call.count() == 4 => {
                let message = "range constructor flags argument must not be null";
                return Err(SqlError::new(SqlState::DATA_EXCEPTION, message));
            }
            _ => (true, false),
        };
        let mut items = [String::new(), String::new()];
        sources.iter().zip(&mut items).for_each(|(source, item)| source.push(row, item));
        let [lower, upper] =
            items.each_ref().map(|it| Some(&**it).filter(|it| !array::is_null(it)));
        let lower = Bound { item: lower, inclusive: inside.0 };
        let upper = Bound { item: upper, inclusive: inside.1 };
        texts.push(&ranges::make(of, Span { lower, upper })?)?;
        texts.end();
    }
    Ok(texts.finish())
}

/// Which bounds are in a range, by the flags of its constructor.
fn inside_of(flags: &str) -> SqlResult<(bool, bool)> {
    Ok(match flags {
        "[]" => (true, true),
        "[)" => (true, false),
        "(]" => (false, true),
        "()" => (false, false),
        _ => {
            let hint = "Valid values are \"[]\", \"[)\", \"(]\", and \"()\".";
            let error = SqlError::new(SqlState::SYNTAX, "invalid range bound flags");
            return Err(error.with_hint(hint));
        }
    })
}

/// Sets of the ranges of arrays, and arrays of those of sets.
fn of_lists(call: &Call<'_>) -> SqlResult<ArrayRef> {
    use Function as F;
    let lists = call.texts(0)?;
    if call.function == F::RangeItems {
        return each_held(call, |row, out| {
            let from = out.len();
            let mut count = 0;
            for it in spans(lists.value(row)) {
                array::push_text(out, &ranges::range(it));
                count += 1;
            }
            array::close_list(out, from, count)?;
            Ok(true)
        });
    }
    call.map_texts(|row, out| {
        let items: Vec<&str> = Items::new(lists.value(row)).collect();
        if items.iter().any(|it| array::is_null(it)) {
            let message = "multirange values cannot contain null members";
            return Err(SqlError::new(SqlState::NULL_NOT_ALLOWED, message));
        }
        let all: Vec<_> = items.into_iter().map(array::text_of).collect();
        match call.function {
            F::RangesOf => out.push(&ranges::set_of(all.iter().map(|it| &**it))),
            _ => {
                let mut each = all.iter();
                let first = each.next().map_or(ranges::EMPTY, |it| &**it).to_owned();
                out.push(&each.fold(first, |common, it| ranges::intersection(&common, it)))
            }
        }
    })
}

/// The range or the set that two make, or the range around a set.
fn made_of_two(call: &Call<'_>) -> SqlResult<ArrayRef> {
    use Function as F;
    let is_set = matches!(call.result, DataType::Multirange(_));
    let one = call.texts(0)?;
    let Some(other) = call.optional_texts(1)? else {
        return call.map_texts(|row, out| out.push(&ranges::merge([one.value(row)])));
    };
    call.map_texts(|row, out| {
        let (one, other) = (one.value(row), other.value(row));
        out.push(&match call.function {
            F::RangeMerge => ranges::merge([one, other]),
            F::RangeIntersect => ranges::intersection(one, other),
            F::RangeUnion if is_set => ranges::set_of([one, other]),
            F::RangeUnion => ranges::union(one, other)?,
            _ if is_set => ranges::minus(one, other),
            _ => ranges::difference(one, other)?,
        })
    })
}
