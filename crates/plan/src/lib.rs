//! A query as plain data: pipelines of a source, operators and a sink (P-HYPER section 2). The planner writes it,
//! execution reads it, EXPLAIN prints it.
//!
//! - Invariant: nothing here runs. The only behaviour is [`ArrowFunction`], the door through which rare functions of a
//!   library reach execution without execution knowing that library.
//! - Invariant: pipelines stand in an order in which each can run once those before it are done.
#![forbid(unsafe_code)]

pub mod build;
pub mod explain;
pub mod expression;
pub mod function;
pub mod outcomes;
mod parameters;
pub mod pipeline;
pub mod properties;
pub mod relation;
pub mod validate;

pub use explain::{PipelineActuals, StepActuals};
pub use expression::{ArrowFunction, BinaryOperator, DateField, Expr, ExprKind, UnaryOperator};
pub use function::Function;
pub use pipeline::{
    Aggregate, AggregateFunction, Fetch, HashBuild, IndexHint, Join, JoinKind, Operator,
    OutputColumn, Pipeline, PipelineId, Plan, Scan, Sink, SortKey, Source, Transfer,
};
pub use validate::validate;
