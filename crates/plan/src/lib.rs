//! A query as plain data: relations, which the binder writes, and pipelines of a source, operators and a sink (P-HYPER
//! section 2), which the optimizer makes of them. Execution reads the pipelines, EXPLAIN prints them.
//!
//! One walk to read and one to change the expressions of each: [`relation::Rel::expressions`] and `expressions_mut`,
//! [`Pipeline::expressions`] and `expressions_mut`, [`Expr::children`] and `children_mut`; whatever looks at all of
//! them goes through these. [`wire`] writes queries and plans as bytes and reads them back.
//!
//! - Invariant: nothing here runs, and nothing here is a closure or a trait object: functions are named by id.
//! - Invariant: all of it can be written and read back equal ([`wire`]).
//! - Invariant: pipelines stand in an order in which each can run once those before it are done.
#![forbid(unsafe_code)]

mod aggregate;
pub mod build;
pub mod explain;
pub mod expression;
#[macro_use]
mod function_list;
pub mod function;
mod function_kinds;
mod ids;
mod order;
pub mod outcomes;
mod parameters;
pub mod pipeline;
pub mod properties;
pub mod relation;
pub mod validate;
mod window;
pub mod wire;

pub use aggregate::{Aggregate, AggregateFunction};
pub use explain::{PipelineActuals, StepActuals};
pub use expression::{BinaryOperator, DateField, Expr, ExprKind, Few, UnaryOperator};
pub use function::Function;
pub use ids::PipelineId;
pub use order::{NullOrder, OrderDefaults, SortKey};
pub use pipeline::{
    ColumnOrigin, Fetch, HashBuild, IndexHint, Join, JoinKind, Operator, OutputColumn, Pipeline,
    Plan, Recursion, Scan, Sink, Source, Transfer,
};
pub use validate::validate;
pub use window::{Exclusion, Frame, FrameBound, FrameUnit, WindowCall, WindowFunction};
