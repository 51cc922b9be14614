//! SQL text to statements, and queries to relations.
//!
//! Reading order: `parse` (text to [`Statement`]), `numa` (what the parser does not know: placement), `parameters`.
//!
//! - Invariant: only this crate names a type of the parser.
#![forbid(unsafe_code)]

mod alter;
pub mod bind;
mod clauses;
mod constraint;
mod copy;
mod data_types;
pub mod design;
mod dialect;
pub mod files;
mod folders;
mod frames;
mod keys;
mod levels;
mod merge_words;
mod numa;
pub mod parameters;
mod parenthesised;
pub mod parse;
mod precedence;
mod rewrite;
pub mod statement;
mod steering;
mod syntax;
mod tokens;
mod transactions;
mod values;
mod walk;

pub use constraint::{CheckDefinition, Constraints, KeyDefinition, ReferenceDefinition};
pub use design::{
    DesignClause, NodeClause, NodeDemand, NodeRange, NodeWay, PartitionClause, PlacedItem,
    RuleChange, TableChange,
};
pub use statement::{
    Arguments, ColumnDefinition, ExplainFormat, Isolation, ParsedQuery, Statement,
    TransactionModes, TransactionStatement,
};
