//! Random worlds, and random queries that are right by PostgreSQL's rules.
//!
//! Key decision: expressions are made for a wanted class of types and from what their place may name, so that nearly every
//! query runs; a query that only fails says little. Operators that may fail on some rows are drawn seldom.
//!
//! Reading order: `schema`, `data`, `state` (what a place may name), `query`, `from`, `select`, `expression` with
//! `numbers`, `others`, `rarer`, `predicate`, `aggregate`, `subquery`.

pub mod aggregate;
pub mod data;
pub mod expression;
pub mod from;
pub mod numbers;
pub mod others;
pub mod predicate;
pub mod query;
pub mod rarer;
pub mod schema;
pub mod select;
pub mod state;
pub mod subquery;
#[cfg(test)]
mod tests;
mod window;
