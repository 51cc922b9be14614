//! Bounds of ranges, in the form that the head of this folder tells, and their order.

use std::cmp::Ordering;

use crate::array::Items;
use crate::numeric::number;

/// The empty range, and the set of no ranges.
pub const EMPTY: &str = "\u{1}";

const FROM_LEAST: char = '!';
const TO_GREATEST: char = '~';
const BOUND: char = '#';
/// Before the items that are texts.
const TEXT: u8 = 0x10;

/// A bound of a range.
#[derive(Clone, Copy, Debug)]
pub struct Bound<'a> {
    /// Its value, as an item of an array holds it; `None` where nothing bounds the range.
    pub item: Option<&'a str>,
    /// Whether the value is in the range.
    pub inclusive: bool,
}

/// A range that is not empty.
#[derive(Clone, Copy, Debug)]
pub struct Span<'a> {
    /// Where it begins.
    pub lower: Bound<'a>,
    /// Where it ends.
    pub upper: Bound<'a>,
}

/// The ranges of a set, or the one range, in order.
pub fn spans(held: &str) -> impl Iterator<Item = Span<'_>> {
    let mut rest = held;
    std::iter::from_fn(move || {
        let lower = take(&mut rest, FROM_LEAST, "0")?;
        let upper = take(&mut rest, TO_GREATEST, "1")?;
        Some(Span { lower, upper })
    })
}

/// The bound that stands first in a text.
fn take<'a>(rest: &mut &'a str, infinite: char, inside: &str) -> Option<Bound<'a>> {
    if let Some(behind) = rest.strip_prefix(infinite) {
        *rest = behind;
        return Some(Bound { item: None, inclusive: false });
    }
    let mut items = Items::new(rest.strip_prefix(BOUND)?);
    let item = items.next()?;
    let (flag, behind) = items.rest().split_at_checked(1)?;
    *rest = behind;
    Some(Bound { item: Some(item), inclusive: flag == inside })
}

/// Whether a text holds a range or a set; none that is read as one does.
pub fn is_held(text: &str) -> bool {
    text == EMPTY || text.starts_with([FROM_LEAST, BOUND])
}

/// Appends a range.
fn push(out: &mut String, it: &Span<'_>) {
    put(out, it.lower, FROM_LEAST, '0', '1');
    put(out, it.upper, TO_GREATEST, '1', '0');
}

fn put(out: &mut String, it: Bound<'_>, infinite: char, inside: char, outside: char) {
    match it.item {
        None => out.push(infinite),
        Some(item) => {
            out.push(BOUND);
            out.push_str(item);
            out.push(if it.inclusive { inside } else { outside });
        }
    }
}

/// What holds ranges that are in order and apart.
pub(super) fn held<'a>(spans: impl IntoIterator<Item = Span<'a>>) -> String {
    let mut out = String::new();
    spans.into_iter().for_each(|it| push(&mut out, &it));
    match out.is_empty() {
        true => EMPTY.to_owned(),
        false => out,
    }
}

/// The same without the zeros at the end of numbers, by which ranges of them are compared.
pub fn key_of(text: &str) -> String {
    let key = |it: Bound<'_>| it.item.map(|it| format!("{}\0", key_of_item(it)));
    let mut out = String::new();
    for it in spans(text) {
        let (lower, upper) = (key(it.lower), key(it.upper));
        let lower = Bound { item: lower.as_deref(), ..it.lower };
        push(&mut out, &Span { lower, upper: Bound { item: upper.as_deref(), ..it.upper } });
    }
    if out.is_empty() { EMPTY.to_owned() } else { out }
}

/// What of an item counts in comparisons.
fn key_of_item(item: &str) -> &str {
    match item.as_bytes() {
        [TEXT, .., 0] => &item[..number::key_end(&item.as_bytes()[..item.len() - 1])],
        _ => item,
    }
}

/// The order of two values.
pub(super) fn order_of_items(a: &str, b: &str) -> Ordering {
    key_of_item(a).cmp(key_of_item(b))
}

/// The order of where two ranges begin.
pub(super) fn lower_order(a: Bound<'_>, b: Bound<'_>) -> Ordering {
    match (a.item, b.item) {
        (None, None) => Ordering::Equal,
        (None, _) => Ordering::Less,
        (_, None) => Ordering::Greater,
        (Some(x), Some(y)) => order_of_items(x, y).then(b.inclusive.cmp(&a.inclusive)),
    }
}

/// The order of where two ranges end.
pub(super) fn upper_order(a: Bound<'_>, b: Bound<'_>) -> Ordering {
    match (a.item, b.item) {
        (None, None) => Ordering::Equal,
        (None, _) => Ordering::Greater,
        (_, None) => Ordering::Less,
        (Some(x), Some(y)) => order_of_items(x, y).then(a.inclusive.cmp(&b.inclusive)),
    }
}

/// Whether a range begins behind the end of another one.
pub(super) fn is_behind(lower: Bound<'_>, upper: Bound<'_>) -> bool {
    let (Some(x), Some(y)) = (lower.item, upper.item) else { return false };
    match order_of_items(x, y) {
        Ordering::Less => false,
        Ordering::Equal => !(lower.inclusive && upper.inclusive),
        Ordering::Greater => true,
    }
}

/// Whether a range begins where another one ends, with nothing between and nothing in both.
pub(super) fn touch(upper: Bound<'_>, lower: Bound<'_>) -> bool {
    let (Some(x), Some(y)) = (upper.item, lower.item) else { return false };
    order_of_items(x, y).is_eq() && upper.inclusive != lower.inclusive
}
