//! What numbers mean: the types of operators and aggregates, casts, assignment, rounding, overflow, and how values are spelt.
//!
//! Key decision: the rules stand here once and are PostgreSQL's. The binder, constant folding, vectorised expressions and the
//! loaders call them; kernels that compute on columns are tested against these functions, value by value.
//!
//! PostgreSQL's `numeric` with digits is [`DataType::Decimal`](crate::DataType::Decimal) of 38 digits, computed in integers: a
//! result that needs more is an error (22003), and only digits behind the point that no type of 38 digits holds are rounded
//! away. Without digits it is [`DataType::Numeric`](crate::DataType::Numeric), which has no such limit (`number`).
//!
//! Reading order: `types` (which type a result has), `operate` and `cast` (values), `decimal`, `number`, `float`, `datetime` (what they
//! are made of), `spelling` and `format` (text), `errors`.
//!
//! - Invariant: nothing here panics on any value of any type.

pub mod address;
pub mod bit_text;
pub mod bytes;
mod cast;
pub mod datetime;
mod datetime_text;
pub mod decimal;
mod digits;
pub mod errors;
pub mod float;
pub mod format;
pub mod infinite;
pub mod interval;
pub mod interval_text;
mod interval_unit;
pub mod number;
mod operate;
pub mod spelling;
mod styled;
pub mod time_tz;
mod types;
pub mod uuid;
mod wide;

pub use cast::{NAME_BYTES, assign, cast, cast_in, fitting, held_interval, shortened, try_cast_in};
pub use decimal::Exact;
pub use format::padded;
pub use operate::{arithmetic, compare, negate};
pub use spelling::parse_literal;
pub use types::{
    Arithmetic, arithmetic_type, average_type, common_type, comparison_type, depends_on_zone,
    is_assignable, is_castable, is_implicit, sum_type,
};
