//! What numbers mean: the types of operators and aggregates, casts, assignment, rounding, overflow, and how values are spelt.
//!
//! Key decision: the rules stand here once and are PostgreSQL's. The binder, constant folding, vectorised expressions and the
//! loaders call them; kernels that compute on columns are tested against these functions, value by value.
//!
//! Where PostgreSQL's `numeric` is unlimited, [`DataType::Decimal`](crate::DataType::Decimal) has 38 digits; a result that needs more is an
//! error (22003), and only digits behind the point that no type of 38 digits holds are rounded away.
//!
//! Reading order: `types` (which type a result has).
//!
//! - Invariant: nothing here panics on any value of any type.

mod types;

pub use types::{
    Arithmetic, arithmetic_type, average_type, common_type, comparison_type, is_assignable,
    is_castable, is_implicit, sum_type,
};
