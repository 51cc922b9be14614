//! Ranges and sets of them (multiranges) as they are held: texts in the order of the ranges.
//!
//! Key decision: a set is held as its ranges one behind the other, in order, none of which is empty, overlaps another or touches it; a
//! range as the set of itself, the empty one as the set of nothing. Each bound ends by itself, so the order of texts is PostgreSQL's: the
//! empty range first, then by the lower bounds, then by the upper ones, and a set before those that go on behind it. Whatever holds,
//! groups, joins, sorts or compresses texts does so with ranges, and one function serves a range and a set.
//!
//! | Of a range stands | as |
//! |---|---|
//! | nothing at all | U+0001 |
//! | no lower bound, no upper one | `!`, `~` |
//! | a bound | `#`, its value as an item of an array ([`crate::array`]), and `0` or `1` |
//!
//! Behind a lower bound `0` says that its value is in the range, behind an upper one `1` does. Ranges of whole numbers and days are held
//! with the lower bound in them and the upper one not. Numbers of any scale keep the zeros at their end, which do not count: such ranges
//! are compared by a key ([`key_of`]).
//!
//! Reading order: `held` (bounds and their order), `make` (from values), `text` (as they are written), `operate`, `sent` (in binary).
//!
//! - Invariant: reading never panics; where a text is no range, it ends.

mod held;
mod make;
mod operate;
mod sent;
mod text;

pub use held::{Bound, EMPTY, Span, is_held, key_of, spans};
pub use make::{item_of, make, value_of};
pub use operate::{
    adjacent, before, contains, contains_item, difference, ends, intersection, merge, minus,
    not_after, not_before, overlaps, range, set_of, union,
};
pub use sent::{of_sent, of_set_sent, sent, sent_set};
pub use text::{format, format_set, parse, parse_set};

#[cfg(test)]
mod tests;
