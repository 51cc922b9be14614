//! Arrays as they are held: texts in the order of the arrays.
//!
//! Key decision: an array is a text in which each item stands for itself, in an order-preserving form, and what is said of
//! dimensions stands behind all items, below whatever may begin an item. So two arrays are equal when their texts are, and
//! the order of texts is PostgreSQL's order of arrays: item by item, NULL behind all values, then the number of items, of
//! dimensions, their lengths and their lower bounds. Whatever holds, groups, joins, sorts or compresses texts does so with
//! arrays; functions read and write the items (docs/design/01-storage.md, "arrays").
//!
//! | An item begins with | and goes on with |
//! |---|---|
//! | U+0010 | the characters of a text up to U+0000; U+0000 itself is written U+0000 U+0080 |
//! | U+0020, U+0021 | nothing: FALSE, TRUE |
//! | U+002A to U+0056 | as many digits of base 64 as it is away from U+0040: a whole number, below it a negative one |
//! | U+0060 | eleven digits of base 64: a float |
//! | U+007F | nothing: NULL |
//!
//! Behind the items stands U+0002 for one dimension from 1 on, U+0001 or U+0003 and the lower bound for one from below or
//! above, and U+0004 to U+0008 for two to six dimensions, followed by all lengths and all lower bounds. An array without items
//! is the empty text. Digits of base 64 begin at U+0030; those of negative numbers are turned round.
//!
//! Reading order: `items` (items and dimensions), `text` (as they are written), `convert` (items to other types).
//!
//! - Invariant: reading never panics; where a text is no array, it ends.

mod convert;
mod items;
mod text;

pub use convert::converted;
pub use items::{
    DIMENSIONS_MAX, Dimension, ITEMS_MAX, Items, NULL_ITEM, boolean_of, close, close_list,
    dimensions, dimensions_behind, float_of, integer_of, is_null, list, push_boolean, push_float,
    push_integer, push_text, push_value, text_of, too_many_items, value_of,
};
pub use text::{format, parse, parse_vector};

#[cfg(test)]
mod tests;
