//! JSON: reading its text, walking over values, and the one form of JSONB.
//!
//! Key decision: JSON is held as it was written, JSONB as the text that PostgreSQL shows of it: keys by length and then by
//! bytes, each once, one blank behind `:` and `,`, numbers without exponents and with all their digits. So a part of a JSONB
//! is a part of its text, and all that holds, sorts out or compresses texts holds JSON. Texts of JSONB that differ may still
//! be equal (`1.0` and `1.00`), so it is compared by keys ([`order_key`]).
//!
//! Reading order: `lexer` and `check` (what is JSON), `walk` (the parts of a text that is known to be JSON), `stream` (parts while they are read), `tree` (a value
//! that is taken apart and written), `number`, `order`.
//!
//! - Invariant: checking and walking need no stack for depth; what makes trees is called with room for it ([`with_room`]).
//! - Invariant: no text makes anything here panic.

mod check;
mod lexer;
mod number;
mod order;
mod stream;
mod text;
mod tree;
mod walk;

pub use check::{DEPTH_MAX, check, is_json, skip, unexpected};
pub use lexer::{Lexer, Token};
pub use order::{order_key, same_scalar};
pub use stream::{each_element, each_member};
pub use text::{put_string, string_of};
pub use tree::{Node, deduplicated, has_unique_keys, normal, with_room};
pub use walk::{Kind, Members, elements, kind, member, members};

pub(crate) use number::scalar;

#[cfg(test)]
mod tests;
