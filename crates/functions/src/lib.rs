//! The scalar functions: names, signatures, volatility, and kernels on Arrow arrays.
//!
//! Key decision: PostgreSQL says what a function does; DuckDB where only it has the function; DataFusion, whose library
//! this one follows, where neither has. A function is one id of [`plan::Function`]; a call of it is resolved once, when the
//! statement is bound, and invoked per batch on arrays of exactly the types that were resolved.
//!
//! What differs from PostgreSQL, knowingly:
//!
//! - `extract` gives DECIMAL(10,0), with six digits after the point for epoch, second and julian, three for milliseconds.
//! - Numbers and places in texts may be BIGINT; `round` and `trunc` take a float and digits, as DuckDB's do.
//! - upper, lower and initcap follow Unicode's full mappings, as PostgreSQL's collation pg_unicode_fast does.
//! - Regular expressions run in linear time and have no back references, lookahead or lookbehind (0A000). Of the
//!   leftmost matches the longest or shortest is found as there, except by a pattern with a word boundary in a text with
//!   letters outside ASCII, where the first alternative that matches wins. Subexpressions are those of the first
//!   alternatives that lead to the match, not the longest ones each. Classes are Unicode's, whatever the collation.
//! - Patterns of numbers have the words of locale C.
//!
//! Refused, though DataFusion's library has them ([`REFUSED`]):
//!
//! | Names | Why |
//! |---|---|
//! | arrow_field, named_struct, struct | the result is a struct |
//! | row | its values have no names; without them, binding makes a row |
//! | get_field, union_extract, union_tag | the argument is a struct or union |
//! | to_time | a cast is there |
//! | file_row_index, input_file_name | no file lies behind a row; they always failed |
//!
//! Reading order: `name`, `overload` and `resolve` (which call it is), `invoke` (which kernel runs), `call` and `texts` (what
//! kernels work on), then a file per family.
//!
//! - Invariant: a text is at most [`VALUE_BYTES_MAX`] and an array of them [`ARRAY_BYTES_MAX`] bytes, checked before memory
//!   is taken; more is 54000.
//! - Invariant: no argument makes a kernel panic; arguments of other types than resolved are XX000.
#![forbid(unsafe_code)]

mod advisory;
mod array;
mod bit_strings;
mod bits;
mod bucket;
mod bytes;
mod calendar;
mod call;
mod called_session;
mod cast;
mod choice;
mod common;
mod degrees;
mod duckdb;
mod error;
mod evaluate;
mod exact;
mod field;
mod float;
mod from_text;
mod interval;
mod invoke;
mod json;
mod jsonpath;
mod like;
mod moment;
mod name;
mod networks;
mod number;
mod number_picture;
mod overload;
mod parsed;
mod precision;
mod random;
mod ranges;
mod regexp;
mod resolve;
mod rows;
mod scale;
mod sequences;
mod series;
mod session_calls;
mod strftime;
mod structs;
mod template;
mod text;
mod texts;
mod time_tz;
mod to_char;
mod to_char_interval;
mod to_char_number;
mod to_number;
mod uuid;
mod volatility;
mod zone;

pub use called_session::{AdvisoryKey, AdvisoryLock, SessionCalls};
pub use evaluate::evaluate;
pub use invoke::invoke;
pub use name::{REFUSED, lookup, names, refusal};
pub use resolve::{Signature, resolve, resolve_call};
pub use rows::negative as negative_rows;
pub use sequences::{Sequences, count};
pub use structs::{json_of, kind_of};
pub use texts::{ARRAY_BYTES_MAX, VALUE_BYTES_MAX};
pub use volatility::{Began, STABLE, Volatility, statement_constant, volatility};
